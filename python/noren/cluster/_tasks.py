"""The tasks of a job on their way: handed in, waited for, counted."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ray
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayError, WorkerCrashedError

from noren.cluster._digest import digest_of, unpacked
from noren.cluster._errors import ClusterError, Failure, JobError
from noren.cluster._store import ResultStore
from noren.cluster._work import Bytes, Head, Job, run

PATIENCE = 30.0
"""Seconds after which is looked whether any node can run a task at all."""
INLINE = 1 << 16
"""Bytes of an item that go along with its task, if the cluster does not say otherwise; larger ones become objects."""


@dataclass(frozen=True)
class Options:
    """How tasks run."""

    threads: int
    retries: int
    memory: int | None
    max_failures: int
    window: int
    """Tasks on their way at once, with the results that nobody has taken yet."""
    inline: int = INLINE
    """Bytes of an item that go along with its task. Larger ones become objects, which costs some milliseconds."""


class Key(NamedTuple):
    """The place of a task in a job: its tree, the combinations below it, and its position among those of its level."""

    tree: int
    level: int
    position: int


@dataclass(frozen=True)
class Outcome:
    """A task that has ended well: its digest, and the reference of its result if that is in no file."""

    digest: str
    body: Any | None

    def argument(self) -> Any:
        """Return what a later task is given in order to have the result."""
        return self.digest if self.body is None else self.body


class Shared(NamedTuple):
    """What the tasks of a job are given of it."""

    name: str
    """Of this run of the job: another may have other directories."""
    reference: list[Any]
    """That of the `Job`."""
    digest: str


@dataclass(frozen=True)
class _Flying:
    """A task that was handed in."""

    job: str
    key: Key
    digest: str
    body: Any
    item: Any | None
    """Its item, or the reference of that, for the report if it fails."""
    item_bytes: int


@dataclass
class Measured:
    """What the tasks of items took that have ended well."""

    tasks: int = 0
    seconds: float = 0.0
    """The time of all their programs."""
    squares: float = 0.0
    """The sum of the squares of their seconds."""
    item_bytes: int = 0
    result_bytes: int = 0

    def add(self, seconds: float, item_bytes: int, result_bytes: int) -> None:
        """Count a task."""
        self.tasks += 1
        self.seconds += seconds
        self.squares += seconds**2
        self.item_bytes += item_bytes
        self.result_bytes += result_bytes


class Tasks:
    """Tasks that were handed in."""

    def __init__(
        self, options: Options, results: Path | None, progress: Callable[[int, int], object] | None, total: int | None
    ) -> None:
        """Take the directory of results, which all nodes see, and the number of items if it is known."""
        self.options = options
        self.store = ResultStore(results) if results is not None else None
        self.failures: list[Failure] = []
        self.found = 0
        """Tasks whose results were there."""
        self.measured = Measured()
        self._progress = progress
        resources: dict[str, Any] = {"num_cpus": options.threads, "max_retries": options.retries, "num_returns": 2}
        if options.memory is not None:
            resources["memory"] = options.memory
        environment = {"env_vars": {"RAYON_NUM_THREADS": str(options.threads)}}
        self._run = ray.remote(run).options(**resources, runtime_env=environment)
        self._flying: dict[Any, _Flying] = {}
        self._done = 0
        self._known = 0
        self._total = total

    def __len__(self) -> int:
        """Tasks that were handed in and have not ended."""
        return len(self._flying)

    def share(self, job: Job) -> Shared:
        """Put what the tasks of a job share where all nodes get it."""
        return Shared(secrets.token_hex(8), [ray.put(job)], job.digest)

    def digest(self, shared: Shared, *inputs: bytes) -> str:
        """Return the digest of a task; nothing where no result is looked up by it."""
        return "" if self.store is None else digest_of(shared.digest.encode(), *inputs)

    def find(self, digest: str) -> Outcome | None:
        """Return the outcome of a task whose result lies in a file."""
        if self.store is None or not self.store.has(digest):
            return None
        self.found += 1
        self._count(known=1, done=1)
        return Outcome(digest, None)

    def submit(self, shared: Shared, key: Key, digest: str, item: bytes) -> None:
        """Hand in an item."""
        contents: Any = np.frombuffer(item, dtype=np.uint8)
        if len(item) > self.options.inline:
            contents = ray.put(contents)
        self._start(shared, _Flying(shared.digest, key, digest, None, contents, len(item)), False, [contents])

    def combine(self, shared: Shared, key: Key, digest: str, parts: list[Outcome]) -> None:
        """Hand in results to be combined."""
        self._start(
            shared, _Flying(shared.digest, key, digest, None, None, 0), True, [part.argument() for part in parts]
        )

    def _start(self, shared: Shared, task: _Flying, combine: bool, inputs: list[Any]) -> None:
        head, body = self._run.remote((shared.name, shared.reference), task.digest, combine, *inputs)
        self._flying[head] = replace(task, body=body)
        self._count(known=1, done=0)

    def wait(self) -> list[tuple[Key, Outcome | Failure]]:
        """Wait until a task ends, and return all that have ended.

        Raises `ClusterError` for what would end every other task too, `JobError` for too many failures.
        """
        ended: list[Any] = []
        while not ended:
            ended, rest = ray.wait(list(self._flying), num_returns=1, timeout=PATIENCE, fetch_local=False)
            if not ended:
                check_slots(self.options)
        if rest:
            ended += ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0]
        return [self._ended(reference) for reference in ended]

    def _ended(self, reference: Any) -> tuple[Key, Outcome | Failure]:
        task = self._flying.pop(reference)
        head = _head(reference)
        self._count(known=0, done=1)
        if head.fatal:
            raise ClusterError(f"on node {head.node}: {head.error}")
        if head.error is None:
            if task.key.level == 0:
                self.measured.add(head.seconds, task.item_bytes, head.nbytes)
            return task.key, Outcome(task.digest, None if head.stored else task.body)
        index = task.key.position if task.key.level == 0 else None
        item = ray.get(task.item) if isinstance(task.item, ray.ObjectRef) else task.item
        inputs = None
        if item is not None:
            # An item that cannot be read here either is told by the error of its task.
            with contextlib.suppress(Exception):
                inputs = unpacked(item)
        digest = task.digest or (digest_of(task.job.encode(), bytes(item)) if item is not None else "")
        return task.key, self.fail(Failure(index, digest, inputs, head.error, head.traceback, head.node))

    def fail(self, failure: Failure) -> Failure:
        """Keep a failure.

        Raises `JobError` if there are too many.
        """
        self.failures.append(failure)
        if len(self.failures) > self.options.max_failures:
            raise JobError(self.failures)
        return failure

    def value(self, outcome: Outcome) -> Any:
        """Return a result."""
        if outcome.body is None:
            assert self.store is not None, "without a directory results are objects"
            return unpacked(self.store.read(outcome.digest))
        try:
            contents: Bytes = ray.get(outcome.body)
        except RayError as error:
            raise ClusterError(f"a result was lost, and could not be made again: {error}") from error
        return unpacked(contents)

    def cancel(self) -> None:
        """Give up the tasks that have not ended."""
        for reference in self._flying:
            with contextlib.suppress(RayError):
                ray.cancel(reference)
        self._flying.clear()

    def _count(self, *, known: int, done: int) -> None:
        self._known += known
        self._done += done
        if self._progress is not None and done:
            self._progress(self._done, max(self._known, self._total or 0))


def _head(reference: Any) -> Head:
    """Return how a task ended; of one whose process ended each time, that."""
    try:
        head: Head = ray.get(reference)
    except RayError as error:
        first = str(error).partition("\n")[0]
        ended = isinstance(error, WorkerCrashedError | NodeDiedError | OutOfMemoryError)
        what = "its process ended each time it was tried" if ended else "Ray gave it up"
        return Head(error=f"{what} ({type(error).__name__}: {first})")
    return head


def living_nodes() -> list[dict[str, Any]]:
    """Return the nodes that have not died, as Ray describes them."""
    nodes: list[dict[str, Any]] = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    return nodes


def slots_of(node: dict[str, Any], options: Options) -> int:
    """Return how many tasks run at once on a node."""
    resources = node["Resources"]
    slots = int(resources.get("CPU", 0)) // options.threads
    if options.memory:
        slots = min(slots, int(resources.get("memory", 0)) // options.memory)
    return slots


def check_slots(options: Options) -> int:
    """Return how many tasks run at once on all nodes.

    Raises `ClusterError` if none can run on any: it would wait for ever.
    """
    alive = living_nodes()
    slots = sum(slots_of(node, options) for node in alive)
    if not slots:
        found = [(int(n["Resources"].get("CPU", 0)), int(n["Resources"].get("memory", 0))) for n in alive]
        nodes = ", ".join(f"{cores} cores and {memory} bytes" for cores, memory in found)
        needed = f"{options.threads} threads" + (f" and {options.memory} bytes" if options.memory else "")
        raise ClusterError(f"a task needs {needed}, and no node has that; they have {nodes}: use larger nodes")
    return slots
