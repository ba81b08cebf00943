"""What goes wrong on a cluster."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import noren
from noren._noren import Error


class ClusterError(Error):
    """A cluster that cannot run a job: different versions, missing keys, no room, tasks that are too large."""


class ResultError(ClusterError):
    """A result, or a file of one, that is damaged, of another task, or not to be trusted."""


class KindError(ClusterError):
    """An item or a result of a kind that does not travel."""


@dataclass(frozen=True)
class Failure:
    """A task that raised an error, or that ended its process each time it was tried."""

    index: int | None
    """Position of its item in the job; None for a step of a reduction."""
    digest: str
    """Digest of the task, which names its inputs; empty for a step of a reduction without a directory of results."""
    inputs: object
    """The item itself; None for a step of a reduction."""
    error: str
    """Class and message of the error."""
    traceback: str
    """Where it was raised, in the worker."""
    node: str
    """The node, where it is known."""
    cause: Exception | None = None
    """The error itself if it is one of noren's or of Python's; of an error of a worker, one with the same message."""

    def __str__(self) -> str:
        """Return one line."""
        where = f" on node {self.node}" if self.node else ""
        what = "a step of the reduction" if self.index is None else f"item {self.index}"
        task = f" (task {self.digest[:16]})" if self.digest else ""
        return f"{what}{task}{where}: {self.error}"


class JobError(ClusterError):
    """A job some of whose tasks failed, too many of them or of a reduction; results in a directory are kept."""

    failures: list[Failure]
    """The tasks that failed."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        """Say how many tasks failed, and which was the first."""
        self.failures = sorted(failures, key=lambda failure: (failure.index is None, failure.index or 0))
        first = f"; the first: {self.failures[0]}" if self.failures else ""
        super().__init__(f"{len(self.failures)} tasks failed{first}. `failures` has all, with their inputs")

    def __reduce__(self) -> tuple[type[JobError], tuple[Any]]:
        """Pickle the failures."""
        return JobError, (self.failures,)


class TaskError(JobError):
    """A result that could not be made, raised in its place; its cause is the error of the task, if known here."""

    failure: Failure
    """The task that failed."""

    def __init__(self, failure: Failure) -> None:
        """Say which task failed, and why."""
        super().__init__([failure])
        self.failure = failure
        self.args = (f"{failure}. `failure` has its item, and where the error was raised",)
        self.__cause__ = failure.cause

    def __reduce__(self) -> tuple[type[JobError], tuple[Any]]:
        """Pickle the failure."""
        return TaskError, (self.failure,)


MADE_OF_TEXT = {
    "builtins": (
        *(
            "ArithmeticError",
            "AssertionError",
            "AttributeError",
            "BufferError",
            "EOFError",
            "Exception",
            "FileExistsError",
        ),
        *("FileNotFoundError", "FloatingPointError", "ImportError", "IndexError", "IsADirectoryError", "KeyError"),
        *(
            "LookupError",
            "MemoryError",
            "ModuleNotFoundError",
            "NameError",
            "NotADirectoryError",
            "NotImplementedError",
        ),
        *("OSError", "OverflowError", "PermissionError", "RecursionError", "RuntimeError", "TimeoutError", "TypeError"),
        *("UnboundLocalError", "ValueError", "ZeroDivisionError"),
    ),
    "noren": (
        *("EncodingError", "Error", "InsecureError", "KeyMismatchError", "LevelError", "MissingKeyError"),
        *("ParameterMismatchError", "RangeError", "ScaleError", "SignatureError", "WireError"),
    ),
}
"""The errors of tasks that are made again from their names and messages."""
ERRORS = {f"{m.__name__}.{name}": getattr(m, name) for m in (builtins, noren) for name in MADE_OF_TEXT[m.__name__]}
ERRORS |= {f"{kind.__module__}.{kind.__qualname__}": kind for kind in (ClusterError, ResultError, KindError)}


def error_of(name: str, message: str) -> Exception | None:
    """Return an error of a worker by the name of its class; None for one of another class."""
    kind = ERRORS.get(name)
    found: Exception | None = None if kind is None else kind(message)
    return found


def named(error: BaseException) -> str:
    """Return the name of the class of an error, by which `error_of` finds it."""
    return f"{type(error).__module__}.{type(error).__qualname__}"


def shown(name: str, message: str) -> str:
    """Return the name of a class and a message as one text."""
    return f"{name.removeprefix('builtins.').removeprefix('noren.cluster._errors.')}: {message}"
