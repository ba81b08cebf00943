"""Tasks, as they run in the worker processes of a node."""

from __future__ import annotations

import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import ray
from numpy.typing import NDArray
from ray import cloudpickle

from noren.cluster._digest import packed, unpacked
from noren.cluster._errors import ClusterError
from noren.cluster._keys import CHUNK, KeyDirectory, KeyFile, Placement, open_keys
from noren.cluster._store import ResultStore

Bytes = NDArray[np.uint8]
T = TypeVar("T")

KEPT = 8
"""Programs that a worker keeps, and sets of keys."""


@dataclass(frozen=True)
class Keys:
    """The keys of a cluster by their names, where they lie on a node, and who has them."""

    files: tuple[tuple[str, KeyFile], ...]
    near: tuple[str, ...]
    """Paths of the compact files, on nodes that see them."""
    directory: Path
    source: Any
    """The actor that has the compact files."""

    @property
    def digest(self) -> str:
        """What names the keys, and the schemes that they are used in."""
        return repr([(name, file.digest, file.scheme) for name, file in self.files])


@dataclass(frozen=True)
class Job:
    """What all tasks of a job share."""

    digest: str
    program: bytes
    """A callable of the evaluator and an item, or of the evaluator and two results."""
    keys: Keys
    results: Path | None


@dataclass(frozen=True)
class Head:
    """How a task ended; its result lies in an object of its own, or in a file."""

    stored: bool = False
    nbytes: int = 0
    seconds: float = 0.0
    """The time of the program alone."""
    error: str | None = None
    traceback: str = ""
    node: str = ""
    fatal: bool = False
    """Whether the error would end every other task too."""


class KeySource:
    """An actor on the driver's node: hands out the files of keys in parts, which nodes then get from each other."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Take the paths of compact files by their digests."""
        self._files = files
        self._parts: dict[tuple[str, int], Any] = {}

    def part(self, digest: str, offset: int) -> list[Any]:
        """Return the reference of a part."""
        if (digest, offset) not in self._parts:
            with Path(self._files[digest]).open("rb") as file:
                file.seek(offset)
                self._parts[digest, offset] = ray.put(np.frombuffer(file.read(CHUNK), dtype=np.uint8))
        return [self._parts[digest, offset]]

    def forget(self) -> None:
        """Drop all parts, once every node has them."""
        self._parts.clear()


def place(keys: Keys) -> list[Placement]:
    """See that all keys are on this node."""
    directory = KeyDirectory(keys.directory)
    return [
        directory.place(file, partial(_fetched, keys.source, file.digest), Path(near))
        for (_, file), near in zip(keys.files, keys.near, strict=True)
    ]


def _fetched(source: Any, digest: str, offset: int) -> bytes:
    [part] = ray.get(source.part.remote(digest, offset))
    return bytes(ray.get(part))


class _Cache(Generic[T]):
    """The values that were used last."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str, make: Callable[[], T]) -> T:
        if key not in self._values:
            self._values[key] = make()
            if len(self._values) > KEPT:
                self._values.popitem(last=False)
        self._values.move_to_end(key)
        return self._values[key]


_JOBS: _Cache[Job] = _Cache()
_PROGRAMS: _Cache[Callable[..., Any]] = _Cache()
_EVALUATORS: _Cache[Any] = _Cache()


def _evaluator(keys: Keys) -> Any:
    """Return the evaluator of the keys; with names, of each of them."""
    directory = KeyDirectory(keys.directory)
    if not all(directory.mapped(file).exists() for _, file in keys.files):
        # A node that came later.
        place(keys)
    found = {name: open_keys(keys.directory, file) for name, file in keys.files}
    return found.get("", found)


def run(job: tuple[str, list[Any]], digest: str, combine: bool, *inputs: Bytes | str) -> tuple[Head, Bytes | None]:
    """Run a program on an item, or combine results from the first to the last; nothing that it raises leaves here.

    job: a name of this run of it, and the reference of a `Job`. inputs: items or results as bytes, or the digests of
    results that lie in files.
    """
    name, [reference] = job
    node = ray.get_runtime_context().get_node_id()
    try:
        shared = _JOBS.get(name, lambda: ray.get(reference))
        store = ResultStore(shared.results) if shared.results is not None else None
        evaluator = _EVALUATORS.get(shared.keys.digest, lambda: _evaluator(shared.keys))
        program = _PROGRAMS.get(shared.digest, lambda: cloudpickle.loads(shared.program))
        values = [unpacked(_read(store, each) if isinstance(each, str) else each) for each in inputs]
    except Exception as error:
        return _failed(error, node, fatal=isinstance(error, ClusterError)), None
    start = time.perf_counter()
    try:
        result = values[0]
        if combine:
            for value in values[1:]:
                result = program(evaluator, result, value)
        else:
            result = program(evaluator, result)
        del values
    except Exception as error:
        return _failed(error, node, fatal=False), None
    seconds = time.perf_counter() - start
    try:
        contents = packed(result)
        del result
        if store is None:
            return Head(False, len(contents), seconds, node=node), np.frombuffer(contents, dtype=np.uint8)
        store.write(digest, contents)
        return Head(True, len(contents), seconds, node=node), None
    except Exception as error:
        return _failed(error, node, fatal=isinstance(error, ClusterError)), None


def _read(store: ResultStore | None, digest: str) -> bytes:
    assert store is not None, "digests name results in files"
    return store.read(digest)


def _failed(error: Exception, node: str, *, fatal: bool) -> Head:
    text = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
    return Head(error=text.removeprefix("builtins."), traceback=traceback.format_exc(), node=node, fatal=fatal)
