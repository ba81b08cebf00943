"""Makita, Shishido, Wada and Kimura: products of matrices and encrypted vectors over general cyclotomics."""

from pages import cyclotomic
from pages.papers.item import NOTHING, Found, Item, factor, items, milliseconds, shown, span
from records import Results, microseconds, number, ratio, table, times

PAGE = "[rings of any index](cyclotomic.md#figures)"
STEPS = ["encode_matrix", "encrypt", "matvec", "decrypt"]
# Digits of the keys of the suite: each has a polynomial of noise.
DIGITS = 2
# Verbs of tables 8 and 9.
VERBS = {"add": "sum (table 8)", "mul": "product (table 9)"}
Set = tuple[int, int, int]


def published_sets(found: Found) -> list[Set]:
    """Return the sets of the publication's tables."""
    names = found.recorded["cyclotomic_ms"]["published"]["program"]
    return [(int(m), int(p), int(r)) for m, p, r in (name.split(":") for name in names)]


def step(results: Results, of: Set, op: str) -> float | None:
    """Return the time of a step of the program in milliseconds, on one thread."""
    return cyclotomic.time(results, of, op, 1, None if op == "context" else "elements")


def program(results: Results, of: Set) -> tuple[float, float, float] | None:
    """Return the times of keys, of the test and of what comes before both."""
    keys, before = step(results, of, "keygen"), step(results, of, "context")
    test = [step(results, of, op) for op in STEPS]
    known = [time for time in test if time is not None]
    return None if keys is None or before is None or len(known) < len(test) else (keys, sum(known), before)


def norm(results: Results, of: Set, op: str) -> float | None:
    """Return the time of a norm by the fastest kernels in milliseconds."""
    if op == "norm_fft":
        return cyclotomic.time(results, of, op, 1, None)
    best = cyclotomic.by_kernels(results, of, op)[1]
    return best / 1e6 if best else None


def norm_share(results: Results, of: Set, op: str) -> float | None:
    """Return the share in percent that norms would have of keys, if every key waited for those of its noise."""
    record = cyclotomic.record(results, of, "keygen", 1, "elements")
    time = norm(results, of, op)
    if record is None or time is None or "keys" not in record:
        return None
    norms: float = record["keys"] * DIGITS * time
    keys: float = record["median_ns"] / 1e6
    return 100 * norms / (norms + keys)


def profile_table(found: Found) -> str:
    """Return tables 3 and 4: the shares of keys and test, and of norms within keys."""
    published = found.recorded["cyclotomic_ms"]["published"]
    rows = []
    for of in published_sets(found):
        name, found_here = cyclotomic.name(of), program(found.papers, of)
        keys, test = published["program"][name]
        shares = [100 * part / sum(found_here) for part in found_here] if found_here else [None] * 3
        row = [f"({', '.join(map(str, of))})"]
        row += [f"{there:.1f}" for there in [keys, test, 100 - keys - test]]
        row += [shown(number(share)) for share in shares]
        row += [f"{published['norms_of_keys'][name]:.1f}", "0"]
        row += [shown(number(norm_share(found.papers, of, op))) for op in ["norm_fft", "norm_horner"]]
        rows.append(row)
    header = ["(m, p, r)"]
    header += [f"{part}, % published" for part in ["keys", "test", "rest"]]
    header += [f"{part}, % here" for part in ["keys", "test", "rest"]]
    header += ["norms within keys, % published", "here", "if each key took one by FFT, %", "by Horner's rule, %"]
    return table(header, rows)


def kernels_table(found: Found) -> str:
    """Return tables 7 to 9: what vectors gain for norms, sums and products, as published and here."""
    published = found.recorded["cyclotomic_ms"]["published"]
    rows = []
    of = (15709, 2, 1)
    slow, fast = at_a_root(found)
    old, new = published["norm"]
    row = ["Horner's rule at one root (table 7)", "(15709, 2, 1)", number(old), number(new), times(old / new)]
    rows.append([*row, *(shown(microseconds(time)) for time in [slow, fast]), shown(times(ratio(slow, fast)))])
    for op, title in VERBS.items():
        for of in published_sets(found):
            old, new = published[op][cyclotomic.name(of)]
            slow, fast = cyclotomic.by_kernels(found.papers, of, op)
            row = [title, f"({', '.join(map(str, of))})", number(old), number(new), times(old / new)]
            rows.append([*row, *(shown(microseconds(time)) for time in [slow, fast]), shown(times(ratio(slow, fast)))])
    header = ["kernel", "(m, p, r)", "published: scalar, ms", "AVX-512, ms", "gain"]
    return table([*header, "here: portable, us", "fastest, us", "gain"], rows)


def at_a_root(found: Found) -> tuple[float | None, float | None]:
    """Return the times of Horner's rule at one root in nanoseconds by portable and by the fastest kernels."""
    of = (15709, 2, 1)
    record = cyclotomic.record(found.papers, of, "norm_fft", 1, None)
    if record is None:
        return None, None
    # Of each pair of conjugate roots one.
    slow, fast = cyclotomic.by_kernels(found.papers, of, "norm_horner")
    roots: float = record["n"] / 2
    return slow and slow / roots, fast and fast / roots


def gains(found: Found, op: str) -> list[float | None]:
    """Return the gains of vectors for all published sets."""
    return [ratio(*cyclotomic.by_kernels(found.papers, of, op)) for of in published_sets(found)]


def published_gains(found: Found, op: str) -> list[float]:
    """Return the published gains for all sets."""
    return [old / new for old, new in found.recorded["cyclotomic_ms"]["published"][op].values()]


def product(found: Found, of: Set) -> str:
    """Write the time of a product on one thread."""
    time = step(found.papers, of, "matvec")
    return milliseconds(None if time is None else time * 1e6)


def table_of(found: Found) -> str:
    """Return all tables, figures and algorithms."""
    papers, sets = found.papers, published_sets(found)
    programs = {of: program(papers, of) for of in sets}
    keys = [100 * times[0] / sum(times) for times in programs.values() if times]
    test = [100 * times[1] / sum(times) for times in programs.values() if times]
    threads = [
        ratio(*(cyclotomic.time(found.results, of, "matvec", count) for count in [1, 2]))
        for of in cyclotomic.sets(found.results)
        if of[0] > 511
    ]
    fft, horner = (norm(papers, (15709, 2, 1), op) for op in ["norm_fft", "norm_horner"])
    return items(
        [
            Item(
                "Section 3.2: the product by diagonals",
                "`noren-lab bench cyclotomic`",
                "[matrices](cyclotomic.md#matrices)",
                "2.22 s at dimension 682, cited from Halevi and Shoup",
                f"{product(found, (15709, 2, 1))} at dimension 682",
                "baby steps and giant steps, hoisted twice; as described there, a rotation for each diagonal",
            ),
            Item(
                "Table 1: the program's parameters",
                "`noren-lab bench cyclotomic --set 2047:2:1`",
                PAGE,
                "m = 2047, p^r = 2, 200 bits, all slots, one thread",
                f"the same; product {product(found, (2047, 2, 1))}",
                "four primes of 50 bits, and two special ones",
            ),
            Item(
                "Tables 2 and 6: the machines",
                "`noren info`",
                "[comparison](comparison.md)",
                "Xeon E5-2650 at 2.2 GHz; Xeon W-2145 at 3.7 GHz",
                "named at the top of the page",
                "later processors, with IFMA",
            ),
            Item(
                "Table 3: shares of keys and of the test",
                "`noren-lab bench cyclotomic --threads 1`",
                "[below](#shares-of-keys-and-norms)",
                "keys 54.6 to 80.8 %, test 10.7 to 35.3 %",
                f"keys {span(keys, ' %')}, test {span(test, ' %')}",
                "keys wait for no norms here; the encoding of the matrix is most of the test",
            ),
            Item(
                "Table 4: share of Horner's rule within keys",
                "`noren-lab bench cyclotomic --threads 1`",
                "[below](#shares-of-keys-and-norms)",
                "59.3 to 99.7 %",
                "0 %",
                "noise is predicted by a law, not from the norm of each polynomial that was drawn",
            ),
            Item(
                "Table 5: shares within the test",
                "`noren-lab bench cyclotomic --threads 1`",
                PAGE,
                "product 8.0 to 60.3 %",
                f"product {span([product_share(papers, of) for of in sets], ' %')}",
                "the product gained more than the encoding of the matrix, which is now the longest part",
            ),
            Item(
                "Figure 1: threads, 1 to 8",
                "`noren-lab bench cyclotomic --threads 1,2`",
                PAGE,
                "about 5 times faster with 8 threads; other numbers are not printed",
                f"{span(threads, '')} times with 2 threads, sets above m = 511",
                "two cores is what there is",
            ),
            Item(
                "Section 4.1 and table 7: Horner's rule in vectors of single precision",
                "`noren-lab bench cyclotomic`; the example `narrow_times`",
                "[below](#kernels-of-narrow-words)",
                "0.168 to 0.050 ms, 3.4 times",
                f"one root in double precision {shown(microseconds(at_a_root(found)[1]))} us, "
                f"{factor(gains_of_norm(found))} by vectors; all {shown_ms(horner)}, and by one FFT {shown_ms(fft)}",
                "in place of narrower words another algorithm; single precision is measured below",
            ),
            Item(
                "Section 4.2 and table 8: sums of vectors",
                "`noren-lab bench cyclotomic`",
                "[below](#kernels-of-narrow-words)",
                f"{span(published_gains(found, 'add'), ' times')}",
                f"{span(gains(found, 'add'), ' times')}",
                "portable code is compiled to SSE2, which holds two words: the base is faster",
            ),
            Item(
                "Section 4.2 and table 9: products of vectors in 32 bits",
                "`noren-lab bench cyclotomic`; the example `narrow_times`",
                "[below](#kernels-of-narrow-words)",
                f"{span(published_gains(found, 'mul'), ' times')}",
                f"{span(gains(found, 'mul'), ' times')}, modulo 50 bits",
                "IFMA multiplies 52 bits at once; 32-bit words are measured below",
            ),
        ]
    )


def product_share(results: Results, of: Set) -> float | None:
    """Return the share of the product in the test in percent."""
    test = [step(results, of, op) for op in STEPS]
    known = [time for time in test if time is not None]
    return 100 * known[STEPS.index("matvec")] / sum(known) if len(known) == len(test) else None


def gains_of_norm(found: Found) -> float | None:
    """Return what vectors gain for Horner's rule at m = 15709."""
    return ratio(*cyclotomic.by_kernels(found.papers, (15709, 2, 1), "norm_horner"))


def shown_ms(time: float | None) -> str:
    """Write a time that is in milliseconds."""
    return NOTHING if time is None else f"{number(time)} ms"
