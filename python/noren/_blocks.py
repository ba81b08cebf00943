"""Matrices by blocks of equal entries: those of convolutions and pools, in as many numbers as these have weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ENTRIES = 2**24
"""The most entries of a matrix, all blocks together."""

Pattern = tuple[tuple[int, int, int], ...]
"""The axes of a block: extent, and the rows and columns from one index to the next."""


Array = NDArray[Any]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """A matrix: blocks of one value each, at the places that axes of a pattern lead to; entries at one place add up."""

    rows: int
    columns: int
    patterns: tuple[Pattern, ...]
    places: NDArray[np.int64]
    """Of each block the pattern, and the row and column of its first entry."""
    values: Array

    @staticmethod
    def of_entries(rows: int, columns: int, row: Places, column: Places, values: Array) -> Blocks:
        """Return the matrix with these entries."""
        places = np.stack([np.zeros_like(row), row, column], axis=1).astype(np.int64)
        return Blocks(rows, columns, ((),), places, np.asarray(values, dtype=float))

    @property
    def count(self) -> int:
        """The number of entries."""
        sizes = np.array([prod(extent for extent, _, _ in pattern) for pattern in self.patterns], dtype=np.int64)
        return int(sizes[self.places[:, 0]].sum())

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Return row, column and value of all entries."""
        if self.count > MOST_ENTRIES:
            raise ValueError(f"a matrix of {self.count} entries that are not zero, {MOST_ENTRIES} at most")
        found = [self._entries(at) for at in range(len(self.patterns))]
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        row, column, value = (np.concatenate([part.ravel() for part in parts]) for parts in zip(*found, strict=True))
        return row, column, value

    def _entries(self, pattern: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Return the entries of all blocks of a pattern, as (blocks, entries)."""
        own = self.places[:, 0] == pattern
        steps = _places(self.patterns[pattern])
        row, column = (self.places[own, at + 1, np.newaxis] + steps[:, at] for at in (0, 1))
        return row, column, np.broadcast_to(self.values[own, np.newaxis], row.shape)

    def moved(
        self, rows: tuple[int, NDArray[np.int64]] | None, columns: tuple[int, NDArray[np.int64]] | None
    ) -> Blocks:
        """Return the matrix whose rows and columns stand at other places: their number, and the place of each."""
        size = (rows[0] if rows else self.rows, columns[0] if columns else self.columns)
        maps = [rows[1] if rows else None, columns[1] if columns else None]
        patterns, places = [], self.places.copy()
        for at, pattern in enumerate(self.patterns):
            own = self.places[:, 0] == at
            axes = [list(axis) for axis in pattern]
            for side, new in enumerate(maps):
                if new is None or not own.any():
                    continue
                first = self.places[own, side + 1]
                places[own, side + 1] = new[first]
                for axis, (extent, *steps) in enumerate(pattern):
                    axes[axis][side + 1] = int(new[first[0] + steps[side]] - new[first[0]]) if extent > 1 else 0
                moved = new[first[:, np.newaxis] + _places(pattern)[:, side]]
                kept = all(0 <= step < 2**32 for _, *own_steps in axes for step in own_steps)
                if not (kept and (moved == places[own, side + 1, np.newaxis] + _places(axes)[:, side]).all()):
                    return self._scattered(size, maps)
            patterns.append(tuple((extent, row, column) for extent, row, column in axes))
        return Blocks(*size, tuple(patterns), places, self.values)

    def _scattered(self, size: tuple[int, int], maps: Sequence[NDArray[np.int64] | None]) -> Blocks:
        """Return the moved matrix by entries: what is a block no longer is one."""
        row, column, value = self.entries()
        row, column = (own if new is None else new[own] for own, new in zip((row, column), maps, strict=True))
        return Blocks.of_entries(*size, row, column, value)

    def scaled(self, side: int, by: Array) -> Blocks:
        """Return the matrix with its rows (side 0) or columns (side 1) times numbers."""
        if (by == 1).all():
            return self
        values = self.values.copy()
        for at in range(len(self.patterns)):
            own = self.places[:, 0] == at
            factors = by[self._entries(at)[side]]
            if not (factors == factors[:, :1]).all():
                row, column, value = self.entries()
                return Blocks.of_entries(self.rows, self.columns, row, column, value * by[(row, column)[side]])
            values[own] *= factors[:, 0] if factors.size else 1.0
        return Blocks(self.rows, self.columns, self.patterns, self.places, values)

    def then(self, other: Blocks) -> Blocks:
        """Return the product with another matrix, entry by entry."""
        row, middle, value = self.entries()
        by, column, factor = other.entries()
        order = np.argsort(by, kind="stable")
        starts = np.searchsorted(by[order], np.arange(self.columns + 1))
        counts = np.diff(starts)[middle]
        if counts.sum() > MOST_ENTRIES:
            raise ValueError(f"a matrix of {counts.sum()} entries that are not zero, {MOST_ENTRIES} at most")
        each = np.repeat(np.arange(len(row)), counts)
        offset = np.arange(len(each)) - np.repeat(np.cumsum(counts) - counts, counts)
        other_entry = order[starts[middle[each]] + offset]
        place, inverse = np.unique(row[each] * other.columns + column[other_entry], return_inverse=True)
        sums = np.bincount(inverse, value[each] * factor[other_entry], len(place))
        kept = sums != 0
        place = place[kept]
        return Blocks.of_entries(self.rows, other.columns, place // other.columns, place % other.columns, sums[kept])

    def plus(self, other: Blocks) -> Blocks:
        """Return the sum of both."""
        places = other.places + np.array([len(self.patterns), 0, 0])
        return Blocks(
            self.rows,
            self.columns,
            self.patterns + other.patterns,
            np.concatenate([self.places, places]),
            np.concatenate([self.values, other.values]),
        )

    def diagonals(self, period: int) -> int:
        """Return how many distances from a column to a row there are, modulo a period."""
        found = np.zeros(period, dtype=bool)
        for at in range(len(self.patterns)):
            own = self.places[:, 0] == at
            first = np.unique((self.places[own, 1] - self.places[own, 2]) % period)
            steps = _places(self.patterns[at])
            found[(first[:, np.newaxis] + np.unique(steps[:, 0] - steps[:, 1])) % period] = True
        return int(found.sum())

    def product(self, x: Any) -> Any:  # noqa: ANN401
        """Return ``x @ matrix`` of rows x, traced or in clear."""
        if isinstance(x, np.ndarray):
            row, column, value = self.entries()
            result = np.zeros((self.columns, len(x)))
            np.add.at(result, column, (x[:, row] * value).T)
            return result.T
        used = self.values != 0
        matrix = {"patterns": self.patterns, "blocks": [], "values": []}
        operation = {"sparse": {"of": x.node, "columns": self.columns, "matrix": matrix}}
        blocks = np.ascontiguousarray(self.places[used], dtype=np.uint32)
        return x.tracer.push(operation, np.ascontiguousarray(self.values[used]), blocks)


def _places(pattern: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return how far each entry of a block is from the first, as (entries, 2)."""
    places = np.zeros((1, 2), dtype=np.int64)
    for extent, row, column in pattern:
        steps = np.arange(extent)[:, np.newaxis] * np.array([row, column])
        places = (places[:, np.newaxis] + steps).reshape(-1, 2)
    return places


def monomial(positions: NDArray[np.int64], scale: Array, rows: int) -> Blocks:
    """Return the matrix that takes an element at a position, times a number, for each column; nothing at -1."""
    column = np.flatnonzero((positions >= 0) & (scale != 0))
    return Blocks.of_entries(rows, len(positions), positions[column], column, scale[column])
