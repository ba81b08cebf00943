"""What a program says that it returns: what would not travel is refused before anything runs."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from noren.cluster._errors import KindError
from noren.cluster._kinds import NAMES
from noren.cluster._values import KINDS

ADMITTED = (bool, int, float, complex, str, bytes, range, list, tuple, dict, set, frozenset, type(None), np.ndarray)
FRAMES = {"DataFrame", "Series"}


def check_returns(program: Callable[..., Any]) -> None:
    """Refuse a program that says that it returns what does not travel; one that says nothing is asked when it runs.

    Raises `KindError`.
    """
    function = _function(program)
    name = getattr(function, "__qualname__", type(program).__qualname__)
    if any(is_one(function) for is_one in (inspect.isgeneratorfunction, inspect.iscoroutinefunction)):
        raise KindError(
            f"{name} returns a generator or a coroutine, which does not travel: return a list of its values"
        )
    try:
        returned = typing.get_type_hints(function).get("return", Any)
    except Exception:
        # Names that only type checkers know.
        returned = Any
    if not _travels(returned):
        raise KindError(f"{name} says that it returns {returned}, which does not travel: results are {KINDS}")


def _function(program: Any) -> Any:
    """Return the function that a call of a program runs."""
    while isinstance(program, partial):
        program = program.func
    return program if inspect.isroutine(program) or isinstance(program, type) else type(program).__call__


def _travels(kind: Any) -> bool:
    """Return False for types none of whose values travel."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(map(_travels, arguments))
    if origin in (list, tuple, set, frozenset, dict):
        return all(_travels(each) for each in arguments if each is not ...)
    asked = origin if isinstance(origin, type) else kind
    return kind is Any or not isinstance(asked, type) or _is_admitted(asked)


def _is_admitted(kind: Any) -> bool:
    """Return whether a value of a class, or of one derived from it, may travel."""
    if is_dataclass(kind) or issubclass(kind, np.generic | Path) or getattr(kind, "_is_protocol", False):
        return True
    if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in FRAMES:
        return True
    return any(issubclass(each, kind) for each in (*ADMITTED, *NAMES)) or any(map(_is_admitted, _derived(kind)))


def _derived(kind: Any) -> list[type]:
    """Return the classes that are derived from a class."""
    return [] if kind is type else list(kind.__subclasses__())
