"""Nakashima et al.: any function of two integers by a homomorphic linear map."""

from pages.papers.item import Found, Item, factor, items, seconds, shown
from records import Record, number, ratio, table, times

PAGE = "[lookups](lookup.md#how)"
COSTS = "[lookups](lookup.md#costs)"
SUITE = {"suite": "lookup", "library": "noren", "n": 1 << 15, "threads": 1}
# The published methods, and ours.
METHODS = {
    "lookup_maeda": "the polynomial (Maeda et al.)",
    "lookup_linear": "the matrix, as published",
    "lookup_fast": "the matrix at few limbs, under a sparse secret",
}
# Seconds as published, of which the second is the first less what the authors say that it saves.
PUBLISHED = {"lookup_maeda": 458.5, "lookup_linear": 332.4}


def record(found: Found, op: str) -> Record | None:
    """Return the record of a method on one thread."""
    return found.papers.one(**SUITE, op=op) or found.results.one(**SUITE, op=op)


def time(found: Found, op: str) -> float | None:
    """Return the time of a method on one thread in nanoseconds."""
    return (record(found, op) or {}).get("median_ns")


def megabytes(count: float | None) -> str:
    """Write bytes in millions, as the publication does."""
    return "not measured" if count is None else f"{number(count / 1e6)} MB"


def keys(found: Found, op: str) -> float | None:
    """Return the bytes of the keys of a method."""
    return (record(found, op) or {}).get("key_bytes")


def one_key(found: Found) -> float | None:
    """Return the bytes of a key for all limbs: the polynomial has one for products and one for each rotation."""
    maeda = record(found, "lookup_maeda") or {}
    return maeda["key_bytes"] / (maeda["rotations"] + 1) if "key_bytes" in maeda else None


def methods_table(found: Found) -> str:
    """Return time and memory of all methods on one thread."""
    published = found.recorded["lookup_keys_mb"]
    rows = []
    for op, name in METHODS.items():
        mine, theirs = record(found, op) or {}, PUBLISHED.get(op)
        row = [name, "not published: a method of noren" if theirs is None else f"{theirs:.1f}"]
        row.append(shown(number(mine["median_ns"] / 1e9) if mine.get("median_ns") else ""))
        quotient = ratio(theirs * 1e9 if theirs else None, mine.get("median_ns"))
        row.append(shown(times(quotient)) if theirs else f"{factor(over_matrix(found))} over the published matrix")
        row.append(f"{published[op]:.1f} MB" if op in published else "not published")
        row.append(megabytes(keys(found, op)))
        row += [shown(str(mine.get(field, ""))) for field in ["products", "rotations"]]
        peak = mine.get("peak_rss_bytes")
        rows.append([*row, shown(number(peak / 1e9) if peak else "")])
    header = ["method", "published, s", "here, s", "published / here", "keys, published", "keys, here"]
    return table([*header, "products", "rotations", "peak memory here, GB"], rows)


def over_matrix(found: Found) -> float | None:
    """Return how many times faster the fast method is than the published time of the matrix."""
    return ratio(PUBLISHED["lookup_linear"] * 1e9, time(found, "lookup_fast"))


def table_of(found: Found) -> str:
    """Return all algorithms and figures."""
    published = found.recorded["lookup_keys_mb"]
    maeda, linear, fast = (time(found, op) for op in METHODS)
    share = ratio(linear, maeda)
    products = [(record(found, op) or {}).get("products") for op in METHODS]
    rotations = [(record(found, op) or {}).get("rotations") for op in METHODS]
    return items(
        [
            Item(
                "Prior work: the polynomial of the first number (Maeda et al.)",
                "`noren-lab bench lookup --method maeda --threads 1`",
                PAGE,
                "about 458 s",
                seconds(maeda),
                f"{factor(ratio(PUBLISHED['lookup_maeda'] * 1e9, maeda))} faster: kernels; the same number of "
                "products, about 2 sqrt N",
            ),
            Item(
                "One-hot vector of a number",
                "`noren-lab bench lookup --method linear --threads 1`",
                PAGE,
                "about log2 t products, no time of its own",
                f"16 squarings: {seconds((record(found, 'lookup_linear') or {}).get('one_hot_ns'))} for both numbers",
                "a squaring drops the limbs that its noise does not need",
            ),
            Item(
                "Extraction of the value from the row",
                "`noren-lab bench lookup --method linear --threads 1`",
                PAGE,
                "one product and log2 N rotations, no time of its own",
                seconds((record(found, "lookup_linear") or {}).get("select_ns")),
                "sums of several rotations at a time",
            ),
            Item(
                "Algorithm 5: the homomorphic linear map",
                "`noren-lab bench lookup --method linear --threads 1`",
                PAGE,
                "no time of its own",
                seconds((record(found, "lookup_linear") or {}).get("matrix_ns")),
                "the same baby and giant steps and row swap; factors are kept as residues modulo t, in 16 bits",
            ),
            Item(
                "Complexity: products and rotations",
                "`noren-lab bench lookup --method linear,maeda --threads 1`",
                COSTS,
                "O(sqrt N) and O(log N) for the polynomial, O(log N) and O(sqrt N) for the matrix",
                f"{shown(str(products[0] or ''))} and {shown(str(rotations[0] or ''))}; "
                f"{shown(str(products[1] or ''))} and {shown(str(rotations[1] or ''))}",
                "as published, counted",
            ),
            Item(
                "Execution time of a quotient of 15 bits",
                "`noren-lab bench lookup --method fast,linear,maeda --threads 1`",
                "[comparison](comparison.md#a-function-of-two-encrypted-numbers)",
                "the matrix takes 72.5 % of the polynomial, 126.1 s less: 332 and 458 s",
                f"{shown(number(100 * share if share else None))} %: {seconds(linear)} and {seconds(maeda)}; "
                f"fast: {seconds(fast)}",
                "products with plaintexts gained more than products of ciphertexts: factors are transformed where they "
                "are used, four at a time",
            ),
            Item(
                "Estimated memory: one key",
                "`noren-lab bench lookup --method maeda --threads 1`",
                "[below](#time-and-memory-on-one-thread)",
                f"{published['key']} MB",
                megabytes(one_key(found)),
                "4 digits of 13 + 4 limbs of 50 bits in words of 64; what the published key has is not stated",
            ),
            Item(
                "Estimated memory: keys of the polynomial",
                "`noren-lab bench lookup --method maeda --threads 1`",
                "[below](#time-and-memory-on-one-thread)",
                f"{published['lookup_maeda']} MB, 14 times one key",
                megabytes(keys(found, "lookup_maeda")),
                "a key for each of 15 rotations, and that of products",
            ),
            Item(
                "Estimated memory: keys of the matrix",
                "`noren-lab bench lookup --method fast,linear --threads 1`",
                "[below](#time-and-memory-on-one-thread)",
                f"{published['lookup_linear']} MB, 334 times one key",
                f"{megabytes(keys(found, 'lookup_linear'))}; fast: {megabytes(keys(found, 'lookup_fast'))}",
                "keys for the limbs that are left after the one-hot vector; fast: two limbs, and one key for all giant "
                "steps",
            ),
            Item(
                "Future work: numbers up to t",
                "`noren-lab bench lookup --method residues --threads 2`",
                COSTS,
                "not implemented there",
                seconds(found.results.time(**{**SUITE, "threads": 2}, op="lookup_residues")) + ", 2 threads",
                "two ciphertexts for each one-hot vector",
            ),
        ]
    )
