"""TFHE: arrays of truth values and integers, element by element, against numpy."""

import operator
import os
import pickle
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, DTypeLike, NDArray

import noren
from noren import tfhe

SEED = bytes(range(32))
Operator = Callable[[Any, Any], Any]

SUMS: tuple[Operator, ...] = (operator.add, operator.sub, operator.mul)
BITWISE: tuple[Operator, ...] = (operator.and_, operator.or_, operator.xor)
COMPARISONS: tuple[Operator, ...] = (
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.ge,
    operator.gt,
)
QUOTIENTS: tuple[Operator, ...] = (operator.floordiv, operator.mod)


class World:
    """A context with keys, which nothing is secret with unless its set says so."""

    def __init__(self, preset: str, *, circuit: bool = False) -> None:
        self.ctx = tfhe.Context(tfhe.Parameters(preset))
        self.keys = self.ctx.keygen(circuit=circuit, seed=SEED)
        self.ev = self.ctx.evaluator(self.keys.server, self.keys.circuit)

    def encrypt(self, values: ArrayLike, *, digits: bool = False) -> tfhe.EncryptedArray:
        return self.ev.bind(self.ctx.encrypt(values, self.keys.secret, digits=digits))

    def decrypt(self, x: tfhe.EncryptedArray) -> NDArray[Any]:
        return self.ctx.decrypt(x, self.keys.secret)

    def check(self, x: tfhe.EncryptedArray, expected: ArrayLike) -> None:
        """Decrypt, and compare values, type and shape."""
        found, expected = self.decrypt(x), np.asarray(expected)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape) == (x.dtype, x.shape)
        assert (found == expected).all(), (found, expected)


@pytest.fixture(scope="module")
def world() -> World:
    return World("TOY_2_2", circuit=True)


@pytest.fixture(scope="module")
def bits() -> World:
    return World("TOY_BOOL")


def numbers(dtype: DTypeLike, count: int | None = None, seed: int = 1) -> NDArray[Any]:
    """Numbers of all sizes: an end of the type first, fewer where each takes longer."""
    info = np.iinfo(dtype)
    few = 64 // info.bits + 1 if count is None else count
    rng = np.random.default_rng([seed, info.bits])
    found = rng.integers(info.min, info.max, few, dtype=info.dtype, endpoint=True)
    found[0] = [info.max, info.min][seed % 2]
    return found


UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)


@pytest.mark.parametrize("dtype", UNSIGNED + SIGNED)
def test_arithmetic_is_that_of_numpy(world: World, dtype: DTypeLike) -> None:
    a, b = numbers(dtype), numbers(dtype, seed=2)
    x, y = world.encrypt(a), world.encrypt(b)
    for operation in SUMS + BITWISE + COMPARISONS:
        world.check(operation(x, y), operation(a, b))
        world.check(operation(x, b), operation(a, b))
    with np.errstate(over="ignore"):
        world.check(-x, -a)
    world.check(~x, ~a)
    world.check(world.ev.minimum(x, y), np.minimum(a, b))
    world.check(world.ev.maximum(x, b), np.maximum(a, b))
    world.check(world.ev.where(x < y, x, y), np.where(a < b, a, b))
    world.check(world.ev.where(x < y, 7, y), np.where(a < b, np.asarray(7, dtype), b))


@pytest.mark.parametrize("dtype", UNSIGNED + SIGNED)
def test_quotients_and_shifts_are_those_of_numpy(world: World, dtype: DTypeLike) -> None:
    a, b = numbers(dtype), numbers(dtype, seed=2) | np.asarray(1, dtype)
    x, y = world.encrypt(a), world.encrypt(b)
    for operation in QUOTIENTS:
        world.check(operation(x, y), operation(a, b))
        world.check(operation(x, 10), operation(a, np.asarray(10, dtype)))
    amounts = (np.arange(a.size) * 3 % np.iinfo(dtype).bits).astype(dtype)
    for operation in (operator.lshift, operator.rshift):
        world.check(operation(x, world.encrypt(amounts)), operation(a, amounts))
        world.check(operation(x, amounts), operation(a, amounts))
        world.check(operation(x, 5), operation(a, np.asarray(5, dtype)))


def test_quotients_of_signed_integers_are_rounded_down(world: World) -> None:
    ends = np.array([-128, -7, -1, 0, 3, 127], np.int8)
    a, b = (grid.ravel() for grid in np.meshgrid(ends, ends))
    x, y = world.encrypt(a), world.encrypt(b)
    # What was chosen has more noise than what is fresh.
    for u, v, c, d in ((x, y, a, b), (world.ev.where(x < 3, x, y), x - 0, np.where(a < 3, a, b), a)):
        with np.errstate(divide="ignore", over="ignore"):
            quotients, remainders = c // d, c % d
        # numpy gives 0 for both where it divides by 0.
        quotients[d == 0], remainders[d == 0] = np.where(c < 0, 0, -1)[d == 0], c[d == 0]
        world.check(u // v, quotients)
        world.check(u % v, remainders)
    world.check(x // -3, a // np.int8(-3))
    world.check(x % 3, a % np.int8(3))
    nonzero = a[a != 0]
    world.check(np.int8(-100) // x[a != 0], np.int8(-100) // nonzero)
    world.check(np.int8(-100) >> (x[a != 0] & 7), np.int8(-100) >> (nonzero & np.int8(7)))
    world.check(x >> 100, np.where(a < 0, np.int8(-1), np.int8(0)))


def test_clear_numbers_stand_on_either_side(world: World) -> None:
    a = numbers(np.uint8) | np.uint8(1)
    x = world.encrypt(a)
    number = np.uint8(77)
    for operation in SUMS + BITWISE + QUOTIENTS:
        with np.errstate(over="ignore"):
            world.check(operation(number, x), operation(number, a))
            world.check(operation(x, number), operation(a, number))
    for operation in COMPARISONS:
        world.check(operation(x, 77), operation(a, number))
    world.check(operator.lt(number, x), number < a)
    world.check(np.uint8(1) << (x & 7), np.uint8(1) << (a & np.uint8(7)))
    table = a[:4].reshape(2, 2)
    world.check(world.encrypt(table) + np.array([1, 2], np.uint8), table + np.array([1, 2], np.uint8))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_reductions_are_those_of_numpy(world: World, dtype: DTypeLike, axis: int | None) -> None:
    a = numbers(dtype, 12).reshape(3, 4)
    a[1] = a[0]
    x = world.encrypt(a)
    # Of 3, 4 or 12 numbers every sum fits the next type.
    wide = np.dtype(dtype).str.replace(str(np.dtype(dtype).itemsize), str(2 * np.dtype(dtype).itemsize))
    world.check(world.ev.sum(x, axis), a.sum(axis, dtype=wide))
    world.check(world.ev.min(x, axis), a.min(axis))
    world.check(world.ev.max(x, axis), a.max(axis))
    world.check(world.ev.argmax(x, axis), a.argmax(axis).astype(np.uint8))


def test_types_turn_into_each_other(world: World) -> None:
    a = numbers(np.int16)
    x = world.encrypt(a)
    for dtype in (np.uint8, np.int32, np.uint64, np.bool_, np.int16):
        world.check(x.astype(dtype), a.astype(dtype))
    world.check((x > 0).astype(np.uint16), (a > 0).astype(np.uint16))
    world.check(world.ev.sum((x > 0).astype(np.uint8)), (a > 0).sum().astype(np.uint16))


def test_functions_of_two_bytes_are_looked_up(world: World) -> None:
    a, b = numbers(np.uint8), numbers(np.uint8, seed=2)
    x, y = world.encrypt(a), world.encrypt(b)
    distance = world.ev.lookup(lambda x, y: np.hypot(x, y) // 2, x, y)
    world.check(distance, (np.hypot(a.astype(float), b.astype(float)) // 2).astype(np.uint8))
    quotient = world.ev.lookup(lambda x, y: x // y, x, y, undefined=255)
    world.check(quotient, np.where(b == 0, np.uint8(255), a // np.maximum(b, 1)))
    squares = world.ev.lookup(lambda x: x * x, x, dtype=np.uint16)
    world.check(squares, a.astype(np.uint16) ** 2)
    table = np.arange(256)[::-1]
    world.check(world.ev.lookup(table, world.ev.where(x > 9, x, y)), table[np.where(a > 9, a, b)].astype(np.uint8))
    masked = np.ma.array(table, mask=table % 2 == 0)
    world.check(world.ev.lookup(masked, x, undefined=99), masked.filled(99)[a].astype(np.uint8))
    signed = numbers(np.int8)
    absolute = np.abs(signed.astype(int)).astype(np.uint8)
    world.check(world.ev.lookup(abs, world.encrypt(signed), dtype=np.uint8), absolute)
    world.check(world.ev.lookup(lambda x: x % 3 == 1, x, dtype=bool), a % 3 == 1)


def test_single_digits_have_room_for_carries(world: World) -> None:
    a, b = np.arange(4, dtype=np.uint8), np.array([3, 1, 2, 3], np.uint8)
    x, y = (world.encrypt(values, digits=True) for values in (a, b))
    assert (x.element, x.dtype) == ("digit", np.dtype(np.uint8))
    world.check(x + y, a + b)
    world.check(world.ev.lookup(lambda s: s // 4, x + y), (a + b) // np.uint8(4))
    world.check(world.ev.lookup(lambda x, y: x * y % 4, x, y), a * b % np.uint8(4))


@pytest.mark.parametrize("preset", ["TOY_2_2", "TOY_BOOL"])
def test_truth_values_follow_their_tables(preset: str, world: World, bits: World) -> None:
    w = {"TOY_2_2": world, "TOY_BOOL": bits}[preset]
    c, a, b = (np.array([[i >> k & 1 for i in range(8)]], dtype=bool) for k in range(3))
    condition, x, y = (w.encrypt(values) for values in (c, a, b))
    for operation in (*BITWISE, operator.eq, operator.ne):
        w.check(operation(x, y), operation(a, b))
        w.check(operation(x, True), operation(a, True))
    w.check(~x, ~a)
    w.check(w.ev.where(condition, x, y), np.where(c, a, b))
    w.check(w.ev.where(condition, x, False), np.where(c, a, False))


def test_indices_are_those_of_numpy(world: World, bits: World) -> None:
    a = np.arange(12, dtype=np.uint16).reshape(3, 4)
    x = world.encrypt(a)
    assert (len(x), x.size, x.shape, x.dtype) == (3, 12, (3, 4), np.dtype(np.uint16))
    for index in (1, (2, 3), slice(None, None, 2), (..., 0), a % 5 == 1, [2, 0], None):
        world.check(x[index], a[index])
    world.check(x.reshape((2, -1)), a.reshape(2, -1))
    truths = np.array([True, False, True])
    bits.check(bits.encrypt(truths)[::-1], truths[::-1])
    with pytest.raises(IndexError):
        x[3]
    with pytest.raises(noren.EncodingError, match="no element"):
        x[:0]


def test_bytes_files_and_pickles_come_back(world: World, bits: World, tmp_path: Path) -> None:
    a = numbers(np.int32, 6).reshape(2, 3)
    x = world.encrypt(a)
    path = tmp_path / "x.ct"
    x.save(path)
    # 16 digits of each number, of 8 bytes while they are fresh.
    assert path.stat().st_size < 16 * a.size * 8 + 1024 < len(bytes(x[::-1]))
    for again in (
        tfhe.EncryptedArray.from_bytes(world.ctx, bytes(x)),
        tfhe.EncryptedArray.load(world.ctx, path),
        pickle.loads(pickle.dumps(x)),
    ):
        world.check(again, a)
        world.check(again + again, a + a)
    secret, server, circuit = world.keys.secret, world.keys.server, world.keys.circuit
    assert circuit is not None
    for key in (secret, server, circuit):
        file = tmp_path / type(key).__name__
        key.save(file)
        assert bytes(type(key).load(file, min_security=0)) == bytes(key)
        if os.name == "posix":
            assert stat.S_IMODE(file.stat().st_mode) == (0o600 if key is secret else file.stat().st_mode & 0o777)
    for public in (server, circuit):
        assert bytes(pickle.loads(pickle.dumps(public))) == bytes(public)
    shared, ctx = pickle.loads(pickle.dumps((noren.PicklableSecret(world.keys), world.ctx)))
    keys = shared.value
    assert bytes(keys.secret) == bytes(secret)
    ev = keys.server.context.evaluator(keys.server)
    world.check(ev.bind(pickle.loads(pickle.dumps(x))) + 1, a + 1)
    assert ctx.parameters == keys.secret.parameters == x.parameters == world.ctx.parameters
    with pytest.raises(noren.WireError):
        tfhe.EncryptedArray.from_bytes(world.ctx, bytes(x)[:-9])
    with pytest.raises(noren.WireError):
        tfhe.ServerKeys.from_bytes(bytes(secret))
    with pytest.raises(noren.ParameterMismatchError):
        tfhe.EncryptedArray.from_bytes(bits.ctx, bytes(x))


def test_expanded_keys_are_mapped(world: World, bits: World, tmp_path: Path) -> None:
    path = tmp_path / "server.mapped"
    assert tfhe.ExpandedServerKeys.write(path, world.keys.server) == path.stat().st_size
    a = numbers(np.uint8)
    for check in (True, False):
        keys = tfhe.ExpandedServerKeys.load(path, check=check, min_security=0)
        assert keys.parameters == world.ctx.parameters
        ev = keys.context.evaluator(keys, world.keys.circuit)
        x = ev.bind(world.ctx.encrypt(a, world.keys.secret, seed=SEED))
        expected = world.ev.bind(world.ctx.encrypt(a, world.keys.secret, seed=SEED))
        assert bytes(x * x) == bytes(expected * expected)
    with pytest.raises(noren.ParameterMismatchError):
        bits.ctx.evaluator(keys)
    with pytest.raises(TypeError):
        world.ctx.evaluator(world.keys.secret)  # type: ignore[arg-type]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.with_suffix(".bad").write_bytes(data)
    with pytest.raises(noren.WireError, match="digest"):
        tfhe.ExpandedServerKeys.load(path.with_suffix(".bad"))
    world.keys.server.save(path, force=True)
    with pytest.raises(noren.WireError):
        tfhe.ExpandedServerKeys.load(path)


@pytest.mark.skipif(os.name != "posix", reason="files cannot be written to while they are mapped")
@pytest.mark.parametrize("cut", [False, True])
def test_results_of_mapped_files_that_change_are_refused(world: World, tmp_path: Path, cut: bool) -> None:
    path = tmp_path / "server.mapped"
    tfhe.ExpandedServerKeys.write(path, world.keys.server)
    keys = tfhe.ExpandedServerKeys.load(path, min_security=0)
    ev = keys.context.evaluator(keys)
    x = ev.bind(world.ctx.encrypt(np.array([3, 5], np.uint8), world.keys.secret))
    world.check(world.ev.bind(x + x), np.array([6, 10], np.uint8))
    time.sleep(0.02)  # times of files have a resolution of some milliseconds
    with path.open("r+b") as file:
        file.truncate(4096) if cut else file.write(bytes(64))
    with pytest.raises(noren.WireError, match="changed since it was opened"):
        x + x


def test_failures_are_counted_and_refused_beyond_their_budget(world: World) -> None:
    each = world.ctx.parameters.log2_failure
    ev = world.ctx.evaluator(world.keys.server, failure_budget=each + 4.5)
    assert (ev.bootstraps, ev.log2_failure) == (0, -np.inf)
    x = ev.bind(world.ctx.encrypt(np.array([3, 5], np.uint8), world.keys.secret))
    total = x + x
    assert ev.bootstraps > 0
    assert ev.log2_failure == pytest.approx(each + np.log2(ev.bootstraps), abs=1e-6)
    with pytest.raises(noren.Error, match=r"budget is 2\^"):
        x * x
    world.check(total, np.array([6, 10], np.uint8))
    for wrong in (0, 3.0, np.nan, np.inf):
        with pytest.raises(noren.Error, match="such as -40"):
            world.ctx.evaluator(world.keys.server, failure_budget=wrong)


def test_equal_seeds_give_equal_bytes(world: World) -> None:
    again = world.ctx.keygen(circuit=True, seed=SEED)
    assert bytes(again.secret) == bytes(world.keys.secret)
    assert bytes(again.server) == bytes(world.keys.server)
    x, y = (world.ctx.encrypt([1, 2], again.secret, seed=SEED) for _ in range(2))
    assert bytes(x) == bytes(y)
    assert bytes(x) != bytes(world.ctx.encrypt([1, 2], again.secret))


def test_what_is_mixed_is_refused(world: World, bits: World) -> None:
    x = world.encrypt(np.arange(3, dtype=np.uint8))
    other = tfhe.Context(world.ctx.parameters)
    keys = other.keygen()
    foreign = other.encrypt(np.arange(3, dtype=np.uint8), keys.secret)
    with pytest.raises(noren.KeyMismatchError, match="belongs to key"):
        x + foreign
    with pytest.raises(noren.KeyMismatchError, match="belongs to key"):
        world.decrypt(foreign)
    with pytest.raises(noren.KeyMismatchError, match="belongs to key"):
        world.ctx.evaluator(keys.server, world.keys.circuit)
    with pytest.raises(noren.ParameterMismatchError):
        bits.ctx.evaluator(keys.server)
    with pytest.raises(noren.ParameterMismatchError):
        bits.ctx.encrypt([True], keys.secret)
    with pytest.raises(noren.ParameterMismatchError):
        bits.ctx.decrypt(x, bits.keys.secret)
    with pytest.raises(noren.Error, match="uint16"):
        x + world.encrypt(np.arange(3, dtype=np.uint16))
    with pytest.raises(noren.EncodingError, match="shape"):
        x + world.encrypt(np.arange(4, dtype=np.uint8))
    with pytest.raises(noren.EncodingError, match="shape"):
        x + np.arange(4, dtype=np.uint8)
    with pytest.raises(noren.EncodingError, match="shape"):
        world.ev.where(x[:2] > 1, x, x)
    with pytest.raises(noren.Error, match="condition"):
        world.ev.where(x, x, x)
    with pytest.raises(TypeError, match="clear"):
        world.ev.where(x > 1, 1, 0)


def test_what_no_element_holds_is_refused(world: World, bits: World) -> None:
    x = world.encrypt(np.arange(3, dtype=np.uint8))
    for values in ([0.5], ["a"], np.array([1], dtype=object), np.array([1j])):
        with pytest.raises(TypeError, match="dtype"):
            world.ctx.encrypt(values, world.keys.secret)
    with pytest.raises(noren.Error):
        world.ctx.encrypt(np.array([], np.uint8), world.keys.secret)
    with pytest.raises(noren.Error, match="bits"):
        bits.ctx.encrypt(np.arange(3, dtype=np.uint8), bits.keys.secret)
    with pytest.raises(noren.EncodingError, match="from 0 to 3"):
        world.ctx.encrypt([4], world.keys.secret, digits=True)
    for value in (256, -1):
        with pytest.raises(noren.EncodingError, match="from 0 to 255"):
            x + value
    with pytest.raises(noren.Error, match="add"):
        (x > 1) + (x > 1)
    with pytest.raises(noren.Error, match="shift"):
        world.encrypt(np.arange(3, dtype=np.int8)) << -1
    with pytest.raises(TypeError, match="where"):
        bool(x == x)
    with pytest.raises(TypeError):
        hash(x)
    digit = world.encrypt([3], digits=True)
    with pytest.raises(noren.Error, match="carr"):
        digit + digit + digit + digit + digit + digit


def test_what_no_lookup_gives_is_refused(world: World, bits: World) -> None:
    x = world.encrypt(np.arange(3, dtype=np.uint8))
    ev = world.ctx.evaluator(world.keys.server)
    with pytest.raises(noren.MissingKeyError):
        ev.lookup(lambda x, y: x ^ y, x, x)
    with pytest.raises(noren.EncodingError, match="from 0 to 255"):
        world.ev.lookup(lambda x: x * x, x)
    with pytest.raises(noren.Error, match="no value"):
        world.ev.lookup(lambda x, y: x // y, x, x)
    with pytest.raises(noren.EncodingError, match="16 bits"):
        world.ev.lookup(lambda x: x, x.astype(np.uint32))
    with pytest.raises(noren.EncodingError, match="shape"):
        world.ev.lookup(np.arange(8), x)
    with pytest.raises(noren.Error, match="integers"):
        bits.ctx.keygen(circuit=True)


def test_sets_say_what_they_hold() -> None:
    for name in tfhe.PRESETS:
        params = tfhe.Parameters(name)
        assert params.preset == name
        assert params.log2_failure < (-64 if name in ("BOOL", "BOOL_LIGHT") else -128)
        assert params.security == (None if name.startswith("TOY") else 128)
        assert (params.message_bits is None) == ("BOOL" in name)
        assert tfhe.Parameters.from_bytes(bytes(params)) == pickle.loads(pickle.dumps(params)) == params
        assert "failure" in str(params)
    with pytest.raises(noren.Error, match="2_2"):
        tfhe.Parameters("5_5")


def test_the_secure_set_computes() -> None:
    world = World("2_2")
    a, b = np.array([200, 7], np.uint8), np.array([100, 9], np.uint8)
    x, y = world.encrypt(a), world.encrypt(b)
    world.check(x + y, a + b)
    world.check(world.ev.where(x > y, x, y), np.maximum(a, b))


@pytest.mark.parametrize("preset", ["BOOL", "BOOL_128", "1_1"])
def test_secure_sets_of_bits_and_small_digits_compute(preset: str) -> None:
    world = World(preset)
    if world.ctx.parameters.message_bits is None:
        a = np.array([True, False])
        world.check(world.encrypt(a) & ~world.encrypt(a[::-1]), a & ~a[::-1])
    else:
        digits = world.encrypt([0, 1], digits=True)
        world.check(world.ev.lookup(lambda s: s // 2, digits + digits), np.array([0, 1], np.uint8))
