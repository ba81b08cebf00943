"""Lookups of any function of two encrypted integers, against its table."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api.draw import Rng, chance, one_of, seed_bytes
from fuzz_api.integers import ROUNDINGS
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import bfv

T = 97
SLOTS = 16
DOMAINS = ((8, 5), (16, 16), (4, 7), (8, 8), (2, 3))


@functools.cache
def keyed(number: int) -> tuple[bfv.Context, Any, Any]:
    """Return a context, keys and an evaluator, which all cases of a process share."""
    ctx = bfv.Context(bfv.Parameters(SLOTS.bit_length() - 1, T, [40] * 12, [40] * 2, security=None), threads=1)
    keys = ctx.keygen(seed=bytes([number] * 32))
    return ctx, keys, ctx.evaluator(keys.evaluation)


@functools.cache
def lookup_keys(domain: tuple[int, int], number: int) -> tuple[Any, Any]:
    """Return a plan and its keys."""
    ctx, keys, _ = keyed(number)
    plan = bfv.LookupPlan(ctx.parameters, domain)
    return plan, plan.keygen(keys.secret, seed=bytes([number + 1] * 32))


class World:
    """A domain, and the keys of its lookups."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.domain = one_of(rng, *DOMAINS)
        self.ctx, self.keys, self.ev = keyed(1)
        self.plan, self.lookup_keys = lookup_keys(self.domain, 1)
        self.text = [f"# t = {T}, n = 16, domain {self.domain}"]

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Decrypt: every query is right, or refused for its noise."""
        if value.noise_budget < ROUNDINGS:
            return 0.0
        found = self.plan.gather(self.ctx.decrypt(value, self.keys.secret))[: len(truth)]
        if found.tolist() != [int(v) % T for v in truth]:
            raise Finding("wrong", f"{found.tolist()}, true {[int(v) % T for v in truth]}")
        return 0.0


def encrypted(axis: int) -> Any:
    def make(w: World, rng: Rng) -> Call:
        numbers = rng.integers(0, w.domain[axis], w.plan.queries)
        seed = seed_bytes(rng)
        work = lambda: w.ctx.encrypt(w.plan.spread(numbers, axis=axis), w.keys.public, seed=seed)
        return Call(f"ctx.encrypt(plan.spread({numbers.tolist()}, axis={axis}))", work, numbers, f"axis{axis}")

    return make


def lookup(w: World, rng: Rng, x: Item, y: Item) -> Call:
    prepared, table, text = function(w, rng)
    truth = table[x.truth, y.truth]
    if chance(rng, 0.3):
        run = lambda: prepared().many(w.ev, [(x.value, y.value)] * 2, keys=w.lookup_keys)
        return Call(f"{text}.many(ev, [(x, y)] * 2)", run, [truth, truth], "result")
    return Call(f"{text}(ev, x, y)", lambda: prepared()(w.ev, x.value, y.value, keys=w.lookup_keys), truth, "result")


def function(w: World, rng: Rng) -> tuple[Any, Any, str]:
    """Return how a function is prepared, its table, and its text."""
    x, y = np.indices(w.domain)
    a, b, c = (int(k) for k in rng.integers(0, T, 3))
    table = rng.integers(0, T, w.domain)
    rules: list[tuple[Any, Any, str]] = [
        (table, table, f"<table {table.tolist()}>"),
        (table - T // 2, table - T // 2, "<signed table>"),
        (lambda x, y: (a * x + b * y * y + c) % T, (a * x + b * y * y + c) % T, f"({a} x + {b} y^2 + {c}) % {T}"),
        (lambda x, y: (x + y) * a % T, (x + y) * a % T, f"(x + y) {a} % {T}"),
        (lambda x, y: max(int(x), int(y)), np.maximum(x, y), "max(x, y)"),
        (lambda x, y: (x * y).clip(1, a), np.clip(x * y, 1, a), f"(x y).clip(1, {a})"),
        (lambda x, y: x // y, np.where(y == 0, c, x // np.maximum(y, 1)), f"x // y, {c} for y = 0"),
    ]
    rule, truth, text = one_of(rng, *rules)
    options: dict[str, Any] = {} if rule is table or isinstance(rule, np.ndarray) else {"domain": w.domain}
    if text.startswith("x //"):
        options["undefined"] = c
    through_file = chance(rng, 0.3)

    def prepare() -> Any:
        prepared = bfv.Lookup(rule, **options).prepare(w.ctx)
        if not through_file:
            return prepared
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "prepared"
            prepared.save(path)
            return bfv.PreparedLookup.load(w.ctx, path)

    return prepare, truth, text


def calculate(w: World, rng: Rng, z: Item) -> Call:
    """Results can be calculated with."""
    a, b = (int(k) for k in rng.integers(0, T, 2))
    return Call(f"{a} * z + {b}", lambda: a * w.ev.bind(z.value) + b, a * z.truth + b, "result")


def foreign(w: World, rng: Rng, x: Item, y: Item) -> Call:
    """Keys of another secret are refused."""
    _, _, ev = keyed(2)
    _, more = lookup_keys(w.domain, 2)
    prepared, _, text = function(w, rng)
    ev, more = one_of(rng, (w.ev, more), (ev, w.lookup_keys), (ev, more))
    return Call(f"{text} with keys of another secret", lambda: prepared()(ev, x.value, y.value, keys=more), REFUSE)


def not_spread(w: World, rng: Rng, x: Item, y: Item) -> Call:
    """Numbers that do not fill the slots where the lookup looks for them are refused."""
    prepared, _, text = function(w, rng)
    narrow, _ = lookup_keys((2, 3), 1)
    stretch = SLOTS // w.plan.queries
    numbers = rng.integers(0, 2, 2)
    others: list[tuple[str, Callable[[], Any]]] = [
        ("plain numbers", lambda: w.ctx.encrypt(numbers, w.keys.public)),
        ("repeated numbers", lambda: w.ctx.encrypt(numbers, w.keys.public, repeat=True)),
        ("a part of spread ones", lambda: w.ctx.encrypt(w.plan.spread(numbers[:1])[: stretch - 1], w.keys.public)),
        ("a copy of spread ones", lambda: w.ctx.encrypt(w.plan.spread(numbers[:1]).copy(), w.keys.public)),
        ("a sum with plain ones", lambda: w.ev.bind(x.value) + np.arange(SLOTS)),
    ]
    if stretch > 4:
        others.append(("spread for fewer", lambda: w.ctx.encrypt(narrow.spread(numbers), w.keys.public)))
    name, make = one_of(rng, *others)
    first = chance(rng, 0.5)

    def work() -> Any:
        pair = (make(), y.value) if first else (x.value, make())
        return prepared()(w.ev, *pair, keys=w.lookup_keys)

    return Call(f"{text} of {name}", work, REFUSE)


VERBS: list[Verb] = [
    Verb("encrypt_x", encrypted(0)),
    Verb("encrypt_y", encrypted(1)),
    Verb("lookup", lookup, ("axis0", "axis1"), 4.0),
    Verb("calculate", calculate, ("result",), 1.0),
    Verb("foreign", foreign, ("axis0", "axis1"), 0.5, mistake=True),
    Verb("not_spread", not_spread, ("axis0", "axis1"), 0.7, mistake=True),
]
