"""Rows of a table that its holder has in clear, without telling which.

>>> from noren import retrieval
>>> database = retrieval.Database({"Bern": b"134 794", "Chur": b"37 998", "Genf": b"203 840"})  # the holder
>>> client = retrieval.Client(database.description)  # the client
>>> keys = client.keygen()  # for the holder: nothing in them decrypts
>>> replies = database.answer(client.encrypt(["Chur", "Olten"]), keys)
>>> client.decrypt(replies, ["Chur", "Olten"])
[b'37 998', None]

Requests are hidden, the table is not: a reply holds other rows too. See ``docs/retrieval.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Literal, TypeAlias

from noren._keyholder import KeyHolder, opened
from noren._keywords import Keyword, as_bytes, named
from noren._noren import EncodingError, integers, retrieval
from noren._noren.compiler import ServerKeys

__all__ = ["Client", "Database"]

Key: TypeAlias = int | Keyword
"""What a row is asked for by: its number, or its keyword."""


class Database:
    """A table in clear: it answers encrypted requests for its rows."""

    def __init__(
        self,
        rows: Sequence[bytes | str] | Mapping[Keyword, bytes | str],
        *,
        security: Literal[128, 192, 256] | None = 128,
    ) -> None:
        """Take the rows of a table, and choose parameters for it.

        rows: bytes, or texts, which are taken as UTF-8; asked for by their numbers, or by the keywords of a mapping.
        security: in bits; None for tests.

        Raises `noren.Error` for no rows, and for keywords that stand twice, such as the same as text and as bytes.
        """
        if isinstance(rows, Mapping):
            keywords, contents = named(rows)
            self._database = retrieval.Database(contents, keywords, security=security)
        else:
            contents = [as_bytes(row, f"row {at}") for at, row in enumerate(rows)]
            self._database = retrieval.Database(contents, None, security=security)

    @property
    def description(self) -> bytes:
        """The public description of the table, for `Client`: it holds no row and no keyword."""
        return bytes(self._database.plan)

    @property
    def capacity(self) -> int:
        """How many rows a reply may hold."""
        return self._database.plan.capacity

    @property
    def parameters(self) -> integers.Parameters:
        """The parameters of BFV."""
        return self._database.plan.parameters

    def answer(self, requests: bytes, keys: ServerKeys | bytes | str | os.PathLike[str]) -> bytes:
        """Answer requests of `Client.encrypt`.

        keys: what `Client.keygen` returned, its bytes, or the path of its file.

        Raises `noren.WireError` and `noren.Error` for requests for another table, and for keys of other parameters.
        """
        return self._database.answer(requests, opened(self._database.plan, keys))

    def __repr__(self) -> str:
        """Return the number of rows, and how they lie."""
        plan = self._database.plan
        by = "keyword" if plan.by_keyword else "number"
        return f"Database(rows={plan.rows}, by={by!r}, shape={plan.shape})"


class Client(KeyHolder):
    """The half that asks: it has the secret key."""

    def __init__(self, description: bytes, *, min_security: int = 128) -> None:
        """Read the description of a table.

        Raises `noren.Error` for other bytes, `noren.InsecureError` for parameters below `min_security` bits.
        """
        self._plan = retrieval.Plan.from_bytes(description, min_security=min_security)
        super().__init__(self._plan)

    @property
    def parameters(self) -> integers.Parameters:
        """The parameters of BFV."""
        return self._plan.parameters

    def encrypt(self, keys: Iterable[Key], *, seed: bytes | None = None) -> bytes:
        """Encrypt requests for rows, by their numbers or keywords: the holder learns how many there are.

        Raises `noren.Error` for numbers that the table does not have, and for no keys.
        """
        numbers, keywords = self._keys(keys)
        return self._plan.encrypt(self.secret, numbers, keywords, seed=seed)

    def decrypt(self, replies: bytes, keys: Iterable[Key]) -> list[bytes | None]:
        """Decrypt replies to requests for these keys: rows, and None for keywords that the table does not have.

        Raises `noren.Error` for replies of another table, or to another number of requests.
        """
        numbers, keywords = self._keys(keys)
        return self._plan.decrypt(self.secret, replies, numbers, keywords)

    def _keys(self, keys: Iterable[Key]) -> tuple[list[int], list[bytes]]:
        """Return numbers and keywords, one of which there are none of."""
        if isinstance(keys, str | bytes):
            raise EncodingError(f"{keys!r} is one keyword: give a list")
        if self._plan.by_keyword:
            return [], [as_bytes(key, "a key") for key in keys]
        numbers = []
        for key in keys:
            if isinstance(key, str | bytes):
                raise EncodingError(f"{key!r}: rows of this table are asked for by their numbers")
            if not 0 <= index(key) < self._plan.rows:
                raise EncodingError(f"row {key}: there are rows 0 to {self._plan.rows - 1}")
            numbers.append(index(key))
        return numbers, []

    def __repr__(self) -> str:
        """Return what is known of the table."""
        return f"Client(rows={self._plan.rows}, by={'keyword' if self._plan.by_keyword else 'number'!r})"
