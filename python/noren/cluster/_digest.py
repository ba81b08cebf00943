"""Digests of items, and of files: equal digests have equal contents."""

from __future__ import annotations

import hashlib
import pickle
from io import BytesIO
from pathlib import Path
from typing import Any

from noren.cluster._errors import ClusterError

CONTAINER = b"\x89NOREN\r\n"
"""How files of noren begin."""
HEADER = 96
"""Bytes of a container before its table of contents, its digest among them."""
BLOCK = 1 << 20
WITHOUT_PATHS, WITH_PATHS = b"\0", b"\1"
"""The first byte of an item."""


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
    """
    with path.open("rb") as file:
        header = file.read(HEADER)
        if header.startswith(CONTAINER) and len(header) == HEADER:
            return header
        state = hashlib.sha256(header)
        while block := file.read(BLOCK):
            state.update(block)
    return state.digest()


def packed(item: object) -> bytes:
    """Return an item as bytes, which `unpacked` reads; of a path they have the digest of the file's contents too."""
    out = BytesIO(WITHOUT_PATHS)
    out.seek(1)
    packer = _Packer(out)
    try:
        packer.dump(item)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"{error}: items and results are numbers, arrays, objects of noren and of other installed modules, paths, "
            "and lists, tuples and dicts of them"
        ) from error
    if packer.has_paths:
        out.seek(0)
        out.write(WITH_PATHS)
    return out.getvalue()


def unpacked(data: Any) -> Any:
    """Return the item of `packed`, which is copied once where it has no paths."""
    contents = memoryview(data)
    if contents[:1] == WITHOUT_PATHS:
        return pickle.loads(contents[1:])
    return _Unpacker(BytesIO(contents[1:])).load()


class _Packer(pickle.Pickler):
    def __init__(self, out: BytesIO) -> None:
        super().__init__(out, protocol=5)
        self.has_paths = False

    def persistent_id(self, obj: object) -> tuple[str, bytes] | None:
        if not isinstance(obj, Path):
            return None
        self.has_paths = True
        # Workers have another working directory.
        path = obj.absolute()
        return str(path), digest_of_file(path)


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, pid: tuple[str, bytes]) -> Path:
        path, digest = Path(pid[0]), pid[1]
        if digest_of_file(path) != digest:
            raise ClusterError(f"{path} has other contents here than at the driver: use files that all nodes share")
        return path
