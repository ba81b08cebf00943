"""The measurement of models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

MODELS = Path(__file__).parent.parent / "models.py"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_model_is_measured_beside_its_library(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--only", "boosting", "--scale", "0.03", "--rounds", "2", "--json", str(figures)]
    subprocess.run([sys.executable, MODELS, *options], check=True, capture_output=True, text=True)
    (row,) = json.loads(figures.read_text()).values()
    assert row["equal"] == row["simulated_equal"] == 1
    assert min(row["server"], row["memory"], row["key_bytes"], row["predicted"]["server_seconds"]) > 0
