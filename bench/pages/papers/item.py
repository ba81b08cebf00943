"""A row of docs/papers.md, and how figures are written in it."""

from collections.abc import Iterable
from dataclasses import dataclass

from records import Record, Results, number, table

# What stands where nothing was measured: no cell is empty.
NOTHING = "not measured"


@dataclass(frozen=True)
class Found:
    """What the page is made of."""

    # The newest results of all suites, those of the suite `papers`, and those of `noren compare`.
    results: Results
    papers: Results
    compared: Results
    recorded: Record
    # The machine of the records of the suite `papers`.
    machine: str = NOTHING


@dataclass(frozen=True)
class Item:
    """A table, a figure, an algorithm or a claim of a publication."""

    what: str
    command: str
    page: str
    published: str
    here: str
    why: str


def items(found: Iterable[Item]) -> str:
    """Return the table of some items."""
    header = ["in the publication", "command", "page", "published", "here", "difference, and why"]
    rows = ([item.what, item.command, item.page, item.published, item.here, item.why] for item in found)
    return table(header, rows)


def shown(text: str) -> str:
    """Return a figure, or that there is none."""
    return text or NOTHING


def milliseconds(ns: float | None) -> str:
    """Write a time in milliseconds with its unit."""
    return NOTHING if ns is None else f"{number(ns / 1e6)} ms"


def seconds(ns: float | None) -> str:
    """Write a time in seconds with its unit."""
    return NOTHING if ns is None else f"{number(ns / 1e9)} s"


def factor(value: float | None) -> str:
    """Write a ratio."""
    return NOTHING if value is None else f"{number(value)}x"


def span(values: Iterable[float | None], unit: str) -> str:
    """Write the lowest and the highest of some figures."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    low, high = number(min(known)), number(max(known))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
