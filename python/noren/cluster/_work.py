"""Tasks, as they run in the worker processes of a node."""

from __future__ import annotations

import sys
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

from noren._noren import __version__
from noren.cluster._digest import packed, unpacked
from noren.cluster._errors import ClusterError, ResultError
from noren.cluster._keys import CHUNK, KeyDirectory, KeyFile, Placement, open_keys
from noren.cluster._store import Mark, ResultStore

Bytes = NDArray[np.uint8]
T = TypeVar("T")

KEPT = 8
"""Runs of jobs that a worker keeps, and sets of keys."""


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
    version: str
    """The versions that a node must have: those of the driver."""
    mark: Mark | None
    """That of the directory of results."""


def version() -> str:
    """Return the versions that must be the same on all nodes."""
    return f"noren {__version__}, Python {sys.version_info.major}.{sys.version_info.minor}, numpy {np.__version__}"


def check_node(needed: str, mark: Mark | None) -> None:
    """Refuse a node with other versions, or one that does not see the directory of results.

    Raises `ClusterError`.
    """
    if version() != needed:
        raise ClusterError(f"the node has {version()}, and the driver {needed}: install one version")
    if mark is not None and not mark.is_seen():
        raise ClusterError(
            f"the node does not see the results' directory {mark.path.parent}: name one that all nodes share, or "
            "results=None"
        )


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


class _Cache(Generic[T]):
    """The values that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str, make: Callable[[], T]) -> T:
        if key not in self._values:
            self._values[key] = make()
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        self._values.move_to_end(key)
        return self._values[key]


PARTS = 8
"""Parts of keys that are kept, for nodes that ask for them after each other."""


class KeySource:
    """An actor on the driver's node: hands out the files of keys in parts, which nodes then get from each other."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Take the paths of compact files by their digests; they stay open, whoever removes them."""
        self._files = {digest: Path(path).open("rb") for digest, path in files.items()}  # noqa: SIM115
        self._parts: _Cache[Any] = _Cache(PARTS)

    def part(self, digest: str, offset: int) -> list[Any]:
        """Return the reference of a part."""

        def put() -> Any:
            self._files[digest].seek(offset)
            return ray.put(np.frombuffer(self._files[digest].read(CHUNK), dtype=np.uint8))

        return [self._parts.get(f"{digest} {offset}", put)]


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


_JOBS: _Cache[tuple[Job, Callable[..., Any]]] = _Cache(KEPT)
_EVALUATORS: _Cache[Any] = _Cache(KEPT)


def _job(reference: Any) -> tuple[Job, Callable[..., Any]]:
    """Return what the tasks of a job share, and its program."""
    job: Job = ray.get(reference)
    check_node(job.version, job.mark)
    return job, cloudpickle.loads(job.program)


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
        shared, program = _JOBS.get(name, lambda: _job(reference))
        store = ResultStore(shared.results) if shared.results is not None else None
        evaluator = _EVALUATORS.get(shared.keys.digest, lambda: _evaluator(shared.keys))
    except Exception as error:
        # All tasks of this node would end so.
        return _failed(error, node, fatal=True), None
    start = time.perf_counter()
    try:
        values = [unpacked(_read(store, each) if isinstance(each, str) else each) for each in inputs]
        result = values[0]
        if combine:
            for value in values[1:]:
                result = program(evaluator, result, value)
        else:
            result = program(evaluator, result)
        del values
    except Exception as error:
        return _failed(error, node, fatal=isinstance(error, ResultError)), None
    seconds = time.perf_counter() - start
    try:
        contents = packed(result)
        del result
        if store is None:
            return Head(False, len(contents), seconds, node=node), np.frombuffer(contents, dtype=np.uint8)
        store.write(digest, contents)
        return Head(True, len(contents), seconds, node=node), None
    except Exception as error:
        return _failed(error, node, fatal=isinstance(error, ResultError)), None


def _read(store: ResultStore | None, digest: str) -> bytes:
    assert store is not None, "digests name results in files"
    return store.read(digest)


def _failed(error: Exception, node: str, *, fatal: bool) -> Head:
    text = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
    return Head(error=text.removeprefix("builtins."), traceback=traceback.format_exc(), node=node, fatal=fatal)
