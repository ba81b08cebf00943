"""`noren.bfv.Lookup`: functions as callables, tables and files, asked for many values at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren import _noren
from noren._noren import (
    BfvContext,
    EncodingError,
    Error,
    IntegerParameters,
    LookupPlan,
    PreparedLookup,
)

Numbers: TypeAlias = NDArray[np.int64]

NUMPY_FILE = b"\x93NUMPY"
"""How files of ``numpy.save`` begin."""


class Lookup:
    """A function of one or two integers, to be looked up for encrypted ones.

    f: one of
        - a callable of one or two numbers. It is called with int64 arrays of one shape if it takes them: if on a few
          points it gives the values that it gives for one point at a time; otherwise point by point, with ints;
        - a table: an array of shape (X,) or (X, Y), with f(x, y) at [x, y];
        - the path of a ``.npy`` file with a table, which is mapped.
    domain: how many numbers x and y there are, from 0 on: (X, Y), or X for a function of one number. Needed for a
        callable; of a table it is the shape.
    undefined: the value where f has none: where it raises an ArithmeticError, as division by zero does, or gives NaN,
        an infinity, a masked value or None. Without it such functions are refused. NumPy's warnings of division by zero
        and of invalid values count as errors, unless f turns them off itself with ``numpy.errstate``.

    Values are whole numbers from -t/2 to t - 1 for the plaintext modulus t, as ``Context.encrypt`` takes them. Arrays
    of int64 wrap around where values on the way leave 63 bits.

    Raises EncodingError for a table of another shape, TypeError for what is no function.

    >>> from noren import bfv
    >>> params = bfv.Parameters(5, 193, [50] * 10, [50] * 2, security=None)  # a small ring, for an example
    >>> ctx = bfv.Context(params)
    >>> keys = ctx.keygen()
    >>> quotient = bfv.Lookup(lambda x, y: x // y, domain=(8, 8), undefined=0)
    >>> plan = quotient.plan(params)
    >>> lookup_keys = plan.keygen(keys.secret)
    >>> prepared = quotient.prepare(ctx)

    >>> ev = ctx.evaluator(keys.evaluation)
    >>> x, y = (ctx.encrypt(plan.spread(numbers), keys.public) for numbers in ([7, 6, 5], [2, 3, 0]))
    >>> z = prepared(ev, x, y, keys=lookup_keys)
    >>> plan.gather(ctx.decrypt(z, keys.secret))[:3]
    array([3, 2, 0])
    """

    domain: tuple[int] | tuple[int, int]
    """How many numbers x, or x and y, there are."""

    def __init__(
        self,
        f: Callable[..., Any] | ArrayLike | str | os.PathLike[str],
        domain: int | Sequence[int] | None = None,
        *,
        undefined: int | None = None,
    ) -> None:
        """See the class."""
        self._undefined = undefined
        if callable(f):
            if domain is None:
                raise TypeError("a callable needs a domain: how many numbers x, or x and y, there are")
            self._name = getattr(f, "__name__", type(f).__name__)
            self.domain = _checked(domain)
            self._call: Callable[..., Any] = f
            self._at_once = self._works_on_arrays()
        else:
            self._name = os.fspath(f) if isinstance(f, str | os.PathLike) else "table"
            table = _load(f) if isinstance(f, str | os.PathLike) else np.asarray(f)
            self.domain = _checked(table.shape)
            if domain is not None and _checked(domain) != self.domain:
                raise EncodingError(f"the table has the shape {table.shape}, the domain is {domain}")
            self._call = _Table(table)
            self._at_once = True

    def plan(self, parameters: IntegerParameters) -> LookupPlan:
        """Say what lookups of this domain need, before any key is made or anything is prepared.

        Raises Error if the parameters do not suit.
        """
        return LookupPlan(parameters, self.domain if len(self.domain) == 2 else self.domain[0])

    def prepare(
        self,
        context: BfvContext,
        *,
        progress: Callable[[int, int], object] | None = None,
    ) -> PreparedLookup:
        """Prepare the function, for all who hold keys of its plan. Nothing secret is needed.

        progress: called with (done, of) as factors of the matrix are made, from any thread; what it raises ends the
            work, as an interrupt from the keyboard does.

        Functions of x, y, x + y or x - y alone are found out, and need no matrix; f is asked for all its values then.

        Raises Error if f has no value somewhere, EncodingError for one that is no whole number or out of range: the
        message names the first point; Error if the machine has not the memory; and what f raises.
        """
        modulus = context.parameters.plaintext_modulus
        plan = self.plan(context.parameters)
        return _noren.prepare_lookup(context, plan, lambda x, y: self._residues(x, y, modulus), progress=progress)

    def __repr__(self) -> str:
        """Say what it is."""
        return f"Lookup({self._name}, domain={self.domain}{'' if self._at_once else ', point by point'})"

    def _residues(self, x: Numbers, y: Numbers, modulus: int) -> Numbers:
        """Return the values at some points, as residues."""
        values, defined = self._values(*(x, y)[: len(self.domain)])
        if not defined.all():
            if self._undefined is None:
                raise self._refusal(x, y, int(np.argmin(defined)))
            values = np.where(defined, values, self._undefined)
        wrong = (values < -(modulus // 2)) | (values >= modulus)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise EncodingError(
                f"the function is {values[i]} at {self._at(x, y, i)}, values must be from {-(modulus // 2)} to "
                f"{modulus - 1} for the plaintext modulus {modulus}"
            )
        return np.where(values < 0, values + modulus, values)

    def _values(self, *points: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the values at some points, and whether there is one."""
        if not self._at_once:
            return self._whole([self._point(*map(int, point)) for point in zip(*points, strict=True)], points)
        try:
            with np.errstate(divide="raise", invalid="raise"):
                return self._whole(self._call(*points), points)
        except ArithmeticError:
            return self._values_but_somewhere(points)

    def _values_but_somewhere(self, points: tuple[Numbers, ...]) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the values at points of which one at least has none."""
        count = len(points[0])
        # Whole numbers do not tell where they were divided by zero; floating-point numbers give NaN or infinity there.
        try:
            with np.errstate(all="ignore"):
                known = np.isfinite(self._call(*(p.astype(np.float64) for p in points)))
        except Exception:
            known = np.ones(count, dtype=bool)
        if count == 1 or (known.shape == (count,) and not known.any()):
            return np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
        if known.shape != (count,) or known.all():
            known = np.arange(count) < count // 2
        values, defined = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
        for part in (known, ~known):
            values[part], defined[part] = self._values(*(p[part] for p in points))
        return values, defined

    def _point(self, *point: int) -> object:
        """Return the value at one point, None if there is none."""
        try:
            with np.errstate(divide="raise", invalid="raise"):
                value: object = self._call(*point)
        except ArithmeticError:
            return None
        return None if np.ma.is_masked(value) else value

    def _whole(self, found: object, points: tuple[Numbers, ...]) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return what f gave as whole numbers, and whether there is one."""
        count = len(points[0])
        mask = np.ma.getmaskarray(found) if isinstance(found, np.ma.MaskedArray) else None
        array = np.asarray(found)
        if array.shape != (count,):
            raise EncodingError(f"the function gave an array of shape {array.shape} for {count} points")
        defined = np.ones(count, dtype=bool) if mask is None else ~mask
        if array.dtype.kind == "O":
            defined &= np.array([value is not None for value in array], dtype=bool)
            array = np.array([value if known else 0 for value, known in zip(array, defined, strict=True)])
        if array.dtype.kind == "f":
            defined &= np.isfinite(array)
            whole = np.where(defined, array, 0)
            fractions = whole != np.rint(whole)
            if fractions.any():
                i = int(np.argmax(fractions))
                at = self._at(*points, i) if len(points) == 2 else self._at(points[0], points[0], i)
                raise EncodingError(f"the function is {whole[i]} at {at}, whole numbers are needed: round them")
            # What int64 does not hold is out of range anyway.
            array = np.clip(whole, -(2.0**62), 2.0**62)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"whole numbers are needed, the function gave dtype {array.dtype}")
        if array.dtype == np.uint64:
            array = np.minimum(array, np.uint64(2**62))
        return array.astype(np.int64), defined

    def _refusal(self, x: Numbers, y: Numbers, i: int) -> Error:
        """Say that f has no value at a point, and why."""
        why = ""
        try:
            with np.errstate(divide="raise", invalid="raise"):
                self._call(*(x[i : i + 1], y[i : i + 1])[: len(self.domain)])
        except ArithmeticError as error:
            why = f" ({error})"
        return Error(
            f"the function has no value at {self._at(x, y, i)}{why}: give it one there, of which no caller will make "
            "use, such as by undefined=0"
        )

    def _at(self, x: Numbers, y: Numbers, i: int) -> str:
        """Name a point."""
        return f"({x[i]}, {y[i]})" if len(self.domain) == 2 else str(x[i])

    def _works_on_arrays(self) -> bool:
        """Say whether f gives for arrays what it gives for the points one by one: on the corners and some more."""
        few = [np.unique([0, size // 3, size // 2, size - 1]) for size in self.domain]
        points = tuple(grid.ravel() for grid in np.meshgrid(*few, indexing="ij"))
        if len(points[0]) == 1:
            # One point may pass for a number.
            points = tuple(np.tile(p, 2) for p in points)
        self._at_once = False
        one_by_one = self._outcome(points)
        self._at_once = True
        try:
            return one_by_one == self._outcome(points)
        except Exception:
            return False

    def _outcome(self, points: tuple[Numbers, ...]) -> object:
        """Return the values at some points, or what is wrong with them, to be compared."""
        try:
            values, defined = self._values(*points)
        except EncodingError as error:
            return str(error)
        return np.where(defined, values, 0).tolist(), defined.tolist()


class _Table:
    """A table as a callable."""

    def __init__(self, table: NDArray[Any]) -> None:
        self.table = table

    def __call__(self, *point: Numbers) -> NDArray[Any]:
        return self.table[point]


def _load(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Map the table in a file."""
    with Path(path).open("rb") as file:
        start = file.read(len(NUMPY_FILE))
    if start != NUMPY_FILE:
        raise EncodingError(
            f"{os.fspath(path)} is no .npy file of numpy.save; a prepared function is read with PreparedLookup.load"
        )
    table: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return table


def _checked(domain: int | Sequence[int]) -> tuple[int] | tuple[int, int]:
    """Return how many numbers x, or x and y, there are."""
    sizes = (domain,) if isinstance(domain, SupportsIndex) else domain
    match tuple(index(size) for size in sizes):
        case (x,) if x > 0:
            return (x,)
        case (x, y) if x > 0 and y > 0:
            return x, y
        case found:
            raise EncodingError(f"the domain is {found}, one or two numbers from 1 on are needed")
