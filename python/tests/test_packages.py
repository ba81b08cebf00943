"""Packages of crates: what each holds, and that examples of Rust belong to one."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CARGO = os.environ.get("CARGO", "cargo")


def cargo(*arguments: str) -> str:
    command = [CARGO, *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def published() -> list[dict[str, Any]]:
    """Return what cargo knows of the crates that are published."""
    found = json.loads(cargo("metadata", "--locked", "--no-deps", "--format-version=1"))
    return [package for package in found["packages"] if package["publish"] is None]


PUBLISHED = published()


def test_crates_of_the_library_and_the_tool_are_published() -> None:
    names = {package["name"] for package in PUBLISHED}
    assert names == {"noren-math", "noren-ring", "noren-rlwe", "noren", "noren-files", "noren-cli"}


@pytest.mark.parametrize("package", PUBLISHED, ids=lambda package: package["name"])
def test_packages_have_licences_a_page_and_what_is_compiled(package: dict[str, Any]) -> None:
    listed = set(cargo("package", "--list", "--allow-dirty", "--package", package["name"]).splitlines())
    assert {"LICENSE-MIT", "LICENSE-APACHE", "README.md"} <= listed
    folder = Path(package["manifest_path"]).parent
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (folder / licence).read_bytes() == (ROOT / licence).read_bytes()
    # Data that sources include lie beside them.
    sources = {path.relative_to(folder).as_posix() for path in folder.glob("src/**/*") if path.is_file()}
    assert sources <= listed
    # Of an example outside the crate, cargo says nothing until it is missed.
    targets = [target for target in package["targets"] if set(target["kind"]) & {"lib", "bin", "example"}]
    for target in targets:
        assert Path(target["src_path"]).relative_to(folder).as_posix() in listed, target["name"]


@pytest.mark.parametrize("package", PUBLISHED, ids=lambda package: package["name"])
def test_packages_say_what_they_are(package: dict[str, Any]) -> None:
    for field in ("description", "license", "repository", "documentation", "keywords", "categories", "rust_version"):
        assert package[field], field
    for dependency in package["dependencies"]:
        # A version is needed of all but what only tests need.
        assert dependency["kind"] == "dev" or dependency["req"] != "*", dependency["name"]


def test_a_tag_that_is_not_the_version_is_no_release() -> None:
    done = subprocess.run([ROOT / "checks" / "release.sh", "v999.0.0"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"wanted v{PUBLISHED[0]['version']}" in done.stderr


def test_the_citation_has_the_version() -> None:
    assert f"version: {PUBLISHED[0]['version']}" in (ROOT / "CITATION.cff").read_text().splitlines()
