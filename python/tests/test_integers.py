"""BGV and BFV: exact, whatever the scheme."""

import pickle
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import noren
from noren import bfv, bgv

# A ciphertext of either scheme, whose operators take no other.
Ciphertext: TypeAlias = Any

T = 65537
PARAMETERS = bgv.Parameters(10, T, [36] * 5, [48] * 2, security=None)
N = PARAMETERS.n
X = np.arange(N) * 9973 % T
Y = np.arange(N) * 7919 % T


class World:
    def __init__(self, scheme: ModuleType) -> None:
        self.scheme = scheme
        self.ctx: Any = scheme.Context(PARAMETERS)
        matrix_rotations = bgv.rotations_of_matrix(MATRIX)
        rotations = sorted({1, -2, *matrix_rotations, *bgv.rotations_of_sum(8)})
        self.keys = self.ctx.keygen(rotations=rotations, swap=True, seed=bytes(range(32)))
        self.ev: Any = self.ctx.evaluator(self.keys.evaluation)

    def encrypt(self, values: ArrayLike) -> Ciphertext:
        return self.ev.bind(self.ctx.encrypt(values, self.keys.public))

    def decrypt(self, x: Ciphertext) -> NDArray[np.int64]:
        values: NDArray[np.int64] = self.ctx.decrypt(x, self.keys.secret)
        return values


MATRIX = np.array([[1, 2, 0, -1], [0, 3, 0, 0], [5, 0, 0, 1]])


@pytest.fixture(params=[bgv, bfv], ids=["bgv", "bfv"], scope="module")
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def test_operators_are_those_of_integers_modulo_t(world: World) -> None:
    x, y = world.encrypt(X), world.encrypt(Y)
    for found, expected in [
        (x + y, X + Y),
        (x - y, X - Y),
        (x * y, X * Y),
        (-x, -X),
        (3 * x - 5, 3 * X - 5),
        (7 - x, 7 - X),
        (x + Y, X + Y),
        (x - Y, X - Y),
        (Y * x, X * Y),
        (world.ev.square(x), X * X),
        (world.ev.dot([x, y], [y, y]), X * Y + Y * Y),
        (world.ev.polynomial(x, [1, 0, 3]), 1 + 3 * X**2),
    ]:
        assert (world.decrypt(found) == expected % T).all()
    assert (world.ctx.decrypt(-x, world.keys.secret, signed=True) == (-X + T // 2) % T - T // 2).all()


def test_rows_turn_and_swap(world: World) -> None:
    x = world.encrypt(X)
    rows = X.reshape(2, -1)
    for found, expected in [
        (world.ev.rotate(x, -2), np.roll(rows, 2, axis=1)),
        (world.ev.rotate_many(x, [1])[0], np.roll(rows, -1, axis=1)),
        (world.ev.swap_rows(x), rows[::-1]),
        (world.ev.sum(x, 8), sum(np.roll(rows, -k, axis=1) for k in range(8))),
        (world.ev.product(x, 2), rows * np.roll(rows, -1, axis=1)),
    ]:
        assert (world.decrypt(found).reshape(2, -1) == expected % T).all()
    product = world.decrypt(world.ev.matvec(MATRIX, world.encrypt(X[:4])))
    assert (product == MATRIX @ X[:4] % T).all()


def test_coefficients_multiply_as_polynomials(world: World) -> None:
    a, b = np.zeros(N, dtype=int), np.zeros(N, dtype=int)
    a[[0, 1, N - 1]] = [3, 4, 1]
    b[1] = 2
    x, y = (world.ctx.encrypt(v, world.keys.public, coefficients=True) for v in (a, b))
    found = world.ctx.decrypt(world.ev.mul(x, y), world.keys.secret, coefficients=True)
    expected = np.zeros(N, dtype=int)
    expected[[0, 1, 2]] = [T - 2, 6, 8]
    assert (found == expected).all()


def test_schemes_share_keys_and_ciphertexts() -> None:
    a, b = World(bgv), World(bfv)
    x = a.encrypt(X)
    square = b.ev.bind(b.ctx.convert(x * x))
    assert (a.decrypt(a.ctx.convert(square * square)) == pow_mod(X, 4)).all()
    with pytest.raises(TypeError):
        a.ev.add(x, square)


def pow_mod(x: NDArray[np.int64], exponent: int) -> NDArray[np.int64]:
    y = np.ones_like(x)
    for _ in range(exponent):
        y = y * x % T
    return y


def test_bytes_and_pickles_come_back(world: World) -> None:
    x = world.encrypt(X)
    again = world.scheme.Ciphertext.from_bytes(world.ctx, bytes(x))
    assert (world.decrypt(again) == X).all()
    assert pickle.loads(pickle.dumps(PARAMETERS)) == PARAMETERS
    shared = pickle.loads(pickle.dumps(noren.PicklableSecret(world.keys.secret)))
    assert bytes(shared.value) == bytes(world.keys.secret)
    other = bfv if world.scheme is bgv else bgv
    with pytest.raises(noren.WireError):
        other.Ciphertext.from_bytes(other.Context(PARAMETERS), bytes(x))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_everything_pickles(world: World, protocol: int) -> None:
    objects = (world.ctx, noren.PicklableSecret(world.keys), world.ev, world.encrypt(X), PARAMETERS)
    ctx, shared, ev, x, parameters = pickle.loads(pickle.dumps(objects, protocol))
    keys = shared.value
    assert ctx.parameters == x.parameters == ev.context.parameters == parameters == PARAMETERS
    assert bytes(keys.evaluation) == bytes(ev.keys) == bytes(world.keys.evaluation)
    assert bytes(keys.public) == bytes(world.keys.public)
    y = ctx.encrypt(Y, keys.public)
    for product in (x * y, ev.bind(x) * y):
        assert (ctx.decrypt(product, keys.secret) == X * Y % T).all()


def test_keys_bring_a_context_for_each_scheme(world: World) -> None:
    for key in (world.keys.secret, world.keys.public, world.keys.evaluation):
        again = type(key).from_bytes(bytes(key), min_security=0)
        assert again.bfv_context.parameters == again.bgv_context.parameters == again.parameters == PARAMETERS
    for ctx in (world.keys.secret.bfv_context, world.keys.secret.bgv_context):
        assert (ctx.decrypt(ctx.encrypt(X, world.keys.public), world.keys.secret) == X).all()


def test_what_is_refused_is_named(world: World) -> None:
    x = world.encrypt(X)
    with pytest.raises(noren.EncodingError, match="65537"):
        world.ctx.encrypt([T], world.keys.public)
    with pytest.raises(noren.EncodingError):
        world.ctx.encrypt(np.zeros(N + 1, dtype=int), world.keys.public)
    with pytest.raises(TypeError):
        world.ctx.encrypt([0.5], world.keys.public)
    with pytest.raises(noren.MissingKeyError, match="by 7"):
        world.ev.rotate(x, 7)
    while x.level > 0:
        x = x * x
    with pytest.raises(noren.Error, match="noise"):
        world.ev.square(x)
    with pytest.raises(noren.Error, match="plaintext_modulus"):
        world.scheme.Parameters(10, 1, [36])


@pytest.mark.parametrize("module", [bfv, bgv])
@pytest.mark.parametrize("t", [2251799813554177, 576460752300015617, 1152921504606584833, 288230376151711813])
def test_moduli_up_to_2_to_the_60_work_in_coefficients(module: ModuleType, t: int) -> None:
    params = module.Parameters(5, t, [50] * 6, [50] * 2, security=None)
    ctx = module.Context(params, threads=1)
    keys = ctx.keygen(seed=bytes(32))
    ev = ctx.evaluator(keys.evaluation)
    assert not params.has_slots
    x = ctx.encrypt([t // 2 - 1, 3], keys.public, coefficients=True)
    found = ctx.decrypt(ev.add(x, x), keys.secret, coefficients=True)
    assert found[:2].tolist() == [(t // 2 - 1) * 2 % t, 6]
    with pytest.raises(noren.Error, match=r"a prime below 2\^50 that is 1 modulo 64 for slots: encode coefficients"):
        ctx.encrypt([1, 2], keys.public)
    assert (
        module.Parameters.for_requirements(depth=1, plaintext_modulus=t, scheme=module.__name__[-3:]).plaintext_modulus
        == t
    )
