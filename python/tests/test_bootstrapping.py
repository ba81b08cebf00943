"""Bootstrapping on the toy ring: new levels by hand and by themselves, keys in files, and what is refused."""

import math
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from noren import (
    Error,
    LevelError,
    MissingKeyError,
    ParameterMismatchError,
    RangeError,
    WireError,
    bootstrapping,
    ckks,
    programs,
)

SEED = bytes(range(32))
# What one bootstrap loses at most, by the tests of the library.
PRECISION = 2.0**-21


@dataclass(frozen=True)
class World:
    """Keys of the toy preset, as a client makes them, and what a server computes with."""

    params: bootstrapping.Parameters
    ctx: ckks.Context
    keys: ckks.Keys
    boot_keys: bootstrapping.BootstrapKeys
    real: bootstrapping.Bootstrapper

    def evaluator(self) -> ckks.Evaluator:
        """Make an evaluator that has bootstrapped nothing."""
        return self.ctx.evaluator(self.boot_keys.evaluation).with_bootstrapping(self.real)

    def encrypt(self, values: ArrayLike, levels: int = 2, slots: int | None = None) -> ckks.Ciphertext:
        """Encrypt a vector with `levels` levels left."""
        level = self.params.input_level + levels
        x: ckks.Ciphertext = self.ctx.encrypt(values, self.keys.public, slots=slots, level=level)
        return x

    def check(self, x: ckks.Ciphertext, expected: NDArray[np.float64], most: float) -> None:
        """Decrypt, and compare within the error bound and `most`."""
        error = np.abs(self.ctx.decrypt(x, self.keys.secret) - expected).max()
        assert error <= min(x.error_bound, most)


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bootstrapping") / "bootstrap.keys"


@pytest.fixture(scope="session")
def world(path: Path) -> World:
    params = bootstrapping.Parameters("toy")
    ctx = ckks.Context(params.ckks)
    keys = ctx.keygen(relinearization=False, seed=SEED)
    heard: list[tuple[int, int]] = []
    rotations = ckks.rotations_of_sum(512) + ckks.rotations_of_matrix(np.ones((8, 8)))
    size = bootstrapping.BootstrapKeys.generate_file(
        path, params, keys.secret, rotations=rotations, seed=SEED, progress=lambda done, of: heard.append((done, of))
    )
    assert path.stat().st_size == size
    assert heard == [(i + 1, len(heard)) for i in range(len(heard))]
    boot_keys = bootstrapping.BootstrapKeys.load(path, min_security=0)
    assert boot_keys.parameters == params
    return World(params, ctx, keys, boot_keys, bootstrapping.Bootstrapper(boot_keys))


def test_presets_say_what_they_are() -> None:
    for name in bootstrapping.PRESETS:
        params = bootstrapping.Parameters(name)
        assert params.preset == name
        assert params.output_level - params.input_level == params.levels_left
        assert params.ckks.max_level == params.max_level
        assert params.ckks.slots >= params.slots
        assert params.ckks.security == (None if name == "toy" else 128)
    few = bootstrapping.Parameters("toy", log_slots=4)
    assert few.slots == 16
    assert few.ckks == bootstrapping.Parameters("toy").ckks
    with pytest.raises(Error, match="one of n16"):
        bootstrapping.Parameters("n14")
    with pytest.raises(Error, match="log_slots"):
        bootstrapping.Parameters("toy", log_slots=10)


def test_a_plan_is_known_before_any_key() -> None:
    plan = bootstrapping.Parameters("n16").plan()
    assert plan.key_bytes + plan.factor_bytes <= plan.memory_bytes < 8 << 30
    assert plan.disk_bytes < 4 << 30
    assert plan.key_bytes == sum(key["bytes"] for key in plan.keys)
    assert plan.disk_bytes == sum(key["disk_bytes"] for key in plan.keys)
    assert {"relinearisation key", "rotation keys of coefficient to slot"} <= {key["name"] for key in plan.keys}
    assert math.isclose(plan.log2_failure(1024) - plan.log2_failure(), 10)
    assert plan.log2_failure(100) < -64
    assert plan.systematic_error() < 2**-24.7 < plan.systematic_error("complex")
    assert 21 < plan.precision_bits("complex") < plan.precision_bits() < 22
    precise = bootstrapping.Parameters("n16-precise").plan()
    assert precise.precision_bits() > 30
    assert precise.systematic_error() < 2**-35
    with pytest.raises(Error, match="at most half the slots"):
        plan.precision_bits("paired")
    with pytest.raises(Error, match="one of complex, real, paired"):
        plan.precision_bits("rational")  # type: ignore[arg-type]
    toy = bootstrapping.Parameters("toy").plan()
    # No machine is a thousand times faster or slower than ours.
    assert 1e-5 < toy.seconds("complex", threads=1) < 10
    assert 1e-5 < toy.seconds() < 10
    bootstrapping.Parameters("toy").plan().check()


def test_restarts_of_the_chain_of_scales_are_part_of_parameters() -> None:
    params = bootstrapping.Parameters("toy").ckks
    assert params.restarts[0] == 42
    assert pickle.loads(pickle.dumps(params)) == params
    assert "restarts={0: 42" in repr(params)
    again = ckks.Parameters(10, [50, 40, 45], [50], 45, security=None, restarts={1: 40, 0: 38})
    assert again.restarts == {1: 40, 0: 38}
    assert math.isclose(again.scale(0), 2**38)
    with pytest.raises(Error, match="restarts"):
        ckks.Parameters(10, [50, 40], [50], security=None, restarts={1: 40})


def test_a_ciphertext_gets_new_levels(world: World) -> None:
    values = np.random.default_rng(1).uniform(-1, 1, 512)
    x = world.encrypt(values, levels=0)
    y = world.real.bootstrap(x)
    assert (x.level, y.level) == (world.params.input_level, world.params.output_level)
    world.check(y, values, PRECISION)
    ev = world.evaluator()
    world.check(ev.bootstrap(x), values, PRECISION)
    assert ev.bootstraps == 1
    # High enough already.
    assert ev.bootstrap(y).level == y.level
    assert ev.bootstraps == 1


def test_complex_numbers_keep_their_imaginary_parts(world: World) -> None:
    rng = np.random.default_rng(2)
    values = (rng.uniform(-1, 1, 64) + 1j * rng.uniform(-1, 1, 64)) / 2
    x = world.encrypt(values, levels=0, slots=64)
    bootstrapper = bootstrapping.Bootstrapper(world.boot_keys, mode="complex")
    assert (bootstrapper.mode, world.real.mode) == ("complex", "real")
    found = world.ctx.decrypt(bootstrapper.bootstrap(x), world.keys.secret, complex=True)
    assert np.abs(found - values).max() <= PRECISION
    with pytest.raises(RangeError, match=r"complex or paired.*with_range"):
        world.real.bootstrap(x)


def test_operators_bootstrap_by_themselves(world: World) -> None:
    ev = world.evaluator()
    values = np.random.default_rng(3).uniform(-0.9, 0.9, 512)
    x, expected = ev.bind(world.encrypt(values)), values
    for _ in range(10):
        x, expected = x * x, expected * expected
    assert ev.bootstraps == 4
    assert ev.log2_failure == world.params.plan().log2_failure(4)
    assert ev.levels_left(x) == 0
    # The product of 2 |x|, over all squares, is at most 1 / (-e x ln x) at x = 0.9.
    world.check(x, expected, 5 * 4 * PRECISION)


def test_everything_that_needs_levels_finds_them(world: World) -> None:
    rng = np.random.default_rng(4)
    values, other, matrix = rng.uniform(-1, 1, 512), rng.uniform(-1, 1, 512), rng.uniform(-1, 1, (8, 8))
    ev = world.evaluator()
    x, y = world.encrypt(values, levels=0), world.encrypt(other, levels=0)
    for found, expected in (
        (ev.mul(x, y), values * other),
        (ev.mul(x, other), values * other),
        (ev.mul(x, 0.5), 0.5 * values),
        (ev.square(x), values**2),
        (ev.weighted_sum([x, y], [0.5, -0.25], constant=0.1), 0.5 * values - 0.25 * other + 0.1),
        (ev.dot([x, y], [y, y]), values * other + other**2),
        (ev.polynomial(x, [0.1, 0.2, 0.3, 0.4, -0.5]), np.polynomial.Polynomial([0.1, 0.2, 0.3, 0.4, -0.5])(values)),
    ):
        world.check(found, expected, 8 * PRECISION)
    # The two ciphertexts were bootstrapped once, and what the polynomial needs beyond two levels.
    assert 2 < ev.bootstraps < 8
    short = world.encrypt(values[:8], levels=0)
    world.check(ev.matvec(matrix, short), matrix @ values[:8], 8 * PRECISION)


def test_programs_state_what_they_know_of_errors(world: World) -> None:
    x = world.encrypt(np.full(512, 0.5), levels=1).with_magnitude(0.5)
    stated = x.with_error_bound(0.25)
    # Decoding rounds to float64.
    assert stated.error_bound == pytest.approx(0.25, abs=1e-13)
    assert stated.magnitude == 0.5
    assert 0.3125 <= world.evaluator().square(stated).error_bound < 0.3126
    for bound in (-1.0, math.nan):
        with pytest.raises(ValueError, match="0 or more"):
            x.with_error_bound(bound)


def test_what_needs_no_levels_bootstraps_nothing(world: World) -> None:
    ev = world.evaluator()
    values = np.random.default_rng(5).uniform(-1, 1, 512)
    x = ev.bind(world.encrypt(values, levels=0))
    y = ev.sum(x + x - 0.5 * np.ones(512) + 2 * x - (-x), 512)
    world.check(y, np.full(512, (5 * values - 0.5).sum()), 512 * PRECISION)
    assert (ev.bootstraps, ev.log2_failure) == (0, -math.inf)
    plain = world.ctx.evaluator(world.boot_keys.evaluation)
    assert (plain.bootstraps, plain.levels_left(x)) == (0, x.level)


def test_programs_run_at_any_level(world: World) -> None:
    table = np.random.default_rng(6).uniform(-1, 1, (128, 1))
    level = world.params.input_level
    encrypted = programs.encrypt_table(table, world.keys.public, level=level)
    ev = world.evaluator()
    result = programs.run(ev, programs.Program("variance"), encrypted)
    assert ev.bootstraps > 0
    matrix = programs.decrypt_table(result, world.keys.secret)
    assert abs(matrix.values[0, 0] - table.var(ddof=1)) <= min(matrix.errors[0, 0], 1e-4)


def test_keys_travel_as_bytes_and_files(world: World, path: Path, tmp_path: Path) -> None:
    data = bytes(world.boot_keys)
    assert data == path.read_bytes()
    assert bytes(bootstrapping.BootstrapKeys.from_bytes(data, min_security=0)) == data
    world.boot_keys.save(tmp_path / "again.keys")
    assert (tmp_path / "again.keys").read_bytes() == data
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    (tmp_path / "damaged.keys").write_bytes(damaged)
    with pytest.raises(WireError):
        bootstrapping.BootstrapKeys.load(tmp_path / "damaged.keys", min_security=0)
    with pytest.raises(FileNotFoundError):
        bootstrapping.BootstrapKeys.load(tmp_path / "none.keys")
    with pytest.raises(WireError):
        bootstrapping.BootstrapKeys.from_bytes(bytes(world.keys.public))


def test_equal_seeds_give_equal_keys(world: World) -> None:
    made = bootstrapping.BootstrapKeys.generate(world.params, world.keys.secret, seed=SEED)
    again = bootstrapping.BootstrapKeys.generate(world.params, world.keys.secret, seed=SEED)
    assert bytes(made) == bytes(again)


def test_what_progress_raises_is_raised(world: World) -> None:
    def refuse(done: int, of: int) -> None:
        raise RuntimeError(f"heard {done} of {of}")

    with pytest.raises(RuntimeError, match="heard 1 of"):
        bootstrapping.BootstrapKeys.generate(world.params, world.keys.secret, progress=refuse)


def test_what_cannot_be_bootstrapped_is_refused(world: World) -> None:
    ev = world.evaluator()
    values = np.full(512, 0.5)
    low: ckks.Ciphertext = world.ctx.encrypt(values, world.keys.public, level=world.params.input_level - 1)
    with pytest.raises(LevelError, match="begins at level 3, the ciphertext is at level 2"):
        ev.square(low)
    with pytest.raises(Error, match="below 5"):
        world.real.bootstrap(world.encrypt(values))
    with pytest.raises(Error, match="magnitude is 4096"):
        ev.bootstrap(world.encrypt(values * 8000, levels=0))
    plain = world.ctx.evaluator(world.boot_keys.evaluation)
    with pytest.raises(MissingKeyError, match="with_bootstrapping"):
        plain.bootstrap(world.encrypt(values))
    with pytest.raises(MissingKeyError, match="rotation by 77"):
        ev.rotate(world.encrypt(values), 77)
    other = ckks.Context(ckks.Parameters(10, [50, 40], [50], security=None))
    keys = other.keygen()
    with pytest.raises(ParameterMismatchError):
        other.evaluator(keys.evaluation).with_bootstrapping(world.real)
    with pytest.raises(ParameterMismatchError):
        world.real.bootstrap(other.encrypt([1.0], keys.public))
    with pytest.raises(ParameterMismatchError):
        bootstrapping.BootstrapKeys.generate(world.params, keys.secret)
    with pytest.raises(ValueError, match="mode"):
        bootstrapping.Bootstrapper(world.boot_keys, mode="rational")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(ev)
