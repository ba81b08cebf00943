"""Jobs of `noren.cluster` without Ray: workers that take tasks in a random order, against the same one after the other.

A job is a program with state of some kind, items, and what each item gives where it is the only one: a value, or the
name of an error. Values, and bytes of hostile workers, are in `cluster_values`.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import noren
from fuzz_api import cluster_values
from fuzz_api.cluster_values import key, objects, same, scalar, value
from fuzz_api.draw import Rng, chance, one_of
from fuzz_api.mutate import mutate
from fuzz_api.program import Call, Verb
from fuzz_api.verdict import Finding
from noren import Error, Input, ckks
from noren.cluster import Cluster, ClusterError, Failure, JobError, TaskError, rotations_of_blocks
from noren.cluster._executor import Options
from noren.cluster._keys import KeyDirectory, KeyFile, check_function, open_keys
from noren.cluster._program import constants_of
from noren.cluster._store import MAGIC, ResultStore, _frame
from noren.cluster._work import Evaluators, Head, Job, execute
from noren.compiler import Compiled, ServerKeys, table

MATRIX = (7, 11)
SLOTS = 8


@functools.cache
def owner() -> tuple[ckks.Context, Any]:
    """Return a context and keys, which all cases of a process share."""
    ctx = ckks.Context(ckks.Parameters(log_n=5, log_q=[50, 40], log_p=[50], security=None), threads=1)
    rotations = rotations_of_blocks(np.ones(MATRIX), [SLOTS, MATRIX[1] - SLOTS])
    return ctx, ctx.keygen(rotations=rotations, seed=bytes(32))


class LocalExecutor:
    """Workers of this process, which end their tasks in a random order, and some of which are tried again."""

    def __init__(self, rng: Rng, workers: int, evaluators: Evaluators) -> None:
        self._rng, self._workers, self._evaluators = rng, workers, evaluators
        self._kept: dict[int, Any] = {}
        self._waiting: dict[int, Callable[[], tuple[Head, bytes]]] = {}

    def put(self, contents: bytes) -> Any:
        return _Reference(self._keep(contents))

    def share(self, job: Job) -> Any:
        # As each worker makes them once.
        return job, [constants_of(job.constants) for _ in range(self._workers)]

    def start(self, job: Any, classes: bytes, digest: str, combine: bool, inputs: list[Any]) -> tuple[Any, Any]:
        shared, constants = job
        parts = [each if isinstance(each, bytes | str) else self.contents(each) for each in inputs]
        store = ResultStore(shared.results) if shared.results is not None else None
        mine = constants[int(self._rng.integers(self._workers))]

        def run() -> tuple[Head, bytes]:
            return execute(shared, mine, self._evaluators, store, classes, digest, combine, parts, "here")

        number = self._keep(None)
        self._waiting[number] = run
        return _Reference(number), _Reference(-1 - number)

    def wait(self, heads: list[Any]) -> list[Any]:
        running = heads[: self._workers]
        ended = [each for each in running if chance(self._rng, 0.5)] or [running[int(self._rng.integers(len(running)))]]
        for each in ended:
            run = self._waiting.pop(each.number)
            if chance(self._rng, 0.1):
                # A worker that ends before it tells: the task is run again.
                run()
            self._kept[each.number] = run()
        return ended

    def head(self, reference: Any) -> Head:
        return Head.of(self._kept[reference.number][0].bytes())

    def contents(self, reference: Any) -> bytes:
        number = reference.number
        found: bytes = self._kept[number] if number >= 0 else self._kept[-1 - number][1]
        return found

    def cancel(self, head: Any) -> None:
        self._waiting.pop(head.number, None)

    def _keep(self, contents: Any) -> int:
        self._kept[len(self._kept)] = contents
        return len(self._kept) - 1


@dataclass(frozen=True)
class _Reference:
    number: int


class LocalCluster(Cluster):
    """A cluster whose workers are in this process."""

    def __init__(self, rng: Rng, workers: int, results: Path | None = None, max_failures: int = 100) -> None:
        ctx, keys = owner()
        self._rng, self._workers = rng, workers
        self._closed, self._session, self._mark = False, None, None
        self._results = results
        if results is not None:
            ResultStore(results).prepare()
        self._keys: Any = types.SimpleNamespace(digest="keys")
        self._options = Options(1, 0, None, max_failures, int(rng.integers(1, 9)), int(rng.integers(0, 200)))
        self._smallest_store = 1 << 30
        self._owners = {each.owner for each in (keys.evaluation, *objects()) if hasattr(each, "owner")}
        self._evaluators = lambda: ctx.evaluator(keys.evaluation)

    def _executor(self) -> Any:
        return LocalExecutor(self._rng, self._workers, self._evaluators)


@dataclass(frozen=True)
class Fails:
    """The error that an item gives."""

    name: str


@dataclass
class Work:
    """A program, items, and what each of them gives by itself."""

    text: str
    program: Callable[[Any, Any], Any]
    items: list[Any]
    truths: list[Any]


@dataclass
class Tally:
    """Something with state, which a program holds."""

    seen: list[Any] = field(default_factory=list)
    total: float = 0.0

    def __call__(self, _: object, pair: tuple[int, Any]) -> Any:
        self.seen.append(pair[0])
        self.total += 1
        return self.total, len(self.seen), pair[1]

    def method(self, ev: object, pair: tuple[int, Any]) -> Any:
        return self(ev, pair)


class Shelf:
    """A class whose own values programs change."""

    books: list[int] = []  # noqa: RUF012
    count = 0


def stateful(rng: Rng) -> tuple[str, Callable[[Any, Any], Any], Callable[[int, Any], Any]]:
    """Return a program with state of a random kind, and what it gives where it is as it was at the beginning."""
    start = int(rng.integers(1, 9))
    array, listed, mapped, nested = np.full(3, float(start)), [start], {"n": start}, [[start]]
    module: Any = types.ModuleType("module_of_a_job")
    vars(module).update(count=start, kept=[])

    def of_array(_: object, pair: Any) -> Any:
        array[:] = array * 2 + pair[0]
        return array.tolist(), pair[1]

    def of_list(_: object, pair: Any) -> Any:
        listed.append(pair[0])
        nested[0].append(pair[0])
        return list(listed), len(nested[0]), pair[1]

    def of_dict(_: object, pair: Any) -> Any:
        mapped["n"] += 1
        mapped[pair[0]] = 1
        return dict(mapped), pair[1]

    def of_default(_: object, pair: Any, kept: list[int] = []) -> Any:  # noqa: B006
        kept.append(pair[0])
        return list(kept), pair[1]

    def of_attribute(_: object, pair: Any) -> Any:
        of_attribute.calls = getattr(of_attribute, "calls", start) + 1  # type: ignore[attr-defined]
        return of_attribute.calls, pair[1]  # type: ignore[attr-defined]

    def of_class(_: object, pair: Any) -> Any:
        Shelf.books.append(pair[0])
        Shelf.count += 1
        fresh = not hasattr(Shelf, "extra")
        Shelf.extra = 1  # type: ignore[attr-defined]
        return list(Shelf.books), Shelf.count, fresh, pair[1]

    def of_module(_: object, pair: Any) -> Any:
        module.count += 1
        module.kept.append(pair[0])
        return module.count, list(module.kept), pair[1]

    def counting() -> Callable[[Any, Any], Any]:
        count = start

        def of_cell(_: object, pair: Any) -> Any:
            nonlocal count
            count += 1
            return count, pair[1]

        return of_cell

    def of_argument(kept: list[int], _: object, pair: Any) -> Any:
        kept.append(pair[0])
        return list(kept), pair[1]

    kinds: list[tuple[str, Callable[[Any, Any], Any], Callable[[int, Any], Any]]] = [
        ("an array", of_array, lambda i, x: ([2.0 * start + i] * 3, x)),
        ("lists", of_list, lambda i, x: ([start, i], 2, x)),
        ("a dict", of_dict, lambda i, x: ({"n": start + 1, i: 1}, x)),
        ("a default argument", of_default, lambda i, x: ([i], x)),
        ("an attribute of a function", of_attribute, lambda i, x: (start + 1, x)),
        ("a class", of_class, lambda i, x: ([i], 1, True, x)),
        ("a module", of_module, lambda i, x: (start + 1, [i], x)),
        ("a cell", counting(), lambda i, x: (start + 1, x)),
        ("a partial", functools.partial(of_argument, [start]), lambda i, x: ([start, i], x)),
        ("an object", Tally(), lambda i, x: (1.0, 1, x)),
        ("a bound method", Tally().method, lambda i, x: (1.0, 1, x)),
    ]
    return kinds[int(rng.integers(len(kinds)))]


def work(rng: Rng) -> Work:
    """Return a job of a random kind."""
    text, inner, truth = stateful(rng)
    values = [value(rng) for _ in range(int(rng.integers(0, 12)))]
    errors = {i: one_of(rng, *ERRORS) for i in range(len(values)) if chance(rng, 0.2)}
    # It travels with the program, as a pickle; some of it is shared by tasks.
    held = [scalar(rng), one_of(rng, *objects()), {key(rng): np.arange(3)}] if chance(rng, 0.3) else None

    def program(ev: Any, pair: tuple[int, Any]) -> Any:
        raise_or_not = errors.get(pair[0])
        if raise_or_not is not None and not isinstance(raise_or_not, str):
            raise raise_or_not("as it was told")
        found = inner(ev, pair)
        if raise_or_not == "a function":
            return [found, lambda: 0]
        if raise_or_not == "a generator":
            return (x for x in [found])
        if raise_or_not == "itself":
            loop: list[Any] = []
            loop.append(loop)
            return loop
        return found, held

    truths = [
        (truth(i, x), held) if i not in errors else Fails(getattr(errors[i], "__name__", "KindError"))
        for i, x in enumerate(values)
    ]
    shown = {i: getattr(each, "__name__", each) for i, each in errors.items()}
    return Work(f"{text}, {len(values)} items, errors {shown}", program, list(enumerate(values)), truths)


ERRORS: tuple[Any, ...] = (
    *(ValueError, KeyError, ZeroDivisionError, SystemExit, StopIteration, ClusterError, MemoryError, RecursionError),
    *("a function", "a generator", "itself"),
)
"""What an item raises, or returns that does not travel."""


def expect(found: Any, truth: Any, what: str) -> None:
    """Raise a Finding unless a result is what it must be, or an error of the name that it must have."""
    if isinstance(truth, Fails):
        if not isinstance(found, Failure) or truth.name not in found.error:
            raise Finding("place", f"{what} gave {found!r:.200}, and fails with {truth.name}")
    elif isinstance(found, Failure) or not same(found, truth):
        raise Finding("wrong", f"{what} gave {found!r:.300}, true {truth!r:.300}")


def taken(results: Iterator[Any], positions: list[int] | None, most: int) -> list[Any]:
    """Return what an iterator gives, with a `Failure` in the place of each error; note positions if it has them."""
    found: list[Any] = []
    while True:
        try:
            x = next(results)
        except StopIteration:
            return found
        except TaskError as error:
            x = error.failure if positions is None else (error.failure.index, error.failure)
        if positions is not None:
            positions.append(x[0])
            x = x[1]
        found.append(x)
        if len(found) > most:
            raise Finding("place", f"{len(found)} results of {most} items")


def run_work(cluster: Cluster, job: Work, rng: Rng) -> None:
    """Run a job on a cluster in one of the ways to take its results, and compare."""
    ordered, returned = chance(rng, 0.6), chance(rng, 0.5)
    items = iter(job.items) if chance(rng, 0.3) else job.items
    results = iter(cluster.map(job.program, items, ordered=ordered, return_failures=returned))
    positions = None if ordered else list[int]()
    found = taken(results, positions, len(job.items))
    if positions is None and len(found) != len(job.truths):
        raise Finding("place", f"{len(found)} results of {len(job.truths)} items")
    if positions is not None and sorted(positions) != list(range(len(job.truths))):
        raise Finding("place", f"positions {positions} of {len(job.truths)} items")
    for index, each in zip(positions if positions is not None else range(len(found)), found, strict=True):
        expect(each, job.truths[index], f"item {index}")
        if isinstance(each, Failure) and (each.index != index or not same(each.inputs, job.items[index])):
            raise Finding("place", f"the failure of item {index} says {each.index}, {each.inputs!r:.200}")


class World:
    """A number of workers."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.workers = int(rng.integers(1, 4))
        self.text = [f"# {self.workers} workers"]

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Nothing is kept."""
        raise AssertionError(f"{kind} of {value}, {truth}")


def judged(text: str, run: Callable[[], None]) -> Call:
    """Return a call that compares by itself: nothing of it is refused."""

    def strictly() -> None:
        try:
            run()
        except Finding:
            raise
        except Exception as error:
            raise Finding("exception", f"{type(error).__name__}: {error}") from error

    return Call(text, strictly, None, check=lambda found, truth: 0.0, keep=False)


def a_map(w: World, rng: Rng) -> Call:
    job = work(rng)
    return judged(f"map with {job.text}", lambda: run_work(LocalCluster(rng, w.workers), job, rng))


def of_generators(w: World, rng: Rng) -> Call:
    """Numbers of the generators of a process: those of a task are the same for any number of workers."""

    def program(_: object, i: int) -> Any:
        import random

        return random.random(), np.random.normal(size=2), np.random.permutation(i + 2), list({"a", f"{i}", "c"})[:0]

    def run() -> None:
        items = list(range(int(rng.integers(1, 9))))
        one, other = (list(LocalCluster(rng, n).map(program, items)) for n in (1, w.workers))
        if not same(one, other):
            raise Finding("wrong", f"{one} with one worker, {other} with {w.workers}")
        if len({each[0] for each in one}) != len(items):
            raise Finding("wrong", f"two tasks drew the same numbers: {one}")

    return judged("numbers of the process's generators", run)


def a_reduction(w: World, rng: Rng) -> Call:
    count, fan_in = int(rng.integers(1, 30)), int(rng.integers(2, 6))
    failing = {i for i in range(count) if chance(rng, 0.05)}
    through_map = chance(rng, 0.5)
    parts = [value(rng) for _ in range(count)]

    def leaf(_: object, pair: tuple[int, Any]) -> list[Any]:
        if pair[0] in failing:
            raise ValueError("as it was told")
        return [pair[1]]

    def joined(_: object, x: list[Any], y: list[Any], kept: list[int] = []) -> list[Any]:  # noqa: B006
        kept.append(1)
        return x + y if len(kept) < fan_in + 1 else []

    def run() -> None:
        cluster = LocalCluster(rng, w.workers)
        given: Any = list(enumerate(parts))
        items = cluster.map(leaf, given) if through_map else [[x] for x in parts]
        try:
            found = cluster.reduce(joined, items, fan_in=fan_in)
        except JobError as error:
            if not through_map or {each.index for each in error.failures} != failing:
                raise Finding("place", f"failures {error.failures!r:.300}, true {failing}") from error
            return
        if through_map and failing:
            raise Finding("accepted", f"{found!r:.200} where items {failing} failed")
        if not same(found, parts):
            raise Finding("wrong", f"{found!r:.300}, true {parts!r:.300}")

    return judged(f"reduce {count} by {fan_in}, {'mapped, ' if through_map else ''}{sorted(failing)} fail", run)


def a_product(w: World, rng: Rng) -> Call:
    matrix, x = rng.uniform(-1, 1, MATRIX), rng.uniform(-1, 1, MATRIX[1])

    def run() -> None:
        ctx, keys = owner()
        vectors = [ctx.encrypt(part, keys.public) for part in (x[:SLOTS], x[SLOTS:])]
        found = LocalCluster(rng, w.workers).matvec(matrix, vectors)
        got = np.concatenate([ctx.decrypt(part, keys.secret) for part in found])[: len(matrix)]
        bound = max(part.error_bound for part in found)
        if not np.abs(got - matrix @ x).max() <= bound:
            raise Finding("wrong", f"{got}, true {matrix @ x}, bound {bound}")

    return judged("matvec", run)


def damaged(w: World, rng: Rng) -> Call:
    """Files of results that were cut, changed, exchanged or forged: no result is another, and the next run has all."""
    job = work(rng)
    times = int(rng.integers(1, 6))

    def run() -> None:
        directory = Path(tempfile.mkdtemp())
        try:
            results = directory / "results"
            run_work(LocalCluster(rng, w.workers, results), job, rng)
            files = sorted(results.glob("??/*"))
            for _ in range(times if files else 0):
                _damage(rng, files)
            found = taken(iter(LocalCluster(rng, w.workers, results).map(job.program, job.items)), None, len(job.items))
            for index, (each, truth) in enumerate(zip(found, job.truths, strict=True)):
                # One that is as long as it says is read before it is found out.
                if not (isinstance(each, Failure) and "ResultError" in each.error):
                    expect(each, truth, f"item {index}")
            run_work(LocalCluster(rng, w.workers, results), job, rng)
        finally:
            shutil.rmtree(directory)

    return judged(f"results in files, {times} damaged, {job.text}", run)


@functools.cache
def functions() -> list[tuple[Compiled, ServerKeys, list[bytes]]]:
    """Return compiled functions of all kinds of keys, with keys of each and requests."""
    specs: list[tuple[Any, Any, Input]] = [
        ("ckks", lambda x: (x * x).sum(), Input(4, -1.0, 1.0)),
        ("ckks", lambda x: x + x.sum(), Input(4, -1.0, 1.0)),
        *((scheme, lambda x: (x * x).sum(), Input(4, 0, 3)) for scheme in ("bgv", "bfv")),
        *((scheme, lambda x: x // 2, Input(2, 0, 3)) for scheme in ("bfv-lookups", "tfhe")),
        ("tfhe", lambda x: table(np.arange(40) % 7, x), Input(1, 0, 39)),
    ]
    found = []
    for scheme, function, spec in specs:
        f = noren.compile(function, spec, scheme=scheme, security=None)
        keys = f.client.keygen(seed=bytes(32))
        found.append((f, keys, [f.client.encrypt(np.full(spec.shape, i)) for i in range(2)]))
    return found


def directly(call: Callable[[], Any]) -> Any:
    """Return what a call gives, or the name of its error."""
    try:
        return call()
    except Error as error:
        return Fails(type(error).__name__)


def a_function(w: World, rng: Rng) -> Call:
    """Requests of a compiled function, its own, others and damaged ones, with keys that may be those of another."""
    f, own, requests = one_of(rng, *functions())
    _, keys, strange = one_of(rng, *functions())
    keys = own if chance(rng, 0.7) else keys
    items = [one_of(rng, *requests, *strange) for _ in range(int(rng.integers(0, 5)))]
    items = [mutate(rng, each, one_of(rng, *strange))[1] if chance(rng, 0.4) else each for each in items]

    def run() -> None:
        directory = Path(tempfile.mkdtemp())
        try:
            keys.save(directory / "keys")
            file = KeyFile.of(directory / "keys", 0, None, bytes(f))
            truth = directly(lambda: f._program.server(f._program.server_keys(bytes(keys))))
            found = directly(lambda: check_function(KeyDirectory(directory), file, directory / "keys"))
            if isinstance(truth, Fails) or isinstance(found, Fails):
                if found != truth:
                    raise Finding("accepted", f"{found} of keys of {keys}, true {truth}")
                return
            cluster = LocalCluster(rng, w.workers)
            cluster._evaluators = open_keys(directory, file)
            truths = [directly(lambda each=each: truth.run(each)) for each in items]  # type: ignore[misc]
            run_work(cluster, Work("", lambda server, item: server.run(item), items, truths), rng)
        finally:
            shutil.rmtree(directory)

    return judged(f"{len(items)} requests of a function of {f.scheme} with {keys}", run)


def _damage(rng: Rng, files: Sequence[Path]) -> None:
    """Change a file, or exchange two; not so that it is a result of the right task with a right digest."""
    one, other = (files[int(i)] for i in rng.integers(len(files), size=2))
    data, others = bytearray(one.read_bytes()), other.read_bytes()
    if one == other or not data:
        return
    at = int(rng.integers(len(data)))
    match int(rng.integers(7)):
        case 0:
            one.write_bytes(data[:at])
        case 1:
            data[at] ^= int(rng.integers(1, 256))
            one.write_bytes(data)
        case 2:
            one.write_bytes(bytes(data) + rng.bytes(5))
        case 3:
            one.write_bytes(others)
            other.write_bytes(data)
        case 4:
            one.write_bytes(MAGIC + bytes.fromhex(one.name) + others[len(MAGIC) + 32 :])
        case 5:
            one.write_bytes(_frame("00" * 32, b"\0N") + b"\0N")
        case _:
            one.unlink()
            shutil.copy(other, one)


VERBS = [
    Verb("map", a_map, weight=3),
    Verb("generators", of_generators, weight=0.5),
    Verb("reduce", a_reduction, weight=2),
    Verb("matvec", a_product, weight=0.2),
    Verb("compiled functions", a_function, weight=0.5),
    Verb("damaged files", damaged, weight=2),
    *cluster_values.VERBS,
]
