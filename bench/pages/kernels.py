"""Tables of the suite `kernels`."""

from collections.abc import Sequence

from records import Record, Results, lowest, microseconds, number, power, ratio, table, times

ISAS = ["portable", "avx2", "avx512"]
SUITE = {"suite": "kernels"}
OURS = {**SUITE, "library": "noren"}
PEER = {**SUITE, "library": "tfhe-ntt"}

# The sizes of primes, in the order of the tables.
PRIMES = [48, 50]


def peer_time(results: Results, op: str, n: int, bits: int, isa: str) -> float | None:
    """Return the time of tfhe-ntt, which leaves the factor 1/n out of its inverse."""
    return results.time(**PEER, op=op, n=n, prime_bits=bits, isa=isa)


def time_of(record: Record | None) -> float | None:
    """Return the time of a record, if there is one."""
    return None if record is None else record["median_ns"]


def transforms(results: Results) -> str:
    """Return times of hot transforms, ours for each table, beside tfhe-ntt."""
    rows = []
    for op in ["ntt_forward", "ntt_inverse"]:
        for bits in PRIMES:
            for n in results.values("n", **OURS, op=op, prime_bits=bits):
                ours = {isa: results.one(**OURS, op=op, n=n, prime_bits=bits, isa=isa) for isa in ISAS}
                row = [op.removeprefix("ntt_"), str(bits), power(n)]
                for isa in ISAS:
                    row.append(microseconds(time_of(ours[isa])))
                fast = ours["avx512"]
                row.append(number(fast.get("butterflies_per_cycle") if fast else None))
                for isa in ["avx2", "avx512"]:
                    theirs = peer_time(results, op, n, bits, isa)
                    row += [microseconds(theirs), times(ratio(theirs, time_of(ours[isa])))]
                rows.append(row)
    header = ["transform", "prime bits", "N", "portable us", "AVX2 us", "AVX-512 us", "butterflies a cycle"]
    return table([*header, "tfhe-ntt AVX2 us", "/ noren", "tfhe-ntt AVX-512 us", "/ noren"], rows)


def cold_over_hot(results: Results, op: str, bits: int, isa: str) -> float | None:
    """Return how much longer a transform takes whose row and roots are not in the cache."""
    colds = results.select(**OURS, op=f"{op}_cold", prime_bits=bits, isa=isa)
    if not colds:
        return None
    hot = results.time(**OURS, op=op, n=colds[0]["n"], prime_bits=bits, isa=isa)
    return ratio(colds[0]["median_ns"], hot)


def cold(results: Results) -> str:
    """Return times of transforms of many limbs in turns."""
    rows = []
    for op in ["ntt_forward", "ntt_inverse"]:
        for record in results.select(**OURS, op=f"{op}_cold"):
            isa, bits = record["isa"], record["prime_bits"]
            row = [op.removeprefix("ntt_"), str(bits), power(record["n"]), str(record["limbs"]), isa]
            rows.append([*row, microseconds(record["median_ns"]), times(cold_over_hot(results, op, bits, isa))])
    return table(["transform", "prime bits", "N", "limbs", "table", "us each", "cold / hot"], rows)


def speed_up(results: Results, op: str, n: int, isa: str) -> float | None:
    """Return how much faster a table is than the portable one."""
    fields = {**OURS, "op": op, "n": n, "prime_bits": 48}
    return ratio(results.time(**fields, isa="portable"), results.time(**fields, isa=isa))


def fused(results: Results, n: int, isa: str) -> float | None:
    """Return how much faster the fused multiply-add is than a multiplication and an addition."""
    fields = {**OURS, "n": n, "prime_bits": 48, "isa": isa}
    return ratio(results.time(**fields, op="mul_then_add"), results.time(**fields, op="mul_add"))


def elementwise(results: Results) -> str:
    """Return speed-ups of element-wise operations for each size of vector."""
    rows = []
    for n in results.values("n", **OURS, op="add"):
        row = [f"2^{(8 * n).bit_length() - 1}"]
        for op in ["add", "mul", "mul_add"]:
            row.append(number(results.time(**OURS, op=op, n=n, isa="avx512"), 4))
            row += [times(speed_up(results, op, n, isa)) for isa in ["avx2", "avx512"]]
        rows.append([*row, *(times(fused(results, n, isa)) for isa in ISAS)])
    header = ["bytes of a vector"]
    for name in ["add", "multiply", "fused"]:
        header += [f"{name}: AVX-512 ns", "AVX2 : portable", "AVX-512 : portable"]
    header += [f"fused over separate, {isa}" for isa in ["portable", "AVX2", "AVX-512"]]
    return table(header, rows)


def others(results: Results) -> str:
    """Return times of a row of sums, conversions and complex transforms."""
    rows = []
    for op in ["inner_product", "basis_convert", "fft"]:
        for n in results.values("n", **OURS, op=op):
            found = [results.one(**OURS, op=op, n=n, isa=isa) for isa in ISAS]
            fast = found[-1]
            row = [op, power(n), *(microseconds(time_of(record)) for record in found)]
            rows.append([*row, number(fast.get("gb_per_s") if fast else None)])
    return table(["operation", "N", "portable us", "AVX2 us", "AVX-512 us", "AVX-512 GB/s"], rows)


def memory(results: Results) -> str:
    """Return what memory gives, and what the key-switching inner product takes of it."""
    rows = []
    for op in ["stream_read", "stream_add", "inner_product_keys"]:
        for record in sorted(results.select(**OURS, op=op), key=lambda record: record["threads"]):
            share = record.get("share_of_read")
            row = [op, record["isa"], str(record["threads"]), number(record.get("gb_per_s"))]
            rows.append([*row, "" if share is None else f"{share:.0%}"])
    return table(["walk", "table", "threads", "GB/s", "share of stream_read"], rows)


def least_ratio(results: Results, op: str, degrees: Sequence[int] | None = None) -> float | None:
    """Return the lowest ratio tfhe-ntt / noren of a transform on AVX-512, over sizes of primes and these degrees."""
    ratios = []
    for record in results.select(**OURS, op=op, isa="avx512"):
        n, bits = record["n"], record["prime_bits"]
        if degrees is None or n.bit_length() - 1 in degrees:
            ratios.append(ratio(peer_time(results, op, n, bits, "avx512"), record["median_ns"]))
    return lowest(ratios)
