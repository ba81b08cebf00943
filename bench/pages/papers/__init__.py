"""Tables of docs/papers.md: a table, figure and algorithm of a publication a row, with its command and both figures."""

from collections.abc import Callable

from pages.papers import functions, matrices, rns_ckks, schemes, trace
from pages.papers.item import Found

# The makers of the page's blocks, each from all that was found.
BLOCKS: dict[str, Callable[[Found], str]] = {
    "machine": lambda found: found.machine,
    "trace": trace.table_of,
    "trace-fused": trace.fused_table,
    "trace-trend": trace.trend,
    "matrices": matrices.table_of,
    "matrices-profile": matrices.profile_table,
    "matrices-kernels": matrices.kernels_table,
    "rns-ckks": rns_ckks.table_of,
    "rns-ckks-operations": rns_ckks.operations_table,
    "rns-ckks-bootstraps": rns_ckks.bootstraps_table,
    "functions": functions.table_of,
    "functions-methods": functions.methods_table,
    "schemes": schemes.table_of,
    "schemes-conclusions": schemes.conclusions_table,
}

__all__ = ["BLOCKS", "Found"]
