"""Rows within a network: affine maps are composed, and computed as one matrix before a function that is not affine.

A product with a matrix takes one level, and so does any change of places. What lies between two activations, such as a
convolution, a normalisation, an average and a reshape, takes one level in all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from noren._answers import Array
from noren._blocks import MOST_ENTRIES, Blocks, monomial
from noren._grid import Grid, power_of_two
from noren._noren import EncodingError
from noren._trace import place

_MOST_DENSE = 2**24
"""As many as an array of a compiled function may have elements."""
_CHUNK = 2**20
"""Entries of a matrix that are computed together: the windows of a convolution take a multiple of it."""
_SPARSE = 0.5
"""The share of entries that are not zero up to which a matrix is told by them alone."""

Structure = tuple[Array, Array] | Blocks
"""The linear part of a map: a position for each element of the image, -1 for none, and a factor; or a matrix."""
Mixing = Callable[[tuple[int, ...]], Blocks]
"""The matrix of a linear operator, from the elements of a row of some shape."""


@dataclass(frozen=True, eq=False)
class Folded:
    """The image of rows under an affine map that is not computed yet."""

    base: Any
    """The rows, of shape (rows, k): traced, or numbers."""
    image: Callable[[Array], Array]
    """The map, of any number of rows of k numbers in clear."""
    shape: tuple[int, ...]
    """The shape of the image of a row."""
    grid: Grid
    """The places of the rows."""
    linear: Callable[[], Structure | None]
    """The linear part of the map; None where it is not known."""
    _laid: dict[tuple[int, bytes], Any] = field(default_factory=dict)

    @cached_property
    def structure(self) -> Structure | None:
        """The linear part of the map, once it is known."""
        return self.linear()

    @cached_property
    def offset(self) -> Array:
        """The image of zeros."""
        return np.asarray(self.image(np.zeros((1, self.base.shape[1]))).reshape(-1))

    @cached_property
    def own(self) -> Grid:
        """Places for the image, such that its matrix has few diagonals."""
        return self._chosen(padded=True)

    @cached_property
    def dense(self) -> Any:
        """The image itself, of shape (rows, elements)."""
        return self.at(Grid.compact(self.shape))

    def without_gaps(self) -> Grid:
        """Return places for the image in which every address has an element."""
        return self._chosen(padded=False)

    def _chosen(self, padded: bool) -> Grid:
        structure, compact = self.structure, Grid.compact(self.shape)
        if structure is None:
            return compact
        if isinstance(structure, tuple):
            if self._keeps(self.grid, structure):
                return self.grid
            structure = monomial(*structure, self.base.shape[1])
        found = [compact, Grid.padded(self.shape), Grid.on(self.shape, self.grid.space)]
        different = {own.key: own for own in found[::-1] if own is not None and (padded or own.size == compact.size)}
        grids = list(different.values())
        if len(grids) == 1:
            return compact

        def cost(grid: Grid) -> tuple[int, int]:
            period = power_of_two(min(self.base.shape[1], grid.size))
            return structure.moved(None, (grid.size, grid.addresses)).diagonals(period), grid.size

        return min(grids, key=cost)

    def _keeps(self, grid: Grid, structure: Structure | None) -> bool:
        """Return whether each element of the image lies where the one is that it follows from."""
        return (
            isinstance(structure, tuple)
            and grid.size == self.grid.size
            and len(grid.addresses) == len(structure[0])
            and bool((grid.addresses == structure[0]).all())
        )

    def at(self, grid: Grid) -> Any:
        """Return the image itself, with its elements at the addresses of a grid."""
        if grid.key not in self._laid:
            result, offset = self._product(grid), grid.placed(self.offset)
            self._laid[grid.key] = result + offset if offset.any() else result
        return self._laid[grid.key]

    def _product(self, grid: Grid) -> Any:
        structure, width = self.structure, self.base.shape[1]
        if self._keeps(grid, structure):
            scale = grid.placed(structure[1], 1.0)  # type: ignore[index]
            return self.base if (scale == 1).all() else self.base * scale
        blocks = monomial(*structure, width) if isinstance(structure, tuple) else structure
        most = min(_SPARSE * width * prod(self.shape), MOST_ENTRIES)
        if blocks is not None and blocks.count <= most and self.base.dtype.kind == "f":
            return blocks.moved(None, (grid.size, grid.addresses)).product(self.base)
        return self.base @ grid.placed(self._matrix())

    def _matrix(self) -> Array:
        width, images = self.base.shape[1], len(self.offset)
        if width * images > _MOST_DENSE:
            raise EncodingError(
                f"{place()}: a matrix of {width} x {images} entries, {_MOST_DENSE} at most: give smaller images or "
                "fewer channels"
            )
        matrix = np.empty((width, images))
        count = max(1, _CHUNK // max(width, images))
        for start in range(0, width, count):
            units = np.eye(min(count, width - start), width, k=start)
            matrix[start : start + count] = self.image(units).reshape(len(units), -1) - self.offset
        return matrix


def folded(base: Any, grid: Grid) -> Folded:
    """Return rows whose elements lie at the addresses of a grid as rows of the shape of the grid."""
    return Folded(
        base,
        lambda rows: rows[:, grid.addresses].reshape(len(rows), *grid.shape),
        grid.shape,
        grid,
        lambda: (grid.addresses, np.ones(len(grid.addresses))),
    )


def affine(
    function: Callable[..., Array], *values: Any, elementwise: bool = False, mixing: Mixing | None = None
) -> Any:
    """Apply a function that is affine in all values that are rows together; the first axis of arrays is that of rows.

    elementwise: whether each element of the result follows from the elements at its place.
    mixing: the matrix of the function in its first value, where elements of the result follow from several.
    """
    bases = {id(value.base): value.base for value in values if isinstance(value, Folded)}
    if not bases:
        return function(*values)

    first, *others = (_part(function, values, base, elementwise, mixing) for base in bases.values())
    if not others:
        return first
    zeros = (np.zeros((1, *value.shape)) if isinstance(value, Folded) else value for value in values)
    # Each part has the constant of the function.
    constant = len(others) * function(*zeros).reshape(1, -1)
    # What is where it was moves no more; the others come to it.
    still = (part.grid for part in (first, *others) if part.own is part.grid)
    grid = next(still, first.own)
    grid = Grid(first.shape, grid.space, grid.addresses, grid.size)
    rows = sum((part.at(grid) for part in others), first.at(grid))
    return folded(rows - grid.placed(constant) if constant.any() else rows, grid)


def _part(
    function: Callable[..., Array], values: tuple[Any, ...], base: Any, elementwise: bool, mixing: Mixing | None
) -> Folded:
    """Return what follows from the values of one base; all others are zeros."""
    own = [at for at, value in enumerate(values) if isinstance(value, Folded) and value.base is base]

    def image(rows: Array, only: int | None = None) -> Array:
        def given(at: int, value: Any) -> Any:
            if not isinstance(value, Folded):
                return value
            kept = at in own and only in (None, at)
            return value.image(rows) if kept else np.zeros((len(rows), *value.shape))

        return function(*(given(at, value) for at, value in enumerate(values)))

    def alone(at: int, x: Array) -> Array:
        return function(*_zeros(values, at, x))

    def linear() -> Structure | None:
        parts = []
        for at in own:
            known = values[at].structure
            step: Structure | None = mixing(values[at].shape) if mixing and at == 0 else None
            if mixing is None:
                step = _step(partial(alone, at), values[at].shape, elementwise)
            if known is None or step is None:
                return None
            try:
                parts.append(_composed(known, step, base.shape[1]))
            except ValueError:
                return None
        if len(parts) == 1:
            return parts[0]
        first, *others = (monomial(*part, base.shape[1]) if isinstance(part, tuple) else part for part in parts)
        for other in others:
            first = first.plus(other)
        return first

    shape = image(np.zeros((1, base.shape[1]))).shape[1:]
    return Folded(base, image, shape, values[own[0]].grid, linear)


def _zeros(values: tuple[Any, ...], at: int, x: Array) -> list[Any]:
    """Return values with zeros for rows, but for one."""
    zeros = [np.zeros((1, *value.shape)) if isinstance(value, Folded) else value for value in values]
    zeros[at] = x
    return zeros


def _step(function: Callable[[Array], Array], shape: tuple[int, ...], elementwise: bool) -> tuple[Array, Array] | None:
    """Return position and factor of each element of the image, if the map moves and scales elements alone."""
    count = prod(shape)
    zero = function(np.zeros((1, *shape))).reshape(-1)
    scale, ramp, check = (
        function(probe.reshape(1, *shape)).reshape(-1) - zero
        for probe in (np.ones(count), np.arange(1.0, count + 1), _probe(count))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(scale == 0, -1, np.rint(ramp / scale) - 1)
    positions = np.nan_to_num(found, nan=-1).astype(np.int64)
    if elementwise and len(scale) == count:
        positions = np.arange(count)
    inside = (positions >= -1) & (positions < count)
    expected = np.where(positions < 0, 0.0, scale * _probe(count)[positions.clip(0, count - 1)])
    tolerance = 1e-9 * (np.abs(scale).max(initial=0.0) + np.abs(zero).max(initial=0.0))
    return (positions, scale) if inside.all() and (np.abs(check - expected) <= tolerance).all() else None


def _probe(count: int) -> Array:
    return np.random.default_rng(count).uniform(-1, 1, count)


def _composed(first: Structure, second: Structure, width: int) -> Structure:
    """Return what a map does after another one."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        (own, scale), (positions, factor) = first, second
        at = positions.clip(0)
        return np.where(positions < 0, -1, own[at]), factor * np.where(positions < 0, 0.0, scale[at])
    if isinstance(first, tuple):
        own, scale = first
        if (own >= 0).all():
            return second.scaled(0, scale).moved((width, own), None)  # type: ignore[union-attr]
        return monomial(own, scale, width).then(second)  # type: ignore[arg-type]
    if isinstance(second, tuple):
        positions, factor = second
        kept = np.flatnonzero(positions >= 0)
        places = np.full(first.columns, -1)
        places[positions[kept]] = kept
        if len(kept) != first.columns or (places < 0).any():
            return first.then(monomial(positions, factor, first.columns))
        scale = np.ones(first.columns)
        scale[positions[kept]] = factor[kept]
        return first.scaled(1, scale).moved(None, (len(positions), places))
    return first.then(second)


def each(function: Callable[..., Any], *values: Any, everywhere: bool = True) -> Any:
    """Apply a function to each element of values, which are brought to one shape.

    everywhere: whether it is defined for zeros, which stand where no element is.
    """
    if not any(isinstance(value, Folded) for value in values):
        return function(*values)
    extents = np.broadcast_shapes(*((1, *v.shape) if isinstance(v, Folded) else np.shape(v) for v in values))
    if extents[0] != 1:
        raise ValueError(f"known numbers of shapes {[np.shape(v) for v in values if not isinstance(v, Folded)]}")
    shape = extents[1:]

    def spread(value: Any) -> Any:
        if not isinstance(value, Folded):
            return float(np.ravel(value)[0]) if np.size(value) == 1 else np.broadcast_to(value, extents).reshape(1, -1)
        return value if value.shape == shape else affine(lambda x: np.broadcast_to(x, (len(x), *shape)), value)

    own = [spread(value) for value in values]
    first = next(value for value in own if isinstance(value, Folded))
    grid = first.own if everywhere else first.without_gaps()
    grid = Grid(shape, grid.space, grid.addresses, grid.size) if grid.shape != shape else grid
    given = [
        value.at(grid) if isinstance(value, Folded) else value if isinstance(value, float) else grid.placed(value)
        for value in own
    ]
    return folded(function(*given), grid)
