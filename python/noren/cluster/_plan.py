"""What a job takes on machines that are not there yet: a model, which `docs/cluster.md` compares with runs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from noren.cluster._errors import ClusterError

DRIVER_SECONDS = 0.001
"""The driver's own time for a task: packing, digest, handing in, taking the result."""
TASK_SECONDS = 0.001
"""A worker's time for a task beside its program, and beside its bytes."""
START_SECONDS = 3.0
"""Until the first task of a worker runs: its process starts and imports."""
PACKING = 1.5e9
"""Bytes a second at which ciphertexts are packed, and unpacked, by a core."""
EXPANSION = 0.3e9
"""Bytes a second at which a node expands keys."""
LONGEST = 5_000_000
"""The most tasks that are laid out one by one."""


@dataclass(frozen=True)
class Machines:
    """Equal nodes of a cluster, of which the first runs the driver too."""

    nodes: int
    cores: int
    """Of each node."""
    memory: int
    """Bytes of each node."""
    network: float = 1.25e9
    """Bytes a second of the link of each node, to other nodes and to shared storage."""


@dataclass(frozen=True)
class Work:
    """A job: equal tasks that do not depend on each other, but for their times."""

    tasks: int
    seconds: float
    """Of the program of a task, on average, by its threads."""
    spread: float = 0.05
    """The standard deviation of the seconds over their mean."""
    threads: int = 1
    item_bytes: int = 0
    result_bytes: int = 0
    key_bytes: int = 0
    """Of the files of keys that travel."""
    mapped_bytes: int = 0
    """Of the keys on a node."""
    task_memory: int = 0
    """Bytes that a running task takes beside the keys."""
    shared_storage: bool = False
    """Whether items and results are files that all nodes see; if not, they go through the driver."""

    def repeated(self, tasks: int) -> Work:
        """Return the same with another number of tasks."""
        return replace(self, tasks=tasks)


@dataclass(frozen=True)
class Prediction:
    """What a job is expected to take."""

    seconds: float
    """From the first call to the last result, workers and keys included."""
    keys_seconds: float
    """Of these, until every node has its keys."""
    start_seconds: float
    """Of these, until workers have started."""
    tasks_seconds: float
    """Of these, for the tasks."""
    slots: int
    """Tasks at once."""
    efficiency: float
    """The time of the programs, over that of all slots while tasks run."""
    bottleneck: str
    """What the tasks wait for at the end: "cores", "driver" or "network"."""
    node_memory: int
    """Bytes of a node: the keys once, and the tasks that run at once."""
    driver_memory: int
    """Bytes of items and results that are on their way, in the object store of the driver's node."""


def predict(work: Work, machines: Machines, *, window: int | None = None, seed: int = 0) -> Prediction:
    """Predict a job on machines: tasks are laid out on slots in turn, as they arrive from the driver.

    window: that of `Cluster`. seed: of the times of tasks, which are drawn from a log-normal distribution.

    Raises `ClusterError` for a node too small for the keys and one task, and for more than 5 million tasks.
    """
    _check(work, machines)
    free = machines.memory - work.mapped_bytes
    on_node = machines.cores // work.threads
    each = work.task_memory + work.item_bytes + work.result_bytes
    if each:
        on_node = min(on_node, free // each)
    if free < 0 or on_node < 1:
        raise ClusterError(
            f"a node has {machines.memory} bytes and {machines.cores} cores, the keys take {work.mapped_bytes} bytes, "
            f"a task {each} and {work.threads} threads: use larger nodes"
        )
    slots = on_node * machines.nodes
    # Nodes that have the keys hand them on.
    rounds = math.ceil(math.log2(machines.nodes)) if machines.nodes > 1 else 0
    keys = work.key_bytes / machines.network * rounds + work.mapped_bytes / EXPANSION
    # Processes start one to a core, and share the disk of their node.
    window = 4 * slots if window is None else window
    tasks, efficiency, bottleneck = _lay_out(work, machines, slots, window, np.random.default_rng(seed))
    return Prediction(
        seconds=keys + START_SECONDS + tasks,
        keys_seconds=keys,
        start_seconds=START_SECONDS,
        tasks_seconds=tasks,
        slots=slots,
        efficiency=efficiency,
        bottleneck=bottleneck,
        node_memory=work.mapped_bytes + on_node * each,
        driver_memory=0 if work.shared_storage else window * (work.item_bytes + work.result_bytes),
    )


def curve(work: Work, machines: Machines, nodes: Iterable[int] = (1, 2, 4, 8, 16, 32, 64)) -> list[Prediction]:
    """Predict a job for several numbers of nodes."""
    return [predict(work, replace(machines, nodes=count)) for count in nodes]


def _lay_out(
    work: Work, machines: Machines, slots: int, window: int, generator: np.random.Generator
) -> tuple[float, float, str]:
    """Return the seconds of all tasks, their efficiency, and what held them up."""
    times = _times(work, generator)
    moved = work.item_bytes + work.result_bytes
    local = moved / PACKING
    # Items leave the driver one after the other; those of its own node do not use the network.
    away = 1.0 if machines.nodes == 1 else (machines.nodes - 1) / machines.nodes
    link = 0.0 if work.shared_storage or machines.nodes == 1 else work.item_bytes / machines.network * away
    handing = DRIVER_SECONDS + (0.0 if work.shared_storage else local)
    result = 0.0 if machines.nodes == 1 else work.result_bytes / machines.network * away
    beside = TASK_SECONDS + local + (moved / machines.network if work.shared_storage else result)
    step = max(handing, link)
    ends = [0.0] * min(slots, window, work.tasks)
    finish = 0.0
    for i, seconds in enumerate(times):
        start = max(heapq.heappop(ends), (i + 1) * step)
        end = start + seconds + beside
        finish = max(finish, end)
        heapq.heappush(ends, end)
    # No job ends before its bytes have passed: all of them the links of the nodes, or the results that of the driver.
    passed = work.tasks * (moved / machines.network / machines.nodes if work.shared_storage else result)
    finish = max(finish, passed)
    bottleneck = "cores"
    if max(work.tasks * step, passed) > 0.9 * finish:
        bottleneck = "network" if max(link * work.tasks, passed) > work.tasks * handing else "driver"
    return finish, sum(times) / (slots * finish), bottleneck


def _times(work: Work, generator: np.random.Generator) -> list[float]:
    """Draw the times of tasks."""
    if work.spread == 0:
        return [work.seconds] * work.tasks
    sigma = math.sqrt(math.log1p(work.spread**2))
    drawn: list[float] = generator.lognormal(math.log(work.seconds) - sigma**2 / 2, sigma, work.tasks).tolist()
    return drawn


def _check(work: Work, machines: Machines) -> None:
    if not 1 <= work.tasks <= LONGEST:
        raise ClusterError(f"{work.tasks} tasks were given, 1 to {LONGEST} can be laid out: give items in batches")
    if work.seconds <= 0 or work.spread < 0 or work.threads < 1:
        raise ClusterError(
            f"a task takes {work.seconds} seconds with a spread of {work.spread} and {work.threads} threads, needed "
            "are more than 0 seconds, a spread of at least 0 and at least 1 thread"
        )
    if machines.nodes < 1 or machines.cores < 1 or machines.network <= 0:
        raise ClusterError(
            f"{machines.nodes} nodes of {machines.cores} cores with {machines.network} bytes a second were given, "
            "needed are at least 1 node, 1 core, and more than 0 bytes"
        )
