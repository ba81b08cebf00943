"""Digests of bytes, and of files: equal digests have equal contents."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

CONTAINER = b"\x89NOREN\r\n"
"""How files of noren begin."""
HEADER = 96
"""Bytes of a container before its table of contents, its digest among them."""
BLOCK = 1 << 20


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
    # Opening a pipe would wait for its other end.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is no regular file")
        header = file.read(HEADER)
        if header.startswith(CONTAINER) and len(header) == HEADER:
            return header
        state = hashlib.sha256(header)
        while block := file.read(BLOCK):
            state.update(block)
    return state.digest()
