"""Keywords and rows as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from noren._noren import EncodingError

Keyword: TypeAlias = bytes | str
"""A keyword: a text is taken as UTF-8."""


def as_bytes(value: object, what: str) -> bytes:
    """Return bytes, or those of a text."""
    match value:
        case bytes():
            return value
        case str():
            return value.encode()
        case _:
            raise EncodingError(f"{what} is {value!r}: bytes or a text are needed")


def named(rows: Mapping[Keyword, bytes | str]) -> tuple[list[bytes], list[bytes]]:
    """Return the keywords of rows, and the rows."""
    keywords = [as_bytes(keyword, "a keyword") for keyword in rows]
    return keywords, [as_bytes(row, f"the row of {keyword!r}") for keyword, row in rows.items()]
