"""Seconds of the steps of a measurement."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Stopwatch:
    """The seconds of calls, by their names."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, what: str, call: Callable[[], T]) -> T:
        """Return what a call returns, and keep its time."""
        start = time.perf_counter()
        result = call()
        self.seconds[what] = time.perf_counter() - start
        return result
