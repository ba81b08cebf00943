"""Tables of the suite `lookup`: a function of two encrypted numbers."""

from records import Record, Results, number, ratio, size, table, times

SUITE = {"suite": "lookup", "n": 1 << 15}
# Operations, and what the methods are called.
METHODS = {
    "lookup_fast": "fast: the matrix at few limbs",
    "lookup_eight": "fast, for eight pairs at once",
    "lookup_residues": "fast, for numbers from 0 to t - 1",
    "lookup_linear": "the matrix as published",
    "lookup_maeda": "the polynomial as published",
}
STEPS = {
    "one_hot_ns": "one-hot",
    "powers_ns": "powers",
    "babies_ns": "baby steps",
    "matrix_ns": "matrix",
    "giants_ns": "giant steps",
}
STEPS |= {"select_ns": "product and sum"}


def record(results: Results, op: str, threads: int) -> Record | None:
    """Return the record of one method."""
    return results.one(**SUITE, op=op, threads=threads, library="noren")


def seconds(ns: float | None) -> str:
    """Write a time in seconds."""
    return number(None if ns is None else ns / 1e9)


def preparations(results: Results, threads: int) -> list[Record]:
    """Return the preparations of all methods."""
    return results.select(**SUITE, op="lookup_prepare", threads=threads)


def times_table(results: Results) -> str:
    """Return times, steps and sizes of all methods."""
    rows = []
    for threads in results.values("threads", **SUITE):
        for op, name in METHODS.items():
            found = record(results, op, threads)
            if found is None:
                continue
            row = [name, str(threads), seconds(found["median_ns"]), *(seconds(found.get(step)) for step in STEPS)]
            row += [str(found[field]) for field in ["products", "rotations"]]
            rows.append([*row, size(found.get("key_bytes")), size(found["peak_rss_bytes"])])
    header = ["method", "threads", "s", *STEPS.values(), "products", "rotations", "keys of the matrix", "peak memory"]
    return table(header, rows)


def prepare_table(results: Results) -> str:
    """Return the times of preparation."""
    rows = [
        [
            found.get("method") or "",
            found["note"],
            str(threads),
            seconds(found["median_ns"]),
            size(found.get("matrix_bytes")),
        ]
        for threads in results.values("threads", **SUITE)
        for found in preparations(results, threads)
    ]
    return table(["method", "", "threads", "s", "prepared"], rows)


def recorded_table(results: Results, recorded: Record) -> str:
    """Return times that were recorded elsewhere, over ours of the same method and of the fast one, on one thread."""
    fast = record(results, "lookup_fast", 1) or {}
    rows = []
    for run in recorded["lookup_s"]["runs"]:
        same = record(results, run["op"], 1) or {}
        theirs = run["seconds"] * 1e9
        quotients = [times(ratio(theirs, mine.get("median_ns"))) for mine in [same, fast]]
        rows.append([run["name"], METHODS[run["op"]], number(run["seconds"]), *quotients])
    return table(["recorded", "method", "s", "/ noren, same method", "/ noren, fast"], rows)
