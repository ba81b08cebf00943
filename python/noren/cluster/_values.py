"""Items and results as bytes: a closed set of kinds, each with a tag, which are read without running code of anybody.

Why not a pickle with a list of classes that it may name: what a pickle may call must be harmless with any arguments and
in any order, a class of the list brings its own `__setstate__` and `__reduce__`, and the reader of the standard library
takes memory by numbers in the stream. Here a tag stands for a kind, and nothing in the bytes names something to call:

- plain values and containers are made by their constructors;
- arrays and scalars of numpy from a type without objects and as many bytes as it needs;
- objects of noren by their own readers, which take bytes of strangers (`docs/wire.md`), of at most `MOST_PARAMETERS`
  parameters, and contexts of at most `MOST_THREADS` threads;
- objects of dataclasses from a table of classes that the reader has beforehand, found by the digest of the class: the
  fields are set, and no method runs;
- tables of pandas from their columns as arrays.

Lengths are believed as far as bytes are there, and nesting ends at `MOST_DEPTH`, so that memory is bounded by a
multiple of the bytes, and of the contexts. The same value has the same bytes in every process, so that they can be
looked up by their digest; a value that is met again is a reference, so that what was one object stays one.
"""

from __future__ import annotations

import re
import struct
from types import MemberDescriptorType
from typing import Any, Protocol

import numpy as np

from noren.cluster._errors import ResultError

MOST_DEPTH = 64
"""How deep containers may be nested."""
MOST_BYTES = 1 << 34
"""The most bytes of an item or a result."""
MOST_THREADS = 1024
"""The most threads that a context of a result may ask for."""
MOST_PARAMETERS = 8
"""The most different parameters in an item or a result: a context takes far more memory than its bytes."""
KINDS = (
    "numbers, texts, bytes, arrays and scalars of numpy without objects, objects of noren that do not decrypt, paths "
    "of files, tables of pandas, dataclasses that the program names, and lists, tuples, sets and dicts of them"
)

COUNT = struct.Struct("<Q")
DTYPE = re.compile(r"[<>|][biufcSUmMV][1-9][0-9]{0,8}(\[[0-9]*[A-Za-z]+\])?")
"""The types of numpy that have no parts."""
HASHED = (str, bytes, int, float, complex, bool, type(None))
"""What a key of a dict, or a member of a set, is made of, beside scalars of numpy, tuples and frozensets."""
DIRECT = {float: (b"d", "d"), int: (b"q", "q")}
"""Numbers of which a list is packed at once."""
LAST_CHARACTER = 0x10FFFF


class Classes(Protocol):
    """Dataclasses by the digests of their code."""

    def digest(self, kind: type) -> bytes | None:
        """Return the digest of a class, of 32 bytes; None for one that the other side would not know."""

    def find(self, digest: bytes) -> type | None:
        """Return the class of a digest."""


class NoClasses:
    """No dataclass at all."""

    def digest(self, kind: type) -> bytes | None:
        """Return None."""

    def find(self, digest: bytes) -> type | None:
        """Return None."""


def is_key(x: object) -> bool:
    """Return whether a value can be a key: nothing but its own hash runs."""
    if type(x) in (tuple, frozenset):
        return all(is_key(each) for each in x)  # type: ignore[attr-defined]
    return type(x) in HASHED or (isinstance(x, np.generic) and type(x) is x.dtype.type and x.dtype.names is None)


def is_described(described: object) -> bool:
    """Return whether a type of numpy is described as `numpy.lib.format` does, without objects."""
    if isinstance(described, str):
        return DTYPE.fullmatch(described) is not None
    if type(described) is not list or not described:
        return False
    for each in described:
        if type(each) is not tuple or len(each) not in (2, 3):
            return False
        name, inner, *shape = each
        titled = type(name) is tuple and len(name) == 2 and all(type(part) is str for part in name)
        if not (type(name) is str or titled) or not is_described(inner) or not all(map(is_shape, shape)):
            return False
    return True


def is_shape(shape: object) -> bool:
    """Return whether a value is the shape of an array."""
    return type(shape) is tuple and all(type(each) is int and 0 <= each < 1 << 63 for each in shape)


def slot_of(kind: type, name: str) -> Any | None:
    """Return the descriptor of the slot that an attribute lies in; None for one in the dict of an object."""
    found = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)
    return found if isinstance(found, MemberDescriptorType) else None


def dict_of(x: object) -> dict[str, Any]:
    """Return the attributes of an object that lie in no slots, without asking its class."""
    try:
        found: dict[str, Any] = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return found


def is_threading(part: tuple[Any, ...]) -> bool:
    """Return whether a value says which threads a context has, and no more of them than any machine."""
    if len(part) != 2 or type(part[1]) is not str:
        return False
    return part[0] is None or (type(part[0]) is int and 1 <= part[0] <= MOST_THREADS)


def check_members(dtype: np.dtype[Any], data: memoryview) -> None:
    """Refuse members of arrays that numpy never makes: truths that are neither 0 nor 1, and no characters."""
    if dtype.names is not None or not len(data):
        return
    if dtype.kind == "b" and np.frombuffer(data, np.uint8).max() > 1:
        raise ResultError("an array of truths has members that are neither")
    if dtype.kind == "U" and np.frombuffer(data, f"{dtype.str[0]}u4").max() > LAST_CHARACTER:
        raise ResultError("an array of texts has members that are no characters")
