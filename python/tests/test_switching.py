"""Switching on the toy ring: comparisons and functions of encrypted numbers, keys in files, and what is refused."""

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import noren
from noren import (
    EncodingError,
    Error,
    InsecureError,
    KeyMismatchError,
    LevelError,
    MissingKeyError,
    ParameterMismatchError,
    RangeError,
    WireError,
    bootstrapping,
    ckks,
    switching,
    tfhe,
)

SEED = bytes(range(32))
RNG = np.random.default_rng(7)
# numpy's types know no functions of other classes.
numpy: Any = np

A, B = RNG.uniform(-1, 1, 16), RNG.uniform(-1, 1, 16)


@dataclass(frozen=True)
class World:
    """Keys of the toy parameters, and a switch with 16 slots."""

    params: switching.Parameters
    ctx: ckks.Context
    keys: ckks.Keys
    tfhe_keys: tfhe.Keys
    boot: bootstrapping.Bootstrapper
    switch_keys: switching.SwitchingKeys
    switch: switching.Switch

    def encrypt(self, values: ArrayLike, low: float = -1, high: float = 1, level: int | None = None) -> ckks.Ciphertext:
        """Encrypt numbers that are known to be between two others."""
        level = self.params.bootstrapping.output_level if level is None else level
        x: ckks.Ciphertext = self.ctx.encrypt(values, self.keys.public, slots=16, level=level, within=(low, high))
        return x

    def evaluator(self) -> ckks.Evaluator:
        """Make an evaluator with levels that do not end, and comparisons."""
        plain = self.ctx.evaluator(self.keys.evaluation)
        return plain.with_bootstrapping(self.boot).with_switching(self.switch)

    def decrypt(self, x: ckks.Ciphertext) -> NDArray[np.float64]:
        return self.ctx.decrypt(x, self.keys.secret)

    def check(self, x: ckks.Ciphertext, expected: ArrayLike, most: float = 0.1) -> None:
        """Decrypt, and compare within the error bound, which itself is at most `most`."""
        assert 0 < x.error_bound < most
        assert np.abs(self.decrypt(x) - np.asarray(expected)).max() <= x.error_bound

    def check_decision(self, decision: switching.Decision, distance: NDArray[np.float64], low: float = 0) -> None:
        """Compare with the signs of distances outside the dead zone."""
        assert 0 < decision.dead_zone < 0.1
        assert decision.log2_failure <= -60
        clear = np.abs(distance) > decision.dead_zone
        assert clear.sum() > 8
        error = np.abs(self.decrypt(decision.result) - np.where(distance > 0, 1, low))
        assert error[clear].max() <= decision.result.error_bound < 1e-3


@pytest.fixture(scope="module")
def world() -> World:
    params = switching.Parameters("toy", "TOY_SWITCH", log_slots=4)
    ctx, tfhe_ctx = ckks.Context(params.bootstrapping.ckks), tfhe.Context(params.tfhe)
    keys, tfhe_keys = ctx.keygen(seed=SEED), tfhe_ctx.keygen(seed=SEED)
    boot_keys = bootstrapping.BootstrapKeys.generate(params.bootstrapping, keys.secret, seed=SEED)
    boot = bootstrapping.Bootstrapper(boot_keys)
    switch_keys = switching.SwitchingKeys.generate(params, keys.secret, tfhe_keys.secret, seed=SEED)
    switch = switching.Switch(boot, tfhe_keys.server, switch_keys)
    return World(params, ctx, keys, tfhe_keys, boot, switch_keys, switch)


def test_parameters_say_what_they_are() -> None:
    params = switching.Parameters("toy", "TOY_SWITCH")
    assert params == switching.Parameters(bootstrapping.Parameters("toy"), tfhe.Parameters("TOY_SWITCH"))
    assert hash(params) == hash(switching.Parameters("toy", "TOY_SWITCH"))
    few = switching.Parameters("toy", "TOY_SWITCH", log_slots=4)
    assert params != few
    assert params != "toy"
    assert (params.slots, few.slots, params.slices) == (512, 16, 2)
    assert params.fingerprint != few.fingerprint
    assert params.bootstrapping.preset == "toy"
    assert params.tfhe.preset == "TOY_SWITCH"
    law = params.law()
    assert set(law) == {"down", "decision", "bootstrap", "up", "result"}
    assert 0 < law["down"] < law["decision"] < 2**-6
    assert params.law("complex")["up"] >= law["up"]
    light = switching.Parameters("n16", "2_2_LIGHT")
    assert light.law()["decision"] < 2**-9.7
    usual = switching.Parameters()
    assert (usual.bootstrapping.preset, usual.tfhe.preset) == ("n16", "2_2")
    with pytest.raises(Error, match="one of n16"):
        switching.Parameters("n14")
    with pytest.raises(Error, match="2_2"):
        switching.Parameters("toy", "5_5")
    with pytest.raises(Error, match="one polynomial"):
        switching.Parameters("toy", "TOY_2_2")
    with pytest.raises(Error, match="log_slots"):
        switching.Parameters(bootstrapping.Parameters("toy"), "TOY_SWITCH", log_slots=3)
    with pytest.raises(TypeError):
        switching.Parameters(3)  # type: ignore[arg-type]
    with pytest.raises(Error, match="rational"):
        params.law("rational")  # type: ignore[arg-type]


def test_decisions_are_right_outside_the_dead_zone(world: World) -> None:
    x, y = world.encrypt(A), world.encrypt(B)
    world.check_decision(world.switch.sign(x), A, low=-1)
    world.check_decision(world.switch.is_positive(x), A)
    world.check_decision(world.switch.threshold(x, 0.25), A - 0.25)
    world.check_decision(world.switch.less(x, y), B - A)
    world.check_decision(world.switch.less(x, 0.25), 0.25 - A)
    world.check_decision(world.switch.less(x, B), B - A)
    assert "dead_zone" in repr(world.switch.sign(x))


def test_three_steps_have_a_smaller_dead_zone(world: World) -> None:
    finer = switching.Switch(world.boot, world.tfhe_keys.server, world.switch_keys, steps=3)
    assert (world.switch.steps, finer.steps) == (1, 3)
    x = world.encrypt(A)
    decision = finer.sign(x)
    world.check_decision(decision, A, low=-1)
    assert decision.dead_zone < world.switch.sign(x).dead_zone / 8
    often = switching.Switch(world.boot, world.tfhe_keys.server, world.switch_keys, log2_failure=-24)
    decision = often.sign(x)
    outside = np.abs(A) > decision.dead_zone
    assert np.abs(world.decrypt(decision.result) - np.sign(A))[outside].max() < 1e-3
    assert decision.log2_failure <= -24
    assert (often.log2_failure, world.switch.log2_failure) == (-24, -64)
    assert decision.dead_zone < world.switch.sign(x).dead_zone / 1.3
    with pytest.raises(Error, match="-500 to -20"):
        switching.Switch(world.boot, world.tfhe_keys.server, world.switch_keys, log2_failure=0)
    with pytest.raises(ValueError, match="1 or 3"):
        switching.Switch(world.boot, world.tfhe_keys.server, world.switch_keys, steps=2)  # type: ignore[arg-type]


def test_choices_stay_within_their_bounds(world: World) -> None:
    x, y = world.encrypt(A), world.encrypt(B)
    for other, clear in ((y, B), (0.25, np.full(16, 0.25)), (B, B)):
        world.check(world.switch.maximum(x, other), np.maximum(A, clear))
        world.check(world.switch.minimum(x, other), np.minimum(A, clear))
    world.check(world.switch.relu(x), np.maximum(A, 0))
    bits = np.arange(16) % 2
    condition = world.encrypt(bits, 0, 1)
    pairs: list[tuple[Any, Any]] = [(x, y), (x, 0.5), (0.5, x), (1, 0), (A, B), (np.uint8(0), np.uint8(1))]
    for one, other in pairs:
        chosen, left = (A if z is x else B if z is y else np.asarray(z, float) for z in (one, other))
        world.check(world.switch.where(condition, one, other), np.where(bits, chosen, left))


def test_functions_are_those_of_python(world: World) -> None:
    whole = np.arange(16)
    x = world.encrypt(whole, 0, 15)
    world.check(world.switch.lookup(x, lambda z: z % 2), whole % 2)
    world.check(world.switch.lookup(x, whole**2 / 225), whole**2 / 225)
    world.check(world.switch.round(x), whole, 2)
    y = world.switch.function(world.encrypt(A), np.tanh)
    world.check(y, np.tanh(A), 0.2)
    with pytest.raises(EncodingError, match="16 are needed"):
        world.switch.lookup(x, [1.0, 2.0])
    with pytest.raises(Error, match="range"):
        world.switch.lookup(world.encrypt(A), whole)
    with pytest.raises(ZeroDivisionError):
        world.switch.lookup(x, lambda z: 1 / z)
    with pytest.raises(KeyError, match="asked"):
        world.switch.function(world.encrypt(A), raising, monotone=True)
    with pytest.raises(EncodingError):
        world.switch.function(world.encrypt(A), lambda z: float("inf"), monotone=True)
    with pytest.raises(TypeError):
        world.switch.function(world.encrypt(A), lambda z: "abc", monotone=True)  # type: ignore[arg-type, return-value]


def test_functions_state_how_they_vary(world: World) -> None:
    x = world.encrypt(A)
    edges, heights = np.array([-0.5, 0.1, 0.4]), np.array([0.25, -0.5, 0.0, 0.75])
    uses: list[tuple[Callable[[float], float], dict[str, Any]]] = [
        (np.exp, {}),
        (np.sin, {}),
        (abs, {}),
        (math.tanh, {}),
        (np.absolute, {"lipschitz": 1}),
        (lambda z: z**3, {"monotone": True}),
        (lambda z: float(heights[np.searchsorted(edges, z)]), {"monotone": edges}),
        (lambda z: math.sin(5 * z), {"lipschitz": 5}),
        (lambda z: float(z == A[3]), {"monotone": [float(A[3])]}),
    ]
    for f, options in uses:
        y = world.switch.function(x, f, **options)
        truth = np.array([f(float(a)) for a in A])
        assert np.abs(world.decrypt(y) - truth).max() <= y.error_bound
        assert y.range is not None
        assert y.range[0] <= truth.min() <= truth.max() <= y.range[1]
    for f, options, words in (
        (lambda z: float(z == A[3]), {}, "monotone=True"),
        (lambda z: float(z == A[3]), {"monotone": False}, "lipschitz=L"),
        (np.square, {"monotone": True}, "not monotone"),
        (np.exp, {"lipschitz": 1.0}, "at least"),
    ):
        with pytest.raises(Error, match=words):
            world.switch.function(x, f, **options)
    with pytest.raises(TypeError, match="one of them"):
        world.switch.function(x, np.exp, monotone=True, lipschitz=3)


def test_every_copy_is_switched(world: World) -> None:
    values = np.array([1.0, -1.0, 0.5, 0.75])
    for slots in (4, 8, 16):
        for level in (world.params.bootstrapping.input_level + 1, None):
            options: dict[str, Any] = {"slots": slots, "repeat": True, "level": level, "within": (-1, 1)}
            x = world.ctx.encrypt(values, world.keys.public, **options)
            for y, truth in (
                (world.switch.relu(x), np.maximum(values, 0)),
                (world.switch.sign(x).result, np.sign(values)),
                (world.switch.maximum(x, 0.25), np.maximum(values, 0.25)),
                (world.switch.function(x, np.tanh), np.tanh(values)),
            ):
                assert (y.shape, y.period, y.slots) == ((4,), 4, slots)
                every = world.decrypt(y.with_length(slots))
                assert np.abs(every - np.tile(truth, slots // 4)).max() <= y.error_bound


def raising(_: float) -> float:
    raise KeyError("asked")


def test_samples_go_down_and_up(world: World) -> None:
    x = world.encrypt(A)
    samples = world.switch.down(x, 0.2)
    assert (len(samples), samples.part) == (16, 0.2)
    assert samples.error + samples.deviation < 2**-8
    world.check(world.switch.up(samples), np.sin(2 * np.pi * 0.2 * A))
    signs = world.switch.up(world.switch.signs(samples), bits=True)
    clear = np.abs(A) > 0.1
    assert np.abs(world.decrypt(signs) - np.sign(A))[clear].max() < 1e-3
    # Five samples are eight slots, of which the others hold 0 within the bound of all.
    few = world.ctx.encrypt(np.sign(A[:5]), world.keys.public, slots=16, within=(-1, 1))
    bits = world.switch.up(world.switch.signs(world.switch.down(few, 0.2)), bits=True)
    assert (bits.shape, bits.slots) == ((5,), 8)
    every = world.decrypt(bits.with_length(8))
    assert np.abs(every - np.append(np.sign(A[:5]), np.zeros(3))).max() <= bits.error_bound
    with pytest.raises(Error, match=r"magnitude is 1, .* below 0\.1"):
        world.switch.down(x, 5)


def test_the_largest_and_ranks_are_found(world: World, tmp_path: Path) -> None:
    path, params = tmp_path / "bootstrap.keys", world.params.bootstrapping
    rotations = switching.rotations_of_extremes(16)
    assert rotations == [1, 2, 4, 8]
    rotations += switching.rotations_of_ranks(16, params.slots)
    bootstrapping.BootstrapKeys.generate_file(path, params, world.keys.secret, rotations=rotations, seed=SEED)
    boot = bootstrapping.Bootstrapper(bootstrapping.BootstrapKeys.load(path, min_security=0))
    switch = switching.Switch(boot, world.tfhe_keys.server, world.switch_keys)
    x = world.encrypt(A)
    for found, truth in ((switch.argmax(x), A), (switch.argmin(x, 16), -A)):
        index = round(float(world.decrypt(found.index)[0]))
        assert truth[index] >= truth.max() - found.dead_zone
        assert abs(world.decrypt(found.value)[0] - A[index]) <= found.value.error_bound
        assert found.log2_failure < -60
        assert (found.value.shape, found.index.shape) == ((1,), (1,))
    fresh = world.ctx.encrypt(A, world.keys.public, slots=16, within=(-1, 1))
    assert fresh.level > params.output_level
    index = round(float(world.decrypt(switch.argmax(fresh).index)[0]))
    assert A[index] >= A.max() - switch.argmax(fresh).dead_zone
    with pytest.raises(EncodingError, match="tournament"):
        switch.argmin(x, 17)
    order = RNG.permutation(16)
    y = world.encrypt(order / 8 - 1)
    ranks, top = switch.rank(y), switch.top(y, 4)
    assert ranks.dead_zone == top.dead_zone < 1 / 8
    assert np.abs(world.decrypt(ranks.result) - order).max() < 0.01
    assert np.abs(world.decrypt(top.result) - (order >= 12)).max() < 0.01
    with pytest.raises(EncodingError, match="largest slots"):
        switch.top(x, 16)
    with pytest.raises(EncodingError, match="17 slots"):
        switching.rotations_of_ranks(17, 16)


def test_operators_compare(world: World) -> None:
    ev = world.evaluator()
    x, y = ev.bind(world.encrypt(A)), ev.bind(world.encrypt(B))
    far, near = np.abs(A - B) > 0.1, np.abs(A - 0.25) > 0.1
    uses: list[tuple[ckks.Ciphertext, NDArray[np.bool_], NDArray[np.bool_]]] = [
        (x < y, A < B, far),
        (x > y, A > B, far),
        (ev.less(x, y), A < B, far),
        (x < 0.25, A < 0.25, near),
        (x > 0.25, A > 0.25, near),
        (0.25 < x, A > 0.25, near),  # noqa: SIM300
        (x < B, A < B, far),
        (B < x, A > B, far),  # noqa: SIM300
        (numpy.less(x, y), A < B, far),
        (numpy.greater(B, x), A < B, far),
        (1 - (y < x), A < B, far),
    ]
    for found, expected, clear in uses:
        assert isinstance(found, ckks.Ciphertext)
        assert np.abs(world.decrypt(found) - expected)[clear].max() < 1e-3
    for sign in (ev.sign(x), numpy.sign(x)):
        assert np.abs(world.decrypt(sign) - np.sign(A))[np.abs(A) > 0.1].max() < 1e-3
    for larger in (
        ev.maximum(x, y),
        numpy.maximum(x, y),
        numpy.maximum(x, B),
        numpy.maximum(B, x),
        ev.where(x < y, y, x),
    ):
        assert np.abs(world.decrypt(larger) - np.maximum(A, B)).max() < 0.1
    for smaller in (ev.minimum(x, y), numpy.minimum(x, y), numpy.minimum(B, x), numpy.where(x < y, x, y)):
        assert np.abs(world.decrypt(smaller) - np.minimum(A, B)).max() < 0.1
    world.check(ev.relu(x), np.maximum(A, 0))
    with pytest.raises(TypeError, match="dead zone"):
        x <= y  # noqa: B015
    with pytest.raises(TypeError, match="compared"):
        x == y  # noqa: B015
    with pytest.raises(TypeError, match="neither true nor false"):
        max(x, y)
    with pytest.raises(EncodingError, match="numbers were given"):
        x < [1.0, 2.0]  # noqa: B015
    with pytest.raises(TypeError, match="takes no ciphertexts"):
        numpy.where(x < y)


def test_programs_go_on_after_comparisons(world: World) -> None:
    ev = world.evaluator()
    low = world.params.bootstrapping.input_level
    x = ev.bind(world.encrypt(A, level=low))
    total = A
    for _ in range(3):
        # The absolute value, a little less each time.
        x = numpy.maximum(x, -x).with_range(-1, 1) - 0.25
        total = np.abs(total) - 0.25
    assert np.abs(world.decrypt(x) - total).max() < 0.3
    assert ev.bootstraps > 0
    assert "switching" in repr(ev)
    assert "switching" in repr(ev.with_keys(world.ctx.evaluation_keys(world.keys.secret, rotations=[1])))


def test_an_evaluator_without_a_switch_names_what_is_missing(world: World) -> None:
    plain = world.ctx.evaluator(world.keys.evaluation)
    x = plain.bind(world.encrypt(A))
    uses: list[Callable[[], object]] = [
        lambda: x < x,
        lambda: x > 1,
        lambda: numpy.maximum(x, 0),
        lambda: numpy.sign(x),
        lambda: plain.less(x, 0),
        lambda: plain.sign(x),
        lambda: plain.relu(x),
        lambda: plain.minimum(x, x),
    ]
    for use in uses:
        with pytest.raises(MissingKeyError, match=r"SwitchingKeys\.generate.*with_switching"):
            use()
    # A choice needs no switch.
    world.check(plain.where(world.encrypt(np.ones(16), 0, 1), x, 0), A)
    # Of both, the one with a switch serves what none made.
    both = plain.with_switching(world.switch)
    assert np.abs(world.decrypt(world.encrypt(A) < 0) - (A < 0))[np.abs(A) > 0.1].max() < 1e-3
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(both)


def test_what_a_switch_refuses(world: World) -> None:
    with pytest.raises(LevelError):
        world.switch.sign(world.encrypt(A, level=world.params.bootstrapping.input_level - 1))
    complex_ = world.ctx.encrypt(A + 1j * B, world.keys.public, slots=16)
    with pytest.raises(RangeError, match="real"):
        world.switch.sign(complex_)
    many = world.ctx.encrypt(np.ones(32), world.keys.public, slots=32, within=(0, 1))
    with pytest.raises(EncodingError, match="at most 16"):
        world.switch.sign(many)
    foreign = world.ctx.encrypt(A, world.ctx.keygen().public, slots=16, within=(-1, 1))
    with pytest.raises(KeyMismatchError):
        world.switch.sign(foreign)
    with pytest.raises(TypeError):
        world.switch.sign([1.0])  # type: ignore[arg-type]


def test_keys_of_others_are_refused(world: World) -> None:
    others = tfhe.Context(world.params.tfhe).keygen()
    boot_keys = bootstrapping.BootstrapKeys.generate(world.params.bootstrapping, world.keys.secret)
    with pytest.raises(Error, match="real"):
        switching.Switch(
            bootstrapping.Bootstrapper(boot_keys, mode="complex"), world.tfhe_keys.server, world.switch_keys
        )
    with pytest.raises(KeyMismatchError, match="TFHE"):
        switching.Switch(world.boot, others.server, world.switch_keys)
    secret = world.ctx.keygen().secret
    other = switching.SwitchingKeys.generate(world.params, secret, world.tfhe_keys.secret)
    with pytest.raises(KeyMismatchError):
        switching.Switch(world.boot, world.tfhe_keys.server, other)
    wide = switching.Parameters("toy", "TOY_SWITCH")
    keys = switching.SwitchingKeys.generate(wide, world.keys.secret, world.tfhe_keys.secret)
    with pytest.raises(Error, match="512 slots"):
        switching.Switch(world.boot, world.tfhe_keys.server, keys)
    small = ckks.Context(ckks.Parameters(10, [50, 40], [50], security=None)).keygen()
    with pytest.raises(ParameterMismatchError):
        switching.SwitchingKeys.generate(world.params, small.secret, world.tfhe_keys.secret)
    with pytest.raises(TypeError):
        switching.Switch(world.boot, world.keys.evaluation, world.switch_keys)  # type: ignore[arg-type]
    with pytest.raises(KeyMismatchError):
        world.ctx.evaluator(world.ctx.keygen().evaluation).with_switching(world.switch)


def test_keys_travel(world: World, tmp_path: Path) -> None:
    keys, path = world.switch_keys, tmp_path / "switching.keys"
    keys.save(path)
    with pytest.raises(FileExistsError, match="force"):
        keys.save(path)
    keys.save(path, force=True)
    for again in (
        switching.SwitchingKeys.load(path, min_security=0),
        switching.SwitchingKeys.from_bytes(bytes(keys), min_security=0),
        pickle.loads(pickle.dumps(keys)),
    ):
        assert bytes(again) == bytes(keys)
        assert again.parameters == world.params
        assert again.context.parameters == world.ctx.parameters
        assert again.nbytes == keys.nbytes > 0
    server = world.tfhe_keys.server.context.evaluator(world.tfhe_keys.server)
    switch = switching.Switch(world.boot, server, switching.SwitchingKeys.load(path, min_security=0))
    world.check_decision(switch.sign(world.encrypt(A)), A, low=-1)
    again = switching.SwitchingKeys.generate(world.params, world.keys.secret, world.tfhe_keys.secret, seed=SEED)
    assert bytes(again) == bytes(keys)
    with pytest.raises(InsecureError, match="min_security"):
        switching.SwitchingKeys.load(path)
    with pytest.raises(InsecureError):
        switching.SwitchingKeys.from_bytes(bytes(keys))
    data = bytearray(bytes(keys))
    data[-100] ^= 1
    with pytest.raises(WireError, match=r"digest|damaged"):
        switching.SwitchingKeys.from_bytes(bytes(data), min_security=0)
    with pytest.raises(WireError):
        switching.SwitchingKeys.from_bytes(bytes(keys)[:-64], min_security=0)
    with pytest.raises(WireError, match="scheme switching keys"):
        switching.SwitchingKeys.from_bytes(bytes(world.keys.secret), min_security=0)
    assert "TOY_SWITCH" in repr(keys)
    assert "<table>" in keys._repr_html_()


def test_long_calls_are_heard_and_ended(world: World) -> None:
    heard: list[tuple[int, int]] = []
    with noren.progress(lambda done, of: heard.append((done, of))):
        world.switch.sign(world.encrypt(A))
    assert heard
    with pytest.raises(KeyError), noren.progress(stop):
        world.switch.sign(world.encrypt(A))
    with pytest.raises(KeyError):
        switching.SwitchingKeys.generate(world.params, world.keys.secret, world.tfhe_keys.secret, progress=stop)


def stop(_done: int, _of: int) -> None:
    raise KeyError("stop")
