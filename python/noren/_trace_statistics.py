"""Statistics of arrays that are traced, as numpy defines them."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from noren._trace import Traced, TraceError, Tracer, known, place
from noren._trace_types import as_dtype, encrypted, settled


def count(x: Any, axis: Any) -> int:
    """Return the number of elements along axes."""
    axes = range(x.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    return int(np.prod([x.shape[at] for at in axes], dtype=np.int64))


def mean(tracer: Tracer, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Traced:
    """Return the mean."""
    values = tracer.traced(a)
    total = values.reduce("sum", axis, keepdims)
    return as_dtype("mean", total.binary("mul", tracer.constant(1.0 / count(values, axis))), dtype)


def var(tracer: Tracer, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = False) -> Traced:
    """Return the variance."""
    values = tracer.traced(a)
    numbers = count(values, axis)
    if numbers <= ddof:
        raise TraceError(f"{place()}: the variance of {numbers} numbers with ddof={ddof}")
    # Two sums need no copies of the mean beside the numbers.
    squares = values.polynomial([0.0, 0.0, 1.0]).reduce("sum", axis, keepdims)
    total = values.reduce("sum", axis, keepdims)
    square = total.binary("mul", total.binary("mul", tracer.constant(1.0 / (numbers * (numbers - ddof)))))
    result = squares.binary("mul", tracer.constant(1.0 / (numbers - ddof))).binary("sub", square)
    return as_dtype("var", result, dtype)


def std(tracer: Tracer, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = False) -> Traced:
    """Return the standard deviation: the root of the mean of squares, which are known not to be negative."""
    values = tracer.traced(a)
    numbers = count(values, axis)
    if numbers <= ddof:
        raise TraceError(f"{place()}: the standard deviation of {numbers} numbers with ddof={ddof}")
    squares = values.binary("sub", mean(tracer, values, axis, keepdims=True)).polynomial([0.0, 0.0, 1.0])
    total = squares.reduce("sum", axis, keepdims)
    return as_dtype("std", total.binary("mul", tracer.constant(1.0 / (numbers - ddof))).function("sqrt"), dtype)


def ptp(tracer: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    """Return the difference of the largest and the smallest."""
    values = tracer.traced(a)
    ends = [values.reduce(kind, axis, keepdims) for kind in ("maximum", "minimum")]
    return settled(ends[0].binary("sub", ends[1]), a)


def norm(tracer: Tracer, x: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    """Return the root of the sum of squares."""
    if axis is None and x.ndim > 2:
        raise TraceError(f"{place()}: np.linalg.norm of {x.ndim} axes: name one or two of them")
    return tracer.traced(x).polynomial([0.0, 0.0, 1.0]).reduce("sum", axis, keepdims).function("sqrt")


def median(tracer: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    """Return the number in the middle, or the mean of the two there."""
    return _at_rank(tracer, a, 0.5, axis, keepdims)


def quantile(tracer: Tracer, a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    """Return quantiles, between two numbers by their distances from them."""
    return _quantiles(tracer, a, q, 1.0, axis, keepdims)


def percentile(tracer: Tracer, a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    """Return percentiles, between two numbers by their distances from them."""
    return _quantiles(tracer, a, q, 100.0, axis, keepdims)


def _quantiles(tracer: Tracer, a: Any, q: Any, whole: float, axis: Any, keepdims: Any) -> Traced:
    if encrypted(q) or np.ndim(q) > 1:
        raise TraceError(f"{place()}: quantiles that are encrypted, or of several axes: give known numbers in a list")
    if (known(q) < 0).any() or (known(q) > whole).any():
        raise TraceError(f"{place()}: a quantile outside of 0 to {whole:g}")
    if np.ndim(q) == 0:
        return _at_rank(tracer, a, float(q) / whole, axis, keepdims)
    each: Any = [_at_rank(tracer, a, float(one) / whole, axis, keepdims) for one in q]
    stacked: Any = np.stack(each)
    result: Traced = stacked
    return result


def _at_rank(tracer: Tracer, a: Any, part: float, axis: Any, keepdims: Any) -> Traced:
    """Return the number that this part of the others lies below, as numpy's method "linear" does."""
    if isinstance(axis, tuple):
        raise TraceError(f"{place()}: a quantile along several axes: reshape them into one")
    values = tracer.traced(a)
    place_of = -1 if axis is None else index(axis)
    ordered = values.along("sort", axis).typed(values.dtype)
    extent = ordered.shape[place_of]
    rank = part * (extent - 1)
    below = int(rank)
    low, high = (_taken(ordered, min(at, extent - 1), place_of) for at in (below, below + 1))
    result = low.astype(np.float64)
    if rank != below:
        # Of the two as they are: a half of the sum of integers needs no more than its sum.
        result = low.binary("mul", tracer.constant(below + 1 - rank)) + high.binary(
            "mul", tracer.constant(rank - below)
        )
        if rank - below == 0.5:
            result = low.binary("add", high).binary("mul", tracer.constant(0.5))
    if not keepdims:
        return result
    return result.reshape([1 if axis in (None, at, at - values.ndim) else n for at, n in enumerate(values.shape)])


def _taken(x: Traced, at: int, axis: int) -> Traced:
    taken: Traced = np.take(x, at, axis=axis)
    return taken


def digitize(tracer: Tracer, x: Any, bins: Any, right: Any = False) -> Traced:
    """Return how many edges lie at each number or below it."""
    if encrypted(bins):
        raise TraceError(f"{place()}: np.digitize with encrypted bins: give known edges")
    return _above(tracer, x, bins, "greater" if right else "greater-equal", "np.digitize with bins")


def searchsorted(tracer: Tracer, a: Any, v: Any, side: Any = "left") -> Traced:
    """Return how many numbers of a known sorted array lie below each number."""
    if encrypted(a):
        raise TraceError(f"{place()}: np.searchsorted in an encrypted array: give known numbers")
    if side not in ("left", "right"):
        raise TraceError(f'{place()}: np.searchsorted with side={side!r}: "left" and "right" are traced')
    return _above(tracer, v, a, "greater" if side == "left" else "greater-equal", "np.searchsorted in an array")


def _above(tracer: Tracer, x: Any, edges: Any, comparison: str, what: str) -> Traced:
    """Return how many edges are below numbers, by a comparison with each."""
    ends = known(edges)
    if ends.ndim != 1 or ends.size == 0 or (np.diff(ends) < 0).any():
        raise TraceError(f"{place()}: {what} that do not ascend: sort them")
    values = tracer.traced(x)
    beside = values.reshape(*values.shape, 1).binary(comparison, tracer.constant(ends))
    return beside.reduce("sum", values.ndim)


def histogram(tracer: Tracer, a: Any, bins: Any = 10, range: Any = None) -> tuple[Traced, Any]:
    """Return how many numbers lie between each two edges, the last of which belongs to them, and the edges."""
    if encrypted(bins) or (np.ndim(bins) == 0 and range is None):
        raise TraceError(f"{place()}: np.histogram whose edges depend on encrypted numbers: give bins=, or also range=")
    # numpy's own edges, of no numbers.
    edges = np.histogram_bin_edges(np.zeros(0), bins, range)
    values: Any = tracer.traced(a).reshape(-1)
    last = len(edges) - 1
    above = [values >= edge for edge in edges[:-1]] + [values > edges[-1]]
    counts = [inside.reduce("sum", 0) for inside in above]
    found: Any = np.stack([counts[at].binary("sub", counts[at + 1]) for at in np.arange(last)])
    return found, edges


def bincount(tracer: Tracer, x: Any, weights: Any = None, minlength: Any = 0) -> Traced:
    """Return how often each integer from 0 on stands in an array, or the sums of the weights there."""
    if not isinstance(x, Traced):
        values, groups = tracer.traced(weights), known(x)
        if groups.ndim != 1 or (groups < 0).any():
            raise TraceError(f"{place()}: np.bincount of integers below 0, or of no vector")
        members = (groups[:, None] == np.arange(max(index(minlength), int(groups.max()) + 1))).astype(np.int64)
        sums: Traced = values @ members
        return sums.astype(np.float64)
    low, high = x.within
    if x.dtype.kind not in "iu" or x.ndim != 1 or low < 0 or index(minlength) <= high:
        raise TraceError(
            f"{place()}: np.bincount of numbers from {low:g} to {high:g}: a vector of integers from 0 on is needed, "
            f"and minlength={high + 1:.0f} or more, because the length of the result must not depend on them"
        )
    members = x.reshape(-1, 1).binary("equal", tracer.constant(np.arange(index(minlength))))
    if weights is None:
        return members.reduce("sum", 0)
    weighted = members.number().binary("mul", tracer.traced(weights).reshape(-1, 1))
    return weighted.reduce("sum", 0).astype(np.float64)


def average(tracer: Tracer, a: Any, axis: Any = None, weights: Any = None, keepdims: Any = False) -> Traced:
    """Return the mean with weights that are known."""
    if weights is None:
        return mean(tracer, a, axis, keepdims=keepdims)
    if encrypted(weights):
        raise TraceError(f"{place()}: np.average with encrypted weights: divide sums of products, with known bounds")
    values, parts = tracer.traced(a), known(weights).astype(np.float64)
    axes = tuple(range(values.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, values.ndim)
    if parts.shape != values.shape:
        along = tuple(values.shape[at] for at in axes)
        if axis is None or parts.shape != along:
            needed = f"{values.shape}" if axis is None else f"{values.shape} or {along}"
            raise TraceError(f"{place()}: np.average with weights of shape {parts.shape}: {needed} is needed")
        parts = parts.transpose(np.argsort(axes)).reshape([n if at in axes else 1 for at, n in enumerate(values.shape)])
    total = parts.sum(axis=axes, keepdims=True)
    if (total == 0).any():
        raise TraceError(f"{place()}: np.average with weights whose sum is 0: numpy refuses them")
    return values.binary("mul", tracer.constant(parts / total)).reduce("sum", axis, keepdims)
