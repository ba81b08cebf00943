"""Functions of one or two numbers, asked for many values at once, which may have none at some points."""

from __future__ import annotations

import inspect
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noren._noren import EncodingError, Error

Numbers: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]

MOST = 2**62
"""The absolute value at which numbers are cut, which is out of range of all that is looked up."""

MOST_SUSPECTS = 16
"""The most coordinates that are told apart, at which there was no value before."""


class Rule:
    """A function of points: it gives whole numbers for arrays of coordinates, or for the coordinates of one point."""

    def __init__(
        self,
        call: Callable[..., Any],
        domain: tuple[int, ...],
        *,
        least: tuple[int, ...] | None = None,
        at_once: bool | None = None,
    ) -> None:
        """Find out whether the function works on arrays, unless that is known.

        domain: how many values each coordinate has, from the `least` of each on, from 0 if there are none.
        """
        self._call = call
        self._domain = domain
        self._least = least or (0,) * len(domain)
        # Where points without a value were met: how often, for each coordinate. Preparation asks from several threads.
        self._met: tuple[Counter[int], ...] = tuple(Counter() for _ in domain)
        self._lock = threading.Lock()
        _check_arguments(call, len(domain))
        self.at_once = self._works_on_arrays(domain) if at_once is None else at_once

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function alone: what was met is found again."""
        return partial(Rule, least=self._least, at_once=self.at_once), (self._call, self._domain)

    def residues(self, x: Numbers, y: Numbers, modulus: int, undefined: int | None) -> Numbers:
        """Return the values at some points from 0 to below the modulus; `undefined` where there is none."""
        allowed = (-(modulus // 2), modulus - 1)
        values = self.values((x, y)[: len(self._domain)], allowed, undefined, f" for the plaintext modulus {modulus}")
        return np.where(values < 0, values + modulus, values) if values.min() < 0 else values

    def values(
        self, points: tuple[Numbers, ...], allowed: tuple[int, int], undefined: int | None, why: str = ""
    ) -> Numbers:
        """Return the values at some points, within the two numbers allowed; `undefined` where there is none."""
        values, defined = self._values(points)
        if not defined.all():
            if undefined is None:
                raise self._refusal(points, int(np.argmin(defined)))
            values = np.where(defined, values, undefined)
        least, most = allowed
        if values.min() < least or values.max() > most:
            i = int(np.argmax((values < least) | (values > most)))
            # What lies outside was cut there.
            cut = {MOST: "2^62 or more", -MOST: "-2^62 or less"}.get(int(values[i]), str(values[i]))
            raise EncodingError(
                f"the function is {cut} at {name_of(points, i)}, values must be from {least} to {most}{why}"
            )
        return values

    def _values(self, points: tuple[Numbers, ...]) -> tuple[Numbers, Truths]:
        """Return the values at some points, and whether there is one."""
        if not self.at_once:
            return whole([self._point(*map(int, point)) for point in zip(*points, strict=True)], points)
        suspect = self._suspect(points)
        if suspect.any() and not suspect.all():
            return self._apart(points, suspect)
        try:
            return whole(self._ask(points), points)
        except ArithmeticError:
            return self._values_but_somewhere(points)

    def _values_but_somewhere(self, points: tuple[Numbers, ...]) -> tuple[Numbers, Truths]:
        """Return the values at points of which one at least has none."""
        count = len(points[0])
        if count == 1:
            with self._lock:
                for met, coordinates in zip(self._met, points, strict=True):
                    met[int(coordinates[0])] += 1
            return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool)
        # Whole numbers do not tell where they were divided by zero; floating-point numbers give NaN or infinity there.
        try:
            with np.errstate(all="ignore"):
                known = np.isfinite(self._call(*(p.astype(np.float64) for p in points)))
        except Exception:
            known = np.ones(count, dtype=bool)
        if known.shape == (count,) and not known.any():
            return np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
        if known.shape != (count,) or known.all():
            known = np.arange(count) < count // 2
        return self._apart(points, known)

    def _apart(self, points: tuple[Numbers, ...], part: Truths) -> tuple[Numbers, Truths]:
        """Return the values at points that are asked in two parts."""
        values, defined = np.empty(len(part), dtype=np.int64), np.empty(len(part), dtype=bool)
        for one in (part, ~part):
            values[one], defined[one] = self._values(tuple(p[one] for p in points))
        return values, defined

    def _suspect(self, points: tuple[Numbers, ...]) -> Truths:
        """Say which points share a coordinate with points without a value, which were met more than once."""
        suspect = np.zeros(len(points[0]), dtype=bool)
        with self._lock:
            met = [counter.most_common(MOST_SUSPECTS) for counter in self._met]
        for most, coordinates in zip(met, points, strict=True):
            for value, times in most:
                if times > 1:
                    suspect |= coordinates == value
        return suspect

    def _ask(self, points: tuple[Numbers, ...]) -> object:
        """Call the function with arrays, or numbers, which it must leave as they are."""
        for coordinates in points:
            coordinates.flags.writeable = False
        with np.errstate(divide="raise", invalid="raise"):
            return self._call(*points)

    def _point(self, *point: int) -> object:
        """Return the value at one point, None if there is none."""
        try:
            with np.errstate(divide="raise", invalid="raise"):
                value: object = self._call(*point)
        except ArithmeticError:
            return None
        return None if np.ma.is_masked(value) else value

    def _refusal(self, points: tuple[Numbers, ...], i: int) -> Error:
        """Say that there is no value at a point, and why."""
        why = ""
        try:
            if self.at_once:
                self._ask(tuple(p[i : i + 1] for p in points))
        except ArithmeticError as error:
            why = f" ({error})"
        return Error(
            f"the function has no value at {name_of(points, i)}{why}: give it one there, of which no caller will make "
            "use, such as by undefined=0"
        )

    def _works_on_arrays(self, domain: tuple[int, ...]) -> bool:
        """Say whether it gives for arrays what it gives for the points one by one: on the corners and some more."""
        sizes = zip(domain, self._least, strict=True)
        few = [np.unique([0, size // 3, size // 2, size - 1]) + start for size, start in sizes]
        points = tuple(grid.ravel() for grid in np.meshgrid(*few, indexing="ij"))
        if len(points[0]) == 1:
            # One point may pass for a number.
            points = tuple(np.tile(p, 2) for p in points)
        self.at_once = True
        try:
            found: object = self._outcome(points)
        except Exception as error:
            found = error
        if not isinstance(found, str | Exception):
            return found == self._exactly(points)
        self.at_once = False
        try:
            one_by_one = self._outcome(points)
        except Exception:
            # It takes no numbers either: what is wrong with arrays is what the caller is to know.
            if isinstance(found, Exception):
                raise found from None
            return True
        return one_by_one == found

    def _exactly(self, points: tuple[Numbers, ...]) -> object:
        """Return what the function gives for whole numbers of any size, or else for each point alone."""
        try:
            return self._outcome(tuple(p.astype(object) for p in points))
        except Exception:
            alone = [self._outcome(tuple(p[i : i + 1] for p in points)) for i in range(len(points[0]))]
        wrong = next((outcome for outcome in alone if isinstance(outcome, str)), None)
        return wrong or tuple([value for outcome in alone for value in outcome[part]] for part in (0, 1))

    def _outcome(self, points: tuple[NDArray[Any], ...]) -> str | tuple[list[Any], list[Any]]:
        """Return the values at some points, or what is wrong with them, to be compared."""
        try:
            values, defined = self._values(points)
        except EncodingError as error:
            return str(error)
        return np.where(defined, values, 0).tolist(), defined.tolist()


def _check_arguments(call: Callable[..., Any], axes: int) -> None:
    """Refuse a function that does not take as many numbers as the domain has."""
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        # Not all built-in functions say what they take.
        return
    try:
        signature.bind(*range(axes))
    except TypeError as error:
        needed = "one number, as (X, Y) of two" if axes == 1 else "two numbers, as X of one"
        raise TypeError(f"the domain is of {needed}; the function takes others: {error}") from None


def name_of(points: tuple[Numbers, ...], i: int) -> str:
    """Name a point."""
    return f"({points[0][i]}, {points[1][i]})" if len(points) == 2 else str(points[0][i])


def table_of(values: object) -> NDArray[Any]:
    """Return a table as an array; a masked value is none, so that a mask stays."""
    return np.ma.asanyarray(values) if np.ma.isMaskedArray(values) else np.asarray(values)


def _cut(value: object) -> object:
    """Return an integer of Python within what int64 holds, and all else as it is."""
    return max(-MOST, min(MOST, value)) if isinstance(value, int) else value


def whole(found: object, points: tuple[Numbers, ...]) -> tuple[Numbers, Truths]:
    """Return what a function gave at some points as whole numbers, and whether there is one."""
    count = len(points[0])
    array = np.asarray(found)
    if array.dtype.kind not in "biufO":
        raise TypeError(f"whole numbers are needed, the function gave dtype {array.dtype}")
    if array.shape != (count,):
        raise EncodingError(f"the function gave an array of shape {array.shape} for {count} points")
    defined = np.ones(count, dtype=bool)
    if isinstance(found, np.ma.MaskedArray):
        defined = ~np.ma.getmaskarray(found)
    if array.dtype.kind == "O":
        defined &= np.array([value is not None for value in array], dtype=bool)
        array = np.array([_cut(value) if known else 0 for value, known in zip(array, defined, strict=True)])
    if array.dtype.kind == "f":
        defined &= np.isfinite(array)
        array = np.where(defined, array, 0)
        fractions = array != np.rint(array)
        if fractions.any():
            i = int(np.argmax(fractions))
            raise EncodingError(
                f"the function is {array[i]} at {name_of(points, i)}, whole numbers are needed: round them"
            )
        # What int64 does not hold is out of range anyway.
        array = np.clip(array, -float(MOST), float(MOST))
    if array.dtype.kind not in "biuf":
        raise TypeError(f"whole numbers are needed, the function gave dtype {array.dtype}")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(MOST))
    return array.astype(np.int64, copy=False), defined
