"""Tasks, as they run in the worker processes of a node."""

from __future__ import annotations

import sys
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import ray

from noren._noren import __version__
from noren.cluster._digest import Given, packed, refusal, unpacked
from noren.cluster._errors import ClusterError, KindError, ResultError, error_of, named, shown
from noren.cluster._fresh import as_before
from noren.cluster._hash import digest_of
from noren.cluster._keys import CHUNK, KeyDirectory, KeyFile, Placement, open_keys
from noren.cluster._program import Loader, constants_of
from noren.cluster._store import Mark, ResultStore

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
        """What names the keys, and what they are used for."""
        return repr([(name, file.digest, file.use) for name, file in self.files])


@dataclass(frozen=True)
class Job:
    """What all tasks of a job share."""

    digest: str
    program: bytes
    """A callable of the evaluator and an item, or of the evaluator and two results."""
    constants: bytes
    """What the program holds that cannot change."""
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


MOST_TEXT = 1 << 16
"""Characters of a message, or of a traceback, that travel."""


@dataclass(frozen=True)
class Head:
    """How a task ended; its result lies in an object of its own, or in a file."""

    stored: bool = False
    nbytes: int = 0
    seconds: float = 0.0
    """The time of the program alone."""
    error: str = ""
    """The name of the class of the error; empty for none."""
    message: str = ""
    traceback: str = ""
    node: str = ""
    fatal: bool = False
    """Whether the error would end every other task too."""

    @property
    def text(self) -> str:
        """The error as one text."""
        return shown(self.error, self.message)

    @property
    def cause(self) -> Exception | None:
        """The error, if it is one of noren's or of Python's."""
        return error_of(self.error, self.message)

    def bytes(self) -> bytes:
        """Return it as it travels."""
        return packed(astuple(self))

    @staticmethod
    def of(data: object) -> Head:
        """Return what a worker sent.

        Raises `ResultError` for something else.
        """
        values = unpacked(data, check_files=False) if isinstance(data, bytes) else None
        needed = [type(field.default) for field in fields(Head)]
        if type(values) is not tuple or [type(each) for each in values] != needed:
            raise ResultError("a worker sent something else than how a task ended")
        return Head(*values)


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


Evaluators = Callable[[], Any]

_JOBS: _Cache[tuple[Job, list[Any]]] = _Cache(KEPT)
_EVALUATORS: _Cache[Evaluators] = _Cache(KEPT)


def _job(reference: Any) -> tuple[Job, list[Any]]:
    """Return what the tasks of a job share, and what of its program cannot change."""
    job: Job = ray.get(reference)
    check_node(job.version, job.mark)
    return job, constants_of(job.constants)


def _evaluators(keys: Keys) -> Evaluators:
    """Return what makes the evaluator of the keys; with names, a dict of the evaluator of each of them."""
    directory = KeyDirectory(keys.directory)
    if not all(directory.mapped(file).exists() for _, file in keys.files):
        # A node that came later.
        place(keys)
    found = {name: open_keys(keys.directory, file) for name, file in keys.files}
    return found[""] if "" in found else lambda: {name: make() for name, make in found.items()}


def run(
    job: tuple[str, list[Any]], classes: bytes, digest: str, combine: bool, *inputs: bytes | str
) -> tuple[bytes, bytes]:
    """Run a task on a worker; nothing that its program raises leaves here but as text.

    job: a name of this run of it, and the reference of a `Job`. The others are those of `execute`. Returns a `Head` and
    a result as bytes: Ray makes nothing else of what it gets.
    """
    name, [reference] = job
    node = ray.get_runtime_context().get_node_id()
    try:
        shared, constants = _JOBS.get(name, lambda: _job(reference))
        store = ResultStore(shared.results) if shared.results is not None else None
        evaluators = _EVALUATORS.get(shared.keys.digest, lambda: _evaluators(shared.keys))
    except Exception as error:
        # All tasks of this node would end so.
        return failed(error, node, fatal=True).bytes(), b""
    head, contents = execute(shared, constants, evaluators, store, classes, digest, combine, inputs, node)
    return head.bytes(), contents


def execute(
    job: Job,
    constants: Sequence[Any],
    evaluators: Evaluators,
    store: ResultStore | None,
    classes: bytes,
    digest: str,
    combine: bool,
    inputs: Sequence[bytes | str],
    node: str,
) -> tuple[Head, bytes]:
    """Run a program on an item, or combine results from the first to the last; return how it ended, and the result.

    The program is made anew, and so is what it evaluates with: a result follows from the job and the inputs alone.

    classes: the dataclasses of items and programs, pickled. inputs: items or results as bytes, or the digests of
    results that lie in files.
    """
    start = time.perf_counter()
    try:
        parts = [_read(store, each) if isinstance(each, str) else each for each in inputs]
        with as_before(digest_of(job.digest.encode(), *parts)):
            loader = Loader()
            program = loader.load(job.program, constants)
            given = Given(lambda: loader.load(classes) if classes else ())
            contents = _result(program, evaluators(), [unpacked(each, given) for each in parts], combine, given)
    except (Exception, SystemExit) as error:
        return failed(error, node, fatal=isinstance(error, ResultError)), b""
    seconds = time.perf_counter() - start
    if store is None:
        return Head(False, len(contents), seconds, node=node), contents
    try:
        store.write(digest, contents)
    except Exception as error:
        return failed(error, node, fatal=isinstance(error, ResultError)), b""
    return Head(True, len(contents), seconds, node=node), b""


def _result(program: Callable[..., Any], evaluator: Any, values: list[Any], combine: bool, given: Given) -> bytes:
    """Return what a program makes of an item, or of results one after the other, as bytes."""
    result = values[0] if combine else program(evaluator, values[0])
    if combine:
        for value in values[1:]:
            result = program(evaluator, result, value)
    contents = packed(result, given)
    if (why := refusal(contents)) is not None:
        raise KindError(why)
    return contents


def _read(store: ResultStore | None, digest: str) -> bytes:
    assert store is not None, "digests name results in files"
    return store.read(digest)


def failed(error: BaseException, node: str, *, fatal: bool) -> Head:
    """Return how a task ended that raised an error."""
    trace = traceback.format_exc()[-MOST_TEXT:]
    return Head(error=named(error), message=str(error)[:MOST_TEXT], traceback=trace, node=node, fatal=fatal)
