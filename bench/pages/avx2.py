"""What libraries do without AVX-512: noren held to its table for AVX2, and peers built without it."""

import run
from records import Results

# Tables of noren that the suite kernels measures beside.
OTHERS = {"portable", "avx512"}


def section(results: Results, suite: str) -> str:
    """Return all operations of a suite for each number of threads, with the ratios to peers."""
    parts = []
    for threads in results.values("threads", suite=suite):
        found = [record for record in results.select(suite=suite, threads=threads) if record["isa"] not in OTHERS]
        parts.append(f"{threads} thread(s):\n\n{run.overview(found)}")
    return "\n\n".join(parts) or "Not measured."
