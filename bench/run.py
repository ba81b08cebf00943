"""Run benchmarks of noren and of installed peers side by side, write JSON lines, and print a Markdown table.

    python bench/run.py --suite ckks [--threads 1,2] [--log-n 14,15,16] [--rounds 3] [--out FILE]

Each round runs every library once for each ring degree and number of threads, alternating, so that all of them see
the same machine. The table shows the median over rounds and the ratio peer / noren: above 1, noren is faster. Peers
that are not installed are named and left out. The rules of fairness are in README.md beside this file.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "target" / "release" / "noren"
LATTIGO = ROOT / "bench" / "peers" / "lattigo"

MARKS = ("<!-- figures: python bench/run.py --readme -->", "<!-- end of figures -->")

# What the README shows; the results file has everything.
HEADLINE = {"encode", "encrypt", "add", "mul_plain", "mul_relin_rescale", "rotate", "rotate_hoisted"}

Record = dict[str, Any]


def lines(command: list[str | Path], environment: dict[str, str] | None = None) -> list[Record]:
    """Run a command that prints JSON lines."""
    result = subprocess.run(
        [str(part) for part in command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    return [json.loads(line) for line in result.stdout.splitlines() if line.strip()]


def run_noren(suite: str, log_n: int, threads: int, seconds: float) -> list[Record]:
    """Measure noren."""
    return lines(
        [TOOL, "bench", suite, "--json", "--log-n", str(log_n), "--threads", str(threads), "--seconds", str(seconds)]
    )


def run_lattigo(suite: str, log_n: int, threads: int, seconds: float) -> list[Record]:
    """Measure Lattigo, which has the suite ckks only."""
    if suite != "ckks":
        return []
    return lines([LATTIGO / "lattigo", "-log-n", str(log_n), "-seconds", str(seconds)], {"GOMAXPROCS": str(threads)})


def build_peers() -> dict[str, Any]:
    """Return the libraries to run; build what needs building."""
    libraries: dict[str, Any] = {"noren": run_noren}
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", "lattigo", "."], check=True, cwd=LATTIGO)
        libraries["lattigo"] = run_lattigo
    else:
        print("left out: lattigo (no go on this machine)", file=sys.stderr)
    return libraries


def table(records: list[Record]) -> str:
    """Return a Markdown table of medians in milliseconds, with ratios to noren."""
    cells: dict[tuple[int, int, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        cells[record["n"], record["threads"], record["op"]][record["library"]].append(record["median_ns"] / 1e6)
    peers = sorted({record["library"] for record in records} - {"noren"})
    header = ["N", "threads", "operation", "noren ms", *(f"{peer} ms | {peer} / noren" for peer in peers)]
    out = ["| " + " | ".join(header) + " |", "|" + "---|" * (4 + 2 * len(peers))]
    for (n, threads, op), times in sorted(cells.items()):
        ours = statistics.median(times["noren"])
        row = [f"2^{n.bit_length() - 1}", str(threads), op, f"{ours:.3g}"]
        for peer in peers:
            if times[peer]:
                theirs = statistics.median(times[peer])
                row += [f"{theirs:.3g}", f"{theirs / ours:.2f}"]
            else:
                row += ["", ""]
        out.append("| " + " | ".join(row) + " |")
    return "\n".join(out)


def show(records: list[Record], readme: bool) -> int:
    """Print the table, and put it between the marks of the README if asked to."""
    print(table(records))
    if readme:
        made = table([record for record in records if record["op"] in HEADLINE])
        path = ROOT / "README.md"
        before, _, rest = path.read_text().partition(MARKS[0])
        _, _, after = rest.partition(MARKS[1])
        path.write_text(f"{before}{MARKS[0]}\n{made}\n{MARKS[1]}{after}")
    return 0


def main() -> int:
    """Run the suite and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--suite", choices=["ckks", "kernels", "client"], default="ckks")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--log-n", default="14,15,16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each operation in each round")
    parser.add_argument("--out", type=Path, help="default: bench/results/PROCESSOR/DATE-SUITE.jsonl")
    parser.add_argument("--readme", action="store_true", help="put the table into the project's README")
    parser.add_argument("--from", dest="source", type=Path, help="make the table of this results file, run nothing")
    options = parser.parse_args()
    if options.source:
        return show([json.loads(line) for line in options.source.read_text().splitlines()], options.readme)
    if not TOOL.exists():
        print(f"{TOOL} is missing: run `make build` first", file=sys.stderr)
        return 1
    libraries = build_peers()
    records: list[Record] = []
    for _ in range(options.rounds):
        for log_n in (int(part) for part in options.log_n.split(",")):
            for threads in (int(part) for part in options.threads.split(",")):
                for name, measure in libraries.items():
                    print(f"{name}: 2^{log_n}, {threads} threads", file=sys.stderr)
                    records += measure(options.suite, log_n, threads, options.seconds)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    default = ROOT / "bench" / "results" / platform.machine() / f"{date}-{options.suite}.jsonl"
    out: Path = options.out or default
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(record) + "\n" for record in records))
    print(f"wrote {out}", file=sys.stderr)
    return show(records, options.readme)


if __name__ == "__main__":
    sys.exit(main())
