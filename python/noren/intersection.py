"""Keywords of one party that stand in the table of another, with their rows.

>>> from noren import intersection
>>> database = intersection.Database({"Bern": b"134 794", "Chur": b"37 998", "Genf": b"203 840"}, asked=100)
>>> client = intersection.Client(database.description)  # the client
>>> keys = client.keygen()  # for the holder: nothing in them decrypts
>>> reply = database.answer(client.encrypt(["Chur", "Olten"]), keys)
>>> client.decrypt(reply, ["Chur", "Olten"])
{'Chur': b'37 998'}

The holder learns nothing of the keywords, and the client nothing of other rows. See ``docs/retrieval.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Literal

from noren._keyholder import KeyHolder, opened
from noren._keywords import Keyword, as_bytes, named
from noren._noren import EncodingError, integers, intersection
from noren._noren.compiler import ServerKeys

__all__ = ["Client", "Database"]


class Database:
    """A table in clear: it tells which encrypted keywords it has, with their rows."""

    def __init__(
        self,
        rows: Mapping[Keyword, bytes | str] | Iterable[Keyword],
        *,
        asked: int,
        distance: int = 64,
        security: Literal[128, 192, 256] | None = 128,
        seed: bytes | None = None,
    ) -> None:
        """Take the rows of a table, and choose parameters for it.

        rows: bytes, or texts, which are taken as UTF-8, by their keywords; keywords alone for a set.
        asked: the most keywords of a request.
        distance: replies tell of other rows at most as much as a statistical distance of 2^-distance does, 30 to 128.
        security: in bits; None for tests.
        seed: 32 secret bytes; None draws them from the operating system.

        Raises `noren.Error` for no rows, and for keywords that stand twice.
        """
        if isinstance(rows, str | bytes):
            raise EncodingError(f"{rows!r} is one keyword: give a mapping or a list")
        if isinstance(rows, Mapping):
            keywords, contents = named(rows)
        else:
            keywords = [as_bytes(keyword, "a keyword") for keyword in rows]
            contents = [b""] * len(keywords)
        self._database = intersection.Database(
            contents, keywords, asked=asked, distance=distance, security=security, seed=seed
        )

    @property
    def description(self) -> bytes:
        """The public description of the table, for `Client`: it holds no row and no keyword."""
        return bytes(self._database.plan)

    @property
    def parameters(self) -> integers.Parameters:
        """The parameters of BFV."""
        return self._database.plan.parameters

    def answer(
        self, request: bytes, keys: ServerKeys | bytes | str | os.PathLike[str], *, seed: bytes | None = None
    ) -> bytes:
        """Answer a request of `Client.encrypt`.

        keys: what `Client.keygen` returned, its bytes, or the path of its file.
        seed: 32 bytes for this answer alone, which the client must not know; None draws them from the operating
            system.

        Raises `noren.WireError` and `noren.Error` for requests for another table, and for keys of other parameters.
        """
        return self._database.answer(request, opened(self._database.plan, keys), seed=seed)

    def __repr__(self) -> str:
        """Return the number of rows, and of keywords in a request."""
        plan = self._database.plan
        return f"Database(rows={plan.rows}, asked={plan.asked})"


class Client(KeyHolder):
    """The half that asks: it has the secret key."""

    def __init__(self, description: bytes, *, min_security: int = 128) -> None:
        """Read the description of a table.

        Raises `noren.Error` for other bytes, `noren.InsecureError` for parameters below `min_security` bits.
        """
        self._plan = intersection.Plan.from_bytes(description, min_security=min_security)
        super().__init__(self._plan)

    @property
    def parameters(self) -> integers.Parameters:
        """The parameters of BFV."""
        return self._plan.parameters

    @property
    def log2_false_match(self) -> float:
        """`log2` of a bound on the probability that a keyword of a request is found that the table does not have."""
        return self._plan.log2_false_match

    def encrypt(self, keywords: Iterable[Keyword], *, seed: bytes | None = None) -> bytes:
        """Encrypt keywords: the holder learns nothing of them, nor how many there are.

        Raises `noren.Error` for more keywords than the table answers at once.
        """
        return self._plan.encrypt(self.secret, list(_as_bytes(keywords)), seed=seed)

    def decrypt(self, reply: bytes, keywords: Iterable[Keyword]) -> dict[Keyword, bytes]:
        """Decrypt the reply to a request for these keywords: those that the table has, with their rows.

        Raises `noren.Error` for a reply of another table.
        """
        asked = _as_bytes(keywords)
        rows = self._plan.decrypt(self.secret, reply, list(asked))
        return {keyword: row for keyword, row in zip(asked.values(), rows, strict=True) if row is not None}

    def __repr__(self) -> str:
        """Return what is known of the table."""
        return f"Client(rows={self._plan.rows}, asked={self._plan.asked})"


def _as_bytes(keywords: Iterable[Keyword]) -> dict[bytes, Keyword]:
    """Return the bytes of keywords, each once, with the keywords."""
    if isinstance(keywords, str | bytes):
        raise EncodingError(f"{keywords!r} is one keyword: give a list")
    return {as_bytes(keyword, "a keyword"): keyword for keyword in keywords}
