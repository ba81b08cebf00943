"""Times and sizes with their units."""

from __future__ import annotations


def time(seconds: float) -> str:
    """Return a time with its unit."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def size(count: int) -> str:
    """Return a number of bytes with its unit."""
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.3g} {unit}"
