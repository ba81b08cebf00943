"""Functions of numpy as operations of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren._trace import Traced, TraceError, Tracer, place

_BINARY = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "floor_divide": "floor-divide",
    "remainder": "remainder",
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "logical_and": "and",
    "logical_or": "or",
    "logical_xor": "xor",
    "left_shift": "shift-left",
    "right_shift": "shift-right",
    "less": "less",
    "less_equal": "less-equal",
    "greater": "greater",
    "greater_equal": "greater-equal",
    "equal": "equal",
    "not_equal": "not-equal",
    "maximum": "maximum",
    "minimum": "minimum",
    "fmax": "maximum",
    "fmin": "minimum",
}
_OF_TRUTHS = {"add": "or", "multiply": "and"}
_UNARY = {
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "sign": "sign",
    "logical_not": "not",
    "invert": "not",
}
_SMOOTH = {name: name for name in ("exp", "log", "sqrt", "reciprocal", "tanh", "sin", "cos")}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "product",
    "maximum": "maximum",
    "minimum": "minimum",
    "logical_or": "maximum",
    "logical_and": "minimum",
}
_STRUCTURAL = (
    "reshape transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to "
    "flip fliplr flipud roll rot90 repeat tile ravel take atleast_1d atleast_2d diagonal delete"
)
_JOINING = "concatenate stack vstack hstack dstack column_stack"


def ufunc_of(tracer: Tracer, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Record a universal function."""
    name = ufunc.__name__
    out = kwargs.get("out")
    if method == "__call__" and out is not None and out[0] is inputs[0]:
        # x += 1 names a new array: traced ones do not change.
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    if method == "reduce" and name in _REDUCTIONS:
        options = {"axis": kwargs.get("axis", 0), "keepdims": kwargs.get("keepdims", False)}
        _only(name, kwargs, {"axis", "keepdims", "dtype", "out", "initial", "where"})
        return _traced(tracer, inputs[0]).reduce(_REDUCTIONS[name], options["axis"], options["keepdims"])
    if method != "__call__":
        raise TraceError(f"{place()}: np.{name}.{method} is not traced: write its steps one by one")
    _only(f"np.{name}", kwargs, {"dtype", "casting"})
    if name in _BINARY:
        a, b = (_traced(tracer, x) for x in inputs)
        if name.startswith("logical") and not (a.dtype.kind == b.dtype.kind == "b"):
            raise TraceError(f"{place()}: np.{name} of numbers: compare them first, such as x != 0")
        if a.dtype.kind == b.dtype.kind == "b" and name in _OF_TRUTHS:
            # Sums and products of truth values are truth values.
            return a.binary(_OF_TRUTHS[name], b)
        return a.binary(_BINARY[name], b)
    if name in _UNARY:
        x = _traced(tracer, inputs[0])
        if name == "invert" and x.dtype.kind != "b":
            raise TraceError(f"{place()}: ~x of integers is not traced: write -x - 1")
        return x.unary(_UNARY[name])
    if name in _SMOOTH:
        return _traced(tracer, inputs[0]).function(_SMOOTH[name])
    if name in _COMPOSED:
        return _COMPOSED[name](tracer, *inputs)
    supported = sorted({*_BINARY, *_UNARY, *_SMOOTH, *_COMPOSED})
    raise TraceError(f"{place()}: np.{name} is not traced; these functions are: {', '.join(supported)}")


def function_of(tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record another function."""
    name = func.__name__
    if name in _STRUCTURAL.split():
        return _rearranged(func, args, kwargs)
    if name in _JOINING.split():
        return _joined(tracer, func, args, kwargs)
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](tracer, *args, **kwargs)
    supported = sorted({*_STRUCTURAL.split(), *_JOINING.split(), *_FUNCTIONS})
    raise TraceError(f"{place()}: np.{name} is not traced; these functions are: {', '.join(supported)}")


def select(tracer: Tracer, condition: Any, a: Any, b: Any) -> Traced:
    """Take `a` where the condition holds, else `b`."""
    c, x, y = (_traced(tracer, operand) for operand in (condition, a, b))
    return tracer.push({"select": [c.node, x.node, y.node]})


def sigmoid(x: Traced) -> Traced:
    """Return the logistic function."""
    return x.function("sigmoid")


def table(x: Traced, values: NDArray[Any], first: int) -> Traced:
    """Look up integers from `first` on."""
    element = {"b": "bool", "f": "real"}.get(values.dtype.kind, "integer")
    numbers = values.astype(np.float64).ravel().tolist()
    return x.tracer.push({"table": {"of": x.node, "first": first, "values": numbers, "element": element}})


def _traced(tracer: Tracer, x: Any) -> Traced:
    return x if isinstance(x, Traced) else tracer.constant(x)


def _only(name: str, kwargs: dict[str, Any], allowed: set[str]) -> None:
    given = {key for key, value in kwargs.items() if value is not None and value is not np._NoValue}
    out = "out" in given and any(part is not None for part in np.atleast_1d(kwargs["out"]))
    refused = (given - allowed) | ({"out"} if out else set())
    if kwargs.get("where", True) is not True:
        refused.add("where")
    if refused - {"axis", "keepdims"}:
        raise TraceError(f"{place()}: {name} with {', '.join(sorted(refused))}= is not traced: leave it out")


def _rearranged(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = next((arg for arg in args if isinstance(arg, Traced)), None)
    x = x if x is not None else next(value for value in kwargs.values() if isinstance(value, Traced))
    found = x

    def change(positions: NDArray[np.int64]) -> NDArray[np.int64]:
        def swap(arg: Any) -> Any:
            return positions if arg is found else arg

        result: NDArray[np.int64] = func(*map(swap, args), **{key: swap(value) for key, value in kwargs.items()})
        return result

    return x.rearranged(change)


def _joined(tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    parts = [_traced(tracer, part) for part in args[0]]
    offsets = np.cumsum([0, *(part.size for part in parts)])
    positions = [
        np.arange(part.size, dtype=np.int64).reshape(part.shape) + offset
        for part, offset in zip(parts, offsets, strict=False)
    ]
    joined = func(positions, *args[1:], **kwargs)
    total: Traced | None = None
    for part, offset in zip(parts, offsets, strict=False):
        own = (joined >= offset) & (joined < offset + part.size)
        piece = part.gather(np.where(own, joined - offset, -1))
        total = piece if total is None else total.binary("add", piece)
    if total is None:
        raise TraceError(f"{place()}: nothing to join")
    return total


def _divide(tracer: Tracer, a: Any, b: Any) -> Traced:
    x = _traced(tracer, a)
    if not isinstance(b, Traced):
        divisor = np.asarray(b, dtype=np.float64)
        if (divisor == 0).any():
            raise TraceError(f"{place()}: a division by 0")
        return x.binary("mul", tracer.constant(1.0 / divisor))
    inverse = b.function("reciprocal")
    if not isinstance(a, Traced) and np.ndim(a) == 0 and float(a) == 1.0:
        return inverse
    return x.binary("mul", inverse)


def _power(tracer: Tracer, a: Any, b: Any) -> Traced:
    if isinstance(b, Traced) or np.ndim(b) != 0:
        raise TraceError(f"{place()}: powers with exponents that are encrypted, or an array: use one known exponent")
    x, exponent = _traced(tracer, a), float(b)
    if exponent == 0.5:
        return x.function("sqrt")
    if exponent != int(exponent) or abs(exponent) > 1000:
        raise TraceError(f"{place()}: exponent {exponent:g}: whole exponents up to 1000 and 0.5 are traced")
    if exponent < 0:
        x, exponent = x.function("reciprocal"), -exponent
    if exponent == 0:
        return tracer.constant(np.ones(x.shape))
    return x if exponent == 1 else x.polynomial([0.0] * int(exponent) + [1.0])


def _matmul(tracer: Tracer, a: Any, b: Any) -> Traced:
    if not isinstance(a, Traced):
        left = np.asarray(a)
        if left.ndim == 1:
            return _matmul(tracer, b.T if b.ndim > 1 else b, left)
        turned = _matmul(tracer, b.T if b.ndim > 1 else b, left.T)
        return turned.T if b.ndim > 1 else turned
    if a.ndim == 0 or np.ndim(b) == 0:
        raise TraceError(f"{place()}: a product of matrices with a number: write *")
    if not isinstance(b, Traced):
        matrix = np.asarray(b, dtype=np.float64)
        if matrix.ndim > 2 or a.shape[-1] != matrix.shape[0]:
            raise TraceError(f"{place()}: {a.shape} @ {matrix.shape}: the shapes do not fit, or have too many axes")
        columns = 1 if matrix.ndim == 1 else matrix.shape[1]
        entries = matrix.ravel().tolist()
        product = tracer.push({"mat-mul": {"of": a.node, "columns": columns, "matrix": entries}})
        return product.reshape(product.shape[:-1]) if matrix.ndim == 1 else product
    if a.ndim > 2 or b.ndim > 2:
        raise TraceError(f"{place()}: products of encrypted arrays of more than two axes: write a sum of products")
    if a.ndim == 1 and b.ndim == 1:
        return a.binary("mul", b).reduce("sum")
    if b.ndim == 1:
        return a.binary("mul", b).reduce("sum", -1)
    if a.ndim == 1:
        return a.reshape(-1, 1).binary("mul", b).reduce("sum", 0)
    return a.reshape(*a.shape, 1).binary("mul", b.reshape(1, *b.shape)).reduce("sum", 1)


def _clip(tracer: Tracer, x: Any, low: Any = None, high: Any = None, **options: Any) -> Traced:
    _only("np.clip", options, {"dtype"})
    result = _traced(tracer, x)
    if low is not None:
        result = result.binary("maximum", _traced(tracer, low))
    return result if high is None else result.binary("minimum", _traced(tracer, high))


def _where(tracer: Tracer, condition: Any, *choices: Any) -> Traced:
    if len(choices) != 2:
        raise TraceError(f"{place()}: np.where(condition) asks for positions: write np.where(condition, a, b)")
    return select(tracer, condition, *choices)


def _reduction(name: str) -> Callable[..., Traced]:
    def reduce(tracer: Tracer, x: Any, axis: Any = None, **options: Any) -> Traced:
        keepdims = options.pop("keepdims", False)
        _only(f"np.{name}", options, {"dtype"})
        return _traced(tracer, x).reduce(name, axis, keepdims is True)

    return reduce


def _count(x: Traced, axis: Any) -> int:
    axes = range(x.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    return int(np.prod([x.shape[at] for at in axes], dtype=np.int64))


def _mean(tracer: Tracer, x: Any, axis: Any = None, **options: Any) -> Traced:
    keepdims = options.pop("keepdims", False)
    _only("np.mean", options, {"dtype"})
    values = _traced(tracer, x)
    total = values.reduce("sum", axis, keepdims is True)
    return total.binary("mul", tracer.constant(1.0 / _count(values, axis)))


def _var(tracer: Tracer, x: Any, axis: Any = None, **options: Any) -> Traced:
    ddof, keepdims = options.pop("ddof", 0), options.pop("keepdims", False)
    _only("np.var", options, {"dtype"})
    values = _traced(tracer, x)
    count = _count(values, axis)
    if count <= ddof:
        raise TraceError(f"{place()}: the variance of {count} numbers with ddof={ddof}")
    # Two sums need no copies of the mean beside the numbers.
    squares = values.polynomial([0.0, 0.0, 1.0]).reduce("sum", axis, keepdims is True)
    total = values.reduce("sum", axis, keepdims is True)
    square = total.binary("mul", total.binary("mul", tracer.constant(1.0 / (count * (count - ddof)))))
    return squares.binary("mul", tracer.constant(1.0 / (count - ddof))).binary("sub", square)


def _average(tracer: Tracer, x: Any, axis: Any = None, weights: Any = None, **options: Any) -> Traced:
    _only("np.average", options, set())
    if weights is None:
        return _mean(tracer, x, axis)
    parts = np.asarray(weights, dtype=np.float64)
    values = _traced(tracer, x)
    if parts.ndim == 1 and axis is not None:
        shape = [1] * values.ndim
        shape[axis] = -1
        parts = parts.reshape(shape)
    factor = parts / np.sum(parts)
    return values.binary("mul", tracer.constant(factor)).reduce("sum", axis)


def _polyval(tracer: Tracer, coefficients: Any, x: Any) -> Traced:
    return _traced(tracer, x).polynomial([float(c) for c in reversed(list(coefficients))])


def _outer(tracer: Tracer, a: Any, b: Any) -> Traced:
    x, y = _traced(tracer, a), _traced(tracer, b)
    return x.reshape(-1, 1).binary("mul", y.reshape(1, -1))


def _count_nonzero(tracer: Tracer, x: Any, axis: Any = None, **options: Any) -> Traced:
    _only("np.count_nonzero", options, set())
    values = _traced(tracer, x)
    truths = values if values.dtype.kind == "b" else values.binary("not-equal", tracer.constant(0))
    return truths.reduce("sum", axis)


def _like(value: int) -> Callable[..., NDArray[Any]]:
    def like(_tracer: Tracer, x: Any, *_args: Any, **_options: Any) -> NDArray[Any]:
        return np.full(np.shape(x), value, dtype=x.dtype)

    return like


def _plain(function: Callable[[Traced], Any]) -> Callable[..., Any]:
    return lambda _tracer, x: function(x)


_COMPOSED: dict[str, Callable[..., Traced]] = {
    "positive": lambda tracer, x: _traced(tracer, x),
    "conjugate": lambda tracer, x: _traced(tracer, x),
    "square": lambda tracer, x: _traced(tracer, x).polynomial([0.0, 0.0, 1.0]),
    "divide": _divide,
    "power": _power,
    "float_power": _power,
    "matmul": _matmul,
    "clip": _clip,
    "exp2": lambda tracer, x: _traced(tracer, x).binary("mul", tracer.constant(np.log(2.0))).function("exp"),
    "log2": lambda tracer, x: _traced(tracer, x).function("log").binary("mul", tracer.constant(1 / np.log(2.0))),
    "log10": lambda tracer, x: _traced(tracer, x).function("log").binary("mul", tracer.constant(1 / np.log(10.0))),
    "log1p": lambda tracer, x: _traced(tracer, x).binary("add", tracer.constant(1.0)).function("log"),
    "expm1": lambda tracer, x: _traced(tracer, x).function("exp").binary("sub", tracer.constant(1.0)),
}

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _reduction("sum"),
    "prod": _reduction("product"),
    "max": _reduction("maximum"),
    "min": _reduction("minimum"),
    "amax": _reduction("maximum"),
    "amin": _reduction("minimum"),
    "any": _reduction("maximum"),
    "all": _reduction("minimum"),
    "mean": _mean,
    "average": _average,
    "var": _var,
    "dot": _matmul,
    "inner": lambda tracer, a, b: _matmul(tracer, a, b),
    "vdot": lambda tracer, a, b: _matmul(tracer, a, b),
    "outer": _outer,
    "where": _where,
    "clip": _clip,
    "polyval": _polyval,
    "count_nonzero": _count_nonzero,
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "shape": _plain(lambda x: x.shape),
    "ndim": _plain(lambda x: x.ndim),
    "size": _plain(lambda x: x.size),
    "copy": _plain(lambda x: x),
}


def flattened(outputs: Any) -> tuple[Sequence[Any], bool]:
    """Return outputs as a sequence, and whether there is one alone."""
    if isinstance(outputs, tuple | list):
        return outputs, False
    return [outputs], True
