"""Vectors, matrices and the verbs that all schemes share: right for every shape, or refused."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import noren
from noren import bfv, bgv, ckks

# A ciphertext of any scheme.
Ciphertext: TypeAlias = Any
Use: TypeAlias = Callable[[], object]

T = 65537
SEED = bytes(range(32))
SHIFT = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
LAYERS = (np.arange(32).reshape(4, 8) % 5 - 2, np.arange(8).reshape(2, 4) % 3 - 1)
MATRICES = (SHIFT, *LAYERS, np.ones((2, 3), dtype=int), np.ones((3, 2), dtype=int))


class World:
    """A scheme in a small ring, with keys for the matrices and sums of the tests."""

    def __init__(self, scheme: ModuleType) -> None:
        self.scheme = scheme
        parameters = (
            ckks.Parameters(10, [50, 40, 40, 40, 40], [50, 50], security=None)
            if scheme is ckks
            else bgv.Parameters(10, T, [40] * 6, [48] * 2, security=None)
        )
        self.ctx: Any = scheme.Context(parameters)
        every = [scheme.rotations_of_matrix(matrix) for matrix in MATRICES]
        sums = [scheme.rotations_of_sum(count) for count in (3, 4, 8)]
        self.keys = self.ctx.keygen(rotations={1, *np.concatenate(every + sums).tolist()}, seed=SEED)
        self.ev: Any = self.ctx.evaluator(self.keys.evaluation)
        self.slots: int = self.encrypt([1]).slots

    def encrypt(self, values: ArrayLike, **how: bool) -> Ciphertext:
        return self.ev.bind(self.ctx.encrypt(values, self.keys.public, **how))

    def check(self, x: Ciphertext, expected: ArrayLike, most: float = 1e-4) -> None:
        """Shape and numbers; within the bound, or exact."""
        expected = np.asarray(expected)
        if self.scheme is ckks:
            found: NDArray[Any] = self.ctx.decrypt(x, self.keys.secret)
            assert found.shape == expected.shape == x.shape
            assert np.abs(found - expected).max() <= x.error_bound < most
        else:
            found = self.ctx.decrypt(x, self.keys.secret, signed=True)
            assert found.shape == expected.shape == x.shape
            assert (found == (expected.astype(np.int64) + T // 2) % T - T // 2).all()


@pytest.fixture(params=[ckks, bgv, bfv], ids=["ckks", "bgv", "bfv"], scope="module")
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def test_matrices_multiply_fresh_vectors(world: World) -> None:
    x = np.array([1, 2, 3])
    world.check(SHIFT @ world.encrypt(x), [2, 3, 1])
    world.check(SHIFT @ (world.encrypt(x) + 1), [3, 4, 2])
    world.check(SHIFT @ world.encrypt(x, repeat=True), [2, 3, 1])
    world.check(np.ones((2, 3), dtype=int) @ world.encrypt(x), [6, 6])


def test_layers_chain(world: World) -> None:
    x = np.arange(8) - 3
    for how in ({}, {"repeat": True}):
        y = world.encrypt(x, **how)
        for layer in LAYERS:
            y = layer @ y
        world.check(y, LAYERS[1] @ (LAYERS[0] @ x))


def test_repeated_vectors_take_fewer_keys(world: World) -> None:
    matrix = LAYERS[0]
    few = world.scheme.rotations_of_matrix(matrix, slots=8)
    assert len(few) < len(world.scheme.rotations_of_matrix(matrix))
    ev = world.ctx.evaluator(world.ctx.keygen(rotations=few, seed=SEED).evaluation)
    x = np.arange(8)
    world.check(ev.matvec(matrix, world.encrypt(x, repeat=True)), matrix @ x)
    with pytest.raises(noren.MissingKeyError, match="rotation"):
        ev.matvec(matrix, world.encrypt(x))


def test_matrices_of_other_shapes_are_refused(world: World) -> None:
    x = world.encrypt([1, 2, 3])
    with pytest.raises(noren.EncodingError, match=r"8 columns.*3 values.*with_length"):
        LAYERS[0] @ x
    with pytest.raises(noren.EncodingError, match="2 dimensions"):
        world.ev.matvec([1, 2, 3], x)
    # The first slots of a vector, once the caller says so.
    long = world.encrypt([1, 2, 3, 4])
    world.check(SHIFT @ long.with_length(3), [2, 3, 1])
    for length in (0, world.slots + 1):
        with pytest.raises(noren.EncodingError, match="values"):
            x.with_length(length)


def test_sums_count_every_value_once(world: World) -> None:
    x, y = world.encrypt([1, 2, 3]), world.encrypt([1, 2, 3, 4], repeat=True)
    world.check(world.ev.sum(x), [6])
    world.check(x.sum(), [6])
    world.check(y.sum(), [10])
    if world.scheme is ckks:
        for mean in (x.mean(), np.mean(x), world.ev.mean(x), np.sum(x) / 3):
            world.check(mean, [2])
        world.check(y.mean(), [2.5])
        world.check(y - y.mean(), [-1.5, -0.5, 0.5, 1.5])
        # Equal values count as often as there are.
        world.check(y.sum().with_length(4).sum(), [40])
    # A sum of all values is one number where it stands in every slot.
    total = world.ev.sum(y)
    world.check(total, [10])
    assert (total.shape, total.period) == ((1,), 1)
    world.check(world.ev.add(world.ev.sum(y), [1, 2, 3, 4]), [11, 12, 13, 14])
    # It stands beside vectors of any length, one in the first slot does not.
    world.check(x * total, [10, 20, 30])
    world.check(total - np.array([1, 2, 3]), [9, 8, 7])
    # Several values that are all the same are a vector.
    several = total.with_length(4)
    world.check(several + np.array([1, 2, 3, 4]), [11, 12, 13, 14])
    with pytest.raises(noren.EncodingError, match="3 and 4"):
        x * several
    with pytest.raises(noren.EncodingError, match="beside a vector of 4"):
        several - np.array([1, 2, 3])
    with pytest.raises(noren.EncodingError, match="3 and 1"):
        x * world.ev.sum(x)
    for count, stride in ((0, 1), (-1, 1), (4, 1), (2, 0), (3, 2), (2, -3), (2**40, 1), (2, -(2**62))):
        with pytest.raises(noren.EncodingError):
            world.ev.sum(x, count, stride=stride)
    for count in (0, -3):
        with pytest.raises(noren.EncodingError, match="count"):
            world.scheme.rotations_of_sum(count)


def test_tables_are_not_taken_for_arrays(world: World) -> None:
    class Frame:
        columns = ("age", "dose")

        def to_numpy(self) -> NDArray[np.int64]:
            return np.arange(6).reshape(3, 2)

        def __array__(self, dtype: object = None, copy: object = None) -> NDArray[np.int64]:
            return self.to_numpy()

    with pytest.raises(TypeError, match=r"a table \(Frame\).*table\.to_numpy\(\)\.T.*encrypt_table"):
        world.encrypt(Frame())
    assert len(world.ctx.encrypt(Frame().to_numpy(), world.keys.public)) == 3


def test_clear_operands_are_those_of_numpy(world: World) -> None:
    v, w = np.array([1, 2, 3]), np.array([4, -5, 6])
    for how in ({}, {"repeat": True}):
        x = world.encrypt(v, **how)
        for y in (w, list(w), w[:1], [7], 7):
            beside = np.asarray(y)
            world.check(x + y, v + beside)
            world.check(y - x, beside - v)
            world.check(x - y, v - beside)
            world.check(y * x, beside * v)
        for wrong in ([1, 2], [1, 2, 3, 4], np.ones((1, 3), dtype=int), np.ones((3, 1), dtype=int), []):
            for operation in (world.ev.add, world.ev.sub, world.ev.mul):
                with pytest.raises(noren.EncodingError):
                    operation(x, wrong)
    every = np.arange(world.slots) % 7
    world.check((world.encrypt(v) * every).with_length(3), v * every[:3])


def test_encrypted_operands_have_one_shape(world: World) -> None:
    x, y, z = world.encrypt([1, 2, 3]), world.encrypt([1, 2]), world.encrypt([4, 5, 6], repeat=True)
    world.check(x * z + x, [5, 12, 21])
    uses: tuple[Use, ...] = (
        lambda: x + y,
        lambda: x * y,
        lambda: world.ev.dot([x, y], [x, y]),
        lambda: world.ev.weighted_sum([x, y], [1, 2]),
    )
    for refused in uses:
        with pytest.raises(noren.EncodingError, match="3 and 2"):
            refused()
    world.check(world.ev.weighted_sum([x, z], [2, 3], constant=1), [15, 20, 25])
    # Once slots were moved, all of them count.
    turned = world.ev.rotate(x, 1)
    assert turned.shape == (world.slots,)
    world.check((turned * x).with_length(3), [2, 6, 0])


def test_values_that_fill_a_period_rotate_among_themselves(world: World) -> None:
    x = world.encrypt([1, 2, 3, 4], repeat=True)
    assert (x.shape, x.period) == ((4,), 4)
    world.check(world.ev.rotate(x, 1), [2, 3, 4, 1])


def test_lists_and_files(world: World, tmp_path: Path) -> None:
    rows = np.arange(6).reshape(2, 3)
    xs = world.ctx.encrypt(rows, world.keys.public)
    found = world.ctx.decrypt(xs, world.keys.secret)
    assert np.abs(found - rows).max() < 1e-6
    nothing: tuple[ArrayLike, ...] = ([], np.zeros((2, 0), dtype=int))
    for empty in nothing:
        with pytest.raises(noren.EncodingError, match="no values"):
            world.ctx.encrypt(empty, world.keys.public)
    assert world.ctx.encrypt(np.zeros((0, 3), dtype=int), world.keys.public) == []
    with pytest.raises(noren.EncodingError, match="at least 1"):
        world.ctx.decrypt([], world.keys.secret)
    with pytest.raises(noren.EncodingError, match="2, 3"):
        world.ctx.decrypt([world.encrypt([1, 2]), xs[0]], world.keys.secret)
    path = tmp_path / "x"
    xs[1].save(path)
    world.check(world.scheme.Ciphertext.load(world.ctx, path), rows[1])
    world.check(world.ctx.load(path), rows[1])
    world.ctx.save(path, xs)
    for x, row in zip(world.ctx.load(path), rows, strict=True):
        world.check(x, row)
    with pytest.raises(noren.WireError):
        world.scheme.Ciphertext.load(world.ctx, path)
    with pytest.raises(noren.EncodingError):
        world.ctx.save(path, [])
    with pytest.raises(FileNotFoundError):
        world.ctx.load(tmp_path / "none")
    # The shape travels.
    y = SHIFT @ world.encrypt([1, 2, 3])
    world.check(world.scheme.Ciphertext.from_bytes(world.ctx, bytes(y)), [2, 3, 1])


def test_powers(world: World) -> None:
    v = np.array([1, -2, 3])
    x = world.encrypt(v)
    for exponent in (0, 1, 2, 3, 4, 7, 2.0, np.int64(3)):
        # The bound knows that values are up to 4.
        world.check(x**exponent, v ** int(exponent), 1e-6 * 4.0 ** int(exponent))
    assert (x**0).level == x.level
    for wrong in (-1, 0.5, float("nan"), 2**40, "two", x):
        with pytest.raises(noren.EncodingError, match="exponent"):
            x**wrong
    with pytest.raises(TypeError):
        pow(x, 2, 5)


def test_division_is_by_clear_numbers_of_ckks() -> None:
    world = World(ckks)
    v = np.array([1.0, -2.0, 3.0])
    x = world.encrypt(v)
    for divisor in (4, 4.0, [2.0, 4.0, -8.0], np.float32(0.5), [2]):
        world.check(x / divisor, v / np.asarray(divisor))
    assert (x / 1).level == x.level
    for zero in (0, 0.0, [1, 0, 2], 0j):
        with pytest.raises(ZeroDivisionError):
            x / zero
    uses: tuple[Use, ...] = (lambda: x / x, lambda: 1 / x, lambda: np.ones(3) / x)
    for refused in uses:
        with pytest.raises(TypeError, match="polynomial"):
            refused()


@pytest.mark.parametrize("scheme", [bgv, bfv])
def test_integers_are_not_divided(scheme: ModuleType) -> None:
    x = World(scheme).encrypt([2, 4])
    uses: tuple[Use, ...] = (lambda: x / 2, lambda: 2 / x)
    for refused in uses:
        with pytest.raises(TypeError, match="pow"):
            refused()
