from typing import Any

import numpy as np
import pytest
from conftest import ROTATIONS, SEED, World

import noren
from noren import ckks


def test_sums_and_products_of_ciphertexts(world: World) -> None:
    a, b = world.values(), world.values()
    x, y, ev = world.encrypt(a), world.encrypt(b), world.ev
    world.check(ev.add(x, y), a + b)
    world.check(ev.sub(x, y), a - b)
    world.check(ev.neg(x), -a)
    world.check(ev.mul(x, y), a * b)
    world.check(ev.square(x), a * a)
    assert ev.mul(x, y).level == 2


def test_every_kind_of_operand(world: World) -> None:
    a, b = world.values(), world.values()
    x, ev = world.encrypt(a), world.ev
    encoded = world.ctx.encode(b, slots=8)
    cases: list[tuple[Any, Any]] = [(b, b), (list(b), b), (encoded, b), (0.5, 0.5), (3, 3), (1j, 1j), (b + 1j, b + 1j)]
    for operand, value in cases:
        world.check(ev.add(x, operand), a + value)
        world.check(ev.sub(x, operand), a - value)
        world.check(ev.mul(x, operand), a * value)


def test_whole_numbers_use_no_level(world: World) -> None:
    x = world.encrypt(world.values())
    assert [world.ev.mul(x, k).level for k in (3, np.int64(3), True, np.array(3))] == [3, 3, 3, 3]
    assert [world.ev.mul(x, k).level for k in (3.0, np.float32(3), 3j)] == [2, 2, 2]


def test_rotations(world: World) -> None:
    a = world.values()
    x = world.encrypt(a)
    for steps in ROTATIONS:
        world.check(world.ev.rotate(x, steps), np.roll(a, -steps))
    for rotated, steps in zip(world.ev.rotate_many(x, np.array(ROTATIONS)), ROTATIONS, strict=True):
        world.check(rotated, np.roll(a, -steps))
    world.check(world.ev.rotate(x, 0), a)


def test_complex_operations(world: World) -> None:
    a = world.values() + 1j * world.values()
    x = world.encrypt(a)
    world.check(world.ev.conjugate(x), a.conj())
    world.check(world.ev.mul_i(x), 1j * a)


def test_sums_of_products(world: World) -> None:
    a, b = world.rng.uniform(-1, 1, (2, 3, 8))
    xs, ys = ([world.encrypt(row) for row in rows] for rows in (a, b))
    world.check(world.ev.dot(xs, ys), (a * b).sum(axis=0))
    world.check(world.ev.weighted_sum(xs, [1, -2, 0.5], constant=3), a[0] - 2 * a[1] + a[2] / 2 + 3)
    assert world.ev.dot(xs, ys).level == 2
    with pytest.raises(noren.EncodingError, match="3 ciphertexts"):
        world.ev.dot(xs, ys[:2])
    with pytest.raises(noren.EncodingError, match="3 ciphertexts"):
        world.ev.weighted_sum(xs, [1, 2])
    with pytest.raises(noren.EncodingError):
        world.ev.dot([], [])


def test_sums_of_slots(world: World) -> None:
    a = world.values()
    expected = sum(np.roll(a, -j) for j in range(6))
    world.check(world.ev.sum(world.encrypt(a), 6), expected)
    with pytest.raises(ValueError, match="count"):
        world.ev.sum(world.encrypt(a), 0)


def test_products_of_slots(world: World) -> None:
    a = world.values()
    keys = world.ctx.keygen(rotations=ckks.rotations_of_product(8) + ckks.rotations_of_product(3, stride=2), seed=SEED)
    ev, x = world.ctx.evaluator(keys.evaluation), world.encrypt(a)
    y = ev.product(x)
    assert (y.shape, y.period, y.level) == ((1,), 1, 0)
    world.check(y.with_length(8), [a.prod()] * 8)
    world.check(ev.product(x, 3, stride=2), a * np.roll(a, -2) * np.roll(a, -4))
    assert ckks.rotations_of_product(100) == [1, 2, 3, 6, 12, 25, 50]
    for count, stride in [(0, 1), (9, 1), (2, 0)]:
        with pytest.raises(noren.EncodingError):
            ev.product(x, count, stride=stride)
    with pytest.raises(noren.LevelError):
        ev.product(ev.at_level(x, 2))
    with pytest.raises(noren.MissingKeyError, match="rotation by 3"):
        ev.product(x, 2, stride=3)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_unrolled_sums_of_slots(world: World, steps: int) -> None:
    keys = world.ctx.keygen(rotations=ckks.rotations_of_sum(8, steps=steps), relinearization=False, seed=SEED)
    a = world.values()
    y = world.ctx.evaluator(keys.evaluation).sum(world.encrypt(a), 8, steps=steps)
    assert (y.shape, y.period) == ((1,), 1)
    world.check(y.with_length(8), [a.sum()] * 8)


def test_steps_of_sums_follow_the_memory_for_keys(world: World) -> None:
    counts = [len(ckks.rotations_of_sum(128, steps=steps)) for steps in range(1, 8)]
    assert counts == [127, 22, 13, 10, 9, 8, 7]
    assert world.ctx.steps_of_sum(128) < 7
    with pytest.raises(noren.Error, match="bytes"):
        world.ctx.steps_of_sum(128, key_memory=1)
    few = world.ctx.evaluator(world.ctx.keygen(rotations=[1], relinearization=False, seed=SEED).evaluation)
    with pytest.raises(noren.MissingKeyError, match=r"rotation by 2 .*rotation by 7"):
        few.sum(world.encrypt(world.values()), 8, steps=1)


def test_polynomials(world: World) -> None:
    a = world.values()
    x = world.encrypt(a)
    world.check(world.ev.polynomial(x, [1, 0, -2, 0.5]), 1 - 2 * a**2 + a**3 / 2)
    coefficients = np.array([0.25, -0.5, 0, 1])
    series = sum(c * np.cos(k * np.arccos(a)) for k, c in enumerate(coefficients))
    world.check(world.ev.polynomial(x, coefficients, basis="chebyshev"), series)
    scaled = world.encrypt(4 * a)
    found = world.ev.polynomial(scaled, coefficients, basis="chebyshev", interval=(-4, 4))
    world.check(found, series)
    with pytest.raises(ValueError, match="basis"):
        world.ev.polynomial(x, [1, 2], basis="legendre")  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(8, 8), (5, 8), (8, 3)])
def test_matrix_products(world: World, shape: tuple[int, int]) -> None:
    matrix = world.rng.uniform(-1, 1, shape)
    a = world.values(shape[1])
    keys = world.ctx.keygen(rotations=ckks.rotations_of_matrix(matrix), relinearization=False, seed=SEED)
    ev = world.ctx.evaluator(keys.evaluation)
    world.check(ev.matvec(matrix, world.encrypt(a)), matrix @ a)


def test_levels_and_scales(world: World) -> None:
    a = world.values()
    x, ev, params = world.encrypt(a), world.ev, world.ctx.parameters
    low = ev.at_level(x, 1)
    assert low.level == 1
    assert low.scale == pytest.approx(params.scale(1), rel=2**-30)
    world.check(low, a)
    world.check(ev.add(low, x), 2 * a)
    dropped = ev.drop_level(x, 1)
    assert (dropped.level, dropped.scale) == (1, x.scale)
    product = ev.mul_no_rescale(x, x)
    assert (product.level, product.scale) == (3, x.scale**2)
    world.check(ev.rescale(product), a * a)
    with pytest.raises(noren.ScaleError):
        ev.add(product, x)
    left, right = ev.align(ev.square(x), x)
    assert left.level == right.level
    world.check(ev.add(left, right), a * a + a)


def test_operators(world: World) -> None:
    a, b = world.values(), world.values()
    x, y = world.encrypt(a), world.encrypt(b)
    world.check(x + y, a + b)
    world.check(x - y, a - b)
    world.check(x * y, a * b)
    world.check(-x, -a)
    world.check(0.5 + x, 0.5 + a)
    world.check(b - x, b - a)
    world.check(1 - x, 1 - a)
    world.check(b * x, b * a)
    world.check(np.float64(0.5) * x, a / 2)
    world.check(np.float32(0.5) + x, a + 0.5)
    world.check(x * np.complex128(1j), a * 1j)
    world.check(np.eye(8)[::-1] @ x, a[::-1])
    x += y
    world.check(x, a + b)


def test_operators_take_the_evaluator_of_an_operand(world: World) -> None:
    a = world.values()
    fresh = world.ctx.encrypt(a, world.keys.public, slots=8)
    world.check(fresh + world.encrypt(a), 2 * a)
    world.check(world.ev.bind(fresh) * 2, 2 * a)


def test_what_is_no_number_is_left_to_the_other_operand(world: World) -> None:
    class Greedy:
        def __radd__(self, other: object) -> str:
            return "mine"

    x = world.encrypt(world.values())
    assert x + Greedy() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        x * object()  # type: ignore[operator]
    with pytest.raises(TypeError, match="dtype"):
        world.ev.mul(x, "text")


def test_a_known_magnitude_sharpens_bounds(world: World) -> None:
    x = world.encrypt([0.25])
    known = x.with_magnitude(0.25)
    assert known.magnitude == 0.25
    assert (known * known).error_bound < (x * x).error_bound
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="magnitude"):
            x.with_magnitude(wrong)
