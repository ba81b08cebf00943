"""Linear functions along axes of arrays that are traced, as numpy defines them."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren._trace import Traced, TraceError, Tracer, known, place
from noren._trace_types import as_dtype, settled

_MOST_ENTRIES = 2**24
"""As many as an array may have elements."""


def along(x: Traced, axis: Any, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Traced:
    """Apply a linear function of vectors along an axis: its matrix has its values at unit vectors as rows."""
    at = np.lib.array_utils.normalize_axis_index(index(axis), x.ndim)
    extent = x.shape[at]
    results = len(function(np.zeros(extent, dtype=np.int64)))
    _check_matrix(extent, max(extent, results))
    matrix = np.stack([function(unit) for unit in np.eye(extent, dtype=np.int64)])
    last: Any = x.number()
    moved: Traced = np.moveaxis(np.moveaxis(last, at, -1) @ matrix, -1, at)
    return moved


def _check_matrix(rows: int, columns: int) -> None:
    """Refuse matrices that take too much memory, before they are made."""
    if rows * columns > _MOST_ENTRIES:
        raise TraceError(
            f"{place()}: a matrix of {rows} x {columns} entries, {_MOST_ENTRIES} at most: apply the function to parts"
        )


def cumsum(tracer: Tracer, a: Any, axis: Any = None, dtype: Any = None) -> Traced:
    """Return the sums of all elements up to each along an axis."""
    x = tracer.traced(a).reshape(-1) if axis is None else tracer.traced(a)
    result = along(x, 0 if axis is None else axis, np.cumsum)
    return as_dtype("cumsum", result, dtype)


def diff(
    tracer: Tracer, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue
) -> Traced:
    """Return the differences of neighbours along an axis, n times."""
    x: Any = tracer.traced(a)
    at = np.lib.array_utils.normalize_axis_index(index(axis), x.ndim)
    edge = [1 if own == at else extent for own, extent in enumerate(x.shape)]
    given = [end for end in (prepend, x, append) if end is not np._NoValue]
    if len(given) > 1:
        x = np.concatenate([end if np.ndim(end) else np.broadcast_to(end, edge) for end in given], axis=at)
    if not 0 <= index(n) < x.shape[at]:
        raise TraceError(f"{place()}: np.diff with n={n} of {x.shape[at]} elements: 0 to {x.shape[at] - 1} are traced")
    for _ in range(index(n)):
        first: Any = np.take(x, np.arange(x.shape[at] - 1), axis=at)
        second: Any = np.take(x, np.arange(1, x.shape[at]), axis=at)
        x = second != first if x.dtype.kind == "b" else settled(second.binary("sub", first), x)
    result: Traced = x
    return result


def convolve(tracer: Tracer, a: Any, v: Any, mode: Any = "full") -> Traced:
    """Return the sums of products of two vectors, of which one runs backwards past the other."""
    return _of_two(tracer, a, v, lambda a, v: np.convolve(a, v, mode), "np.convolve")


def correlate(tracer: Tracer, a: Any, v: Any, mode: Any = "valid") -> Traced:
    """Return the sums of products of two vectors, of which one runs past the other."""
    return _of_two(tracer, a, v, lambda a, v: np.correlate(a, v, mode), "np.correlate")


def _of_two(tracer: Tracer, a: Any, v: Any, function: Callable[[Any, Any], NDArray[Any]], name: str) -> Traced:
    """Apply a bilinear function of two vectors."""
    if np.ndim(a) != 1 or np.ndim(v) != 1:
        raise TraceError(f"{place()}: {name} of shapes {np.shape(a)} and {np.shape(v)}: two vectors are needed")
    if not isinstance(v, Traced):
        return settled(along(a, 0, lambda unit: function(unit, known(v))), a, v)
    if not isinstance(a, Traced):
        return settled(along(v, 0, lambda unit: function(known(a), unit)), a, v)
    _check_matrix(len(a) * len(v), len(a) + len(v))
    units = [(i, j) for i in np.eye(len(a), dtype=np.int64) for j in np.eye(len(v), dtype=np.int64)]
    products: Any = np.ravel(np.outer(a.number(), v.number()))
    return settled(products @ np.stack([function(i, j) for i, j in units]), a, v)


def trace(tracer: Tracer, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None) -> Traced:
    """Return the sum along a diagonal."""
    values: Any = tracer.traced(a)
    diagonal: Any = np.diagonal(values, offset, axis1, axis2)
    return as_dtype("trace", diagonal.reduce("sum", -1), dtype)


def triangle(part: Callable[[NDArray[np.int64], int], NDArray[np.int64]]) -> Callable[..., Traced]:
    """Return the function that keeps the elements on one side of a diagonal, np.tril or np.triu."""

    def triangle_of(tracer: Tracer, m: Any, k: Any = 0) -> Traced:
        # -1 stands for a zero.
        return tracer.traced(m).rearranged(lambda positions: part(positions + 1, index(k)) - 1)

    return triangle_of


def pad(tracer: Tracer, array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Traced:
    """Return the array with elements around it: zeros, or its own."""
    zeros = mode == "constant" and not np.any(constant_values)
    if not (zeros or mode in ("edge", "reflect", "symmetric", "wrap")):
        raise TraceError(
            f"{place()}: np.pad with mode={mode!r} and constant_values={constant_values!r}: zeros and the modes edge, "
            "reflect, symmetric and wrap are traced"
        )
    if zeros:
        return tracer.traced(array).rearranged(lambda positions: np.pad(positions + 1, pad_width) - 1)
    return tracer.traced(array).rearranged(lambda positions: np.pad(positions, pad_width, mode=mode))


def sliding_window_view(tracer: Tracer, x: Any, window_shape: Any, axis: Any = None) -> Traced:
    """Return all windows of a shape."""
    return tracer.traced(x).rearranged(
        lambda positions: np.lib.stride_tricks.sliding_window_view(positions, window_shape, axis)
    )
