"""Encrypted arrays behave as numpy's: shapes, order, sums of truth values; what would mislead is refused."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import noren
from noren import tfhe


class World:
    """A context with keys that keep nothing secret."""

    def __init__(self, preset: str = "TOY_2_2") -> None:
        self.ctx = tfhe.Context(tfhe.Parameters(preset))
        self.keys = self.ctx.keygen(seed=bytes(32))
        self.ev = self.ctx.evaluator(self.keys.server)
        self.rng = np.random.default_rng(7)

    def encrypt(self, values: ArrayLike) -> tfhe.EncryptedArray:
        return self.ev.bind(self.ctx.encrypt(values, self.keys.secret))

    def random(self, shape: tuple[int, ...], dtype: type[Any]) -> NDArray[Any]:
        if dtype is bool:
            return self.rng.integers(0, 2, shape).astype(bool)
        return self.rng.integers(np.iinfo(dtype).min, int(np.iinfo(dtype).max) + 1, shape, dtype=dtype)

    def check(self, x: tfhe.EncryptedArray, expected: ArrayLike, dtype: type[Any] | None = None) -> None:
        found, expected = self.ctx.decrypt(x, self.keys.secret), np.asarray(expected)
        assert found.shape == expected.shape == x.shape
        assert found.dtype == (expected.dtype if dtype is None else np.dtype(dtype))
        np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.mark.parametrize(("left", "right"), [((3, 1), (1, 2)), ((2,), (3, 2)), ((), (2,)), ((2, 1, 2), (2, 1))])
def test_operands_broadcast(world: World, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = world.random(left, np.uint8), world.random(right, np.uint8)
    x, y = world.encrypt(a), world.encrypt(b)
    world.check(x + y, np.add(a, b))
    world.check(x - b, np.subtract(a, b))
    world.check(a - y, np.subtract(a, b))  # type: ignore[arg-type]
    world.check(x < y, np.less(a, b))
    world.check(world.ev.where(x < y, x, b), np.where(a < b, a, b))


def test_shapes_that_do_not_broadcast_are_refused(world: World) -> None:
    x = world.encrypt(np.zeros((2, 3), np.uint8))
    for other in (world.encrypt(np.zeros(2, np.uint8)), np.zeros(2, np.uint8)):
        with pytest.raises(noren.EncodingError, match=r"\(2, 3\) and \(2,\) do not broadcast"):
            x + other
    with pytest.raises(noren.EncodingError, match="empty"):
        world.encrypt(np.zeros(1, np.uint8)) + np.zeros(0, np.uint8)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
def test_shapes_are_those_of_numpy(world: World, dtype: type[Any]) -> None:
    a, b = world.random((2, 3), dtype), world.random((2, 3), dtype)
    x, y = world.encrypt(a), world.encrypt(b)
    world.check(x.T, a.T)
    world.check(x.transpose(1, 0), a.transpose(1, 0))
    world.check(x.ravel(), a.ravel())
    world.check(x.reshape(3, 2), a.reshape(3, 2))
    world.check(x.reshape((6, -1)), a.reshape(6, -1))
    for axis in (0, 1, -1):
        world.check(tfhe.concatenate([x, y, x], axis), np.concatenate([a, b, a], axis))
        world.check(tfhe.stack([x, y], axis), np.stack([a, b], axis))
    for row, expected in zip(x, a, strict=True):
        world.check(row, expected)
    assert (len(x), x.ndim, x.size) == (2, 2, 6)
    with pytest.raises(TypeError):
        iter(x[0, 0])
    with pytest.raises(ValueError, match="reshape"):
        x.reshape(4)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_order_is_that_of_numpy(world: World, dtype: type[Any]) -> None:
    a = world.random((3, 5), dtype)
    a[0, 1] = a[0, 3] = np.iinfo(dtype).min  # the first of equals
    x = world.encrypt(a)
    world.check(world.ev.sort(x), np.sort(a))
    world.check(world.ev.sort(x, axis=0), np.sort(a, axis=0))
    world.check(world.ev.sort(x, axis=None), np.sort(a, axis=None))
    for axis in (None, 0, 1):
        world.check(x.argmin(axis), np.argmin(a, axis), np.uint8)
        world.check(x.argmax(axis), np.argmax(a, axis), np.uint8)
        world.check(x.min(axis), np.min(a, axis))
        world.check(x.max(axis), np.max(a, axis))
    world.check(abs(x), np.abs(a))


def test_truth_values_are_sorted_and_counted(world: World) -> None:
    a = world.random((2, 5), bool)
    x = world.encrypt(a)
    world.check(world.ev.sort(x), np.sort(a))
    world.check(x.argmax(1), np.argmax(a, 1), np.uint8)
    world.check(x.argmin(1), np.argmin(a, 1), np.uint8)
    for axis in (None, 0, 1):
        world.check(x.sum(axis), a.sum(axis), np.uint8)
        world.check(world.ev.sum(x, axis), a.sum(axis), np.uint8)
    # More than a byte counts.
    many = world.encrypt(np.ones(257, bool))
    world.check(many.sum(), np.uint16(257))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quotients_and_remainders_come_together(world: World, dtype: type[Any]) -> None:
    a = world.random((4,), dtype)
    b = np.where((c := world.random((4,), dtype)) == 0, dtype(3), c)
    if dtype is np.int8:
        b = np.where(b == -1, dtype(2), b)
    x = world.encrypt(a)
    for found, expected in ((divmod(x, world.encrypt(b)), np.divmod(a, b)), (divmod(x, b), np.divmod(a, b))):
        world.check(found[0], expected[0])
        world.check(found[1], expected[1])
    found = divmod(dtype(100), world.encrypt(b))
    world.check(found[0], np.divmod(dtype(100), b)[0])
    world.check(found[1], np.divmod(dtype(100), b)[1])


def test_what_would_mislead_is_refused(world: World) -> None:
    x = world.encrypt(np.array([1, 2], np.uint8))
    y = world.encrypt(np.array([1, 2], np.uint16))
    for call, names in (
        (lambda: bool(x == x), "where"),
        (lambda: 1 in x, "contains"),
        (lambda: hash(x), "unhashable"),
        (lambda: np.array(x), "decrypt"),
        (lambda: np.asarray([x, x]), "decrypt"),
        (lambda: float(x), "float"),  # type: ignore[arg-type]
        (lambda: x + np.ma.masked_array([1, 2], [True, False]), "masked"),
        (lambda: world.ctx.encrypt(np.ma.masked_array([1, 2], [True, False]), world.keys.secret), "masked"),
    ):
        with pytest.raises(TypeError, match=names):
            call()
    for call in (lambda: x + y, lambda: tfhe.concatenate([x, y])):
        with pytest.raises(noren.Error, match=r"uint8 meets one of uint16.*astype"):
            call()
    with pytest.raises(noren.EncodingError, match="at least one"):
        tfhe.concatenate([])


def test_operators_of_numpy_are_operators(world: World) -> None:
    a, b = world.random((2, 3), np.uint8), world.random((3,), np.uint8) | np.uint8(1)
    x: Any = world.encrypt(a)
    sums: list[Any] = [np.add, np.subtract, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor]
    for function in sums:
        world.check(function(b, x), function(b, a))
        world.check(function(x, b), function(a, b))
        world.check(function(x, x), function(a, a))
    comparisons: list[Any] = [np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal]
    for function in comparisons:
        world.check(function(b, x), function(b, a))
        world.check(function(x, b), function(a, b))
    world.check(np.floor_divide(x, b), a // b)
    world.check(np.remainder(x, b), a % b)
    world.check(np.left_shift(b, x & 7), b << (a & 7))
    both: Any = np.divmod
    for found, expected in zip(both(x, b), both(a, b), strict=True):
        world.check(found, expected)
    unary: list[Any] = [np.negative, np.invert, np.absolute]
    for function in unary:
        world.check(function(x), function(a))
    world.check(b[0] * x, b[0] * a)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)


def test_functions_of_numpy_say_what_to_write(world: World) -> None:
    a = np.array([[1, 2], [3, 4]], np.uint8)
    x = world.encrypt(a)
    anything: Any = x
    for call, names in (
        (lambda: a @ anything, r"\(matrix \* x\)\.sum\(-1\)"),
        (lambda: np.matmul(anything, a), r"\(matrix \* x\)\.sum\(-1\)"),
        (lambda: np.dot(a, anything), r"\(matrix \* x\)\.sum\(-1\)"),
        (lambda: np.minimum(a, anything), r"ev\.minimum"),
        (lambda: np.where(anything, a, a), r"ev\.where"),
        (lambda: np.sort(anything), r"ev\.sort"),
        (lambda: np.sum(anything), r"x\.sum"),
        (lambda: np.concatenate([anything, anything]), r"tfhe\.concatenate"),
        (lambda: a / anything, "//"),
        (lambda: np.power(anything, 2), r"x \* x"),
        (lambda: np.logical_and(anything, a), "&"),
        (lambda: np.add(a, anything, out=a), "out="),
        (lambda: np.exp(anything), "exp takes no encrypted arrays"),
        (lambda: np.add.reduce(anything), "add takes no encrypted arrays"),
        (lambda: np.add(anything, "ab"), "dtype"),
    ):
        with pytest.raises(TypeError, match=names):
            call()
    world.check((a * x).sum(-1), (a * a).sum(-1, dtype=np.uint16))


def test_evaluators_bind_only_what_their_keys_serve(world: World) -> None:
    other = world.ctx.keygen()
    x = world.ctx.encrypt(np.array([1], np.uint8), other.secret)
    with pytest.raises(noren.KeyMismatchError):
        world.ev.bind(x)
    with pytest.raises(noren.KeyMismatchError):
        tfhe.concatenate([x, world.encrypt(np.array([1], np.uint8))])
    bits = tfhe.Context(tfhe.Parameters("TOY_BOOL"))
    with pytest.raises(noren.ParameterMismatchError):
        world.ev.bind(bits.encrypt([True], bits.keygen().secret))


def test_sizes_are_shown(world: World) -> None:
    x = world.encrypt(np.zeros((2, 3), np.uint8))
    assert "uint8" in repr(x)
    assert "(2, 3)" in repr(x)
    fresh = x.nbytes
    assert fresh == 6 * 4 * 8  # a word for each digit of two bits
    assert (x + 1).nbytes > fresh
    assert "<table>" in x._repr_html_()
    assert world.keys.server.nbytes > 1000
    assert "B" in repr(world.keys.server)
    assert "<table>" in world.keys.server._repr_html_()


def test_light_keys_serve_from_generation_to_results(tmp_path: Path) -> None:
    ctx = tfhe.Context(tfhe.Parameters("BOOL_LIGHT"))
    keys = ctx.keygen(seed=bytes(32))
    server = keys.server
    assert isinstance(server, tfhe.LightKeys)
    server.save(tmp_path / "light.keys")
    loaded = tfhe.LightKeys.load(tmp_path / "light.keys", min_security=0)
    assert bytes(loaded) == bytes(server) == bytes(pickle.loads(pickle.dumps(server)))
    again = pickle.loads(pickle.dumps(noren.PicklableSecret(keys))).value
    assert isinstance(again.server, tfhe.LightKeys)
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    x, y = (ctx.encrypt(values, keys.secret) for values in (a, b))
    tfhe.ExpandedServerKeys.write(tmp_path / "expanded.keys", loaded)
    for found in (loaded, tfhe.ExpandedServerKeys.load(tmp_path / "expanded.keys", min_security=0)):
        ev = ctx.evaluator(found)
        np.testing.assert_array_equal(ctx.decrypt(ev.bind(x) ^ y, keys.secret), a ^ b)


def test_integers_of_light_keys_are_right_from_generation_to_results(tmp_path: Path) -> None:
    ctx = tfhe.Context(tfhe.Parameters("2_2_LIGHT"))
    keys = ctx.keygen(seed=bytes(32))
    assert isinstance(keys.server, tfhe.LightKeys)
    # 3.4 MB to the server, in place of 43.
    assert 3e6 < len(bytes(keys.server)) < 4e6
    keys.server.save(tmp_path / "light.keys")
    a, b = np.array([200, 7], np.uint8), np.array([100, 9], np.uint8)
    data = [bytes(ctx.encrypt(values, keys.secret)) for values in (a, b)]
    server = tfhe.LightKeys.load(tmp_path / "light.keys", min_security=0)
    ev = server.context.evaluator(server)
    x, y = (tfhe.EncryptedArray.from_bytes(server.context, part) for part in data)
    results = [x + y, x < y, ev.maximum(x, y), ev.sum(x)]
    expected = [a + b, a < b, np.maximum(a, b), a.sum(dtype=np.uint16)]
    for found, clear in zip(results, expected, strict=True):
        found = tfhe.EncryptedArray.from_bytes(ctx, bytes(found))
        np.testing.assert_array_equal(ctx.decrypt(found, keys.secret), clear)
