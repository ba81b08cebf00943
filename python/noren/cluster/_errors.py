"""What goes wrong on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noren._noren import Error


class ClusterError(Error):
    """A cluster that cannot run a job: different versions, missing keys, no room, tasks that are too large."""


class ResultError(ClusterError):
    """A file of a result that is damaged, or not to be trusted."""


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

    def __str__(self) -> str:
        """Return one line."""
        where = f" on node {self.node}" if self.node else ""
        what = "a step of the reduction" if self.index is None else f"item {self.index}"
        task = f" (task {self.digest[:16]})" if self.digest else ""
        return f"{what}{task}{where}: {self.error}"


class JobError(ClusterError):
    """A job some of whose tasks failed; all others were run, and their results are kept."""

    failures: list[Failure]
    """The tasks that failed."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        """Say how many tasks failed, and which was the first."""
        self.failures = sorted(failures, key=lambda failure: (failure.index is None, failure.index or 0))
        first = f"; the first: {self.failures[0]}" if self.failures else ""
        super().__init__(f"{len(self.failures)} tasks failed{first}. `failures` has all, with their inputs")

    def __reduce__(self) -> tuple[type[JobError], tuple[list[Failure]]]:
        """Pickle the failures."""
        return JobError, (self.failures,)
