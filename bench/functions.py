"""Functions of numpy, compiled and run encrypted: what plans predict, and what is measured.

The functions are those of python/tests/test_compile_choices.py. Each is run with the plan that the compiler chooses,
and with every other scheme that is predicted to take no more than `--others` times as long; the server is a process of
its own. The table has the measured time and peak memory of the server, both as ratios to the predicted ones, and the
time of the chosen plan as a ratio to the fastest that was measured. Every result is compared with numpy's.

    python bench/functions.py [--only WORD] [--others 4] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import runpy
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import noren
from machine import memory
from noren import compiler

TESTS = Path(__file__).parent.parent / "python" / "tests"
CASES: dict[str, Any] = runpy.run_path(str(TESTS / "test_compile_choices.py"))["CASES"]

# A plan is as predicted, or as good as the best, within this.
RATIO = 1.3
# Longer runs are repeated once.
LONG_SECONDS = 2.0
# Prices count this for a process before it does anything; Python's takes more.
PROCESS_BYTES = 12 << 20


def arguments(case: Any, seed: int) -> list[Any]:
    """Inputs that lie anywhere in their ranges."""
    rng = np.random.default_rng(seed)

    def values(given: noren.Input) -> Any:
        if given.dtype is bool:
            return rng.integers(0, 2, given.shape).astype(bool)
        if given.dtype is int:
            return rng.integers(int(given.low), int(given.high) + 1, given.shape)
        return rng.uniform(given.low, given.high, given.shape)

    return [values(given) for given in case.inputs]


def serve(folder: Path, rounds: int) -> dict[str, float]:
    """Run what a client left in a folder, several times: seconds of the first run and of the fastest, and memory."""
    server = compiler.Server.load(folder / "function", min_security=0)
    request = (folder / "request").read_bytes()
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    keys, seconds = folder / "keys", list[float]()
    while len(seconds) < rounds and (len(seconds) < 2 or min(seconds) < LONG_SECONDS):
        start = time.perf_counter()
        reply = server.run(request, keys)
        seconds.append(time.perf_counter() - start)
    (folder / "reply").write_bytes(reply)
    used = memory("VmHWM") - before + PROCESS_BYTES
    return {"first": seconds[0], "server": min(seconds[1:]), "memory": used}


def error_of(case: Any, given: list[Any], found: Any) -> float:
    """The largest difference from the function's own results, beyond what numbers in its dead zone may change."""
    expected = np.asarray(case.function(*given), float)
    zone = (case.options or {}).get("dead_zone", 0.0)
    moved = [np.abs(case.function(*(x + sign * zone for x in given)) - expected) for sign in (-1, 1) if zone]
    return float(np.max(np.abs(np.asarray(found, float) - expected) - np.max([0.0 * expected, *moved], axis=0)))


def measured(case: Any, scheme: Any, rounds: int) -> dict[str, Any]:
    """Compile a function, run it, and compare its results with the function's own."""
    start = time.perf_counter()
    compiled = compiler.compile(case.function, *case.inputs, scheme=scheme, **(case.options or {}))
    explanation = compiled.explain()
    row: dict[str, Any] = {
        "scheme": compiled.scheme,
        "compile": time.perf_counter() - start,
        "others": explanation.others,
    }
    row["predicted"] = {
        name: explanation.price[name] for name in ("server_seconds", "prepare_seconds", "server_memory")
    }
    given = arguments(case, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiled.save(folder / "function")
        start = time.perf_counter()
        compiled.client.keygen_file(folder / "keys")
        row["keys"], row["key_bytes"] = time.perf_counter() - start, (folder / "keys").stat().st_size
        start = time.perf_counter()
        (folder / "request").write_bytes(compiled.client.encrypt(*given))
        row["encrypt"] = time.perf_counter() - start
        served = subprocess.run(
            [sys.executable, __file__, "--serve", name, "--rounds", str(rounds)],
            check=True,
            capture_output=True,
            text=True,
        )
        row |= json.loads(served.stdout.splitlines()[-1])
        start = time.perf_counter()
        found, bound = compiled.client.decrypt((folder / "reply").read_bytes(), bound=True)
        row["decrypt"] = time.perf_counter() - start
    row["error"], row["bound"] = error_of(case, given, found), float(np.max(bound))
    return row


def within(a: float, b: float) -> bool:
    """Whether two numbers differ by no more than the ratio."""
    return a <= RATIO * b and b <= RATIO * a


def main() -> int:
    """Measure all functions, or serve one."""
    parser = argparse.ArgumentParser(description="Functions of numpy, compiled and run encrypted.")
    parser.add_argument("--only", default="", help="functions whose names have this word")
    parser.add_argument(
        "--others", type=float, default=4.0, help="schemes predicted to be slower than this are not run"
    )
    parser.add_argument("--rounds", type=int, default=5, help="runs of each server, of which the fastest counts")
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", noren.SecurityWarning)
    if options.serve:
        print(json.dumps(serve(options.serve, options.rounds)))
        return 0
    rows = {}
    print(f"{'function':34} {'scheme':12} {'compile':>8} {'server':>9} {'ratio':>6} {'memory':>9} {'ratio':>6} of best")
    for name, case in CASES.items():
        if options.only not in name:
            continue
        row = rows[name] = measured(case, "auto", options.rounds)
        predicted = row["predicted"]
        slowest = options.others * predicted["server_seconds"]
        rivals = [other["scheme"] for other in row["others"] if (other["server_seconds"] or np.inf) < slowest]
        row["rivals"] = [measured(case, scheme, options.rounds) for scheme in rivals]
        row["of_best"] = row["server"] / min(each["server"] for each in [row, *row["rivals"]])
        row["time_ratio"] = row["server"] / predicted["server_seconds"]
        row["memory_ratio"] = row["memory"] / predicted["server_memory"]
        row["right"] = all(each["error"] <= each["bound"] for each in [row, *row["rivals"]])
        print(
            f"{name:34} {row['scheme']:12} {row['compile']:7.2f}s "
            f"{1e3 * row['server']:7.1f}ms {row['time_ratio']:6.2f} "
            f"{row['memory'] / 2**20:6.0f}MiB {row['memory_ratio']:6.2f} "
            f"{row['of_best']:7.2f} {'' if row['right'] else 'wrong'}",
            flush=True,
        )
    count = {
        "within 1.3 of the predicted time": sum(within(row["time_ratio"], 1.0) for row in rows.values()),
        "of the predicted memory": sum(within(row["memory_ratio"], 1.0) for row in rows.values()),
        "of the best": sum(row["of_best"] <= RATIO for row in rows.values()),
        "right": sum(row["right"] for row in rows.values()),
    }
    print(f"of {len(rows)}: " + ", ".join(f"{found} {what}" for what, found in count.items()))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["right"] for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
