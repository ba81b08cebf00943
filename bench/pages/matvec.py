"""The table of the suite `matvec`: a matrix times an encrypted vector."""

from records import Record, Results, milliseconds, ratio, size, table, times

SUITE = {"suite": "matvec", "op": "matvec"}


def best(results: Results, library: str, threads: int) -> Record | None:
    """Return the record of a library in its best number of baby steps."""
    found = [record for record in results.select(**SUITE, library=library, threads=threads) if record["median_ns"]]
    return min(found, key=lambda record: record["median_ns"], default=None)


def gain(results: Results, peer: str, threads: int) -> float | None:
    """Return how many times faster noren is than a peer."""
    mine, theirs = best(results, "noren", threads), best(results, peer, threads)
    return ratio(theirs["median_ns"], mine["median_ns"]) if theirs and mine else None


def times_table(results: Results) -> str:
    """Return all that was measured, ours first."""
    rows = []
    records = sorted(results.select(**SUITE), key=lambda record: (record["threads"], record["baby_steps"]))
    for record in sorted(records, key=lambda record: record["library"] != "noren"):
        mine = best(results, "noren", record["threads"])
        quotient = ratio(record["median_ns"], mine["median_ns"] if mine else None)
        rows.append(
            [
                record["library"],
                str(record["threads"]),
                str(record["baby_steps"]),
                str(record["keys"]),
                milliseconds(record["median_ns"]),
                "" if record is mine else times(quotient),
                size(record["peak_rss_bytes"]),
            ]
        )
    return table(["library", "threads", "baby steps", "keys", "ms", "/ noren", "peak memory"], rows)
