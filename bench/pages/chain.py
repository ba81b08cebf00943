"""Tables of the suite `chain`: products that follow one another."""

from records import Record, Results, milliseconds, number, ratio, size, table, times

SUITE = {"suite": "chain"}
PEERS = ["lattigo", "openfhe", "tenseal"]
SCHEMES = ["bfv", "bgv", "ckks"]
OPS = ["chain", "chain_squares"]


def cells(results: Results, scheme: str) -> list[Record]:
    """Return what names one chain of a scheme: depth, threads and what is multiplied."""
    ours = results.select(**SUITE, scheme=scheme, library="noren")
    found = {(record["depth"], record["threads"], record["op"]) for record in ours}
    return [
        {**SUITE, "scheme": scheme, "depth": depth, "threads": threads, "op": op}
        for depth, threads, op in sorted(found)
    ]


def gain(results: Results, peer: str, cell: Record) -> float | None:
    """Return how many times faster noren is than a peer."""
    return ratio(results.time(**cell, library=peer), results.time(**cell, library="noren"))


def recorded_time(recorded: Record, name: str, cell: Record) -> float | None:
    """Return the recorded time of a program in nanoseconds: chains of one thread alone were recorded."""
    data = recorded["chain_ms"]
    recorded_here = data[cell["scheme"]].get(name)
    if recorded_here is None or cell["threads"] != 1 or cell["op"] != "chain" or cell["depth"] not in data["depths"]:
        return None
    time: float = recorded_here[data["depths"].index(cell["depth"])] * 1e6
    return time


def peak(results: Results, library: str, cell: Record) -> int | None:
    """Return the peak memory of a library, keys included: the set-up belongs to the first of both kinds of chains."""
    both = [results.one(**{**cell, "op": op}, library=library) for op in OPS]
    return max((record["peak_rss_bytes"] for record in both if record and record["peak_rss_bytes"]), default=None)


def times_table(results: Results, scheme: str) -> str:
    """Return times and peak memory of the chains of a scheme beside the peers."""
    peers = [peer for peer in PEERS if results.select(**SUITE, scheme=scheme, library=peer)]
    rows = []
    for cell in cells(results, scheme):
        row = [str(cell["depth"]), str(cell["threads"]), "squares" if cell["op"] == "chain_squares" else "products"]
        row.append(milliseconds(results.time(**cell, library="noren")))
        for peer in peers:
            row += [milliseconds(results.time(**cell, library=peer)), times(gain(results, peer, cell))]
        rows.append([*row, *(size(peak(results, library, cell)) for library in ["noren", *peers])])
    header = [
        "depth",
        "threads",
        "of",
        "noren ms",
        *(word for peer in peers for word in (f"{peer} ms", f"{peer} / noren")),
    ]
    return table(header + [f"peak memory, {name}" for name in ["noren", *peers]], rows)


def shapes_table(results: Results) -> str:
    """Return the moduli that each library takes: bits of Q, and primes of Q and special ones."""
    libraries = [name for name in ["noren", *PEERS] if results.select(**SUITE, library=name)]
    rows = []
    for scheme in SCHEMES:
        for depth in results.values("depth", **SUITE, scheme=scheme, library="noren"):
            row = [scheme, str(depth)]
            for library in libraries:
                found = results.select(**SUITE, scheme=scheme, depth=depth, library=library)
                record = found[0] if found else None
                row.append(f"{record['log_q']:.0f}: {record['limbs']} + {record['special']}" if record else "")
            rows.append(row)
    return table(["scheme", "depth", *libraries], rows)


def recorded_table(results: Results, recorded: Record) -> str:
    """Return times of one thread that were recorded elsewhere, and ours."""
    data = recorded["chain_ms"]
    rows = []
    for scheme in SCHEMES:
        for name, recorded_here in data[scheme].items():
            row = [scheme, name]
            for depth, time in zip(data["depths"], recorded_here, strict=True):
                cell = {**SUITE, "scheme": scheme, "depth": depth, "threads": 1, "op": "chain"}
                quotient = ratio(time * 1e6, results.time(**cell, library="noren"))
                row.append(f"{number(time)} / {times(quotient)}" if quotient else number(time))
            rows.append(row)
    return table(["scheme", "library", *(f"depth {depth}" for depth in data["depths"])], rows)
