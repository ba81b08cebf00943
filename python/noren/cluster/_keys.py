"""Keys on a node: one file, which all processes of the node map."""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from noren._noren import WireError, __version__, header_of
from noren.cluster._errors import ClusterError
from noren.cluster._hash import digest_of
from noren.cluster._kinds import KINDS, OF_FUNCTIONS, KeyKind, kind_of_function
from noren.cluster._store import check_owner, check_room, remove_old

CHUNK = 1 << 25
"""Bytes of a key file that travel at once."""
GROWTH = 4
"""The largest ratio of an expanded file to the file that it is made from."""


def default_directory() -> Path:
    """Return where keys lie on a node, if no other place is named."""
    return Path(tempfile.gettempdir()) / f"noren-keys-{os.geteuid()}"


@dataclass(frozen=True)
class KeyFile:
    """A file of keys as it travels: its header, which has a digest of all of it, and its length."""

    header: bytes
    name: str
    """What the keys are."""
    digest: str
    """The digest of the file, which names the keys on every node."""
    length: int
    security: int
    """The bits of security that its parameters must promise."""
    scheme: str | None
    """The scheme or mode to evaluate in, where the keys serve several."""
    function: bytes | None = None
    """The compiled function that they serve; None for keys that serve any program."""

    @property
    def kind(self) -> KeyKind:
        """How they are expanded, and what evaluates with them."""
        return KINDS[self.name] if self.function is None else kind_of_function(self.name, self.function)

    @property
    def use(self) -> str | None:
        """What they are used for: a scheme, a mode, or the digest of a function."""
        return self.scheme if self.function is None else digest_of(self.function)

    @staticmethod
    def of(path: Path, security: int, scheme: str | None, function: bytes | None = None) -> KeyFile:
        """Describe a file of keys; of its contents the header alone is read.

        Raises `ClusterError` if there is none, if it holds something else, such as expanded keys, which are for the
        machine that made them, or for a scheme that it does not serve.
        """
        try:
            found, length = header_of(path), path.stat().st_size
        except OSError as error:
            raise ClusterError(f"the key file {path} cannot be read: {error.strerror}") from error
        if found is None:
            raise ClusterError(f"{path} is no file of noren: give evaluation keys, or a file that holds them")
        header, name, digest, stated = found
        if name == OF_FUNCTIONS and function is None:
            raise ClusterError(f"{path} holds {name}, which were given without it: name it as function=")
        if name not in KINDS and name != OF_FUNCTIONS:
            names = ", ".join((*KINDS, OF_FUNCTIONS))
            raise ClusterError(f"{path} holds {name}, needed are keys that travel and do not decrypt: {names}")
        if scheme is not None and function is not None:
            raise ClusterError(f"{name} were given scheme={scheme!r}, and a compiled function, which has its own")
        if scheme is not None and scheme not in KINDS[name].choices:
            choices = " or ".join(repr(each) for each in KINDS[name].choices) or "no scheme"
            raise ClusterError(f"{name} were given scheme={scheme!r}, they take {choices}")
        if stated != length:
            raise ClusterError(f"the key file {path} has {length} bytes, and {stated} by its header: copy it again")
        return KeyFile(header, name, digest, length, security, scheme, function)


class KeyDirectory:
    """The keys of a node, in a directory of its user."""

    def __init__(self, directory: Path) -> None:
        """Make the directory.

        Raises `ResultError` if others than its owner can write to it: expanded keys are believed.
        """
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_owner(directory)
        remove_old(directory, ".*.given")

    def mapped(self, keys: KeyFile) -> Path:
        """Return the expanded file of keys; its name has the version, as its layout belongs to it."""
        return self.directory / f"{keys.digest}-{__version__}.{keys.kind.suffix}"

    def compact(self, digest: str) -> Path:
        """Return the file of keys as it travels."""
        return self.directory / f"{digest}.keys"

    def add(self, save: Callable[[Path], object]) -> Path:
        """Put a compact file there that `save` writes, for the caller alone to remove."""
        path = self.directory / f".{secrets.token_hex(8)}.given"
        try:
            save(path)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise ClusterError(f"the keys cannot be written to {self.directory}: {error.strerror or error}") from error
        return path

    def place(self, keys: KeyFile, fetch: Callable[[int], bytes], near: Path | None) -> Placement:
        """See that the expanded file of keys is there, and whole.

        `near` is a compact file of them if the node has one. Else the parts of one come from `fetch`, from a number of
        bytes on; one that was cut off goes on where it was. One process of a node does this, the others wait.
        """
        mapped = self.mapped(keys)
        with self._locked(keys):
            fetched = 0
            if mapped.exists():
                try:
                    keys.kind.map(mapped, True, keys.security)
                    return Placement(fetched, mapped.stat().st_size)
                except WireError:
                    mapped.unlink()
            compact = near if near is not None and _is_same(near, keys) else self.compact(keys.digest)
            if not _is_same(compact, keys):
                fetched = self._fetch(keys, fetch)
            try:
                keys.kind.expand(compact, mapped, keys.security)
                # Refuses parameters that promise too little.
                keys.kind.map(mapped, False, keys.security)
            finally:
                # A copy that was damaged is of no use to a second try.
                if compact != near:
                    compact.unlink()
            return Placement(fetched, mapped.stat().st_size)

    def _fetch(self, keys: KeyFile, fetch: Callable[[int], bytes]) -> int:
        """Copy the compact file of keys; returns the bytes that came."""
        whole = self.compact(keys.digest)
        partial = whole.with_suffix(".part")
        with partial.open("ab") as file:
            start = file.tell() // CHUNK * CHUNK
            file.truncate(start)
            check_room(self.directory, (1 + GROWTH) * keys.length - start, "a copy of the keys and its expanded file")
            for offset in range(start, keys.length, CHUNK):
                file.write(fetch(offset))
            file.flush()
            os.fsync(file.fileno())
            if file.tell() != keys.length:
                raise ClusterError(f"{file.tell()} bytes of the keys came, {keys.length} were expected: start again")
        partial.replace(whole)
        return keys.length - start

    def remove(self, keys: KeyFile) -> None:
        """Remove the files of keys that the node has made."""
        with self._locked(keys):
            for path in (self.mapped(keys), self.compact(keys.digest), self.compact(keys.digest).with_suffix(".part")):
                path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, keys: KeyFile) -> Iterator[None]:
        """Hold the lock of keys, which the system gives back when its process ends."""
        with (self.directory / f"{keys.digest}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


@dataclass(frozen=True)
class Placement:
    """What placing keys took."""

    fetched: int
    """Bytes that came from another node."""
    mapped: int
    """Bytes of the expanded file."""


def check_function(directory: KeyDirectory, keys: KeyFile, path: Path) -> None:
    """Refuse the file of keys at a path that are not those of their compiled function, by its server.

    Their expanded file is in the directory then. Raises what reading keys and making the server raise.
    """
    if keys.function is not None:
        directory.place(keys, partial(_changed, path), path)
        open_keys(directory.directory, keys)


def _changed(path: Path, _: int) -> bytes:
    raise ClusterError(f"the key file {path} was changed while it was read")


def open_keys(directory: Path, keys: KeyFile) -> Callable[[], Any]:
    """Return what makes the object that a program evaluates with, from keys that were placed on this node."""
    found = keys.kind.map(KeyDirectory(directory).mapped(keys), False, keys.security)
    return keys.kind.evaluators(found, keys.scheme)


def _is_same(path: Path, keys: KeyFile) -> bool:
    """Return whether a compact file has the header of keys, and their length."""
    try:
        found = header_of(path)
        return found is not None and found[0] == keys.header and path.stat().st_size == keys.length
    except OSError:
        return False
