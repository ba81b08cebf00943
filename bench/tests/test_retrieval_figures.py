"""The measurement of rows of a table of another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RETRIEVAL = Path(__file__).parent.parent / "retrieval.py"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("word", ["by number, 10^5", "shared: "])
def test_rows_are_found_and_measured(tmp_path: Path, word: str) -> None:
    figures = tmp_path / "figures.json"
    options = ["--only", word, "--scale", "0.01", "--rounds", "2", "--json", str(figures)]
    done = subprocess.run([sys.executable, RETRIEVAL, *options], check=True, capture_output=True, text=True)
    (row,) = json.loads(figures.read_text()).values()
    assert row["right"]
    assert min(row["server"], row["memory"], row["request_bytes"], row["reply_bytes"]) > 0
    assert "wrong" not in done.stdout
