"""Where `noren.cluster` keeps what it needs, on a real local Ray cluster: processes, their state, keys and results."""

import contextlib
import functools
import os
import random
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("ray")

from cluster_world import COUNT, MATRIX, SLOTS, VALUES, Owner, added, cubed, on_it

from noren import Error, ckks, tfhe
from noren.cluster import Cluster, ClusterError
from noren.cluster._keys import KeyDirectory, KeyFile
from noren.cluster._session import check_reachable
from noren.cluster._store import Mark
from noren.cluster._work import Keys

pytest_plugins = ["cluster_world"]

CHUNK = 1 << 16


def test_an_address_where_nothing_answers_is_refused_at_once() -> None:
    for address in ("nohost.invalid:6379", "127.0.0.1:1"):
        with pytest.raises(ClusterError, match="ray start --head"):
            check_reachable(address)


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
    with pytest.raises(ClusterError, match="holds secret key with CKKS parameters, needed are keys that travel"):
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
