"""Ratios peer / noren for the advisor: crates/noren/src/advisor/peers.json, which bench/docs.py makes and checks.

Each ratio is the median over operations that both libraries did in one run on one machine. The newest results of a
suite count, whatever machine they are of.
"""

import json
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import records
from libraries import ROOT
from records import Record

FILE = ROOT / "crates" / "noren" / "src" / "advisor" / "peers.json"
OURS = "noren"
PEERS = ["lattigo", "openfhe", "tenseal", "tfhe-rs"]
# What makes two measurements one operation, beside the name of the operation.
CELL = ["threads", "scheme", "depth", "workload", "batch", "mode", "values", "count"]
DIGITS = 4
RATIO = re.compile(r"\{\s*\"threads\"[^}]*\}")


@dataclass(frozen=True)
class Source:
    """Where ratios of one part of a scheme come from."""

    suite: str
    what: str
    # The sums of times that are compared; one operation each, unless they belong together.
    ops: tuple[tuple[str, ...], ...]
    # Fields that all records have.
    fields: Mapping[str, object] = field(default_factory=dict)
    # Fields of noren's records alone: the parameters that others are compared with.
    ours: Mapping[str, object] = field(default_factory=dict)
    # Whether both have rings of the same degree.
    same_degree: bool = True
    # Whether the records are those of a whole comparison, `compare.json`.
    comparison: bool = False


def single(*ops: str) -> tuple[tuple[str, ...], ...]:
    """Return operations that are compared one by one."""
    return tuple((op,) for op in ops)


def chains(scheme: str) -> Source:
    """Return the source of a scheme whose products follow one another."""
    return Source("chain", "chains of products", single("chain", "chain_squares"), {"scheme": scheme})


def numbers(suite: str, op: str, scheme: str, what: str) -> Source:
    """Return the source of a computation on n numbers, which the whole comparison measures: the fastest way of each."""
    return Source(suite, what, single(op), {"scheme": scheme}, same_degree=False, comparison=True)


INNER_PRODUCTS = ("inner-product", "inner_product", "inner products of n numbers")
PRODUCTS = ("product", "product", "products of n numbers")


def inner_products(scheme: str) -> Source:
    """Return the source of inner products in a scheme."""
    suite, op, what = INNER_PRODUCTS
    return numbers(suite, op, scheme, what)


def products(scheme: str) -> Source:
    """Return the source of products of n numbers in a scheme."""
    suite, op, what = PRODUCTS
    return numbers(suite, op, scheme, what)


BOOTSTRAPS = Source("bootstrap", "bootstraps", single("bootstrap"), ours={"set": "n16"})
SAMPLES = ("gate", "mux", "bootstrap", "add", "mul", "lt", "div", "table")
TORUS = Source("tfhe", "gates, bootstraps and operations on integers", single(*SAMPLES), same_degree=False)
SIGNS = Source("switching", "signs of 16 values by switching", single("sign"), {"values": 16}, same_degree=False)
ENCRYPTION = Source("client", "encodings and encryptions with the secret key", (("encode", "encrypt_secret"),))
DECRYPTION = Source("client", "decryptions and decodings", (("decrypt", "decode"),))


def torus(op: str, what: str) -> Source:
    """Return the source of what a client of TFHE does."""
    return Source("tfhe", what, single(op), same_degree=False)


REALS = {"encrypt": ENCRYPTION, "decrypt": DECRYPTION}
SCHEMES: dict[str, dict[str, Source]] = {
    "ckks": {
        "server": chains("ckks"),
        "inner_products": inner_products("ckks"),
        "products": products("ckks"),
        **REALS,
    },
    "ckks-bootstrapping": {"server": BOOTSTRAPS, **REALS},
    "bgv": {"server": chains("bgv")},
    "bfv": {"server": chains("bfv")},
    "tfhe": {
        "server": TORUS,
        "inner_products": inner_products("tfhe"),
        "products": products("tfhe"),
        "keys": torus("client_keys", "keys that a client sends"),
        "encrypt": torus("encrypt", "encryptions"),
        "decrypt": torus("decrypt", "decryptions"),
    },
    "ckks-switching": {"server": SIGNS},
}
NOTES = {
    ("tfhe", "openfhe"): "measured with gates of bits: OpenFHE has no operations on integers of digits",
}


def newest(results: Path, source: Source) -> Path | None:
    """Return the newest results of a source on any machine."""
    name = "compare.json" if source.comparison else f"{source.suite}.jsonl"
    return max(results.glob(f"*/????-??-??-{name}"), key=lambda path: path.name, default=None)


def records_of(path: Path) -> list[Record]:
    """Return the records of a file of results, of one suite or of a whole comparison."""
    if path.suffix == ".json":
        found: list[Record] = json.loads(path.read_text())["records"]
        return found
    return records.merge(records.read(path))


def times(source: Source, found: list[Record], library: str) -> dict[tuple[Any, ...], float]:
    """Return the fastest time of each operation of a library; right results alone have one."""
    fields = {**source.fields, **(source.ours if library == OURS else {})}
    fastest: dict[tuple[Any, ...], dict[str, float]] = {}
    for record in found:
        named = record["suite"] == source.suite and record["library"] == library
        if not named or record["median_ns"] is None or any(record.get(name) != fields[name] for name in fields):
            continue
        for ops in source.ops:
            if record["op"] in ops:
                degree = record["n"] if source.same_degree else None
                cell = (ops, degree, *(record.get(name) for name in CELL))
                parts = fastest.setdefault(cell, {})
                parts[record["op"]] = min(record["median_ns"], parts.get(record["op"], float("inf")))
    return {cell: sum(parts.values()) for cell, parts in fastest.items() if len(parts) == len(cell[0])}


def rounded(value: float) -> float:
    """Return a number with few digits."""
    return float(f"{value:.{DIGITS}g}")


def ratios(source: Source, path: Path, found: list[Record], peer: str) -> Iterator[dict[str, Any]]:
    """Yield the ratio for each number of threads, with what it rests on."""
    ours, theirs = (times(source, found, library) for library in (OURS, peer))
    both = [cell for cell in ours if cell in theirs]
    machine = json.loads((path.parent / "machine.json").read_text())
    words = f"{machine['processor']} (family {machine['family']}, model {machine['model']}, {machine['cores']} cores)"
    isas = {record["isa"] for record in found if record["library"] == OURS and record["suite"] == source.suite}
    threads_at = 2 + CELL.index("threads")
    for threads in sorted({cell[threads_at] for cell in both}):
        each = [theirs[cell] / ours[cell] for cell in both if cell[threads_at] == threads]
        yield {
            "threads": threads,
            "ratio": rounded(statistics.median(each)),
            "least": rounded(min(each)),
            "most": rounded(max(each)),
            "rows": len(each),
            "what": source.what,
            "machine": words,
            "isa": "/".join(sorted(isas)),
            "date": path.name[:10],
            "records": f"{path.parent.name}/{path.name}",
        }


def made(results: Path) -> str:
    """Return the file."""
    sources = [source for parts in SCHEMES.values() for source in parts.values()]
    paths = {source.suite: path for source in sources if (path := newest(results, source))}
    read = {suite: records_of(path) for suite, path in paths.items()}
    peers = []
    for scheme, parts in SCHEMES.items():
        for peer in PEERS:
            row: dict[str, Any] = {"scheme": scheme, "library": peer}
            suite = parts["server"].suite
            row["version"] = next((r["version"] for r in read.get(suite, []) if r["library"] == peer), "")
            row["note"] = NOTES.get((scheme, peer), "")
            for name in ("server", "inner_products", "products", "keys", "encrypt", "decrypt"):
                source = parts.get(name)
                row[name] = []
                if source and source.suite in paths:
                    row[name] = list(ratios(source, paths[source.suite], read[source.suite], peer))
            # A client has one thread.
            for name in ("keys", "encrypt", "decrypt"):
                row[name] = [ratio for ratio in row[name] if ratio["threads"] == 1]
            if row["server"]:
                peers.append(row)
    # A line for each ratio, so that changes can be read.
    text = json.dumps({"made_by": "bench/docs.py, from bench/results", "peers": peers}, indent=1)
    return RATIO.sub(lambda match: " ".join(match[0].split()), text) + "\n"
