"""What libraries do without AVX-512: noren held to its table for AVX2, and peers built without it."""

import run
from records import Results

# Tables of noren that the suite kernels measures beside.
OTHERS = {"portable", "avx512"}
# What the page of the kernels shows of them.
KERNELS = ("ntt_", "torus_", "inner_product", "basis_convert")
# Parts of operations that are shown whole.
PARTS = {"stage"}


def section(results: Results, suite: str) -> str:
    """Return the operations of a suite that noren has, for each number of threads, with the ratios to peers."""
    ops = set(results.values("op", suite=suite, library="noren", isa="avx2")) - PARTS
    if suite == "kernels":
        ops = {op for op in ops if op.startswith(KERNELS)}
    parts = []
    for threads in results.values("threads", suite=suite):
        found = results.select(suite=suite, threads=threads)
        found = [record for record in found if record["isa"] not in OTHERS and record["op"] in ops]
        parts.append(f"{threads} thread(s):\n\n{run.overview(found)}")
    return "\n\n".join(parts) or "Not measured."
