"""What travels between the strategy and the parties, in records of Flower.

Each message has a `ConfigRecord` of fields; bytes of any length are arrays of an `ArrayRecord`, which Flower sends in
chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from noren._noren import EncodingError, WireError

T = TypeVar("T", str, int, float)
R = TypeVar("R")

FIELDS = "noren"
"""The key of the `ConfigRecord` of a message between the strategy and a party."""
DATA = "noren-data"
"""The key of its `ArrayRecord`."""


class Step(StrEnum):
    """What the strategy asks of a party."""

    JOIN = "join"
    """Take part in a session; the data is the session. The party returns its first message."""
    KEYS = "keys"
    """The data are the messages of all parties in a round; the party returns its next one, if there is one."""
    UPDATE = "update"
    """Train, and return how the weights changed, encrypted."""
    OPEN = "open"
    """The data are the ciphertexts of a sum; the party returns its share."""


def records(fields: dict[str, Any], data: Iterable[bytes]) -> RecordDict:
    """Return the content of a message."""
    parts = {str(at): Array(np.frombuffer(part, np.uint8)) for at, part in enumerate(data)}
    return RecordDict({FIELDS: ConfigRecord(fields), DATA: ArrayRecord(parts)})


def field(content: RecordDict, name: str, kind: type[T]) -> T:
    """Return a field of a message. Raises `noren.WireError` for one that is missing or of another type."""
    value = _field(content, name)
    if not isinstance(value, kind):
        raise WireError(f"the field {name!r} of a message is {type(value).__name__}; needed is {kind.__name__}")
    return value


def names(content: RecordDict, name: str) -> list[str]:
    """Return a field of names. Raises `noren.WireError` for another one."""
    value = _field(content, name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise WireError(f"the field {name!r} of a message is {value!r}; needed are names")
    return value


def data(content: RecordDict) -> list[bytes]:
    """Return the bytes of a message. Raises `noren.WireError` for other arrays."""
    arrays = content.array_records.get(DATA)
    try:
        parts = [] if arrays is None else [arrays[str(at)].numpy() for at in range(len(arrays))]
    except (KeyError, TypeError, ValueError) as error:
        raise WireError(f"the data of a message cannot be read: {error}") from error
    if any(part.dtype != np.uint8 for part in parts):
        raise WireError("the data of a message are arrays of numbers; needed are bytes")
    return [part.tobytes() for part in parts]


def only(found: Mapping[str, R], what: str) -> tuple[str, R]:
    """Return the key and the record of the only one of a kind. Raises `noren.EncodingError` for others."""
    if len(found) != 1:
        raise EncodingError(f"a message has {len(found)} records of {what}, {sorted(found)}; needed is one")
    return next(iter(found.items()))


def weight(content: RecordDict, key: str) -> int:
    """Return the weight that the metrics of an update have. Raises `noren.EncodingError` for one that is not whole."""
    _, metrics = only(content.metric_records, "metrics")
    value = metrics.get(key)
    if not isinstance(value, int | float) or not float(value).is_integer():
        raise EncodingError(f"the metric {key!r} of an update is {value!r}; needed is a whole number, its weight")
    return int(value)


def change(before: ArrayRecord, after: ArrayRecord) -> np.ndarray:
    """Return how weights changed, one array after the other.

    Raises `noren.EncodingError` for other arrays than there were before.
    """
    if list(before) != list(after):
        raise EncodingError(f"training returned the arrays {list(after)}; it got {list(before)}")
    parts = []
    for name, old, new in zip(before, before.to_numpy_ndarrays(), after.to_numpy_ndarrays(), strict=True):
        if old.shape != new.shape:
            raise EncodingError(f"training returned {name!r} of shape {new.shape}; it got {old.shape}")
        parts.append((new.astype(np.float64) - old.astype(np.float64)).ravel())
    return np.concatenate(parts)


def changed(before: ArrayRecord, change: np.ndarray) -> ArrayRecord:
    """Return weights after a change; arrays keep their types, and those of integers are rounded."""
    arrays: dict[str, Any] = {}
    at = 0
    for name, old in zip(before, before.to_numpy_ndarrays(), strict=True):
        new = old.astype(np.float64) + change[at : at + old.size].reshape(old.shape)
        arrays[name] = Array(np.asarray((np.rint(new) if old.dtype.kind in "iub" else new).astype(old.dtype)))
        at += old.size
    return ArrayRecord(arrays)


def size(arrays: ArrayRecord) -> int:
    """Return how many numbers weights have."""
    return sum(array.size for array in arrays.to_numpy_ndarrays())


def _field(content: RecordDict, name: str) -> Any:  # noqa: ANN401 - what came, of any type
    fields = content.config_records.get(FIELDS)
    return None if fields is None else fields.get(name)
