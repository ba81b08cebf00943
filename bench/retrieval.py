"""Rows of a table of another, by encrypted numbers and keywords: time and memory of both parties, and what they send.

Each row that is found is compared with that of the table. The holder of the table is a process of its own.

    python bench/retrieval.py [--scale 1] [--only WORD] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from machine import memory
from noren import intersection, retrieval
from stopwatch import Stopwatch


@dataclass(frozen=True)
class Case:
    """A table with rows of `row_bytes` bytes, and the number of keys in a request of an intersection or a retrieval."""

    rows: int
    row_bytes: int
    asked: int
    by_keyword: bool
    shared: bool = False

    def scaled(self, scale: float) -> Case:
        """Return the same with fewer rows and keys."""
        rows, asked = (max(1, int(count * scale)) for count in (self.rows, self.asked))
        return Case(rows, self.row_bytes, asked, self.by_keyword, self.shared)


CASES = {
    "row by number, 10^6 of 100 bytes": Case(1_000_000, 100, 1, by_keyword=False),
    "row by keyword, 10^6 of 100 bytes": Case(1_000_000, 100, 1, by_keyword=True),
    "row by number, 10^5 of 1000 bytes": Case(100_000, 1000, 1, by_keyword=False),
    "shared: 1,000 of 10,000": Case(10_000, 0, 1000, by_keyword=True, shared=True),
    "shared with rows of 16 bytes: 1,000 of 10,000": Case(10_000, 16, 1000, by_keyword=True, shared=True),
    "shared with rows of 16 bytes: 10,000 of 100,000": Case(100_000, 16, 10_000, by_keyword=True, shared=True),
    "shared with rows of 16 bytes: 1,000 of 10^6": Case(1_000_000, 16, 1000, by_keyword=True, shared=True),
}


def table(case: Case) -> tuple[list[str | bytes], list[bytes]]:
    """Return the keywords of a table, and its rows."""
    contents = np.random.default_rng(1).bytes(case.rows * case.row_bytes)
    rows = [contents[at * case.row_bytes : (at + 1) * case.row_bytes] for at in range(case.rows)]
    return [f"keyword {at}" for at in range(case.rows)], rows


def database(case: Case) -> Any:
    """Return the table as its holder has it."""
    keywords, rows = table(case)
    named = dict(zip(keywords, rows, strict=True))
    if case.shared:
        return intersection.Database(named, asked=case.asked)
    return retrieval.Database(named if case.by_keyword else rows)


def serve(folder: Path, case: Case, rounds: int) -> None:
    """Take a table, and answer what a client leaves in a folder, several times."""
    before, start = memory("VmRSS"), time.perf_counter()
    holder = database(case)
    taken = time.perf_counter() - start
    (folder / "description").write_bytes(holder.description)
    print("ready", flush=True)
    sys.stdin.readline()
    request, seconds = (folder / "request").read_bytes(), []
    for _ in range(rounds):
        start = time.perf_counter()
        reply = holder.answer(request, folder / "keys")
        seconds.append(time.perf_counter() - start)
    (folder / "reply").write_bytes(reply)
    print(json.dumps({"take": taken, "first": seconds[0], "server": min(seconds), "memory": memory("VmHWM") - before}))


def measured(case: Case, rounds: int) -> dict[str, Any]:
    """Ask a holder, and compare what is found with the table."""
    timed = Stopwatch()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = [case.rows, case.row_bytes, case.asked, int(case.by_keyword), int(case.shared)]
        command = [sys.executable, __file__, "--serve", name, *map(str, sizes), "--rounds", str(rounds)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            if holder.stdout.readline() != "ready\n":
                raise RuntimeError("the holder has not taken its table")
            description = (folder / "description").read_bytes()
            client = (intersection if case.shared else retrieval).Client(description)
            keys = timed("keys", client.keygen)
            keys.save(folder / "keys")
            keywords, rows = table(case)
            # Every other key is one that the table does not have, of those that are asked for together.
            places = np.random.default_rng(2).permutation(case.rows)[: case.asked]
            asked: Any = [keywords[at] if case.by_keyword else int(at) for at in places]
            if case.shared:
                asked[::2] = [f"another {at}" for at in range(len(asked[::2]))]
            request = timed("encrypt", lambda: client.encrypt(asked))
            (folder / "request").write_bytes(request)
            served = json.loads(holder.communicate("\n")[0])
        reply = (folder / "reply").read_bytes()
        found = timed("decrypt", lambda: client.decrypt(reply, asked))
        key_bytes = (folder / "keys").stat().st_size
    expected: Any = [rows[at] for at in places]
    if case.shared:
        expected = {keywords[at]: rows[at] for at in places[1::2]}
    return {
        "parameters": str(client.parameters),
        **timed.seconds,
        **served,
        "description_bytes": len(description),
        "key_bytes": key_bytes,
        "request_bytes": len(request),
        "reply_bytes": len(reply),
        "right": found == expected,
    }


def main() -> int:
    """Measure all tables."""
    parser = argparse.ArgumentParser(description="Rows of a table of another, by encrypted keys.")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the rows and keys")
    parser.add_argument("--only", default="", help="tables whose names have this word")
    parser.add_argument("--rounds", type=int, default=5, help="answers of each holder, of which the fastest counts")
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    parser.add_argument("--serve", nargs=6, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        folder, *sizes = options.serve
        rows, row_bytes, asked, by_keyword, shared = map(int, sizes)
        serve(Path(folder), Case(rows, row_bytes, asked, bool(by_keyword), bool(shared)), options.rounds)
        return 0
    figures = {}
    print(
        f"{'table':48} {'take':>7} {'encrypt':>8} {'server':>8} {'decrypt':>8} {'keys':>7} {'request':>8} {'reply':>8} "
        "memory"
    )
    for name, case in CASES.items():
        if options.only not in name:
            continue
        row = figures[name] = measured(case.scaled(options.scale), options.rounds)
        print(
            f"{name:48} {row['take']:6.2f}s {row['encrypt']:7.3f}s {row['server']:7.3f}s {row['decrypt']:7.3f}s "
            f"{row['key_bytes'] / 1e6:5.1f}MB {row['request_bytes'] / 1e6:6.2f}MB {row['reply_bytes'] / 1e6:6.2f}MB "
            f"{row['memory'] / 2**20:.0f}MiB{'' if row['right'] else ' wrong'}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if all(row["right"] for row in figures.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
