"""Questions on encrypted tables, in words of SQL.

>>> import numpy as np
>>> from noren import tables
>>> table = {"age": np.array([31, 70, 45, 68]), "city": ["Bern", "Chur", "Chur", "Chur"]}
>>> query = tables.compile("SELECT count(*), avg(age) WHERE age > 40 GROUP BY city", table)
>>> keys = query.client.keygen()  # for the server: nothing in them decrypts
>>> reply = query.server.run(query.client.encrypt(table), keys)
>>> print(query.client.decrypt(reply))
city  count(*)  avg(age)
Bern         0      None
Chur         3      61.0

See ``docs/tables.md`` for what may be asked, and for what it costs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from noren import compiler
from noren._halves import Halves, Owner
from noren._noren import EncodingError
from noren._noren import tables as _tables
from noren._signature import ELEMENTS
from noren.compiler import Compiled

if TYPE_CHECKING:
    import pandas as pd

    Table: TypeAlias = Mapping[str, Any] | pd.DataFrame

__all__ = ["Answer", "Categories", "Client", "Integers", "Query", "Steps", "compile"]


Cell: TypeAlias = int | float | str | None

MOST_ROWS = 1 << 24
"""The most rows of a table."""


@dataclass(frozen=True)
class Integers:
    """A column of whole numbers from `low` to `high`."""

    low: int
    high: int


@dataclass(frozen=True)
class Steps:
    """A column of numbers from `low` to `high`, each rounded to the nearest ``low + k * step``."""

    low: float
    high: float
    step: float


@dataclass(frozen=True)
class Categories:
    """A column of texts of a list."""

    values: tuple[str, ...]


Values: TypeAlias = Integers | Steps | Categories


def compile(
    question: str,
    table: Table | Mapping[str, Values],
    *,
    rows: int | None = None,
    steps: Mapping[str, float] | None = None,
    scheme: Literal["auto", "bgv", "bfv", "bfv-lookups", "tfhe"] = "auto",
    security: Literal[128, 192, 256] | None = 128,
    machine: str | os.PathLike[str] | None = None,
    unlimited: bool = False,
) -> Query:
    """Compile a question on tables.

    question: ``[SELECT] measure, ... [FROM table] [WHERE condition] [GROUP BY column, ...]``: see ``docs/tables.md``.
    table: columns by name, or a DataFrame, whose values give the ranges of columns of numbers and the texts of the
        others; or what columns may hold, by name: `Integers`, `Steps`, `Categories`. These are public.
    rows: the most rows of a table; as many as the table has for None.
    steps: for columns of numbers, the distance of the values to which they are rounded. Fractions are rounded to a
        2^16th of their range otherwise, whole numbers are not.
    scheme, security, machine, unlimited: as in `noren.compile`. Results are exact, so "ckks" and its like are refused.

    Raises `noren.EncodingError` for texts that are no questions, with the place, for columns that there are not, and
    for tables without rows or with cells that are missing; as `noren.compile`.
    """
    if not isinstance(question, str):
        raise EncodingError(f"a question is a text, not {type(question).__name__}")
    columns = _columns(table)
    declared = [name for name, values in columns.items() if isinstance(values, Integers | Steps | Categories)]
    if declared:
        if rows is None:
            raise EncodingError("rows=: how many rows a table has at most, which columns by their values do not say")
        if other := [name for name in columns if name not in declared]:
            raise EncodingError(f"column {other[0]!r} has cells, and column {declared[0]!r} what it may hold")
        if steps:
            raise EncodingError("steps= is for columns of cells: Steps has one of its own")
        held = [{"name": name, "values": _declared(values)} for name, values in columns.items()]
        schema = json.dumps({"rows": _count(rows), "columns": held})
    else:
        cells = _cells(columns)
        count = len(next(iter(cells.values()), ())) if rows is None else _count(rows)
        schema = _tables.schema_of(cells, count, dict(steps or {}))
    made = _tables.Query.compile(
        schema, question, scheme=scheme, security=security, machine=machine, unlimited=unlimited
    )
    return Query(made, machine)


def _declared(values: Values) -> dict[str, Any]:
    """Return the JSON of what a column may hold."""
    match values:
        case Integers(low, high):
            return {"integers": {"low": index(low), "high": index(high)}}
        case Steps(low, high, step):
            return {"steps": {"low": float(low), "high": float(high), "step": float(step)}}
        case Categories(texts):
            return {"categories": [str(text) for text in texts]}


def _count(rows: int) -> int:
    if not 1 <= index(rows) <= MOST_ROWS:
        raise EncodingError(f"rows={rows}: give 1 to {MOST_ROWS}")
    return index(rows)


def _columns(table: Table) -> dict[str, Any]:
    """Return columns by their names."""
    columns: dict[str, Any] = {}
    for name, values in table.items():
        if not isinstance(name, str):
            raise EncodingError(f"column {name!r}: names are texts")
        columns[name] = values
    return columns


def _cells(table: Table) -> dict[str, Any]:
    """Return columns as arrays of float64, or as lists of texts."""
    cells: dict[str, Any] = {}
    for name, values in _columns(table).items():
        column = np.asarray(values)
        if column.ndim != 1:
            raise EncodingError(f"column {name!r} is of shape {column.shape}: a vector is needed")
        compiler.check_numbers(f"column {name!r}", values)
        if column.dtype.kind in ELEMENTS:
            cells[name] = np.ascontiguousarray(column, dtype=np.float64)
            continue
        for row, text in enumerate(column):
            if not isinstance(text, str):
                raise EncodingError(
                    f"row {row}, column {name!r}, is {text!r}: texts are needed, or numbers in all rows"
                )
        cells[name] = [str(text) for text in column]
    return cells


class Query(Halves):
    """A compiled question: two halves, and what is known of it before it runs."""

    def __init__(self, query: _tables.Query, machine: str | os.PathLike[str] | None = None) -> None:
        """Wrap a question, and the file of the server's machine."""
        super().__init__(Compiled(query.program, machine=machine))
        self._query = query
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The half that has the secret key: it encrypts tables, and decrypts answers."""
        self._client = self._client or Client(self._query, self.compiled.client)
        return self._client

    def simulate(self, table: Table) -> Answer:
        """Return the answer in clear, by the function that the server evaluates."""
        values, _, _ = self._query.program.simulate(self._query.inputs(_cells(table)))
        return Answer(*self._query.answer(values))

    @staticmethod
    def load(path: str | os.PathLike[str], *, min_security: int = 128) -> Query:
        """Read a question from a file.

        Raises `noren.Error` for other files, `noren.InsecureError` for parameters below `min_security` bits.
        """
        return Query(_tables.Query.of(compiler.read_program(path, min_security)))

    def __repr__(self) -> str:
        """Return the scheme, and what is asked of which columns."""
        schema = json.loads(self._query.schema)
        names = [column["name"] for column in schema["columns"]]
        return f"Query(scheme={self.scheme!r}, rows={schema['rows']}, columns={names})"


class Client(Owner):
    """The half of a compiled question that has the secret key."""

    def __init__(self, query: _tables.Query, half: compiler.Client) -> None:
        """Wrap a question, and the client of its program."""
        super().__init__(half)
        self._query = query

    def encrypt(self, table: Table, *, seed: bytes | None = None) -> bytes:
        """Encrypt the columns that are asked for, of up to as many rows as were compiled.

        Raises `noren.EncodingError` that names row and column for cells that the column does not hold, and for columns
        that are missing.
        """
        inputs = self._query.inputs(_cells(table))
        return self._query.program.encrypt(self._half.secret, inputs, seed=seed)

    def decrypt(self, reply: bytes) -> Answer:
        """Decrypt the answer.

        Raises `noren.WireError` for bytes of another question.
        """
        values, _, _ = self._query.program.decrypt(self._half.secret, reply)
        return Answer(*self._query.answer(values))

    @staticmethod
    def load(
        query: str | os.PathLike[str],
        secret: str | os.PathLike[str] | None = None,
        *,
        passphrase: str | None = None,
        min_security: int = 128,
    ) -> Client:
        """Read a client from the file of the question and that of its secret key, if there is one."""
        of_query = Query.load(query, min_security=min_security)
        if secret is not None:
            of_query.client.load_secret(secret, passphrase=passphrase)
        return of_query.client


@dataclass(frozen=True)
class Answer:
    """The answer to a question: a row for each group, in the order of its values."""

    names: list[str]
    """The names of the columns of groups, and of what was measured."""
    keys: int
    """How many of them are columns of groups, the first."""
    rows: list[list[Cell]]
    """The rows: integers, floats, texts, and None where nothing is measured, such as the mean of no rows."""

    @property
    def value(self) -> Cell:
        """The only number that was asked for. Raises `noren.EncodingError` for several."""
        if self.keys or len(self.rows) != 1 or len(self.names) != 1:
            raise EncodingError(f"the answer has {len(self.rows)} rows of {self.names}: take one by answer[name]")
        return self.rows[0][0]

    def __getitem__(self, name: str) -> list[Cell]:
        """Return a column by its name. Raises KeyError for others."""
        if name not in self.names:
            raise KeyError(f"{name!r}: there are {self.names}")
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def to_pandas(self) -> pd.DataFrame:
        """Return the answer as a DataFrame, whose index are the groups; needs pandas."""
        import pandas as pd

        frame = pd.DataFrame(self.rows, columns=self.names)
        return frame.set_index(self.names[: self.keys]) if self.keys else frame

    def __str__(self) -> str:
        """Return the answer as lines of text."""
        lines = [self.names, *([str(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.names))]
        texts = [isinstance(self.rows[0][at], str) for at in range(len(self.names))]

        def padded(line: list[str]) -> str:
            cells = zip(line, widths, texts, strict=True)
            return "  ".join(cell.ljust(width) if text else cell.rjust(width) for cell, width, text in cells).rstrip()

        return "\n".join(map(padded, lines))
