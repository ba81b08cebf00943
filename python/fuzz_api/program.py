"""Programs: calls drawn one after the other, their operands, and how a failing program is cut down."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fuzz_api.circumstances import circumstance
from fuzz_api.verdict import REFUSE, Finding, check_refused, refusal

Rng = np.random.Generator


@dataclass
class Item:
    """Something encrypted, and what it must hold."""

    value: Any
    truth: Any
    kind: str = "ciphertext"


@dataclass
class Call:
    """One call: its text, how to make it, and what must come out."""

    text: str
    run: Callable[[], Any]
    truth: Any
    kind: str = "ciphertext"
    check: Callable[[Any, Any], float] | None = None
    """Checks a result that is no new item of the pool; returns error/bound."""
    keep: bool = True


class World(Protocol):
    """Parameters and keys of one case."""

    text: list[str]
    pessimism: int

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Return error/bound of a result; raise a Finding if it is wrong."""


Make = Callable[..., Call | None]


@dataclass(frozen=True)
class Verb:
    """A kind of call: its operands, and how often it is drawn."""

    name: str
    make: Make
    takes: tuple[str, ...] = ()
    weight: float = 1.0
    mistake: bool = False
    disturbed: bool = True
    """Whether calls run in circumstances too: not what starts processes that share files, or watches this one."""


def named(weights: Mapping[Make, float], takes: int = 0) -> list[Verb]:
    """Return verbs with these weights, under the names of the functions that make their calls."""
    return [Verb(make.__name__, make, ("ciphertext",) * takes, weight) for make, weight in weights.items()]


@dataclass(frozen=True)
class Scheme:
    """A family of cases."""

    name: str
    world: Callable[[Rng], World]
    verbs: Sequence[Verb]
    first: int = 1
    """How many calls at the beginning make items: verbs without operands that are no mistakes."""
    steps: tuple[int, int] = (6, 16)
    weight: float = 1.0
    limit: float = 120.0
    """Seconds after which a case hangs."""
    each: bool = False
    """Call every verb once, in their order, instead of drawing them."""


Id = tuple[int, int]
Step = tuple[int, str, tuple[Id, ...]]


@dataclass
class Report:
    """What a case did."""

    case: str
    verbs: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    worst: float = 0.0
    pessimism: int = 0
    steps: list[Step] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    finding: tuple[str, str] | None = None
    verb: str = ""

    def fail(self, kind: str, message: str) -> None:
        """Note the first finding."""
        if self.finding is None:
            self.finding = (kind, message)


def run_case(scheme: Scheme, seed: int, *, replay: Sequence[Step] | None = None, loud: bool = False) -> Report:
    """Run the case of this seed, or some steps of it."""
    report = Report(f"{scheme.name}:{seed}")
    try:
        world = scheme.world(np.random.default_rng([seed, 0]))
    except Finding as finding:
        report.fail(finding.kind, str(finding))
        return report
    except Exception:
        report.fail("fuzzer", traceback.format_exc())
        return report
    report.verbs.update(getattr(world, "about", ()))
    for line in world.text:
        report.texts.append(line)
        if loud:
            print(line, flush=True)
    items: dict[Id, Item] = {}
    verbs = {verb.name: verb for verb in scheme.verbs}
    for step in replay if replay is not None else _draw(scheme, seed, items):
        _, name, ids = step
        if any(one not in items for one in ids):
            continue
        report.steps.append(step)
        _run_step(world, verbs[name], step, items, report, seed, loud)
        report.pessimism = world.pessimism
        if report.finding is not None:
            break
    return report


def _draw(scheme: Scheme, seed: int, items: dict[Id, Item]) -> Any:
    """Choose verbs and operands, one step at a time, from what there is by then."""
    if scheme.each:
        yield from ((index, verb.name, ()) for index, verb in enumerate(scheme.verbs))
        return
    rng = np.random.default_rng([seed, 2])
    sources = [verb for verb in scheme.verbs if not verb.takes and not verb.mistake]
    weights = np.array([verb.weight for verb in scheme.verbs])
    for index in range(int(rng.integers(*scheme.steps))):
        if index < scheme.first:
            verb = sources[_pick(rng, np.array([one.weight for one in sources]))]
        else:
            verb = scheme.verbs[_pick(rng, weights)]
        ids = []
        for kind in verb.takes:
            of_kind = [one for one, item in items.items() if item.kind == kind]
            if not of_kind:
                break
            # Late items are deeper programs.
            position = len(of_kind) - 1 - int(len(of_kind) * rng.random() ** 2)
            ids.append(of_kind[max(position, 0)])
        if len(ids) == len(verb.takes):
            yield index, verb.name, tuple(ids)


def _pick(rng: Rng, weights: Any) -> int:
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def _run_step(
    world: World, verb: Verb, step: Step, items: dict[Id, Item], report: Report, seed: int, loud: bool
) -> None:
    index, name, ids = step
    rng = np.random.default_rng([seed, 1, index])
    try:
        call = verb.make(world, rng, *(items[one] for one in ids))
    except Finding as finding:
        report.fail(finding.kind, f"{name}: {finding}")
        return
    except Exception:
        report.fail("fuzzer", f"{name}: {traceback.format_exc()}")
        return
    if call is None:
        return
    report.verbs[name] += 1
    report.verb = name
    names = ", ".join(f"v{a}" if b == 0 else f"v{a}[{b}]" for a, b in ids)
    text = f"v{index} = {call.text}" + (f"   # of {names}" if ids else "")
    report.texts.append(text)
    if loud:
        print(text, flush=True)
    rng = np.random.default_rng([seed, 3, index])
    where, run_in = circumstance(rng) if verb.disturbed else ("", lambda run: run())
    if where:
        report.texts[-1] += f"   # {where}"
        report.verbs["circumstance: " + where.split(" after")[0]] += 1
    try:
        _judge(world, call, step, items, report, run_in)
    except Finding as finding:
        report.fail(finding.kind, f"{name}: {finding}")
        if loud:
            print(f"    FINDING {finding.kind}: {finding}", flush=True)
    except Exception:
        report.fail("fuzzer", f"{name}: {traceback.format_exc()}")


def _judge(
    world: World, call: Call, step: Step, items: dict[Id, Item], report: Report, run_in: Callable[..., Any]
) -> None:
    try:
        result = run_in(call.run)
    except (KeyboardInterrupt, SystemExit, Finding):
        raise
    except BaseException as error:
        kind = refusal(error)
        report.refusals[kind] += 1
        report.texts[-1] += f"\n    # {kind}: {str(error)[:160]}"
        return
    if call.truth is REFUSE:
        check_refused(result, call.text)
    if call.check is not None:
        ratio = call.check(result, call.truth)
    elif isinstance(call.truth, list):
        if len(result) != len(call.truth):
            raise Finding("wrong", f"{len(result)} results, {len(call.truth)} expected")
        ratio = max(world.verify(r, t, call.kind) for r, t in zip(result, call.truth, strict=True))
    else:
        ratio = world.verify(result, call.truth, call.kind)
    report.right[step[1]] += 1
    report.worst = max(report.worst, ratio)
    if call.check is None and call.keep:
        if isinstance(call.truth, list):
            for position, (value, truth) in enumerate(zip(result, call.truth, strict=True)):
                items[step[0], position] = Item(value, truth, call.kind)
        else:
            items[step[0], 0] = Item(result, call.truth, call.kind)


def shrink(scheme: Scheme, seed: int, report: Report) -> Report:
    """Drop the steps that the failing one does not need, as long as the finding stays."""
    if report.finding is None or not report.steps:
        return report
    kind = report.finding[0]
    needed: set[int] = {report.steps[-1][0]}
    for index, _, ids in reversed(report.steps):
        if index in needed:
            needed |= {one[0] for one in ids}
    sliced = [step for step in report.steps if step[0] in needed]
    again = run_case(scheme, seed, replay=sliced)
    best = again if again.finding is not None and again.finding[0] == kind else report
    # What is left may hold steps that only set something up: try without each.
    for step in list(best.steps[:-1]):
        fewer = [one for one in best.steps if one != step]
        again = run_case(scheme, seed, replay=fewer)
        if again.finding is not None and again.finding[0] == kind and again.steps[-1:] == best.steps[-1:]:
            best = again
    return best
