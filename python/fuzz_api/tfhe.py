"""TFHE: encrypted arrays of all types and shapes, against arrays of numpy."""

from __future__ import annotations

import functools
import operator
import pickle
from typing import Any

import numpy as np

from fuzz_api.draw import Rng, all_shown, chance, one_of, seed_bytes, text_of
from fuzz_api.program import Call, Item, Verb, named
from fuzz_api.verdict import REFUSE, Finding
from noren import tfhe

UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
SHAPES = ((), (1,), (2,), (3,), (5,), (2, 2), (1, 3), (2, 3), (3, 1), (2, 1, 2))


@functools.cache
def keyed(preset: str, number: int) -> tuple[tfhe.Context, tfhe.Keys, tfhe.Evaluator]:
    """Return keys, which all cases of a process share."""
    ctx = tfhe.Context(tfhe.Parameters(preset), threads=1)
    keys = ctx.keygen(circuit="2_2" in preset, seed=bytes([number] * 32))
    return ctx, keys, ctx.evaluator(keys.server, keys.circuit)


class World:
    """A set without security, of integers or of bits, and two secrets."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        # The light set has its full size: its keys take a second, once in a process.
        self.preset = one_of(rng, *["TOY_2_2"] * 15, *["TOY_BOOL"] * 4, "BOOL_LIGHT")
        self.ctx, self.keys, self.ev = keyed(self.preset, 1)
        self.bits_only = "BOOL" in self.preset
        self.text = [f"ctx = tfhe.Context(tfhe.Parameters({self.preset!r}))"]
        self.shape = one_of(rng, *SHAPES)
        self.dtype = one_of(rng, np.uint8, np.int8, np.uint8, np.int8, np.uint16, np.int16, *UNSIGNED, *SIGNED)

    def other(self, rng: Rng) -> tuple[tfhe.Keys, tfhe.Evaluator]:
        """Return keys of another secret."""
        _, keys, ev = keyed(self.preset, 2)
        return keys, ev

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Decrypt: values, type and shape are those of numpy."""
        found = self.ctx.decrypt(value, self.keys.secret)
        compare(found, truth)
        if (value.shape, value.dtype, value.size) != (truth.shape, truth.dtype, truth.size):
            raise Finding("wrong", f"{value!r} says {value.dtype} {value.shape}, true {truth.dtype} {truth.shape}")
        return 0.0


def compare(found: Any, truth: Any) -> None:
    """Raise a Finding for another shape, type or value."""
    if (found.dtype, found.shape) != (truth.dtype, truth.shape):
        raise Finding("wrong", f"{found.dtype} {found.shape}, true {truth.dtype} {truth.shape}")
    if not (found == truth).all():
        raise Finding("wrong", f"{found.ravel()[:8]}, true {truth.ravel()[:8]}")


def numbers(w: World, rng: Rng, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Return numbers of all sizes, with the ends of the type."""
    if w.bits_only or dtype is np.bool_:
        return np.asarray(rng.random(shape) < 0.5)
    info = np.iinfo(w.dtype if dtype is None else dtype)
    values = np.asarray(rng.integers(info.min, info.max, shape, dtype=info.dtype, endpoint=True))
    if chance(rng, 0.3):
        values = np.asarray(values % np.asarray(11, info.dtype)).astype(info.dtype)
    flat = values.reshape(-1).copy()
    if chance(rng, 0.3):
        flat[int(rng.integers(flat.size))] = one_of(rng, info.min, info.max, 0, 1)
    return flat.reshape(shape)


def encrypt(w: World, rng: Rng) -> Call:
    dtype = np.bool_ if chance(rng, 0.15) else None
    values = numbers(w, rng, w.shape if chance(rng, 0.9) else one_of(rng, *SHAPES), dtype)
    seed = seed_bytes(rng)
    run = lambda: w.ev.bind(w.ctx.encrypt(values, w.keys.secret, seed=seed))
    return Call(f"ctx.encrypt({text_of(values)}, secret)", run, values)


OPERATORS: dict[str, Any] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
METHODS = {"minimum": np.minimum, "maximum": np.maximum}


def expected(symbol: str, a: Any, b: Any) -> Any:
    """Return what the operator gives: numpy's result but for the documented ones; None for what it refuses."""
    if a.dtype != b.dtype:
        return REFUSE
    boolean = a.dtype == np.bool_
    if boolean and symbol in ("+", "-", "*", "//", "%", "<<", ">>"):
        return None
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return REFUSE
    with np.errstate(all="ignore"):
        if symbol in ("//", "%"):
            return quotient(symbol, a, b)
        if symbol in ("<<", ">>"):
            return shifted(symbol, a, b)
        operation = OPERATORS.get(symbol) or METHODS[symbol]
        result = np.asarray(operation(a, b))
        return result.astype(np.bool_ if result.dtype == np.bool_ else a.dtype)


def quotient(symbol: str, a: Any, b: Any) -> Any:
    """A division by zero gives all bits 1, or 0 for a negative dividend; the remainder is the dividend."""
    a, b = np.broadcast_arrays(a, b)
    safe = np.where(b == 0, np.ones_like(b), b)
    if symbol == "//":
        zero = np.where(a < 0, np.zeros_like(a), ~np.zeros_like(a))
        return np.asarray(np.where(b == 0, zero, a // safe)).astype(a.dtype)
    return np.asarray(np.where(b == 0, a, a % safe)).astype(a.dtype)


def shifted(symbol: str, a: Any, b: Any) -> Any:
    """Encrypted amounts count modulo the bits."""
    bits = a.dtype.itemsize * 8
    # The number of bits is a power of two.
    amount = np.bitwise_and(b, np.asarray(bits - 1, b.dtype))
    return np.asarray(OPERATORS[symbol](a, amount)).astype(a.dtype)


def costs(symbol: str, x: Item) -> bool:
    """Return whether an operation takes too long for a fuzzer."""
    bits = x.truth.dtype.itemsize * 8 * x.truth.size
    return bool(bits > {"//": 40, "%": 40, "*": 130, "<<": 200, ">>": 200}.get(symbol, 600))


def binary(w: World, rng: Rng, x: Item, y: Item) -> Call | None:
    symbol = one_of(rng, *OPERATORS, *METHODS)
    if costs(symbol, x) or costs(symbol, y):
        symbol = one_of(rng, "+", "-", "&", "<", "==", "minimum")
    truth = expected(symbol, x.truth, y.truth)
    if truth is None:
        return None
    if symbol in METHODS:
        return Call(f"ev.{symbol}(x, y)", lambda: getattr(w.ev, symbol)(x.value, y.value), truth)
    return Call(f"x {symbol} y", lambda: OPERATORS[symbol](x.value, y.value), truth)


def with_clear(w: World, rng: Rng, x: Item) -> Call | None:
    symbol = one_of(rng, *OPERATORS, *METHODS)
    if costs(symbol, x):
        symbol = one_of(rng, "+", "-", "&", "<", "==", "maximum")
    dtype = x.truth.dtype.type
    other: Any = numbers(w, rng, () if chance(rng, 0.5) else x.truth.shape, dtype)
    if symbol in ("<<", ">>"):
        other = np.asarray(np.abs(other.astype(object)) % (dtype(0).itemsize * 8)).astype(dtype)
    truth = expected(symbol, x.truth, other)
    if truth is None:
        return None
    operand = other.item() if other.shape == () and chance(rng, 0.5) else other
    if symbol in METHODS:
        return Call(f"ev.{symbol}(x, {text_of(operand)})", lambda: getattr(w.ev, symbol)(x.value, operand), truth)
    if chance(rng, 0.4) and not isinstance(operand, int | bool):
        reverse = expected(symbol, other, x.truth)
        return Call(f"{text_of(operand)} {symbol} x", lambda: OPERATORS[symbol](operand, x.value), reverse)
    return Call(f"x {symbol} {text_of(operand)}", lambda: OPERATORS[symbol](x.value, operand), truth)


def unary(w: World, rng: Rng, x: Item) -> Call | None:
    boolean = x.truth.dtype == np.bool_
    name = one_of(rng, "~x", "~x" if boolean else "-x")
    with np.errstate(all="ignore"):
        truth = np.asarray(~x.truth if name == "~x" else -x.truth)
    return Call(name, (lambda: ~x.value) if name == "~x" else (lambda: -x.value), truth)


def where(w: World, rng: Rng, x: Item, y: Item) -> Call:
    chosen = numbers(w, rng, x.truth.shape, np.bool_)
    condition = w.ev.bind(w.ctx.encrypt(chosen, w.keys.secret, seed=seed_bytes(rng)))
    truth: Any = REFUSE
    if x.truth.dtype == y.truth.dtype and x.truth.shape == y.truth.shape:
        truth = np.asarray(np.where(chosen, x.truth, y.truth))
    elif x.truth.dtype == y.truth.dtype:
        try:
            truth = np.asarray(np.where(chosen, x.truth, y.truth))
        except ValueError:
            truth = REFUSE
    return Call("ev.where(condition, x, y)", lambda: w.ev.where(condition, x.value, y.value), truth)


def type_of_sums(dtype: Any, count: int) -> Any:
    """Return the narrowest type that holds every sum of `count` elements, signed as they are; at most 64 bits."""
    if dtype == np.bool_:
        return np.min_scalar_type(count)
    limits = np.iinfo(dtype)
    for bits in (8, 16, 32):
        wide = np.iinfo(f"{limits.kind}{bits // 8}")
        if bits >= limits.bits and wide.min <= count * int(limits.min) and count * int(limits.max) <= wide.max:
            return wide.dtype
    return np.dtype(f"{limits.kind}8")


def reduction(w: World, rng: Rng, x: Item) -> Call | None:
    name = one_of(rng, "sum", "min", "max", "argmax")
    axis = one_of(rng, None, *range(-x.truth.ndim, x.truth.ndim))
    boolean = x.truth.dtype == np.bool_
    if (boolean and not w.bits_only and name != "sum") or w.bits_only or costs("*", x):
        return None
    count = x.truth.size if axis is None else x.truth.shape[axis]
    with np.errstate(all="ignore"):
        if name == "sum":
            truth = x.truth.sum(axis, dtype=type_of_sums(x.truth.dtype, count))
        elif name == "argmax":
            truth = x.truth.argmax(axis).astype(np.min_scalar_type(count - 1) if count else np.uint8)
        else:
            truth = getattr(x.truth, name)(axis)
    return Call(f"ev.{name}(x, axis={axis})", lambda: getattr(w.ev, name)(x.value, axis), np.asarray(truth))


def index(w: World, rng: Rng, x: Item) -> Call:
    shape = x.truth.shape
    choices: list[Any] = [..., None, (), slice(None), slice(None, None, -1)]
    if shape:
        choices += [0, -1, slice(0, 1), [0], np.array([0, -1]), x.truth == x.truth, slice(1, None), 99]
    key = one_of(rng, *choices)
    try:
        truth: Any = np.asarray(x.truth[key])
        truth = truth if truth.size else REFUSE
    except IndexError:
        truth = REFUSE
    return Call(f"x[{text_of(key)}]", lambda: x.value[key], truth)


def reshape(w: World, rng: Rng, x: Item) -> Call:
    shape = one_of(rng, (x.truth.size,), (-1,), (1, -1), (-1, 1), (x.truth.size, 1), x.truth.size, -1, (7, 3), (0,))
    try:
        truth: Any = x.truth.reshape(shape)
    except ValueError:
        truth = REFUSE
    return Call(f"x.reshape({shape})", lambda: x.value.reshape(shape), truth)


def astype(w: World, rng: Rng, x: Item) -> Call | None:
    if w.bits_only:
        return None
    dtype = one_of(rng, np.bool_, *UNSIGNED, *SIGNED)
    return Call(f"x.astype({dtype.__name__})", lambda: x.value.astype(dtype), x.truth.astype(dtype))


def lookup(w: World, rng: Rng, x: Item) -> Call | None:
    if w.bits_only or x.truth.dtype not in (np.uint8, np.int8) or x.truth.size > 4:
        return None
    table = rng.integers(0, 128, 256)
    truth = np.asarray(table[x.truth.astype(np.int64) & 255]).astype(x.truth.dtype)
    return Call("ev.lookup(f, x)", lambda: w.ev.lookup(lambda v: table[v & 255], x.value), truth)


def lookup_two(w: World, rng: Rng, x: Item) -> Call | None:
    if w.bits_only or x.truth.dtype != np.uint8 or x.truth.size > 2:
        return None
    a, b = (int(k) for k in rng.integers(1, 99, 2))
    y = np.asarray(rng.integers(0, 256, x.truth.shape)).astype(np.uint8)
    second = w.ctx.encrypt(y, w.keys.secret, seed=seed_bytes(rng))
    truth = np.asarray((a * x.truth.astype(int) + b * y.astype(int) ** 2) % 256).astype(np.uint8)
    run = lambda: w.ev.lookup(lambda p, q: (a * p + b * q * q) % 256, x.value, second)
    return Call(f"ev.lookup(lambda x, y: ({a} x + {b} y^2) % 256, x, {text_of(y)})", run, truth)


def digits(w: World, rng: Rng) -> Call | None:
    """Single digits have room for carries, until a lookup."""
    if w.bits_only:
        return None
    a, b = (rng.integers(0, 4, 3).astype(np.uint8) for _ in range(2))

    def run() -> Any:
        x, y = (w.ev.bind(w.ctx.encrypt(v, w.keys.secret, digits=True)) for v in (a, b))
        return w.ctx.decrypt(w.ev.lookup(lambda s: s // 4, x + y), w.keys.secret)

    def check(found: Any, truth: Any) -> float:
        compare(found, truth)
        return 0.0

    return Call(f"carries of digits {a} + {b}", run, (a + b) // np.uint8(4), check=check)


def round_trip(w: World, rng: Rng, x: Item) -> Call:
    if chance(rng, 0.5):
        return Call("pickle of x", lambda: w.ev.bind(pickle.loads(pickle.dumps(x.value))), x.truth)
    run = lambda: w.ev.bind(tfhe.EncryptedArray.from_bytes(w.ctx, bytes(x.value)))
    return Call("EncryptedArray.from_bytes(ctx, bytes(x))", run, x.truth)


def observe(w: World, rng: Rng, x: Item) -> Call:
    """What is shown of things never raises."""
    things = (x.value, w.ctx, w.ev, w.keys.secret, w.keys.server)
    check = lambda found, truth: 0.0 if all(found) else 1.0
    return Call("repr and HTML of x, keys, ...", lambda: all_shown(things), None, check=check)


VERBS: list[Verb] = [
    *named({encrypt: 1.5, digits: 0.2}),
    *named({with_clear: 3.0, unary: 0.7, reduction: 1.0, index: 0.8, reshape: 0.5, astype: 0.7}, takes=1),
    *named({lookup: 0.3, lookup_two: 0.5, round_trip: 0.6, observe: 0.2}, takes=1),
    *named({binary: 4.0, where: 1.0}, takes=2),
]
