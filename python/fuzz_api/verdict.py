"""What a call may do: be right, or be refused with one of a few exceptions that say why."""

from __future__ import annotations

import re
import tempfile
from typing import Any

import noren

# noren.Error is a ValueError. Files that do not exist, or cannot be written, raise OSError.
ALLOWED: tuple[type[Exception], ...] = (
    noren.Error,
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    MemoryError,
    OSError,
)

# Words of assertions and of code, which no refusal has.
INTERNAL = (
    *("panicked", "unwrap", "unreachable", "assertion", "rust_", "src/", "RuntimeError", "borrowed"),
    *("usize", "untagged", "C long", "C int", "negative int to unsigned"),
)


class Finding(Exception):  # noqa: N818
    """The library is wrong: `kind` is a word to count by."""

    def __init__(self, kind: str, message: str) -> None:
        """See the class."""
        super().__init__(message)
        self.kind = kind


class _Refuse:
    """What a mistake must do."""

    def __repr__(self) -> str:
        return "REFUSE"


REFUSE = _Refuse()
"""The truth of a call that must raise."""


def in_words_of_the_code(text: str) -> bool:
    """Return whether a message has words of the code; random names of temporary directories do not count."""
    text = re.sub(re.escape(tempfile.gettempdir()) + r"/\w+", "", text)
    return any(word in text for word in INTERNAL)


def refusal(error: BaseException) -> str:
    """Return the name of an allowed exception; raise a Finding for every other."""
    name = type(error).__name__
    if not isinstance(error, ALLOWED):
        raise Finding("exception", f"{name}: {error}") from error
    text = str(error).strip()
    if not text:
        raise Finding("exception", f"{name} without a message") from error
    if in_words_of_the_code(text):
        raise Finding("exception", f"{name} in words of the code: {text}") from error
    return name


def check_refused(result: Any, text: str) -> None:
    """Raise a Finding: `result` was returned where the call had to be refused."""
    shown = repr(result)
    raise Finding("accepted", f"{text} was not refused: {shown[:200]}")
