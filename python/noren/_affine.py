"""Linear maps and shifts of rows, folded into one before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Affine:
    """``x @ matrix + offset`` of rows x, or ``x * scale + offset`` where the matrix is diagonal."""

    scale: NDArray[Any]
    """The diagonal, or the matrix."""
    offset: NDArray[Any]

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
        return Affine(self.scale, self.offset + np.asarray(by))

    def scaled(self, by: Any) -> Affine:
        """Return the map with a factor for each image behind it."""
        return Affine(self.scale * np.asarray(by), self.offset * np.asarray(by))

    def then(self, matrix: NDArray[Any], offset: Any) -> Affine:
        """Return the map with a product with a matrix, and a shift, behind it."""
        product = self.scale @ matrix if self.scale.ndim == 2 else self.scale[:, np.newaxis] * matrix
        return Affine(product, self.offset @ matrix + np.asarray(offset))
