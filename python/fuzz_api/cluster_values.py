"""Items and results of `noren.cluster` as bytes: values that travel, and bytes of hostile workers for their reader."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from fuzz_api.draw import Rng, chance, one_of
from fuzz_api.program import Call, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import bfv, ckks, programs, tfhe
from noren.cluster import ClusterError
from noren.cluster._digest import packed, refusal, unpacked
from noren.cluster._values import MOST_DEPTH
from noren.cluster._work import Head

pandas: Any
try:
    import pandas
except ImportError:
    pandas = None

T = TypeVar("T")


@dataclasses.dataclass
class Plain:
    """A dataclass."""

    a: Any
    b: Any = None


@dataclasses.dataclass
class Other:
    """One with the same fields."""

    a: Any
    b: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    """One without a dict, which cannot be changed."""

    a: Any
    b: Any = None


@dataclasses.dataclass(frozen=True)
class Derived(Slotted):
    """One with slots of its base, and a dict; its construction would be seen."""

    c: Any = None

    def __post_init__(self) -> None:
        RAN.append("__post_init__")

    def __setstate__(self, state: object) -> None:
        RAN.append("__setstate__")


@dataclasses.dataclass
class Holder(Generic[T]):
    """One with a parameter, and a field that is computed when it is set."""

    a: T

    def __setattr__(self, name: str, x: object) -> None:
        RAN.append("__setattr__")
        object.__setattr__(self, name, x)


RAN: list[str] = []
"""What the methods of dataclasses leave here when they run."""
DTYPES = ("?", "<i1", ">i4", "<u8", "<f2", "<f8", "<c8", "<M8[ns]", "<m8[s]", "<U3", "|S4", "|V3", "<f16")
STRUCTURED = np.dtype([("x", "<i4"), ("y", "<f8", (2,)), (("title", "z"), [("w", "<u1")])])


@functools.cache
def objects() -> list[Any]:
    """Return objects of noren of every scheme that travel."""
    real = ckks.Context(ckks.Parameters(log_n=5, log_q=[50], log_p=[50], security=None), threads=1)
    keys = real.keygen(seed=bytes(32))
    whole = bfv.Context(bfv.Parameters(5, 193, [50], [50], security=None), threads=1)
    own = whole.keygen(seed=bytes(32))
    bits = tfhe.Context(tfhe.Parameters("TOY_2_2"), threads=1)
    mine = bits.keygen(seed=bytes(32))
    return [
        *(real, real.parameters, keys.public, real.encrypt([1.0, 2.0], keys.public), real.encode([1.0])),
        *(whole, whole.parameters, own.public, whole.encrypt(np.arange(3), own.public)),
        *(bits, bits.parameters, bits.encrypt(np.array([1, 2]), mine.secret), programs.Program("mean")),
    ]


def scalar(rng: Rng) -> Any:
    """Return a value without parts."""
    return one_of(
        rng,
        *(None, True, False, 0, -1, int(rng.integers(-99, 99)), 2 ** int(rng.integers(0, 200)), -(2**63), 2**64 - 1),
        *(0.0, -0.0, float(rng.normal()), float("nan"), float("-inf"), 1e-320, complex(rng.normal(), -0.0)),
        *("", "text", "é\ud800\U0001f600", b"", bytes(rng.bytes(3)), range(int(rng.integers(9))), range(9, 0, -2)),
        *(
            np.float64(rng.normal()),
            np.int8(-3),
            np.bool_(True),
            np.str_("ab"),
            np.datetime64("2026-11-26"),
            np.float32(1),
        ),
    )


def key(rng: Rng, depth: int = 2) -> Any:
    """Return a value that can be a key, and is equal to itself."""
    if depth and chance(rng, 0.2):
        parts = [key(rng, depth - 1) for _ in range(int(rng.integers(0, 3)))]
        return frozenset(parts) if chance(rng, 0.3) else tuple(parts)
    return one_of(rng, "a", "b", b"c", 1, 2.5, None, False, 3j, np.int64(7), np.str_("d"), int(rng.integers(99)))


def array(rng: Rng) -> Any:
    """Return an array of a random type, shape and order."""
    shape = tuple(int(n) for n in rng.integers(0, 4, int(rng.integers(0, 4))))
    dtype = STRUCTURED if chance(rng, 0.1) else np.dtype(one_of(rng, *DTYPES))
    if dtype.kind in "MmU" or dtype.names is not None:
        data = np.zeros(shape, dtype)
    elif dtype.kind in "SV":
        data = np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    else:
        data = rng.integers(0, 2, shape).astype(dtype)
    return one_of(rng, data, data.T, np.asfortranarray(data), data[::-1] if shape else data)


def table(rng: Rng) -> Any:
    """Return a table, or a column of one."""
    rows = int(rng.integers(0, 4))
    columns = {
        "x": rng.normal(size=rows),
        3: np.arange(rows, dtype=np.int8),
        "names": ["a", "b", "c"][:rows],
        "mixed": pandas.Series([None, 1, "x"][:rows], dtype=object),
        "when": np.zeros(rows, "<M8[ns]"),
    }
    chosen = {name: columns[name] for name in columns if chance(rng, 0.6)}
    index = one_of(rng, None, pandas.Index([5, 7, 7][:rows], name="n"), pandas.Index(["p", "q", "p"][:rows]))
    found = pandas.DataFrame(chosen, index=pandas.RangeIndex(rows) if index is None else None)
    if index is not None:
        found.index = index
    return found if chance(rng, 0.7) or not chosen else found[next(iter(chosen))]


def value(rng: Rng, depth: int = 3) -> Any:
    """Return a value that travels."""
    if not depth or chance(rng, 0.3):
        return scalar(rng)
    parts = [value(rng, depth - 1) for _ in range(int(rng.integers(0, 4)))]
    if parts and chance(rng, 0.2):
        # The same object twice.
        parts.append(parts[0])
    first = parts[0] if parts else None
    match int(rng.integers(12)):
        case 0 | 1:
            return parts
        case 2 | 3:
            return tuple(parts)
        case 4:
            return {key(rng): each for each in parts}
        case 5:
            return {key(rng) for _ in parts} if chance(rng, 0.5) else frozenset(key(rng) for _ in parts)
        case 6 | 7:
            return array(rng)
        case 8:
            return one_of(rng, *objects())
        case 9:
            return one_of(rng, Plain, Other, Slotted, Derived)(first, parts)
        case 10:
            return Holder(parts)
        case _:
            return table(rng) if pandas is not None else [1.5] * int(rng.integers(9))


def same(x: Any, y: Any) -> bool:
    """Return whether two values are of the same types and contents, bit for bit."""
    kind = type(x)
    if kind is not type(y):
        return False
    if kind in (list, tuple):
        return len(x) == len(y) and all(map(same, x, y))
    if kind is dict:
        return len(x) == len(y) and all(map(same, x, y)) and all(map(same, x.values(), y.values()))
    if kind in (set, frozenset):
        return bool(x == y) and sorted(type(each).__name__ for each in x) == sorted(type(each).__name__ for each in y)
    if kind is np.ndarray:
        return bool(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes())
    if isinstance(x, np.generic):
        return bool(x.dtype == y.dtype and x.tobytes() == y.tobytes())
    if dataclasses.is_dataclass(x):
        names = [each.name for each in dataclasses.fields(x)]
        return all(same(getattr(x, name), getattr(y, name)) for name in names)
    if pandas is not None and kind in (pandas.DataFrame, pandas.Series):
        return bool(x.equals(y)) and repr(x) == repr(y) and list(x.index) == list(y.index)
    if kind.__module__.startswith("noren"):
        return bytes(x) == bytes(y) if hasattr(x, "__bytes__") else repr(x) == repr(y)
    return (kind in (float, complex) and repr(x) == repr(y)) or bool(x == y)


class _Watch:
    """Notes what the interpreter does that reading bytes must not do."""

    EVENTS = ("exec", "compile", "open", "os.", "subprocess.", "socket.", "pickle.find_class", "marshal.", "ctypes.")

    def __init__(self) -> None:
        self.on, self.seen = False, list[str]()
        sys.addaudithook(self._note)

    def _note(self, event: str, _: tuple[Any, ...]) -> None:
        if self.on and event.startswith(self.EVENTS):
            self.seen.append(event)


@functools.cache
def watch() -> _Watch:
    """Return the one watch of this process: a hook stays."""
    if pandas is not None:
        # Its modules are read when they are used first.
        unpacked(packed(pandas.DataFrame({"a": ["b"], "c": [1]})))
    return _Watch()


MEMORY = 64
"""The most bytes that are taken for a byte that is read; a tuple of nothing, or a small number, takes so many."""
BESIDE = 1 << 20


def read(data: bytes, reader: Callable[[bytes], Any] | None = None) -> None:
    """Read bytes of anybody; raise a Finding unless that gives a value that travels, or is refused by name."""
    guard = watch()
    RAN.clear()
    guard.seen.clear()
    tracemalloc.start()
    guard.on = True
    try:
        found = unpacked(data, check_files=False) if reader is None else reader(data)
    except ClusterError:
        found = None
    except Exception as error:
        raise Finding("exception", f"{type(error).__name__}: {error} of {data.hex()}") from error
    finally:
        guard.on = False
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    if guard.seen or RAN:
        raise Finding("ran", f"{guard.seen} {RAN} of {data.hex()}")
    if peak > MEMORY * len(data) + BESIDE:
        raise Finding("memory", f"{peak} bytes for {len(data)} of {data.hex()}")
    # The file of a path is opened when it is sent, and not when it is read.
    with contextlib.suppress(OSError):
        if refusal(packed(found)) is not None:
            raise Finding("accepted", f"{found!r:.300} of {data.hex()}")


def changed(rng: Rng, data: bytes, other: bytes) -> bytes:
    """Return bytes that were changed in a few places."""
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(1, len(found) + 1))
        match int(rng.integers(6)):
            case 0:
                found[at - 1] ^= 1 << int(rng.integers(8))
            case 1:
                del found[at : at + int(rng.integers(1, 20))]
            case 2:
                found[at:at] = rng.bytes(int(rng.integers(1, 9)))
            case 3:
                start = int(rng.integers(len(other)))
                found[at:at] = other[start : start + int(rng.integers(1, 60))]
            case 4:
                # A length, or a number of parts.
                found[at : at + 8] = int(one_of(rng, 0, 1, 2**31, 2**40, 2**63, 2**64 - 1)).to_bytes(8, "little")
            case _:
                found[at : at + 1] = one_of(rng, *(bytes([tag]) for tag in b"NTFifcsbrgpltLUdSZaoDPRkz("))
        if not found:
            return b"\0"
    return bytes(found)


class Reply:
    """What a pickle of it would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (RAN.append, ("__reduce__",))


def round_trip(w: Any, rng: Rng) -> Call:
    x = value(rng, 4)

    def run() -> None:
        data = packed(x)
        if (why := refusal(data)) is not None:
            raise Finding("refused", why)
        RAN.clear()
        found = unpacked(data)
        if not same(found, x) or RAN:
            raise Finding("wrong", f"{found!r:.300}, true {x!r:.300}, ran {RAN}")
        if packed(x) != data or packed(found) != data:
            raise Finding("wrong", f"other bytes for {x!r:.300}")

    return Call(f"unpacked(packed({x!r:.80}))", run, None, check=lambda found, truth: 0.0, keep=False)


def classes(w: Any, rng: Rng) -> Call:
    first, second = value(rng, 1), value(rng, 1)

    def run() -> None:
        kinds = (Plain, Other, Slotted)
        if len({packed(kind(first, second)) for kind in kinds} | {packed((first, second))}) != len(kinds) + 1:
            raise Finding("wrong", "objects of two classes have the same bytes")

    return Call(f"classes of {first!r:.60}", run, None, check=lambda found, truth: 0.0, keep=False)


def hostile(w: Any, rng: Rng) -> Call:
    one, other = packed(value(rng, 3)), packed(value(rng, 3))
    pickled = pickle.dumps(one_of(rng, Reply(), [Reply()], {"a": Reply()}), protocol=int(rng.integers(6)))
    kept = Head(error="builtins.ValueError", message="no", traceback="no").bytes()
    few = 20

    def run() -> None:
        for _ in range(few):
            read(changed(rng, one, other))
        for data in (pickled, b"\0" + pickled, b"\1" + pickled, other[:1] + pickled, rng.bytes(int(rng.integers(99)))):
            read(data)
        deep = b"\0" + b"l\1\0\0\0\0\0\0\0" * int(rng.integers(MOST_DEPTH + 1, 5000)) + b"N"
        read(deep)
        read(changed(rng, kept, one), lambda data: dataclasses.astuple(Head.of(data)))
        path = b"\0p" + packed(f"{os.sep}dev{os.sep}stdin")[1:] + packed(bytes(32))[1:]
        read(path)

    return Call(f"{few} changes of {one[:30]!r}", run, None, check=lambda found, truth: 0.0, keep=False)


def unfit(w: Any, rng: Rng) -> Call:
    """What does not travel is refused before it is sent, wherever it lies."""
    bad = one_of(rng, lambda: 0, Reply(), iter([1]), object(), type, sys, {Plain(1).__class__: 1}, np.array([None]))
    inside = one_of(rng, bad, [bad], (1, bad), {"a": bad}, Plain(bad), {"a": [Slotted(bad)]})

    def run() -> None:
        raise_if = refusal(packed(inside))
        if raise_if is None:
            return
        raise ClusterError(raise_if)

    return Call(f"packed({inside!r:.80})", run, REFUSE, keep=False)


VERBS = [
    Verb("round trip", round_trip, weight=3),
    Verb("classes", classes, weight=0.5),
    Verb("hostile bytes", hostile, weight=3, disturbed=False),
    Verb("what does not travel", unfit, weight=1, mistake=True),
]
