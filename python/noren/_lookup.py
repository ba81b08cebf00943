"""`noren.bfv.Lookup`: functions as callables, tables and files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren._files import check_regular
from noren._noren import EncodingError
from noren._noren.bfv import Context, LookupPlan, PreparedLookup, prepare_lookup
from noren._noren.integers import Parameters
from noren._rule import Numbers, Rule, table_of

NUMPY_FILE = b"\x93NUMPY"
"""How files of ``numpy.save`` begin."""


class Spread(np.ndarray[Any, np.dtype[np.int64]]):
    """Numbers that were spread for lookups: each fills as many slots as ``stretch`` says."""

    stretch: int

    @classmethod
    def of(cls, numbers: NDArray[np.int64], stretch: int) -> Spread:
        """Return the array with its stretch."""
        spread = numbers.view(cls)
        spread.stretch = stretch
        return spread

    def __array_finalize__(self, _: object) -> None:
        """Forget the stretch: views, parts and results of operations are other numbers."""
        self.stretch = 1


class Lookup:
    """A function of one or two integers, to be looked up for encrypted ones.

    f: one of
        - a callable of one or two numbers. It is called with int64 arrays of one shape if it takes them, and gives for
          them on a few points what it gives for each point, without wrapping around; otherwise point by point, with
          ints, which ``repr`` says;
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
            self._rule = Rule(f, self.domain)
        else:
            self._name = os.fspath(f) if isinstance(f, str | os.PathLike) else "table"
            table = _load(f) if isinstance(f, str | os.PathLike) else table_of(f)
            self.domain = _checked(table.shape)
            if domain is not None and _checked(domain) != self.domain:
                raise EncodingError(f"the table has the shape {table.shape}, the domain is {domain}")
            self._rule = Rule(_Table(table), self.domain, at_once=True)

    def plan(self, parameters: Parameters) -> LookupPlan:
        """Say what lookups of this domain need, before any key is made or anything is prepared.

        Raises Error if the parameters do not suit.
        """
        return LookupPlan(parameters, self.domain if len(self.domain) == 2 else self.domain[0])

    def prepare(
        self,
        context: Context,
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

        def values(x: Numbers, y: Numbers) -> Numbers:
            return self._rule.residues(x, y, modulus, self._undefined)

        return prepare_lookup(context, plan, values, progress=progress)

    def __repr__(self) -> str:
        """Say what it is."""
        return f"Lookup({self._name}, domain={self.domain}{'' if self._rule.at_once else ', point by point'})"


class _Table:
    """A table as a callable."""

    def __init__(self, table: NDArray[Any]) -> None:
        self.table = table

    def __call__(self, *point: Numbers) -> NDArray[Any]:
        return self.table[point]


def _load(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Map the table in a file."""
    # A FIFO or a device would be waited for, or never end.
    check_regular(Path(path).stat().st_mode, path)
    with Path(path).open("rb") as file:
        start = file.read(len(NUMPY_FILE))
    if start != NUMPY_FILE:
        raise EncodingError(
            f"{os.fspath(path)} is no .npy file of numpy.save; a prepared function is read with PreparedLookup.load"
        )
    try:
        table: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        # numpy reads the header as a Python expression, and raises whatever its parser does, in its words.
        raise EncodingError(f"{os.fspath(path)} is a .npy file with a damaged header: save the table again") from error
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
