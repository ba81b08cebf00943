"""Digests of bytes, and of files: equal digests have equal contents."""

from __future__ import annotations

import hashlib
from pathlib import Path

from noren._noren import header_of


def digest_of(*parts: bytes) -> str:
    """Return the SHA-256 of parts, each with its length before it."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


def digest_of_file(path: Path) -> bytes:
    """Return what the contents of a file follow from: of a container its header, which has a digest; else the SHA-256.

    That the contents of a container are those of its header is checked when it is read.

    Raises OSError for what is no file of a known length, as a pipe or a device.
    """
    found = header_of(path)
    if found is not None:
        return found[0]
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
