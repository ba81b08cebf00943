"""What an encrypted vector is not: a number, a truth value, an array; and what is no vector of numbers."""

import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pytest

import noren
from noren import bfv, bgv, ckks
from noren._tabulate import tabulate

# A ciphertext of any scheme, used as nobody should.
Ciphertext: TypeAlias = Any
Use: TypeAlias = Callable[[], object]

T = 65537
INTEGERS = bgv.Parameters(10, T, [40] * 3, [48], security=None)


class World:
    def __init__(self, scheme: ModuleType) -> None:
        self.scheme = scheme
        small = ckks.Parameters(10, [50, 40, 40], [50], security=None) if scheme is ckks else INTEGERS
        self.ctx: Any = scheme.Context(small)
        self.keys = self.ctx.keygen(rotations=[1])
        self.ev: Any = self.ctx.evaluator(self.keys.evaluation)
        self.x = self.encrypt([1, 2, 3])

    def encrypt(self, values: object, **how: bool) -> Ciphertext:
        return self.ev.bind(self.ctx.encrypt(values, self.keys.public, **how))


@pytest.fixture(params=[ckks, bgv, bfv], ids=["ckks", "bgv", "bfv"], scope="module")
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        *[(lambda x, compare=compare: compare(x, x), "decrypt") for compare in (operator.eq, operator.ne)],
        *[(lambda x, compare=compare: compare(x, x), "decrypt|dead zone") for compare in (operator.le, operator.ge)],
        (lambda x: x == 1, "decrypt"),
        (lambda x: [x] == [1], "decrypt"),
        (lambda x: x in [1, 2], "decrypt"),
        (lambda x: 1 in x, "decrypt"),
        (bool, "neither true nor false"),
        (lambda x: x and 1, "neither true nor false"),
        (len, "shape"),
        (list, "decrypt"),
        (float, "decrypt"),
        (int, "decrypt"),
        (complex, "decrypt"),
        (hash, "unhashable"),
        (np.array, "decrypt"),
        (np.asarray, "decrypt"),
        (lambda x: np.array([x, x]), "decrypt"),
        (lambda x: np.array(x, dtype=object), "decrypt"),
        (lambda x: np.dot(np.eye(3), x), "matrix @ x"),
        (lambda x: np.roll(x, 1), "roll"),
        (lambda x: np.inner(x, np.ones(3)), r"ev\.sum\(x \* y\)"),
        (lambda x: np.matmul(x, np.eye(3)), "matrix @ x"),
        (lambda x: np.ones(3, dtype=bool) & x, "bitwise_and takes no ciphertexts"),
        (lambda x: np.sqrt(x), "sqrt takes no ciphertexts"),
        (lambda x: np.square(x), "square takes no ciphertexts"),
        (lambda x: np.add(np.ones(3), x, out=np.ones(3)), "out="),
        (lambda x: np.add.reduce(x), "add takes no ciphertexts"),
        (lambda x: np.add(np.array([None, None, None]), x), "object"),
        (lambda x: np.add("abc", x), "str|dtype"),
        (lambda x: np.equal(x, np.ones(3)), "decrypt"),
        (lambda x: np.ones(3) / x, "divided"),
        (lambda x: x @ x, "decrypt|unsupported"),
    ],
)
def test_what_needs_the_key_is_refused(world: World, use: Callable[[Ciphertext], object], advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        use(world.x)


def test_sums_and_means_of_numpy_are_of_real_numbers(world: World) -> None:
    for use, advice in ((np.sum, r"ev\.sum"), (np.mean, "mean")):
        if world.scheme is not ckks:
            with pytest.raises(TypeError, match=advice):
                use(world.x)


def test_comparisons_need_keys_that_switch_to_tfhe(world: World) -> None:
    refused = noren.MissingKeyError if world.scheme is ckks else TypeError
    uses: tuple[Callable[[Ciphertext], object], ...] = (
        lambda x: x < x,
        lambda x: x > x,
        lambda x: 1 < x,  # noqa: SIM300
        lambda x: np.less(np.ones(3), x),
        lambda x: np.maximum(np.ones(3), x),
        lambda x: np.minimum(x, x),
        lambda x: np.sign(x),
    )
    for use in uses:
        with pytest.raises(refused, match=r"with_switching|decrypt|takes no ciphertexts"):
            use(world.x)
    with pytest.raises(TypeError, match=r"not supported|decrypt"):
        world.x < "abc"  # noqa: B015


def test_masked_arrays_are_refused(world: World) -> None:
    masked = np.ma.masked_array([1, 2, 3], mask=[False, True, False])
    for use in (world.encrypt, lambda v: world.x + v, lambda v: v * world.x, lambda v: world.ev.mul(world.x, v)):
        with pytest.raises((noren.EncodingError, TypeError), match="filled"):
            use(masked)


def test_operators_of_numpy_are_operators(world: World) -> None:
    a, b = np.array([1, 2, 3]), np.array([5, 7, 4])
    if world.scheme is ckks:
        a, b = a / 4, b / 8
    x, secret = world.encrypt(a), world.keys.secret
    uses: list[tuple[Ciphertext, np.ndarray[Any, Any]]] = [
        (np.add(b, x), a + b),
        (np.add(x, b), a + b),
        (b + x, a + b),
        (b - x, b - a),
        (np.subtract(x, b), a - b),
        (np.subtract(b, x), b - a),
        (np.multiply(b, x), a * b),
        (b * x, a * b),
        (b[0] * x, a * b[0]),
        (np.negative(x), -a),
        (np.power(x, 2), a**2),
        (np.add(x, x), a + a),
        (np.eye(3, dtype=b.dtype) @ x, a),
        (np.matmul(np.eye(3, dtype=b.dtype), x), a),
    ]
    if world.scheme is ckks:
        uses.append((np.divide(x, b), a / b))
    for found, expected in uses:
        assert type(found) is type(x)
        clear = world.ctx.decrypt(found, secret, **({} if world.scheme is ckks else {"signed": True}))
        np.testing.assert_allclose(clear, expected, atol=found.error_bound if world.scheme is ckks else 0)
    with pytest.raises(TypeError, match=r"array \+ x"):
        b += x


@pytest.mark.parametrize(
    "values",
    [
        ["a"],
        np.array(["2024-01-01"], dtype="datetime64[D]"),
        np.array([1], dtype="timedelta64[s]"),
        np.array([None]),
        np.array([object()]),
        {"a": 1},
        "123",
        b"123",
    ],
)
def test_what_is_no_number_is_named(world: World, values: object) -> None:
    with pytest.raises(TypeError, match="dtype"):
        world.encrypt(values)
    with pytest.raises(TypeError):
        world.x + values


def test_whole_numbers_beyond_64_bits_are_refused(world: World) -> None:
    for values in ([2**70], [1, -(2**64)]):
        with pytest.raises(noren.EncodingError, match="64 bits"):
            world.encrypt(values)
    uses: tuple[Use, ...] = (lambda: world.x + 2**70, lambda: world.x * -(2**64), lambda: world.x - [2**70])
    for use in uses:
        with pytest.raises(noren.EncodingError, match="64 bits"):
            use()


def test_clear_numbers_are_exact() -> None:
    world = World(ckks)
    with pytest.raises(noren.EncodingError, match="float64"):
        world.x + (2**53 + 1)
    for scheme in (bgv, bfv):
        world = World(scheme)
        with pytest.raises(noren.EncodingError, match="int64"):
            world.encrypt(np.array([2**64 - 3], dtype=np.uint64))
        for fractions in ([0.5], np.ones(3)):
            with pytest.raises(TypeError, match="float64"):
                world.encrypt(fractions)


@pytest.mark.parametrize("scheme", [bgv, bfv])
def test_slots_and_coefficients_do_not_mix(scheme: ModuleType) -> None:
    world = World(scheme)
    x, y = world.encrypt([1, 2, 3]), world.encrypt([1, -2, 3], coefficients=True)
    secret = world.keys.secret
    uses: tuple[Use, ...] = (lambda: x + y, lambda: y - x, lambda: x * y, lambda: world.ev.rotate(y, 1))
    for refused in uses:
        with pytest.raises(noren.Error, match="encoding"):
            refused()
    with pytest.raises(noren.EncodingError, match="coefficients=True"):
        world.ctx.decrypt(y, secret)
    with pytest.raises(noren.EncodingError, match="without coefficients=True"):
        world.ctx.decrypt(x, secret, coefficients=True)
    with pytest.raises(noren.EncodingError, match="repeat"):
        world.encrypt([1], coefficients=True, repeat=True)
    # Clear operands are encoded as the ciphertext is.
    found = world.ctx.decrypt(world.ev.add(y, [0, 1]), secret, coefficients=True, signed=True)
    assert found[:4].tolist() == [1, -1, 3, 0]
    found = world.ctx.decrypt(y * [0, 2], secret, coefficients=True, signed=True)
    assert found[:5].tolist() == [0, 2, -4, 6, 0]
    assert world.ctx.decrypt(y, secret, coefficients=True).tolist() == [1, T - 2, 3]
    assert world.ctx.decrypt(y, secret, coefficients=True, signed=True).tolist() == [1, -2, 3]
    again = scheme.Ciphertext.from_bytes(world.ctx, bytes(y))
    assert world.ctx.decrypt(again, secret, coefficients=True, signed=True).tolist() == [1, -2, 3]


def test_schemes_convert_ciphertexts_of_their_parameters_alone() -> None:
    a, b = World(bgv), World(bfv)
    other = bfv.Context(bgv.Parameters(10, T, [40] * 4, [48], security=None))
    foreign = other.encrypt([1], other.keygen().public)
    with pytest.raises(noren.ParameterMismatchError, match="ciphertext"):
        a.ctx.convert(foreign)
    assert b.ctx.convert(a.x).shape == (3,)


def test_errors_of_signed_functions_name_the_signed_number() -> None:
    signed = [(-8, 16)]
    with pytest.raises(noren.Error, match="no value at -3"):
        tabulate(lambda x: x // (x + 3), signed, (-8, 7), None)
    with pytest.raises(noren.EncodingError, match=r"is -9 at -8, .* from -8 to 7"):
        tabulate(lambda x: x - 1, signed, (-8, 7), None)
    with pytest.raises(noren.EncodingError, match=r"0\.5 at -7"):
        tabulate(lambda x: x / 2 + 4, signed, (-8, 7), None)
    assert tabulate(abs, signed, (0, 15), None).tolist() == [abs(x) for x in range(-8, 8)]


def test_lookups_name_the_value_that_was_given() -> None:
    params = bfv.Parameters(10, 12289, [50] * 10, [50] * 2, security=None)
    with pytest.raises(noren.EncodingError, match=r"-6145 at 0, .* from -6144 to 12288"):
        bfv.Lookup(lambda x: np.full_like(x, -6145), domain=16).prepare(bfv.Context(params))
