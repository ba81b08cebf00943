"""The table of targets: what was aimed at, and what was measured."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pages import bootstrap, chain, cyclotomic, kernels, lookup, matvec, schemes, tfhe, trace
from records import Record, Results, lowest, number, ratio, table

LARGE = {"suite": "ckks", "n": 1 << 16, "limbs": 24, "special": 8}
SWITCHES = ["mul_relin_rescale", "rotate", "rotate_hoisted"]
# Three operands fit the second cache of 1 MiB.
L2_LOG_N = 15


@dataclass(frozen=True)
class Target:
    """One row: a figure and the bound that it is to keep."""

    what: str
    bound: float
    found: float | None
    # Whether the figure is to be at most the bound, not at least.
    at_most: bool = False
    unit: str = "x"

    def row(self) -> list[str]:
        sign = "at most" if self.at_most else "at least"
        if self.found is None:
            return [self.what, f"{sign} {self._text(self.bound)}", "not measured", ""]
        met = self.found <= self.bound if self.at_most else self.found >= self.bound
        return [self.what, f"{sign} {self._text(self.bound)}", self._text(self.found), "met" if met else "**missed**"]

    def _text(self, value: float) -> str:
        return f"{value:.0%}" if self.unit == "%" else f"{number(value)}{self.unit}"


def targets(results: Results, recorded: Record) -> list[Target]:
    """Return all targets; where a row covers many cells, the worst of them counts."""
    return [
        *kernel_targets(results),
        *ckks_targets(results, recorded),
        *trace_targets(results, recorded),
        *client_targets(results, recorded),
        *bootstrap_targets(results),
        *chain_targets(results, recorded),
        *matvec_targets(results, recorded),
        *cyclotomic_targets(results, recorded),
        *lookup_targets(results),
        *tfhe_targets(results, recorded),
        Target("records that state their peak memory", 1, stated(results), unit="%"),
    ]


def kernel_targets(results: Results) -> Iterable[Target]:
    """Transforms, element-wise operations, inner products."""
    for op, name in [("ntt_forward", "forward"), ("ntt_inverse", "inverse")]:
        every = kernels.least_ratio(results, op)
        yield Target(f"{name} NTT, AVX-512, against tfhe-ntt, every N from 2^10 to 2^16", 1.0, every)
        some = kernels.least_ratio(results, op, [12, 15, 16])
        yield Target(f"{name} NTT, AVX-512, against tfhe-ntt, N = 2^12, 2^15 and 2^16", 1.2, some)
        for bits in kernels.PRIMES:
            cold = kernels.cold_over_hot(results, op, bits, "avx512")
            yield Target(f"{name} NTT, {bits}-bit primes, 24 cold limbs of 2^16 over hot", 1.6, cold, at_most=True)
    small = [n for n in results.values("n", **kernels.OURS, op="add") if n.bit_length() - 1 <= L2_LOG_N]
    for op, name, bound in [("add", "addition", 5.5), ("mul", "multiplication", 3.7)]:
        gain = lowest(kernels.speed_up(results, op, n, "avx512") for n in small)
        yield Target(f"{name}, AVX-512 over portable, every size that fits the L2", bound, gain)
    sizes = results.values("n", **kernels.OURS, op="add")
    fused = lowest(kernels.fused(results, n, "avx512") for n in sizes)
    yield Target("fused multiply-add over multiply, then add, AVX-512, every size", 1.2, fused)
    keys = results.one(**kernels.OURS, op="inner_product_keys", isa="avx512", threads=1)
    share = keys.get("share_of_read") if keys else None
    yield Target("key-switching inner product, share of the plain read bandwidth", 0.75, share, unit="%")


def ckks_targets(results: Results, recorded: Record) -> Iterable[Target]:
    """Operations on ciphertexts."""

    def ours(op: str, threads: int = 1, shape: Record = LARGE) -> float | None:
        return results.time(**{"suite": "ckks", **shape}, library="noren", op=op, threads=threads)

    for peer, bound in [("openfhe", 15.0), ("lattigo", 8.0)]:
        for op in SWITCHES:
            theirs = results.time(**LARGE, library=peer, op=op, threads=1)
            yield Target(f"{op}, N = 2^16, 1 thread, against {peer}", bound, ratio(theirs, ours(op)))
    for op in SWITCHES:
        yield Target(f"{op}, N = 2^16, 2 threads over 1", 1.6, ratio(ours(op), ours(op, threads=2)))
    for op in ["mul_relin_rescale", "rotate"]:
        theirs = results.time(suite="ckks", **schemes.SEAL, library="tenseal", op=op, threads=1)
        mine = ours(op, shape=schemes.SEAL)
        yield Target(f"{op}, SEAL's shape, against TenSEAL", 5.0, ratio(theirs, mine))
        theirs = recorded["seal_ms"]["SEAL+HEXL"][op] * 1e6
        yield Target(f"{op}, SEAL's shape, against SEAL+HEXL as recorded elsewhere", 2.0, ratio(theirs, mine))
    stream = results.one(**kernels.OURS, op="stream_add", threads=1)
    for op in ["add", "mul_plain"]:
        record = results.one(**LARGE, library="noren", op=op, threads=1)
        rate = record.get("gb_per_s") if record else None
        share = ratio(rate, stream.get("gb_per_s") if stream else None)
        yield Target(f"{op}, N = 2^16, share of the plain stream", 0.8, share, unit="%")


def trace_targets(results: Results, recorded: Record) -> Iterable[Target]:
    """Sums over slots: the worst cell counts."""
    isa = trace.fast_isa(results)
    cells = trace.cells(1)

    def worst(theirs: Callable[[trace.Cell], float | None]) -> float | None:
        gains = []
        for cell in cells:
            winner = trace.best(results, cell, isa)
            gains.append(ratio(theirs(cell), winner[1] if winner else None))
        return lowest(gains)

    def elsewhere(name: str) -> Callable[[trace.Cell], float | None]:
        def time(cell: trace.Cell) -> float | None:
            found = trace.recorded_best(recorded, name, cell)
            return None if found is None else found * 1e6

        return time

    every = "trace, every cell, best h, against"
    yield Target(
        f"{every} Inoue et al.'s program with HEXL as recorded", 10, worst(elsewhere("Inoue et al.'s program, HEXL"))
    )
    yield Target(f"{every} Lattigo's InnerSum", 6, worst(lambda cell: trace.peer(results, cell, "lattigo")))
    yield Target(f"{every} OpenFHE's rotate and sum", 6, worst(lambda cell: trace.peer(results, cell, "openfhe")))
    seal = worst(elsewhere("SEAL+HEXL, doubling"))
    yield Target("trace, 1 special prime, best h, against SEAL+HEXL's doubling as recorded", 4, seal)
    doubling = lowest(trace.over_doubling(results, cell, isa) for cell in cells)
    yield Target(f"{every} our own doubling", 1.3, doubling)
    for threads in results.values("threads", **trace.SUITE, library="noren"):
        gain = trace.least_vector_gain(results, threads)
        yield Target(f"trace, every cell and h, AVX-512 over portable, {threads} thread(s)", 2.3, gain)
        for name, model in [("calibrated", trace.CALIBRATED), ("fixed", trace.FIXED)]:
            choices = [trace.chosen(results, cell, isa, model) for cell in trace.cells(threads)]
            loss = max((choice[1] for choice in choices if choice), default=None)
            what = f"trace, the {name} model's h over the best, every cell, {threads} thread(s)"
            yield Target(what, 0.1, loss, at_most=True, unit="%")


def client_targets(results: Results, recorded: Record) -> Iterable[Target]:
    """Encoding and encryption."""
    fields = {"suite": "client", "n": 1 << 15, "threads": 1}
    ops = ("encode", "encrypt")
    ours = schemes.client_total(results, "noren", fields, ops)
    for peer in ["openfhe", "lattigo"]:
        theirs = schemes.client_total(results, peer, fields, ops)
        yield Target(f"encode + encrypt, N = 2^15, against {peer}", 4, ratio(theirs, ours))
    data = recorded["client_ms"]
    theirs = sum(data["SEAL+HEXL"]["15"][data["ops"].index(op)] for op in ops) * 1e6
    yield Target("encode + encrypt, N = 2^15, against SEAL+HEXL as recorded", 1.5, ratio(theirs, ours))


def bootstrap_targets(results: Results) -> Iterable[Target]:
    """One bootstrap of 2^15 complex slots."""
    mine = bootstrap.ours(results, "complex", 1) or {}
    double = bootstrap.ours(results, "complex", 2) or {}
    real = bootstrap.ours(results, "real", 1) or {}
    setup = bootstrap.ours(results, "complex", 1, op="setup") or {}
    peers = [("lattigo", "N16QP1546H192H32", 8.0), ("openfhe", "sparse encapsulation", 11.0)]
    for peer, name, bound in peers:
        fields = {**bootstrap.SUITE, "library": peer, "set": name, "mode": "complex", "threads": 1}
        theirs = results.time(**fields, op="bootstrap")
        yield Target(f"bootstrap, 1 thread, against {peer} {name}", bound, ratio(theirs, mine.get("median_ns")))
        if peer == "lattigo":
            theirs = results.time(**fields, op="setup")
            yield Target("set-up of bootstrapping, 1 thread, against lattigo", 4, ratio(theirs, setup.get("median_ns")))
    yield Target("bootstrap, 2 threads over 1", 1.6, ratio(mine.get("median_ns"), double.get("median_ns")))
    share = ratio(real.get("median_ns"), mine.get("median_ns"))
    yield Target("bootstrap, real messages over complex ones", 0.7, share, at_most=True)
    worst = lowest(record.get("worst_bits") for record in [mine, real])
    yield Target("bootstrap, precision of the worst slot, every kind of message", 21, worst, unit=" bits")
    yield Target("bootstrap, levels left", 12, mine.get("levels_left"), unit="")
    failure = mine.get("log2_failure")
    yield Target("bootstrap, log2 of the failure probability of 100", -64, failure, at_most=True, unit="")
    disk = mine.get("disk_bytes")
    yield Target("bootstrap, keys on disk", 4, None if disk is None else disk / 1e9, at_most=True, unit=" GB")
    peaks = [record["peak_rss_bytes"] for record in [mine, real, setup] if record.get("peak_rss_bytes") is not None]
    peak = max(peaks) / 1e9 if peaks else None
    yield Target("bootstrap, peak memory", 12, peak, at_most=True, unit=" GB")


def chain_targets(results: Results, recorded: Record) -> Iterable[Target]:
    """Products that follow one another, one thread: the worst depth counts."""
    deepest = max(recorded["chain_ms"]["depths"])
    for scheme, bound in [("bfv", 2.5), ("bgv", 2.0)]:
        cell = {**chain.SUITE, "scheme": scheme, "depth": deepest, "threads": 1, "op": "chain"}
        theirs = chain.recorded_time(recorded, "SEAL+HEXL", cell)
        gain = ratio(theirs, results.time(**cell, library="noren"))
        yield Target(f"chain of {deepest} products, {scheme}, against SEAL+HEXL as recorded", bound, gain)
    bounds = [
        ("bfv", "tenseal", 4.0),
        ("ckks", "lattigo", 5.0),
        *((scheme, "openfhe", 5.0) for scheme in chain.SCHEMES),
    ]
    for scheme, peer, bound in bounds:
        cells = [cell for cell in chain.cells(results, scheme) if cell["threads"] == 1]
        worst = lowest(chain.gain(results, peer, cell) for cell in cells)
        yield Target(f"chains, {scheme}, every depth, against {peer}", bound, worst)
    for peer in chain.PEERS:
        shares = []
        for cell in (cell for scheme in chain.SCHEMES for cell in chain.cells(results, scheme) if cell["threads"] == 1):
            shares.append(ratio(chain.peak(results, "noren", cell), chain.peak(results, peer, cell)))
        largest = max((share for share in shares if share is not None), default=None)
        yield Target(f"chains, every scheme and depth, peak memory over that of {peer}", 1.0, largest, at_most=True)


def matvec_targets(results: Results, recorded: Record) -> Iterable[Target]:
    """A matrix times an encrypted vector, one thread."""
    what = "matrix times vector, 512 x 512, BGV, N = 2^14, 10 primes, against"
    yield Target(f"{what} lattigo", 4, matvec.gain(results, "lattigo", 1))
    mine = matvec.best(results, "noren", 1)
    theirs = recorded["matvec_ms"]["Lattigo"] * 1e6
    yield Target(f"{what} Lattigo as recorded", 4, ratio(theirs, mine["median_ns"] if mine else None))


def cyclotomic_targets(results: Results, recorded: Record) -> Iterable[Target]:
    """A matrix of all slots times an encrypted vector in rings of general index, on one thread."""
    sets = recorded["cyclotomic_ms"]["sets"]
    known = {cyclotomic.name(of): of for of in cyclotomic.sets(results)}

    def gain(names: Iterable[str], op: str, theirs: str | None = None) -> float | None:
        def one(name: str) -> float | None:
            measured = None if theirs else cyclotomic.time(results, known[name], op, 1, library="helib")
            return ratio(measured or sets[name].get(theirs or op), cyclotomic.time(results, known[name], op, 1))

        return lowest(one(name) for name in names if name in known)

    large, large_slots = ["15709:2:1", "24295:2:1"], ["15709:2:1", "24295:2:1", "15709:3:1"]
    others = ["511:2:1", "2047:2:1", "4095:2:1", "15709:3:1"]
    what = "matrix times vector, rings of general index"
    yield Target(f"{what}, (15709, 2, 1) and (24295, 2, 1), against HElib", 6, gain(large, "matvec"))
    yield Target(f"{what}, the same, against HElib+HEXL as recorded", 5, gain(large, "matvec", "hexl"))
    yield Target(f"{what}, the other four sets, against HElib+HEXL as recorded", 4, gain(others, "matvec", "hexl"))
    for op, bound in [("encode_matrix", 8), ("keygen", 5), ("encrypt", 3), ("decrypt", 3)]:
        title = f"{cyclotomic.OPS[op]}, m = 15709 and 24295, against HElib"
        yield Target(f"rings of general index: {title}", bound, gain(large_slots, op))
    of = known.get("15709:2:59", (0, 0, 0))
    for op, bound in [("matvec", 400), ("encode_matrix", 2500)]:
        found = cyclotomic.time(results, of, op, 1)
        yield Target(f"{cyclotomic.OPS[op]}, (15709, 2, 59)", bound, found, at_most=True, unit=" ms")
    threads = lowest(
        ratio(*(cyclotomic.time(results, known[name], "matvec", count) for count in [1, 2]))
        for name in large_slots
        if name in known
    )
    yield Target(f"{what}, m = 15709 and 24295, two threads over one", 1.6, threads)
    norm = (cyclotomic.record(results, known.get("15709:2:1", (0, 0, 0)), "norm_fft", 1, None) or {}).get("median_ns")
    yield Target("canonical norm, m = 15709", 0.15, norm / 1e6 if norm else None, at_most=True, unit=" ms")
    every = cyclotomic.by_index(results)
    gains = {"norm_horner": ("canonical norm by Horner's rule", 3.4), "add": ("sums", 5.5), "mul": ("products", 3.7)}
    for op, (title, wanted) in gains.items():
        least = lowest(ratio(*cyclotomic.by_kernels(results, of, op)) for of in every)
        yield Target(f"{title}, rows of rings of general index, the fastest kernels over portable", wanted, least)


def lookup_targets(results: Results) -> Iterable[Target]:
    """A function of two encrypted numbers of 15 bits."""

    def time(op: str, threads: int) -> float | None:
        return (lookup.record(results, op, threads) or {}).get("median_ns")

    for threads, bound in [(1, 5.0), (2, 3.0)]:
        taken = time("lookup_fast", threads)
        what = f"lookup, N = 2^15, {threads} thread(s)"
        yield Target(what, bound, taken / 1e9 if taken else None, at_most=True, unit=" s")
    records = [found for threads in (1, 2) if (found := lookup.record(results, "lookup_fast", threads))]
    for what, field, bound in [("peak memory", "peak_rss_bytes", 6.0), ("keys of the matrix", "key_bytes", 1.5)]:
        largest = max((found[field] / 1e9 for found in records if found.get(field)), default=None)
        yield Target(f"lookup, N = 2^15, {what}", bound, largest, at_most=True, unit=" GB")
    prepared = max((found["median_ns"] / 1e9 for found in lookup.preparations(results, 2)), default=None)
    yield Target("lookup, preparation of a rule, every method, 2 threads", 60, prepared, at_most=True, unit=" s")
    for what, op, bound in [("eight pairs", "lookup_eight", 3.0), ("numbers from 0 to t - 1", "lookup_residues", 5.0)]:
        yield Target(
            f"lookup, {what} over one pair, 2 threads", bound, ratio(time(op, 2), time("lookup_fast", 2)), at_most=True
        )
    share = ratio(time("lookup_linear", 2), time("lookup_maeda", 2))
    yield Target("lookup, the published matrix over the published polynomial", 0.725, share, at_most=True, unit="%")


def tfhe_targets(results: Results, recorded: Record) -> Iterable[Target]:
    """Bits and small integers, one ciphertext at a time and in batches."""
    gate = tfhe.time(results, "noren", 1, "BOOL", "gate")
    most = recorded["tfhe_ms"]["TFHEpp gate"]
    yield Target("gate, failure 2^-64, 1 thread", most, gate / 1e6 if gate else None, at_most=True, unit=" ms")
    theirs = recorded["tfhe_ms"]["OpenFHE gate, HEXL"] * 1e6
    yield Target("gate, against OpenFHE with HEXL as recorded", 4, ratio(theirs, gate))
    for what, workload, op, single, batched in [
        ("gate", "BOOL", "gate", 2.0, 3.5),
        ("bootstrap, 2_2", "2_2", "bootstrap", 1.4, 2.5),
    ]:
        yield Target(f"{what}, against tfhe-rs, 1 thread", single, tfhe.gain(results, "tfhe-rs", 1, workload, op))
        for threads in (1, 2):
            worst = lowest(tfhe.gain(results, "tfhe-rs", threads, workload, op, batch) for batch in (64, 512))
            yield Target(f"{what}, batches of 64 and 512, against tfhe-rs, {threads} thread(s)", batched, worst)
    for workload in ("BOOL", "2_2"):
        keys = tfhe.gain(results, "tfhe-rs", 1, workload, "server_key")
        yield Target(f"keys of the server, {workload}, against tfhe-rs", 8, keys)
        client = tfhe.best(results, "noren", 1, f"client-{workload}", "client_keys")
        peak = client["peak_rss_bytes"] / 1e6 if client else None
        yield Target(f"keys of a client, {workload}, peak memory", 64, peak, at_most=True, unit=" MB")
    for op, what in tfhe.INTEGERS.items():
        if op != "table":
            worst = lowest(tfhe.gain(results, "tfhe-rs", 2, width, op) for width in ("u8", "u16", "u32"))
            yield Target(f"integers, {what}, 8 to 32 bits, against tfhe-rs, 2 threads", 2, worst)
    for threads in (1, 2):
        table = tfhe.gain(results, "tfhe-rs", threads, "u8xu8", "table")
        yield Target(f"any function of two integers of 8 bits, against tfhe-rs, {threads} thread(s)", 3, table)
    for op in ("torus_forward", "torus_inverse_add"):
        yield Target(f"{op}, N = 512 to 8192, against tfhe-fft with its twist", 1.1, tfhe.transform_gain(results, op))


def stated(results: Results) -> float | None:
    """Return the share of records with their peak memory."""
    if not results.records:
        return None
    return sum(record["peak_rss_bytes"] is not None for record in results.records) / len(results.records)


def targets_table(results: Results, recorded: Record) -> str:
    """Return the table of targets."""
    return table(["what", "target", "measured", ""], [target.row() for target in targets(results, recorded)])
