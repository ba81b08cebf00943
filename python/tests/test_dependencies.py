"""Licences and sources of dependencies, the list of licences, and bills of materials."""

import importlib.util
import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dependencies() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dependencies", ROOT / "checks" / "dependencies.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules["dependencies"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("expression", "right"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("MIT OR GPL-3.0", True),
        ("GPL-3.0/MIT", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT OR GPL-3.0) AND Zlib", True),
        ("(MIT OR GPL-3.0) AND LGPL-2.1", False),
        ("LGPL-2.1 OR MIT AND GPL-3.0", False),
        ("Apache-2.0 WITH LLVM-exception", False),
        ("Apache-2.0 WITH LLVM-exception OR MIT", True),
        ("MIT AND", False),
        ("MIT Zlib", False),
        ("(MIT", False),
        ("", False),
    ],
)
def test_expressions_of_licences(dependencies: ModuleType, expression: str, right: bool) -> None:
    assert dependencies.satisfied(expression, {"MIT", "Zlib"}) == right


def test_licences_and_sources_that_are_not_allowed_are_refused(dependencies: ModuleType) -> None:
    packages = dependencies.graph()
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    assert not list(dependencies.refused(packages, rules))
    name, clap = next((name, one) for name, one in packages.items() if one.name == "clap")
    for change in ({"license": "AGPL-3.0-only"}, {"license": ""}, {"source": "git+https://example.org/clap"}):
        found = list(dependencies.refused({name: replace(clap, **change)}, rules))
        assert len(found) == 1
        assert found[0].startswith("clap ")


def test_the_list_of_licences_is_that_of_the_lock_file(dependencies: ModuleType) -> None:
    text = dependencies.licences()
    assert dependencies.LIST.read_text() == text, "run `make licences`"
    names = {line.split()[0] for line in text.splitlines() if ": " in line and line[0].isalpha()}
    assert {"blake3", "clap", "pyo3", "rayon"} <= names
    # Macros and tests are not linked.
    assert not {"syn", "serde_derive", "proptest", "noren"} & names


@pytest.mark.parametrize("package", ["noren-cli", "noren-py"])
def test_bills_of_materials_are_complete_and_the_same_each_time(dependencies: ModuleType, package: str) -> None:
    text = dependencies.sbom(package)
    assert text == dependencies.sbom(package)
    assert str(ROOT) not in text
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    names = {one["name"]: one for one in bill["components"]}
    assert {"noren", "noren-math", "blake3"} <= names.keys()
    assert ("pyo3" in names) == (package == "noren-py")
    assert bill["metadata"]["component"]["name"] == package
    refs = {one["bom-ref"] for one in [*bill["components"], bill["metadata"]["component"]]}
    assert {one["ref"] for one in bill["dependencies"]} == refs
    assert {ref for one in bill["dependencies"] for ref in one["dependsOn"]} <= refs
    lock = {one["name"] for one in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"] if "checksum" in one}
    assert all("hashes" in names[name] for name in names.keys() & lock)
