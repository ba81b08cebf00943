"""Results in files, by the digest of the task, which they name: written as a whole or not at all, checked when read.

The digest of a file finds damage, and files that were exchanged; whoever can write to the directory can write a result
of any task, but nothing that runs when it is read (`_values`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from noren.cluster._errors import ClusterError, ResultError
from noren.cluster._values import MOST_BYTES

MAGIC = b"NORENRES"
SHA = 32
LENGTH = 8
PATIENCE = 60.0
"""Seconds until a file that was written must be seen on all nodes."""
OLD = 3600.0
"""Seconds after which nobody is writing a file any more."""
HEAD = len(MAGIC) + SHA + LENGTH
"""Bytes of a file that say what it is: mark, digest of the task, length of the contents."""
FRAME = HEAD + SHA
"""Bytes of a file before its contents: those, and the SHA-256 of them and of the contents."""


@dataclass(frozen=True)
class Mark:
    """A file of a directory, and its contents, which no other directory has."""

    path: Path
    text: str

    def is_seen(self) -> bool:
        """Return whether this machine sees the directory."""
        try:
            return self.path.read_text() == self.text
        except OSError:
            return False


class ResultStore:
    """A directory of results that all nodes see. What its files say is believed: it must be its user's alone."""

    def __init__(self, directory: Path) -> None:
        """Name the directory, which `prepare` makes."""
        self.directory = directory

    def prepare(self) -> None:
        """Make the directory.

        Raises `ResultError` if others than its owner can write to it.
        """
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_owner(self.directory)
        # What was being written when its process ended.
        remove_old(self.directory, "??/.*-*")

    def mark(self) -> Mark:
        """Return the mark of the directory, by which a node finds out whether it sees the same one."""
        path = self.directory / ".directory"
        with contextlib.suppress(FileExistsError), path.open("x") as file:
            file.write(secrets.token_hex(16))
        # Another driver may be writing it, or has ended before it did.
        deadline = time.monotonic() + PATIENCE
        while not (text := path.read_text()):
            if time.monotonic() > deadline:
                path.write_text(secrets.token_hex(16))
            time.sleep(0.01)
        return Mark(path, text)

    def path(self, digest: str) -> Path:
        """Return the file of a result."""
        return self.directory / digest[:2] / digest

    def has(self, digest: str) -> bool:
        """Return whether a result is there, of this task and as long as it says itself."""
        try:
            with self.path(digest).open("rb") as file:
                frame = file.read(FRAME)
                length = os.fstat(file.fileno()).st_size - FRAME
        except FileNotFoundError:
            return False
        return len(frame) == FRAME and frame[:HEAD] == _head(digest, length)

    def write(self, digest: str, contents: bytes) -> None:
        """Write a result under a hidden name, and put it in its place once all of it is on the disk.

        Raises `ResultError` if the disk has no room, or refuses it.
        """
        path = self.path(digest)
        partial = path.with_name(f".{digest}-{secrets.token_hex(8)}")
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
            with partial.open("xb") as file:
                file.write(_frame(digest, contents))
                file.write(contents)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except OSError as error:
            raise ResultError(
                f"a result of {len(contents)} bytes cannot be written to {self.directory} ({error.strerror}): mend "
                "that, and start the job again, which goes on where it was"
            ) from error
        finally:
            partial.unlink(missing_ok=True)

    def read(self, digest: str) -> bytes:
        """Return a result.

        Raises `ResultError` for a file that was damaged, or is of another task, and sets it aside, so that a job that
        is started again makes it again.
        """
        path = self.path(digest)
        data = self._awaited(path)
        contents = data[FRAME:]
        if data[:FRAME] == _frame(digest, contents):
            return contents
        whole = data.startswith(MAGIC) and data[:FRAME] == _frame(data[len(MAGIC) :][:SHA].hex(), contents)
        what = "is of another task" if whole else "is damaged"
        aside = path.with_name(f"{digest}.damaged")
        # Another reader may have been faster.
        with contextlib.suppress(FileNotFoundError):
            path.replace(aside)
        raise ResultError(f"{path} {what} and was renamed to {aside.name}: start the job again to make it again")

    def _awaited(self, path: Path) -> bytes:
        """Return the contents of a file that another node has written; network file systems show it late."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with path.open("rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    if size > MOST_BYTES + FRAME:
                        raise ResultError(f"{path} has {size} bytes, a result has at most {MOST_BYTES}: remove it")
                    return file.read(size + 1)
            except FileNotFoundError as error:
                if time.monotonic() > deadline:
                    raise ResultError(
                        f"{path} was written and is not seen here after {PATIENCE:.0f} seconds: start the job again"
                    ) from error
                # Has the client of a network file system look again.
                with contextlib.suppress(OSError):
                    list(path.parent.iterdir())
                time.sleep(0.2)


def _head(digest: str, length: int) -> bytes:
    """Return what says of which task a result is, and how long."""
    return MAGIC + bytes.fromhex(digest) + max(length, 0).to_bytes(LENGTH, "little")


def _frame(digest: str, contents: bytes) -> bytes:
    """Return what stands before contents."""
    head = _head(digest, len(contents))
    state = hashlib.sha256(head)
    state.update(contents)
    return head + state.digest()


def remove_old(directory: Path, pattern: str) -> None:
    """Remove files that nobody is writing any more; others may remove them at the same time."""
    for leftover in directory.glob(pattern):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > OLD:
                leftover.unlink()


def check_owner(directory: Path) -> None:
    """Refuse a directory that others than its user can write to: its files are believed."""
    status = directory.stat()
    if status.st_uid != os.geteuid():
        raise ResultError(
            f"{directory} belongs to user {status.st_uid}, not to {os.geteuid()}: choose another directory"
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ResultError(f"others can write to {directory}: `chmod go-w` it, or choose another directory")


def check_room(directory: Path, needed: int, what: str) -> None:
    """Refuse what has no room on the disk of a directory."""
    free = os.statvfs(directory)
    found = free.f_bavail * free.f_frsize
    if found < needed:
        raise ClusterError(
            f"{what} needs {needed} bytes in {directory}, {found} are free: make room, or choose another"
        )
