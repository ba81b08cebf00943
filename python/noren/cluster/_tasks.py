"""The tasks of a job on their way: handed in, waited for, counted."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from noren.cluster._digest import KNOWN, Noting, packed, refusal, unpacked
from noren.cluster._errors import ClusterError, Failure, JobError, KindError, named, shown
from noren.cluster._executor import Executor, Options
from noren.cluster._hash import digest_of
from noren.cluster._program import pickled_classes
from noren.cluster._store import ResultStore
from noren.cluster._work import Job


class Key(NamedTuple):
    """The place of a task in a job: its tree, the combinations below it, and its position among those of its level."""

    tree: int
    level: int
    position: int


@dataclass(frozen=True)
class Outcome:
    """A task that has ended well: its digest, and the reference of its result if that is in no file."""

    digest: str
    body: Any | None

    def argument(self) -> Any:
        """Return what a later task is given in order to have the result."""
        return self.digest if self.body is None else self.body


class Shared(NamedTuple):
    """What the tasks of a job are given of it."""

    job: Any
    """What the executor gives a task of it."""
    digest: str


@dataclass(frozen=True)
class _Flying:
    """A task that was handed in."""

    job: str
    key: Key
    digest: str
    body: Any
    item: Any | None
    """Its item as bytes, or the reference of that, for the report if it fails."""
    item_bytes: int


@dataclass
class Measured:
    """What the tasks of items took that have ended well."""

    tasks: int = 0
    seconds: float = 0.0
    """The time of all their programs."""
    squares: float = 0.0
    """The sum of the squares of their seconds."""
    item_bytes: int = 0
    result_bytes: int = 0

    def add(self, seconds: float, item_bytes: int, result_bytes: int) -> None:
        """Count a task."""
        self.tasks += 1
        self.seconds += seconds
        self.squares += seconds**2
        self.item_bytes += item_bytes
        self.result_bytes += result_bytes


class Tasks:
    """Tasks that were handed in."""

    def __init__(
        self,
        executor: Executor,
        options: Options,
        results: Path | None,
        progress: Callable[[int, int], object] | None,
        total: int | None,
    ) -> None:
        """Take the directory of results, which all nodes see, and the number of items if it is known."""
        self.executor, self.options = executor, options
        self.store = ResultStore(results) if results is not None else None
        self.failures: list[Failure] = []
        self.found = 0
        """Tasks whose results were there."""
        self.measured = Measured()
        self._progress = progress
        self._classes: dict[bytes, type] = {}
        self._pickled = b""
        self._flying: dict[Any, _Flying] = {}
        self._done = 0
        self._known = 0
        self._total = total

    def __len__(self) -> int:
        """Tasks that were handed in and have not ended."""
        return len(self._flying)

    def share(self, job: Job, classes: Iterable[type]) -> Shared:
        """Put what the tasks of a job share where all nodes get it; `classes` are the dataclasses of its program."""
        self._take_along(KNOWN.add(classes))
        return Shared(self.executor.share(job), job.digest)

    def pack(self, item: object) -> bytes:
        """Return an item as bytes.

        Raises `KindError` for what does not travel, OSError for the path of a file that cannot be read.
        """
        met = Noting(KNOWN)
        contents = packed(item, met)
        if (why := refusal(contents)) is not None:
            raise KindError(why)
        self._take_along((digest, kind) for kind, digest in met.written.items())
        return contents

    def _take_along(self, classes: Iterable[tuple[bytes, type]]) -> None:
        """Have tasks know dataclasses: of items and programs, which results may have in every later task."""
        found = {**self._classes, **dict(classes)}
        if found.keys() != self._classes.keys():
            self._classes, self._pickled = found, pickled_classes(sorted(found.items()))

    def digest(self, shared: Shared, *inputs: bytes) -> str:
        """Return the digest of a task; nothing where no result is looked up by it."""
        return "" if self.store is None else digest_of(shared.digest.encode(), *inputs)

    def find(self, digest: str) -> Outcome | None:
        """Return the outcome of a task whose result lies in a file."""
        if self.store is None or not self.store.has(digest):
            return None
        self.found += 1
        self._count(known=1, done=1)
        return Outcome(digest, None)

    def submit(self, shared: Shared, key: Key, digest: str, item: bytes) -> None:
        """Hand in an item."""
        contents = item if len(item) <= self.options.inline else self.executor.put(item)
        self._start(shared, _Flying(shared.digest, key, digest, None, contents, len(item)), False, [contents])

    def combine(self, shared: Shared, key: Key, digest: str, parts: list[Outcome]) -> None:
        """Hand in results to be combined."""
        self._start(
            shared, _Flying(shared.digest, key, digest, None, None, 0), True, [part.argument() for part in parts]
        )

    def _start(self, shared: Shared, task: _Flying, combine: bool, inputs: list[Any]) -> None:
        head, body = self.executor.start(shared.job, self._pickled, task.digest, combine, inputs)
        self._flying[head] = replace(task, body=body)
        self._count(known=1, done=0)

    def wait(self) -> list[tuple[Key, Outcome | Failure]]:
        """Wait until a task ends, and return all that have ended.

        Raises `ClusterError` for what would end every other task too.
        """
        return [self._ended(reference) for reference in self.executor.wait(list(self._flying))]

    def _ended(self, reference: Any) -> tuple[Key, Outcome | Failure]:
        task = self._flying.pop(reference)
        head = self.executor.head(reference)
        self._count(known=0, done=1)
        if head.fatal:
            raise ClusterError(f"on node {head.node}: {head.text}")
        if not head.error:
            if task.key.level == 0:
                self.measured.add(head.seconds, task.item_bytes, head.nbytes)
            return task.key, Outcome(task.digest, None if head.stored else task.body)
        index = task.key.position if task.key.level == 0 else None
        inputs, digest = None, task.digest
        if task.item is not None:
            # An item that cannot be read here either is told by the error of its task.
            with contextlib.suppress(Exception):
                item = task.item if isinstance(task.item, bytes) else self.executor.contents(task.item)
                digest = digest or digest_of(task.job.encode(), item)
                inputs = unpacked(item, check_files=False)
        return task.key, self.fail(Failure(index, digest, inputs, head.text, head.traceback, head.node, head.cause))

    def fail(self, failure: Failure) -> Failure:
        """Keep a failure."""
        self.failures.append(failure)
        return failure

    def check_failures(self) -> None:
        """Raise `JobError` if there are too many failures: once they, and results before them, have their places."""
        if len(self.failures) > self.options.max_failures:
            raise JobError(self.failures)

    def refuse(self, index: int, item: object, error: Exception, digest: str = "") -> Failure:
        """Keep the failure of an item that could not be sent, or of a result that could not be read."""
        trace = "".join(traceback.format_exception(error))
        text = shown(named(error), str(error))
        return self.fail(Failure(index, digest, item, text, trace, "", error.with_traceback(None)))

    def value(self, outcome: Outcome) -> Any:
        """Return a result; no code of it runs, and no file that it names is opened.

        Raises `ClusterError` for one that is lost or damaged, or that is no value.
        """
        if outcome.body is None:
            assert self.store is not None, "without a directory results are objects"
            contents = self.store.read(outcome.digest)
        else:
            contents = self.executor.contents(outcome.body)
        return unpacked(contents, check_files=False)

    def cancel(self) -> None:
        """Give up the tasks that have not ended."""
        for reference in self._flying:
            self.executor.cancel(reference)
        self._flying.clear()

    def _count(self, *, known: int, done: int) -> None:
        self._known += known
        self._done += done
        if self._progress is not None and done:
            self._progress(self._done, max(self._known, self._total or 0))
