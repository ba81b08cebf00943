"""Akimoto and Sakuma: RNS-CKKS, its bootstrapping, and three ways of going parallel."""

from pages.papers.item import Found, Item, factor, items, milliseconds, seconds, shown, span
from pages.parallel import LEVEL, OPS, WAYS, point
from records import Record, Results, number, ratio, size, table, times
from records import milliseconds as in_ms

# Operations of table 1: theirs, ours, and that of the set with one prime for each level.
OPERATIONS = {
    "add": ("Add", "add"),
    "mul_integer": ("CMult", "mul_plain"),
    "mul_relin": ("Mult", "mul_relin"),
    "rescale": ("Rescale", "rescale"),
    "rotate": ("LeftRot", "rotate"),
}
# The level of table 1, and the slots of a ciphertext.
TOP = 32
SLOTS = 1 << 15
BASELINE: Record = {"suite": "rns-heaan", "library": "noren", "n": 1 << 16, "set": "rns-heaan"}
PRESET: Record = {"suite": "bootstrap", "library": "noren", "set": "n16", "mode": "complex"}
PARALLEL = "[going parallel](parallel.md#what-this-machine-shows)"
BOOTSTRAPPING = "[bootstrapping](bootstrapping.md#the-baseline)"


def time_of(record: Record | None) -> float | None:
    """Return the time of a record in nanoseconds, if there is one."""
    return record["median_ns"] if record else None


def operation(papers: Results, op: str) -> Record | None:
    """Return our record of an operation at the published set on one thread."""
    return papers.one(**BASELINE, op=op, threads=1, parallel=None)


def single(papers: Results, op: str) -> float | None:
    """Return our time at one prime of 45 bits for each level, on one thread, in nanoseconds."""
    fields = {"suite": "parallel", "library": "noren", "figure": "levels", "level": TOP, "parallel": "both"}
    return papers.time(**fields, op=op, threads=1, model=None)


def bootstrap(papers: Results, of: Record, threads: int, way: str | None) -> Record | None:
    """Return our record of a bootstrap."""
    return papers.one(**of, op="bootstrap", threads=threads, parallel=way)


def operations_table(found: Found) -> str:
    """Return table 1."""
    published = found.recorded["rns_heaan_ms"]["operations"]
    rows = []
    for op, (name, other) in OPERATIONS.items():
        record = operation(found.papers, op)
        mine, short = time_of(record), single(found.papers, other)
        theirs = published["FullRNS-HEAAN"][op]
        row = [name, number(published["HEAAN"][op]), number(theirs), shown(in_ms(mine))]
        row += [shown(times(ratio(theirs * 1e6, mine))), shown(in_ms(short))]
        rows.append([*row, shown(times(ratio(theirs * 1e6, short))), shown(memory(record))])
    record = bootstrap(found.papers, BASELINE, 1, None)
    mine, theirs = time_of(record), published["FullRNS-HEAAN"]["bootstrap"]
    row = ["Bootstrapping", number(published["HEAAN"]["bootstrap"]), number(theirs), shown(in_ms(mine))]
    row += [shown(times(ratio(theirs * 1e6, mine))), "no bootstrapping at that set", "as before"]
    rows.append([*row, shown(memory(record))])
    header = ["operation", "HEAAN, ms", "FullRNS-HEAAN, ms", "noren, 66 + 37 primes, ms", "FullRNS-HEAAN / noren"]
    return table([*header, "noren, 33 + 11 primes, ms", "FullRNS-HEAAN / noren", "peak memory, 66 + 37"], rows)


def memory(record: Record | None) -> str:
    """Write the most memory of a record."""
    return size(record["peak_rss_bytes"]) if record else ""


def bootstraps_table(found: Found) -> str:
    """Return table 2: bootstrapping in three ways of going parallel."""
    rows = []
    for run in found.recorded["rns_heaan_ms"]["bootstraps"]:
        name, each = f"{run['scheme']}, published", run["ms"] / SLOTS
        rows.append(
            [name, run["parallel"], str(run["threads"]), number(run["ms"]), number(each), "see below", "not stated"]
        )
    for name, of in [("noren, the published set", BASELINE), ("noren, `n16` at 128 bits", PRESET)]:
        alone = time_of(bootstrap(found.papers, of, 1, None))
        for threads, way in [(1, None), *((2, way) for way in WAYS)]:
            record = bootstrap(found.papers, of, threads, way)
            time = time_of(record)
            row = [name, way or "none", str(threads), shown(in_ms(time))]
            row += [shown(number(time / SLOTS / 1e6 if time else None)), shown(times(ratio(alone, time)))]
            rows.append([*row, shown(memory(record))])
    header = ["scheme", "parallel", "threads", "bootstrapping, ms", "of a slot, ms", "over one thread", "peak memory"]
    return table(header, rows)


def over_one(found: Found, of: Record) -> list[float | None]:
    """Return what two threads gain over one in each way."""
    one = bootstrap(found.papers, of, 1, None)
    each = [bootstrap(found.papers, of, 2, way) for way in WAYS]
    return [ratio(time_of(one), time_of(record)) for record in each]


def raising(papers: Results) -> float | None:
    """Return the time of raising the modulus in nanoseconds."""
    return papers.time(**BASELINE, op="stage", stage="raise", threads=1, parallel=None)


def table_of(found: Found) -> str:
    """Return all tables, figures and algorithms."""
    papers, recorded = found.papers, found.recorded["rns_heaan_ms"]
    theirs = recorded["operations"]["FullRNS-HEAAN"]
    gains = [ratio(theirs[op] * 1e6, time_of(operation(papers, op))) for op in OPERATIONS]
    record, fast = (bootstrap(papers, of, 1, None) for of in [BASELINE, PRESET])
    time, best = time_of(record), time_of(fast)
    two = point(found.results, "threads", "mul_relin", "both", 2, LEVEL)
    one = point(found.results, "threads", "mul_relin", "both", 1, LEVEL)
    bits = record.get("worst_bits") if record else None
    random = (record or {}).get("precision", {}).get("random complex", [None])[0]
    conversion = found.results.time(
        suite="kernels", library="noren", op="basis_convert", n=1 << 16, isa="avx512", prime_bits=48
    )
    wins = span(
        [ratio(*(level_times(found, op, level, way) for way in ["modulus", "both"])) for op in OPS for level in LEVELS],
        "",
    )
    return items(
        [
            Item(
                "Section 2.3: fast basis conversion",
                "`noren-lab bench kernels --log-n 16`",
                "[kernels](kernels.md#sums-conversions-complex-transforms)",
                "no time of its own",
                f"a row of 2^16 from 8 primes: {milliseconds(conversion)}",
                "exact: the multiple of the modulus is counted in floating point and taken off; as published, up to "
                "half the number of primes times the modulus stays",
            ),
            Item(
                "Section 2.4 and table 1: Add, CMult, Mult, Rescale, LeftRot",
                "`noren-lab bench rns-heaan --threads 1`",
                "[below](#operations-at-the-published-set)",
                "57.6, 97.3, 3246, 460 and 3018 ms",
                ", ".join(milliseconds(time_of(operation(papers, op))) for op in OPERATIONS),
                f"{span(gains, '')} times faster; 66 primes of 27 to 31 bits stand for 33 of 55 and 61",
            ),
            Item(
                "Section 3.2: raising the modulus (ModRaise)",
                "`noren-lab bench rns-heaan --threads 1`",
                BOOTSTRAPPING,
                "no time of its own",
                f"{milliseconds(raising(papers))}",
                "the same conversion of every coefficient, exact here",
            ),
            Item(
                "Table 1: bootstrapping, one thread",
                "`noren-lab bench rns-heaan --threads 1`; `noren-lab bench bootstrap --mode complex`",
                BOOTSTRAPPING,
                "224 s, 11 bits, 7 levels left",
                f"{seconds(time)}, {shown(number(bits))} bits in the worst case, {shown(number(random))} for random "
                f"messages, 11 levels left; `n16`: {seconds(best)}, 12 levels left",
                f"{factor(ratio(224006e6, time))} faster at that set, {factor(ratio(224006e6, best))} at 128 bits: "
                "hoisted rotations, encoded matrices, constants within scales (21 levels are used, not 25)",
            ),
            Item(
                "Sections 4.1 to 4.3: three ways of going parallel",
                "`noren-lab bench parallel`",
                "[going parallel](parallel.md)",
                "by coefficients, by moduli, or both",
                "the same three, `noren::Parallel`",
                "results are the same bytes in each way",
            ),
            Item(
                "Figure 1: operations against threads, level 16",
                "`noren-lab bench parallel --figure threads`",
                PARALLEL,
                "no numbers are printed: all ways gain up to 32 threads, coefficients least",
                f"Mult, both: {milliseconds(one)} on one thread, {milliseconds(two)} on two; more threads are a model",
                "two cores is what there is; memory bounds sums, whatever the number of threads",
            ),
            Item(
                "Figure 2: operations against levels, 16 threads",
                "`noren-lab bench parallel --figure levels`",
                PARALLEL,
                "no numbers are printed: moduli alone jump where the limbs pass a multiple of the threads, both do not",
                f"moduli over both on 2 threads: {wins} of the time, levels 1 to 32",
                "the same order; with two threads a jump is at every odd number of limbs, and small",
            ),
            Item(
                "Table 2: bootstrapping in three ways",
                "`noren-lab bench rns-heaan --threads 2 --parallel coefficient,modulus,both`",
                "[below](#bootstrapping-in-three-ways)",
                "1.71, 5.88 and 7.46 times faster with 32 threads; 0.92 ms a slot",
                f"{span(over_one(found, BASELINE), '')} times with 2 threads; "
                f"{shown(number(time / SLOTS / 1e6 if time else None))} ms a slot on one",
                "a slot takes less on one thread here than on 32 there",
            ),
        ]
    )


LEVELS = range(1, TOP + 1)


def level_times(found: Found, op: str, level: int, way: str) -> float | None:
    """Return the time of an operation at a level on two threads in nanoseconds."""
    return point(found.results, "levels", op, way, 2, level)
