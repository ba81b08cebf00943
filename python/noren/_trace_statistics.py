"""Statistics of arrays that are traced, as numpy defines them."""

from __future__ import annotations

from itertools import pairwise
from operator import index
from typing import Any

import numpy as np

from noren._trace import Traced, TraceError, Tracer, known, place
from noren._trace_types import as_dtype, encrypted, settled

MOST_SORTED = 16
"""Of more real numbers order statistics are searched for: a sort takes more comparisons one after the other."""


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
    numbers = _more_than("variance", values, axis, ddof)
    # Two sums need no copies of the mean beside the numbers.
    squares = values.polynomial([0.0, 0.0, 1.0]).reduce("sum", axis, keepdims)
    total = values.reduce("sum", axis, keepdims)
    square = total.binary("mul", total.binary("mul", tracer.constant(1.0 / (numbers * (numbers - ddof)))))
    result = squares.binary("mul", tracer.constant(1.0 / (numbers - ddof))).binary("sub", square)
    return as_dtype("var", result, dtype)


def std(tracer: Tracer, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = False) -> Traced:
    """Return the standard deviation: the root of the mean of squares, which are known not to be negative."""
    values = tracer.traced(a)
    numbers = _more_than("standard deviation", values, axis, ddof)
    squares = values.binary("sub", mean(tracer, values, axis, keepdims=True)).polynomial([0.0, 0.0, 1.0])
    total = squares.reduce("sum", axis, keepdims)
    return as_dtype("std", total.binary("mul", tracer.constant(1.0 / (numbers - ddof))).function("sqrt"), dtype)


def _more_than(what: str, values: Traced, axis: Any, ddof: Any) -> int:
    """Return the number of elements along axes, which is to be above `ddof`."""
    numbers = count(values, axis)
    if numbers <= ddof:
        raise TraceError(f"{place()}: the {what} of {numbers} numbers with ddof={ddof}")
    return numbers


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
    return _at_ranks(tracer, a, [0.5], axis, keepdims)[0]


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
    each: Any = _at_ranks(tracer, a, [float(one) / whole for one in np.atleast_1d(q)], axis, keepdims)
    result: Any = np.stack(each) if np.ndim(q) else each[0]
    traced: Traced = result
    return traced


def _at_ranks(tracer: Tracer, a: Any, parts: list[float], axis: Any, keepdims: Any) -> list[Traced]:
    """Return the numbers that these parts of the others lie below, as numpy's method "linear" does."""
    if isinstance(axis, tuple):
        raise TraceError(f"{place()}: a quantile along several axes: reshape them into one")
    values = tracer.traced(a)
    along = -1 if axis is None else index(axis)
    if values.dtype.kind == "f" and count(values, axis) > MOST_SORTED:
        found = [_order_statistic(values, axis, part) for part in parts]
        return [one.kept_axes(values.shape, axis) for one in found] if keepdims else found
    ordered: Any = values.along("sort", axis).typed(values.dtype)

    def at(part: float) -> Traced:
        rank = part * (ordered.shape[along] - 1)
        below = int(rank)
        low: Any = np.take(ordered, below, axis=along)
        if rank == below:
            return low.astype(np.float64)  # type: ignore[no-any-return]
        high: Any = np.take(ordered, below + 1, axis=along)
        if rank - below == 0.5:
            return (low + high) * 0.5  # type: ignore[no-any-return]
        return low * (below + 1 - rank) + high * (rank - below)  # type: ignore[no-any-return]

    found = [at(part) for part in parts]
    return [one.kept_axes(values.shape, axis) for one in found] if keepdims else found


def _order_statistic(values: Traced, axis: Any, part: float) -> Traced:
    """Return the real number that this part of the others lies below, between two by its distance from them."""
    x, at = values.with_axis(axis)
    rank = part * (x.shape[at] - 1)
    below = int(rank)
    terms = [(below, below + 1 - rank), (below + 1, rank - below)]
    return x.tracer.push(
        {"order-statistic": {"of": x.node, "axis": at, "terms": [term for term in terms if term[1] > 0]}}
    )


def top(values: Traced, k: int, axis: Any) -> Traced:
    """Return whether numbers are among the k largest along an axis: no smaller than the last of these."""
    x, at = values.with_axis(axis)
    extent = x.shape[at]
    if not 1 <= k <= extent:
        raise TraceError(f"{place()}: the {k} largest of {extent} numbers: 1 to {extent} of them are taken")
    if x.dtype.kind != "f":
        ordered: Any = x.along("sort", at)
        least: Any = np.take(ordered, [extent - k], axis=at)
        mask: Any = x >= least
    else:
        mask = x.tracer.push({"top": {"of": x.node, "axis": at, "count": k}})
    result: Traced = mask.reshape(values.shape)
    return result


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
    above = [values >= edge for edge in edges[:-1]] + [values > edges[-1]]
    counts = [inside.reduce("sum", 0) for inside in above]
    found: Any = np.stack([lower - higher for lower, higher in pairwise(counts)])
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
