"""Measuring, and records in noren's benchmark schema."""

import json
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

# As in noren's measure.rs.
LEAST_SAMPLES = 5
SAMPLE_NS = 50_000
WARM_UP = 0.2


def report(
    suite: str, op: str, note: str, right: bool, seconds: float, call: Callable[[], object], **fields: object
) -> None:
    """Measure an operation if its result is right, and print the record."""
    median, deviation, count = measure(seconds, call) if right else (None, None, 0)
    record = {
        "suite": suite,
        "op": op,
        "library": "tenseal",
        "version": version("tenseal"),
        "special": 1,
        "isa": "native",
        "threads": 1,
        "median_ns": median,
        "mad_ns": deviation,
        "reps": count,
        "peak_rss_bytes": peak_rss(),
        "note": note if right else "wrong result: no time",
        **fields,
    }
    print(json.dumps(record), flush=True)


def measure(seconds: float, call: Callable[[], object]) -> tuple[float, float, int]:
    """Return median, median absolute deviation and number of samples of one call, warm."""
    repeats = 1

    def once() -> int:
        start = time.perf_counter_ns()
        for _ in range(repeats):
            call()
        return time.perf_counter_ns() - start

    start = time.perf_counter()
    while once() < SAMPLE_NS:
        repeats *= 2
    while time.perf_counter() - start < seconds * WARM_UP:
        once()
    start = time.perf_counter()
    times: list[float] = []
    while len(times) < LEAST_SAMPLES or time.perf_counter() - start < seconds:
        times.append(once() / repeats)
    median = statistics.median(times)
    return median, statistics.median(abs(time - median) for time in times), len(times)


def peak_rss() -> int | None:
    """Return the most memory held since the call before this one, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return int(status.partition("VmHWM:")[2].split()[0]) << 10
