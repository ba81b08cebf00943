"""Switching of all vectors: any length, period, slots and level, through decisions, functions, sums and matrices."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api import ckks as base
from fuzz_api import ckks_verbs
from fuzz_api.draw import Exact, Rng, chance, exact, one_of, seed_bytes
from fuzz_api.program import Call, Item, Verb, named
from fuzz_api.verdict import REFUSE, Finding
from noren import bootstrapping, ckks, switching, tfhe

# As many slots as are bootstrapped.
SLOTS = 16
ROTATIONS = [steps for steps in range(1 - SLOTS, SLOTS) if steps]


@functools.cache
def keyed(steps: Any) -> tuple[switching.Parameters, ckks.Context, ckks.Keys, ckks.Evaluator, switching.Switch]:
    """Return keys of the toy set, and what switches with them, which all cases of a process share."""
    params = switching.Parameters("toy", "TOY_SWITCH", log_slots=SLOTS.bit_length() - 1)
    ctx, tfhe_ctx = ckks.Context(params.bootstrapping.ckks, threads=1), tfhe.Context(params.tfhe, threads=1)
    keys, tfhe_keys = ctx.keygen(seed=bytes(range(32))), tfhe_ctx.keygen(seed=bytes(32))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "boot.keys"
        boot_params = params.bootstrapping
        bootstrapping.BootstrapKeys.generate_file(path, boot_params, keys.secret, rotations=ROTATIONS, seed=bytes(32))
        boot_keys = bootstrapping.BootstrapKeys.load(path, min_security=0)
    boot = bootstrapping.Bootstrapper(boot_keys)
    switch_keys = switching.SwitchingKeys.generate(params, keys.secret, tfhe_keys.secret, seed=bytes(32))
    switch = switching.Switch(boot, tfhe_keys.server, switch_keys, steps=steps)
    ev = ctx.evaluator(boot_keys.evaluation).with_bootstrapping(boot).with_switching(switch)
    return params, ctx, keys, ev, switch


class World(base.World):
    """The toy ring with 16 slots that are bootstrapped, and an evaluator with all rotations of them."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        both, self.ctx, self.keys, self.ev, self.switch = keyed(one_of(rng, 1, 1, 3))
        self.boot, self.params = both.bootstrapping, self.ctx.parameters
        self.request = {"rotations": ROTATIONS}
        self.slots = int(one_of(rng, 1, 2, 4, 8, SLOTS, SLOTS, SLOTS))
        self.text = [f"# toy with {SLOTS} slots, vectors of {self.slots} slots, {self.switch.steps} steps"]
        self._other: Any = None

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Compare with the error bound, and the range."""
        ratio = super().verify(value, truth, kind)
        told = truth.real[~np.isnan(truth)] if kind != "plaintext" and value.range is not None else np.zeros(0)
        if len(told):
            (low, high), slack = value.range, 1e-9 * (1 + value.magnitude)
            if told.min() < low - slack or told.max() > high + slack:
                raise Finding("range", f"values from {told.min()} to {told.max()}, range {value.range}")
        return ratio


def of_values(x: Any, truth: Exact) -> Exact:
    """Return the truth in slots that hold values, and their copies; others are not told."""
    held = np.arange(len(truth)) % x.period < x.shape[0]
    return np.where(held, truth, np.nan)


def unknown(w: World) -> Exact:
    """Return a truth that the call fills in."""
    return np.full(w.slots, np.nan, np.clongdouble)


def encrypt(w: World, rng: Rng) -> Call:
    count = int(rng.integers(1, w.slots + 1))
    values = rng.uniform(-0.9, 0.9, count)
    if chance(rng, 0.2):
        values = np.rint(values * 4) / 4
    return encrypted(w, rng, values, (-1.0, 1.0))


def encrypt_whole(w: World, rng: Rng) -> Call:
    """Numbers that tables take."""
    return encrypted(w, rng, rng.integers(0, 16, int(rng.integers(1, w.slots + 1))).astype(float), (0.0, 15.0))


def encrypted(w: World, rng: Rng, values: Any, within: tuple[float, float]) -> Call:
    levels = [w.boot.input_level, w.boot.input_level + 1, w.boot.output_level, w.params.max_level]
    options: dict[str, Any] = {"slots": w.slots, "level": int(one_of(rng, *levels)), "seed": seed_bytes(rng)}
    truth = np.zeros(w.slots, np.clongdouble)
    truth[: len(values)] = exact(values)
    if chance(rng, 0.5):
        options["repeat"] = True
        period = 1 << (len(values) - 1).bit_length()
        truth = np.tile(truth[:period], w.slots // period)
    text = f"ev.bind(ctx.encrypt({values.round(3).tolist()}, public, within={within}, slots={w.slots}, "
    text += f"level={options['level']}, repeat={'repeat' in options}))"
    return Call(text, lambda: w.ev.bind(w.ctx.encrypt(values, w.keys.public, within=within, **options)), truth)


def decide(w: World, rng: Rng, x: Item) -> Call:
    """Right outside the dead zone, in every copy."""
    name = one_of(rng, "sign", "is_positive", "threshold")
    least = float(rng.uniform(-0.5, 0.5)) if name == "threshold" else 0.0
    truth = unknown(w)

    def run() -> Any:
        decision = getattr(w.switch, name)(*((x.value, least) if name == "threshold" else (x.value,)))
        distance = of_values(x.value, x.truth).real - least
        low = -1 if name == "sign" else 0
        truth[:] = np.where(np.abs(distance) > decision.dead_zone, np.where(distance > 0, 1, low), np.nan)
        return w.ev.bind(decision.result)

    return Call(f"switch.{name}(x), least={least}", run, truth)


def less(w: World, rng: Rng, x: Item, y: Item) -> Call:
    truth = unknown(w)

    def run() -> Any:
        decision = w.switch.less(x.value, y.value)
        distance = of_values(decision.result, y.truth - x.truth).real
        truth[:] = np.where(np.abs(distance) > decision.dead_zone, distance > 0, np.nan)
        return w.ev.bind(decision.result)

    return Call("switch.less(x, y)", run, truth)


def extreme(w: World, rng: Rng, x: Item, y: Item) -> Call:
    larger = chance(rng, 0.5)
    method = w.ev.maximum if larger else w.ev.minimum
    function = np.maximum if larger else np.minimum
    truth = unknown(w)

    def run() -> Any:
        result = method(x.value, y.value)
        truth[:] = of_values(result, function(x.truth.real, y.truth.real).astype(np.clongdouble))
        return result

    return Call(f"ev.{function.__name__}(x, y)", run, truth)


def relu(w: World, rng: Rng, x: Item) -> Call:
    truth = of_values(x.value, np.maximum(x.truth.real, 0).astype(np.clongdouble))
    return Call("ev.relu(x)", lambda: w.ev.relu(x.value), truth)


def where(w: World, rng: Rng, x: Item, y: Item, z: Item) -> Call:
    truth = z.truth + x.truth * (y.truth - z.truth)
    return Call("ev.where(x, y, z)", lambda: w.ev.where(x.value, y.value, z.value), truth)


def lookup(w: World, rng: Rng, x: Item) -> Call:
    """Whole numbers through a table; others are not told."""
    table = rng.uniform(-2, 2, 16) if chance(rng, 0.6) else rng.integers(0, 2, 16).astype(float)
    if chance(rng, 0.2):
        table = np.arange(16.0)
    nearest = np.rint(np.nan_to_num(x.truth.real)).astype(int)
    near = (np.abs(x.truth.real - nearest) < 0.05) & (nearest >= 0) & (nearest < 16)
    truth = of_values(x.value, np.where(near, table[np.clip(nearest, 0, 15)], np.nan).astype(np.clongdouble))
    return Call(
        f"switch.lookup(x, {table.round(2).tolist()})", lambda: w.ev.bind(w.switch.lookup(x.value, table)), truth
    )


def function(w: World, rng: Rng, x: Item) -> Call:
    """Functions of which the truth is stated; and some of which it is not."""
    told = x.truth.real[~np.isnan(x.truth)]
    at = float(rng.choice(told)) if len(told) else 0.0
    edges = np.sort(rng.uniform(-1, 1, int(rng.integers(1, 6))))
    heights = rng.uniform(-1, 1, len(edges) + 1)
    steep = float(rng.uniform(0.1, 20))
    choices: list[tuple[str, Callable[[Any], Any], dict[str, Any]]] = [
        ("np.tanh", np.tanh, {}),
        ("np.exp", np.exp, {}),
        ("np.absolute", np.absolute, {}),
        ("abs", abs, {}),
        ("np.sin", np.sin, {}),
        ("np.floor", np.floor, {}),
        ("a cube", lambda z: z**3, {"monotone": True}),
        ("one point", lambda z: float(z == at), {"monotone": [at]}),
        ("a table", lambda z: heights[np.searchsorted(edges, z)], {"monotone": edges}),
        ("a table from the right", lambda z: heights[np.searchsorted(edges, z, "right")], {"monotone": edges.tolist()}),
        ("a saw", lambda z: (z - at) % 1.0, {"monotone": at + np.arange(-40, 41)}),
        ("waves", lambda z: np.sin(steep * z), {"lipschitz": steep}),
        ("a roof", lambda z: abs(z - at), {"lipschitz": 1}),
        ("waves without a word", lambda z: np.sin(steep * z), {}),
        ("a step, of which another is stated", lambda z: float(z > at) - float(z > at + 0.2), {"lipschitz": 1.0}),
    ]
    name, f, options = choices[int(rng.integers(len(choices)))]
    truth: Any = of_values(x.value, np.array([f(float(z)) if z == z else np.nan for z in x.truth.real], np.clongdouble))
    if name == "waves without a word":
        truth = REFUSE
    elif name.startswith("a step"):
        low, high = x.value.range or (-np.inf, np.inf)
        # Where it is asked at few places, nothing may contradict the statement, and no bound is promised.
        narrow = high - low < 10 and low < at and at + 0.2 < high
        truth = REFUSE if narrow else of_values(x.value, np.full(x.truth.shape, np.nan, np.clongdouble))
    return Call(
        f"switch.function(x, {name}, {options})", lambda: w.ev.bind(w.switch.function(x.value, f, **options)), truth
    )


def rank(w: World, rng: Rng, x: Item) -> Call:
    truth = unknown(w)
    most = int(rng.integers(1, 5)) if chance(rng, 0.5) else None

    def run() -> Any:
        count = x.value.shape[0]
        values = x.truth.real[:count]
        decision = w.switch.rank(x.value) if most is None else w.switch.top(x.value, most)
        for slot, z in enumerate(values):
            above, below = (
                (np.delete(values, slot) > z - decision.dead_zone).sum(),
                (values < z - decision.dead_zone).sum(),
            )
            surely = (values > z + decision.dead_zone).sum()
            if np.isnan(values).any():
                continue
            if most is not None:
                truth[slot] = 1 if above < most else 0 if surely >= most else np.nan
            elif above == surely:
                truth[slot] = below
        return w.ev.bind(decision.result)

    return Call("switch.rank(x)" if most is None else f"switch.top(x, {most})", run, truth)


def tournament(w: World, rng: Rng, x: Item) -> Call:
    largest = chance(rng, 0.5)
    sign = 1 if largest else -1
    truth = unknown(w)

    def run() -> Any:
        found = (w.switch.argmax if largest else w.switch.argmin)(x.value)
        values = sign * x.truth.real[: x.value.shape[0]]
        if not np.isnan(values).any():
            truth[0] = sign * values.max()
            index = w.ctx.decrypt(found.index, w.keys.secret)[0]
            near = abs(index - round(index)) <= found.index.error_bound and 0 <= round(index) < len(values)
            # A decision may be wrong within its dead zone, and the operands have errors.
            if found.index.error_bound < 0.5 and not (near and values[round(index)] >= values.max() - found.dead_zone):
                raise Finding("index", f"{index} of {values}, dead zone {found.dead_zone}")
        return w.ev.bind(found.value)

    return Call(f"switch.{'argmax' if largest else 'argmin'}(x)", run, truth)


def matvec(w: World, rng: Rng, x: Item) -> Call:
    rows, columns = int(rng.integers(1, w.slots + 1)), x.value.shape[0]
    if chance(rng, 0.1):
        columns = int(rng.integers(1, w.slots + 1))
    matrix = rng.uniform(-1, 1, (rows, columns)) / columns
    truth = unknown(w)
    truth[:rows] = exact(matrix) @ x.truth[:columns]
    return Call(f"matrix of {rows} x {columns} @ x", lambda: matrix @ x.value, truth)


def rotate(w: World, rng: Rng, x: Item) -> Call:
    steps = int(rng.integers(1 - w.slots, w.slots))
    return Call(f"ev.rotate(x, {steps})", lambda: w.ev.rotate(x.value, steps), np.roll(x.truth, -steps))


def down_and_up(w: World, rng: Rng, x: Item) -> Call:
    """Values between the schemes, of one copy."""

    def run() -> Any:
        samples = w.switch.down(x.value, 0.2 / max(x.value.magnitude, 1.0))
        y = w.ctx.decrypt(w.switch.up(samples), w.keys.secret)
        values = np.sin(2 * np.pi * samples.part * x.truth.real[: x.value.shape[0]])
        error = np.nanmax(np.abs(y - values), initial=0)
        if len(samples) != x.value.shape[0] or error > w.switch.up(samples).error_bound:
            raise Finding("samples", f"{len(samples)} of {x.value.shape}, error {error}")
        return x.value

    return Call("switch.up(switch.down(x))", run, x.truth)


def narrower(w: World, rng: Rng, x: Item) -> Call | None:
    """Fewer values of the same vector."""
    length = int(rng.integers(1, x.value.shape[0] + 1))
    return Call(f"x.with_length({length})", lambda: x.value.with_length(length), x.truth)


TAKEN = {"add", "sub", "mul", "with_plain", "sum", "mean", "weighted_sum", "with_range", "saved"}
VERBS: list[Verb] = [
    *named({encrypt: 1.5, encrypt_whole: 0.7}),
    *named({decide: 1.5, relu: 1.5, lookup: 1.0, function: 2.0, rank: 0.7, tournament: 0.7}, takes=1),
    *named({matvec: 1.5, rotate: 1.0, down_and_up: 0.5, narrower: 0.3}, takes=1),
    *named({less: 0.7, extreme: 0.7}, takes=2),
    *named({where: 0.7}, takes=3),
    *(verb for verb in ckks_verbs.VERBS if verb.name in TAKEN),
]
