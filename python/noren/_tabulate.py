"""Functions of one or two integers, as the values at all points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren._noren import EncodingError
from noren._rule import Rule, table_of


def tabulate(
    f: Callable[..., Any] | ArrayLike,
    axes: list[tuple[int, int]],
    allowed: tuple[int, int],
    undefined: int | None,
) -> NDArray[np.int64]:
    """Return the values at all points, those of the first coordinate side by side.

    axes: for each coordinate the least value, and how many there are.
    allowed: the least and the largest value of the function.

    Raises EncodingError for values out of range and tables of another shape, Error if there is no value somewhere.
    """
    sizes = tuple(size for _, size in axes)
    least = tuple(start for start, _ in axes)
    if not callable(f):
        table = table_of(f)
        if table.shape != sizes or any(least):
            raise EncodingError(f"a table of shape {table.shape} was given, {sizes} is needed, of unsigned numbers")
        rule = Rule(_table(table), sizes, at_once=True)
    else:
        rule = Rule(f, sizes, least=least)
    grid = np.meshgrid(*(np.arange(start, start + size) for start, size in axes), indexing="ij")
    points = tuple(axis.ravel(order="F") for axis in grid)
    values = rule.values(points, allowed, undefined)
    return values


def _table(table: NDArray[Any]) -> Callable[..., Any]:
    """Return a table as a callable."""
    return lambda *point: table[point]
