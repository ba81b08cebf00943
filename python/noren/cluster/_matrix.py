"""Products of large matrices with encrypted vectors, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren._noren import rotations_of_matrix
from noren.cluster._errors import ClusterError


@dataclass(frozen=True)
class Block:
    """Some rows of a matrix, and the columns that one ciphertext has the entries of."""

    column: int
    """Which ciphertext that is."""
    entries: NDArray[Any]


@dataclass(frozen=True)
class BlockProduct:
    """The program of a block: its product with the ciphertext of its columns."""

    vectors: list[Any]

    def __call__(self, evaluator: Any, block: Block) -> Any:
        """Return the product."""
        return evaluator.matvec(block.entries, self.vectors[block.column])


def add(evaluator: Any, x: Any, y: Any) -> Any:
    """Return the sum of two ciphertexts."""
    return evaluator.add(x, y)


def checked_matrix(matrix: ArrayLike, vectors: Sequence[Any]) -> NDArray[Any]:
    """Return a matrix, which may be mapped, whose columns are the entries of vectors."""
    array = _in_clear(matrix)
    if not vectors:
        raise ClusterError("no ciphertext was given, at least one is needed")
    lengths = [vector.shape[0] for vector in vectors]
    if any(length != lengths[0] for length in lengths[:-1]) or lengths[-1] > lengths[0]:
        raise ClusterError(f"the ciphertexts have {lengths} entries, needed is one number, the last may have fewer")
    if array.ndim != 2 or array.shape[1] != sum(lengths) or not len(array):
        raise ClusterError(f"the matrix has the shape {array.shape}, needed are two axes, and {sum(lengths)} columns")
    return array


def _in_clear(matrix: ArrayLike) -> NDArray[Any]:
    """Return a matrix as an array; one that is mapped stays so."""
    if isinstance(matrix, np.ma.MaskedArray):
        raise ClusterError(
            "a masked matrix was given, and its mask would be lost: fill it, such as by matrix.filled(0)"
        )
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix)


def blocks_of(array: NDArray[Any], rows: int, lengths: Sequence[int]) -> Iterator[Block]:
    """Give the blocks of a matrix, row after row; each is copied when it is its turn."""
    bounds = np.cumsum([0, *lengths])
    for start in range(0, len(array), rows):
        for column in range(len(lengths)):
            part = array[start : start + rows, bounds[column] : bounds[column + 1]]
            yield Block(column, np.ascontiguousarray(part))


def rotations_of_blocks(
    matrix: ArrayLike, lengths: Sequence[int], *, block_rows: int | None = None, slots: int | None = None
) -> list[int]:
    """Return the rotations that `Cluster.matvec` needs for a matrix, and ciphertexts of these numbers of entries.

    slots: of the ciphertexts, if they repeat; see `noren.ckks.rotations_of_matrix`.
    """
    array = _in_clear(matrix)
    rows = block_rows if block_rows is not None else lengths[0]
    needed: set[int] = set()
    for block in blocks_of(array, rows, lengths):
        needed.update(rotations_of_matrix(block.entries, slots=slots))
    return sorted(needed)
