"""Tables of the suite `cyclotomic`: a matrix of all slots times an encrypted vector, in rings of general index."""

from records import Record, Results, milliseconds, number, ratio, size, table, times

# Operations of a product, in their order, and their names.
OPS = {
    "keygen": "keys",
    "encode_matrix": "matrix, encoded",
    "encrypt": "vector, encrypted",
    "matvec": "product",
    "decrypt": "result, decrypted",
}


def sets(results: Results) -> list[tuple[int, int, int]]:
    """Return the sets of the records: index, prime and exponent, in the order of the records."""
    records = results.select(suite="cyclotomic")
    return list({(record["m"], record["p"], record["r"]): None for record in records})


def name(of: tuple[int, int, int]) -> str:
    """Name a set as the tool does."""
    return ":".join(map(str, of))


def record(
    results: Results, of: tuple[int, int, int], op: str, threads: int, entries: str | None, library: str = "noren"
) -> Record | None:
    """Return the record of an operation of a set."""
    fields = dict(zip(["m", "p", "r"], of, strict=True))
    return results.one(suite="cyclotomic", library=library, op=op, threads=threads, entries=entries, **fields)


def time(
    results: Results,
    of: tuple[int, int, int],
    op: str,
    threads: int,
    entries: str | None = "elements",
    library: str = "noren",
) -> float | None:
    """Return the time of an operation of a set in milliseconds."""
    found = record(results, of, op, threads, entries, library)
    return found["median_ns"] / 1e6 if found and found["median_ns"] else None


def times_table(results: Results, recorded: Record) -> str:
    """Return all operations on one thread, beside HElib's in the same run and as recorded."""
    rows = []
    for of in sets(results):
        theirs = recorded["cyclotomic_ms"]["sets"].get(name(of), {})
        for op, title in OPS.items():
            mine, helib = (time(results, of, op, 1, library=library) for library in ["noren", "helib"])
            hexl = theirs.get("hexl") if op == "matvec" else None
            memory = (record(results, of, op, 1, "elements", library) or {} for library in ["noren", "helib"])
            rows.append(
                [
                    f"({', '.join(map(str, of))})",
                    title,
                    number(mine),
                    number(helib),
                    times(ratio(helib, mine)),
                    times(ratio(theirs.get(op), mine)),
                    times(ratio(hexl, mine)),
                    *(size(found.get("peak_rss_bytes")) for found in memory),
                ]
            )
    header = ["(m, p, r)", "", "noren ms", "HElib ms", "HElib / noren", "as recorded", "HElib+HEXL, as recorded"]
    return table([*header, "peak memory", "of HElib"], rows)


def threads_table(results: Results) -> str:
    """Return the products of matrices on one and on two threads."""
    rows = []
    for of in sets(results):
        for entries in ["elements", "numbers", "dimension"]:
            for op in ["encode_matrix", "matvec"]:
                one, two = (time(results, of, op, threads, entries) for threads in [1, 2])
                rows.append(
                    [f"({', '.join(map(str, of))})", entries, OPS[op], number(one), number(two), times(ratio(one, two))]
                )
    return table(["(m, p, r)", "entries", "", "1 thread, ms", "2 threads, ms", "gain"], rows)


def share_table(results: Results, recorded: Record) -> str:
    """Return the shares of the steps of a product, without keys, as the publication has them and here."""
    rows = []
    for of in sets(results):
        published = recorded["cyclotomic_ms"]["published"]["share"].get(name(of))
        steps = [time(results, of, op, 1) for op in OPS if op != "keygen"]
        if published is None or None in steps:
            continue
        total = sum(step or 0 for step in steps)
        ours = [number(100 * (step or 0) / total) for step in steps]
        rows.append(
            [
                f"({', '.join(map(str, of))})",
                *(f"{theirs} / {mine}" for theirs, mine in zip(published, ours, strict=True)),
            ]
        )
    return table(["(m, p, r)", *(f"{OPS[op]}, % published / here" for op in OPS if op != "keygen")], rows)


def by_kernels(results: Results, of: tuple[int, int, int], op: str) -> tuple[float | None, float | None]:
    """Return the times of an operation of a set in nanoseconds, by portable kernels and by the fastest ones."""
    m, p, r = of
    records = results.select(suite="cyclotomic", library="noren", op=op, m=m, p=p, r=r)
    found = {record["isa"]: record["median_ns"] for record in records if record["median_ns"]}
    return found.get("portable"), min(found.values(), default=None)


def by_index(results: Results) -> list[tuple[int, int, int]]:
    """Return one set of each index."""
    return sorted({of[0]: of for of in reversed(sets(results))}.values())


def norm_table(results: Results, recorded: Record) -> str:
    """Return the times of the canonical norm by one FFT, and by Horner's rule at all roots."""
    rows = []
    for of in by_index(results):
        fft = (record(results, of, "norm_fft", 1, None) or {}).get("median_ns")
        portable, best = by_kernels(results, of, "norm_horner")
        helib = recorded["cyclotomic_ms"]["norm_fft"].get(str(of[0]))
        rows.append(
            [
                str(of[0]),
                milliseconds(fft),
                number(helib),
                times(ratio(helib * 1e6 if helib else None, fft)),
                milliseconds(portable),
                milliseconds(best),
                times(ratio(portable, best)),
            ]
        )
    header = ["m", "FFT, ms", "HElib's FFT, ms", "HElib / noren", "Horner, portable, ms", "Horner, ms", "gain"]
    return table(header, rows)


def rows_table(results: Results) -> str:
    """Return the times of sums and products of rows, element by element."""
    rows = []
    for of in by_index(results):
        cells = []
        for op in ["add", "mul"]:
            portable, best = by_kernels(results, of, op)
            cells += [number(portable and portable / 1e3), number(best and best / 1e3), times(ratio(portable, best))]
        degree = results.values("n", suite="cyclotomic", m=of[0])
        rows.append([str(of[0]), str(degree[0]), *cells])
    header = ["add, portable, us", "add, us", "gain", "multiply, portable, us", "multiply, us", "gain"]
    return table(["m", "elements", *header], rows)
