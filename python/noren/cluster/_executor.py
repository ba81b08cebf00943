"""Tasks on the workers of Ray, and which of them there are."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Protocol

import ray
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayError, WorkerCrashedError

from noren.cluster._errors import ClusterError, ResultError
from noren.cluster._work import Head, Job, run

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


class Executor(Protocol):
    """Where tasks run. What it refers to, a result among it, is known to it alone."""

    def put(self, contents: bytes) -> Any:
        """Keep bytes where tasks get them; return a reference."""

    def share(self, job: Job) -> Any:
        """Keep a job where tasks get it; return what they are given of it."""

    def start(self, job: Any, classes: bytes, digest: str, combine: bool, inputs: list[Any]) -> tuple[Any, Any]:
        """Start a task; return references of how it ends, and of its result. See `run`."""

    def wait(self, heads: list[Any]) -> list[Any]:
        """Wait until a task ends; return the references of all that have ended."""

    def head(self, reference: Any) -> Head:
        """Return how a task ended."""

    def contents(self, reference: Any) -> bytes:
        """Return bytes; raises `ClusterError` if they are lost."""

    def cancel(self, head: Any) -> None:
        """Give up a task."""


class RayExecutor:
    """Tasks on the workers of the Ray cluster of this process."""

    def __init__(self, options: Options, name: str) -> None:
        """Take a name that no other run of a job has."""
        self._options, self._name = options, name
        resources: dict[str, Any] = {"num_cpus": options.threads, "max_retries": options.retries, "num_returns": 2}
        if options.memory is not None:
            resources["memory"] = options.memory
        # The order of a set of texts is the same in each process.
        environment = {"env_vars": {"RAYON_NUM_THREADS": str(options.threads), "PYTHONHASHSEED": "0"}}
        self._run = ray.remote(run).options(**resources, runtime_env=environment)
        self._jobs = 0

    def put(self, contents: bytes) -> Any:
        """Put bytes into the object store."""
        return ray.put(contents)

    def share(self, job: Job) -> Any:
        """Put a job into the object store, from which each worker takes it once."""
        self._jobs += 1
        return f"{self._name} {self._jobs}", [ray.put(job)]

    def start(self, job: Any, classes: bytes, digest: str, combine: bool, inputs: list[Any]) -> tuple[Any, Any]:
        """Hand in a task."""
        head, body = self._run.remote(job, classes, digest, combine, *inputs)
        return head, body

    def wait(self, heads: list[Any]) -> list[Any]:
        """Wait until a task ends; raises `ClusterError` once no node can run any."""
        ended: list[Any] = []
        while not ended:
            ended, rest = ray.wait(heads, num_returns=1, timeout=PATIENCE, fetch_local=False)
            if not ended:
                check_slots(self._options)
        return ended + (ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0] if rest else [])

    def head(self, reference: Any) -> Head:
        """Return how a task ended; of one whose process ended each time, that."""
        try:
            return Head.of(ray.get(reference))
        except RayError as error:
            first = str(error).partition("\n")[0]
            ended = isinstance(error, WorkerCrashedError | NodeDiedError | OutOfMemoryError)
            what = "its process ended each time it was tried" if ended else "Ray gave it up"
            return Head(error=type(error).__qualname__, message=f"{what}: {first}")
        except ResultError as error:
            return Head(error="ResultError", message=str(error))

    def contents(self, reference: Any) -> bytes:
        """Return what a worker sent, or what was put."""
        try:
            found = ray.get(reference)
        except RayError as error:
            raise ClusterError(f"a result was lost, and could not be made again: {error}") from error
        if not isinstance(found, bytes):
            raise ResultError(f"a worker sent a {type(found).__name__} in the place of a result")
        return found

    def cancel(self, head: Any) -> None:
        """Have Ray give up a task."""
        with contextlib.suppress(RayError):
            ray.cancel(head)


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
