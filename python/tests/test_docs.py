"""Documentation that runs: docstrings of the compiled classes, and the types that are written by hand."""

import ast
import doctest
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from noren import (
    _noren,
    bfv,
    bgv,
    bootstrapping,
    ckks,
    compiler,
    federated,
    intersection,
    owners,
    programs,
    retrieval,
    switching,
    tables,
    tfhe,
)

ROOT = Path(__file__).parents[2]


def documented(module: ModuleType = _noren, prefix: str = "") -> dict[str, object]:
    """Everything public in the extension module and its submodules, by name."""
    found: dict[str, object] = {}
    for plain, thing in vars(module).items():
        if plain.startswith("_"):
            continue
        name = prefix + plain
        found[name] = thing
        if inspect.ismodule(thing):
            found |= documented(thing, f"{name}.")
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            found |= {f"{name}.{key}": getattr(thing, key) for key in dir(thing) if not key.startswith("_")}
    return found


@pytest.mark.parametrize("name", documented())
def test_everything_has_a_docstring(name: str) -> None:
    first = (inspect.getdoc(documented()[name]) or "").split("\n\n")[0]
    assert first.endswith(".")


PUBLIC = (bfv, bgv, bootstrapping, ckks, programs, switching, tfhe)


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_classes_name_the_public_module_where_they_are_found(module: ModuleType) -> None:
    classes = {name: thing for name in module.__all__ if inspect.isclass(thing := getattr(module, name))}
    assert classes
    for name, found in classes.items():
        if found is bfv.Lookup or found is programs.Matrix:
            continue  # classes written in Python name the file
        assert found.__qualname__ == found.__name__ == name
        # What BGV and BFV share names BGV.
        shared = module is bfv and found is getattr(bgv, name, None)
        assert found.__module__ == ("noren.bgv" if shared else module.__name__)
        assert getattr(sys.modules[found.__module__], name) is found
    compiled = sys.modules[f"noren._noren.{module.__name__.removeprefix('noren.')}"]
    assert all(classes[name] is thing for name, thing in vars(compiled).items() if inspect.isclass(thing))


def test_bgv_and_bfv_have_the_same_names() -> None:
    lookups = {"Lookup", "LookupKeys", "LookupPlan", "PreparedLookup"}
    assert set(bgv.__all__) == set(bfv.__all__) - lookups
    own = {name for name in bgv.__all__ if getattr(bgv, name) is not getattr(bfv, name)}
    assert own == {"Ciphertext", "Context", "Evaluator"}


EXAMPLES = {
    **{name: text for name, thing in documented().items() if ">>>" in (text := inspect.getdoc(thing) or "")},
    **{
        module.__name__: module.__doc__ or ""
        for module in (*PUBLIC, compiler, federated, intersection, owners, retrieval, tables)
    },
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
noren\\._noren\\.(.*\\.)?__all__
noren\\._noren\\.(bfv|bgv|ckks)\\.Ciphertext\\.__array__
noren\\._noren\\.programs\\.Plan\\.__ror__
"""


def test_types_agree_with_the_module(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    allowed.write_text(ONLY_AT_RUN_TIME)
    modules = ["noren._noren", *(module.__name__ for module in PUBLIC)]
    command = [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(allowed), *modules]
    environment = {**os.environ, "MYPY_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# Classes of the stubs, by the stub and their name.
STUBS = {
    (path.stem, declared.name): declared
    for path in ROOT.glob("python/noren/_noren/*.pyi")
    for declared in ast.parse(path.read_text()).body
    if isinstance(declared, ast.ClassDef)
}


def inherited(stub: str, declared: ast.ClassDef) -> set[str]:
    """The methods that a class of the stubs has from its bases."""
    found: set[str] = set()
    for base in declared.bases:
        match base.value if isinstance(base, ast.Subscript) else base:
            case ast.Attribute(value=ast.Name(id=place), attr=name):
                key = ("__init__" if place == "shared" else place, name)
            case ast.Name(id=name):
                key = (stub if (stub, name) in STUBS else "__init__", name)
        if key in STUBS:
            found |= {member.name for member in STUBS[key].body if isinstance(member, ast.FunctionDef)}
            found |= inherited(key[0], STUBS[key])
    return found


# What stubtest does not do: of methods of a base it checks those that there are at run time.
@pytest.mark.parametrize("stub", sorted({stub for stub, _ in STUBS}))
def test_methods_of_bases_that_only_types_know_are_in_the_module(stub: str) -> None:
    compiled = sys.modules["noren._noren" if stub == "__init__" else f"noren._noren.{stub}"]
    for (place, name), declared in STUBS.items():
        if place == stub and not name.startswith("_"):
            assert inherited(stub, declared) <= set(dir(getattr(compiled, name))), name


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_examples_run(path: Path) -> None:
    text = path.read_text()
    if "noren.cluster" in text:
        pytest.importorskip("ray")
    # What runs for minutes with secure parameters has a fast way.
    fast = ["--preset", "toy"] if "--preset" in text else []
    done = subprocess.run([sys.executable, path, *fast], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_notebook_runs_twice_and_shows_errors_within_their_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads((ROOT / "examples/9_notebook.ipynb").read_text())["cells"]
    # In one session, each with keys of its own, whose files replace those of the run before.
    session: dict[str, Any] = {}
    for _ in range(2):
        for cell in cells:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), "examples/9_notebook.ipynb", "exec"), session)
        errors = session["found"] - session["table"].agg(["mean", "var"]).to_numpy()
        assert (errors.abs() <= session["bounds"]).all(axis=None)


def test_examples_say_what_they_need_where_it_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise ModuleNotFoundError('none')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    examples = [path for path in sorted(ROOT.glob("examples/*.py")) if "sklearn" in path.read_text()]
    assert len(examples) == 5
    for arguments in [["-m", "noren.demo"], *([str(path)] for path in examples)]:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        assert done.returncode == 1, arguments
        assert "pip install scikit-learn" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
    readme = (ROOT / "README.md").read_text()
    for path in examples:
        assert "scikit-learn" in readme.split(f"`{path.name}`")[1].splitlines()[0]
