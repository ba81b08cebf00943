"""Functions of numpy as operations of a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren import _trace_complex as complexes
from noren import _trace_linear as linear
from noren import _trace_products as products
from noren import _trace_statistics as statistics
from noren._trace import Traced, TraceError, Tracer, known, place
from noren._trace_complex import Complex
from noren._trace_types import as_dtype, encrypted, settled

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
    "sign": "sign",
    "logical_not": "not",
    "invert": "not",
}
_SMOOTH = {name: name for name in ("exp", "log", "sqrt", "tanh", "sin", "cos")}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "product",
    "maximum": "maximum",
    "minimum": "minimum",
    "logical_or": "maximum",
    "logical_and": "minimum",
}
_OF_INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
_REARRANGING = (
    "reshape transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to "
    "flip fliplr flipud roll rot90 repeat tile ravel take atleast_1d atleast_2d diagonal delete"
)
_STRUCTURAL = frozenset(_REARRANGING.split())
_JOINING = frozenset(("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"))
_BOUNDS = ("a_min", "a_max", "min", "max")
_IDLE: dict[str, tuple[Any, ...]] = {
    "where": (True,),
    "casting": ("same_kind",),
    "order": ("K", "A", "C", "F"),
    "kind": ("quicksort", "mergesort", "heapsort", "stable"),
    "stable": (True, False),
    "subok": (True, False),
    "device": ("cpu",),
}
"""Values of arguments that change no element of a result, beside the defaults."""


class NumpyTracer(Tracer):
    """A tracer that records functions of numpy."""

    def ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a universal function."""
        name = ufunc.__name__
        if getattr(np, name, None) is not ufunc:
            raise TraceError(f"{place()}: {ufunc!r} is no function of numpy's main namespace: {_supported(_UFUNCS)}")
        if method == "reduce" and name in _REDUCTIONS:
            return _ufunc_reduced(self, name, inputs[0], kwargs)
        if method != "__call__":
            raise TraceError(f"{place()}: np.{name}.{method} is not traced: write its steps one by one")
        if name not in _UFUNCS:
            raise TraceError(f"{place()}: np.{name} is not traced; {_supported(_UFUNCS)}")
        options = _asked(kwargs, {})
        dtype = options.pop("dtype", None)
        _refuse(name, options)
        if any(map(complexes.is_complex, inputs)):
            return complexes.ufunc(self, name, inputs, dtype)
        return as_dtype(name, settled(_ufunc(self, name, inputs), *inputs), dtype)

    def function(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record another function.

        Arguments are named by the signature that numpy gives; those with a value other than the default which the
        function here does not take are refused.
        """
        name = func.__name__
        taken = {*_STRUCTURAL, *_JOINING, *_FUNCTIONS, *map(_full_name, _ELSEWHERE)}
        if any(isinstance(x, Complex) for x in args) and func not in complexes.TRANSFORMS:
            return complexes.function(func, args, kwargs, _STRUCTURAL)
        if func in _ELSEWHERE:
            return _applied(self, _ELSEWHERE[func], name, _bound(func, args, kwargs))
        if getattr(np, name, None) is not func:
            raise TraceError(f"{place()}: {_full_name(func)} is not traced; {_supported(taken)}")
        if name in _STRUCTURAL:
            return _rearranged(func, args, kwargs)
        if name not in taken:
            raise TraceError(f"{place()}: np.{name} is not traced; {_supported(taken)}")
        given = _bound(func, args, kwargs)
        if name in _JOINING:
            dtype = given.pop("dtype", None)
            parts = list(next(iter(given.values())))
            _refuse(name, {key: value for key, value in given.items() if key not in ("arrays", "tup", "axis")})
            joined = _joined(self, func, parts, {"axis": given["axis"]} if "axis" in given else {})
            return as_dtype(name, settled(joined, *parts), dtype)
        return _applied(self, _FUNCTIONS[name], name, given)


def _applied(tracer: Tracer, function: Callable[..., Any], name: str, given: dict[str, Any]) -> Any:
    """Call what records a function of numpy, with its arguments by their names."""
    known_here = set(inspect.signature(function).parameters)
    _refuse(name, {key: value for key, value in given.items() if key not in known_here})
    return function(tracer, **given)


def select(tracer: Tracer, condition: Any, a: Any, b: Any) -> Traced:
    """Take `a` where the condition holds, else `b`."""
    c, x, y = (tracer.traced(operand) for operand in (condition, a, b))
    return settled(tracer.push({"select": [c.node, x.node, y.node]}), a, b)


def sigmoid(x: Traced) -> Traced:
    """Return the logistic function."""
    return x.function("sigmoid")


def table(x: Traced, values: NDArray[Any], first: int) -> Traced:
    """Look up integers from `first` on."""
    element = {"b": "bool", "f": "real"}.get(values.dtype.kind, "integer")
    numbers = known(values).astype(np.float64).ravel().tolist()
    return x.tracer.push({"table": {"of": x.node, "first": first, "values": numbers, "element": element}})


def _full_name(func: Any) -> str:
    return f"{func.__module__}.{func.__name__}"


def _supported(names: Iterable[str]) -> str:
    return f"these functions are: {', '.join(sorted(names))}"


def _asked(given: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that ask for something: neither numpy's default, nor without influence on elements."""

    def idle(key: str, value: Any) -> bool:
        default = defaults.get(key)
        if value is None or value is np._NoValue:
            # np.clip tells a bound of None from none.
            return value is np._NoValue or default is None or (default is np._NoValue and key not in _BOUNDS)
        plain = isinstance(value, bool | np.bool_ | int | str)
        return plain and any(value == same for same in (default, *_IDLE.get(key, ())))

    return {key: value for key, value in given.items() if not idle(key, value)}


def _refuse(name: str, options: dict[str, Any]) -> None:
    """Refuse arguments that are not traced: the one place for all functions."""
    if not options:
        return
    what = ", ".join(f"{key}=" for key in sorted(options))
    instead = "leave it out" if len(options) == 1 else "leave them out"
    if "out" in options:
        instead = "traced arrays do not change, so assign the result to a name, such as y = np.add(x, 1) or y = y + x"
    raise TraceError(f"{place()}: np.{name} with {what} is not traced: {instead}")


def _bound(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function of numpy by their names, without those that ask for nothing."""
    call = _bind(func, args, kwargs)
    signature, arguments = call.signature, call.arguments
    extra = arguments.pop("kwargs", {})
    first, *_ = signature.parameters
    defaults = {key: parameter.default for key, parameter in signature.parameters.items()}
    rest = {key: value for key, value in {**arguments, **extra}.items() if key != first}
    return {first: arguments[first], **_asked(rest, defaults)}


def _bind(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
    """Return the arguments of a function of numpy by its signature; TypeError for those that it does not take."""
    signature = _signature(func)
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{place()}: np.{func.__name__}{signature}: {error}") from None


def _signature(func: Any) -> inspect.Signature:
    try:
        return inspect.signature(func)
    except ValueError:
        # Functions in C say what they take from numpy 2.4 on.
        return inspect.signature(_IN_C[func.__name__])


def _rearranged(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Rearrange one array, which comes first, as the function does it with positions."""
    name = func.__name__
    bound = _bind(func, args, kwargs)
    first = next(iter(bound.arguments))
    several = bound.signature.parameters[first].kind is inspect.Parameter.VAR_POSITIONAL
    x = bound.arguments[first][0] if several else bound.arguments[first]
    if several and len(bound.arguments[first]) > 1:
        raise TraceError(f"{place()}: np.{name} of several arrays is not traced: call it for each of them")
    if not isinstance(x, Traced):
        raise TraceError(f"{place()}: np.{name} with an encrypted argument after the array: only the array may be one")
    given = {key: value for key, value in bound.arguments.items() if key != first}
    if given.get("out") is not None:
        _refuse(name, {"out": given["out"]})
    if given.get("order", "C") not in ("C", "F"):
        raise TraceError(f"{place()}: np.{name} with order={given['order']!r}: 'C' and 'F' are traced")
    also = [key for key, value in given.items() if encrypted(value)]
    if also:
        raise TraceError(f"{place()}: np.{name} with an encrypted {also[0]}=: only the array may be encrypted")

    def change(positions: NDArray[np.int64]) -> NDArray[np.int64]:
        bound.arguments[first] = (positions,) if several else positions
        result: NDArray[np.int64] = func(*bound.args, **bound.kwargs)
        return result

    return x.rearranged(change)


def _joined(tracer: Tracer, func: Any, operands: list[Any], options: dict[str, Any]) -> Traced:
    parts = [tracer.traced(part) for part in operands]
    offsets = np.cumsum([0, *(part.size for part in parts)])
    positions = [
        np.arange(part.size, dtype=np.int64).reshape(part.shape) + offset
        for part, offset in zip(parts, offsets, strict=False)
    ]
    joined = func(positions, **options)
    # Each element comes from one part, the others have zero there.
    combine = "or" if all(part.dtype.kind == "b" for part in parts) else "add"
    total: Traced | None = None
    for part, offset in zip(parts, offsets, strict=False):
        own = (joined >= offset) & (joined < offset + part.size)
        piece = part.gather(np.where(own, joined - offset, -1))
        total = piece if total is None else total.binary(combine, piece)
    if total is None:
        raise TraceError(f"{place()}: nothing to join")
    return total


def _ufunc(tracer: Tracer, name: str, inputs: tuple[Any, ...]) -> Traced:
    """Record a universal function of its operands alone."""
    if name in _COMPOSED:
        return _COMPOSED[name](tracer, *inputs)
    operands = [tracer.traced(x) for x in inputs]
    kinds = {x.dtype.kind for x in operands}
    if name in _SMOOTH:
        return operands[0].function(_SMOOTH[name])
    if name in _UNARY:
        if name == "logical_not" and kinds != {"b"}:
            raise TraceError(f"{place()}: np.logical_not of numbers: write x == 0")
        if name == "invert" and kinds != {"b"}:
            raise TraceError(f"{place()}: ~x of integers is not traced: write -x - 1")
        if name in ("negative", "sign") and kinds == {"b"}:
            raise TraceError(f"{place()}: np.{name} of truth values: numpy has none, write ~x or x.astype(int)")
        if name == "absolute" and kinds == {"b"}:
            return operands[0]
        return operands[0].unary(_UNARY[name])
    if name.startswith("logical") and kinds != {"b"}:
        raise TraceError(f"{place()}: np.{name} of numbers: compare them first, such as x != 0")
    if name in _OF_INTEGERS and "f" in kinds:
        raise TraceError(f"{place()}: np.{name} of real numbers: numpy has none, integers or truth values are needed")
    if name == "subtract" and kinds == {"b"}:
        raise TraceError(f"{place()}: np.subtract of truth values: numpy has none, write x ^ y or x.astype(int)")
    # Sums and products of truth values are truth values.
    names = _BINARY | _OF_TRUTHS if kinds == {"b"} else _BINARY
    return operands[0].binary(names[name], operands[1])


def _ufunc_reduced(tracer: Tracer, name: str, x: Any, kwargs: dict[str, Any]) -> Traced:
    """Record a reduction by a universal function."""
    options = _asked(kwargs, {})
    axis = kwargs.get("axis", 0)
    keepdims, dtype = options.pop("keepdims", False), options.pop("dtype", None)
    options.pop("axis", None)
    _refuse(f"{name}.reduce", options)
    values = tracer.traced(x)
    kind = _REDUCTIONS[name]
    if name.startswith("logical"):
        values = _truths(values)
    return as_dtype(f"{name}.reduce", _reduced(kind, values, axis, keepdims), dtype)


def _reduced(name: str, x: Traced, axis: Any, keepdims: Any) -> Traced:
    result = x.reduce(name, axis, keepdims)
    if x.dtype.kind == "f":
        return result.typed(x.dtype)
    if name in ("sum", "product") and x.dtype.kind in "iu":
        return result.typed(np.dtype(np.uint64 if x.dtype.kind == "u" else np.int64))
    return settled(result, x) if x.dtype.kind in "iu" else result


def _truths(x: Traced) -> Traced:
    """Return whether numbers are not zero."""
    return x if x.dtype.kind == "b" else x.binary("not-equal", x.tracer.constant(0))


def _divide(tracer: Tracer, a: Any, b: Any) -> Traced:
    x = tracer.traced(a)
    if not isinstance(b, Traced):
        divisor = known(b).astype(np.float64)
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
    x, exponent = tracer.traced(a), float(known(b))
    if exponent == 0.5:
        return x.function("sqrt")
    if exponent != int(exponent) or abs(exponent) > 1000:
        raise TraceError(f"{place()}: exponent {exponent:g}: whole exponents up to 1000 and 0.5 are traced")
    if exponent < 0:
        if x.dtype.kind != "f" and known(b).dtype.kind != "f":
            raise TraceError(
                f"{place()}: integers to the power {exponent:g}: numpy refuses them, write x ** {exponent}"
            )
        x, exponent = x.function("reciprocal"), -exponent
    if exponent == 0:
        return tracer.constant(np.ones(x.shape, dtype=np.int64 if x.dtype.kind != "f" else np.float64))
    return x.number() if exponent == 1 else x.polynomial([0.0] * int(exponent) + [1.0])


def _float_power(tracer: Tracer, a: Any, b: Any) -> Traced:
    return _power(tracer, a, b if isinstance(b, Traced) else known(b).astype(np.float64))


def _reciprocal(tracer: Tracer, x: Any) -> Traced:
    values = tracer.traced(x)
    if values.dtype.kind != "f":
        raise TraceError(f"{place()}: np.reciprocal of integers, which numpy rounds towards 0: write 1 / x or 1 // x")
    return values.function("reciprocal")


def _root_of_squares(tracer: Tracer, x: Any, y: Any) -> Traced:
    first, second = (
        value.polynomial([0.0, 0.0, 1.0]) if isinstance(value, Traced) else tracer.constant(np.square(known(value)))
        for value in (x, y)
    )
    return first.binary("add", second).function("sqrt")


def _halves(tracer: Tracer, x: Any, combine: str) -> Traced:
    """Return half of `exp(x)` and `exp(-x)` together."""
    values = tracer.traced(x)
    both = [value.function("exp").binary("mul", tracer.constant(0.5)) for value in (values, values.unary("neg"))]
    return both[0].binary(combine, both[1])


def _plus(tracer: Tracer, x: Any) -> Traced:
    values = tracer.traced(x)
    if values.dtype.kind == "b":
        raise TraceError(f"{place()}: np.positive of truth values: numpy has none, write x or x.astype(int)")
    return values


def _clip(
    tracer: Tracer,
    a: Any,
    a_min: Any = np._NoValue,
    a_max: Any = np._NoValue,
    min: Any = np._NoValue,
    max: Any = np._NoValue,
) -> Traced:
    first, second = ([bound is not np._NoValue for bound in pair] for pair in ((a_min, a_max), (min, max)))
    if any(first) and (not all(first) or any(second)):
        raise TraceError(f"{place()}: np.clip with one of a_min and a_max, or a bound twice: give both, None for none")
    low, high = (None if bound is np._NoValue else bound for bound in ((a_min, a_max) if any(first) else (min, max)))
    if low is high is None:
        return _plus(tracer, a)
    result = tracer.traced(a)
    for bound, name in ((low, "maximum"), (high, "minimum")):
        if bound is not None:
            result = result.binary(name, tracer.traced(bound))
    return settled(result, a, *(bound for bound in (low, high) if bound is not None))


def _where(tracer: Tracer, condition: Any, x: Any = None, y: Any = None) -> Traced:
    if x is None or y is None:
        raise TraceError(f"{place()}: np.where(condition) asks for positions: write np.where(condition, a, b)")
    return select(tracer, condition, x, y)


def _select(tracer: Tracer, condlist: Any, choicelist: Any, default: Any = 0) -> Traced:
    if len(condlist) != len(choicelist) or not condlist:
        raise TraceError(f"{place()}: np.select of {len(condlist)} conditions and {len(choicelist)} choices")
    result = tracer.traced(default)
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = select(tracer, condition, choice, result)
    return result


def _reduction(name: str) -> Callable[..., Traced]:
    def reduce(tracer: Tracer, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Traced:
        return as_dtype(name, _reduced(name, tracer.traced(a), axis, keepdims), dtype)

    return reduce


def _truth(name: str) -> Callable[..., Traced]:
    def reduce(tracer: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Traced:
        return _truths(tracer.traced(a)).reduce(name, axis, keepdims)

    return reduce


def _sort(tracer: Tracer, a: Any, axis: Any = -1) -> Traced:
    values = tracer.traced(a)
    return values.along("sort", axis).typed(values.dtype)


def _place(sign: int) -> Callable[..., Traced]:
    def place_of(tracer: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Traced:
        values = tracer.traced(a).number()
        result = (values if sign > 0 else values.unary("neg")).along("arg-max", axis)
        return result.kept_axes(values.shape, axis) if keepdims else result

    return place_of


def _polyval(tracer: Tracer, p: Any, x: Any) -> Traced:
    if encrypted(p) or np.ndim(p) != 1:
        raise TraceError(
            f"{place()}: np.polyval with coefficients that are encrypted, or no vector: give known numbers"
        )
    return settled(tracer.traced(x).polynomial(known(p)[::-1].tolist()), known(p), x)


def _count_nonzero(tracer: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    return _truths(tracer.traced(a)).reduce("sum", axis, keepdims)


def _like(value: int) -> Callable[..., NDArray[Any]]:
    def like(tracer: Tracer, a: Any, dtype: Any = None, shape: Any = None) -> NDArray[Any]:
        return _full_like(tracer, a, value, dtype, shape)

    return like


def _full_like(_tracer: Tracer, a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> NDArray[Any]:
    if encrypted(fill_value):
        raise TraceError(f"{place()}: np.full_like with an encrypted value: write np.broadcast_to(value, x.shape)")
    extents = np.shape(a) if shape is None else shape
    return np.full(extents, fill_value, dtype=a.dtype if dtype is None else dtype)


def _size(_tracer: Tracer, a: Any, axis: Any = None) -> int:
    return statistics.count(a, axis)


_COMPOSED: dict[str, Callable[..., Traced]] = {
    "positive": _plus,
    "conjugate": lambda tracer, x: tracer.traced(x).number(),
    "fabs": lambda tracer, x: tracer.traced(x).number().unary("abs").astype(np.float64),
    "reciprocal": _reciprocal,
    "square": lambda tracer, x: tracer.traced(x).polynomial([0.0, 0.0, 1.0]),
    "divide": _divide,
    "power": _power,
    "float_power": _float_power,
    "matmul": products.matmul,
    "exp2": lambda tracer, x: tracer.traced(x).binary("mul", tracer.constant(np.log(2.0))).function("exp"),
    "log2": lambda tracer, x: tracer.traced(x).function("log").binary("mul", tracer.constant(1 / np.log(2.0))),
    "log10": lambda tracer, x: tracer.traced(x).function("log").binary("mul", tracer.constant(1 / np.log(10.0))),
    "log1p": lambda tracer, x: tracer.traced(x).binary("add", tracer.constant(1.0)).function("log"),
    "hypot": _root_of_squares,
    "sinh": lambda tracer, x: _halves(tracer, x, "sub"),
    "cosh": lambda tracer, x: _halves(tracer, x, "add"),
    "expm1": lambda tracer, x: tracer.traced(x).function("exp").binary("sub", tracer.constant(1.0)),
}
_UFUNCS = {*_BINARY, *_UNARY, *_SMOOTH, *_COMPOSED}


def _product(function: Callable[[Tracer, Any, Any], Traced]) -> Callable[..., Traced]:
    return lambda tracer, a, b: settled(function(tracer, a, b), a, b)


# The names of the arguments are those of numpy.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _reduction("sum"),
    "prod": _reduction("product"),
    "max": _reduction("maximum"),
    "min": _reduction("minimum"),
    "amax": _reduction("maximum"),
    "amin": _reduction("minimum"),
    "sort": _sort,
    "argmax": _place(1),
    "argmin": _place(-1),
    "any": _truth("maximum"),
    "all": _truth("minimum"),
    "mean": statistics.mean,
    "average": statistics.average,
    "var": statistics.var,
    "std": statistics.std,
    "ptp": statistics.ptp,
    "median": statistics.median,
    "quantile": statistics.quantile,
    "percentile": statistics.percentile,
    "digitize": statistics.digitize,
    "searchsorted": statistics.searchsorted,
    "histogram": statistics.histogram,
    "bincount": statistics.bincount,
    "cumsum": linear.cumsum,
    "diff": linear.diff,
    "convolve": linear.convolve,
    "correlate": linear.correlate,
    "trace": linear.trace,
    "tril": linear.triangle(np.tril),
    "triu": linear.triangle(np.triu),
    "pad": linear.pad,
    "dot": _product(products.dot),
    "inner": _product(products.inner),
    "vdot": _product(products.vdot),
    "outer": _product(products.outer),
    "where": _where,
    "select": _select,
    "clip": _clip,
    "polyval": _polyval,
    "count_nonzero": _count_nonzero,
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "full_like": _full_like,
    "shape": lambda _tracer, a: a.shape,
    "ndim": lambda _tracer, a: a.ndim,
    "size": _size,
    "copy": lambda _tracer, a: a,
    "real": lambda _tracer, val: val,
}
# Those outside of numpy's main namespace.
_ELSEWHERE: dict[Any, Callable[..., Any]] = {
    np.linalg.norm: statistics.norm,
    np.lib.stride_tricks.sliding_window_view: linear.sliding_window_view,
    **{of: complexes.transform(of) for of in complexes.TRANSFORMS},
}
# Functions in C, which say what they take from some version of numpy on.
_IN_C: dict[str, Callable[..., Any]] = {
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    "where": lambda condition, x=None, y=None, /: None,
    "dot": lambda a, b, out=None: None,
    "inner": lambda a, b, /: None,
    "vdot": lambda a, b, /: None,
    "bincount": lambda x, /, weights=None, minlength=0: None,
}


def flattened(outputs: Any) -> tuple[Sequence[Any], bool]:
    """Return outputs as a sequence, and whether there is one alone."""
    if isinstance(outputs, tuple | list):
        return outputs, False
    return [outputs], True
