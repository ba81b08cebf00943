"""What readers of files are, and what classes of Python make of a changed file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from fuzz_api.samples import Samples, pickled
from fuzz_api.verdict import refusal


class World(Protocol):
    """A changed file, and the good ones."""

    good: Samples
    name: str
    data: bytes
    path: Path
    way: str
    folder: Path

    def output(self, ending: str) -> Path:
        """Return the name of a file that is not there."""


@dataclass(frozen=True)
class Reader:
    """A call that reads a file."""

    name: str
    takes: tuple[str, ...]
    run: Callable[[Any], Any]
    checks: bool = True
    """Whether it compares the digest."""


LARGEST = 1 << 13
"""Degrees of rings up to which forged parameters are computed with: larger ones only take longer."""


SAVED = ".saved"
"""The ending of what Python writes again before it is used, and perhaps refused."""


def loaded(w: World, cls: Any, *, context: Any = None, **options: Any) -> Any:
    """Return what the class makes of the file: from bytes, from a file, or from a pickle of the bytes."""
    first = () if context is None else (context,)
    good = w.good.objects.get(w.name)
    # Keys are pickled without their parameters, which are files of their own; keys of bootstrapping are not pickled.
    if w.way == "pickle" and type(good) is cls and f"{w.name}.bare" not in w.good.files and w.name != "boot.keys":
        return unpickled(w, w.name)
    if hasattr(cls, "load") and (w.way == "file" or w.name.endswith(".mapped") or w.name == "slots.prepared"):
        return cls.load(*first, w.path, **options)
    return cls.from_bytes(*first, w.data, **options)


def unpickled(w: World, name: str) -> Any:
    """Return what the pickle of the object of this name gives, with the file in place of its bytes."""
    make, parts = pickled(name, w.good.objects[name])
    return make(*replaced(parts, w.data))


def replaced(parts: Any, data: bytes) -> Any:
    """Return the parts of a pickle with the bytes of its object replaced."""
    if isinstance(parts, tuple):
        return tuple(replaced(part, data) for part in parts)
    return data if isinstance(parts, bytes) and len(parts) > 64 else parts


def saved(w: World, value: Any) -> None:
    """Write the object again, as bytes and as a file."""
    bytes(value)
    if hasattr(value, "save"):
        value.save(w.output(SAVED))


def attempt(work: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Run what may be refused for what a forged object holds."""
    try:
        work(*arguments, **named)
    except Exception as error:
        refusal(error)
