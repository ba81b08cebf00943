"""Items and results as they travel, and lie in files: bytes without code, and the dataclasses that may be in them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from noren.cluster._errors import ClusterError, KindError, ResultError
from noren.cluster._hash import digest_of
from noren.cluster._program import parts_of_class
from noren.cluster._reader import Reader
from noren.cluster._values import Classes, NoClasses
from noren.cluster._writer import Writer

VALUE, REFUSED = b"\0", b"\1"
"""The first byte: what follows is a value, or the text of why there is none."""


class Known:
    """The dataclasses that this process has met in programs and items, by the digest of their code."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._digests: WeakKeyDictionary[type, bytes] = WeakKeyDictionary()
        self._classes: WeakValueDictionary[bytes, type] = WeakValueDictionary()

    def renew(self) -> None:
        """Look at the code of classes again: it may have been changed."""
        with self._lock:
            self._digests.clear()

    def add(self, kinds: Iterable[type]) -> list[tuple[bytes, type]]:
        """Take classes, and return them with their digests."""
        return [(self.digest(kind), kind) for kind in kinds]

    def digest(self, kind: type) -> bytes:
        """Return the digest of a class, which is known from here on.

        Raises `ClusterError` for a class that cannot be sent to workers.
        """
        with self._lock:
            found = self._digests.get(kind)
        if found is None:
            found = bytes.fromhex(digest_of(parts_of_class(kind)))
            with self._lock:
                self._digests[kind] = found
                self._classes[found] = kind
        return found

    def find(self, digest: bytes) -> type | None:
        """Return the class of a digest."""
        with self._lock:
            return self._classes.get(digest)


KNOWN = Known()


class Given:
    """The dataclasses that a task was given; they are made when the first is met."""

    def __init__(self, make: Callable[[], Iterable[tuple[bytes, type]]]) -> None:
        """Take what makes the classes, with their digests."""
        self._make = make

    @cached_property
    def _classes(self) -> dict[bytes, type]:
        return dict(self._make())

    def digest(self, kind: type) -> bytes | None:
        """Return the digest of a class; None if it was not given."""
        return next((digest for digest, each in self._classes.items() if each is kind), None)

    def find(self, digest: bytes) -> type | None:
        """Return the class of a digest."""
        return self._classes.get(digest)


class Noting:
    """Classes, and which of them were written."""

    def __init__(self, classes: Classes) -> None:
        """Take the classes."""
        self._classes = classes
        self.written: dict[type, bytes] = {}

    def digest(self, kind: type) -> bytes | None:
        """Return the digest of a class."""
        found = self._classes.digest(kind)
        if found is not None:
            self.written[kind] = found
        return found

    def find(self, digest: bytes) -> type | None:
        """Return the class of a digest."""
        return self._classes.find(digest)


def packed(value: object, classes: Classes = KNOWN) -> bytes:
    """Return an item or a result as bytes, which `unpacked` reads; of a path they have the digest of the file too.

    Of a value that does not travel they say so: `refusal` tells, and whoever unpacks them gets the error.

    Raises OSError for a path whose file cannot be read.
    """
    try:
        return VALUE + Writer(classes).packed(value)
    except OSError:
        raise
    except KindError as error:
        text = str(error)
    except ClusterError as error:
        # Of a class that cannot be sent.
        text = f"a dataclass does not travel: {error}"
    except Exception as error:
        text = f"a {type(value).__qualname__} does not travel ({type(error).__name__}: {error})"
    return REFUSED + Writer(NoClasses()).packed(text)


def refusal(data: bytes | memoryview) -> str | None:
    """Return why there is no value in what was packed; None if there is one."""
    contents = memoryview(data)
    if contents[:1] != REFUSED:
        return None
    text = Reader(contents[1:], NoClasses()).value()
    return text if isinstance(text, str) else "an item or a result does not travel"


def unpacked(data: Any, classes: Classes = KNOWN, *, check_files: bool = True) -> Any:
    """Return the value of `packed`; no code of the bytes, and none of the value, is run.

    check_files: whether the files of paths must have the contents that they had; a driver opens none that a worker
        names.

    Raises `KindError` for a value that does not travel, `ResultError` for bytes that are no value.
    """
    contents = memoryview(data)
    if (why := refusal(contents)) is not None:
        raise KindError(why)
    if contents[:1] != VALUE:
        raise ResultError("these bytes are no value of noren.cluster: they do not begin as one")
    return Reader(contents[1:], classes, check_files=check_files).value()
