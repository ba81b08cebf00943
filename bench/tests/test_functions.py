"""The measurement of compiled functions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FUNCTIONS = Path(__file__).parent.parent / "functions.py"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_function_is_measured_beside_its_prediction(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--only", "change of units", "--rounds", "2", "--json", str(figures)]
    done = subprocess.run([sys.executable, FUNCTIONS, *options], check=True, capture_output=True, text=True)
    (row,) = json.loads(figures.read_text()).values()
    assert row["scheme"] == "ckks"
    assert row["right"]
    assert abs(row["error"]) <= row["bound"]
    assert min(row["server"], row["memory"]) > 0
    assert row["of_best"] == 1.0
    assert done.stdout.splitlines()[-1].startswith("of 1: ")
