"""BGV and BFV in rings whose index is no power of two: slots are elements of a Galois ring, in dimensions."""

import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import noren
from noren import bfv, bgv

# Two native dimensions, modulo 2 and modulo 2^5; and one that is not native.
SETS = [{"m": 511, "p": 2, "r": 1}, {"m": 511, "p": 2, "r": 5}, {"m": 57, "p": 7, "r": 1}]

# A ciphertext of either scheme, whose operators take no other.
Ciphertext: TypeAlias = Any


class World:
    def __init__(self, scheme: ModuleType, ring: dict[str, int]) -> None:
        self.scheme = scheme
        self.parameters = bgv.Parameters(**ring, log_q=[45] * 4, log_p=[48] * 2, security=None)
        self.t, self.count, self.d = ring["p"] ** ring["r"], self.parameters.slots, self.parameters.slot_degree
        self.ctx: Any = scheme.Context(self.parameters)
        self.rng = np.random.default_rng(7)
        self.maps = self.rng.integers(0, self.t, (3, 2, self.d, self.d))
        self.matrix = self.rng.integers(0, self.t, (5, 4, self.d))
        self.steps = [1] * len(self.parameters.dimensions)
        automorphisms = {
            *self.ctx.rotation_along(self.steps),
            self.ctx.frobenius_exponent(1),
            *(k for entries in (self.maps, self.matrix) for k in bgv.SlotMatrix(self.ctx, entries).automorphisms),
        }
        self.keys = self.ctx.keygen(automorphisms=sorted(automorphisms), seed=bytes(range(32)))
        self.ev: Any = self.ctx.evaluator(self.keys.evaluation)

    def elements(self, count: int) -> NDArray[np.int64]:
        return self.rng.integers(0, self.t, (count, self.d))

    def encrypt(self, elements: ArrayLike) -> Ciphertext:
        return self.ev.bind(self.ctx.encrypt(elements, self.keys.public, elements=True))

    def decrypt(self, x: Ciphertext) -> NDArray[np.int64]:
        values: NDArray[np.int64] = self.ctx.decrypt(x, self.keys.secret, elements=True)
        return values

    def product(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        """The product in Z_t[Y]/G(Y), by hand."""
        modulus = [int(x) for x in self.ctx.slot_modulus]
        result = np.convolve(a, b).tolist()
        for i in range(len(result) - 1, self.d - 1, -1):
            lead = result.pop()
            for j in range(self.d):
                result[i - self.d + j] -= lead * modulus[j]
        reduced: NDArray[np.int64] = np.array(result, dtype=np.int64) % self.t
        return reduced

    def power(self, a: NDArray[np.int64], exponent: int) -> NDArray[np.int64]:
        result: NDArray[np.int64] = np.eye(1, self.d, dtype=np.int64)[0]
        for bit in f"{exponent:b}":
            result = self.product(result, result)
            result = self.product(result, a) if bit == "1" else result
        return result


@pytest.fixture(params=[(bgv, SETS[0]), (bgv, SETS[1]), (bfv, SETS[2])], ids=["2", "2^5", "7"], scope="module")
def world(request: pytest.FixtureRequest) -> World:
    return World(*request.param)


def test_slots_are_elements_of_a_galois_ring(world: World) -> None:
    x, y = world.elements(world.count), world.elements(world.count)
    assert (world.decrypt(world.encrypt(x)) == x).all()
    products = np.array([world.product(a, b) for a, b in zip(x, y, strict=True)])
    cx, cy = world.encrypt(x), world.encrypt(y)
    for found, expected in [
        (cx + cy, x + y),
        (cx - y, x - y),
        (cx * cy, products),
        (cx * y, products),
        (-cx, -x),
        (3 * cx, 3 * x),
    ]:
        assert (world.decrypt(found) == expected % world.t).all()
    signed = world.ctx.decrypt(cx, world.keys.secret, elements=True, signed=True)
    assert (signed % world.t == x).all()
    assert (2 * np.abs(signed) <= world.t).all()
    assert world.ctx.decrypt([cx, cy], world.keys.secret, elements=True).shape == (2, world.count, world.d)


def test_numbers_are_elements_without_higher_coefficients(world: World) -> None:
    numbers = np.arange(world.count) % world.t
    x = world.ctx.encrypt(numbers, world.keys.public)
    assert x.shape == (world.count,)
    assert x.slots == world.count
    assert (world.ctx.decrypt(x, world.keys.secret) == numbers).all()
    assert (world.decrypt(x) == np.pad(numbers[:, None], [(0, 0), (0, world.d - 1)])).all()
    element = np.eye(2, world.d, 1, dtype=np.int64)
    with pytest.raises(noren.Error, match="slot 0"):
        world.ctx.decrypt(world.encrypt(element), world.keys.secret)


def test_rotations_follow_dimensions_and_frobenius_each_slot(world: World) -> None:
    x = world.elements(world.count)
    sizes = [size for size, _ in world.parameters.dimensions]
    cube = x.reshape([*sizes, world.d])
    turned = np.roll(cube, [-s for s in world.steps], axis=range(len(sizes))).reshape(-1, world.d)
    assert (world.decrypt(world.ev.rotate_along(world.encrypt(x), world.steps)) == turned).all()
    # The automorphism is the one with sigma(Y) = Y^p.
    p = 7 if world.t == 7 else 2
    y = np.eye(1, world.d, 1, dtype=np.int64)[0]
    powers = np.array([world.power(world.power(y, i), p) for i in range(world.d)])
    assert (world.decrypt(world.ev.frobenius(world.encrypt(x))) == x @ powers % world.t).all()


def test_matrices_multiply_elements(world: World) -> None:
    x = world.elements(4)
    expected = [sum(world.product(a, b) for a, b in zip(row, x, strict=True)) % world.t for row in world.matrix]
    matrix = world.scheme.SlotMatrix(world.ctx, world.matrix)
    assert matrix.shape == (5, 4)
    assert set(matrix.automorphisms) <= set(world.ctx.automorphisms_of_matrices())
    assert set(world.ctx.automorphisms_of_matrices(maps=True)) >= set(
        bgv.SlotMatrix(world.ctx, world.maps).automorphisms
    )
    for found in (
        matrix @ world.encrypt(x),
        world.matrix @ world.encrypt(x),
        world.ev.matvec(matrix, world.encrypt(x)),
    ):
        assert found.shape == (5,)
        assert (world.decrypt(found) == expected).all()
    # A linear map: entry (i, j) is what coefficient j adds to coefficient i.
    y = world.elements(2)
    expected = np.einsum("rcij,cj->ri", world.maps, y) % world.t
    assert (world.decrypt(world.maps @ world.encrypt(y)) == expected).all()


def test_sets_of_keys_rotate_slots(world: World) -> None:
    x = world.elements(6)
    steps = [1] + [0] * (len(world.parameters.dimensions) - 1)
    expected = world.decrypt(world.ev.rotate_along(world.encrypt(x), steps))
    sizes = []
    for name in ("full", "baby-giant", "minimal"):
        automorphisms = world.ctx.automorphisms_of_rotations(name)
        sizes.append(len(automorphisms))
        ev = world.ctx.evaluator(world.ctx.evaluation_keys(world.keys.secret, automorphisms=automorphisms))
        assert (world.decrypt(ev.rotate_along(world.encrypt(x), steps)) == expected).all()
    assert sizes == sorted(sizes, reverse=True)
    with pytest.raises(ValueError, match="baby-giant"):
        world.ctx.automorphisms_of_rotations("all")


def test_matrices_come_back_from_files_bytes_and_pickles(world: World, tmp_path: Path) -> None:
    x = world.elements(4)
    matrix = bgv.SlotMatrix(world.ctx, world.matrix)
    expected = world.decrypt(matrix @ world.encrypt(x))
    matrix.save(tmp_path / "matrix")
    matrix.save(tmp_path / "prepared", prepared=True)
    assert (tmp_path / "prepared").stat().st_size > 8 * matrix.factors * matrix.limbs * world.parameters.n
    for again in (
        bgv.SlotMatrix.load(world.ctx, tmp_path / "matrix"),
        bgv.SlotMatrix.load(world.ctx, tmp_path / "prepared"),
        bgv.SlotMatrix.from_bytes(world.ctx, bytes(matrix)),
        pickle.loads(pickle.dumps(matrix)),
    ):
        assert (again.shape, again.limbs, again.factors) == ((5, 4), world.parameters.max_limbs, matrix.factors)
        assert (world.decrypt(again @ world.encrypt(x)) == expected).all()
    other = bgv.Context(bgv.Parameters(m=21, p=2, log_q=[40], security=None))
    with pytest.raises(noren.ParameterMismatchError):
        bgv.SlotMatrix.from_bytes(other, bytes(matrix))
    with pytest.raises(noren.ParameterMismatchError):
        bgv.SlotMatrix.load(other, tmp_path / "prepared")
    with pytest.raises(noren.WireError):
        bgv.SlotMatrix.from_bytes(world.ctx, bytes(matrix)[:-1])


def test_bytes_and_pickles_keep_the_ring(world: World) -> None:
    x = world.elements(3)
    assert eval(repr(world.parameters), {"Parameters": bgv.Parameters}) == world.parameters
    assert bgv.Parameters.from_bytes(bytes(world.parameters)) == world.parameters
    cx = pickle.loads(pickle.dumps(world.encrypt(x)))
    assert (world.decrypt(cx) == x).all()
    keys = type(world.keys.evaluation).from_bytes(bytes(world.keys.evaluation), min_security=0)
    assert keys.rotations == {}
    assert len(keys) == len(world.keys.evaluation)


def test_what_does_not_fit_is_refused_with_the_values(world: World, raises_naming: Callable[..., None]) -> None:
    ctx, ev, x = world.ctx, world.ev, world.encrypt(world.elements(4))
    k, bare = ctx.frobenius_exponent(1), ctx.evaluator(ctx.evaluation_keys(world.keys.secret, relinearization=True))
    raises_naming(noren.MissingKeyError, lambda: bare.frobenius(x), f"X^{k}", f"automorphisms=[{k}]")
    raises_naming(noren.EncodingError, lambda: ctx.keygen(automorphisms=[-1]), "-1")
    raises_naming(noren.Error, lambda: ctx.keygen(automorphisms=[world.parameters.m]), str(world.parameters.m))
    raises_naming(noren.EncodingError, lambda: ev.rotate_along(x, [1] * 9), "9")
    raises_naming(noren.Error, lambda: ev.rotate(x, 1), str(world.parameters.m), "dimension")
    raises_naming(noren.EncodingError, lambda: ev.matvec(np.ones((2, 3), int), x), "4", "3")
    raises_naming(noren.EncodingError, lambda: world.scheme.SlotMatrix(ctx, np.ones((2, 3, 1, 1), int)), "(2, 3, 1, 1)")
    raises_naming(noren.EncodingError, lambda: ctx.encrypt([[1] * (world.d + 1)], world.keys.public, elements=True))
    raises_naming(noren.EncodingError, lambda: ctx.encrypt([[world.t] * world.d], world.keys.public, elements=True))
    raises_naming(noren.EncodingError, lambda: x * np.zeros((3, world.d), int), "3", "4")


@pytest.mark.parametrize(
    ("arguments", "kind", "name"),
    [
        ({"m": 511, "p": 7}, None, "no slots"),
        ({"m": 512, "p": 3}, noren.Error, "log_n"),
        ({"m": 511, "p": 2, "r": 60}, noren.Error, "2^60"),
        ({"m": 511, "p": 2, "log_n": 9}, TypeError, "log_n and m"),
        ({"p": 2}, TypeError, "log_n and m"),
        ({"m": 511}, TypeError, "plaintext_modulus"),
        ({"m": 511, "plaintext_modulus": 4, "p": 2}, TypeError, "plaintext_modulus"),
    ],
)
def test_rings_that_are_not_there(arguments: dict[str, Any], kind: type[Exception] | None, name: str) -> None:
    if kind is None:
        assert not bgv.Parameters(**arguments, log_q=[40], security=None).has_slots
        return
    with pytest.raises(kind) as caught:
        bgv.Parameters(**arguments, log_q=[40], security=None)
    assert name in str(caught.value)


def test_rings_of_a_power_of_two_have_no_elements() -> None:
    ctx = bgv.Context(bgv.Parameters(10, 12289, [40], security=None))
    keys = ctx.keygen(relinearization=False)
    with pytest.raises(noren.Error, match="rows"):
        ctx.encrypt([[1, 2]], keys.public, elements=True)
    with pytest.raises(noren.Error, match="rows"):
        bgv.SlotMatrix(ctx, [[1]])


def test_a_ring_is_found_for_slots_of_a_degree() -> None:
    params = bgv.Parameters.for_requirements(depth=1, plaintext_modulus=2, slots=500, slot_degree=8, scheme="bgv")
    assert params.slots >= 500
    assert params.slot_degree % 8 == 0
    assert params.security == 128
