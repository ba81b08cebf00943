"""Dependencies: their licences and sources, the list of licences that is shipped, and bills of materials.

    python checks/dependencies.py check              # against deny.toml and THIRD-PARTY-LICENSES.txt
    python checks/dependencies.py licences           # writes THIRD-PARTY-LICENSES.txt
    python checks/dependencies.py sbom noren-cli OUT # writes CycloneDX 1.5 of a package, for the platform it runs on

Only the standard library and cargo are needed. Everything follows from Cargo.lock, so that equal sources give equal
bytes: bills of materials have neither a time nor a serial number.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "THIRD-PARTY-LICENSES.txt"
SHIPPED = ("noren-cli", "noren-py")
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")
"""Platforms whose dependencies the list of licences covers."""


@dataclass
class Package:
    """A package of the dependency graph."""

    name: str
    version: str
    license: str
    source: str | None
    folder: Path
    macro: bool
    dependencies: list[Dependency] = field(default_factory=list)

    @property
    def purl(self) -> str:
        """Return its package URL."""
        return f"pkg:cargo/{self.name}@{self.version}"


@dataclass
class Dependency:
    """An edge of the graph."""

    package: Package
    kinds: set[str]


def graph(*platforms: str) -> dict[str, Package]:
    """Return all packages by their ids, as Cargo.lock has them; of some platforms alone if they are named."""
    cargo = os.environ.get("CARGO", "cargo")
    command = [cargo, "metadata", "--locked", "--format-version=1"]
    for platform in platforms:
        command += ["--filter-platform", platform]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    packages = {
        one["id"]: Package(
            one["name"],
            one["version"],
            one["license"] or "",
            one["source"],
            Path(one["manifest_path"]).parent,
            any("proc-macro" in target["kind"] for target in one["targets"]),
        )
        for one in found["packages"]
    }
    for node in found["resolve"]["nodes"]:
        packages[node["id"]].dependencies = [
            Dependency(packages[edge["pkg"]], {kind["kind"] or "normal" for kind in edge["dep_kinds"]})
            for edge in node["deps"]
        ]
    return packages


def linked(packages: dict[str, Package], names: tuple[str, ...]) -> list[Package]:
    """Return what is linked into these packages: no macros, build scripts or tests, nor what these depend on."""
    seen: dict[str, Package] = {}
    todo = [one for one in packages.values() if one.name in names]
    while todo:
        one = todo.pop()
        if one.purl not in seen:
            seen[one.purl] = one
            todo += runtime(one)
    return sorted(seen.values(), key=lambda one: (one.name, one.version))


def runtime(package: Package) -> list[Package]:
    """Return what a package calls at run time."""
    return [edge.package for edge in package.dependencies if "normal" in edge.kinds and not edge.package.macro]


def satisfied(expression: str, allowed: set[str]) -> bool:
    """Say whether an SPDX expression can be satisfied with these licences; `/` is the old way to write OR."""
    tokens = re.findall(r"[()]|[^\s()/]+|/", expression)

    def either() -> bool:
        found = both()
        while tokens and tokens[0] in ("OR", "/"):
            tokens.pop(0)
            found = both() or found
        return found

    def both() -> bool:
        found = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            found = one() and found
        return found

    def one() -> bool:
        token = tokens.pop(0) if tokens else ""
        if token == "(":
            found = either()
            return bool(tokens) and tokens.pop(0) == ")" and found
        if tokens and tokens[0] == "WITH":
            token += " WITH " + " ".join(tokens[1:2])
            del tokens[:2]
        return token in allowed

    return either() and not tokens


def refused(packages: dict[str, Package], rules: dict[str, Any]) -> Iterator[str]:
    """Yield what deny.toml does not allow."""
    allowed = set(rules["licenses"]["allow"])
    exceptions = {one["crate"]: set(one["allow"]) for one in rules["licenses"].get("exceptions", [])}
    registries = {f"registry+{address}" for address in rules["sources"]["allow-registry"]}
    for one in packages.values():
        if not satisfied(one.license, allowed | exceptions.get(one.name, set())):
            yield f"{one.name} {one.version}: licence {one.license!r}, allowed: {', '.join(sorted(allowed))}"
        if one.source is not None and one.source not in registries:
            yield f"{one.name} {one.version}: source {one.source}, allowed: {', '.join(sorted(registries))}"


def licences() -> str:
    """Return the list of licences of what is linked, with their texts."""
    packages = [one for one in linked(graph(*PLATFORMS), SHIPPED) if one.source is not None]
    texts: dict[str, str] = {}
    users: dict[str, list[str]] = {}
    keys: dict[str, list[str]] = {}
    for one in packages:
        for path in sorted(one.folder.iterdir()):
            if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", path.name) and path.is_file():
                text = "\n".join(line.rstrip() for line in path.read_text(errors="replace").strip().splitlines())
                # Copies of one text differ in how it is indented.
                key = " ".join(text.split())
                texts.setdefault(key, text)
                users.setdefault(key, []).append(one.name)
                keys.setdefault(one.purl, []).append(key)
    # Texts that are alike are about as long, and lie side by side: the wheel's compression finds them.
    ordered = sorted(texts, key=lambda key: (len(key), key))
    numbers = {key: f"[{i + 1}]" for i, key in enumerate(ordered)}

    def row(one: Package) -> str:
        of = " ".join(numbers[key] for key in keys.get(one.purl, []))
        return f"{one.name} {one.version}: {one.license} {of or '(no text in the package)'}"

    head = (
        "Software of others in the tool and the Python package of noren\n\n"
        "Everything that is linked into them beside Rust's standard library (MIT OR Apache-2.0), with its licence and\n"
        "the numbers of the texts below. Made from Cargo.lock by `make licences`.\n"
    )
    bodies = [f"{'-' * 80}\n{numbers[key]} {', '.join(users[key])}\n\n{texts[key]}\n" for key in ordered]
    return "\n".join([head, *map(row, packages), "", *bodies])


def sbom(name: str) -> str:
    """Return the CycloneDX bill of materials of what is linked into a package on this platform."""
    packages = graph(host())
    root = next(one for one in packages.values() if one.name == name)
    parts = linked(packages, (name,))
    sums = checksums()
    components: list[dict[str, Any]] = []
    for one in parts:
        component: dict[str, Any] = {
            "type": "library",
            "bom-ref": one.purl,
            "name": one.name,
            "version": one.version,
            "licenses": [{"expression": one.license.replace("/", " OR ").replace("  ", " ")}],
            "purl": one.purl,
        }
        if (one.name, one.version) in sums:
            component["hashes"] = [{"alg": "SHA-256", "content": sums[one.name, one.version]}]
        components.append(component)
    main = next(one for one in components if one["bom-ref"] == root.purl)
    edges = [{"ref": one.purl, "dependsOn": sorted({part.purl for part in runtime(one)})} for one in parts]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**main, "type": "application" if name == "noren-cli" else "library"}},
        "components": [one for one in components if one is not main],
        "dependencies": edges,
    }
    return json.dumps(bill, indent=2) + "\n"


@functools.cache
def host() -> str:
    """Return the platform of the compiler."""
    rustc = os.environ.get("RUSTC", "rustc")
    shown = subprocess.run([rustc, "-vV"], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    return next(line.removeprefix("host: ") for line in shown.splitlines() if line.startswith("host: "))


def checksums() -> dict[tuple[str, str], str]:
    """Return the digests of packages that Cargo.lock has."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(one["name"], one["version"]): one["checksum"] for one in lock["package"] if "checksum" in one}


def check() -> int:
    """Print what is wrong; return the exit status."""
    found = list(refused(graph(), tomllib.loads((ROOT / "deny.toml").read_text())))
    for line in found:
        print(f"{line} (deny.toml)", file=sys.stderr)
    old, new = LIST.read_text() if LIST.exists() else "", licences()
    if old != new:
        changed = [line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[:2] in ("- ", "+ ")]
        print(f"{LIST.name} is stale, run `make licences`:", *changed[:10], sep="\n", file=sys.stderr)
    return 1 if found or old != new else 0


def main() -> int:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description="Licences, sources and bills of materials of dependencies.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="compare licences and sources with deny.toml, and the list of licences")
    commands.add_parser("licences", help="write the list of licences that is shipped")
    bill = commands.add_parser("sbom", help="write a CycloneDX bill of materials")
    bill.add_argument("package", choices=SHIPPED)
    bill.add_argument("output", type=Path)
    options = parser.parse_args()
    if options.command == "check":
        return check()
    if options.command == "licences":
        LIST.write_text(licences())
    else:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(sbom(options.package))
    return 0


if __name__ == "__main__":
    sys.exit(main())
