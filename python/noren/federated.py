"""Averages of what several parties have, such as updates of a model, of which nobody sees more than the average.

Each party rounds its numbers to integers, packs several into each coefficient and encrypts them under a joint key of
BFV (`noren.owners`); anybody adds the ciphertexts up; the parties open the sum together.

>>> import tempfile
>>> from pathlib import Path
>>> import numpy as np
>>> from noren import federated, owners
>>> average = federated.Average(np.zeros(1000), parties=2, bits=12, bound=1.0, rounds=10)
>>> session = owners.Session(average.parameters, ["north", "south"], results=average.results)
>>> folder = Path(tempfile.mkdtemp())
>>> parties = [owners.Party.create(folder / name, session, name) for name in session.names]
>>> messages = [party.next() for party in parties]
>>> while None not in messages:
...     messages = [party.next(messages) for party in parties]
>>> public, evaluation = parties[0].keys()

Then in each round:

>>> updates = [np.full(1000, 0.25), np.full(1000, 0.75)]
>>> total = average.add([average.encrypt(update, public) for update in updates], evaluation)
>>> shares = [party.open(total) for party in parties]
>>> average.decode(session.opened(total, shares, signed=True, coefficients=True), weight=2)[:2].round(3)
array([0.5, 0.5])

See ``docs/owners.md``.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from noren._noren import EncodingError, Error, bfv, integers

__all__ = ["Average"]

_MODULUS_BITS = 60
"""Plaintext moduli are below 2^60."""
_BITS = range(2, 33)


class Average:
    """The encoding of the updates of all parties, and the parameters that it needs."""

    def __init__(
        self,
        like: ArrayLike | Sequence[ArrayLike],
        *,
        parties: int,
        updates: int | None = None,
        total: int | None = None,
        bits: int = 12,
        bound: float = 1.0,
        rounds: int = 1,
        distance: int = 64,
        security: Literal[128, 192, 256] | None = 128,
    ) -> None:
        """Choose parameters.

        like: an array of the shape of an update, or a list of arrays, as the weights of a model.
        parties: how many share the key.
        updates: how many updates there are in a round at most; None: one of each party.
        total: the largest sum of the weights of all updates of a round; None: `updates`, each of weight 1.
        bits: numbers are rounded to as many bits, the sign too: to multiples of `step`, ``bound / (2^(bits-1) - 1)``.
        bound: the largest magnitude of a number.
        rounds, distance: how many averages are opened, and the statistical distance 2^-distance of all that the parties
            show beside them.
        security: the bits of the parameters.

        Raises `noren.Error` for numbers of which no two fit: fewer bits, or a smaller total.
        """
        several = isinstance(like, Sequence) and not all(np.ndim(each) == 0 for each in like)
        arrays = [np.asarray(each) for each in (like if several else [like])]  # type: ignore[union-attr]
        self._several = several
        self.shapes = [array.shape for array in arrays]
        self.size = sum(array.size for array in arrays)
        self.parties, self.bits, self.bound = operator.index(parties), operator.index(bits), float(bound)
        self.updates = self.parties if updates is None else operator.index(updates)
        self.total = self.updates if total is None else operator.index(total)
        rounds = operator.index(rounds)
        if self.size == 0:
            raise EncodingError("there is no number to be averaged")
        if self.parties < 2:
            raise Error(f"parties are {self.parties}; they must be 2 or more, who share the key")
        if self.bits not in _BITS:
            raise Error(f"bits are {self.bits}; they must be {_BITS.start} to {_BITS.stop - 1}")
        if not (np.isfinite(self.bound) and self.bound > 0):
            raise Error(f"bound is {bound}; it must be positive and finite")
        if self.updates < 1 or rounds < 1:
            raise Error(f"updates are {self.updates}, and rounds are {rounds}; both must be positive")
        if self.total < self.updates:
            raise Error(f"total is {self.total}; it must be {self.updates} or more, 1 for each update")
        self._largest: int = 2 ** (self.bits - 1) - 1
        self._base = 2 * self.total * self._largest + 1
        self.packed = 0
        while self._base ** (self.packed + 1) < 2**_MODULUS_BITS:
            self.packed += 1
        if not self.packed:
            needed = f"fewer than 2^{_MODULUS_BITS}: take fewer bits, or a smaller total"
            raise Error(f"sums of {self.total} numbers of {self.bits} bits have {self._base} values; {needed}")
        self.parameters, self.results = self._choose(rounds, distance, security)
        self.context = bfv.Context(self.parameters)

    def _choose(
        self, rounds: int, distance: int, security: Literal[128, 192, 256] | None
    ) -> tuple[integers.Parameters, int]:
        """Return parameters, and how many ciphertexts are opened under them: fewer of a larger ring."""
        degree = 1 << 10
        while True:
            results = rounds * -(-self.size // (degree * self.packed))
            parameters = integers.Parameters.for_requirements(
                depth=0,
                plaintext_modulus=self._base**self.packed,
                sum=self.updates,
                parties=self.parties,
                results=results,
                distance=distance,
                security=security,
            )
            if parameters.n <= degree:
                return parameters, results
            degree = parameters.n

    @property
    def step(self) -> float:
        """The step that numbers are rounded to."""
        return self.bound / self._largest

    def encrypt(
        self,
        update: ArrayLike | Sequence[ArrayLike],
        public: integers.PublicKey,
        *,
        weight: int = 1,
        clip: bool = False,
    ) -> list[bfv.Ciphertext]:
        """Return the ciphertexts of an update, times its weight.

        weight: for instance the number of examples of the party; the weights of a round add up to `total` at most.
        clip: take numbers beyond `bound` as if they were there; otherwise they are refused.

        Raises `noren.EncodingError` for other shapes, numbers that are not finite, and those beyond the bound.
        """
        self._check_weight(weight)
        arrays = [np.asarray(each, dtype=np.float64) for each in (update if self._several else [update])]  # type: ignore[union-attr]
        if (found := [array.shape for array in arrays]) != self.shapes:
            raise EncodingError(f"the update has the shapes {found}; needed are {self.shapes}")
        numbers = np.concatenate([array.ravel() for array in arrays])
        if not np.isfinite(numbers).all():
            raise EncodingError("the update has numbers that are not finite")
        if clip:
            numbers = numbers.clip(-self.bound, self.bound)
        elif (most := np.abs(numbers).max()) > self.bound:
            raise EncodingError(f"the update has {most}, beyond {self.bound}: clip=True takes the nearest, or scale it")
        rounded = np.rint(numbers / self.step).astype(np.int64) * weight
        width = self.parameters.n
        padded = np.zeros(-(-self.size // self.packed) * self.packed, dtype=np.int64)
        padded[: self.size] = rounded
        coefficients = padded.reshape(-1, self.packed) @ self._powers
        parts = np.split(coefficients, range(width, len(coefficients), width))
        return [self.context.encrypt(part, public, coefficients=True) for part in parts]

    def add(
        self, updates: Iterable[Sequence[bfv.Ciphertext]], evaluation: integers.EvaluationKeys
    ) -> list[bfv.Ciphertext]:
        """Return the sum of the ciphertexts of several updates.

        evaluation: the evaluation keys of the joint secret, of which no key is used.

        Raises `noren.EncodingError` for more updates than `updates`, and for those of other sizes.
        """
        parts = [list(update) for update in updates]
        needed = -(-self.size // (self.packed * self.parameters.n))
        if not 1 <= len(parts) <= self.updates:
            raise EncodingError(f"there are {len(parts)} updates; 1 to {self.updates} are added up")
        if any(len(update) != needed for update in parts):
            found = sorted({len(update) for update in parts})
            raise EncodingError(f"updates have {found} ciphertexts; needed are {needed}")
        evaluator = self.context.evaluator(evaluation)
        return [functools.reduce(evaluator.add, same) for same in zip(*parts, strict=True)]

    def decode(self, opened: Sequence[np.ndarray], *, weight: int) -> Any:  # noqa: ANN401 - an array, or a list
        """Return the average, from what `owners.Session.opened` returned: the exact sum, divided by the sum of weights.

        weight: the sum of the weights of all updates that were added up.

        The numbers of each update were off by half a `step` at most, and so is their average.
        """
        self._check_weight(weight)
        rest = np.concatenate([np.asarray(part, dtype=np.int64) for part in opened])
        if len(rest) != -(-self.size // self.packed):
            raise EncodingError(f"there are {len(rest)} coefficients; needed are {-(-self.size // self.packed)}")
        fields = np.empty((len(rest), self.packed), dtype=np.int64)
        half = self._base // 2
        for at in range(self.packed):
            fields[:, at] = (rest + half) % self._base - half
            rest = (rest - fields[:, at]) // self._base
        numbers = fields.ravel()[: self.size] * (self.step / weight)
        cuts = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        arrays = [part.reshape(shape) for part, shape in zip(np.split(numbers, cuts), self.shapes, strict=True)]
        return arrays if self._several else arrays[0]

    def _check_weight(self, weight: int) -> None:
        if not 1 <= operator.index(weight) <= self.total:
            raise EncodingError(f"weight is {weight}; it must be 1 to {self.total}")

    @property
    def _powers(self) -> np.ndarray:
        return np.array([self._base**at for at in range(self.packed)], dtype=np.int64)

    def __repr__(self) -> str:
        """Return what is averaged."""
        numbers = f"{self.size} numbers of {self.bits} bits, {self.packed} a coefficient"
        return f"Average({numbers}, parties={self.parties}, updates={self.updates}, total={self.total})"
