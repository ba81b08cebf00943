"""Bootstrapping and switching on the toy ring: programs of any depth, and comparisons, against numpy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fuzz_api import ckks as base
from fuzz_api import ckks_verbs
from fuzz_api.draw import Rng, chance, exact, one_of, seed_bytes
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import bootstrapping, ckks, switching, tfhe

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


@functools.cache
def switch() -> switching.Switch:
    """Return what compares, which is of real numbers in any mode."""
    params, _, keys, _ = keyed()
    both = switching.Parameters(params, "TOY_SWITCH")
    tfhe_keys = tfhe.Context(both.tfhe, threads=1).keygen(seed=bytes(32))
    switch_keys = switching.SwitchingKeys.generate(both, keys.secret, tfhe_keys.secret, seed=bytes(32))
    return switching.Switch(bootstrapper("real"), tfhe_keys.server, switch_keys)


class World(base.World):
    """The toy ring, a mode, and an evaluator that bootstraps by itself, and compares."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        boot, self.ctx, self.keys, _ = keyed()
        self.boot, self.params = boot, self.ctx.parameters
        self.mode = one_of(rng, "real", "real", "complex")
        self.request = {"rotations": list(ROTATIONS)}
        self.bootstrapper = bootstrapper(self.mode)
        self.switch = switch()
        plain = self.ctx.evaluator(self.keys.evaluation)
        self.ev = plain.with_bootstrapping(self.bootstrapper).with_switching(self.switch)
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


def decide(w: World, rng: Rng, x: Item) -> Call:
    """Decisions are right outside their dead zones; of complex numbers there are none."""
    name = one_of(rng, "sign", "is_positive", "threshold")
    least = float(rng.uniform(-0.5, 0.5))
    real = not np.any(x.truth.imag)

    def run() -> Any:
        arguments = (x.value, least) if name == "threshold" else (x.value,)
        decision = getattr(w.switch, name)(*arguments)
        distance = x.truth.real - (least if name == "threshold" else 0)
        wanted = np.where(distance > 0, 1, -1 if name == "sign" else 0)
        found = w.ctx.decrypt(decision.result, w.keys.secret)
        clear = np.abs(distance[: len(found)]) > decision.dead_zone
        error = np.abs(found - wanted[: len(found)])[clear]
        if not real or (error > decision.result.error_bound).any():
            raise Finding(
                "decision", f"{name}: errors up to {error.max(initial=0)}, bound {decision.result.error_bound}"
            )
        return x.value

    return Call(f"switch.{name}(x), least={least}", run, x.truth)


def extreme(w: World, rng: Rng, x: Item, y: Item) -> Call:
    larger = chance(rng, 0.5)
    function = np.maximum if larger else np.minimum
    method = w.ev.maximum if larger else w.ev.minimum
    real = len(x.truth) == len(y.truth) and not np.any(x.truth.imag) and not np.any(y.truth.imag)
    truth = function(x.truth.real, y.truth.real).astype(np.clongdouble) if real else REFUSE
    run = method if chance(rng, 0.5) else function
    return Call(f"np.{function.__name__}(x, y)", lambda: run(x.value, y.value), truth)


def clipped(w: World, rng: Rng, x: Item) -> Call:
    bound = float(rng.uniform(-1, 1))
    truth: Any = np.maximum(x.truth.real, bound).astype(np.clongdouble) if not np.any(x.truth.imag) else REFUSE
    if chance(rng, 0.5):
        return Call(f"np.maximum({bound}, x)", lambda: np.maximum(bound, x.value), truth)
    return Call(f"ev.relu(x - {bound}) + {bound}", lambda: w.ev.relu(x.value - bound) + bound, truth)


def not_strict(w: World, rng: Rng, x: Item, y: Item) -> Call:
    """Approximate numbers have no equality."""
    return Call("x <= y", lambda: x.value <= y.value, REFUSE)


ONE, TWO = ("ciphertext",), ("ciphertext",) * 2
TAKEN = {"add", "sub", "mul", "with_plain", "unary", "rotate", "weighted_sum", "dot", "polynomial", "round_trip"}
VERBS: list[Verb] = [
    Verb("encrypt", encrypt),
    Verb("bootstrap", bootstrap, ONE, 3.0),
    Verb("imaginary", imaginary, ONE, 0.3),
    Verb("deep", deep, ONE, 1.0),
    Verb("too_low", too_low, ONE, 0.2, mistake=True),
    Verb("decide", decide, ONE, 0.5),
    Verb("extreme", extreme, TWO, 0.5),
    Verb("clipped", clipped, ONE, 0.3),
    Verb("not_strict", not_strict, TWO, 0.1, mistake=True),
    *(verb for verb in ckks_verbs.VERBS if verb.name in TAKEN and verb.name != "round_trip"),
]
