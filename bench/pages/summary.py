"""What the README shows: how many times as long other libraries take, for one operation of each kind."""

from collections.abc import Mapping
from typing import Any

import records
import run
from records import Results

LIBRARIES = {"lattigo": "Lattigo", "openfhe": "OpenFHE", "tenseal": "SEAL (TenSEAL)", "tfhe-rs": "TFHE-rs"}

# The name of each row, and the fields of its records.
ROWS: list[tuple[str, Mapping[str, Any]]] = [
    ("CKKS: multiply, relinearise, rescale", {"suite": "ckks", "op": "mul_relin_rescale", "n": 1 << 16}),
    ("CKKS: rotate", {"suite": "ckks", "op": "rotate", "n": 1 << 16}),
    ("CKKS: encrypt", {"suite": "ckks", "op": "encrypt", "n": 1 << 16}),
    ("CKKS: ten products", {"suite": "chain", "op": "chain", "scheme": "ckks", "depth": 10}),
    ("BGV: ten products", {"suite": "chain", "op": "chain", "scheme": "bgv", "depth": 10}),
    ("BFV: ten products", {"suite": "chain", "op": "chain", "scheme": "bfv", "depth": 10}),
    ("CKKS: bootstrap", {"suite": "bootstrap", "op": "bootstrap", "mode": "complex"}),
    ("TFHE: gate", {"suite": "tfhe", "op": "gate", "workload": "BOOL_128", "batch": 1}),
    ("TFHE: 64 gates", {"suite": "tfhe", "op": "gate", "workload": "BOOL_128", "batch": 64}),
]


def gains(results: Results, threads: int = 1) -> list[tuple[str, dict[str, float]]]:
    """Return for each row how many times as long as noren each library takes, where both were measured."""
    rows = []
    for name, fields in ROWS:
        found = [r for r in results.select(**fields, threads=threads) if r["isa"] != "portable" and not run.own_set(r)]
        best = {
            library: records.lowest(r["median_ns"] for r in found if r["library"] == library)
            for library in ["noren", *LIBRARIES]
        }
        gains = {library: records.ratio(best[library], best["noren"]) for library in LIBRARIES}
        times = {library: gain for library, gain in gains.items() if gain}
        if times:
            rows.append((name, times))
    return rows


def block(results: Results, machine: str) -> str:
    """Return the picture, with all that it shows as its text."""
    rows = gains(results)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{LIBRARIES[library]} {gain:.1f}" for library, gain in times.items())
        for name, times in rows
    )
    return f"![How many times as long as noren other libraries take. {said}](docs/figures/summary.svg)\n\n{machine}"
