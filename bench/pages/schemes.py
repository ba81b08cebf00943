"""Tables of the suites `ckks` and `client`."""

from records import Record, Results, milliseconds, number, power, ratio, size, table, times

PEERS = ["lattigo", "openfhe", "tenseal"]

CKKS = ["encode", "encrypt", "decrypt", "add", "mul_plain", "mul_relin_rescale", "rotate", "rotate_hoisted"]
CLIENT = ["keygen_secret", "keygen_public", "keygen", "encode", "encrypt", "encrypt_secret", "decrypt", "decode"]

# SEAL's shape has a special prime and as many digits as primes.
SEAL = {"n": 1 << 15, "limbs": 20, "special": 1}


def shapes(results: Results, suite: str) -> list[tuple[int, int, int]]:
    """Return degree, primes and special primes of every shape of a suite, SEAL's last."""
    found = {(r["n"], r["limbs"], r["special"]) for r in results.select(suite=suite, library="noren")}
    return sorted(found, key=lambda shape: (shape == tuple(SEAL.values()), shape))


def peers_of(results: Results, suite: str) -> list[str]:
    """Return the peers that were measured in a suite."""
    return [peer for peer in PEERS if results.select(suite=suite, library=peer)]


def comparison(results: Results, suite: str, ops: list[str]) -> str:
    """Return times of operations beside the peers, and the peak memory of all."""
    peers = peers_of(results, suite)
    found = shapes(results, suite)
    rows = []
    for n, limbs, special in found:
        shape = {"suite": suite, "n": n, "limbs": limbs, "special": special}
        for threads in results.values("threads", **shape, library="noren"):
            for op in ops:
                fields = {**shape, "threads": threads, "op": op}
                ours = results.one(**fields, library="noren")
                if ours is None:
                    continue
                row = [power(n), f"{limbs} + {special}", str(threads), op, milliseconds(ours["median_ns"])]
                for peer in peers:
                    theirs = results.time(**fields, library=peer)
                    row += [milliseconds(theirs), times(ratio(theirs, ours["median_ns"]))]
                row += peaks(results, fields, ["noren", *peers])
                rows.append(row)
    header = ["N", "primes", "threads", "operation", "noren ms"]
    header += [word for peer in peers for word in (f"{peer} ms", f"{peer} / noren")]
    header += [f"peak memory, {name}" for name in ["noren", *peers]]
    return table(header, rows)


def peaks(results: Results, fields: Record, libraries: list[str]) -> list[str]:
    """Return the peak memory of each library."""
    records = [results.one(**fields, library=library) for library in libraries]
    return [size(record["peak_rss_bytes"]) if record else "" for record in records]


def client_totals(results: Results) -> str:
    """Return key generation, encoding and encryption together: what a client does before it sends its data."""
    peers = peers_of(results, "client")
    rows = []
    for n, limbs, special in shapes(results, "client"):
        for threads in results.values("threads", suite="client", n=n, library="noren"):
            fields = {"suite": "client", "n": n, "threads": threads}
            ours = client_total(results, "noren", fields)
            row = [power(n), f"{limbs} + {special}", str(threads), milliseconds(ours)]
            for peer in peers:
                theirs = client_total(results, peer, fields)
                row += [milliseconds(theirs), times(ratio(theirs, ours))]
            rows.append(row)
    header = ["N", "primes", "threads", "noren ms", *(word for peer in peers for word in (f"{peer} ms", "/ noren"))]
    return table(header, rows)


def client_total(results: Results, library: str, fields: Record, ops: tuple[str, ...] = ()) -> float | None:
    """Return the time of some operations of the client together, or None if one is missing."""
    found = [results.time(**fields, library=library, op=op) for op in ops or ("keygen", "encode", "encrypt")]
    return None if any(time is None for time in found) else sum(time for time in found if time is not None)


def seal_recorded(results: Results, recorded: Record) -> str:
    """Return SEAL's shape beside the recorded times of SEAL, and of SEAL with HEXL."""
    rows = []
    for threads in results.values("threads", suite="ckks", library="noren", **SEAL):
        for op in ["mul_relin_rescale", "rotate"]:
            ours = results.time(suite="ckks", library="noren", op=op, threads=threads, **SEAL)
            row = [op, str(threads), milliseconds(ours)]
            for library in ["SEAL+HEXL", "SEAL"]:
                theirs = recorded["seal_ms"][library][op]
                row += [number(theirs), times(ratio(theirs * 1e6, ours))]
            rows.append(row)
    return table(["operation", "threads", "noren ms", "SEAL+HEXL ms", "/ noren", "SEAL ms", "/ noren"], rows)


def client_recorded(results: Results, recorded: Record) -> str:
    """Return the client's side beside the recorded times of others."""
    rows = []
    data = recorded["client_ms"]
    for n in results.values("n", suite="client", library="noren"):
        for i, op in enumerate(data["ops"]):
            ours = results.time(suite="client", library="noren", op=op, n=n, threads=1)
            row = [power(n), op, milliseconds(ours)]
            for library in ["SEAL+HEXL", "Lattigo"]:
                theirs = data[library][str(n.bit_length() - 1)][i]
                row += [number(theirs, 2), times(ratio(theirs * 1e6, ours))]
            rows.append(row)
    return table(["N", "operation", "noren ms", "SEAL+HEXL ms", "/ noren", "Lattigo ms", "/ noren"], rows)
