"""Items through a program, and results through a tree of combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from noren.cluster._errors import ClusterError, Failure
from noren.cluster._hash import digest_of
from noren.cluster._tasks import Key, Outcome, Shared, Tasks

Event = tuple[Key, Outcome | Failure]
Check = Callable[[object, int], object]
"""Refuses an item, or its bytes, before it is handed in."""


def mapped(
    tasks: Tasks, shared: Shared, items: Iterable[Any], check: Check, held: Callable[[], int]
) -> Iterator[Event]:
    """Run a program on items; give what ends, in that order.

    An item is taken when there is room in the window, beside what is on its way and what the caller holds. Combinations
    that the caller hands in between are given too. What the items raise when they are taken is raised in their place.
    """
    source = enumerate(items)
    more, raised = True, None
    while more or len(tasks):
        while more and len(tasks) + held() < tasks.options.window:
            try:
                index, item = next(source, (-1, None))
            except Exception as error:
                index, item, raised = -1, None, error
            more = index >= 0
            if not more:
                break
            key = Key(0, 0, index)
            contents = _admitted(tasks, index, item, check)
            if isinstance(contents, Failure):
                yield key, contents
                tasks.check_failures()
                continue
            digest = tasks.digest(shared, contents)
            found = tasks.find(digest)
            if found is not None:
                yield key, found
            else:
                tasks.submit(shared, key, digest, contents)
        if len(tasks):
            yield from tasks.wait()
        tasks.check_failures()
    if raised is not None:
        raise raised


def put(tasks: Tasks, items: Iterable[Any], check: Check) -> Iterator[Event]:
    """Give items as they are, to be combined; then what the caller hands in between.

    At most a window of combinations is on its way, so that as many items are held as these combine.
    """
    for index, item in enumerate(items):
        contents = _admitted(tasks, index, item, check)
        if isinstance(contents, Failure):
            yield Key(0, 0, index), contents
            tasks.check_failures()
            continue
        digest = digest_of(contents) if tasks.store is not None else ""
        yield Key(0, 0, index), Outcome(digest, tasks.executor.put(contents))
        while len(tasks) >= tasks.options.window:
            yield from tasks.wait()
            tasks.check_failures()
    while len(tasks):
        yield from tasks.wait()


def _admitted(tasks: Tasks, index: int, item: object, check: Check) -> bytes | Failure:
    """Return an item as bytes; a failure if it cannot be sent: a missing file, an object that does not travel, or one
    of another secret key.
    """
    try:
        contents = tasks.pack(item)
        check(item, len(contents))
    except Exception as error:
        return tasks.refuse(index, item, error)
    return contents


class _Tree:
    """Combines outcomes of neighbours, whose positions alone decide who combines with whom: the bytes of the result do
    not depend on which task ends first.
    """

    def __init__(self, fan_in: int, count: int | None) -> None:
        self._fan_in = fan_in
        self._levels: list[dict[int, Outcome]] = []
        self.count = count

    def _width(self, level: int) -> int | None:
        """How many outcomes a level has, once it is known how many items there are."""
        return None if self.count is None else -(-self.count // self._fan_in**level)

    def add(self, level: int, index: int, outcome: Outcome) -> Iterator[tuple[int, int, list[Outcome]]]:
        """Take an outcome; give the groups that are complete with it, as level and position of their results."""
        while len(self._levels) <= level:
            self._levels.append({})
        self._levels[level][index] = outcome
        yield from self._group(level, index // self._fan_in)

    def close(self, count: int) -> Iterator[tuple[int, int, list[Outcome]]]:
        """Learn how many items there are; give the groups at the ends of levels that are complete."""
        self.count = count
        for level in range(len(self._levels)):
            yield from self._group(level, (self._width(level) or 1) // self._fan_in)

    def result(self) -> Outcome | None:
        """Return the outcome that all others went into."""
        if self.count is None:
            return None
        return next((each[0] for n, each in enumerate(self._levels) if self._width(n) == 1 and 0 in each), None)

    def _group(self, level: int, group: int) -> Iterator[tuple[int, int, list[Outcome]]]:
        here, width = self._levels[level], self._width(level)
        start, end = group * self._fan_in, (group + 1) * self._fan_in
        members = range(start, end if width is None else min(end, width))
        if width == 1 or not members or any(i not in here for i in members):
            return
        parts = [here.pop(i) for i in members]
        if len(parts) == 1:
            yield from self.add(level + 1, group, parts[0])
        else:
            yield level + 1, group, parts


def reduced(
    tasks: Tasks, leaves: Iterator[Event], shared: Shared, fan_in: int, tree_size: int | None = None
) -> Iterator[tuple[int, Outcome]]:
    """Combine outcomes by trees; give each tree's number and outcome when it is there.

    tree_size: how many leaves a tree has, one after the other; None for one tree of all leaves.
    """
    trees: dict[int, _Tree] = {}
    count = 0

    def start(tree: int, groups: Iterable[tuple[int, int, list[Outcome]]]) -> None:
        ready = list(groups)
        while ready:
            level, index, parts = ready.pop()
            digest = tasks.digest(shared, *(part.digest.encode() for part in parts))
            found = tasks.find(digest)
            if found is None:
                tasks.combine(shared, Key(tree, level, index), digest, parts)
            else:
                ready.extend(trees[tree].add(level, index, found))

    for key, outcome in leaves:
        tree, index = key.tree, key.position
        if key.level == 0:
            count += 1
            tree, index = divmod(index, tree_size) if tree_size is not None else (0, index)
        if isinstance(outcome, Failure):
            continue
        root = trees.setdefault(tree, _Tree(fan_in, tree_size))
        start(tree, root.add(key.level, index, outcome))
        if (found := root.result()) is not None:
            del trees[tree]
            yield tree, found
    if tree_size is None and not tasks.failures:
        yield from _last(tasks, trees, start, count)


def _last(
    tasks: Tasks,
    trees: dict[int, _Tree],
    start: Callable[[int, Iterable[tuple[int, int, list[Outcome]]]], None],
    count: int,
) -> Iterator[tuple[int, Outcome]]:
    """Finish the one tree whose number of leaves is known now."""
    if not count:
        raise ClusterError("there is nothing to reduce: give at least one item")
    [root] = trees.values()
    start(0, root.close(count))
    while root.result() is None and len(tasks):
        for key, outcome in tasks.wait():
            if isinstance(outcome, Outcome):
                start(0, root.add(key.level, key.position, outcome))
    if (found := root.result()) is not None:
        yield 0, found
