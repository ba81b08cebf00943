"""Changed files of every kind, read and used by the tool and by Python.

A file is changed as `mutate` draws it. Three in ten keep the old digest: every reader must refuse them. The others get
the digest of what they hold, as a forger would make it: then numbers may be wrong, but nothing may crash, hang, or take
memory out of proportion.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz_api import reading
from fuzz_api.container import is_container, kind, with_digest
from fuzz_api.draw import Rng, chance
from fuzz_api.mutate import mutate
from fuzz_api.program import Call, Verb
from fuzz_api.readers import READERS
from fuzz_api.reading import Reader
from fuzz_api.samples import OWNERS, samples
from fuzz_api.verdict import REFUSE, Finding
from noren import Error

MEMORY = 1 << 30
"""Bytes that a call may take beyond what the process had: files are below 30 MB, and so is what is made of them."""


NAMES = sorted({name for reader in READERS for name in reader.takes})


class World:
    """A changed file in a directory of its own."""

    def __init__(self, rng: Rng) -> None:
        good = samples(0).files
        name = NAMES[int(rng.integers(len(NAMES)))]
        change, data = drawn(rng, name, good[name])
        forged, stale = change not in ("none", "other") and is_container(good[name]), chance(rng, 0.3)
        if forged and not stale and is_container(data):
            data = with_digest(data)
        way = ("bytes", "file", "pickle")[int(rng.integers(3))]
        self._place(name, data, way, stale=forged and stale and data != good[name])
        digest = "old digest" if self.stale else "digest of what it holds"
        sizes = f"{len(good[name])} bytes, changed ({change}) to {len(data)}"
        self.text = [f"# {name}, {sizes}, {digest}, as {way}"]
        self.about = [f"file {name}", f"change {change}", digest if is_container(good[name]) else "no digest"]

    def _place(self, name: str, data: bytes, way: str, *, stale: bool) -> None:
        """Put the file into a directory of its own."""
        self.pessimism, self.good, self.outputs = 0, samples(0), 0
        self.name, self.data, self.way, self.stale = name, data, way, stale
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)
        self.path = self.folder / name
        self.path.write_bytes(data)

    @classmethod
    def of(cls, name: str, data: bytes, way: str = "file") -> World:
        """Return the world of this file."""
        world = cls.__new__(cls)
        world._place(name, data, way, stale=False)
        return world

    def output(self, ending: str) -> Path:
        """Return the name of a file that is not there."""
        self.outputs += 1
        return self.folder / f"out{self.outputs}-{os.getpid()}{ending}"

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Check nothing: calls have checks of their own."""
        return 0.0


def drawn(rng: Rng, name: str, data: bytes) -> tuple[str, bytes]:
    """Return the change, and the changed file."""
    draw = float(rng.random())
    if draw < 0.04:
        return "none", data
    owner = int(rng.integers(OWNERS))
    if draw < 0.1:
        return "other", samples(max(1, owner)).files[name]
    files = samples(owner).files
    same = [one for one in files if kind(files[one]) == kind(data)] if chance(rng, 0.6) else list(files)
    return mutate(rng, data, files[same[int(rng.integers(len(same)))]])


def verb(reader: Reader) -> Verb:
    """Return the call of a reader, for the files that it takes."""

    def make(w: World, rng: Rng) -> Call | None:
        if w.name not in reader.takes and not chance(rng, 0.01):
            return None

        def run() -> Any:
            return watched(w, lambda: reader.run(w))

        truth = REFUSE if w.stale and reader.checks and w.name in reader.takes else None
        return Call(f"{reader.name} of {w.name}", run, truth, check=lambda found, truth: 0.0)

    return Verb(reader.name, make)


def watched(w: World, run: Callable[[], Any]) -> Any:
    """Run a call; it must take no memory out of proportion, keep its inputs, and leave no file where it is refused."""
    before, inputs, outputs = memory(), entries(w.folder), w.outputs
    state = w.path.stat()
    try:
        return run()
    except Error:
        # A run that was interrupted while it was started may end later, and leave its output.
        earlier = tuple(f"out{number}-" for number in range(1, outputs + 1))
        left = {name for name in entries(w.folder) - inputs if not name.endswith(reading.SAVED)}
        if left := {name for name in left if not name.startswith(earlier)}:
            raise Finding("output", f"refused, but there are {sorted(left)}") from None
        raise
    finally:
        for name, old, new in zip(("this process", "the tool"), before, memory(), strict=True):
            if new - old > MEMORY:
                raise Finding("memory", f"{name} took {(new - old) >> 20} MiB for a file of {len(w.data)} bytes")
        now = w.path.stat()
        if (now.st_mtime_ns, now.st_size, now.st_ino) != (state.st_mtime_ns, state.st_size, state.st_ino):
            raise Finding("input", f"{w.name} was changed")


def entries(folder: Path) -> set[str]:
    """Return the names in a directory, at any depth."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def memory() -> tuple[int, int]:
    """Return the most memory, in bytes, that this process and that its children have held."""
    return (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10,
    )


VERBS: list[Verb] = [verb(reader) for reader in READERS]
