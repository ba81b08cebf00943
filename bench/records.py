"""Records of measurements: reading, checking, merging, and Markdown tables of them."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

# What every library prints, and of which type. A time is None where the result was wrong.
SCHEMA: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(["suite", "op", "library", "version", "security", "isa", "note"], (str,)),
    **dict.fromkeys(["n", "limbs", "special", "dnum", "slots", "threads", "reps"], (int,)),
    "log_qp": (int, float),
    **dict.fromkeys(["median_ns", "mad_ns"], (int, float, type(None))),
    "peak_rss_bytes": (int, type(None)),
}

# Two records with the same of these are measurements of one thing.
IDENTITY = ["suite", "op", "library", "n", "slots", "limbs", "special", "isa", "threads"]
IDENTITY += ["level", "h", "method", "prime_bits", "set", "mode", "stage", "figure", "parallel", "model"]
IDENTITY += ["scheme", "depth", "dimension", "baby_steps", "workload", "batch", "m", "p", "r", "entries"]
IDENTITY += ["values", "part", "way", "count", "bits"]


class GarbageError(ValueError):
    """What a program prints is no list of records."""


def parse(text: str) -> list[Record]:
    """Read JSON lines; raise GarbageError if one is no record."""
    records: list[Record] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise GarbageError(f"no JSON: {line[:80]!r}") from error
        if not isinstance(record, dict):
            raise GarbageError(f"no record: {line[:80]!r}")
        for field, types in SCHEMA.items():
            if field not in record:
                raise GarbageError(f"a record without {field}")
            if not isinstance(record[field], types) or isinstance(record[field], bool):
                raise GarbageError(f"{field} is {record[field]!r}")
        if record["median_ns"] is not None and not record["median_ns"] > 0:
            raise GarbageError(f"median_ns is {record['median_ns']!r}")
        records.append(record)
    return records


def read(path: Path) -> list[Record]:
    """Read a results file."""
    return parse(path.read_text())


def merge(records: Iterable[Record]) -> list[Record]:
    """Make one record of those of all rounds: medians of times and rates, highest memory, least precision."""
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in records:
        groups[tuple(record.get(field) for field in IDENTITY)].append(record)
    return [_merged(group) for group in groups.values()]


def _merged(group: Sequence[Record]) -> Record:
    merged = dict(group[0])
    measured = [record for record in group if record["median_ns"] is not None]
    if len(measured) < len(group):
        # A result that was wrong once is wrong.
        return merged | {"median_ns": None, "mad_ns": None}
    for field in [
        "median_ns",
        "mad_ns",
        "gb_per_s",
        "butterflies_per_cycle",
        "share_of_read",
        "work_ns",
        "memory_ns",
        "first_ns",
    ]:
        values = [record[field] for record in group if record.get(field) is not None]
        if values:
            merged[field] = statistics.median(values)
    for field in ["worst_bits", "rms_bits"]:
        values = [record[field] for record in group if record.get(field) is not None]
        if values:
            merged[field] = min(values)
    peaks = [record["peak_rss_bytes"] for record in group if record["peak_rss_bytes"] is not None]
    merged["peak_rss_bytes"] = max(peaks, default=None)
    return merged


class Results:
    """Merged records, to be asked for."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = merge(records)

    def select(self, **fields: object) -> list[Record]:
        """Return the records that have all of these."""
        return [record for record in self.records if all(record.get(name) == value for name, value in fields.items())]

    def one(self, **fields: object) -> Record | None:
        """Return the only record with these, or None where there is none."""
        found = self.select(**fields)
        if len(found) > 1:
            raise LookupError(f"{len(found)} records have {fields}")
        return found[0] if found else None

    def time(self, **fields: object) -> float | None:
        """Return the median time of the only record with these in nanoseconds; None where there is none."""
        record = self.one(**fields)
        return None if record is None else record["median_ns"]

    def values(self, field: str, **fields: object) -> list[Any]:
        """Return all different values of a field, ascending."""
        return sorted({record[field] for record in self.select(**fields) if record.get(field) is not None})


def ratio(theirs: float | None, ours: float | None) -> float | None:
    """Return how many times faster we are; None without a time."""
    return theirs / ours if theirs and ours else None


def lowest(values: Iterable[float | None]) -> float | None:
    """Return the lowest number; None without one."""
    return min((value for value in values if value is not None), default=None)


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with `digits` digits; nothing without a number."""
    if value is None:
        return ""
    if value >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:#.{digits}g}"


def times(value: float | None) -> str:
    """Write a ratio."""
    return "" if value is None else f"{value:.2f}"


def milliseconds(ns: float | None) -> str:
    """Write a time in milliseconds."""
    return number(None if ns is None else ns / 1e6)


def microseconds(ns: float | None) -> str:
    """Write a time in microseconds."""
    return number(None if ns is None else ns / 1e3)


def size(count: float | None) -> str:
    """Write bytes in the largest binary unit that they fill."""
    if count is None:
        return ""
    for unit in ["B", "KiB", "MiB"]:
        if count < 1024:
            return f"{number(count)} {unit}"
        count /= 1024
    return f"{number(count)} GiB"


def power(n: int) -> str:
    """Write a power of two."""
    return f"2^{n.bit_length() - 1}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
