"""Joint keys and results that are opened together: seconds and bytes of a party, for several numbers of parties.

All parties are here, one after the other, each with its folder; what is opened is compared with the sums in clear.
With ``--bits`` the values are weights of a model, which are averaged. Where ``bench/setup.sh`` has built Lattigo, and
the ring has special primes, a party of its protocols is measured with the same primes in the same run.

    python bench/owners.py [--parties 3,8,32] [--values 1024] [--bits 12] [--rotations 0] [--threshold 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from machine import memory
from noren import bfv, federated, owners

T = TypeVar("T")
PEERS = Path(__file__).parent / "peers"


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


class Sums:
    """Sums of numbers modulo t, in slots."""

    def __init__(self, count: int, values: int, products: int) -> None:
        # Of the smallest ring that there may be.
        self.results = -(-values // (1 << 12))
        self.parameters = bfv.Parameters.for_requirements(
            depth=products, slots=min(values, 1 << 13), sum=count, parties=count, results=self.results
        )
        self.context = bfv.Context(self.parameters)
        self.data = np.random.default_rng(1).integers(0, 1 << 12, (count, values))

    def encrypt(self, row: Any, public: Any) -> Any:
        width = self.parameters.slots
        return [self.context.encrypt(part, public) for part in np.split(row, range(width, len(row), width))]

    def add(self, updates: Any, evaluation: Any) -> Any:
        evaluator = self.context.evaluator(evaluation)
        return [functools.reduce(evaluator.add, parts) for parts in zip(*updates, strict=True)]

    def right(self, session: owners.Session, totals: Any, shares: list[bytes]) -> bool:
        found = np.concatenate(session.opened(totals, shares))[: self.data.shape[1]]
        return bool((found == self.data.sum(axis=0) % self.parameters.plaintext_modulus).all())


class Averages(federated.Average):
    """Averages of the weights of a model."""

    def __init__(self, count: int, values: int, bits: int) -> None:
        super().__init__(np.zeros(values), parties=count, bits=bits, rounds=10)
        self.data = np.random.default_rng(1).uniform(-1, 1, (count, values))

    def right(self, session: owners.Session, totals: Any, shares: list[bytes]) -> bool:
        count = len(self.data)
        found = self.decode(session.opened(totals, shares, signed=True, coefficients=True), weight=count)
        sums = np.rint(self.data / self.step).astype(np.int64).sum(axis=0)
        return bool((np.rint(found * count / self.step) == sums).all())


def measured(work: Sums | Averages, rotations: int, products: int, threshold: int | None) -> dict[str, Any]:
    """Let parties make keys, encrypt, add up and open."""
    count = len(work.data)
    steps = [1 << k for k in range(rotations)]
    session = owners.Session(
        work.parameters,
        [f"party {at}" for at in range(count)],
        results=work.results,
        rotations=steps,
        relinearization=products > 0,
        threshold=threshold,
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
        ciphertexts = [costs("encrypt", functools.partial(work.encrypt, row, public)) for row in work.data]
        totals = work.add(ciphertexts, evaluation)
        among = session.names[:threshold] if threshold else None
        request = session.request(totals)
        shares = [costs("open", functools.partial(party.open, request, among)) for party in parties[:threshold]]
        right = work.right(session, totals, shares)
    return {
        "parameters": str(work.parameters),
        "results": len(totals),
        "update": sum(len(bytes(x)) for x in ciphertexts[0]),
        "request": len(request),
        "seconds": costs.seconds,
        "bytes": costs.bytes,
        "sent": sum(costs.bytes.values()),
        "received": (count - 1) * sum(costs.bytes.values()),
        "all": time.perf_counter() - start,
        "memory": memory("VmHWM"),
        "right": right,
    }


def beside(row: dict[str, Any], count: int, options: argparse.Namespace) -> dict[str, Any] | None:
    """Measure a party of Lattigo with the same primes, where it was built and the ring has special primes."""
    program = PEERS / "lattigo" / "lattigo"
    sizes = {name: re.findall(r"\d+", text) for name, text in re.findall(r"(log_[qp])=\[([^]]*)\]", row["parameters"])}
    if not program.exists() or not sizes.get("log_p"):
        return None
    degree = re.findall(r"log_n=(\d+)", row["parameters"])[0]
    counts = {"parties": count, "rotations": options.rotations, "products": options.products, "results": row["results"]}
    command = [program, "-suite", "owners", "-log-n", degree]
    for name, numbers in sizes.items():
        command += [f"-{name.replace('_', '-')}", ",".join(numbers)]
    for name, number in counts.items():
        command += [f"-{name}", str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """Measure all numbers of parties."""
    parser = argparse.ArgumentParser(description="Joint keys and results that are opened together.")
    parser.add_argument("--parties", default="3,8,32", help="numbers of parties")
    parser.add_argument("--values", type=int, default=1024, help="how many numbers each encrypts")
    parser.add_argument("--bits", type=int, help="average numbers of as many bits in place of sums in slots")
    parser.add_argument("--threshold", type=int, help="how many parties open the results; all, unless it is given")
    parser.add_argument("--rotations", type=int, default=0, help="keys of rotations that they make")
    parser.add_argument("--products", type=int, default=0, help="products that follow one another")
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    options = parser.parse_args()
    figures = {}
    print(f"{'parties':>7} {'all':>8} {'a party':>9} {'keys':>8} {'opening':>8} {'sent':>9} {'received':>10} memory")
    for count in map(int, options.parties.split(",")):
        if options.bits:
            work: Sums | Averages = Averages(count, options.values, options.bits)
        else:
            work = Sums(count, options.values, options.products)
        row = figures[count] = measured(work, options.rotations, options.products, options.threshold)
        seconds = row["seconds"]
        keys = sum(seconds[step] for step in seconds if step not in ("encrypt", "open"))
        print(
            f"{count:7} {row['all']:7.2f}s {keys + seconds['encrypt'] + seconds['open']:8.3f}s {keys:7.3f}s "
            f"{seconds['open']:7.3f}s {row['sent'] / 1e6:7.2f}MB {row['received'] / 1e6:8.2f}MB "
            f"{row['memory'] / 2**20:.0f}MiB; a number {row['update'] / options.values:.1f} B encrypted, "
            f"{row['request'] / options.values:.1f} B to open it, {row['bytes']['open'] / options.values:.1f} B a share"
            f"{'' if row['right'] else '; wrong'}",
            flush=True,
        )
        peer = None if options.bits else beside(row, count, options)
        if peer:
            row["lattigo"] = peer
            opened = peer["seconds"]["open"]
            made = sum(peer["seconds"].values()) - opened
            ours, theirs = row["sent"], sum(peer["bytes"].values())
            print(
                f"{'lattigo':>7} {'':8} {made + opened:8.3f}s {made:7.3f}s {opened:7.3f}s {theirs / 1e6:7.2f}MB; "
                f"times of noren's {made / keys:.1f}, {opened / seconds['open']:.1f}, bytes {theirs / ours:.1f}"
            )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if all(row["right"] for row in figures.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
