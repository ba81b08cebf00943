"""Random numbers, shapes and things that are no numbers."""

from __future__ import annotations

import datetime
import decimal
import fractions
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
Exact = NDArray[np.clongdouble]


def one_of(rng: Rng, *choices: Any) -> Any:
    """Choose one."""
    return choices[int(rng.integers(len(choices)))]


def chance(rng: Rng, probability: float) -> bool:
    """Return True with this probability."""
    return bool(rng.random() < probability)


def seed_bytes(rng: Rng) -> bytes:
    """Return a seed for keys or encryption."""
    return rng.bytes(32)


def exact(values: Any) -> Exact:
    """Return numbers with as many digits as numpy has, so that sums of the oracle are exact beside any bound."""
    array = np.asarray(values)
    return array.astype(np.clongdouble)


def size_of(rng: Rng) -> float:
    """Return the size of numbers: mostly about 1."""
    return float(one_of(rng, 1.0, 1.0, 1.0, 1.0, 0.01, 10.0, 300.0, 1e-6, 2.0**-40, 1e4))


def real_vector(rng: Rng, count: int, size: float | None = None) -> Any:
    """Return real numbers of a random type, as a list or an array."""
    size = size_of(rng) if size is None else size
    values = rng.uniform(-1, 1, count) * size
    match int(rng.integers(12)):
        case 0:
            return np.rint(values * 8).astype(np.int64)
        case 1:
            return values.astype(np.float32)
        case 2:
            return values > 0
        case 3:
            return [float(value) for value in values]
        case 4:
            return np.rint(np.clip(values * 8, -100, 100)).astype(np.int8)
        case 5:
            return np.zeros(count)
        case 6:
            return np.repeat(values, 2)[::2]
        case 7:
            return np.asfortranarray(values)[::-1]
        case 8:
            return np.where(rng.random(count) < 0.5, 0.0, values)
        case _:
            return values


def complex_vector(rng: Rng, count: int, size: float | None = None) -> Any:
    """Return complex numbers."""
    size = size_of(rng) if size is None else size
    values = (rng.uniform(-1, 1, count) + 1j * rng.uniform(-1, 1, count)) * size
    return values.astype(np.complex64) if chance(rng, 0.2) else values


def scalar(rng: Rng, *, allow_complex: bool = True) -> Any:
    """Return a number of a random type."""
    value = float(rng.uniform(-3, 3))
    choices: list[Any] = [
        int(rng.integers(-5, 6)),
        int(rng.integers(-5, 6)),
        value,
        value,
        np.float64(value),
        np.float32(value),
        np.int64(rng.integers(-9, 9)),
        np.uint8(rng.integers(0, 9)),
        np.array(value),
        np.array(int(value)),
        bool(value > 0),
        0,
        1,
        0.0,
        -0.0,
        1e-9,
        2.0**40,
        12345678,
        2**53 + 1,
        fractions.Fraction(1, 4),
    ]
    if allow_complex:
        choices += [complex(value, 0.5), 1j, np.complex64(1 - 2j), 0j]
    return one_of(rng, *choices)


class Opaque:
    """An object that is nothing else."""

    def __repr__(self) -> str:
        return "Opaque()"


def weird(rng: Rng) -> Any:
    """Return something that is mostly no operand."""
    nan, inf = float("nan"), float("inf")
    things: list[Any] = [
        None,
        "text",
        "1",
        b"bytes",
        b"",
        Opaque(),
        Opaque,
        nan,
        inf,
        -inf,
        complex(nan, 0),
        complex(0, inf),
        1e300,
        -1e300,
        1.7e308,
        2**63,
        -(2**63),
        2**64 - 1,
        2**64,
        -(2**200),
        10**400,
        [],
        (),
        [[]],
        [nan],
        [inf, 1.0],
        [None],
        ["a", "b"],
        {},
        {"a": 1},
        {1, 2},
        {1: 2},
        lambda x: x,
        np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        np.ma.masked,
        np.array("2020-01-01", dtype="datetime64[D]"),
        np.array([1, 2], dtype="timedelta64[s]"),
        np.array([1, None], dtype=object),
        np.array([1, 2], dtype=object),
        np.array([2**70, 1], dtype=object),
        np.zeros((2, 2, 2)),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros(3, dtype=[("a", "f8")]),
        np.array(["a"]),
        datetime.date(2020, 1, 1),
        decimal.Decimal("0.5"),
        fractions.Fraction(1, 3),
        range(5),
        iter([1, 2]),
        memoryview(b"abcdefgh"),
        ...,
        slice(3),
        type,
        NotImplemented,
        [1, [2, 3]],
        np.array(nan),
        np.full(4, nan),
        np.float16(0.5),
        np.longdouble(0.5),
    ]
    return one_of(rng, *things)


def shown(value: Any) -> list[str]:
    """Return all texts that an object has for people."""
    texts = [repr(value), str(value)]
    texts += [getattr(value, name)() for name in ("_repr_html_", "explain") if hasattr(value, name)]
    return texts


def all_shown(things: tuple[Any, ...]) -> list[str]:
    """Return all texts of all of these."""
    return [text for thing in things for text in shown(thing)]


def text_of(value: Any) -> str:
    """Return a short text of an argument."""
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {value.shape} {np.array2string(value.ravel()[:4], precision=3, separator=',')}>"
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."
