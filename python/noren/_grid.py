"""Places of the elements of a row in slots, such that convolutions have few diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray


def power_of_two(extent: int) -> int:
    """Return the smallest power of two that is not below a number."""
    return 1 << (extent - 1).bit_length()


@dataclass(frozen=True, eq=False)
class Grid:
    """An address for each element of a row of some shape, in row-major order, and how many addresses there are.

    Images and signals lie on a grid of powers of two in each axis of space, one channel after the other. What follows
    from them by strides stays at the strided places of the grid, and its channels fill the gaps ("multiplexed": Lee et
    al., eprint 2021/1688), so that a convolution moves elements by as few distances as its kernel has, times those of
    channels.
    """

    shape: tuple[int, ...]
    space: tuple[int, ...]
    """The grid; none of rows that have no axes of space."""
    addresses: NDArray[np.int64]
    size: int

    @staticmethod
    def compact(shape: tuple[int, ...]) -> Grid:
        """Return the places in row-major order, without gaps."""
        space = shape[1:] if all(extent == power_of_two(extent) for extent in shape[1:]) else ()
        return Grid(shape, space, np.arange(prod(shape)), prod(shape))

    @staticmethod
    def on(shape: tuple[int, ...], space: Sequence[int]) -> Grid | None:
        """Return the places on a grid; none if the elements do not fit it."""
        if len(shape) != len(space) + 1 or not space:
            return None
        cells = [extent // power_of_two(own) for extent, own in zip(space, shape[1:], strict=True)]
        if min(cells) < 1:
            return None
        index = np.indices(shape).reshape(len(shape), -1)
        channel, address, stride = index[0], np.zeros(index.shape[1], dtype=np.int64), 1
        for own, cell, extent in zip(index[:0:-1], cells[::-1], space[::-1], strict=True):
            address += stride * (own * cell + channel % cell)
            channel = channel // cell
            stride *= extent
        return Grid(shape, tuple(space), address + stride * channel, stride * -(-shape[0] // prod(cells)))

    @staticmethod
    def padded(shape: tuple[int, ...]) -> Grid | None:
        """Return the places on the smallest grid of powers of two."""
        return Grid.on(shape, [power_of_two(extent) for extent in shape[1:]])

    @cached_property
    def key(self) -> tuple[int, bytes]:
        """The addresses, to be compared."""
        return self.size, self.addresses.tobytes()

    @cached_property
    def is_compact(self) -> bool:
        """Whether every address has an element, in row-major order."""
        return self.size == len(self.addresses) and bool((self.addresses == np.arange(self.size)).all())

    def placed(self, values: ArrayLike, fill: float = 0.0) -> NDArray[np.float64]:
        """Return numbers of all elements at their addresses, in the last axis."""
        own = np.asarray(values, dtype=float)
        if self.is_compact:
            return own
        placed = np.full((*own.shape[:-1], self.size), fill)
        placed[..., self.addresses] = own
        return placed
