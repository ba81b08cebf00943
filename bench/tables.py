"""Questions on tables, asked encrypted: time and memory of both parties, and what they send.

Each answer is compared with pandas on the same rows. The server is a process of its own.

    python bench/tables.py [--rows 100000] [--only WORD] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noren import tables
from served import served
from stopwatch import Stopwatch


@dataclass(frozen=True)
class Case:
    """A question, the share of the rows that it is asked of, and its answer by pandas."""

    question: str
    expected: Callable[[pd.DataFrame], Any]
    share: float = 1.0


def table(rows: int) -> pd.DataFrame:
    """Return rows with columns of bytes, of 16 bits, of fractions, and of 20 texts."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "a": rng.integers(0, 256, rows),
            "b": rng.integers(0, 256, rows),
            "x": rng.integers(0, 1 << 16, rows),
            "y": rng.integers(0, 1 << 16, rows),
            # Steps of a power of two are what they are in pandas.
            "p": rng.integers(0, 1 << 16, rows) / 1024,
            "q": rng.integers(0, 1 << 16, rows) / 1024,
            "city": rng.choice([f"city {k}" for k in range(20)], rows),
        }
    )


STEPS = {"p": 2.0**-10, "q": 2.0**-10}
CASES = {
    "bytes": Case(
        "SELECT count(*), sum(b), avg(b) WHERE a > 40",
        lambda t: [*t.b[t.a > 40].agg(["count", "sum", "mean"])],
    ),
    "16 bits": Case(
        "SELECT count(*), sum(y), avg(y) WHERE x > 40000",
        lambda t: [*t.y[t.x > 40000].agg(["count", "sum", "mean"])],
    ),
    "fractions": Case(
        "SELECT count(*), sum(q), avg(q) WHERE p > 31.4",
        lambda t: [*t.q[t.p > 31.4].agg(["count", "sum", "mean"])],
    ),
    "variance": Case("SELECT var_samp(y) WHERE x > 30000", lambda t: [t.y[t.x > 30000].var()]),
    "groups": Case(
        "SELECT count(*), avg(b) GROUP BY city",
        lambda t: t.groupby("city").b.agg(["count", "mean"]).to_numpy().ravel(),
    ),
    "histogram": Case(
        f"SELECT histogram(a, {', '.join(map(str, range(0, 257, 32)))})",
        lambda t: np.histogram(t.a, range(0, 257, 32))[0],
    ),
    "quantiles": Case("SELECT median(a), quantile(a, 0.9)", lambda t: list(t.a.quantile([0.5, 0.9])), share=0.1),
}


def measured(case: Case, frame: pd.DataFrame, rounds: int) -> dict[str, Any]:
    """Compile a question, ask it, and compare its answer with that of pandas."""
    timed = Stopwatch()
    query = timed("compile", lambda: tables.compile(case.question, frame, steps=STEPS))
    client = query.client
    answer, figures = served(query, timed, lambda: client.encrypt(frame), client.decrypt, rounds)
    found = [cell for row in answer.rows for cell in row[answer.keys :]]
    expected = np.array(case.expected(frame), float)
    return {**figures, "right": bool(np.allclose(np.array(found, float), expected, rtol=1e-9))}


def main() -> int:
    """Measure all questions."""
    parser = argparse.ArgumentParser(description="Questions on tables, asked encrypted.")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the table")
    parser.add_argument("--only", default="", help="questions whose names have this word")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each server, of which the fastest counts")
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    options = parser.parse_args()
    frame, rows = table(options.rows), {}
    print(
        f"{'question':10} {'compile':>8} {'encrypt':>8} {'server':>8} {'ratio':>6} {'keys':>8} {'request':>9} "
        f"{'reply':>8} memory"
    )
    for name, case in CASES.items():
        if options.only not in name:
            continue
        row = rows[name] = measured(case, frame[: max(1, int(len(frame) * case.share))], options.rounds)
        print(
            f"{name:10} {row['compile']:7.2f}s {row['encrypt']:7.2f}s {row['server']:7.3f}s "
            f"{row['server'] / row['predicted']['server_seconds']:6.2f} {row['key_bytes'] / 1e6:6.1f}MB "
            f"{row['request_bytes'] / 1e6:7.1f}MB {row['reply_bytes'] / 1e6:6.1f}MB {row['memory'] / 2**20:.0f}MiB"
            f"{'' if row['right'] else ' wrong'}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["right"] for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
