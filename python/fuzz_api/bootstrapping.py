"""Bootstrapping on the toy ring: programs of any depth, against numpy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fuzz_api import ckks as base
from fuzz_api import ckks_verbs
from fuzz_api.draw import Rng, chance, exact, one_of, seed_bytes
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE
from noren import bootstrapping, ckks

ROTATIONS = (1, 2, 4, -3)


@functools.cache
def keyed() -> tuple[bootstrapping.Parameters, ckks.Context, ckks.Keys, bootstrapping.BootstrapKeys]:
    """Return keys of the toy preset, which all cases of a process share."""
    params = bootstrapping.Parameters("toy")
    ctx = ckks.Context(params.ckks, threads=1)
    keys = ctx.keygen(rotations=ROTATIONS, conjugation=True, seed=bytes(range(32)))
    return params, ctx, keys, bootstrapping.BootstrapKeys.generate(params, keys.secret, seed=bytes(32))


@functools.cache
def bootstrapper(mode: Any) -> bootstrapping.Bootstrapper:
    """Return a bootstrapper of a mode."""
    return bootstrapping.Bootstrapper(keyed()[3], mode=mode)


class World(base.World):
    """The toy ring, a mode, and an evaluator that bootstraps by itself."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        boot, self.ctx, self.keys, _ = keyed()
        self.boot, self.params = boot, self.ctx.parameters
        self.mode = one_of(rng, "real", "real", "complex")
        self.request = {"rotations": list(ROTATIONS)}
        self.bootstrapper = bootstrapper(self.mode)
        self.ev = self.ctx.evaluator(self.keys.evaluation).with_bootstrapping(self.bootstrapper)
        self.slots = 2 ** int(rng.integers(0, 10))
        self.text = [f"# toy, mode {self.mode}, {self.slots} slots"]
        self._other: Any = None


def encrypt(w: World, rng: Rng) -> Call:
    values = rng.uniform(-0.9, 0.9, w.slots)
    if w.mode == "complex" and chance(rng, 0.5):
        values = (values + 1j * rng.uniform(-0.9, 0.9, w.slots)) / 2
    level = int(rng.integers(w.boot.input_level, w.boot.output_level + 1))
    seed = seed_bytes(rng)
    text = f"ctx.encrypt({values[:3]}..., public, slots={w.slots}, level={level})"
    run = lambda: w.ev.bind(w.ctx.encrypt(values, w.keys.public, slots=w.slots, level=level, seed=seed))
    return Call(text, run, exact(values))


def bootstrap(w: World, rng: Rng, x: Item) -> Call:
    if chance(rng, 0.5):
        return Call("ev.bootstrap(x)", lambda: w.ev.bootstrap(x.value), x.truth)
    return Call("bootstrapper.bootstrap(x)", lambda: w.ev.bind(w.bootstrapper.bootstrap(x.value)), x.truth)


def imaginary(w: World, rng: Rng, x: Item) -> Call | None:
    """A mode for real numbers refuses others, or keeps them."""
    if w.mode != "real":
        return None
    truth = x.truth * np.clongdouble(1j)
    return Call("ev.bootstrap(ev.mul_i(x))", lambda: w.ev.bootstrap(w.ev.mul_i(x.value)), truth)


def deep(w: World, rng: Rng, x: Item) -> Call:
    steps = int(rng.integers(2, 7))
    truth = x.truth
    for _ in range(steps):
        truth = truth * truth

    def run() -> Any:
        y = x.value
        for _ in range(steps):
            y = (y * y).with_magnitude(1.5)
        return y

    known = float(np.abs(x.truth).max())
    return Call(f"{steps} squares", run if known < 1 else lambda: x.value, truth if known < 1 else x.truth)


def too_low(w: World, rng: Rng, x: Item) -> Call:
    """Below the level that bootstrapping takes, there is nothing to do."""
    level = w.boot.input_level - 1

    def run() -> Any:
        return w.ev.bootstrap(w.ev.at_level(x.value, level))

    return Call(f"ev.bootstrap(ev.at_level(x, {level}))", run, REFUSE)


ONE, TWO = ("ciphertext",), ("ciphertext",) * 2
TAKEN = {"add", "sub", "mul", "with_plain", "unary", "rotate", "weighted_sum", "dot", "polynomial", "round_trip"}
VERBS: list[Verb] = [
    Verb("encrypt", encrypt),
    Verb("bootstrap", bootstrap, ONE, 3.0),
    Verb("imaginary", imaginary, ONE, 0.3),
    Verb("deep", deep, ONE, 1.0),
    Verb("too_low", too_low, ONE, 0.2, mistake=True),
    *(verb for verb in ckks_verbs.VERBS if verb.name in TAKEN and verb.name != "round_trip"),
]
