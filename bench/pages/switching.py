"""Tables of the suite `switching`: numbers of CKKS become samples of TFHE, are decided there, and come back."""

from records import Record, Results, number, ratio, size, table, times

SUITE = {"suite": "switching"}
PEER = "openfhe"
# Bytes of keys: of the switch, and those that are told apart from them.
KEYS = ["switch_key_bytes", "bootstrap_key_bytes", "tfhe_key_bytes"]
# Operations in their order, and their names.
OPS = {
    "setup": "set-up with keys",
    "down": "to samples",
    "up": "back to slots",
    "down_sign": "to samples, one decision each",
    "sign": "signs",
}


def record(results: Results, library: str, op: str, values: int, threads: int) -> Record | None:
    """Return the record of an operation."""
    return results.one(**SUITE, library=library, op=op, values=values, threads=threads)


def time(results: Results, library: str, op: str, values: int, threads: int) -> float | None:
    """Return the time of an operation in nanoseconds."""
    found = record(results, library, op, values, threads)
    return found["median_ns"] if found else None


def gain(results: Results, op: str, values: int, threads: int) -> float | None:
    """Return how many times faster noren is than OpenFHE."""
    mine, theirs = (time(results, library, op, values, threads) for library in ["noren", PEER])
    return ratio(theirs, mine)


def times_table(results: Results) -> str:
    """Return the times of all operations, beside OpenFHE's where it was measured."""
    rows = []
    for values in results.values("values", **SUITE, library="noren"):
        for op, title in OPS.items():
            for threads in results.values("threads", **SUITE, library="noren", op=op, values=values):
                both = [record(results, library, op, values, threads) or {} for library in ["noren", PEER]]
                seconds = [number(found["median_ns"] / 1e9) if found.get("median_ns") else "" for found in both]
                memory = [size(found.get("peak_rss_bytes")) for found in both]
                quotient = times(gain(results, op, values, threads))
                rows.append([str(values), title, str(threads), *seconds, quotient, *memory])
    header = ["values", "", "threads", "noren s", "OpenFHE s", "OpenFHE / noren", "peak memory", "of OpenFHE"]
    return table(header, rows)


def signs_table(results: Results) -> str:
    """Return how good the signs are: what is left undecided, errors, levels, keys."""
    rows = []
    for values in results.values("values", **SUITE, op="sign"):
        for library in ["noren", PEER]:
            # Their results do not depend on threads.
            for found in results.select(**SUITE, library=library, op="sign", values=values)[:1]:
                keys = results.select(**SUITE, library=library, op="setup", values=values)
                rows.append(
                    [
                        str(values),
                        library,
                        str(found["set"]),
                        f"{found['dead_zone']:.4f}",
                        f"2^{found['log2_failure']:.0f}",
                        number(found.get("worst_bits")),
                        number(found.get("rms_bits")),
                        str(found["levels_left"]),
                        size(sum(keys[0].get(name, 0) for name in KEYS) if keys else None),
                    ]
                )
    header = ["values", "library", "set", "dead zone", "failure", "bits, worst", "bits, mean square", "levels left"]
    return table([*header, "keys"], rows)
