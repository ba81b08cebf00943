"""Containers of the wire format as sections that can be changed; a second implementation of `docs/wire.md`."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from blake3 import blake3

SIGNATURE = b"\x89NOREN\r\n"
HEADER, ENTRY, DIGEST = 96, struct.Struct("<IHHQQQ"), slice(64, 96)


@dataclass(frozen=True)
class Section:
    """An entry of the table of contents, and what it points to."""

    item: int
    tag: int
    encoding: int
    detail: int
    data: bytes

    def with_data(self, data: bytes) -> Section:
        """Return the same entry with other contents."""
        return replace(self, data=data)

    def moved(self, by: int) -> Section:
        """Return the same section of a later item."""
        return replace(self, item=(self.item + by) % 2**32)


def is_container(data: bytes) -> bool:
    """Say whether the bytes begin as a container does."""
    return len(data) >= HEADER and data.startswith(SIGNATURE)


def kind(data: bytes) -> int | None:
    """Return the kind of a container, None for other files."""
    return int.from_bytes(data[10:12], "little") if is_container(data) else None


def sections(data: bytes) -> list[Section]:
    """Return the sections of a container that is right."""
    count = int.from_bytes(data[24:28], "little")
    entries = [ENTRY.unpack_from(data, HEADER + i * ENTRY.size) for i in range(count)]
    return [
        Section(item, tag, encoding, detail, data[offset : offset + length])
        for item, tag, encoding, offset, length, detail in entries
    ]


def build(header: bytes, parts: list[Section]) -> bytes:
    """Return the container of these sections, with the kind and the fingerprint of `header`; the digest is kept."""
    offset = _aligned(HEADER + ENTRY.size * len(parts))
    table, body = b"", b""
    for part in parts:
        table += ENTRY.pack(part.item, part.tag, part.encoding, offset + len(body), len(part.data), part.detail)
        body += part.data.ljust(_aligned(len(part.data)), b"\0")
    total = offset + len(body)
    start = header[:16] + struct.pack("<QII", total, len(parts), 0) + header[32:HEADER]
    return (start + table).ljust(offset, b"\0") + body


def with_length(data: bytes) -> bytes:
    """Return the container with the length that it has."""
    return data[:16] + struct.pack("<Q", len(data)) + data[24:] if len(data) >= HEADER else data


def with_digest(data: bytes) -> bytes:
    """Return the container with the digest of its contents."""
    if len(data) < HEADER:
        return data
    digest = blake3(data[: DIGEST.start])
    digest.update(data[DIGEST.stop :])
    return data[: DIGEST.start] + digest.digest() + data[DIGEST.stop :]


def _aligned(length: int) -> int:
    return -(-length // 64) * 64
