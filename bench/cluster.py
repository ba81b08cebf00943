"""Measure `noren.cluster` on this machine, and compare its model with runs; write bench/results/HOST/DATE-cluster.json.

    python bench/cluster.py [--part NAME ...] [--rows 1000000] [--rounds 3]

Each part runs in a process of its own, so that its memory is its own. Parts:

- overhead: the time of a task that does nothing, with one worker, and how it grows with the bytes of its item and
  result;
- scaling: independent tasks with one worker and two, in turns;
- keys: the memory of 1, 2 and 4 workers with the same keys;
- model: jobs that are predicted, and then run: with 1 and 2 workers, and with up to 64 processes that sleep for the
  time of their tasks and share a link of a limited rate;
- stream: 10,240 ciphertexts through a driver, and its memory;
- bootstraps: full ciphertexts of the preset n16, in tasks of two threads;
- nearest: squared distances of a query to encrypted records in files (examples/10_cluster.py);
- curve: what the model says for 1 to 64 nodes.
"""

import argparse
import hashlib
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import machine

warnings.simplefilter("ignore")

Json = dict[str, Any]
MIB = 1 << 20
LARGE = {"log_n": 14, "log_q": [50, 40, 40, 40], "log_p": [50]}
"""The parameters of most parts: 128 bits, a ciphertext of some 1 MB."""


def client(rotations: list[int] | None = None, **parameters: Any) -> tuple[Any, Any]:
    """Return a context and keys."""
    from noren import ckks

    ctx = ckks.Context(ckks.Parameters(**(parameters or LARGE)), threads=1)
    return ctx, ctx.keygen(rotations=rotations or [])


def powers(repetitions: int) -> Callable[[Any, Any], Any]:
    """Return a program that computes the fourth power of a ciphertext again and again, some 1.6 ms each time."""

    def program(ev: Any, x: Any) -> Any:
        for _ in range(repetitions):
            y = ev.square(ev.square(x))
        return y

    return program


def overhead(_: argparse.Namespace) -> Json:
    """Return the seconds of a task that does nothing."""
    from noren.cluster import Cluster

    _, keys = client()
    found = {}
    with Cluster(keys.evaluation, workers=1) as cluster:
        list(cluster.map(lambda ev, x: x, [0] * 50))
        for nbytes in [0, MIB, 8 * MIB]:
            item = np.random.default_rng(1).bytes(nbytes)
            count = 400 if nbytes <= MIB else 100
            times = []
            for _round in range(3):
                start = time.perf_counter()
                for _result in cluster.map(lambda ev, x: x, itertools.repeat(item, count)):
                    pass
                times.append((time.perf_counter() - start) / count)
            found[str(nbytes)] = statistics.median(times)
    return {"seconds": found}


def scaling(options: argparse.Namespace) -> Json:
    """Return the seconds of equal jobs with one worker and with two, in turns, for short tasks and long ones."""
    from noren.cluster import Cluster

    ctx, keys = client()
    items = [ctx.encrypt(np.full(4, 0.5 + i / 1000), keys.secret) for i in range(160)]
    times: dict[tuple[int, int], list[float]] = {}
    seconds: dict[int, float] = {}
    digests: dict[int, set[str]] = {}
    for _round, workers in itertools.product(range(options.rounds), (1, 2)):
        with Cluster(keys.evaluation, workers=workers) as cluster:
            list(cluster.map(powers(12), items[: 8 * workers]))
            for repetitions in (12, 60, 240):
                count = {12: 160, 60: 120, 240: 40}[repetitions]
                start = time.perf_counter()
                results = cluster.map(powers(repetitions), items[:count])
                made = list(results)
                times.setdefault((repetitions, workers), []).append(time.perf_counter() - start)
                digest = hashlib.sha256(b"".join(bytes(x) for x in made)).hexdigest()
                digests.setdefault(repetitions, set()).add(digest)
                seconds[repetitions] = results.work().seconds
    rows = []
    for repetitions in (12, 60, 240):
        one, two = (statistics.median(times[repetitions, workers]) for workers in (1, 2))
        equal = len(digests[repetitions]) == 1
        rows.append({"task_seconds": seconds[repetitions], "one": one, "two": two, "equal": equal})
    alone, beside = (statistics.median(floor(workers) for _each in range(options.rounds)) for workers in (1, 2))
    return {"rows": rows, "floor": 2 * alone / beside}


def floor(workers: int) -> float:
    """Return the seconds of the long task in processes without Ray, all at once."""
    command = [sys.executable, __file__, "--here", "--part", "task"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(workers)]
    seconds: list[float] = [json.loads(each.communicate()[0].splitlines()[-1])["seconds"] for each in running]
    return statistics.mean(seconds)


def task(_: argparse.Namespace) -> Json:
    """Return the seconds of the long task of the part scaling, without Ray."""
    ctx, keys = client()
    x, ev, program = ctx.encrypt([0.5] * 4, keys.secret), ctx.evaluator(keys.evaluation), powers(240)
    program(ev, x)
    # So that several of them run at once.
    time.sleep(max(0.0, 4 - time.perf_counter() % 4))
    start = time.perf_counter()
    for _each in range(8):
        program(ev, x)
    return {"seconds": (time.perf_counter() - start) / 8}


def memory_of(ev: Any, x: Any) -> tuple[int, int, int]:
    """Return the process, its share of mapped keys, and its own memory, after keys were used."""
    total = ev.sum(x)
    time.sleep(0.3)
    share, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            inside = line.endswith(".mapped")
        elif line.startswith("Pss:") and inside:
            share += int(line.split()[1]) * 1024
    roll = dict(line.split()[:2] for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    return os.getpid(), share, int(roll["Anonymous:"]) * 1024 if total is not None else 0


def keys(_: argparse.Namespace) -> Json:
    """Return the memory of several workers with the same keys."""
    from noren import ckks
    from noren.cluster import Cluster

    ctx = ckks.Context(ckks.Parameters(log_n=15, log_q=[50] + [40] * 9, log_p=[50] * 4), threads=1)
    own = ctx.keygen(rotations=ckks.rotations_of_sum(ctx.slots))
    x = ctx.encrypt(np.linspace(-1, 1, ctx.slots), own.secret)
    found = {}
    for workers in (1, 2, 4):
        with Cluster(own.evaluation, workers=workers) as cluster:
            [[placement]] = cluster.placements.values()
            last = {pid: rest for pid, *rest in cluster.map(memory_of, [x] * (4 * workers))}
            found[str(workers)] = {"shares": sum(share for share, _ in last.values())}
            found[str(workers)] |= {"own": max(own for _, own in last.values()), "workers": len(last)}
    return {"mapped": placement.mapped, "compact": own.evaluation.nbytes, "by_workers": found}


class Link:
    """A link of a limited rate: bytes pass one after the other."""

    def __init__(self, rate: float) -> None:
        """Take bytes a second."""
        self.rate, self.free = rate, 0.0

    def wait(self, nbytes: float) -> float:
        """Return how long a sender has to wait until its bytes have passed."""
        now = time.monotonic()
        self.free = max(self.free, now) + nbytes / self.rate
        return self.free - now


def sleep_for(_: Any, seconds: float) -> int:
    """Sleep, and return the process."""
    time.sleep(seconds)
    return os.getpid()


def model(options: argparse.Namespace) -> Json:
    """Return predicted and measured seconds of jobs."""
    from dataclasses import replace

    import ray

    from noren.cluster import Cluster, Machines, predict

    ctx, keys = client()
    items = [ctx.encrypt(np.full(4, 0.5 + i / 1000), keys.secret) for i in range(160)]
    rows: list[Json] = []
    memory = 16 << 30
    program = powers(60)
    for workers in (1, 2):
        with Cluster(keys.evaluation, workers=workers) as cluster:
            list(cluster.map(program, items[: 8 * workers]))
            # With all workers busy, as in the job.
            sample = cluster.map(program, items[:24])
            list(sample)
            work = sample.work()
            start = time.perf_counter()
            list(cluster.map(program, items))
            measured = time.perf_counter() - start
        predicted = predict(work.repeated(len(items)), Machines(1, workers, memory))
        rows.append({"job": "products", "slots": workers, "measured": measured, "predicted": predicted.tasks_seconds})
    small = [ctx.encrypt([0.5], keys.secret, level=0, slots=1)] * 2
    for slots, rate, seconds in [(16, 1.25e9, 1.0), (64, 1.25e9, 2.0), (16, 2e6, 1.0)]:
        count = 12 * slots
        times = np.random.default_rng(3).lognormal(np.log(seconds), 0.1, count)
        ray.init(address="local", num_cpus=slots, include_dashboard=False, log_to_driver=False)
        link = ray.remote(Link).options(num_cpus=0).remote(rate)
        with Cluster(keys.evaluation) as cluster:

            def asleep(_: Any, item: tuple[float, Any], link: Any = link) -> float:
                # The machine has two cores: what takes time elsewhere is slept here.
                time.sleep(ray.get(link.wait.remote(len(bytes(item[1])))) + item[0])
                return item[0]

            # All processes start, and import what they need.
            pids: set[int] = set()
            while len(pids) < slots:
                pids.update(cluster.map(sleep_for, [1.0] * slots))
            list(cluster.map(asleep, [(0.0, small[0])] * slots, version=slots))
            start = time.perf_counter()
            results = cluster.map(asleep, [(float(t), small[0]) for t in times])
            list(results)
            measured = time.perf_counter() - start
            found = results.work()
        ray.shutdown()
        found = replace(found, seconds=float(times.mean()), spread=0.1, result_bytes=0, key_bytes=0, mapped_bytes=0)
        # So many nodes of one core that nearly all bytes use the link.
        predicted = predict(found, Machines(slots, 1, memory, network=rate))
        rows.append(
            {
                "job": f"asleep, {rate / 1e6:g} MB/s",
                "slots": slots,
                "measured": measured,
                "predicted": predicted.tasks_seconds,
                "efficiency": float(times.sum()) / (slots * measured),
                "bottleneck": predicted.bottleneck,
            }
        )
    return {"rows": rows, "work": asdict(work)}


def stream(_: argparse.Namespace) -> Json:
    """Send 10,240 ciphertexts from files through a driver and back, and return its memory."""
    from noren.cluster import Cluster

    ctx, keys = client()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "items"
        ctx.save(path, [ctx.encrypt(np.full(4, i / 16), keys.secret) for i in range(16)])
        count, nbytes = 10240, path.stat().st_size // 16

        def items() -> Iterator[Any]:
            for _ in range(count // 16):
                yield from ctx.load(path)

        with Cluster(keys.evaluation, workers=2) as cluster:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            start = time.perf_counter()
            done = sum(1 for _ in cluster.map(lambda ev, x: ev.square(x), items()))
            seconds = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"ciphertexts": done, "item_bytes": nbytes, "seconds": seconds, "before": before, "peak": peak}


def bootstraps(_: argparse.Namespace) -> Json:
    """Bootstrap full ciphertexts of the preset n16, in tasks of two threads."""
    from noren import bootstrapping, ckks
    from noren.cluster import Cluster

    params = bootstrapping.Parameters("n16")
    ctx = ckks.Context(params.ckks)
    own = ctx.keygen(relinearization=False, level=params.output_level)
    values = np.random.default_rng(5).uniform(-1, 1, ctx.slots)
    items = [ctx.encrypt(values, own.secret, level=params.input_level) for _ in range(8)]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bootstrap.keys"
        compact = bootstrapping.BootstrapKeys.generate_file(path, params, own.secret)
        start = time.perf_counter()
        with Cluster(path, threads=2, directory=Path(directory) / "keys") as cluster:
            placed = time.perf_counter() - start
            [[placement]] = cluster.placements.values()
            # The first encodes the matrices.
            list(cluster.map(lambda ev, x: ev.bootstrap(x), items[:1]))
            start = time.perf_counter()
            results = cluster.map(lambda ev, x: ev.bootstrap(x), items)
            found = list(results)
            seconds = (time.perf_counter() - start) / len(items)
            work = results.work()
    error = max(float(np.abs(ctx.decrypt(x, own.secret) - values).max()) for x in found)
    return {
        "placed": placed,
        "seconds": seconds,
        "program_seconds": work.seconds,
        "compact": compact,
        "mapped": placement.mapped,
        "item_bytes": work.item_bytes,
        "result_bytes": work.result_bytes,
        "error": error,
        "bound": max(x.error_bound for x in found),
    }


def nearest(options: argparse.Namespace) -> Json:
    """Run the example with many records, and return its seconds and memory."""
    example = Path(__file__).parent.parent / "examples" / "10_cluster.py"
    start = time.perf_counter()
    command = [sys.executable, str(example), "--rows", str(options.rows), "--features", "64"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Of all processes of the example that it has waited for, the largest.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {"rows": options.rows, "output": done.stdout.splitlines(), "all": time.perf_counter() - start, "peak": peak}


def curve(_: argparse.Namespace) -> Json:
    """Return the model's predictions for 1 to 64 nodes of 16 cores."""
    from dataclasses import replace

    from noren.cluster import Machines, Work
    from noren.cluster import curve as predictions

    nodes = Machines(1, 16, 64 << 30, network=1.25e9)
    found: Json = json.loads(path.read_text()) if (path := results()).exists() else {}
    boot, short = found.get("bootstraps", {}), found.get("model", {}).get("work", {})
    # What was measured here; bootstraps by two threads.
    product = Work(**{**short, "tasks": 1_000_000, "task_memory": 50 * MIB}) if short else Work(1_000_000, 0.06)
    many = replace(product, item_bytes=32 * product.item_bytes, result_bytes=32 * product.result_bytes)
    jobs = {
        "bootstraps, in files": Work(
            100_000,
            boot.get("program_seconds", 0.65),
            product.spread,
            2,
            boot.get("item_bytes", MIB),
            boot.get("result_bytes", 11 * MIB),
            boot.get("compact", 2 << 30),
            boot.get("mapped", 5 << 30),
            2 << 30,
            shared_storage=True,
        ),
        "products, through the driver": product,
        "products, in files": replace(product, shared_storage=True),
        "products, 32 a task, in files": replace(
            many, tasks=1_000_000 // 32, seconds=32 * product.seconds, shared_storage=True
        ),
    }
    counts = [1, 2, 4, 8, 16, 32, 64]
    return {
        "nodes": counts,
        "cores": nodes.cores,
        "network": nodes.network,
        "jobs": {name: [asdict(each) for each in predictions(work, nodes, counts)] for name, work in jobs.items()},
    }


def results() -> Path:
    """Return the file of the results of today on this machine."""
    description = machine.describe()
    return machine.RESULTS / machine.host(description) / f"{description['date']}-cluster.json"


PARTS: dict[str, Callable[[argparse.Namespace], Json]] = {
    # "task" belongs to the part scaling.
    each.__name__: each
    for each in (overhead, scaling, task, keys, model, stream, bootstraps, nearest, curve)
}


def main() -> int:
    """Run the parts, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=list(PARTS), help="only this one (repeatable)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="records of the part nearest")
    parser.add_argument("--rounds", type=int, default=3, help="of the part scaling")
    parser.add_argument("--here", action="store_true", help="run one part in this process, and print it")
    options = parser.parse_args()
    parts = options.part or [name for name in PARTS if name != "task"]
    if options.here:
        print(json.dumps(PARTS[parts[0]](options)))
        return 0
    path = results()
    found: Json = json.loads(path.read_text()) if path.exists() else {}
    for part in parts:
        print(f"{part} ...", file=sys.stderr, flush=True)
        command = [sys.executable, __file__, "--here", "--part", part]
        command += ["--rows", str(options.rows), "--rounds", str(options.rounds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            print(f"{part} failed", file=sys.stderr)
            return 1
        found["machine"] = machine.describe()
        found[part] = json.loads(done.stdout.splitlines()[-1])
        print(json.dumps(found[part], indent=1), flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1) + "\n")
    print(f"wrote {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
