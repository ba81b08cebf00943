"""Programs on encrypted tables: statistics, and models that others have trained.

A client chooses parameters for the programs that it wants, makes keys for them, and encrypts its table; a server runs
the programs with the evaluation keys; the client decrypts the results, which say themselves how they are to be read.

>>> import numpy as np
>>> from noren import ckks, programs
>>> table = np.array([[1.0, 10.0], [2.0, 20.0], [6.0, 60.0]])
>>> mean, variance = programs.Program("mean"), programs.Program("variance")
>>> params = programs.choose_parameters([mean, variance], rows=3, columns=2, precision_bits=20)
>>> ctx = ckks.Context(params)
>>> plan = programs.plan([mean, variance], rows=3, columns=2, slots=ctx.slots)
>>> plan.depth, params.max_level
(2, 2)
>>> keys = plan.keygen(ctx)
>>> encrypted = programs.encrypt_table(table, keys.secret, column_names=["a", "b"])
>>> result = programs.run(ctx.evaluator(keys.evaluation), mean, encrypted)
>>> matrix = programs.decrypt_table(result, keys.secret)
>>> matrix.values.round(3)
array([[ 3., 30.]])
>>> matrix.column_names
['a', 'b']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren._noren import programs as _programs
from noren._noren.programs import EncryptedTable, Plan, Program, encrypt_table
from noren.ckks import Evaluator, Parameters, Releases, SecretKey

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "EncryptedTable",
    "Matrix",
    "Plan",
    "Program",
    "choose_parameters",
    "decrypt_table",
    "encrypt_table",
    "plan",
    "run",
]


class Matrix(NamedTuple):
    """A decrypted table."""

    values: NDArray[np.float64]
    """The numbers, shape (rows, columns)."""
    errors: NDArray[np.float64]
    """For each number, how far it may be from the true one; fails with a probability of at most 2^-40."""
    row_names: list[str]
    """Names of the rows; their positions where there are no names."""
    column_names: list[str]
    """Names of the columns; their positions where there are no names."""
    out_of_range: list[tuple[int, int]]
    """Row and column of numbers that cannot be trusted: an argument was outside the interval of the program."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the values as a DataFrame with the names as index and columns; needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.values, index=self.row_names, columns=self.column_names)


def choose_parameters(
    programs: Iterable[Program],
    *,
    rows: int,
    columns: int,
    precision_bits: float,
    column_names: Sequence[str] | None = None,
    max_abs: ArrayLike | Mapping[str, float] | None = None,
    unproven_interval: bool = False,
) -> Parameters:
    """Return the smallest parameters of 128-bit security for these programs on a table of rows times columns numbers.

    They have as many levels as the deepest program uses, and after as many multiplications, with the masks of sums over
    rows, an error of at most 2^-precision_bits of what a column can hold. Sums over more than 1024 rows take one level
    more. The other arguments are those of `plan`.

    Raises `noren.Error` for a model that does not suit the table, or a precision that no parameters reach, and
    `noren.RangeError` as `plan` does.
    """
    return _programs.choose_parameters(
        list(programs),
        rows,
        columns,
        precision_bits=precision_bits,
        column_names=column_names,
        max_abs=max_abs,
        unproven_interval=unproven_interval,
    )


def plan(
    programs: Iterable[Program],
    *,
    rows: int,
    columns: int,
    slots: int,
    column_names: Sequence[str] | None = None,
    max_abs: ArrayLike | Mapping[str, float] | None = None,
    unproven_interval: bool = False,
) -> Plan:
    """Return what these programs need that run on one table of rows times columns numbers.

    The table lies in ciphertexts of at most `slots` slots, those of the context. `column_names` are needed if a model
    names columns. With the `max_abs` that `encrypt_table` will be given, fewer levels may do. `Plan.keygen` makes the
    keys.

    Columns within `max_abs` must give arguments of logistic and polynomial programs that lie in the interval of the
    model. With `unproven_interval` they need not: the encrypted arguments go along with the results, whoever decrypts
    learns them, and numbers whose arguments were outside are refused by `decrypt_table`. Without `max_abs` nothing is
    known of them when planning, and they go along unless the table itself proves the interval.

    Raises `noren.Error` for a model that does not suit the table, `noren.RangeError` for an interval that `max_abs`
    does not prove, `ValueError` without a program.
    """
    plans = [
        program.plan(
            rows,
            columns,
            slots=slots,
            column_names=column_names,
            max_abs=max_abs,
            unproven_interval=unproven_interval,
        )
        for program in programs
    ]
    if not plans:
        raise ValueError("no program was given, at least one is needed")
    return reduce(or_, plans)


def run(
    evaluator: Evaluator,
    program: Program,
    table: EncryptedTable,
    *,
    progress: Callable[[int, int], object] | None = None,
) -> EncryptedTable:
    """Return the encrypted result of a program; it needs no secret.

    Ciphertexts of the table are worked on side by side. Nothing but the numbers that were asked for is in the result.
    `progress` is called with (done, of) as the work goes on; what it raises ends the work.

    Raises `noren.MissingKeyError` that names the key, `noren.LevelError` if the table has too few levels,
    `noren.ParameterMismatchError` for a table of other parameters, `noren.Error` for a model that does not suit it.
    """
    if not isinstance(program, Program):
        raise TypeError(f"a program is needed, such as Program('mean'), and {program!r} was given")
    return program.run(evaluator, table, progress=progress)


def decrypt_table(
    table: EncryptedTable,
    key: SecretKey,
    *,
    release_bits: int | None = None,
    releases: Releases | None = None,
    allow_unbounded: bool = False,
) -> Matrix:
    """Return the numbers of a table with bounds on their errors.

    Their last digits hold traces of the secret key: they are for the owner of the key alone. To hand results on, give
    `release_bits`: entries are then rounded to multiples of 2^-release_bits of their column's unit (the power of two
    above its values), under noise that floods the error of the encryption. `releases` says how many tables of this key
    are handed on, of which this one counts as one, and with how many bits of statistical security
    (`noren.ckks.Releases`); without it this is the only one. The same table gives the same numbers again.

    Numbers that cannot be trusted are refused: those that may have left their modulus, and those of a program with an
    argument outside the interval of its model. With `allow_unbounded` they are returned all the same, with infinite
    `errors`, and `out_of_range` names the latter.

    Raises `noren.RangeError` for such numbers, `noren.ParameterMismatchError` for a key of other parameters,
    `noren.Error` for more bits than the error bounds allow, and for more releases than planned.
    """
    found = _programs.decrypt_table(
        table, key, release_bits=release_bits, releases=releases, allow_unbounded=allow_unbounded
    )
    return Matrix(*found)
