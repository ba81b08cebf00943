"""`noren.cluster` on a real local Ray cluster of several worker processes."""

import contextlib
import dataclasses
import functools
import itertools
import os
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from fuzz_api.cluster import run_work, work  # noqa: E402
from fuzz_api.cluster_values import objects  # noqa: E402
from noren import Error, KeyMismatchError, bfv, bgv, bootstrapping, ckks, programs, tfhe  # noqa: E402
from noren.cluster import (  # noqa: E402
    Cluster,
    ClusterError,
    Failure,
    JobError,
    KindError,
    TaskError,
    rotations_of_blocks,
)
from noren.cluster._keys import KeyDirectory, KeyFile  # noqa: E402
from noren.cluster._session import check_reachable  # noqa: E402
from noren.cluster._store import Mark  # noqa: E402
from noren.cluster._work import Keys  # noqa: E402

COUNT = 24
CHUNK = 1 << 16
SLOTS = 8
rng = np.random.default_rng(1)
VALUES = rng.uniform(-1, 1, (COUNT, SLOTS))
MATRIX = rng.uniform(-1, 1, (10, 2 * SLOTS - 3))


class Owner:
    """A client with keys of a small ring."""

    def __init__(self, log_n: int = 10) -> None:
        params = ckks.Parameters(log_n=log_n, log_q=[50, 40, 40], log_p=[50], security=None)
        self.ctx = ckks.Context(params, threads=1)
        rotations = rotations_of_blocks(MATRIX, [SLOTS, SLOTS - 3])
        self.keys = self.ctx.keygen(rotations=rotations)
        self.items = [self.ctx.encrypt(row, self.keys.public) for row in VALUES]

    def decrypt(self, x: ckks.Ciphertext) -> Any:
        return self.ctx.decrypt(x, self.keys.secret)


@pytest.fixture(scope="module")
def owner() -> Owner:
    return Owner()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def cluster(owner: Owner, directory: Path) -> Iterator[Cluster]:
    """A cluster of three workers; other keys use the same processes."""
    with on_it(owner.keys.evaluation, directory, workers=3) as started:
        yield started
    # Clusters of other keys may not be closed yet.
    ray.shutdown()


def on_it(keys: Any, directory: Path, **options: Any) -> Cluster:
    """Return a cluster of these keys on the processes that run."""
    return Cluster(keys, directory=directory, min_security=0, **options)


def cubed(ev: ckks.Evaluator, x: ckks.Ciphertext) -> ckks.Ciphertext:
    return ev.mul(ev.square(x), x)


def added(ev: ckks.Evaluator, x: ckks.Ciphertext, y: ckks.Ciphertext) -> ckks.Ciphertext:
    return ev.add(x, y)


def test_results_come_in_order_with_the_bytes_of_one_process(cluster: Cluster, owner: Owner) -> None:
    told: list[tuple[int, int]] = []
    found: list[Any] = list(cluster.map(cubed, owner.items, progress=lambda done, of: told.append((done, of))))
    here = owner.ctx.evaluator(owner.keys.evaluation)
    assert [bytes(x) for x in found] == [bytes(cubed(here, x)) for x in owner.items]
    errors = np.abs(owner.decrypt(found[5]) - VALUES[5] ** 3)
    assert errors.max() < found[5].error_bound < 1e-4
    assert told[-1] == (COUNT, COUNT)
    assert len(told) == COUNT
    once = cluster.map(cubed, owner.items[:1])
    list(once)
    with pytest.raises(ClusterError, match="were taken before"):
        list(once)


def test_results_come_as_they_are_ready(cluster: Cluster) -> None:
    def sleep(_: object, seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    assert list(cluster.map(sleep, [0.0, 0.0, 0.0])) == [0.0] * 3
    found = list(cluster.map(sleep, [1.0, 0.0, 0.01], ordered=False))
    assert sorted(found) == [(0, 1.0), (1, 0.0), (2, 0.01)]
    assert found[-1] == (0, 1.0)


def test_a_generator_is_not_run_ahead_of_the_window(owner: Owner, directory: Path, cluster: Cluster) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for i in range(40):
            taken += 1
            yield i

    small = on_it(owner.keys.evaluation, directory, window=5)
    for done, value in enumerate(small.map(lambda _, i: i * i, items())):
        assert value == done**2
        # Those in the window, this one, and those that came with it.
        assert taken <= done + 1 + 5


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 24])
def test_a_tree_combines_all_in_order(cluster: Cluster, count: int) -> None:
    joined = cluster.reduce(lambda _, x, y: x + y, [[i] for i in range(count)], fan_in=3)
    assert joined == list(range(count))


def test_a_map_is_reduced_without_passing_through_the_driver(cluster: Cluster, owner: Owner) -> None:
    squares: Any = cluster.map(lambda ev, x: ev.square(x), owner.items)
    total = cluster.reduce(added, squares, fan_in=4)
    assert squares.work().tasks == COUNT
    errors = np.abs(owner.decrypt(total) - (VALUES**2).sum(axis=0))
    assert errors.max() < total.error_bound < 1e-3
    # The shape of the tree is that of the number of items: the bytes are those of another run.
    again = cluster.reduce(added, cluster.map(lambda ev, x: ev.square(x), owner.items), fan_in=4)
    assert bytes(total) == bytes(again)


def test_one_thing_where_several_are_needed_and_masked_matrices_are_refused(cluster: Cluster, owner: Owner) -> None:
    one, matrix = owner.items[0], np.ones((4, 4))
    for call in (
        lambda: cluster.map(lambda _, x: x, one),
        lambda: cluster.map(lambda _, x: x, "items"),
        lambda: cluster.reduce(added, one),
        lambda: cluster.matvec(matrix, one),
    ):
        with pytest.raises(TypeError, match="put it in a list"):
            call()
    with pytest.raises(ClusterError, match=r"filled\(0\)"):
        cluster.matvec(np.ma.MaskedArray(matrix, mask=matrix > 0), [one])


def test_an_address_where_nothing_answers_is_refused_at_once() -> None:
    for address in ("nohost.invalid:6379", "127.0.0.1:1"):
        with pytest.raises(ClusterError, match="ray start --head"):
            check_reachable(address)


def test_blocks_of_a_matrix_that_is_mapped(cluster: Cluster, owner: Owner, tmp_path: Path) -> None:
    np.save(tmp_path / "matrix.npy", MATRIX)
    matrix = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    x: Any = rng.uniform(-1, 1, MATRIX.shape[1])
    parts = [owner.ctx.encrypt(x[:SLOTS], owner.keys.public), owner.ctx.encrypt(x[SLOTS:], owner.keys.public)]
    product = cluster.matvec(matrix, parts)
    assert len(product) == 2
    values: Any = np.concatenate([owner.decrypt(part) for part in product])
    errors = np.abs(values[: len(MATRIX)] - MATRIX @ x)
    assert errors.max() < max(part.error_bound for part in product) < 1e-4
    with pytest.raises(ClusterError, match=r"shape \(10, 13\), needed are two axes, and 8 columns"):
        cluster.matvec(MATRIX, parts[:1])


def test_paths_of_files_are_items(cluster: Cluster, owner: Owner, tmp_path: Path) -> None:
    paths = []
    for i, x in enumerate(owner.items[:4]):
        paths.append(tmp_path / f"{i}.ct")
        x.save(paths[-1])
    found = list(cluster.map(lambda ev, path: ev.square(ev.context.load(path)), paths))
    np.testing.assert_allclose([owner.decrypt(x) for x in found], VALUES[:4] ** 2, atol=1e-4)
    [failed] = cluster.map(lambda ev, path: ev.context.load(path), [str(tmp_path / "none")], return_failures=True)
    assert isinstance(failed, Failure)
    assert "none" in failed.error


def test_failures_have_their_inputs_and_the_others_come(cluster: Cluster, owner: Owner) -> None:
    def picky(ev: ckks.Evaluator, item: tuple[int, ckks.Ciphertext]) -> Any:
        i, x = item
        if i == 2:
            raise ValueError("the third is not liked")
        return ev.conjugate(x) if i == 5 else x

    items = list(enumerate(owner.items[:8]))
    found: list[Any] = list(cluster.map(picky, items, return_failures=True))
    assert [i for i, x in enumerate(found) if isinstance(x, Failure)] == [2, 5]
    assert found[2].error == "ValueError: the third is not liked"
    assert bytes(found[2].inputs[1]) == bytes(owner.items[2])
    assert "picky" in found[2].traceback
    assert "MissingKeyError" in found[5].error
    with pytest.raises(JobError, match="a step of the reduction"):
        cluster.reduce(lambda _, x, y: x / 0, [1.0, 2.0])
    with pytest.raises(JobError, match=r"2 tasks failed; the first: item 2 .*not liked") as error:
        cluster.reduce(added, cluster.map(picky, items))
    assert [failure.index for failure in error.value.failures] == [2, 5]


def test_results_and_errors_are_in_the_places_of_their_items(cluster: Cluster, owner: Owner) -> None:
    other = owner.ctx.encrypt(VALUES[0], owner.ctx.keygen().public)

    class Of3rdParties(Exception):  # noqa: N818
        pass

    def picky(_: object, item: object) -> object:
        match item:
            case 2:
                raise ValueError("the third is not liked")
            case 5:
                raise Of3rdParties("nor the sixth")
            case 7:
                raise SystemExit(3)
            case 8:
                raise KeyMismatchError("nor the ninth")
        return item

    def items() -> Iterator[object]:
        yield from [0, 1, 2, 3, lambda: 4, 5, other, 7, 8, 9]
        raise KeyError("no more items")

    def taken(results: Iterator[Any]) -> list[Any]:
        """Return what an iterator gives, errors in their places."""
        found: list[Any] = []
        while True:
            try:
                found.append(next(results))
            except StopIteration:
                return found
            except TaskError as error:
                found.append((error.failure.index, type(error.__cause__).__name__, error.failure.error))

    results = iter(cluster.map(picky, [*itertools.islice(items(), 10)]))
    found = taken(results)
    assert [found[i] for i in (0, 1, 3, 9)] == [0, 1, 3, 9]
    assert found[2] == (2, "ValueError", "ValueError: the third is not liked")
    assert found[4][:2] == (4, "KindError")
    assert found[5][:2] == (5, "NoneType"), "an error of an unknown class is a text"
    assert "Of3rdParties: nor the sixth" in found[5][2]
    assert found[6][:2] == (6, "KeyMismatchError")
    assert "give the evaluation keys of the same secret key" in found[6][2]
    assert found[7] == (7, "NoneType", "SystemExit: 3")
    assert found[8][:2] == (8, "KeyMismatchError")
    # In the order in which they end, each with its position.
    unordered = taken(iter(cluster.map(picky, [*itertools.islice(items(), 10)], ordered=False)))
    assert sorted(x[0] for x in unordered) == list(range(10))
    assert sorted(x for x in unordered if len(x) == 2) == [(0, 0), (1, 1), (3, 3), (9, 9)]
    # What the items raise themselves comes after the results of those before it.
    each = iter(cluster.map(picky, items(), return_failures=True))
    assert [next(each) for _ in range(10)][9] == 9
    with pytest.raises(KeyError, match="no more items"):
        next(each)


def test_a_task_that_ends_its_process_is_reported(owner: Owner, directory: Path, cluster: Cluster) -> None:
    def poison(_: object, i: int) -> int:
        if i == 3:
            os.kill(os.getpid(), 9)
        return i

    once = on_it(owner.keys.evaluation, directory, retries=1)
    found = list(once.map(poison, range(6), return_failures=True))
    assert [x for x in found if not isinstance(x, Failure)] == [0, 1, 2, 4, 5]
    assert found[3].inputs == 3
    assert "its process ended each time it was tried" in found[3].error


def test_items_that_cannot_be_sent_are_failures(cluster: Cluster, tmp_path: Path) -> None:
    items = [1, tmp_path / "none", lambda: 0, re.compile("a"), 2]
    found = list(cluster.map(lambda _, x: x, items, return_failures=True))
    assert [found[0], found[4]] == [1, 2]
    errors = [x.error for x in found if isinstance(x, Failure)]
    assert ["FileNotFoundError" in errors[0], "builtins.function" in errors[1], "re.Pattern" in errors[2]] == [True] * 3
    with pytest.raises(JobError, match="1 tasks failed; the first: item 1: FileNotFoundError"):
        cluster.reduce(lambda _, x, y: x, [1, tmp_path / "none", 2])


@dataclasses.dataclass(frozen=True)
class Measure:
    """Of a module of tests, which workers do not have."""

    value: float
    names: tuple[str, ...] = ()


def doubled(_: object, x: Measure) -> Measure:
    return dataclasses.replace(x, value=2 * x.value)


def test_dataclasses_and_tables_of_pandas_are_items_and_results(cluster: Cluster) -> None:
    pandas = pytest.importorskip("pandas")

    @dataclasses.dataclass
    class Inner:
        values: Any

    def counted(_: object, frame: Any) -> list[Any]:
        return [frame.assign(twice=2 * frame["x"]), Inner(frame["x"].to_numpy())]

    assert list(cluster.map(doubled, [Measure(1.0, ("a",)), Measure(2.0)])) == [Measure(2.0, ("a",)), Measure(4.0)]
    table = pandas.DataFrame({"x": [1, 2], "name": ["a", "b"]}, index=[5, 7])
    [[found, inner]] = cluster.map(counted, [table])
    pandas.testing.assert_frame_equal(found, table.assign(twice=[2, 4]))
    assert isinstance(inner, Inner)
    assert inner.values.tolist() == [1, 2]
    # Through a reduction, whose program does not name the class.
    total: Any = cluster.reduce(
        lambda _, x, y: x if x.value > y.value else y, [Measure(1.0), Measure(3.0), Measure(2.0)]
    )
    assert total == Measure(3.0)
    [failed] = cluster.map(lambda _, x: re.compile("a"), [1], return_failures=True)
    assert "re.Pattern does not travel" in failed.error
    with pytest.raises(KindError, match=r"says that it returns .*Pattern.*which does not travel"):
        cluster.map(patterned, [1])


def patterned(_: object, x: int) -> list[re.Pattern[str]]:
    return [re.compile(str(x))]


def drawn(_: object, x: float, generator: Any) -> float:
    return x * float(generator.random())


class Counter:
    """A class with values that tasks change."""

    seen: ClassVar[list[object]] = []
    last: object = None


def test_each_task_begins_with_the_program_as_it_is(cluster: Cluster) -> None:
    weights, table, frozen = np.ones(2), {"count": 0}, np.arange(3.0)
    frozen.flags.writeable = False
    # So that tasks of a worker follow one another.
    items = list(range(12))

    def changing(_: object, i: int, kept: list[int] = []) -> tuple[Any, ...]:  # noqa: B006
        weights[:] += i
        table["count"] += 1
        kept.append(i)
        changing.calls = getattr(changing, "calls", 0) + 1  # type: ignore[attr-defined]
        Counter.seen.append(i)
        before, Counter.last = Counter.last, i
        extra = getattr(Counter, "extra", None)
        Counter.extra = i  # type: ignore[attr-defined]
        os.environ["NOREN_TEST_STATE"] = os.environ.get("NOREN_TEST_STATE", "") + "x"
        os.chdir("/tmp" if Path.cwd() != Path("/tmp") else "/")
        return (
            weights.tolist(), table["count"], kept, changing.calls, Counter.seen, before, extra,  # type: ignore[attr-defined]
            os.environ["NOREN_TEST_STATE"], float(np.random.normal()), random.random(), frozen.sum(),
            list({"a", "b", "c"}),
        )  # fmt: skip

    def here() -> list[Any]:
        return list(cluster.map(changing, items))

    found = here()
    assert [x[:8] for x in found] == [([1.0 + i] * 2, 1, [i], 1, [i], None, None, "x") for i in items]
    # Numbers of the process's generators follow from the task, and those of two tasks differ.
    assert len({x[8] for x in found}) == len({x[9] for x in found}) == len(items)
    assert here() == found
    assert {tuple(x[11]) for x in found} == {tuple(found[0][11])}
    assert {x[10] for x in found} == {3.0}
    assert [weights.tolist(), table, Counter.seen] == [[1.0, 1.0], {"count": 0}, []]
    [failed] = cluster.map(lambda _, x: frozen.__setitem__(0, x), [1], return_failures=True)
    assert "read-only" in failed.error
    for generator in (np.random.default_rng(1), random.Random(1), np.random.RandomState(1)):
        with pytest.raises(ClusterError, match="each task would draw the same numbers"):
            cluster.map(functools.partial(drawn, generator=generator), [1])


def test_random_jobs_give_what_each_task_gives_alone(cluster: Cluster) -> None:
    for seed in range(12):
        generator = np.random.default_rng([seed, 46])
        # Objects of other secret keys are failures here.
        cluster._owners |= {each.owner for each in objects() if hasattr(each, "owner")}
        run_work(cluster, work(generator), generator)


def test_an_evaluator_counts_for_one_task(cluster: Cluster, directory: Path) -> None:
    bits = tfhe.Context(tfhe.Parameters("TOY_2_2"))
    own = bits.keygen()
    batches = [bits.encrypt(np.array([i % 4, 1]), own.secret) for i in range(6)]

    def counted(ev: tfhe.Evaluator, batch: tfhe.EncryptedArray) -> tuple[int, int]:
        before = ev.bootstraps
        _ = batch * batch
        return before, ev.bootstraps

    found = list(on_it(own.server, directory).map(counted, batches))
    assert found == [found[0]] * 6
    assert found[0][0] == 0 < found[0][1]


def listening(pids: set[int]) -> set[str]:
    """Return the addresses, in hexadecimal, at which processes listen."""
    sockets = set()
    for link in (each for pid in pids for each in Path(f"/proc/{pid}/fd").glob("*")):
        # Files are opened and closed meanwhile.
        with contextlib.suppress(OSError):
            sockets.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    return {row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets}


def test_processes_that_were_started_here_listen_to_this_machine_alone(cluster: Cluster) -> None:
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    addresses = listening(ours)
    assert len(ours) > 4
    assert addresses
    # 127.0.0.1, also as an address of IPv6, and ::1.
    assert addresses <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_paths_are_those_of_the_driver(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").write_text("contents")
    assert list(cluster.map(lambda _, path: path.read_text(), [Path("here")])) == ["contents"]


def test_programs_of_one_name_are_told_apart_in_workers(cluster: Cluster) -> None:
    def made(table: list[int]) -> Any:
        class Table:
            values = table

        return lambda _, i: Table.values[i]

    assert [list(cluster.map(made(table), [0, 0])) for table in ([1], [2])] == [[1, 1], [2, 2]]


def test_a_cluster_that_was_closed_says_so(owner: Owner, directory: Path, cluster: Cluster, tmp_path: Path) -> None:
    mine = directory / "mine.keys"
    owner.keys.evaluation.save(mine, force=True)
    given = set(directory.glob(".*.given"))
    one, two = on_it(mine, directory), on_it(owner.keys.evaluation, directory, results=tmp_path / "results")
    late = one.map(cubed, owner.items[:1])
    one.close(forget_keys=True)
    one.close()
    with pytest.raises(ClusterError, match="the cluster was closed"):
        list(late)
    with pytest.raises(ClusterError, match="the cluster was closed"):
        one.reduce(added, owner.items[:2])
    # Others go on, with keys that are placed again, and nothing of the caller's is removed.
    assert len(list(two.map(cubed, owner.items[:4]))) == 4
    results = two.map(cubed, owner.items[:2])
    with pytest.raises(ClusterError, match="those of another cluster"):
        on_it(owner.keys.evaluation, directory).reduce(added, results)
    two.close()
    assert mine.exists()
    assert len(set(directory.glob(".*.given")) - given) == 1, "that of the cluster which is open"


def test_too_many_failures_end_a_job(owner: Owner, directory: Path, cluster: Cluster) -> None:
    few = on_it(owner.keys.evaluation, directory, max_failures=2)
    with pytest.raises(JobError, match="tasks failed; the first: item "):
        list(few.map(lambda _, i: i / 0, range(1000), return_failures=True))
    # The errors that are known have their places before that, and so have results: the window has the first four alone.
    narrow = on_it(owner.keys.evaluation, directory, max_failures=2, window=4)
    each = iter(narrow.map(lambda _, i: i if i < 4 else i / 0, range(1000)))
    assert [next(each) for _ in range(4)] == [0, 1, 2, 3]
    for i in range(4, 1000):
        with pytest.raises(JobError) as error:
            next(each)
        if not isinstance(error.value, TaskError):
            break
        assert error.value.failure.index == i
    assert 3 <= len(error.value.failures) < 100
    assert next(each, None) is None


def test_results_are_found_again(owner: Owner, directory: Path, cluster: Cluster, tmp_path: Path) -> None:
    results = tmp_path / "results"
    kept = on_it(owner.keys.evaluation, directory, results=results)
    first = kept.map(cubed, owner.items)
    before = [bytes(x) for x in first]
    assert first.found == 0
    assert results.stat().st_mode & 0o777 == 0o700
    second = kept.map(cubed, owner.items)
    assert [bytes(x) for x in second] == before
    assert second.found == COUNT
    # The same workers run the same program without a directory.
    assert [bytes(x) for x in cluster.map(cubed, owner.items)] == before
    # A program that captures something else is another.
    other = kept.map(lambda ev, x: cubed(ev, x), owner.items[:2])
    list(other)
    assert other.found == 0
    total = kept.reduce(added, kept.map(cubed, owner.items))
    assert bytes(kept.reduce(added, kept.map(cubed, owner.items))) == bytes(total)
    # A file that was damaged is set aside, and made again.
    damaged = max(results.glob("??/*"), key=lambda path: path.stat().st_mtime)
    contents = bytearray(damaged.read_bytes())
    contents[-1] ^= 1
    damaged.write_bytes(contents)
    with pytest.raises(ClusterError, match="is damaged and was renamed"):
        kept.reduce(added, kept.map(cubed, owner.items))
    assert bytes(kept.reduce(added, kept.map(cubed, owner.items))) == bytes(total)
    # Files that were exchanged are found out, and made again.
    one, two = [path for path in results.glob("??/*") if not path.suffix][:2]
    both = [one.read_bytes(), two.read_bytes()]
    one.write_bytes(both[1])
    two.write_bytes(both[0])
    assert [bytes(x) for x in kept.map(cubed, owner.items)] == before


def test_a_directory_of_results_is_its_users_alone(owner: Owner, directory: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(ClusterError, match="others can write to"):
        on_it(owner.keys.evaluation, directory, results=shared)
    with pytest.raises(ClusterError, match="others can write to"):
        on_it(owner.keys.evaluation, shared)


def test_workers_of_a_node_share_one_copy_of_the_keys(cluster: Cluster, directory: Path) -> None:
    large = Owner(log_n=14)
    shared = on_it(large.keys.evaluation, directory)
    [[placement]] = shared.placements.values()

    def memory(ev: ckks.Evaluator, x: ckks.Ciphertext) -> tuple[int, float, float]:
        total = ev.matvec(MATRIX[:SLOTS, :SLOTS], x)
        time.sleep(0.5)
        lines = Path("/proc/self/smaps").read_text().splitlines()
        share, inside = 0, False
        for line in lines:
            if "-" in line.split()[0]:
                inside = line.endswith(".mapped")
            elif line.startswith("Pss:") and inside:
                share += int(line.split()[1])
        roll = dict(line.split()[:2] for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
        return os.getpid(), share * 1024, int(roll["Anonymous:"]) * 1024 if total is not None else 0

    x = large.ctx.encrypt(VALUES[0], large.keys.public)
    found = list(shared.map(memory, [x] * 9))
    workers = {pid: (pss, private) for pid, pss, private in found}
    assert len(workers) == 3
    assert 30e6 < placement.mapped < 200e6
    # At the end of all tasks each page is counted by the share of each process that has it.
    assert sum(pss for pss, _ in workers.values()) < 1.1 * placement.mapped
    shared.close(forget_keys=True)
    assert not list(directory.glob(f"{shared._keys.files[0][1].digest}*.mapped"))


def test_programs_on_tables(cluster: Cluster, directory: Path) -> None:
    table = rng.uniform(0, 1, (40, 3))
    program = programs.Program("mean")
    params = programs.choose_parameters([program], rows=40, columns=3, precision_bits=16)
    ctx = ckks.Context(params)
    keys = programs.plan([program], rows=40, columns=3, slots=ctx.slots).keygen(ctx)
    encrypted = programs.encrypt_table(table, keys.secret)
    real = Cluster(keys.evaluation, directory=directory)
    [found] = real.map(lambda ev, t: programs.run(ev, program, t), [encrypted])
    np.testing.assert_allclose(programs.decrypt_table(found, keys.secret).values[0], table.mean(axis=0), atol=2**-16)


@pytest.mark.parametrize("scheme", [bfv, bgv])
def test_integers_in_both_schemes(cluster: Cluster, directory: Path, scheme: Any) -> None:
    ctx = scheme.Context(scheme.Parameters(5, 193, [50] * 3, [50], security=None))
    keys = ctx.keygen()
    items = [ctx.encrypt(np.arange(4) + i, keys.public) for i in range(3)]
    exact = on_it(keys.evaluation, directory, scheme=scheme.__name__.removeprefix("noren."))
    found = [ctx.decrypt(x, keys.secret)[:4].tolist() for x in exact.map(lambda ev, x: ev.square(x), items)]
    assert found == [((np.arange(4) + i) ** 2).tolist() for i in range(3)]


def test_lookups_bootstraps_and_tfhe_are_tasks(cluster: Cluster, directory: Path, tmp_path: Path) -> None:
    params = bfv.Parameters(5, 193, [50] * 10, [50] * 2, security=None)
    ctx = bfv.Context(params)
    keys = ctx.keygen()
    quotient = bfv.Lookup(lambda x, y: x // y, domain=(8, 8), undefined=0)
    plan = quotient.plan(params)
    prepared = tmp_path / "quotient.lookup"
    quotient.prepare(ctx).save(prepared)

    def divide(keys: bfv.LookupKeys, pair: list[bfv.Ciphertext]) -> bfv.Ciphertext:
        function = bfv.PreparedLookup.load(keys.context, prepared)
        return function(keys.context.evaluator(keys.evaluation), *pair, keys=keys)

    x, y = (ctx.encrypt(plan.spread(numbers), keys.public) for numbers in ([7, 6, 5], [2, 3, 0]))
    looked_up = on_it(plan.keygen(keys.secret), directory)
    [z] = looked_up.map(divide, [[x, y]])
    assert plan.gather(ctx.decrypt(z, keys.secret))[:3].tolist() == [3, 2, 0]

    toy = bootstrapping.Parameters("toy")
    real = ckks.Context(toy.ckks)
    secret = real.keygen(level=toy.output_level)
    boot = on_it(bootstrapping.BootstrapKeys.generate(toy, secret.secret), directory)
    low = real.encrypt([0.5, -0.25], secret.public, slots=2, level=toy.input_level)
    [high] = boot.map(lambda ev, x: ev.bootstrap(x), [low])
    assert high.level == toy.output_level
    np.testing.assert_allclose(real.decrypt(high, secret.secret), [0.5, -0.25], atol=high.error_bound)

    bits = tfhe.Context(tfhe.Parameters("TOY_2_2"))
    own = bits.keygen()
    batches = [bits.encrypt(np.array([i % 4, 1]), own.secret) for i in range(5)]
    both = on_it({"bits": own.server, "vectors": secret.evaluation}, directory)
    sums = list(both.map(lambda evs, batch: (sorted(evs), batch + batch), batches))
    assert [names for names, _ in sums] == [["bits", "vectors"]] * 5
    assert [bits.decrypt(x, own.secret).tolist() for _, x in sums] == [[2 * (i % 4), 2] for i in range(5)]


def test_ciphertexts_of_another_secret_key_are_refused_before_they_are_sent(cluster: Cluster, owner: Owner) -> None:
    other = owner.ctx.keygen()
    stranger = owner.ctx.encrypt(VALUES[0], other.public)
    with pytest.raises(TaskError, match="give the evaluation keys of the same secret key") as error:
        list(cluster.map(cubed, [stranger]))
    assert isinstance(error.value.__cause__, KeyMismatchError)


def test_wrong_keys_and_options_are_refused(owner: Owner, cluster: Cluster, directory: Path, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="SecretKey are no keys that travel"):
        on_it(owner.keys.secret, tmp_path / "nothing")
    assert not list((tmp_path / "nothing").iterdir())
    with pytest.raises(ClusterError, match="cannot be read: No such file"):
        on_it(tmp_path / "none.keys", directory)
    (tmp_path / "text").write_text("no keys")
    with pytest.raises(ClusterError, match="is no file of noren"):
        on_it(tmp_path / "text", directory)
    owner.keys.secret.save(tmp_path / "secret.key")
    with pytest.raises(ClusterError, match="kind 0x0105, needed are keys that travel and do not decrypt"):
        on_it(tmp_path / "secret.key", directory)
    owner.keys.evaluation.save(tmp_path / "evaluation.keys")
    data = (tmp_path / "evaluation.keys").read_bytes()
    (tmp_path / "short.keys").write_bytes(data[:-64])
    with pytest.raises(ClusterError, match=f"has {len(data) - 64} bytes, and {len(data)} by its header"):
        on_it(tmp_path / "short.keys", directory)
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    (tmp_path / "changed.keys").write_bytes(changed)
    with pytest.raises(ClusterError, match="WireError"):
        on_it(tmp_path / "changed.keys", tmp_path / "elsewhere")
    with pytest.raises(ClusterError, match="InsecureError"):
        Cluster(owner.keys.evaluation, directory=tmp_path / "strict")
    with pytest.raises(ClusterError, match="scheme='bgv', they take no scheme"):
        on_it(owner.keys.evaluation, directory, scheme="bgv")
    with pytest.raises(ClusterError, match="leave address and workers out"):
        on_it(owner.keys.evaluation, directory, workers=2)
    with pytest.raises(ClusterError, match=r"a task needs 64 threads, and no node has that; they have 3 cores"):
        on_it(owner.keys.evaluation, directory, threads=64)
    with pytest.raises(ClusterError, match=r"a task needs 1 threads and 10{15} bytes, and no node has that"):
        on_it(owner.keys.evaluation, directory, memory=10**15)
    with pytest.raises(ClusterError, match="fan-in of 1"):
        cluster.reduce(added, owner.items, fan_in=1)
    with pytest.raises(ClusterError, match="nothing to reduce"):
        cluster.reduce(added, [])
    with pytest.raises(ClusterError, match=r"schemes were named for \['y'\], and the keys are \['x'\]"):
        on_it({"x": owner.keys.evaluation}, directory, scheme={"y": "bgv"})
    with pytest.raises(ClusterError, match="no keys were given"):
        on_it({}, directory)


def test_nodes_that_do_not_suit_are_refused(
    owner: Owner, cluster: Cluster, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("noren.cluster._cluster.node_version", lambda: "noren 9.9.9, Python 3.11, numpy 2")
        with pytest.raises(ClusterError, match=r"has noren 0.*, and the driver noren 9.9.9.*: install one version"):
            on_it(owner.keys.evaluation, directory)
    with monkeypatch.context() as patched:
        patched.setattr(
            "noren.cluster._store.ResultStore.mark", lambda store: Mark(store.directory / ".directory", "other")
        )
        with pytest.raises(ClusterError, match="does not see the results' directory"):
            on_it(owner.keys.evaluation, directory, results=tmp_path / "results")


def test_a_node_without_the_file_gets_keys_in_parts(
    owner: Owner, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "evaluation.keys"
    owner.keys.evaluation.save(path)
    monkeypatch.setattr(
        "noren.cluster._cluster.Keys", lambda files, _, *rest: Keys(files, (str(tmp_path / "no"),), *rest)
    )
    far = on_it(path, tmp_path / "node")
    [[placement]] = far.placements.values()
    assert placement.fetched == path.stat().st_size
    assert [bytes(x) for x in far.map(cubed, owner.items[:2])] == [
        bytes(cubed(owner.ctx.evaluator(owner.keys.evaluation), x)) for x in owner.items[:2]
    ]
    again = on_it(path, tmp_path / "node")
    assert [each.fetched for [each] in again.placements.values()] == [0]
    again.close(forget_keys=True)
    assert not list((tmp_path / "node").glob("*.mapped"))
    assert path.exists()


def test_a_copy_of_keys_that_was_cut_off_goes_on(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.cluster._keys.CHUNK", CHUNK)
    source = tmp_path / "evaluation.keys"
    owner.keys.evaluation.save(source)
    data = source.read_bytes()
    keys = KeyFile.of(source, 0, None)
    node = KeyDirectory(tmp_path / "node")
    asked: list[int] = []

    def fetch(offset: int) -> bytes:
        asked.append(offset)
        if len(asked) == 1:
            return data[offset : offset + CHUNK]
        raise ConnectionError("the network is gone")

    assert len(data) > 2 * CHUNK

    def fetch_all(offset: int) -> bytes:
        asked.append(offset)
        return data[offset : offset + CHUNK]

    with pytest.raises(ConnectionError):
        node.place(keys, fetch, None)
    asked.clear()
    node.place(keys, fetch_all, None)
    assert asked[0] == CHUNK
    assert node.mapped(keys).exists()
    assert not list(node.directory.glob("*.part"))
    # Another file that says that it is these keys is found out.
    wrong = bytearray(data)
    wrong[-100] ^= 1
    elsewhere = KeyDirectory(tmp_path / "elsewhere")
    with pytest.raises(Error, match="digest"):
        elsewhere.place(keys, lambda offset: bytes(wrong[offset : offset + CHUNK]), None)
    assert not elsewhere.mapped(keys).exists()
    # Nothing of it is left for the next time.
    elsewhere.place(keys, fetch_all, None)
