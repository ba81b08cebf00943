"""Tables of TFHE: its transforms, keys, gates, bootstraps, integers."""

from records import Record, Results, lowest, microseconds, milliseconds, number, ratio, size, table, times

SUITE = {"suite": "tfhe"}
PEERS = ["tfhe-rs", "openfhe"]
CLIENT = "client-"
# Sets, and what holds on both sides of a comparison.
SETS = {
    "BOOL": "bits, 2^-64",
    "BOOL_128": "bits, 2^-128",
    "1_1": "1 + 1 bits, 2^-128",
    "2_2": "2 + 2 bits, 2^-128",
    "3_3": "3 + 3 bits, 2^-128",
}
SINGLE = {
    "secret_key": "secret key",
    "server_key": "keys of the server",
    "encrypt": "encrypt",
    "decrypt": "decrypt",
    "gate": "gate",
    "mux": "MUX",
    "bootstrap": "bootstrap",
}
INTEGERS = {"add": "x + y", "mul": "x y", "lt": "x < y", "div": "x / y", "table": "f(x, y)"}
WIDTHS = ["u8", "u16", "u32", "u8xu8"]


# Transforms between words and points, of the suite kernels.
TRANSFORMS = {"torus_forward": "forward", "torus_inverse_add": "inverse_add"}
ISAS = ["portable", "avx2", "avx512"]


def transform_time(results: Results, library: str, op: str, n: int, isa: str) -> float | None:
    """Return the time of a transform between words of the torus and points."""
    return results.time(suite="kernels", library=library, op=op, n=n, isa=isa)


def transform_gain(results: Results, op: str) -> float | None:
    """Return the lowest ratio tfhe-fft / noren on AVX-512, over all degrees."""
    degrees = results.values("n", suite="kernels", library="tfhe-fft", op=op)
    pairs = [[transform_time(results, library, op, n, "avx512") for library in ("tfhe-fft", "noren")] for n in degrees]
    return lowest(ratio(*pair) for pair in pairs)


def transforms_table(results: Results) -> str:
    """Return times of transforms between words and points."""
    rows = []
    for op, name in TRANSFORMS.items():
        for n in results.values("n", suite="kernels", library="noren", op=op):
            ours = [transform_time(results, "noren", op, n, isa) for isa in ISAS]
            theirs = transform_time(results, "tfhe-fft", op, n, "avx512")
            rows.append([name, str(n), *map(microseconds, [*ours, theirs]), times(ratio(theirs, ours[-1]))])
    header = ["operation", "N", "portable us", "AVX2 us", "AVX-512 us", "tfhe-fft AVX-512 us", "/ noren"]
    return table(header, rows)


def best(results: Results, library: str, threads: int, workload: str, op: str, batch: int = 1) -> Record | None:
    """Return the fastest record: a library may have several sets of the same security and failure."""
    fields = {"threads": threads, "workload": workload, "op": op, "batch": batch}
    found = [record for record in results.select(**SUITE, library=library, **fields) if record["median_ns"]]
    return min(found, key=lambda record: record["median_ns"], default=None)


def time(results: Results, library: str, threads: int, workload: str, op: str, batch: int = 1) -> float | None:
    """Return the best time of one operation in nanoseconds."""
    found = best(results, library, threads, workload, op, batch)
    return found["median_ns"] if found else None


def gain(results: Results, peer: str, threads: int, workload: str, op: str, batch: int = 1) -> float | None:
    """Return how many times faster noren is than a peer."""
    return ratio(*(time(results, library, threads, workload, op, batch) for library in (peer, "noren")))


def row(results: Results, threads: int, workload: str, op: str, batch: int = 1) -> list[str] | None:
    """Return ours and the peers' times with ratios; None if nothing was measured."""
    mine = time(results, "noren", threads, workload, op, batch)
    theirs = [time(results, peer, threads, workload, op, batch) for peer in PEERS]
    if mine is None and not any(theirs):
        return None
    return [milliseconds(mine), *(cell for ns in theirs for cell in (milliseconds(ns), times(ratio(ns, mine))))]


HEADER = ["noren ms", *(word for peer in PEERS for word in (f"{peer} ms", "ratio"))]


def single_table(results: Results, threads: int) -> str:
    """Return what takes one ciphertext at a time."""
    rows = []
    for workload, name in SETS.items():
        for op, what in SINGLE.items():
            cells = row(results, threads, workload, op)
            if cells:
                rows.append([f"`{workload}`: {name}", what, *cells])
    return table(["set, failure", "operation", *HEADER], rows)


def batch_table(results: Results) -> str:
    """Return bootstraps in batches, the time of one; a peer without batches does them side by side on its threads."""
    rows = []
    for workload in SETS:
        op = "gate" if workload.startswith("BOOL") else "bootstrap"
        for threads in results.values("threads", **SUITE, workload=workload, op=op):
            for batch in results.values("batch", **SUITE, workload=workload, op=op):
                mine = time(results, "noren", threads, workload, op, batch)
                theirs = time(results, "tfhe-rs", threads, workload, op, batch)
                if mine or theirs:
                    each = [milliseconds(mine), number(1e9 / mine if mine else None)]
                    cells = [milliseconds(theirs), times(ratio(theirs, mine))]
                    rows.append([f"`{workload}`", str(threads), str(batch), *each, *cells])
    return table(["set", "threads", "batch", "noren ms", "a second", "tfhe-rs ms", "ratio"], rows)


def client_table(results: Results) -> str:
    """Return what a client makes for its server, with its memory."""
    rows = []
    for workload in results.values("workload", **SUITE, op="client_keys"):
        for threads in results.values("threads", **SUITE, op="client_keys", workload=workload):
            for library in ["noren", *PEERS]:
                found = best(results, library, threads, workload, "client_keys")
                if found:
                    name = f"`{workload.removeprefix(CLIENT)}`"
                    cells = [milliseconds(found["median_ns"]), size(found["peak_rss_bytes"])]
                    rows.append([name, str(threads), library, *cells])
    return table(["set", "threads", "library", "ms", "peak memory"], rows)


def integers_table(results: Results) -> str:
    """Return operations on integers."""
    rows = []
    for workload in WIDTHS:
        for op, what in INTEGERS.items():
            for threads in results.values("threads", **SUITE, workload=workload, op=op):
                mine, theirs = (time(results, library, threads, workload, op) for library in ("noren", "tfhe-rs"))
                cells = [milliseconds(mine), milliseconds(theirs), times(ratio(theirs, mine))]
                rows.append([f"`{workload}`", what, str(threads), *cells])
    return table(["integers", "operation", "threads", "noren ms", "tfhe-rs ms", "ratio"], rows)
