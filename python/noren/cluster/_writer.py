"""Writes items and results as bytes; `_values` says how."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from noren.cluster._errors import KindError
from noren.cluster._frames import parts_of_frame
from noren.cluster._hash import digest_of_file
from noren.cluster._kinds import NAMES, PARAMETERS
from noren.cluster._values import (
    COUNT,
    DIRECT,
    KINDS,
    MOST_BYTES,
    MOST_DEPTH,
    MOST_PARAMETERS,
    Classes,
    NoClasses,
    dict_of,
    is_described,
    is_key,
    slot_of,
)


class Writer:
    """Writes one value."""

    def __init__(self, classes: Classes) -> None:
        """Take the dataclasses that the reader will know."""
        self._classes = classes
        self._out: list[bytes | memoryview] = []
        self._size = 0
        self._depth = 0
        # By identity: the numbers of values that were written, None for those that are being written. All are kept, so
        # that none of another identity is taken for one of them.
        self._met: dict[int, int | None] = {}
        self._kept: list[object] = []
        self._numbered = 0
        self._parameters: set[tuple[Any, ...]] = set()

    def packed(self, value: object) -> bytes:
        """Return the bytes of a value.

        Raises `KindError` for what is of no kind that travels.
        """
        self._value(value)
        return b"".join(self._out)

    def _add(self, *parts: bytes | memoryview) -> None:
        for part in parts:
            self._out.append(part)
            self._size += len(part)
        if self._size > MOST_BYTES:
            raise KindError(f"an item or a result has more than {MOST_BYTES} bytes: give it in parts, or in a file")

    def _sized(self, tag: bytes, data: bytes | memoryview) -> None:
        self._add(tag, COUNT.pack(len(data)), data)

    def _value(self, x: Any) -> None:
        kind = type(x)
        if x is None or kind is bool:
            self._add({None: b"N", True: b"T", False: b"F"}[x])
        elif kind is int:
            self._sized(b"i", x.to_bytes(x.bit_length() // 8 + 1, "little", signed=True))
        elif kind is float:
            self._add(b"f", struct.pack("<d", x))
        elif kind is complex:
            self._add(b"c", struct.pack("<dd", x.real, x.imag))
        elif kind is str:
            self._sized(b"s", x.encode("utf-8", "surrogatepass"))
        elif kind is bytes:
            self._sized(b"b", x)
        elif kind is range:
            self._add(b"r")
            for each in (x.start, x.stop, x.step):
                self._value(each)
        elif isinstance(x, np.generic) and kind is x.dtype.type:
            self._array(b"g", np.asarray(x))
        elif isinstance(x, Path):
            # Workers have another working directory.
            path = x.absolute()
            self._add(b"p")
            self._value(str(path))
            self._value(digest_of_file(path))
        else:
            self._once(x)

    def _once(self, x: Any) -> None:
        """Write a value, or a reference to where it was written."""
        number = self._met.get(id(x), -1)
        if number is None:
            raise KindError(f"a {type(x).__name__} holds itself, and such a value does not travel")
        if number >= 0:
            self._add(b"R", COUNT.pack(number))
            return
        self._met[id(x)] = None
        self._kept.append(x)
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise KindError(f"containers are nested more than {MOST_DEPTH} deep")
        self._whole(x)
        self._depth -= 1
        self._met[id(x)] = self._numbered
        self._numbered += 1

    def _whole(self, x: Any) -> None:
        kind = type(x)
        if kind in (list, tuple):
            self._sequence(b"l" if kind is list else b"t", x)
        elif kind is dict:
            self._add(b"d", COUNT.pack(len(x)))
            for key, each in x.items():
                self._key(key)
                self._value(each)
        elif kind in (set, frozenset):
            # In the order of their bytes: that of a set differs between processes.
            members = sorted(self._member(each) for each in x)
            self._add(b"S" if kind is set else b"Z", COUNT.pack(len(members)), *members)
        elif kind is np.ndarray or kind is np.memmap:
            self._array(b"a", x)
        elif kind in NAMES:
            parts = x.__reduce__()[1]
            if NAMES[kind] in PARAMETERS:
                self._parameters.add(parts)
                if len(self._parameters) > MOST_PARAMETERS:
                    raise KindError(f"an item or a result has more than {MOST_PARAMETERS} different parameters")
            self._add(b"o")
            self._value(NAMES[kind])
            self._parts(parts)
        elif dataclasses.is_dataclass(x) and not isinstance(x, type):
            self._dataclass(x)
        elif (table := parts_of_frame(x)) is not None:
            self._add(b"P")
            self._parts(table)
        else:
            _refuse(x)

    def _parts(self, parts: tuple[Any, ...]) -> None:
        """Write a tuple that was made for this: what it holds is kept, and it is no value of its own."""
        self._kept.append(parts)
        self._add(b"(", COUNT.pack(len(parts)))
        for each in parts:
            self._value(each)

    def _sequence(self, tag: bytes, x: Any) -> None:
        kind = type(x[0]) if x else None
        if kind in DIRECT and all(type(each) is kind for each in x):
            code, letter = DIRECT[kind]
            try:
                numbers = struct.pack(f"<{len(x)}{letter}", *x)
            except struct.error:
                # Integers of more than 64 bits.
                pass
            else:
                self._add(b"L" if tag == b"l" else b"U", code, COUNT.pack(len(x)), numbers)
                return
        self._add(tag, COUNT.pack(len(x)))
        for each in x:
            self._value(each)

    def _member(self, x: Any) -> bytes:
        """Return the bytes of a member of a set by itself."""
        writer = Writer(NoClasses())
        writer._depth = self._depth
        writer._key(x)
        return b"".join(writer._out)

    def _key(self, x: Any) -> None:
        if not is_key(x):
            raise KindError(
                f"a {type(x).__qualname__} is a key of a dict or a member of a set; these are numbers, texts, bytes, "
                "and tuples and frozensets of them"
            )
        if type(x) is tuple:
            # By its contents alone: equal keys are equal bytes.
            self._add(b"k", COUNT.pack(len(x)))
            for each in x:
                self._key(each)
        elif type(x) is frozenset:
            members = sorted(self._member(each) for each in x)
            self._add(b"z", COUNT.pack(len(members)), *members)
        else:
            self._value(x)

    def _array(self, tag: bytes, x: Any) -> None:
        array = np.asarray(x)
        dtype = array.dtype
        # By its contents: arrays of one type share parts of its description, and those that are read do not.
        described = dtype.str if dtype.names is None else _copied(np.lib.format.dtype_to_descr(dtype))
        if dtype.hasobject or not dtype.itemsize or not is_described(described):
            raise KindError(f"an array has the type {dtype}: arrays that travel hold numbers, texts and times")
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        self._add(tag)
        self._parts((described, bool(fortran), *array.shape))
        data = np.ascontiguousarray(array.T if fortran else array)
        self._sized(b"", data.reshape(-1).view(np.uint8).data if data.size else b"")

    def _dataclass(self, x: Any) -> None:
        kind = type(x)
        values = _fields(x)
        digest = self._classes.digest(kind)
        if digest is None:
            raise KindError(
                f"the dataclass {kind.__module__}.{kind.__qualname__} is none that the program names: say what it "
                f"returns (`-> {kind.__name__}`), so that the driver knows the class"
            )
        self._add(b"D", digest)
        self._parts(values)


def _copied(x: Any) -> Any:
    """Return lists and tuples of their own."""
    return type(x)([_copied(each) for each in x]) if isinstance(x, list | tuple) else x


def _refuse(x: object) -> NoReturn:
    """Refuse a value by its type."""
    kind = type(x)
    raise KindError(f"a {kind.__module__}.{kind.__qualname__} does not travel: items and results are {KINDS}")


def _fields(x: Any) -> tuple[Any, ...]:
    """Return the values of the fields of a dataclass.

    Raises `KindError` for an object that is more than its fields: what is beside them would be lost.
    """
    kind = type(x)
    name = f"{kind.__module__}.{kind.__qualname__}"
    names = [field.name for field in dataclasses.fields(x)]
    try:
        object.__new__(kind)
    except TypeError as error:
        raise KindError(f"the dataclass {name} is also of another kind, which does not travel: {error}") from error
    extra = [each for each in dict_of(x) if each not in names]
    if extra:
        raise KindError(f"an object of the dataclass {name} has {extra[0]}, which is no field, and would be lost")
    try:
        return tuple(_field(x, each) for each in names)
    except (AttributeError, KeyError) as error:
        raise KindError(f"an object of the dataclass {name} lacks the field {error}") from error


def _field(x: Any, name: str) -> Any:
    """Return a field as it is kept, without properties."""
    slot = slot_of(type(x), name)
    return dict_of(x)[name] if slot is None else slot.__get__(x)
