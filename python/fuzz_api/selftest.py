"""A library that is wrong on purpose: what the fuzzer must find."""

from __future__ import annotations

import ctypes
import time
from typing import Any

from fuzz_api.draw import Rng
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding

KINDS = ("wrong", "accepted", "exception", "silent", "crash", "hang")
"""The kind of what goes wrong, by the seed of the case."""


class PanicError(BaseException):
    """As a panic of the extension module looks."""


class World:
    """Numbers in clear; the seed says what goes wrong."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.text = ["# numbers in clear"]

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Compare."""
        if value != truth:
            raise Finding("wrong", f"{value}, true {truth}")
        return 0.0


def number(w: World, rng: Rng) -> Call:
    value = int(rng.integers(100))
    return Call(f"{value}", lambda: value, value)


def right(w: World, rng: Rng, x: Item) -> Call:
    return Call("x + 1", lambda: x.value + 1, x.truth + 1)


def failing(kind: str) -> Any:
    def make(w: World, rng: Rng, x: Item) -> Call:
        def panic() -> None:
            raise PanicError("index out of bounds")

        def silent() -> None:
            raise ValueError

        match kind:
            case "wrong":
                return Call("x + 2", lambda: x.value + 2, x.truth + 1)
            case "accepted":
                return Call("a mistake", lambda: x.value, REFUSE)
            case "exception":
                return Call("a panic", panic, x.truth)
            case "silent":
                return Call("an error without words", silent, x.truth)
            case "crash":
                return Call("a segmentation fault", lambda: ctypes.string_at(0), x.truth)
            case _:
                return Call("no end", lambda: time.sleep(1e6), x.truth)

    return make


def verbs(kind: str) -> list[Verb]:
    """Return right verbs, and one that is not."""
    return [Verb("number", number), Verb("right", right, ("ciphertext",)), Verb(kind, failing(kind), ("ciphertext",))]
