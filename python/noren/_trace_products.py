"""Products of arrays, of which one at least is traced, as numpy defines them."""

from __future__ import annotations

from typing import Any

import numpy as np

from noren._blocks import Blocks
from noren._trace import Traced, TraceError, Tracer, known, place


def matmul(tracer: Tracer, a: Any, b: Any) -> Traced:
    """Return ``a @ b``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        raise TraceError(f"{place()}: a product of matrices with a number: write *")
    rows = np.shape(b)[-1 if np.ndim(b) == 1 else -2]
    if np.shape(a)[-1] != rows:
        raise TraceError(
            f"{place()}: {np.shape(a)} @ {np.shape(b)}: the last axis of the first has {np.shape(a)[-1]} elements, "
            f"{rows} are needed"
        )
    if hasattr(b, "tocoo"):
        return _of_sparse(tracer.traced(a), b)
    if not isinstance(a, Traced):
        return _from_left(tracer, known(a), b)
    if not isinstance(b, Traced):
        return _from_right(tracer, a, known(b))
    if a.ndim > 2 or b.ndim > 2:
        raise TraceError(f"{place()}: products of encrypted arrays of more than two axes: write a sum of products")
    left = a if a.ndim == b.ndim == 1 or b.ndim == 1 else a.reshape(*a.shape, 1)
    right = b if b.ndim == 1 or a.ndim == 1 else b.reshape(1, *b.shape)
    axis = left.ndim - 1 if b.ndim == 1 else left.ndim - 2
    if a.dtype.kind == b.dtype.kind == "b":
        return left.binary("and", right).reduce("maximum", axis)
    return left.binary("mul", right).reduce("sum", axis)


def dot(tracer: Tracer, a: Any, b: Any) -> Traced:
    """Return ``np.dot(a, b)``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return times(tracer, a, b)
    if np.ndim(a) > 1 and np.ndim(b) > 2:
        raise TraceError(
            f"{place()}: np.dot of shapes {np.shape(a)} and {np.shape(b)} is not traced: write @ or a loop"
        )
    return matmul(tracer, a, b)


def inner(tracer: Tracer, a: Any, b: Any) -> Traced:
    """Return the sums of products along the last axes of both."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return times(tracer, a, b)
    if np.ndim(b) > 2:
        raise TraceError(f"{place()}: np.inner with a second array of {np.ndim(b)} axes: two at most are traced")
    return matmul(tracer, a, b.T if isinstance(b, Traced) else known(b).T)


def vdot(tracer: Tracer, a: Any, b: Any) -> Traced:
    """Return the sum of the products of all elements."""
    return matmul(tracer, np.ravel(a), np.ravel(b))


def outer(tracer: Tracer, a: Any, b: Any) -> Traced:
    """Return the products of each element of the first and each of the second."""
    return times(tracer, tracer.traced(a).reshape(-1, 1), tracer.traced(b).reshape(1, -1))


def times(tracer: Tracer, a: Any, b: Any) -> Traced:
    """Return the products of elements; those of truth values are truth values."""
    x, y = tracer.traced(a), tracer.traced(b)
    return x.binary("and" if x.dtype.kind == y.dtype.kind == "b" else "mul", y)


def _of_sparse(a: Traced, b: Any) -> Traced:
    """Return a product with a known sparse matrix of scipy on the right; of integers as one with all of its entries."""
    entries = b.tocoo()
    value = known(entries.data)
    if a.dtype.kind != "f" or b.ndim != 2:
        return matmul(a.tracer, a, b.toarray())
    row, column = (np.asarray(places, dtype=np.int64) for places in (entries.row, entries.col))
    rows, columns = b.shape
    product: Traced = Blocks.of_entries(rows, columns, row, column, value).product(a)
    return product


def _from_left(tracer: Tracer, a: Any, b: Traced) -> Traced:
    """Return a product with known numbers on the left, as one with their transpose on the right."""
    if a.ndim == 1:
        return _from_right(tracer, b if b.ndim == 1 else b.swapaxes(-1, -2), a)
    if a.ndim > 2:
        if b.ndim > 2:
            raise TraceError(f"{place()}: {a.shape} @ {b.shape}: one of both may have more than two axes")
        rows = _from_left(tracer, a.reshape(-1, a.shape[-1]), b)
        return rows.reshape(*a.shape[:-1], *b.shape[1:])
    if b.ndim == 1:
        return _from_right(tracer, b, a.T)
    return _from_right(tracer, b.swapaxes(-1, -2), a.T).swapaxes(-1, -2)


def _from_right(tracer: Tracer, a: Traced, b: Any) -> Traced:
    """Return a product with known numbers on the right."""
    if b.ndim > 2:
        raise TraceError(f"{place()}: {a.shape} @ {b.shape}: the known numbers may have two axes at most")
    if a.dtype.kind == "b" and b.dtype.kind == "b":
        raise TraceError(
            f"{place()}: a product of truth values with a known matrix: convert one of them by astype(int)"
        )
    columns = 1 if b.ndim == 1 else b.shape[1]
    product = tracer.push(
        {"mat-mul": {"of": a.number().node, "columns": columns, "matrix": []}}, b.astype(np.float64).ravel()
    )
    return product.reshape(product.shape[:-1]) if b.ndim == 1 else product
