"""Linear maps and shifts of rows, folded into one before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-53
"""The largest relative error of a rounding."""


@dataclass(frozen=True)
class Affine:
    """``x @ matrix + offset`` of rows x, or ``x * scale + offset`` where the matrix is diagonal."""

    scale: NDArray[Any]
    """The diagonal, or the matrix."""
    offset: NDArray[Any]
    rounding: NDArray[Any] | float = 0.0
    """How far each image of rows within [-1, 1] may be off because scale and offset were rounded."""

    @staticmethod
    def identity(features: int) -> Affine:
        """Return the map of rows to themselves."""
        return Affine(np.ones(features), np.zeros(features))

    def of(self, rows: Any) -> Any:
        """Return the images of rows, encrypted or in clear."""
        if self.scale.ndim == 2:
            return rows @ self.scale + self.offset
        if (self.scale == 1).all():
            return rows + self.offset if self.offset.any() else rows
        return rows * self.scale + self.offset

    def moved(self, by: Any) -> Affine:
        """Return the map with a shift behind it."""
        offset = self.offset + np.asarray(by, dtype=float)
        return Affine(self.scale, offset, self.rounding + UNIT * np.abs(offset))

    def scaled(self, by: Any) -> Affine:
        """Return the map with a factor for each image behind it."""
        by = np.asarray(by, dtype=float)
        scale, offset = self.scale * by, self.offset * by
        return Affine(scale, offset, self.rounding * np.abs(by) + UNIT * (_reach(scale) + np.abs(offset)))

    def divided(self, by: Any) -> Affine:
        """Return the map with a divisor for each image behind it."""
        by = np.asarray(by, dtype=float)
        scale, offset = self.scale / by, self.offset / by
        return Affine(scale, offset, self.rounding / np.abs(by) + UNIT * (_reach(scale) + np.abs(offset)))

    def then(self, matrix: NDArray[Any], offset: Any) -> Affine:
        """Return the map with a product with a matrix, and a shift, behind it."""
        matrix = np.asarray(matrix, dtype=float)
        product = self.scale @ matrix if self.scale.ndim == 2 else self.scale[:, np.newaxis] * matrix
        moved = self.offset @ matrix + np.asarray(offset, dtype=float)
        # Sums of n products are off by n roundings of their terms at most.
        terms = _reach(self.scale) + np.abs(self.offset)
        rounding = (self.rounding + (len(matrix) + 1) * UNIT * terms) @ np.abs(matrix) + UNIT * np.abs(moved)
        return Affine(product, moved, rounding)


def _reach(scale: NDArray[Any]) -> NDArray[Any]:
    """Return the largest images of rows within [-1, 1]."""
    return np.asarray(np.abs(scale).sum(axis=0) if scale.ndim == 2 else np.abs(scale))
