"""Sections of the report of `noren compare`, as it was recorded: which scheme and library for which computation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from records import table

Report = dict[str, Any]

NOTHING = "Nothing was recorded yet: `noren compare` measures it (`bench/README.md` says where its data go)."
# The sections that the page shows, by their names in the report.
SECTIONS = ["conclusions", "chains", "samples", "product", "inner-product", "clients", "method"]


def newest(folder: Path) -> Path | None:
    """Return the newest data of a comparison on a machine, or on another one: names start with their date."""
    own = max(folder.glob("????-??-??-compare.json"), default=None)
    return own or max(folder.parent.glob("*/????-??-??-compare.json"), key=lambda path: path.name, default=None)


def facts(report: Report | None) -> str:
    """Return what was compared, where and how."""
    if report is None:
        return NOTHING
    return "\n".join(f"- {name}: {fact}" for name, fact in report["facts"])


def section(report: Report | None, name: str) -> str:
    """Return a section: texts, lists, tables, and links to its plots."""
    found = [section for section in (report or {}).get("sections", []) if section["id"] == name]
    return "\n\n".join(markdown(block, name) for block in found[0]["blocks"]) if found else NOTHING


def markdown(block: dict[str, Any], name: str) -> str:
    """Return a part of a section."""
    [(kind, content)] = block.items()
    if kind == "list":
        return "\n".join(f"- {item}" for item in content)
    if kind == "table":
        return f"{content['caption']}:\n\n{table(content['header'], content['rows'])}"
    if kind == "plots":
        files = [f"![{plot['title']}](figures/{file_of(name, plot['title'])})" for plot in content]
        return "\n".join(files)
    text: str = content
    return text


def figures(report: Report | None) -> Iterator[tuple[str, str]]:
    """Return the files of all plots, with their pictures."""
    for part in (report or {}).get("sections", []):
        for block in part["blocks"]:
            for plot in block.get("plots", []):
                yield file_of(part["id"], plot["title"]), plot["svg"] + "\n"


def file_of(name: str, title: str) -> str:
    """Return the name of the file of a plot."""
    words = "".join(letter if letter.isalnum() else " " for letter in title.lower()).split()
    return f"choosing-{'-'.join([name, *words])}.svg"
