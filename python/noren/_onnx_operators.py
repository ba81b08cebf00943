"""Operators of ONNX, in numpy, on known numbers, on rows in clear and on encrypted rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np

from noren._answers import Array
from noren._blocks import Blocks
from noren._onnx_values import Folded, affine, each
from noren._onnx_windows import Windows
from noren._trace import Traced
from noren.compiler import sigmoid


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a graph."""

    operator: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    opset: int
    """The version of the operators that the model declares."""
    rows: tuple[bool, ...] = ()
    """Whether each input follows from the rows."""
    single: bool = False
    """Whether the graph is one of a single row: the first axis, of one element, stands for that of rows."""

    def __str__(self) -> str:
        """Return the name, for messages."""
        return f"node {self.name!r} ({self.operator})"

    def option(self, name: str, default: Any) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def either(self, name: str, given: Sequence[Any], place: int, default: Any = None) -> Any:
        """Return what is an attribute in earlier versions, and an input in later ones."""
        if name in self.attributes:
            return self.attributes[name]
        return given[place] if place < len(given) and given[place] is not None else default


Apply: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Operator:
    """How an operator is computed, and which of its inputs may follow from encrypted rows."""

    apply: Apply
    places: tuple[int, ...] | None = (0,)
    """The inputs that may; None for all."""
    apart: tuple[int, ...] = ()
    """Inputs of which one at most may."""


def _extents(node: Node, x: Any, place: int = 0) -> tuple[int, ...]:
    """Return the shape that the graph sees."""
    shape = (len(x.base), *x.shape) if isinstance(x, Folded) else np.shape(x)
    return (1, *shape[1:]) if node.single and node.rows[place] else shape


def _whole(values: Any) -> list[int]:
    return [int(value) for value in np.ravel(values)]


def _unary(function: Callable[[Any], Any], everywhere: bool = True) -> Operator:
    return Operator(lambda _node, x: each(function, x, everywhere=everywhere))


def _linear(function: Callable[..., Array], elementwise: bool = False) -> Operator:
    """Return an affine operator of its first input."""
    return Operator(
        lambda node, x, *known: affine(lambda a: function(node, a, *known), x, elementwise=elementwise),
    )


def _joint(function: Callable[..., Array]) -> Operator:
    """Return a linear operator of all inputs, element by element."""
    return Operator(lambda _node, *given: affine(function, *given, elementwise=True), places=None)


def _mul(node: Node, x: Any, y: Any) -> Any:
    return each(np.multiply, x, y) if all(node.rows) else affine(np.multiply, x, y, elementwise=True)


def _div(node: Node, x: Any, y: Any) -> Any:
    if not any(node.rows) and np.asarray(x).dtype.kind in "iu":
        # Of shapes alone, which are not negative.
        return np.floor_divide(x, y)
    return each(np.divide, x, y, everywhere=False) if node.rows[1] else affine(np.divide, x, y, elementwise=True)


def _pow(_node: Node, x: Any, exponent: Any) -> Any:
    own = np.unique(exponent)
    if len(own) != 1:
        raise ValueError("different exponents, one is taken")
    power = float(own[0])
    whole = power.is_integer() and power >= 0
    return each(lambda a: a ** (int(power) if power.is_integer() else power), x, everywhere=whole)


def _several(function: Callable[[Any, Any], Any]) -> Operator:
    return Operator(lambda _node, *given: reduce(lambda x, y: each(function, x, y), given), places=None)


def _gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    alpha, beta = node.option("alpha", 1.0), node.option("beta", 1.0)

    def product(a: Array, b: Array, c: Any = 0.0) -> Array:
        left, right = (x.T if node.option(name, 0) else x for x, name in ((a, "transA"), (b, "transB")))
        return np.asarray(alpha * (left @ right) + beta * c)

    return affine(product, a, b, *([] if c is None else [c]))


def _batch_normalization(node: Node, x: Array, scale: Array, shift: Array, mean: Array, variance: Array) -> Array:
    if node.option("training_mode", 0) or not node.option("spatial", 1):
        raise ValueError("training_mode=0 and spatial=1 are taken")
    scale = scale / np.sqrt(variance + node.option("epsilon", 1e-5))
    channels = (1, -1, *(1,) * (x.ndim - 2))
    return np.asarray(x * scale.reshape(channels) + (shift - mean * scale).reshape(channels))


def _convolved(node: Node, x: Any, weights: Any, bias: Any = None) -> Any:
    def blocks(shape: tuple[int, ...]) -> Blocks:
        windows = Windows.of(node.attributes, shape[1:], weights.shape[2:])
        return windows.blocks(shape[1:], weights, node.option("group", 1))

    known = (weights,) if bias is None else (weights, bias)
    return affine(lambda a, *own: _conv(node, a, *own), x, *known, mixing=blocks)


def _conv(node: Node, x: Array, weights: Array, bias: Array | None = None) -> Array:
    kernel, groups = weights.shape[2:], node.option("group", 1)
    view = Windows.of(node.attributes, x.shape[2:], kernel).view(x)
    axes = (1, *range(2 + len(kernel), view.ndim))
    pairs = zip(np.split(view, groups, axis=1), np.split(weights, groups), strict=True)
    parts = [np.tensordot(part, own, (axes, tuple(range(1, own.ndim)))) for part, own in pairs]
    result = np.moveaxis(np.concatenate(parts, axis=-1), -1, 1)
    return result if bias is None else result + bias.reshape(1, -1, *(1,) * len(kernel))


def _average_pool(node: Node, x: Array) -> Array:
    kernel = node.attributes["kernel_shape"]
    windows = Windows.of_pool(node.attributes, x.shape[2:])
    padding = node.option("count_include_pad", 0)
    count = prod(kernel) if padding else windows.view(np.ones((1, 1, *x.shape[2:]))).sum(axis=windows.axes)
    return np.asarray(windows.view(x).sum(axis=windows.axes) / count)


def _averaged(node: Node, x: Any) -> Any:
    def blocks(shape: tuple[int, ...]) -> Blocks:
        channels, *space = shape
        windows = Windows.of_pool(node.attributes, space)
        sums = windows.blocks(space, np.ones((channels, 1, *node.attributes["kernel_shape"])), channels)
        # Averages of ones with padding beside them, relative to the sums.
        ones = np.ones((1, *shape))
        return sums.scaled(1, (_average_pool(node, ones) / windows.view(ones).sum(axis=windows.axes)).ravel())

    return affine(lambda a: _average_pool(node, a), x, mixing=blocks)


def _max_pool(node: Node, x: Any) -> Any:
    space = _extents(node, x)[2:]
    windows = Windows.of_pool(node.attributes, space)
    elements = windows.elements(space)
    parts = []
    for offset in np.ndindex(windows.kernel):
        places = np.ix_(*(index[:, k] for index, k in zip(elements, offset, strict=True)))
        parts.append(affine(lambda a, places=places: a[(slice(None), slice(None), *places)], x))
    # In pairs, so that few follow one another.
    while len(parts) > 1:
        pairs = [each(np.maximum, *parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[2 * len(pairs) :]
    return parts[0]


def _global_average(_node: Node, x: Array) -> Array:
    return np.asarray(x.mean(axis=tuple(range(2, x.ndim)), keepdims=True))


def _dropout(_node: Node, x: Any, _ratio: Any = None, training: Any = None) -> Any:
    if training is not None and np.any(training):
        raise ValueError("training_mode is true: false is taken")
    return x


def _clip(node: Node, x: Any, *given: Any) -> Any:
    low, high = (node.either(name, given, place) for place, name in enumerate(("min", "max")))
    for bound, function in ((low, np.maximum), (high, np.minimum)):
        if bound is not None and np.isfinite(bound) and abs(float(bound)) < np.finfo(np.float32).max:
            x = each(function, x, bound)
    return x


def _rectified(x: Any) -> Any:
    return np.maximum(x, 0.0)


def _leaky_relu(node: Node, x: Any) -> Any:
    slope = node.option("alpha", 0.01)
    return each(lambda a: slope * a + (1 - slope) * _rectified(a), x)


def _prelu(_node: Node, x: Any, slope: Any) -> Any:
    return each(lambda a, own: own * a + (1 - own) * _rectified(a), x, slope)


def _hard_sigmoid(a: Any, slope: float, middle: float) -> Any:
    return np.minimum(np.maximum(slope * a + middle, 0.0), 1.0)


def _hard_swish(_node: Node, x: Any) -> Any:
    return each(lambda a: a * _hard_sigmoid(a, 1 / 6, 0.5), x)


def _elu(node: Node, x: Any) -> Any:
    alpha = node.option("alpha", 1.0)
    return each(lambda a: _rectified(a) + alpha * (np.exp(np.minimum(a, 0.0)) - 1), x)


def _softplus(a: Any) -> Any:
    return np.log(1.0 + np.exp(a)) if isinstance(a, Traced) else np.logaddexp(0.0, a)


def _gelu(node: Node, x: Any) -> Any:
    if node.option("approximate", "none") != "tanh":
        raise ValueError("approximate='none': approximate='tanh' is taken")
    return each(lambda a: 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3))), x)


def _swish(node: Node, x: Any) -> Any:
    alpha = node.option("alpha", 1.0)
    return each(lambda a: a * sigmoid(alpha * a), x)


def _reduction(function: Callable[..., Array]) -> Operator:
    def apply(node: Node, x: Any, *given: Any) -> Any:
        axes = node.either("axes", given, 0)
        if axes is None and node.option("noop_with_empty_axes", 0):
            return x
        own = None if axes is None or np.size(axes) == 0 else tuple(_whole(axes))
        return affine(lambda a: np.asarray(function(a, axis=own, keepdims=bool(node.option("keepdims", 1)))), x)

    return Operator(apply)


def _concat(node: Node, *given: Any) -> Any:
    def join(*arrays: Array) -> Array:
        # A known row stands beside each of the others.
        count = max(map(len, arrays)) if any(node.rows) else 1
        spread = [np.broadcast_to(a, (count, *a.shape[1:])) if len(a) == 1 < count else a for a in arrays]
        return np.concatenate(spread, axis=node.attributes["axis"])

    return affine(join, *given)


def _split(node: Node, x: Any, *given: Any) -> Any:
    axis = node.option("axis", 0)
    extent = _extents(node, x)[axis]
    sizes = node.either("split", given, 0)
    if sizes is None:
        size = -(-extent // len(node.outputs))
        sizes = [min(size, extent - size * at) for at in range(len(node.outputs))]
    ends = np.cumsum(_whole(sizes))
    parts = [np.arange(end - size, end) for end, size in zip(ends, _whole(sizes), strict=True)]
    return tuple(affine(lambda a, part=part: np.take(a, part, axis=axis), x) for part in parts)


def _reshape(node: Node, x: Any, target: Any) -> Any:
    old = _extents(node, x)
    shape = _whole(target)
    if not node.option("allowzero", 0):
        shape = [old[at] if extent == 0 else extent for at, extent in enumerate(shape)]
    if -1 in shape:
        rest = -prod(shape)
        shape[shape.index(-1)] = prod(old) // rest if rest else 0
    return _reshaped(node, x, old, shape)


def _reshaped(node: Node, x: Any, old: tuple[int, ...], shape: Sequence[int]) -> Any:
    if not isinstance(x, Folded) and not (node.single and node.rows[0]):
        return x.reshape(shape)
    if not shape or shape[0] != old[0]:
        raise ValueError(f"rows of shape {old} to {tuple(shape)}: the first axis is that of rows")
    return affine(lambda a: a.reshape(len(a), *shape[1:]), x, elementwise=True)


def _flatten(node: Node, x: Any) -> Any:
    old = _extents(node, x)
    axis = node.option("axis", 1)
    axis += len(old) if axis < 0 else 0
    return _reshaped(node, x, old, [prod(old[:axis]), prod(old[axis:])])


def _squeeze(node: Node, x: Any, *given: Any) -> Any:
    axes = node.either("axes", given, 0)
    own = None if axes is None else tuple(_whole(axes))
    return affine(lambda a: np.squeeze(a, own), x, elementwise=True)


def _unsqueeze(node: Node, x: Any, *given: Any) -> Any:
    axes = tuple(_whole(node.either("axes", given, 0)))
    return affine(lambda a: np.expand_dims(a, axes), x, elementwise=True)


def _expand(node: Node, x: Any, target: Any) -> Any:
    shape = np.broadcast_shapes(_extents(node, x), tuple(_whole(target)))
    if isinstance(x, Folded) or (node.single and node.rows[0]):
        return affine(lambda a: np.broadcast_to(a, (len(a), *shape[1:])), x)
    return np.broadcast_to(x, shape)


def _slice(node: Node, x: Array, *given: Any) -> Array:
    starts, ends, axes, steps = (
        node.either(name, given, at) for at, name in enumerate(("starts", "ends", "axes", "steps"))
    )
    own = range(len(_whole(starts))) if axes is None else _whole(axes)
    index = [slice(None)] * x.ndim
    for at, axis in enumerate(own):
        step = 1 if steps is None else _whole(steps)[at]
        start, end, extent = _whole(starts)[at], _whole(ends)[at], x.shape[axis]
        # An end before the first element is one of numpy only where it is None.
        index[axis] = slice(start, None if step < 0 and end < -extent else end, step)
    return x[tuple(index)]


def _gather(node: Node, x: Array, places: Any) -> Array:
    return np.asarray(np.take(x, np.asarray(places, dtype=np.int64), axis=node.option("axis", 0)))


def _pad(node: Node, x: Array, *given: Any) -> Array:
    pads = _whole(node.either("pads", given, 0))
    value = node.either("value", given, 1, 0.0)
    axes = range(x.ndim) if len(given) < 3 or given[2] is None else _whole(given[2])
    if min(pads) < 0:
        raise ValueError(f"pads={pads}: slices are taken in place of negative ones")
    widths = [(0, 0)] * x.ndim
    for at, axis in enumerate(axes):
        widths[axis] = (pads[at], pads[at + len(pads) // 2])
    mode = node.option("mode", "constant")
    if mode == "constant":
        return np.pad(x, widths, constant_values=float(np.ravel(value)[0]))
    return np.pad(x, widths, mode=mode)


FLOATS = (1, 10, 11)
"""The types float, float16 and double; all are computed with in float64."""
_TYPES = {**dict.fromkeys(FLOATS, np.float64), 6: np.int32, 7: np.int64, 9: np.bool_}


def _cast(node: Node, x: Any) -> Any:
    kind = node.attributes["to"]
    if kind not in _TYPES:
        raise ValueError(f"to={kind}: floats, int32, int64 and bool are taken")
    return x if isinstance(x, Folded) else x.astype(_TYPES[kind])


def _constant(node: Node) -> Any:
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        if name in node.attributes:
            return np.asarray(node.attributes[name])
    raise ValueError("numbers are taken")


def _constant_of_shape(node: Node, shape: Any) -> Any:
    value = node.option("value", np.zeros(1))
    return np.full(tuple(_whole(shape)), value.ravel()[0])


def _shape(node: Node, x: Any) -> Any:
    return np.array(_extents(node, x)[node.option("start", 0) : node.attributes.get("end")], dtype=np.int64)


def _softmax(node: Node, x: Array) -> Array:
    if node.opset >= 13:
        return _softmax_along(x, node.option("axis", -1))
    # All axes from this one on are one.
    axis = node.option("axis", 1) % x.ndim
    return _softmax_along(x.reshape(*x.shape[:axis], -1), -1).reshape(x.shape)


def _softmax_along(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def _place(sign: int) -> Operator:
    def apply(node: Node, x: Array) -> Array:
        axis, found = node.option("axis", 0), sign * x
        if node.option("select_last_index", 0):
            places = x.shape[axis] - 1 - np.flip(found, axis).argmax(axis=axis)
        else:
            places = found.argmax(axis=axis)
        return np.expand_dims(places, axis) if node.option("keepdims", 1) else places

    return Operator(apply)


def _known(function: Apply) -> Operator:
    return Operator(function, places=())


OPERATORS: dict[str, Operator] = {
    "Abs": _unary(np.abs),
    "Add": _joint(np.add),
    "ArgMax": _place(1),
    "ArgMin": _place(-1),
    "ArrayFeatureExtractor": Operator(lambda _node, x, at: np.atleast_2d(x)[..., _whole(at)], places=(0, 1)),
    "AveragePool": Operator(_averaged),
    "BatchNormalization": _linear(_batch_normalization, elementwise=True),
    "Cast": Operator(_cast),
    "Clip": Operator(_clip),
    "Concat": Operator(_concat, places=None),
    "Constant": _known(_constant),
    "ConstantOfShape": _known(_constant_of_shape),
    "Conv": Operator(_convolved),
    "Div": Operator(_div, places=(0, 1)),
    "Dropout": Operator(_dropout),
    "Elu": Operator(_elu),
    "Equal": _known(lambda _node, x, y: np.equal(x, y)),
    "Exp": _unary(np.exp),
    "Expand": Operator(_expand),
    "Flatten": Operator(_flatten),
    "Gather": _linear(_gather),
    "Gelu": Operator(_gelu),
    "Gemm": Operator(_gemm, places=(0, 1, 2), apart=(0, 1)),
    "GlobalAveragePool": _linear(_global_average),
    "HardSigmoid": Operator(
        lambda node, x: each(lambda a: _hard_sigmoid(a, node.option("alpha", 0.2), node.option("beta", 0.5)), x)
    ),
    "HardSwish": Operator(_hard_swish),
    "Identity": Operator(lambda _node, x: x),
    "LeakyRelu": Operator(_leaky_relu),
    "Log": _unary(np.log, everywhere=False),
    "LogSoftmax": Operator(lambda node, x: np.log(_softmax(node, x))),
    "MatMul": Operator(lambda _node, x, y: affine(np.matmul, x, y), places=(0, 1), apart=(0, 1)),
    "Max": _several(np.maximum),
    "MaxPool": Operator(_max_pool),
    "Mean": _joint(lambda *given: reduce(np.add, given) / len(given)),
    "Min": _several(np.minimum),
    "Mish": _unary(lambda a: a * np.tanh(_softplus(a))),
    "Mul": Operator(_mul, places=(0, 1)),
    "Neg": _joint(np.negative),
    "PRelu": Operator(_prelu),
    "Pad": _linear(_pad),
    "Pow": Operator(_pow),
    "Range": _known(lambda _node, start, limit, step: np.arange(start, limit, step)),
    "Reciprocal": _unary(lambda a: 1.0 / a, everywhere=False),
    "ReduceMean": _reduction(np.mean),
    "ReduceSum": _reduction(np.sum),
    "Relu": _unary(_rectified),
    "Reshape": Operator(_reshape),
    "Shape": Operator(_shape),
    "Sigmoid": _unary(sigmoid),
    "Slice": _linear(_slice),
    "Softmax": Operator(_softmax),
    "Softplus": _unary(_softplus),
    "Split": Operator(_split),
    "Sqrt": _unary(np.sqrt, everywhere=False),
    "Squeeze": Operator(_squeeze),
    "Sub": _joint(np.subtract),
    "Sum": _joint(lambda *given: reduce(np.add, given)),
    "Swish": Operator(_swish),
    "Tanh": _unary(np.tanh),
    "Transpose": _linear(lambda node, x: np.transpose(x, node.attributes.get("perm"))),
    "Unsqueeze": Operator(_unsqueeze),
    "Where": _known(lambda _node, condition, x, y: np.where(condition, x, y)),
    "ZipMap": Operator(lambda _node, x: x),
}
