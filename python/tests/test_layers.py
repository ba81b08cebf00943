"""The rule of layers that holds in Python: what computes for any scheme names none."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import noren

PACKAGE = Path(noren.__file__).parent
SCHEMES = ("ckks", "bgv", "bfv", "tfhe")

# The one file of the cluster that knows schemes: tables of keys and of classes.
TABLE = "_kinds.py"


def _names(source: str) -> list[tuple[int, str]]:
    """Return the names in code, without comments and texts, and their lines."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.NAME]


def test_the_cluster_names_schemes_in_one_table() -> None:
    def naming(file: Path) -> list[str]:
        names = _names(file.read_text(encoding="utf-8"))
        return [f"{file.name}:{line}: {name}" for line, name in names if any(s in name.lower() for s in SCHEMES)]

    files = sorted((PACKAGE / "cluster").glob("*.py"))
    found = {file.name: naming(file) for file in files}
    assert found.pop(TABLE), "the table has the names"
    assert [place for places in found.values() for place in places] == []
