"""Reads items and results from bytes of anybody, without running code of theirs; `_values` says how."""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from noren.cluster._errors import ClusterError, ResultError
from noren.cluster._frames import frame_of
from noren.cluster._hash import digest_of_file
from noren.cluster._kinds import PARAMETERS, READERS
from noren.cluster._values import (
    COUNT,
    DIRECT,
    MOST_BYTES,
    MOST_DEPTH,
    MOST_PARAMETERS,
    Classes,
    check_members,
    is_described,
    is_key,
    is_shape,
    is_threading,
    slot_of,
)


class Reader:
    """Reads one value from bytes of anybody."""

    def __init__(self, data: Any, classes: Classes, *, frozen: bool = False, check_files: bool = True) -> None:
        """Take the dataclasses that may be met.

        frozen: whether arrays are views of the bytes, which cannot be written to.
        check_files: whether the files of paths must be there, with the contents that they had.
        """
        self._data = memoryview(data)
        self._at = 0
        self._classes, self._frozen, self._check_files = classes, frozen, check_files
        self._met: list[Any] = []
        self._parameters: set[tuple[Any, ...]] = set()
        self._depth = 0

    def value(self) -> Any:
        """Return the value.

        Raises `ResultError` for bytes that are none, or of a class that is not known; `ClusterError` for other files.
        """
        if len(self._data) > MOST_BYTES:
            raise ResultError(f"{len(self._data)} bytes were read, a value has at most {MOST_BYTES}")
        try:
            found = self._value()
            if self._at != len(self._data):
                self._wrong(f"{len(self._data) - self._at} bytes are left after its end")
        except (ClusterError, MemoryError):
            raise
        except Exception as error:
            # Readers of noren and numpy say what does not fit; nothing else ran.
            raise ResultError(f"these bytes are no value of noren.cluster ({type(error).__name__}: {error})") from error
        return found

    def _wrong(self, what: str) -> NoReturn:
        raise ResultError(f"these bytes are no value of noren.cluster: {what}")

    def _take(self, count: int) -> memoryview:
        if count > len(self._data) - self._at:
            self._wrong(f"{count} bytes are said to follow, and {len(self._data) - self._at} do")
        self._at += count
        return self._data[self._at - count : self._at]

    def _count(self, size: int = 1) -> int:
        """Return a number of parts, each of which takes at least this number of bytes."""
        [count] = COUNT.unpack(self._take(COUNT.size))
        if count * size > len(self._data) - self._at:
            self._wrong(f"{count} parts are said to follow, and {len(self._data) - self._at} bytes do")
        found: int = count
        return found

    def _of(self, kind: type, what: str) -> Any:
        """Return the next value, which must be of this type."""
        found = self._value()
        if type(found) is not kind:
            self._wrong(f"{what} is a {type(found).__name__}")
        return found

    def _value(self) -> Any:
        tag = bytes(self._take(1))
        plain = {b"N": None, b"T": True, b"F": False}
        if tag in plain:
            return plain[tag]
        if tag in ATOMS:
            return ATOMS[tag](self)
        if tag == b"R":
            number = COUNT.unpack(self._take(COUNT.size))[0]
            if number >= len(self._met):
                self._wrong(f"value {number} is referred to, and {len(self._met)} were read")
            return self._met[number]
        if tag not in WHOLES:
            self._wrong(f"the tag {tag!r} stands for no kind")
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._wrong(f"containers are nested more than {MOST_DEPTH} deep")
        found = WHOLES[tag](self)
        self._depth -= 1
        self._met.append(found)
        return found

    def _int(self) -> int:
        return int.from_bytes(self._take(self._count()), "little", signed=True)

    def _text(self) -> str:
        return str(self._take(self._count()), "utf-8", "surrogatepass")

    def _range(self) -> range:
        return range(*(self._of(int, "a bound of a range") for _ in range(3)))

    def _path(self) -> Path:
        path, digest = Path(self._of(str, "a path")), self._of(bytes, "a digest")
        if self._check_files and digest_of_file(path) != digest:
            raise ClusterError(f"{path} has other contents here than at the driver: use files that all nodes share")
        return path

    def _scalar(self) -> Any:
        array = self._array()
        if array.shape:
            self._wrong(f"a scalar has the shape {array.shape}")
        return array[()]

    def _list(self) -> list[Any]:
        return [self._value() for _ in range(self._count())]

    def _numbers(self) -> tuple[Any, ...]:
        letter = {code: letter for code, letter in DIRECT.values()}[bytes(self._take(1))]
        count = self._count(8)
        return struct.unpack(f"<{count}{letter}", self._take(8 * count))

    def _keys(self) -> list[Any]:
        return [self._key() for _ in range(self._count())]

    def _key(self) -> Any:
        tag = bytes(self._data[self._at : self._at + 1])
        if tag not in KEYS:
            found = self._value()
            if tag == b"R" or not is_key(found):
                self._wrong(f"a {type(found).__name__} is a key")
            return found
        self._at += 1
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._wrong(f"containers are nested more than {MOST_DEPTH} deep")
        found = KEYS[tag](self)
        self._depth -= 1
        return found

    def _members(self, make: Callable[[Iterable[Any]], Any]) -> Any:
        members = self._keys()
        found = make(members)
        if len(found) != len(members):
            self._wrong("a set has a member twice")
        return found

    def _dict(self) -> dict[Any, Any]:
        count = self._count(2)
        found: dict[Any, Any] = {}
        for _ in range(count):
            key = self._key()
            found[key] = self._value()
        if len(found) != count:
            self._wrong("a dict has a key twice")
        return found

    def _parts(self) -> tuple[Any, ...]:
        if bytes(self._take(1)) != b"(":
            self._wrong("parts are missing")
        return tuple(self._value() for _ in range(self._count()))

    def _array(self) -> Any:
        described, fortran, *dimensions = self._parts()
        shape = tuple(dimensions)
        if not is_described(described) or not is_shape(shape) or type(fortran) is not bool:
            self._wrong("an array has another type or shape than arrays have")
        dtype = np.lib.format.descr_to_dtype(described)
        data = self._take(self._count())
        if dtype.hasobject or not dtype.itemsize or math.prod(shape) * dtype.itemsize != len(data):
            self._wrong(f"an array of type {dtype} and shape {shape} has {len(data)} bytes")
        check_members(dtype, data)
        flat = np.frombuffer(data, dtype=dtype) if len(data) else np.zeros(0, dtype)
        found = flat.reshape(shape, order="F" if fortran else "C")
        return found if self._frozen else found.copy(order="K")

    def _object(self) -> Any:
        name = self._of(str, "the name of a class")
        if name not in READERS:
            self._wrong(f"{name} is no class of noren that travels")
        parts = self._parts()
        for each in parts:
            if type(each) is tuple and not is_threading(each):
                self._wrong(f"{name} has threads {each}")
        if name in PARAMETERS:
            self._parameters.add(parts)
            if len(self._parameters) > MOST_PARAMETERS:
                self._wrong(f"more than {MOST_PARAMETERS} different parameters are in it")
        return READERS[name][1](*parts)

    def _dataclass(self) -> Any:
        digest = bytes(self._take(32))
        kind = self._classes.find(digest)
        if kind is None:
            self._wrong(f"the dataclass of digest {digest.hex()[:16]} is none that the program or its items name")
        values = self._parts()
        names = [field.name for field in dataclasses.fields(kind)]
        if len(values) != len(names):
            self._wrong(f"{kind.__qualname__} has {len(names)} fields, and {len(values)} values follow")
        found: Any = object.__new__(kind)
        for name, each in zip(names, values, strict=True):
            slot = slot_of(kind, name)
            if slot is None:
                object.__getattribute__(found, "__dict__")[name] = each
            else:
                slot.__set__(found, each)
        return found

    def _table(self) -> Any:
        return frame_of(self._parts())


ATOMS: Mapping[bytes, Callable[[Reader], Any]] = {
    b"i": Reader._int,
    b"f": lambda reader: struct.unpack("<d", reader._take(8))[0],
    b"c": lambda reader: complex(*struct.unpack("<dd", reader._take(16))),
    b"s": Reader._text,
    b"b": lambda reader: bytes(reader._take(reader._count())),
    b"r": Reader._range,
    b"g": Reader._scalar,
    b"p": Reader._path,
}
WHOLES: Mapping[bytes, Callable[[Reader], Any]] = {
    b"l": Reader._list,
    b"t": lambda reader: tuple(reader._list()),
    b"L": lambda reader: list(reader._numbers()),
    b"U": Reader._numbers,
    b"d": Reader._dict,
    b"S": lambda reader: reader._members(set),
    b"Z": lambda reader: reader._members(frozenset),
    b"a": Reader._array,
    b"o": Reader._object,
    b"D": Reader._dataclass,
    b"P": Reader._table,
}
KEYS: Mapping[bytes, Callable[[Reader], Any]] = {
    b"k": lambda reader: tuple(reader._keys()),
    b"z": lambda reader: reader._members(frozenset),
}
