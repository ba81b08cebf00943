"""Run benchmarks of noren and of installed peers side by side, write JSON lines, and print a Markdown table.

    python bench/run.py --suite ckks [--threads 1,2] [--log-n 14,15,16] [--isa avx2] [--rounds 2] [--seconds 0.3]

Each round runs every library once for each step of the suite, alternating, so that all of them see the same machine.
The table shows the median over rounds and the ratio peer / noren: above 1, noren is faster. Peers that are not
installed are named and left out, and so are those that fail. The rules of fairness are in README.md beside this file.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import machine
import records
from libraries import TOOL, FailedError, Library, libraries
from records import Record, Results

# For each suite: the time for each operation in each round, and the rounds. All of it takes about 70 minutes.
DEFAULTS = {
    "kernels": (0.05, 2),
    "ckks": (0.3, 2),
    "trace": (0.2, 1),
    "client": (0.3, 1),
    "bootstrap": (0.0, 1),
    "chain": (0.3, 2),
    "product": (0.3, 1),
    "inner-product": (0.3, 1),
    "matvec": (0.5, 2),
    "cyclotomic": (0.5, 2),
    "lookup": (0.0, 1),
    "tfhe": (0.5, 1),
    "switching": (0.3, 1),
    "weak-client": (0.3, 3),
    "parallel": (0.15, 1),
    "papers": (0.1, 1),
}
SUITES = list(DEFAULTS)
# The grid of the suite trace.
SPECIAL = [1, 5, 10]
LEVELS = [1, 4, 9]
# The grid of the suite chain.
CHAINED = ["bfv", "bgv", "ckks"]
DEPTHS = [2, 4, 6, 8, 10]
# The grid of the suites product and inner-product: schemes, orders of operations, numbers of values.
REDUCTIONS = {"product", "inner-product"}
REDUCED = ["ckks", "tfhe"]
WAYS = ["paper", "tree"]
COUNTS = [2, 20, 40, 60, 80, 100]
# The sets of the suite cyclotomic: the index of the ring, the prime and the exponent of plaintexts.
SETS = ["511:2:1", "2047:2:1", "4095:2:1", "15709:2:1", "15709:3:1", "24295:2:1", "15709:2:59"]
# The methods of the suite lookup.
METHODS = ["fast", "eight", "residues", "linear", "maeda"]
# The workloads of the suite tfhe.
WORKLOADS = ["BOOL", "BOOL_128", "1_1", "2_2", "3_3", "client-BOOL", "client-2_2", "u8", "u16", "u32", "u8xu8"]
# Where a bootstrap takes a tenth of a second and more, fewer of them.
BATCHES = {"3_3": "1,8,64"}
# The steps of the suite switching: the base-two logarithms of the numbers of values.
VALUES = [4, 15]
# The parts of the suite weak-client: what one device makes, each in a process of its own.
DEVICES = ["own", "public", "full", "all"]
# The messages of the suite bootstrap.
MODES = ["complex", "real"]
# Suites in which a peer takes minutes for a step.
SLOW = {"bootstrap", "switching"}
# What makes two records one row of the table: where libraries have sets of their own, no shapes.
SHAPES = ["n", "limbs", "special", "threads", "op", "level", "prime_bits", "figure", "parallel", "model"]
ROWS = {
    "bootstrap": ["suite", "n", "threads", "op", "mode", "stage"],
    "chain": ["suite", "n", "threads", "op", "scheme", "depth"],
    # Libraries choose degrees themselves.
    "product": ["suite", "threads", "op", "scheme", "way", "count"],
    "inner-product": ["suite", "threads", "op", "scheme", "way", "count"],
    "matvec": ["suite", "n", "threads", "op", "dimension"],
    "cyclotomic": ["suite", "m", "p", "r", "entries", "threads", "op", "isa"],
    "lookup": ["suite", "n", "threads", "op", "method"],
    # Sets of the same security and failure, of whatever degree.
    "tfhe": ["suite", "threads", "workload", "op", "batch"],
    "switching": ["suite", "threads", "values", "op"],
    "weak-client": ["suite", "threads", "part", "op", "isa"],
}
# Suites that choose their numbers of threads: parallel as an axis of its figures, weak-client as the one of its device,
# papers as those of the publications.
THREADS = {"parallel", "weak-client", "papers"}
# The set of ours that stands beside those of peers.
COMPARED = "n16"
# The ways to share out loops to threads.
SHARING = ["coefficient", "modulus", "both"]
# What only ours has: the other presets of the suite bootstrap, and bootstrapping as it was first done in RNS.
OWN = {
    "bootstrap": [
        *(("bootstrap", ["--preset", name, "--mode", "complex"]) for name in ["n15", "n16-small", "n16-precise"]),
        ("rns-heaan", []),
    ],
    # What docs/papers.md shows and no other suite measures: tables and figures of publications.
    "papers": [
        ("fused", []),
        ("rns-heaan", ["--threads", "1"]),
        ("rns-heaan", ["--threads", "2", "--parallel", ",".join(SHARING)]),
        ("bootstrap", ["--preset", COMPARED, "--mode", "complex", "--threads", "1"]),
        ("bootstrap", ["--preset", COMPARED, "--mode", "complex", "--threads", "2", "--parallel", ",".join(SHARING)]),
        ("parallel", ["--figure", "levels", "--level", "32", "--threads", "1"]),
        *(("cyclotomic", ["--set", name, "--threads", "1"]) for name in SETS),
        *(("lookup", ["--method", name, "--threads", "1"]) for name in ["fast", "linear", "maeda"]),
    ],
}
# The levels of the suite parallel.
PARTS = [range(1, 17), range(17, 33)]


def steps(
    suite: str,
    log_n: Sequence[int] | None = None,
    special: Sequence[int] | None = None,
    scheme: Sequence[str] | None = None,
    depth: Sequence[int] | None = None,
    workload: Sequence[str] | None = None,
    count: Sequence[int] | None = None,
) -> list[list[str]]:
    """Return the options of each step of a suite."""
    if suite == "papers":
        # All of it is ours alone.
        return []
    if suite == "bootstrap":
        return [["--preset", "n16", "--mode", mode] for mode in MODES]
    if suite == "trace":
        # Short steps, so that the instruction sets and the peers see the same machine.
        return [["--special", str(count), "--level", str(level)] for count in special or SPECIAL for level in LEVELS]
    if suite == "chain":
        return [
            ["--scheme", name, "--depth", str(products)] for name in scheme or CHAINED for products in depth or DEPTHS
        ]
    if suite in REDUCTIONS:
        return [
            ["--scheme", name, "--way", way, "--count", str(values)]
            for name in scheme or REDUCED
            for values in count or COUNTS
            for way in WAYS
        ]
    if suite == "matvec":
        return [[]]
    if suite == "cyclotomic":
        return [["--set", name] for name in SETS]
    if suite == "lookup":
        return [["--log-n", str(bits), "--method", name] for bits in log_n or [15] for name in METHODS]
    if suite == "tfhe":
        names = workload or WORKLOADS
        return [["--workload", name, *(["--batch", BATCHES[name]] if name in BATCHES else [])] for name in names]
    if suite == "switching":
        return [["--preset", COMPARED, "--log-slots", str(bits)] for bits in VALUES]
    if suite == "weak-client":
        return [["--preset", COMPARED, "--part", name] for name in DEVICES]
    if suite == "parallel":
        # All numbers of threads; then the levels, in two parts.
        figures = [["--figure", "threads"]]
        figures += [["--figure", "levels", "--level", ",".join(map(str, part))] for part in PARTS]
        return [[*figure, "--log-n", str(bits)] for bits in log_n or [16] for figure in figures]
    degrees = {"kernels": range(6, 17), "ckks": [14, 15, 16], "client": [13, 14, 15, 16]}[suite]
    found = [["--log-n", str(bits)] for bits in log_n or degrees]
    if suite == "ckks" and 15 in (log_n or degrees):
        found.append(["--log-n", "15", "--shape", "seal"])
    return found


def measure(
    suite: str,
    each: Sequence[list[str]],
    common: Sequence[str],
    rounds: int,
    found: Sequence[Library],
    say: Callable[[str], None],
    keep: Callable[[Sequence[Record]], None],
    quick: bool = False,
) -> tuple[list[Record], bool]:
    """Run all libraries alternately, and keep their records; return them, and whether all of ours are right.

    In the suites bootstrap and switching a peer takes minutes, in which the machine changes: after each that measured
    something, ours runs once more. A quick run leaves that out, and peers with real messages.
    """
    running = [library for library in found if library.is_installed()]
    for library in found:
        if library not in running:
            say(f"left out: {library.name} (not installed: see bench/setup.sh)")
    made: list[Record] = []

    def run(library: Library, number: int, options: list[str]) -> list[Record]:
        say(f"round {number + 1}: {library.name}: {suite} {' '.join(options)}")
        try:
            measured = library.run(suite, [*options, *common])
        except FailedError as error:
            say(f"left out from here on: {library.name} ({error})")
            running.remove(library)
            return []
        keep(measured)
        made.extend(measured)
        return measured

    for number in range(rounds):
        for options in each:
            for library in list(running):
                if quick and not library.ours and "real" in options:
                    continue
                measured = run(library, number, options)
                again = suite in SLOW and not quick and not library.ours and measured
                if again and running[0].ours:
                    run(running[0], number, options)
    wrong = [record for record in made if record["median_ns"] is None]
    for record in wrong:
        say(f"wrong result: {record['library']} {record['op']}, n = {record['n']}")
    lost = [library.name for library in found if library.ours and library not in running]
    return made, not lost and not any(record["library"] == "noren" for record in wrong)


def own_set(record: Record) -> str | None:
    """Return the name of a set of parameters that no peer stands beside; None for all others."""
    name: str | None = record.get("set")
    return name if record["library"] == "noren" and name != COMPARED else None


def overview(made: list[Record]) -> str:
    """Return a table of all medians, with ratios to noren on its best instruction set."""
    results = Results(made)
    peers = sorted({record["library"] for record in made} - {"noren"})
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in results.records:
        key = [record.get(name) for name in ROWS.get(record["suite"], SHAPES)]
        groups.setdefault((*key, own_set(record)), []).append(record)
    rows = []
    for same in groups.values():
        record = same[0]
        ours = records.lowest(r["median_ns"] for r in same if r["library"] == "noren")
        shape = f"{record['limbs']} + {record['special']}" if record["special"] else str(record["limbs"])
        names = ["scheme", "depth", "level", "prime_bits", "mode", "stage", "parallel", "model", "workload", "batch"]
        names += ["values", "part", "way", "count"]
        more = [name for name in [own_set(record)] if name]
        more += [f"{name} {record[name]}" for name in names if record.get(name) is not None]
        row = [records.power(record["n"]), shape, str(record["threads"]), ", ".join([record["op"], *more])]
        row.append(records.microseconds(ours))
        for peer in peers:
            theirs = records.lowest(r["median_ns"] for r in same if r["library"] == peer)
            row += [records.microseconds(theirs), records.times(records.ratio(theirs, ours))]
        rows.append(row)
    header = ["N", "primes", "threads", "operation", "noren us"]
    header += [word for peer in peers for word in (f"{peer} us", f"{peer} / noren")]
    return records.table(header, rows)


def numbers(text: str) -> list[int]:
    """Read a list such as 1,2."""
    return [int(field) for field in text.split(",")]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    made.add_argument("--suite", choices=[*SUITES, "all"], default="ckks")
    made.add_argument("--threads", type=numbers, default=[1, 2])
    made.add_argument("--log-n", type=numbers, help="degrees of the suites kernels, ckks, client, lookup and parallel")
    made.add_argument("--special", type=numbers, help="numbers of special primes of the suite trace")
    made.add_argument(
        "--scheme", type=lambda text: text.split(","), help="schemes of the suites chain, product and inner-product"
    )
    made.add_argument("--depth", type=numbers, help="depths of the suite chain")
    made.add_argument("--count", type=numbers, help="numbers of values of the suites product and inner-product")
    made.add_argument("--workload", type=lambda text: text.split(","), help="workloads of the suite tfhe")
    made.add_argument("--quick", action="store_true", help="no repetitions after slow peers, none with real messages")
    made.add_argument("--without", action="append", default=[], metavar="LIBRARY", help="leave it out (repeatable)")
    made.add_argument("--isa", choices=["avx2"], help="hold all libraries to these instructions")
    made.add_argument("--rounds", type=int, help="default: as many as the suite needs")
    made.add_argument("--seconds", type=float, help="time for each operation in each round")
    made.add_argument("--out", type=Path, help="default: bench/results/HOST/DATE-SUITE[-ISA].jsonl")
    made.add_argument("--host", help="default: the folder of this kind of machine")
    made.add_argument("--tool", type=Path, default=TOOL, help="the program noren-lab")
    made.add_argument("--from", dest="source", type=Path, help="make the table of this results file, run nothing")
    return made


def chosen(suite: str, options: argparse.Namespace) -> list[Library]:
    """Return the libraries of a suite but those that are to be left out."""
    found = libraries(suite, options.tool, options.isa is not None)
    return [library for library in found if library.name not in options.without]


def append(path: Path, measured: Sequence[Record]) -> None:
    """Append records to a file."""
    with path.open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in measured)


def main() -> int:
    """Run the suites and write the results."""
    options = parser().parse_args()
    if options.source:
        print(overview(records.read(options.source)))
        return 0
    if not options.tool.exists():
        print(f"{options.tool} is missing: run `make build` first", file=sys.stderr)
        return 1
    if options.suite == "all" and options.out:
        print("--out takes one suite", file=sys.stderr)
        return 2
    description = machine.describe()
    folder = machine.RESULTS / (options.host or machine.host(description))
    right = True
    for suite in SUITES if options.suite == "all" else [options.suite]:
        seconds, rounds = DEFAULTS[suite]
        seconds = options.seconds if options.seconds is not None else seconds
        common = ["--seconds", str(seconds)]
        if suite not in THREADS:
            common += ["--threads", ",".join(map(str, options.threads))]
        name = "-".join([description["date"], suite, *([options.isa] if options.isa else [])])
        out: Path = options.out or folder / f"{name}.jsonl"
        out.parent.mkdir(parents=True, exist_ok=True)
        # What was measured before an interruption stays here, for --from.
        part = out.with_name(out.name + ".part")
        part.unlink(missing_ok=True)
        say, keep = partial(print, file=sys.stderr, flush=True), partial(append, part)
        wanted = (options.log_n, options.special, options.scheme, options.depth, options.workload, options.count)
        each = steps(suite, *wanted)
        rounds = options.rounds or rounds
        made, right_here = measure(suite, each, common, rounds, chosen(suite, options), say, keep, options.quick)
        right &= right_here
        for word, step in OWN.get(suite, []):
            ours = [library for library in chosen(word, options) if library.ours]
            more, right_here = measure(word, [step], common, 1, ours, say, keep)
            made += more
            right &= right_here
        part.replace(out)
        (out.parent / "machine.json").write_text(json.dumps(description, indent=2) + "\n")
        print(f"wrote {out}", file=sys.stderr)
        print(overview(made))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
