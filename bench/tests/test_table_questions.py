"""The measurement of questions on tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TABLES = Path(__file__).parent.parent / "tables.py"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_question_is_measured_beside_its_prediction(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--only", "quantiles", "--rows", "2000", "--rounds", "2", "--json", str(figures)]
    done = subprocess.run([sys.executable, TABLES, *options], check=True, capture_output=True, text=True)
    (row,) = json.loads(figures.read_text()).values()
    assert row["right"]
    assert min(row["server"], row["memory"], row["request_bytes"], row["predicted"]["server_seconds"]) > 0
    assert "wrong" not in done.stdout
