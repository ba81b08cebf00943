"""Inoue, Suzuki and Yamana: the trace-type function by AVX-512."""

from pages import kernels
from pages import trace as grid
from pages.papers.item import Found, Item, factor, items, milliseconds, shown, span
from records import Record, Results, microseconds, number, power, ratio, size, table, times

TRACE = "[comparison](comparison.md#trace-type-functions)"
KERNELS = "[kernels](kernels.md#element-by-element)"
# The published grid has moduli of 60 bits; ours have 50, or are two primes of 30.
PASSES = {"two": "mul_then_add_rows", "one": "mul_add_rows"}
# The rows of the figure that the table has: degrees and numbers of moduli.
SHOWN = [(1 << log_n, limbs) for log_n in (10, 12, 14, 15) for limbs in (1, 4, 15)]


def walk(results: Results, n: int, limbs: int, bits: int, way: str) -> Record | None:
    """Return the record of a walk over `limbs` moduli of `bits` bits."""
    rows = limbs * (2 if bits == 60 else 1)
    fields = {"suite": "fused", "library": "noren", "op": PASSES[way], "n": n, "limbs": rows, "modulus_bits": bits}
    return results.one(**fields)


def walk_time(results: Results, n: int, limbs: int, bits: int, way: str) -> float | None:
    """Return the time of a walk in nanoseconds."""
    return (walk(results, n, limbs, bits, way) or {}).get("median_ns")


def gain(results: Results, n: int, limbs: int, bits: int = 50) -> float | None:
    """Return how many times faster one pass is than two."""
    return ratio(*(walk_time(results, n, limbs, bits, way) for way in ["two", "one"]))


def doubled(results: Results, n: int, limbs: int) -> float | None:
    """Return how many times longer one pass takes modulo two primes of 30 bits than modulo one of 50."""
    return ratio(*(walk_time(results, n, limbs, bits, "one") for bits in [60, 50]))


def fused_table(found: Found) -> str:
    """Return figure 1: a product and a sum in two passes and in one."""
    papers = found.papers
    rows = []
    for n, limbs in SHOWN:
        record = walk(papers, n, limbs, 50, "one")
        row = [power(n), str(limbs), str(n * limbs), shown(size(record["input_bytes"]) if record else "")]
        row += [shown(microseconds(walk_time(papers, n, limbs, 50, way))) for way in PASSES]
        row.append(shown(times(gain(papers, n, limbs))))
        row += [shown(microseconds(walk_time(papers, n, limbs, 60, way))) for way in PASSES]
        rows.append([*row, shown(times(doubled(papers, n, limbs)))])
    header = ["N", "moduli", "words of a vector", "input"]
    header += [f"50 bits, {way} pass{'es' if way == 'two' else ''}, us" for way in PASSES] + ["two over one"]
    header += [f"60 bits as two primes, {way} pass{'es' if way == 'two' else ''}, us" for way in PASSES]
    return table([*header, "one pass, 60 bits over 50"], rows)


def key_rate(results: Results, level: int, isa: str, special: int = 1, h: int = 1) -> float | None:
    """Return how many bytes of keys a sum reads in a nanosecond."""
    fields = grid.Cell(special, level, 1).fields()
    record = results.one(**fields, library="noren", h=h, isa=isa)
    return record["key_bytes"] / record["median_ns"] if record and record["median_ns"] else None


def trend(found: Found) -> str:
    """Return why the gain changes with the level as it does."""
    isas = ["portable", grid.fast_isa(found.results)]
    rates = {(isa, level): key_rate(found.results, level, isa) for isa in isas for level in (1, 4, 9)}
    rows = [
        [isa, *(shown(number(rates[isa, level])) for level in (1, 4, 9)), *(gains(found, h, isa) for h in (1, 4))]
        for isa in isas
    ]
    header = ["kernels", *(f"level {level}, GB/s" for level in (1, 4, 9))]
    return table([*header, *(f"levels 9 over 1, h = {h}: time" for h in (1, 4))], rows)


def gains(found: Found, h: int, isa: str) -> str:
    """Return how many times longer a sum takes at level 9 than at level 1, with one special prime."""
    low, high = (grid.ours(found.results, grid.Cell(1, level, 1), h, isa) for level in (1, 9))
    return shown(times(ratio(high, low)))


def speed_ups(found: Found, threads: int) -> list[float | None]:
    """Return all gains of AVX-512 over portable kernels."""
    isa = grid.fast_isa(found.results)
    return [
        ratio(grid.ours(found.results, cell, h, "portable"), grid.ours(found.results, cell, h, isa))
        for cell in grid.cells(threads)
        for h in grid.ITERATIONS
    ]


def published_gains(found: Found, threads: str) -> list[float]:
    """Return the published gains."""
    return [gain for row in found.recorded["trace_speedup"][threads].values() for gain in row]


def table_of(found: Found) -> str:
    """Return all tables, figures and algorithms."""
    results, recorded = found.results, found.recorded
    isa = grid.fast_isa(results)
    cells = grid.cells(1)
    rotate = results.time(suite="ckks", library="noren", op="rotate", n=1 << 15, limbs=11, threads=1)
    doubling = [grid.doubling(results, cell, isa) for cell in cells]
    best = [winner[1] for cell in cells if (winner := grid.best(results, cell, isa))]
    theirs = [grid.recorded_best(recorded, "Inoue et al.'s program, HEXL", cell) for cell in cells]
    over = [ratio(time * 1e6 if time else None, mine) for time, mine in zip(theirs, best, strict=False)]
    in_cache = [kernels.fused(results, n, "avx512") for n in results.values("n", **kernels.OURS, op="mul_add")]
    small, large = gain(found.papers, 1 << 10, 1), gain(found.papers, 1 << 15, 15)
    two = [doubled(found.papers, n, limbs) for n, limbs in SHOWN]
    sevens = recorded["trace_ms"]["Inoue et al.'s program, HEXL"]["7"]
    return items(
        [
            Item(
                "Algorithm 2.1: automorphism and key switching",
                "`noren-lab bench ckks --log-n 15`",
                "[comparison](comparison.md#ckks)",
                "no time of its own: it is a part of the sums",
                f"rotation, N = 2^15, 11 + 4 primes: {milliseconds(rotate)}",
                "the same hybrid key switching",
            ),
            Item(
                "Algorithm 2.2: repeated rotation and sum (h = 7)",
                "`noren-lab bench trace --unrolled 7`",
                TRACE,
                f"{span(sevens, ' ms')}: their program, run on a Zen 5",
                f"{span([time / 1e6 for time in doubling if time], ' ms')}",
                "all loops are kernels, for primes of 50 bits by IFMA, where the published ones have 60",
            ),
            Item(
                "Algorithms 3.1 and 3.2: hoisted and unrolled sums",
                "`noren-lab bench trace`",
                TRACE,
                f"best h: {span(theirs, ' ms')} (their program, run on a Zen 5)",
                f"best h: {span([time / 1e6 for time in best], ' ms')}",
                f"{span(over, '')} times faster by the same algorithm: kernels, and keys read once, in their order",
            ),
            Item(
                "Algorithm 4.1: product and sum of vectors in one pass",
                "`noren-lab bench kernels`",
                KERNELS,
                "slower than two calls in the second cache, faster beyond it (figure 1)",
                f"one pass {span(in_cache, '')} times faster than two, rows of 2^9 to 2^19 bytes",
                "both kernels are unrolled here; the published one was not, which the authors name as the reason",
            ),
            Item(
                "Figure 1: time of both against the size of the input",
                "`noren-lab bench fused`",
                "[below](#one-pass-or-two)",
                "no numbers are printed; the lines cross at an input of about 2^19 bytes, near the second cache",
                f"one pass is {factor(small)} as fast at 1,024 words, {factor(large)} at 491,520; no crossing",
                f"moduli of 50 bits: one of 60 is two primes of 30, which takes {span(two, '')} times as long",
            ),
            Item(
                "Table 1: the machine",
                "`noren info`",
                "[comparison](comparison.md)",
                "two Xeon Gold 6334, 8 cores each at 3.6 GHz, 48 KiB, 1.25 MiB and 18 MiB of caches",
                "named at the top of the page",
                "two cores; third cache of 32 MiB",
            ),
            Item(
                "Table 2 and figure 2: gain of AVX-512, one thread",
                "`noren-lab bench trace --threads 1`, and with `NOREN_ISA=portable` before it",
                TRACE,
                f"{span(published_gains(found, '1'), '')} (scalar over HEXL)",
                f"{span(speed_ups(found, 1), '')} (portable over AVX-512)",
                "every loop is a kernel here, not only products and transforms; [the trend](#the-trend-in-the-level)",
            ),
            Item(
                "Table 3 and figure 3: the same, eight threads",
                "`noren-lab bench trace --threads 2`, and with `NOREN_ISA=portable` before it",
                TRACE,
                f"{span(published_gains(found, '8'), '')} (8 threads)",
                f"{span(speed_ups(found, 2), '')} (2 threads)",
                "two cores is what there is; as published, lower than on one thread, because both cores share the "
                "bandwidth of memory",
            ),
        ]
    )
