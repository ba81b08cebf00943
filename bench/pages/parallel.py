"""Tables of the suite `parallel`: figures 1 and 2 of Akimoto and Sakuma, and the model for more threads."""

from records import Results, milliseconds, ratio, size, table, times

WAYS = ["coefficient", "modulus", "both"]
OPS = ["add", "mul_plain", "mul_relin", "rescale", "rotate"]
# The level of the first figure, and those of the second that the table shows.
LEVEL = 16
SHOWN = [1, 2, 3, 5, 8, 12, 16, 24, 32]
SUITE = {"suite": "parallel", "library": "noren"}
# What stands in place of a table without records.
NOTHING = "Not measured yet: `python bench/run.py --suite parallel`, on a machine without other work."


def largest(results: Results) -> int:
    """Return the largest degree that was measured, or 0."""
    return int(max(results.values("n", **SUITE), default=0))


def point(
    results: Results,
    figure: str,
    op: str,
    way: str,
    threads: int,
    level: int,
    model: bool = False,
    field: str = "median_ns",
) -> float | None:
    """Return a time in nanoseconds at the largest degree."""
    fields = {**SUITE, "n": largest(results), "figure": figure, "op": op, "parallel": way}
    record = results.one(**fields, threads=threads, level=level, model=True if model else None)
    return None if record is None else record[field]


def threads_of(results: Results, figure: str, model: bool = False) -> list[int]:
    """Return the numbers of threads of a figure."""
    fields = {**SUITE, "n": largest(results), "figure": figure, "model": True if model else None}
    return results.values("threads", **fields)


def levels_of(results: Results, threads: int, model: bool = False) -> list[int]:
    """Return the levels of the second figure."""
    fields = {**SUITE, "n": largest(results), "figure": "levels", "model": True if model else None}
    return results.values("level", **fields, threads=threads)


def row(found: list[float | None]) -> list[str]:
    """Return times in milliseconds, the lowest in bold."""
    lowest = min((time for time in found if time), default=None)
    return [f"**{milliseconds(time)}**" if time and time == lowest else milliseconds(time) for time in found]


def threads_table(results: Results) -> str:
    """Return times against threads at level 16, and what the best way gains over one thread."""
    if not largest(results):
        return NOTHING
    counts = threads_of(results, "threads")
    rows = []
    for op in OPS:
        for threads in counts:
            found = [point(results, "threads", op, way, threads, LEVEL) for way in WAYS]
            one = [point(results, "threads", op, way, 1, LEVEL) for way in WAYS]
            gains = [times(ratio(single, time)) for single, time in zip(one, found, strict=True)]
            rows.append([op, str(threads), *row(found), *gains])
    header = ["operation", "threads", *(f"{way}, ms" for way in WAYS), *(f"{way}, over 1 thread" for way in WAYS)]
    return "![time against threads and levels](figures/parallel.svg)\n\n" + table(header, rows)


def levels_table(results: Results) -> str:
    """Return times against levels."""
    if not largest(results):
        return NOTHING
    rows = []
    for threads in threads_of(results, "levels"):
        levels = [level for level in levels_of(results, threads) if level in SHOWN]
        for op in OPS:
            for level in levels:
                found = [point(results, "levels", op, way, threads, level) for way in WAYS]
                rows.append([op, str(threads), str(level), *row(found)])
    return table(["operation", "threads", "level", *(f"{way}, ms" for way in WAYS)], rows)


def wins_table(results: Results) -> str:
    """Return at how many levels each way is the fastest, and its mean time over that of the fastest."""
    if not largest(results):
        return NOTHING
    rows = []
    for threads in threads_of(results, "levels"):
        for op in OPS:
            levels = levels_of(results, threads)
            all_times = [[point(results, "levels", op, way, threads, level) for way in WAYS] for level in levels]
            found = [[time for time in found if time] for found in all_times]
            found = [times for times in found if len(times) == len(WAYS)]
            wins = [sum(time == min(times) for times in found for time in [times[i]]) for i in range(len(WAYS))]
            means = [sum(times[i] / min(times) for times in found) / max(len(found), 1) for i in range(len(WAYS))]
            rows.append([op, str(threads), *map(str, wins), *map(times, means)])
    header = ["operation", "threads", *(f"{way}, fastest at" for way in WAYS), *(f"{way} / fastest" for way in WAYS)]
    return table(header, rows)


def model_table(results: Results) -> str:
    """Return what the model says for more threads at level 16: a model, not a measurement."""
    if not largest(results):
        return NOTHING
    rows = []
    for op in OPS:
        for threads in threads_of(results, "threads", model=True):
            work = [point(results, "threads", op, way, threads, LEVEL, True, "work_ns") for way in WAYS]
            memory = point(results, "threads", op, WAYS[0], threads, LEVEL, True, "memory_ns")
            rows.append([op, str(threads), *row(work), milliseconds(memory)])
    header = ["operation", "threads", *(f"{way}, model, ms" for way in WAYS), "memory of this machine, ms"]
    return "![a model of more threads](figures/parallel-model.svg)\n\n" + table(header, rows)


def memory_line(results: Results) -> str:
    """Return the most memory that was held, with the shape."""
    found = [record for record in results.select(**SUITE, n=largest(results)) if not record.get("model")]
    peak = max((record["peak_rss_bytes"] for record in found if record["peak_rss_bytes"]), default=None)
    if not found:
        return NOTHING
    first = found[0]
    return (
        f"N = {first['n']}, {first['limbs']} + {first['special']} primes, log2 QP = {first['log_qp']:.0f} bits, "
        f"{first['dnum']} digits, security {first['security']}; peak memory {size(peak)}."
    )
