"""Operators and methods with a clear operand on either side, and items with or without an evaluator of their own."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz_api.draw import Rng, chance, one_of

OPERATIONS: dict[str, Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul}

# A spelling of each operation: which side the clear operand is on, and whether a method of the evaluator is called.
SPELLINGS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x + {}": lambda ev, x, c: x + c,
    "x - {}": lambda ev, x, c: x - c,
    "x * {}": lambda ev, x, c: x * c,
    "{} + x": lambda ev, x, c: c + x,
    "{} - x": lambda ev, x, c: c - x,
    "{} * x": lambda ev, x, c: c * x,
    "np.add({}, x)": lambda ev, x, c: np.add(c, x),
    "np.multiply(x, {})": lambda ev, x, c: np.multiply(x, c),
    "ev.add(x, {})": lambda ev, x, c: ev.add(x, c),
    "ev.sub(x, {})": lambda ev, x, c: ev.sub(x, c),
    "ev.mul(x, {})": lambda ev, x, c: ev.mul(x, c),
}
MEANINGS = {
    "x + {}": "+",
    "x - {}": "-",
    "x * {}": "*",
    "{} + x": "+",
    "{} * x": "*",
    "np.add({}, x)": "+",
    "np.multiply(x, {})": "*",
    "ev.add(x, {})": "+",
    "ev.sub(x, {})": "-",
    "ev.mul(x, {})": "*",
}


def with_clear(rng: Rng, ev: Any, x: Any, clear: Any) -> tuple[str, Callable[[], Any], Callable[[Any, Any], Any]]:
    """Return how a call is spelled, the call, and what it means for a value of x and one of the clear operand."""
    spelling = one_of(rng, *SPELLINGS)
    work = SPELLINGS[spelling]
    if spelling == "{} - x":
        return spelling, lambda: work(ev, x, clear), lambda a, b: b - a
    return spelling, lambda: work(ev, x, clear), OPERATIONS[MEANINGS[spelling]]


def held(w: Any, rng: Rng, value: Any) -> Any:
    """Return the value bound to the evaluator of the world, or as it is: its operators then look for one."""
    return w.ev.bind(value) if chance(rng, 0.5) else value


def is_one_number(x: Any) -> bool:
    """Return whether an encrypted vector is one number in all slots, which meets vectors of any length."""
    return getattr(x, "shape", None) == (1,) and getattr(x, "period", None) == 1
