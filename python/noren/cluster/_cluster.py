"""`Cluster`: programs on encrypted data, on the machines of a Ray cluster."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import ray
from numpy.typing import ArrayLike
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from noren import _files
from noren._noren import KeyMismatchError
from noren.cluster._digest import KNOWN, packed, unpacked
from noren.cluster._errors import ClusterError, Failure, JobError, TaskError
from noren.cluster._executor import Executor, Options, RayExecutor, check_slots, living_nodes
from noren.cluster._hash import digest_of
from noren.cluster._keys import KeyDirectory, KeyFile, Placement, check_function, default_directory
from noren.cluster._kinds import TRAVELLING
from noren.cluster._matrix import BlockProduct, add, blocks_of, checked_matrix
from noren.cluster._plan import Work
from noren.cluster._program import pickled_program
from noren.cluster._returns import check_returns
from noren.cluster._session import SESSION, session
from noren.cluster._store import Mark, ResultStore
from noren.cluster._tasks import Measured, Outcome, Tasks
from noren.cluster._trees import Event, mapped, put, reduced
from noren.cluster._work import Job, Keys, KeySource, check_node, place
from noren.cluster._work import version as node_version
from noren.compiler import Compiled, ServerKeys

R = TypeVar("R")
Outcomes = Generator[tuple[int, Outcome | Failure], None, None]
"""How tasks end, with the positions of their items."""
Progress = Callable[[int, int], object]
KeysOrPath = Any
"""Keys of the kinds that travel, or the path of a file that holds them."""
Function = Compiled | str | os.PathLike[str]
"""A compiled function, or the path of its file."""

LARGEST_ITEM = 0.25
"""The largest part of a node's object store that an item may take."""


class Cluster:
    """Machines that share keys, and run programs on encrypted data.

    Its workers are trusted with what this process holds: keep secret keys in another one.

    keys: what a program evaluates with: evaluation keys of CKKS, BGV or BFV, keys of bootstrapping or of lookups,
        server keys of TFHE, or the path of a file of them; a mapping gives several their names. Each node gets them
        once, as one file that all of its processes map.
    scheme: "bfv" (the default) or "bgv" for keys of integers, "real" (the default) or "complex" for those of
        bootstrapping; of several keys a mapping by their names.
    function: the compiled function that the keys serve, or the path of its file; of several keys a mapping by their
        names. What evaluates is then its server, `noren.compiler.Running`.
    address: None starts workers on this machine, which listen at the loopback address alone; "auto" or "host:port"
        joins the Ray cluster that this machine is part of.
    workers: how many of them, if they are started here; None for one to `threads` cores.
    threads: of each task.
    directory: where keys lie on every node; a directory of the user's own, by default in the directory for temporary
        files.
    results: a directory that all nodes see, with the result of every task. A job that is started again finds there what
        was done. None keeps results in memory, and where that is full on the disk, until they are taken.
    memory: bytes that a task needs, so that a node is not given more of them than fit.
    retries: how often a task is tried again whose process, or node, ended.
    max_failures: after how many failed tasks a job ends.
    window: how many tasks are on their way at once, with the results that wait to be taken; None for four to each task
        that can run at once.
    min_security: the bits of security that the parameters of the keys must promise; 0 for tests.

    Raises `ClusterError`, before anything runs, for nodes of other versions of noren, keys that are missing or
    damaged, or too large for a node, a directory without room or that a node does not see, and tasks too large for
    every node. Of a compiled function, before anything is sent, what its `Server.run` raises for keys of another one:
    `ParameterMismatchError`, `MissingKeyError` or `WireError`; and `InsecureError`.
    """

    def __init__(
        self,
        keys: KeysOrPath | Mapping[str, KeysOrPath],
        *,
        scheme: str | Mapping[str, str] | None = None,
        function: Function | Mapping[str, Function] | None = None,
        address: str | None = None,
        workers: int | None = None,
        threads: int = 1,
        directory: str | Path | None = None,
        results: str | Path | None = None,
        memory: int | None = None,
        retries: int = 5,
        max_failures: int = 100,
        window: int | None = None,
        min_security: int = 128,
    ) -> None:
        """See the class."""
        if threads < 1:
            raise ClusterError(f"{threads} threads were asked for, at least 1 is needed")
        named = dict(keys) if isinstance(keys, Mapping) else {"": keys}
        if not named:
            raise ClusterError("no keys were given, at least one set is needed")
        schemes = _by_name("schemes", scheme, named)
        functions = {name: _bytes_of(each) for name, each in _by_name("functions", function, named).items()}
        here = KeyDirectory(Path(directory).absolute() if directory is not None else default_directory())
        self._closed, self._session = False, None
        self._mark: Mark | None = None
        self._given: list[Path] = []
        self._source: Any = None
        try:
            files = {name: self._file_of(each, functions.get(name), here) for name, each in named.items()}
            described = [
                (name, KeyFile.of(path, min_security, schemes.get(name), functions.get(name)))
                for name, path in files.items()
            ]
            for name, file in described:
                check_function(here, file, files[name])
            store = ResultStore(Path(results).absolute()) if results is not None else None
            if store is not None:
                store.prepare()
                self._mark = store.mark()
            SESSION.join(address, None if workers is None else workers * threads, retries)
            self._session = session()
            held = {file.digest: str(files[name]) for name, file in described}
            self._source = _actor(KeySource).remote(held)
            near = tuple(str(files[name]) for name, _ in described)
            self._keys = Keys(tuple(described), near, here.directory, self._source)
            self._results = store.directory if store is not None else None
            options = Options(threads, retries, memory, max_failures, 1, SESSION.inline)
            self.slots = check_slots(options)
            """How many tasks can run at once."""
            self._options = replace(options, window=max(4 * self.slots if window is None else window, 1))
            self._on_each_node(_checked, (node_version(), self._mark))
            self._smallest_store = min(int(n["Resources"].get("object_store_memory", 0)) for n in living_nodes())
            self.placements: dict[str, list[Placement]] = self._placed()
            self._owners = {
                file.kind.map(here.mapped(file), False, file.security).owner
                for _, file in described
                if file.function is None
            }
        except BaseException:
            self.close()
            raise

    def map(
        self,
        program: Callable[[Any, Any], R],
        items: Iterable[Any],
        *,
        ordered: bool = True,
        return_failures: bool = False,
        version: object = None,
        progress: Progress | None = None,
    ) -> Results[R]:
        """Run a program on each item; the results come while others are still on their way.

        program: a callable of what evaluates, and of an item. What evaluates is the evaluator of the keys (of lookups
            the keys themselves), or a dict of them by name. The same inputs must give the same result. Each task begins
            with the program as it is now: what one does to values that the program holds, no other sees.
        items: ciphertexts, arrays or tables, numbers, texts and bytes, dataclasses, lists, tuples, sets and dicts of
            them, or paths of files that all nodes see; results are of these kinds too. Of a generator no more are held
            than the window has.
        ordered: whether results come in the order of the items; if not, as they come, each with the item's position.
        return_failures: whether a `Failure` stands in the place of a result that could not be made; if not, `TaskError`
            is raised in that place, and the next result is that of the next item: iterating can go on.
        version: what else a result depends on, if the program calls what it does not name.
        progress: called with (done, of) after each task.

        Raises `ClusterError` for a program that cannot be sent, that holds a generator of random numbers, or that says
        that it returns what does not travel. When the results are taken: in the place of its result `TaskError` for an
        item whose task failed, that does not travel, is too large for a node, or belongs to another secret key than the
        keys (its cause is then `KeyMismatchError`); `JobError` once more than `max_failures` failed, and `ClusterError`
        for what would end every task.
        """
        check_several(items)
        job, classes = self._job(program, version)
        return Results(self, job, classes, items, ordered, return_failures, progress)

    def reduce(
        self,
        function: Callable[[Any, Any, Any], R],
        items: Iterable[Any] | Results[Any],
        *,
        fan_in: int = 8,
        version: object = None,
        progress: Progress | None = None,
    ) -> R:
        """Return all items combined to one, by a tree whose shape depends on their number alone.

        function: a callable of what evaluates, and of two neighbours; it must be associative.
        items: as of `map`; or the results of a `map`, which then go from worker to worker, and not through this
        process.
        fan_in: how many neighbours a task combines.

        Raises what `map` raises; `JobError` if any task failed, because there is no result without it.
        """
        [(_, value)] = self._reduced(function, items, fan_in, version, progress, None)
        result: R = value
        return result

    def matvec(
        self,
        matrix: ArrayLike,
        vectors: Sequence[Any],
        *,
        block_rows: int | None = None,
        progress: Progress | None = None,
    ) -> list[Any]:
        """Return the product of a matrix and an encrypted vector of any length: one ciphertext for each block of rows.

        matrix: shape (rows, columns), in clear; `numpy.load(path, mmap_mode="r")` need not fit the memory.
        vectors: ciphertexts with the entries of the vector, one after the other; each but the last of the same length.
        block_rows: rows of a block, None for as many as a ciphertext of `vectors` has entries. `rotations_of_blocks`
            says which rotations the keys need.

        Each block is a task, and the blocks of a row are added by a tree. Raises what `reduce` raises, `ClusterError`
        for a matrix of other columns than the vectors have entries.
        """
        check_several(vectors)
        array = checked_matrix(matrix, vectors)
        lengths = [vector.shape[0] for vector in vectors]
        rows = block_rows if block_rows is not None else lengths[0]
        product = self.map(BlockProduct(list(vectors)), blocks_of(array, rows, lengths), progress=progress)
        parts = self._reduced(add, product, 8, None, progress, len(vectors))
        return [value for _, value in sorted(parts, key=lambda part: part[0])]

    def close(self, *, forget_keys: bool = False) -> None:
        """End the workers that were started here, or leave the Ray cluster. Results that were not taken are lost.

        forget_keys: whether keys are removed from all nodes. Else they stay for the next time.

        Raises `ClusterError` for a node whose keys cannot be removed, once all else is done.
        """
        if self._closed:
            return
        try:
            if forget_keys and self._session is not None and self._session == session():
                self._on_each_node(_forget, self._keys)
        finally:
            self._closed = True
            for path in self._given:
                path.unlink(missing_ok=True)
            if self._source is not None and self._session == session():
                ray.kill(self._source)
            if self._session is not None:
                SESSION.leave(self._session)

    def __enter__(self) -> Self:
        """Return the cluster."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the cluster."""
        self.close()

    def __repr__(self) -> str:
        """Return nodes and tasks at once."""
        return f"Cluster(nodes={len(self.placements)}, slots={self.slots}, threads={self._options.threads})"

    def _file_of(self, keys: KeysOrPath, function: bytes | None, here: KeyDirectory) -> Path:
        """Return the compact file of keys."""
        if isinstance(keys, str | os.PathLike):
            return Path(keys).absolute()
        if not isinstance(keys, TRAVELLING):
            raise ClusterError(
                f"{type(keys).__name__} are no keys that travel: give evaluation keys, or others that evaluate, or the "
                "path of a file of them"
            )
        if isinstance(keys, ServerKeys) and function is None:
            raise ClusterError("keys of a compiled function were given without it: name it as function=")
        path = here.add(keys.save)
        self._given.append(path)
        return path

    def _job(self, program: Callable[..., Any], version: object) -> tuple[Job, tuple[type, ...]]:
        """Return what the tasks of a program share, and the dataclasses that it names."""
        check_returns(program)
        KNOWN.renew()
        found = pickled_program(program, version)
        digest = digest_of(found.digest.encode(), self._keys.digest.encode())
        job = Job(digest, found.pickled, found.constants, self._keys, self._results, node_version(), self._mark)
        return job, found.classes

    def _tasks(self, items: Iterable[Any], progress: Progress | None) -> Tasks:
        if self._closed or self._session != session():
            raise ClusterError("the cluster was closed: take results within its `with` block, or before close()")
        total = len(items) if isinstance(items, Sized) else None
        return Tasks(self._executor(), self._options, self._results, progress, total)

    def _executor(self) -> Executor:
        """Return where the tasks of one run of a job run."""
        return RayExecutor(self._options, secrets.token_hex(8))

    def _admit(self, item: object, nbytes: int) -> None:
        """Refuse an item that no node can take, or that belongs to another secret key."""
        store = self._smallest_store
        if nbytes > LARGEST_ITEM * store:
            raise ClusterError(
                f"an item has {nbytes} bytes, and the object store of a node {store}: give items of at most a quarter "
                "of it, or paths of files"
            )
        for each in item if isinstance(item, list | tuple) else (item,):
            owner = getattr(each, "owner", None)
            if isinstance(owner, str) and self._owners and owner not in self._owners:
                raise KeyMismatchError(
                    f"an item belongs to the secret key {owner}, the keys of the cluster to "
                    f"{' and '.join(self._owners)}: give the evaluation keys of the same secret key"
                )

    def _reduced(
        self,
        function: Callable[[Any, Any, Any], Any],
        items: Iterable[Any] | Results[Any],
        fan_in: int,
        version: object,
        progress: Progress | None,
        tree_size: int | None,
    ) -> list[tuple[int, Any]]:
        if fan_in < 2:
            raise ClusterError(f"a fan-in of {fan_in} combines nothing, it must be at least 2")
        check_several(items)
        if isinstance(items, Results) and items.cluster is not self:
            raise ClusterError("these results are those of another cluster: take them in a list first")
        leaves_of = items.items if isinstance(items, Results) else items
        tasks = self._tasks(leaves_of, progress)
        job, classes = self._job(function, version)
        if isinstance(items, Results):
            items.take()
        try:
            leaves = items.leaves(tasks) if isinstance(items, Results) else put(tasks, items, self._admit)
            shared = tasks.share(job, classes)
            roots = reduced(tasks, leaves, shared, fan_in, tree_size)
            found = [(tree, tasks.value(outcome)) for tree, outcome in roots]
        finally:
            if isinstance(items, Results):
                items.end(tasks)
            tasks.cancel()
        if tasks.failures:
            raise JobError(tasks.failures)
        return found

    def _placed(self) -> dict[str, list[Placement]]:
        found = self._on_each_node(_place, self._keys)
        placements = {name: [Placement(int(a), int(b)) for a, b in each] for name, each in found.items()}
        for node in living_nodes():
            size = sum(each.mapped for each in placements.get(node["NodeID"], []))
            if size > node["Resources"].get("memory", 0):
                found_there = int(node["Resources"].get("memory", 0))
                raise ClusterError(
                    f"the keys take {size} bytes, node {node['NodeID']} has {found_there}: use larger nodes"
                )
        return placements

    def _on_each_node(self, function: Callable[[Any], Any], argument: Any) -> dict[str, Any]:
        """Call a function on each node, side by side; what it returns comes as results do."""
        called = {}
        for node in living_nodes():
            strategy = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            remote = ray.remote(_told).options(num_cpus=0, scheduling_strategy=strategy)
            called[node["NodeID"]] = remote.remote(function, argument)
        found = {}
        for name, reference in called.items():
            try:
                error, found[name] = unpacked(ray.get(reference), check_files=False)
            except (RayError, TypeError, ValueError) as lost:
                error = f"{type(lost).__name__}: {lost}"
            if error is not None:
                raise ClusterError(f"on node {name}: {error}")
        return found


class Results(Generic[R]):
    """The results of a `map`, which are taken once: by iterating, or by `Cluster.reduce`.

    Each stands in the place of its item. In the place of one that could not be made `TaskError` is raised, or a
    `Failure` stands there; the next is that of the next item.
    """

    failures: list[Failure]
    """The tasks that failed, as far as is known."""
    found: int
    """Tasks whose results were there."""

    def __init__(
        self,
        cluster: Cluster,
        job: Job,
        classes: tuple[type, ...],
        items: Iterable[Any],
        ordered: bool,
        return_failures: bool,
        progress: Progress | None,
    ) -> None:
        """Keep what is needed to begin."""
        self.items = items
        self.failures, self.found = [], 0
        self._measured = Measured()
        self.cluster, self._job, self._classes = cluster, job, classes
        self._ordered, self._return_failures, self._progress = ordered, return_failures, progress
        self._held = 0
        self._taken = False

    def take(self) -> None:
        """Refuse results that were taken before."""
        if self._taken:
            raise ClusterError("the results of a map were taken before: keep them in a list, or call map again")
        self._taken = True

    def leaves(self, tasks: Tasks) -> Iterator[Event]:
        """Run the tasks, and give how they ended."""
        shared = tasks.share(self._job, self._classes)
        return mapped(tasks, shared, self.items, self.cluster._admit, lambda: self._held)

    def end(self, tasks: Tasks) -> None:
        """Give up what has not ended, and keep what is known of the others."""
        tasks.cancel()
        self.failures, self.found, self._measured = tasks.failures, tasks.found, tasks.measured

    def __iter__(self) -> Taken:
        """Run the tasks, and give their results.

        Raises `ClusterError` if they were taken before, or if the cluster was closed.
        """
        self.take()
        tasks = self.cluster._tasks(self.items, self._progress)
        outcomes = self._in_order(tasks) if self._ordered else self._as_they_come(tasks)
        return Taken(tasks, outcomes, with_positions=not self._ordered, return_failures=self._return_failures)

    def work(self, *, tasks: int | None = None, task_memory: int = 0, shared_storage: bool = False) -> Work:
        """Return what the tasks took that were run, for `predict`, once the results were taken.

        tasks: how many there are to be, None for as many. The others are those of `Work`.

        Raises `ClusterError` if no task ran.
        """
        found = self._measured
        if not found.tasks:
            raise ClusterError("no task was run: take the results first, and of a job whose results are not there yet")
        mean = found.seconds / found.tasks
        variance = max(found.squares / found.tasks - mean**2, 0.0)
        keys, placements = self.cluster._keys, next(iter(self.cluster.placements.values()))
        return Work(
            tasks=found.tasks if tasks is None else tasks,
            seconds=mean,
            spread=variance**0.5 / mean,
            threads=self.cluster._options.threads,
            item_bytes=found.item_bytes // found.tasks,
            result_bytes=found.result_bytes // found.tasks,
            key_bytes=sum(file.length for _, file in keys.files),
            mapped_bytes=sum(each.mapped for each in placements),
            task_memory=task_memory,
            shared_storage=shared_storage,
        )

    def _as_they_come(self, tasks: Tasks) -> Outcomes:
        try:
            for key, outcome in self.leaves(tasks):
                yield key.position, outcome
        finally:
            self.end(tasks)

    def _in_order(self, tasks: Tasks) -> Outcomes:
        waiting: dict[int, Outcome | Failure] = {}
        position = 0
        try:
            for key, outcome in self.leaves(tasks):
                waiting[key.position] = outcome
                while position in waiting:
                    next_outcome = waiting.pop(position)
                    self._held = len(waiting)
                    yield position, next_outcome
                    position += 1
                self._held = len(waiting)
        finally:
            self.end(tasks)


class Taken(Iterator[Any]):
    """The results of a `map` while they are taken: an error in the place of one does not end it."""

    def __init__(self, tasks: Tasks, outcomes: Outcomes, *, with_positions: bool, return_failures: bool) -> None:
        """Take how tasks end, in the order in which results are given."""
        self._tasks, self._outcomes = tasks, outcomes
        self._with_positions, self._return_failures = with_positions, return_failures

    def __next__(self) -> Any:
        """Return the next result; raises `TaskError` in the place of one that could not be made."""
        position, outcome = next(self._outcomes)
        found: Any = outcome
        if isinstance(outcome, Outcome):
            try:
                found = self._tasks.value(outcome)
            except ClusterError as error:
                found = outcome = self._tasks.refuse(position, None, error, outcome.digest)
        if isinstance(outcome, Failure) and not self._return_failures:
            raise TaskError(outcome)
        return (position, found) if self._with_positions else found

    def close(self) -> None:
        """Give up the tasks that have not ended."""
        self._outcomes.close()


def check_several(items: object) -> None:
    """Refuse one ciphertext, table or path where several items are needed."""
    if isinstance(items, Results):
        return
    try:
        several = not isinstance(items, str) and iter(items) is not None  # type: ignore[call-overload]
    except TypeError:
        several = False
    if not several:
        raise TypeError(f"one {type(items).__name__} was given, and items are needed: put it in a list")


def _by_name(what: str, given: Any, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return an option for each of the keys, by their names."""
    found = dict(given) if isinstance(given, Mapping) else dict.fromkeys(keys, given)
    if unknown := found.keys() - keys.keys():
        raise ClusterError(f"{what} were named for {sorted(unknown)}, and the keys are {sorted(keys)}")
    return found


def _bytes_of(function: Function | None) -> bytes | None:
    """Return the bytes of a compiled function, which its server is made from on all nodes."""
    if function is None or isinstance(function, Compiled):
        return None if function is None else bytes(function)
    if isinstance(function, str | os.PathLike):
        return _files.read(function)
    raise ClusterError(
        f"a {type(function).__name__} is no compiled function: give what noren.compile returned, or the path of a file"
    )


def _actor(kind: type) -> Any:
    """Return a class whose objects are actors, on this node."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(kind).options(num_cpus=0, scheduling_strategy=here)


def _told(function: Callable[[Any], Any], argument: Any) -> bytes:
    """Call a function on a node; return what went wrong, or what it returned, as results travel."""
    try:
        return packed((None, function(argument)))
    except Exception as error:
        return packed((f"{type(error).__name__}: {error}", None))


def _place(keys: Keys) -> list[tuple[int, int]]:
    return [(each.fetched, each.mapped) for each in place(keys)]


def _checked(needed: tuple[str, Mark | None]) -> None:
    check_node(*needed)


def _forget(keys: Keys) -> None:
    directory = KeyDirectory(keys.directory)
    for _, file in keys.files:
        directory.remove(file)
