"""Tables of the suite `trace`, in the layout of Inoue et al.'s tables 2 and 3."""

from dataclasses import dataclass

from records import Record, Results, lowest, milliseconds, number, ratio, size, table, times

SUITE = {"suite": "trace", "op": "trace"}
CELLS = [(special, level) for special in (1, 5, 10) for level in (1, 4, 9)]
ITERATIONS = range(1, 8)

# The fields that say whether a cost model chooses a number of iterations: one calibrated on the machine at the level of
# the cell, and the one with fixed constants.
CALIBRATED, FIXED = "auto", "auto_default"

# What peers call their sum.
SUMS = {"lattigo": "InnerSum", "openfhe": "rotate and sum", "tenseal": "rotate and sum"}


@dataclass(frozen=True)
class Cell:
    """A number of special primes, a level and a number of threads."""

    special: int
    level: int
    threads: int

    @property
    def name(self) -> str:
        return f"{self.special}/{self.level}"

    def fields(self) -> Record:
        return {**SUITE, "special": self.special, "level": self.level, "threads": self.threads}


def cells(threads: int) -> list[Cell]:
    """Return the cells of the grid, in the order of the published columns."""
    return [Cell(special, level, threads) for special, level in CELLS]


def fast_isa(results: Results) -> str:
    """Return the instruction set of the fast half."""
    isas = [isa for isa in results.values("isa", **SUITE, library="noren") if isa != "portable"]
    return str(isas[-1]) if isas else "portable"


def ours(results: Results, cell: Cell, h: int, isa: str) -> float | None:
    """Return our time with h iterations."""
    return results.time(**cell.fields(), library="noren", h=h, isa=isa)


def best(results: Results, cell: Cell, isa: str) -> tuple[int, float] | None:
    """Return the best number of iterations and its time."""
    found = [(time, h) for h in ITERATIONS if (time := ours(results, cell, h, isa)) is not None]
    return (min(found)[1], min(found)[0]) if found else None


def chosen(results: Results, cell: Cell, isa: str, model: str = CALIBRATED) -> tuple[int, float] | None:
    """Return the number of iterations that a cost model chooses, and by how much it is slower than the best."""
    found = [record for record in results.select(**cell.fields(), library="noren", isa=isa) if record.get(model)]
    winner = best(results, cell, isa)
    if not found or winner is None or found[0]["median_ns"] is None:
        return None
    return found[0]["h"], found[0]["median_ns"] / winner[1] - 1


def peer(results: Results, cell: Cell, library: str, method: str | None = None) -> float | None:
    """Return a peer's time for its own sum, or by another method."""
    return results.time(**cell.fields(), library=library, method=method or SUMS[library])


def doubling(results: Results, cell: Cell, isa: str) -> float | None:
    """Return our time of repeated doubling, by rotations and additions."""
    return results.time(**cell.fields(), library="noren", method="doubling", isa=isa)


def over_doubling(results: Results, cell: Cell, isa: str) -> float | None:
    """Return how much faster the best unrolling is than repeated doubling."""
    winner = best(results, cell, isa)
    return ratio(doubling(results, cell, isa), winner[1] if winner else None)


def field_trace(results: Results, cell: Cell, isa: str) -> float | None:
    """Return our time of the field trace, in the iterations that the fixed cost model chooses."""
    return results.time(**{**cell.fields(), "op": "field_trace"}, library="noren", isa=isa)


def least_vector_gain(results: Results, threads: int) -> float | None:
    """Return the lowest ratio portable / AVX-512 of all cells and numbers of iterations."""
    isa = fast_isa(results)
    gains = [
        ratio(ours(results, cell, h, "portable"), ours(results, cell, h, isa))
        for cell in cells(threads)
        for h in ITERATIONS
    ]
    return lowest(gains)


def times_table(results: Results, threads: int) -> str:
    """Return times for every cell, portable and fast; the best in bold, the choice of the model with a star."""
    isa = fast_isa(results)
    rows = []
    for h in ITERATIONS:
        row = [str(h)]
        for cell in cells(threads):
            slow, fast = ours(results, cell, h, "portable"), ours(results, cell, h, isa)
            winner, choice = best(results, cell, isa), chosen(results, cell, isa)
            text = milliseconds(fast)
            if text and winner and winner[0] == h:
                text = f"**{text}**"
            if text and choice and choice[0] == h:
                text += "\\*"
            row.append(f"{milliseconds(slow)} / {text}" if text or slow else "")
        rows.append(row)
    return table(["h \\ special/level", *(cell.name for cell in cells(threads))], rows)


def gains_table(results: Results, recorded: Record, threads: int) -> str:
    """Return ratios portable / AVX-512 and the published ones: tables 2 (one thread) and 3 (eight)."""
    isa = fast_isa(results)
    theirs = recorded["trace_speedup"]["1" if threads == 1 else "8"]
    rows = []
    for h in ITERATIONS:
        row = [str(h)]
        for cell, gain in zip(cells(threads), theirs[str(h)], strict=True):
            mine = times(ratio(ours(results, cell, h, "portable"), ours(results, cell, h, isa)))
            row.append(f"{mine} / {times(gain)}" if mine else f"/ {times(gain)}")
        rows.append(row)
    return table(["h \\ special/level", *(cell.name for cell in cells(threads))], rows)


def doubling_table(results: Results, threads: int) -> str:
    """Return repeated doubling over every number of iterations, in the published layout."""
    isa = fast_isa(results)
    rows = [["ms", *(milliseconds(doubling(results, cell, isa)) for cell in cells(threads))]]
    for h in ITERATIONS:
        gains = [ratio(doubling(results, cell, isa), ours(results, cell, h, isa)) for cell in cells(threads)]
        rows.append([str(h), *map(times, gains)])
    return table(["h \\ special/level", *(cell.name for cell in cells(threads))], rows)


def summary(results: Results, threads: int) -> str:
    """Return for every cell the best h, the models' choices, the gain over doubling, memory, and the field trace."""
    isa = fast_isa(results)
    rows = []
    for cell in cells(threads):
        winner = best(results, cell, isa)
        record = results.one(**cell.fields(), library="noren", isa=isa, h=winner[0]) if winner else None
        row = [cell.name, str(winner[0]) if winner else "", milliseconds(winner[1] if winner else None)]
        for model in (CALIBRATED, FIXED):
            choice = chosen(results, cell, isa, model)
            row += [str(choice[0]), f"{choice[1]:.0%}"] if choice else ["", ""]
        row += [times(over_doubling(results, cell, isa)), times(over_doubling(results, cell, "portable"))]
        row += [size(record["key_bytes"]), size(record["peak_rss_bytes"])] if record else ["", ""]
        rows.append([*row, milliseconds(field_trace(results, cell, isa))])
    header = ["special/level", "best h", "ms", "calibrated model's h", "slower by", "fixed model's h", "slower by"]
    header += ["over doubling", "over doubling, portable", "keys", "peak memory", "field trace, ms"]
    return table(header, rows)


def peers_table(results: Results, threads: int) -> str:
    """Return the peers of the same run beside our best."""
    isa = fast_isa(results)
    columns = [("lattigo", None), ("openfhe", None), ("openfhe", "unrolled, 3 iterations"), ("tenseal", None)]
    columns = [
        (library, method)
        for library, method in columns
        if any(peer(results, cell, library, method) for cell in cells(threads))
    ]
    rows = []
    for cell in cells(threads):
        winner = best(results, cell, isa)
        row = [cell.name, milliseconds(winner[1] if winner else None)]
        for library, method in columns:
            theirs = peer(results, cell, library, method)
            row += [milliseconds(theirs), times(ratio(theirs, winner[1] if winner else None))]
        rows.append(row)
    header = ["special/level", "noren, best h, ms"]
    header += [word for library, method in columns for word in (f"{library}, {method or SUMS[library]}, ms", "/ noren")]
    return table(header, rows)


def recorded_best(recorded: Record, name: str, cell: Cell) -> float | None:
    """Return a recorded time in milliseconds: the best of all h where there are several."""
    data = recorded["trace_ms"]
    column = data["cells"].index(cell.name)
    rows = data[name].values() if isinstance(data[name], dict) else [data[name]]
    return lowest(row[column] for row in rows)


def recorded_table(results: Results, recorded: Record) -> str:
    """Return times recorded elsewhere beside our best with one thread."""
    isa = fast_isa(results)
    names = [name for name in recorded["trace_ms"] if name not in ("note", "cells")]
    rows = []
    for cell in cells(1):
        winner = best(results, cell, isa)
        row = [cell.name, milliseconds(winner[1] if winner else None)]
        for name in names:
            theirs = recorded_best(recorded, name, cell)
            row += [number(theirs), times(ratio(theirs * 1e6 if theirs else None, winner[1] if winner else None))]
        rows.append(row)
    header = ["special/level", "noren, best h, ms", *(word for name in names for word in (f"{name}, ms", "/ noren"))]
    return table(header, rows)


def program_table(results: Results, recorded: Record) -> str:
    """Return recorded times of the published program with HEXL, and their ratios to ours at the same h."""
    isa = fast_isa(results)
    rows = []
    for h, theirs in recorded["trace_ms"]["Inoue et al.'s program, HEXL"].items():
        row = [h]
        for cell, time in zip(cells(1), theirs, strict=True):
            row.append(f"{number(time)} / {times(ratio(time * 1e6, ours(results, cell, int(h), isa)))}".rstrip(" /"))
        rows.append(row)
    return table(["h \\ special/level", *recorded["trace_ms"]["cells"]], rows)
