"""Documentation that runs: docstrings of the compiled classes, and the types that are written by hand."""

import doctest
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noren import _noren, bfv, bgv, bootstrapping, ckks, programs, tfhe

ROOT = Path(__file__).parents[2]


def documented() -> dict[str, object]:
    """Everything public in the extension module, by name."""
    found: dict[str, object] = {}
    for name, thing in vars(_noren).items():
        if name.startswith("_"):
            continue
        found[name] = thing
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            found |= {f"{name}.{key}": getattr(thing, key) for key in vars(thing) if not key.startswith("_")}
    return found


@pytest.mark.parametrize("name", documented())
def test_everything_has_a_docstring(name: str) -> None:
    first = (inspect.getdoc(documented()[name]) or "").split("\n\n")[0]
    assert first.endswith(".")


EXAMPLES = {
    **{name: text for name, thing in documented().items() if ">>>" in (text := inspect.getdoc(thing) or "")},
    **{module.__name__: module.__doc__ or "" for module in (bfv, bgv, bootstrapping, ckks, programs, tfhe)},
    "Lookup": bfv.Lookup.__doc__ or "",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_run(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, None)
    assert test.examples
    report: list[str] = []
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)


# What Python adds to the module by itself: reflected twins of operators, which refuse everything. And what refuses
# to become an array of numpy, which no type may promise.
ONLY_AT_RUN_TIME = """
noren\\._noren\\.__all__
noren\\._noren\\.(Bfv|Bgv)?Ciphertext\\.__matmul__
noren\\._noren\\.(Bfv|Bgv)?Ciphertext\\.__rpow__
noren\\._noren\\.(Bfv|Bgv)?Ciphertext\\.__array__
noren\\._noren\\.Plan\\.__ror__
noren\\._noren\\.(Integer)?EvaluationKeys\\.__ror__
"""


def test_types_agree_with_the_module(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    allowed.write_text(ONLY_AT_RUN_TIME)
    modules = [f"noren.{name}" for name in ("_noren", "bfv", "bgv", "bootstrapping", "ckks", "programs", "tfhe")]
    command = [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(allowed), *modules]
    environment = {**os.environ, "MYPY_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_examples_run(path: Path) -> None:
    # What runs for minutes with secure parameters has a fast way.
    fast = ["--preset", "toy"] if "--preset" in path.read_text() else []
    done = subprocess.run([sys.executable, path, *fast], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_python_in_documents_runs(name: str) -> None:
    frame = pd.DataFrame(np.random.default_rng(5).normal(size=(285, 30)), columns=[f"c{i}" for i in range(30)])
    given = {"frame": frame, "w": np.ones(30) / 30, "b": 0.5}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), dict(given))
