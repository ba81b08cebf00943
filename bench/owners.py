"""Joint keys and results that are opened together: seconds and bytes of a party, for several numbers of parties.

All parties are here, one after the other, each with its folder; what is opened is compared with the sums in clear.

    python bench/owners.py [--parties 3,8,32] [--values 1024] [--rotations 0] [--json FILE]
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from machine import memory
from noren import bfv, owners

T = TypeVar("T")


class Costs:
    """CPU seconds and bytes of a party, by steps."""

    def __init__(self, parties: int) -> None:
        self.parties = parties
        self.seconds: dict[str, float] = {}
        self.bytes: dict[str, int] = {}

    def __call__(self, step: str, call: Callable[[], T]) -> T:
        """Return what the call of one party returns; of a step the mean over all parties is kept."""
        start = time.process_time()
        result = call()
        self.seconds[step] = self.seconds.get(step, 0.0) + (time.process_time() - start) / self.parties
        if isinstance(result, bytes):
            self.bytes[step] = len(result)
        return result


def measured(count: int, values: int, rotations: int, products: int) -> dict[str, Any]:
    """Let parties make keys, encrypt, add up and open."""
    # Of the smallest ring that there may be.
    results = -(-values // (1 << 12))
    parameters = bfv.Parameters.for_requirements(
        depth=products, slots=min(values, 1 << 13), sum=count, parties=count, results=results
    )
    steps = [1 << k for k in range(rotations)]
    session = owners.Session(
        parameters,
        [f"party {at}" for at in range(count)],
        results=results,
        rotations=steps,
        relinearization=products > 0,
    )
    costs, start = Costs(count), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / str(at) for at in range(count)]
        create = owners.Party.create
        parties = [
            costs("secret", functools.partial(create, folder, session, party))
            for folder, party in zip(folders, session.names, strict=True)
        ]
        messages: list[Any] = []
        for step in owners.Coordinator(session).missing():
            messages = [costs(step, functools.partial(party.next, messages)) for party in parties]
        for party in parties:
            costs("last", functools.partial(party.next, messages))
        public, evaluation = parties[0].keys()
        context, rng = bfv.Context(parameters), np.random.default_rng(1)
        evaluator = context.evaluator(evaluation)
        data = rng.integers(0, 1 << 12, (count, values))
        width = parameters.slots

        def encrypted(row: Any) -> Any:
            return [context.encrypt(part, public) for part in np.split(row, range(width, values, width))]

        ciphertexts = [costs("encrypt", functools.partial(encrypted, row)) for row in data]
        totals = [functools.reduce(evaluator.add, parts) for parts in zip(*ciphertexts, strict=True)]
        shares = [costs("open", functools.partial(party.open, totals)) for party in parties]
        found = np.concatenate(session.opened(totals, shares))
    return {
        "parameters": str(parameters),
        "seconds": costs.seconds,
        "bytes": costs.bytes,
        "sent": sum(costs.bytes.values()),
        "received": (count - 1) * sum(costs.bytes.values()),
        "all": time.perf_counter() - start,
        "memory": memory("VmHWM"),
        "right": bool((found[:values] == data.sum(axis=0) % parameters.plaintext_modulus).all()),
    }


def main() -> int:
    """Measure all numbers of parties."""
    parser = argparse.ArgumentParser(description="Joint keys and results that are opened together.")
    parser.add_argument("--parties", default="3,8,32", help="numbers of parties")
    parser.add_argument("--values", type=int, default=1024, help="how many numbers each encrypts")
    parser.add_argument("--rotations", type=int, default=0, help="keys of rotations that they make")
    parser.add_argument("--products", type=int, default=0, help="products that follow one another")
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    options = parser.parse_args()
    figures = {}
    print(f"{'parties':>7} {'all':>8} {'a party':>9} {'keys':>8} {'opening':>8} {'sent':>9} {'received':>10} memory")
    for count in map(int, options.parties.split(",")):
        row = figures[count] = measured(count, options.values, options.rotations, options.products)
        seconds = row["seconds"]
        keys = sum(seconds[step] for step in seconds if step not in ("encrypt", "open"))
        print(
            f"{count:7} {row['all']:7.2f}s {keys + seconds['encrypt'] + seconds['open']:8.3f}s {keys:7.3f}s "
            f"{seconds['open']:7.3f}s {row['sent'] / 1e6:7.2f}MB {row['received'] / 1e6:8.2f}MB "
            f"{row['memory'] / 2**20:.0f}MiB{'' if row['right'] else ' wrong'}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if all(row["right"] for row in figures.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
