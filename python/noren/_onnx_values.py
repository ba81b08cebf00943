"""Rows within a network: affine maps are composed, and computed as one matrix before a function that is not affine.

A product with a matrix takes one level, and so does any change of places. What lies between two activations, such as a
convolution, a normalisation, an average and a reshape, takes one level in all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from noren._answers import Array
from noren._noren import EncodingError
from noren._trace import place

_MOST_ENTRIES = 2**24
"""As many as an array of a compiled function may have elements."""
_CHUNK = 2**20
"""Entries of a matrix that are computed together: the windows of a convolution take a multiple of it."""


@dataclass(frozen=True, eq=False)
class Folded:
    """The image of rows under an affine map that is not computed yet."""

    base: Any
    """The rows, of shape (rows, k): traced, or numbers."""
    image: Callable[[Array], Array]
    """The map, of any number of rows of k numbers in clear."""
    shape: tuple[int, ...]
    """The shape of the image of a row."""
    diagonal: bool = False
    """Whether each element of an image follows from the element of the row at the same place."""

    @cached_property
    def dense(self) -> Any:
        """The image itself, of shape (rows, elements)."""
        width = self.base.shape[1]
        (offset,) = self.image(np.zeros((1, width))).reshape(1, -1)
        if self.diagonal:
            scale = self.image(np.ones((1, width))).reshape(-1) - offset
            scaled = self.base if (scale == 1).all() else self.base * scale
        else:
            scaled = self.base @ self._matrix(offset)
        return scaled + offset if offset.any() else scaled

    def _matrix(self, offset: Array) -> Array:
        width, images = self.base.shape[1], len(offset)
        if width * images > _MOST_ENTRIES:
            raise EncodingError(
                f"{place()}: a matrix of {width} x {images} entries, {_MOST_ENTRIES} at most: give smaller images or "
                "fewer channels"
            )
        matrix = np.empty((width, images))
        count = max(1, _CHUNK // max(width, images))
        for start in range(0, width, count):
            units = np.eye(min(count, width - start), width, k=start)
            matrix[start : start + count] = self.image(units).reshape(len(units), -1) - offset
        return matrix


def folded(base: Any, shape: tuple[int, ...]) -> Folded:
    """Return rows of shape (rows, elements) as rows of another shape."""
    return Folded(base, lambda rows: rows.reshape(len(rows), *shape), shape, diagonal=True)


def affine(function: Callable[..., Array], *values: Any, elementwise: bool = False) -> Any:
    """Apply a function that is affine in all values that are rows together; the first axis of arrays is that of rows.

    elementwise: whether each element of the result follows from the elements at its place.
    """
    bases = {id(value.base): value.base for value in values if isinstance(value, Folded)}
    if not bases:
        return function(*values)

    first, *others = (_part(function, values, base, elementwise) for base in bases.values())
    if not others:
        return first
    zeros = (np.zeros((1, *value.shape)) if isinstance(value, Folded) else value for value in values)
    # Each part has the constant of the function.
    constant = len(others) * function(*zeros).reshape(1, -1)
    rows = sum((part.dense for part in others), first.dense)
    return folded(rows - constant if constant.any() else rows, first.shape)


def _part(function: Callable[..., Array], values: tuple[Any, ...], base: Any, elementwise: bool) -> Folded:
    """Return what follows from the values of one base; all others are zeros."""

    def image(rows: Array) -> Array:
        def given(value: Any) -> Any:
            if not isinstance(value, Folded):
                return value
            return value.image(rows) if value.base is base else np.zeros((len(rows), *value.shape))

        return function(*map(given, values))

    shape = image(np.zeros((1, base.shape[1]))).shape[1:]
    own = [value for value in values if isinstance(value, Folded) and value.base is base]
    same = elementwise and all(value.diagonal for value in own) and prod(shape) == base.shape[1]
    return Folded(base, image, shape, same)


def each(function: Callable[..., Any], *values: Any) -> Any:
    """Apply a function to each element of values, which are brought to one shape."""
    if not any(isinstance(value, Folded) for value in values):
        return function(*values)
    extents = np.broadcast_shapes(*((1, *v.shape) if isinstance(v, Folded) else np.shape(v) for v in values))
    if extents[0] != 1:
        raise ValueError(f"known numbers of shapes {[np.shape(v) for v in values if not isinstance(v, Folded)]}")
    shape = extents[1:]

    def given(value: Any) -> Any:
        if isinstance(value, Folded):
            spread = value if value.shape == shape else affine(lambda x: np.broadcast_to(x, (len(x), *shape)), value)
            return spread.dense
        return float(np.ravel(value)[0]) if np.size(value) == 1 else np.broadcast_to(value, extents).reshape(1, -1)

    return folded(function(*map(given, values)), shape)
