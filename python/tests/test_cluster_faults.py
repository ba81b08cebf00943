"""`noren.cluster` while processes are killed at random times.

NOREN_CLUSTER_KILLS says how often each kind of process is killed: 20 in `make test-cluster`, once by default.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from noren import ckks  # noqa: E402
from noren.cluster import Cluster  # noqa: E402

KILLS = int(os.environ.get("NOREN_CLUSTER_KILLS", "1"))
COUNT = 48
SLOTS = 4
WORKERS = 4
SEED = 7
SECONDS = 0.15
"""Of a task, so that a kill meets one."""


def program(log: Path, seconds: float) -> Any:
    """Return a program that writes down when it begins and when it ends."""
    # As a text: the contents of a `Path` would be part of the program.
    name = str(log)

    def note(what: str, value: float) -> None:
        with Path(name).open("a") as file:
            file.write(f"{what} {value}\n")

    def run(ev: ckks.Evaluator, item: tuple[int, ckks.Ciphertext]) -> ckks.Ciphertext:
        i, x = item
        note("begin", i)
        time.sleep(seconds)
        y = ev.square(x) * float(i)
        note("end", i)
        return y

    return run


class Owner:
    """A client with keys of a small ring, which follow from a seed."""

    def __init__(self) -> None:
        params = ckks.Parameters(log_n=10, log_q=[50, 40, 40], log_p=[50], security=None)
        self.ctx = ckks.Context(params, threads=1)
        self.keys = self.ctx.keygen(seed=bytes([SEED]) * 32)

    def items(self) -> list[tuple[int, ckks.Ciphertext]]:
        values = np.random.default_rng(SEED).uniform(-1, 1, (COUNT, SLOTS))
        xs = [self.ctx.encrypt(row, self.keys.public, seed=bytes([i]) * 32) for i, row in enumerate(values)]
        return list(enumerate(xs))

    def expected(self, log: Path) -> list[bytes]:
        ev = self.ctx.evaluator(self.keys.evaluation)
        return [bytes(program(log, 0.0)(ev, item)) for item in self.items()]


@pytest.fixture(scope="module")
def owner() -> Owner:
    return Owner()


@pytest.fixture(scope="module")
def expected(owner: Owner, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return owner.expected(tmp_path_factory.mktemp("log") / "log")


def workers_below(pid: int) -> list[int]:
    """Return the worker processes that run tasks of a driver, or of what it started."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            title = (directory / "cmdline").read_bytes()
            environment = (directory / "environ").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::run") and f"NOREN_TEST_DRIVER={pid}".encode() in environment:
            found.append(int(directory.name))
    return found


def lines(log: Path, what: str) -> int:
    return sum(line.startswith(what) for line in log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.parametrize("half", [False, True])
def test_killed_workers_lose_nothing(owner: Owner, expected: list[bytes], tmp_path: Path, half: bool) -> None:
    generator = random.Random(SEED + half)
    os.environ["NOREN_TEST_DRIVER"] = str(os.getpid())
    killed = rounds = 0
    with Cluster(
        owner.keys.evaluation, workers=WORKERS, directory=tmp_path / "keys", retries=50, min_security=0
    ) as cluster:
        while rounds < KILLS:
            log = tmp_path / f"log{rounds}"
            before = killed
            found = []
            next_kill = time.monotonic() + generator.uniform(0.05, 0.5)
            for x in cluster.map(program(log, SECONDS), owner.items(), ordered=False):
                found.append(x)
                if rounds < KILLS and time.monotonic() > next_kill:
                    targets = workers_below(os.getpid())
                    for pid in generator.sample(targets, min(len(targets), WORKERS // 2 if half else 1)):
                        # It may have ended by itself.
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                            killed += 1
                    # Workers may still be starting.
                    rounds += bool(targets)
                    next_kill = time.monotonic() + generator.uniform(0.05, 1.0)
            assert [bytes(x) for _, x in sorted(found, key=lambda pair: pair[0])] == expected
            # A task is begun again only if its process was killed while it ran.
            assert lines(log, "begin") - COUNT <= killed - before
    assert killed >= rounds


DRIVER = """
import sys, os, json, warnings
warnings.simplefilter("ignore")
os.environ["NOREN_TEST_DRIVER"] = str(os.getpid())
from pathlib import Path
import test_cluster_faults as t
from noren.cluster import Cluster
directory = Path(sys.argv[1])
owner = t.Owner()
with Cluster(owner.keys.evaluation, workers=t.WORKERS, directory=directory / "keys", results=directory / "results",
             retries=50, min_security=0) as cluster:
    results = cluster.map(t.program(directory / "log", t.SECONDS), owner.items())
    print("ready", flush=True)
    out = [bytes(x).hex() for x in results]
    (directory / "out.json").write_text(json.dumps([out, results.found]))
"""


def start_driver(directory: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(directory)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def written(directory: Path) -> set[str]:
    """Return the results that are whole; a name with a dot is of one that is being written."""
    return {path.name for path in (directory / "results").glob("??/[!.]*")}


def test_a_killed_driver_goes_on_where_it_was(expected: list[bytes], tmp_path: Path) -> None:
    generator = random.Random(SEED)
    kept: set[str] = set()
    for kill in range(KILLS):
        log = tmp_path / f"log{kill}"
        (tmp_path / "log").unlink(missing_ok=True)
        (tmp_path / "log").symlink_to(log)
        driver = start_driver(tmp_path)
        assert driver.stdout is not None
        assert driver.stdout.readline() == "ready\n"
        # So that the kill meets tasks.
        while not lines(log, "begin"):
            time.sleep(0.01)
        time.sleep(generator.uniform(0.0, 1.0))
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        # Ray notices by timeouts of its own, which take half a minute where other work runs beside.
        deadline = time.monotonic() + 120
        while workers_below(driver.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not workers_below(driver.pid), "the workers of a driver end with it"
        now, begun, ended = written(tmp_path), lines(log, "begin"), lines(log, "end")
        # What was done stays, and is not begun again; what had ended is there but for what was being written.
        assert kept <= now
        assert begun <= COUNT - len(kept)
        assert begun - ended <= WORKERS
        assert len(now) >= len(kept) + ended - WORKERS
        # So that the job is not over before its driver was killed so often, half of it is taken away.
        if len(now) > COUNT // 2:
            for name in sorted(now)[: COUNT // 2]:
                (tmp_path / "results" / name[:2] / name).unlink()
            (tmp_path / "out.json").unlink(missing_ok=True)
        kept = written(tmp_path)
    (tmp_path / "log").unlink()
    driver = start_driver(tmp_path)
    assert driver.wait(120) == 0
    out, found = json.loads((tmp_path / "out.json").read_text())
    assert [bytes.fromhex(x) for x in out] == expected
    # All that was there was found, and no more was done than was left.
    assert found == len(kept)
    assert lines(tmp_path / "log", "begin") == COUNT - len(kept)


def test_a_node_that_dies_takes_no_result_with_it(owner: Owner, expected: list[bytes], tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        other = nodes.add_node(num_cpus=2)
        with Cluster(
            owner.keys.evaluation, address=nodes.address, directory=tmp_path / "keys", retries=50, min_security=0
        ) as cluster:
            assert cluster.slots == 3
            # Workers of both nodes have started.
            list(cluster.map(lambda _, seconds: time.sleep(seconds), [1.0] * 9))
            found = []
            results = cluster.map(program(tmp_path / "log", SECONDS), owner.items(), ordered=False)
            for done, x in enumerate(results):
                found.append(x)
                if done == COUNT // 4:
                    nodes.remove_node(other, allow_graceful=False)
        assert [bytes(x) for _, x in sorted(found, key=lambda pair: pair[0])] == expected
        assert lines(tmp_path / "log", "begin") >= COUNT
    finally:
        nodes.shutdown()  # type: ignore[no-untyped-call]
