"""Changes of files: bits, bytes, words, ends, sections, numbers in texts, and splices of two files."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from fuzz_api.container import ENTRY, HEADER, Section, build, is_container, sections, with_length
from fuzz_api.draw import Rng, chance, one_of

Change = Callable[[Rng, bytes, bytes], bytes]

BYTES = (0, 1, 0x7F, 0x80, 0xFE, 0xFF)
WORDS = (0, 1, 2, 3, 2**16, 2**31, 2**32, 2**32 - 1, 2**40, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    1e-300,
    1e300,
    1.7976931348623157e308,
    float("inf"),
    float("-inf"),
    float("nan"),
)
NUMBERS = ("0", "-1", "1", "1e308", "1e999", "-1e-320", "4294967296", "18446744073709551615", "99999999999999999999")
TOKENS = ("null", "true", '""', "[]", "{}", "[[]]", "NaN", "1e5", '"a"')
SMALL = 4096
"""Bytes of sections that describe an object; larger ones are polynomials and bodies."""


def flip_bits(rng: Rng, data: bytes, _other: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(int(one_of(rng, 1, 1, 2, 8))):
        found[position(rng, data)] ^= 1 << int(rng.integers(8))
    return bytes(found)


def overwrite_bytes(rng: Rng, data: bytes, _other: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(int(one_of(rng, 1, 1, 4))):
        found[position(rng, data)] = int(one_of(rng, *BYTES))
    return bytes(found)


def overwrite_word(rng: Rng, data: bytes, _other: bytes) -> bytes:
    """Change a number of 8 or 4 bytes a little, or altogether."""
    size = int(one_of(rng, 8, 8, 8, 4))
    at = position(rng, data) // size * size
    old = int.from_bytes(data[at : at + size], "little")
    values = [*WORDS, old + 1, old - 1, old * 2, old // 2, old + 64, old << 32, old ^ 1 << 63]
    if chance(rng, 0.2):
        values = [int.from_bytes(struct.pack("<d", number), "little") for number in FLOATS]
    new = int(values[int(rng.integers(len(values)))]) % 2 ** (8 * size)
    return b"".join((data[:at], new.to_bytes(size, "little"), data[at + size :]))


def position(rng: Rng, data: bytes) -> int:
    """Return where to change: mostly in what describes an object."""
    if not is_container(data) or chance(rng, 0.15):
        return int(rng.integers(len(data)))
    count = int.from_bytes(data[24:28], "little")
    if chance(rng, 0.15):
        return int(one_of(rng, *range(8, 64)))
    if chance(rng, 0.2) and count:
        return HEADER + int(rng.integers(count * ENTRY.size))
    entries = [ENTRY.unpack_from(data, HEADER + i * ENTRY.size) for i in range(count)]
    ends = [(offset, length) for *_, offset, length, _ in entries if 0 < length <= SMALL and offset < len(data)]
    offset, length = ends[int(rng.integers(len(ends)))] if ends else (0, len(data))
    return min(int(offset + rng.integers(length)), len(data) - 1)


def truncate(rng: Rng, data: bytes, _other: bytes) -> bytes:
    end = int(one_of(rng, int(rng.integers(len(data))), len(data) - 1, len(data) - 64, len(data) // 2, 95, 96, 0))
    return resized(rng, data[: max(0, end)])


def extend(rng: Rng, data: bytes, other: bytes) -> bytes:
    more: bytes = one_of(rng, b"\0", bytes(64), bytes(8), bytes([255] * 64), data[:SMALL], other[:SMALL])
    return resized(rng, data + more)


def resized(rng: Rng, data: bytes) -> bytes:
    """Return a container that mostly says its new length."""
    return with_length(data) if is_container(data) and chance(rng, 0.7) else data


def edit_sections(rng: Rng, data: bytes, other: bytes) -> bytes:
    """Remove, repeat, swap, resize and retag sections and whole items."""
    parts = sections(data)
    for _ in range(int(one_of(rng, 1, 1, 2))):
        parts = edited(rng, parts) or parts
    return build(data, parts)


def edited(rng: Rng, parts: list[Section]) -> list[Section]:
    """Return the sections after one change."""
    at, to = int(rng.integers(len(parts))), int(rng.integers(len(parts)))
    one, item = parts[at], parts[at].item
    size = len(one.data)
    cuts = (one.data[:-8], one.data[: size // 2], b"", one.data + bytes(8), one.data * 2, one.data + one.data[-8:])
    changes: list[Callable[[], list[Section]]] = [
        lambda: parts[:at] + parts[at + 1 :],
        lambda: parts[: at + 1] + parts[at:],
        lambda: [part for part in parts if part.item < item] + [part.moved(-1) for part in parts if part.item > item],
        lambda: [part for part in parts if part.item <= item] + [part.moved(1) for part in parts if part.item >= item],
        lambda: swapped(parts, at, to),
        lambda: [*parts[:at], parts[at].with_data(parts[to].data), *parts[at + 1 :]],
        lambda: [*parts[:at], one.with_data(cuts[int(rng.integers(len(cuts)))]), *parts[at + 1 :]],
        lambda: [*parts[:at], retagged(rng, one), *parts[at + 1 :]],
        lambda: [part for part in parts if part.item < max(1, item)],
    ]
    return changes[int(rng.integers(len(changes)))]()


def swapped(parts: list[Section], at: int, to: int) -> list[Section]:
    """Return the sections with the contents of two exchanged."""
    found = list(parts)
    found[at], found[to] = parts[at].with_data(parts[to].data), parts[to].with_data(parts[at].data)
    return found


def retagged(rng: Rng, part: Section) -> Section:
    """Return the section under another name, or of another encoding."""
    return Section(
        int(one_of(rng, part.item, part.item, part.item + 1, 2**20, 2**32 - 1)) % 2**32,
        int(one_of(rng, part.tag, part.tag, part.tag + 1, part.tag - 1)) % 2**16,
        int(one_of(rng, part.encoding, 0, 1, 2, 3, 4, 5)),
        int(one_of(rng, part.detail, 0, 1, 2, 8, part.detail + 2**32, part.detail + 1, 2**63)) % 2**64,
        part.data,
    )


def splice(rng: Rng, data: bytes, other: bytes) -> bytes:
    """Join two files: at any byte, or section by section."""
    if not (is_container(data) and is_container(other)) or chance(rng, 0.2):
        at = int(rng.integers(len(data)))
        return resized(rng, data[:at] + other[int(rng.integers(len(other))) :])
    mine, theirs = sections(data), sections(other)
    draw = float(rng.random())
    if draw < 0.4:
        # The contents of one section.
        at = int(rng.integers(len(mine)))
        same = [part for part in theirs if (part.item, part.tag) == (mine[at].item, mine[at].tag)]
        part = same[0] if same and chance(rng, 0.7) else theirs[int(rng.integers(len(theirs)))]
        new = Section(mine[at].item, mine[at].tag, part.encoding, part.detail, part.data)
        return build(data, [*mine[:at], new, *mine[at + 1 :]])
    if draw < 0.7:
        # The first items, with the fingerprint: parameters of one file, keys of the other.
        cut = int(one_of(rng, 1, 1, 2))
        parts = [part for part in theirs if part.item < cut] + [part for part in mine if part.item >= cut]
        return build(data[:32] + other[32:64] + data[64:HEADER], parts)
    if draw < 0.85:
        # All sections under the kind of the other file.
        return data[:10] + other[10:12] + data[12:]
    last = max(part.item for part in mine)
    return build(data, mine + [part.moved(last + 1) for part in theirs])


def edit_text(rng: Rng, data: bytes, other: bytes) -> bytes:
    """Change a number, a name or a token of a text, or of the texts in a container."""
    if is_container(data):
        parts = sections(data)
        texts = [at for at, part in enumerate(parts) if part.data.startswith(b"{")]
        if not texts:
            return overwrite_word(rng, data, other)
        at = texts[int(rng.integers(len(texts)))]
        return build(data, [*parts[:at], parts[at].with_data(changed_text(rng, parts[at].data)), *parts[at + 1 :]])
    return changed_text(rng, data)


def changed_text(rng: Rng, data: bytes) -> bytes:
    """Return a text with one of its tokens changed, removed or repeated."""
    tokens = list(re.finditer(rb'-?[0-9][0-9.e+-]*|"[^"]*"|[\[\]{},:\n]', data))
    if not tokens:
        return data + b"0"
    token = tokens[int(rng.integers(len(tokens)))]
    old = token.group()
    number = old[:1].isdigit() or old[:1] == b"-"
    news: tuple[bytes, ...] = (b"", old * 2, *(text.encode() for text in (NUMBERS if number else TOKENS)))
    return data[: token.start()] + news[int(rng.integers(len(news)))] + data[token.end() :]


CHANGES: dict[str, tuple[float, Change]] = {
    "bits": (2, flip_bits),
    "bytes": (1, overwrite_bytes),
    "word": (4, overwrite_word),
    "shorter": (1, truncate),
    "longer": (1, extend),
    "sections": (3, edit_sections),
    "splice": (3, splice),
    "text": (2, edit_text),
}


def mutate(rng: Rng, data: bytes, other: bytes) -> tuple[str, bytes]:
    """Return the name of a change, and the changed file."""
    names = [name for name in CHANGES if is_container(data) or name != "sections"]
    if not is_container(data):
        names += ["text"] * 2
    weights = [CHANGES[name][0] for name in names]
    name = names[int(rng.choice(len(names), p=[w / sum(weights) for w in weights]))]
    changed = CHANGES[name][1](rng, data, other)
    if chance(rng, 0.15) and len(changed) > HEADER:
        changed = overwrite_word(rng, changed, other) if not is_broken(changed) else changed
    return name, changed


def is_broken(data: bytes) -> bool:
    """Say whether a container has lost its table of contents."""
    return is_container(data) and len(data) < HEADER + ENTRY.size * int.from_bytes(data[24:28], "little")
