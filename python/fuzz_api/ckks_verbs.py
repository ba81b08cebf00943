"""CKKS: calls with what they give, by numpy with 64 bits of mantissa."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api.ckks import World, compare, length_of
from fuzz_api.draw import (
    Exact,
    Rng,
    all_shown,
    chance,
    complex_vector,
    exact,
    one_of,
    real_vector,
    scalar,
    seed_bytes,
    text_of,
)
from fuzz_api.operands import OPERATIONS, held, is_one_number, with_clear
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import ckks

# ---- what makes items


def encrypt(w: World, rng: Rng) -> Call:
    count = w.slots if chance(rng, 0.8) else int(rng.integers(1, w.slots + 1))
    values = complex_vector(rng, count) if chance(rng, 0.15) else real_vector(rng, count)
    key, name = (w.keys.public, "public") if chance(rng, 0.5) else (w.keys.secret, "secret")
    options: dict[str, Any] = {"slots": w.slots, "seed": seed_bytes(rng)}
    if chance(rng, 0.2):
        options["level"] = int(rng.integers(0, w.params.max_level + 1))
    truth = np.zeros(w.slots, np.clongdouble)
    truth[:count] = exact(values)
    if chance(rng, 0.1) and count & (count - 1) == 0:
        options["repeat"] = True
        truth = np.tile(exact(values), w.slots // count)
    text = f"ctx.encrypt({text_of(values)}, keys.{name}, slots={w.slots}, level={options.get('level')})"
    if chance(rng, 0.2):
        options["within"] = within(rng, truth)
        text = text.replace(", slots", f", within={options['within']}, slots")
    if "repeat" in options:
        text = text.replace(", slots", ", repeat=True, slots")
    return Call(text, lambda: held(w, rng, w.ctx.encrypt(values, key, **options)), truth)


def within(rng: Rng, truth: Exact) -> Any:
    """Return a bound that holds for all slots: an interval, or a number."""
    most = float(np.abs(truth).max()) * (1 + 1e-12)
    if not truth.imag.any() and chance(rng, 0.5):
        return float(truth.real.min()) - 0.1 * most, float(truth.real.max()) + 0.1 * most + 1e-3
    return most * float(one_of(rng, 1.0, 1.5, 100.0)) + 1e-3


def encrypt_rows(w: World, rng: Rng) -> Call:
    rows = np.stack([np.asarray(real_vector(rng, w.slots, 1.0), float) for _ in range(int(rng.integers(1, 4)))])
    options: dict[str, Any] = {"slots": w.slots, "seed": seed_bytes(rng)}

    def run() -> Any:
        return [held(w, rng, x) for x in w.ctx.encrypt(rows, w.keys.public, **options)]

    return Call(f"ctx.encrypt({text_of(rows)}, keys.public)", run, [exact(row) for row in rows])


def encode(w: World, rng: Rng) -> Call:
    values = complex_vector(rng, w.slots) if chance(rng, 0.2) else real_vector(rng, w.slots)
    level = int(rng.integers(0, w.params.max_level + 1)) if chance(rng, 0.5) else w.params.max_level
    text = f"ctx.encode({text_of(values)}, slots={w.slots}, level={level})"
    return Call(text, lambda: w.ctx.encode(values, slots=w.slots, level=level), exact(values), "plaintext")


# ---- operations


def same_slots(x: Item, y: Item) -> bool:
    return len(x.truth) == len(y.truth)


def binary(name: str, symbol: str) -> Any:
    def make(w: World, rng: Rng, x: Item, y: Item) -> Call:
        operation = OPERATIONS[symbol]
        truth = operation(x.truth, y.truth) if same_slots(x, y) else REFUSE
        if chance(rng, 0.5):
            return Call(f"ev.{name}(x, y)", lambda: getattr(w.ev, name)(x.value, y.value), truth)
        return Call(f"x {symbol} y", lambda: operation(x.value, y.value), truth)

    return make


def with_plain(w: World, rng: Rng, x: Item) -> Call:
    """Operators and methods with numbers and vectors on either side."""
    slots = len(x.truth)
    other: Any
    if chance(rng, 0.5):
        other = scalar(rng)
    else:
        other = complex_vector(rng, slots) if chance(rng, 0.2) else real_vector(rng, slots)
    return plain_call(w, rng, x, other)


def plain_call(w: World, rng: Rng, x: Item, other: Any) -> Call:
    """One of the calls with a clear operand, whose meaning is that of numpy."""
    true = meaning(other, x)
    spelling, run, operation = with_clear(rng, w.ev, x.value, other)
    truth: Any = REFUSE
    if true is not None:
        with np.errstate(all="ignore"):
            truth = operation(x.truth, true)
    return Call(spelling.format(text_of(other)), run, truth)


def meaning(other: Any, x: Item) -> Any:
    """Return what numpy spreads over the slots, or None for what is no operand; slots after the values are not told."""
    slots, length = len(x.truth), length_of(x.value)
    try:
        array = np.asanyarray(other)
    except ValueError:
        return None
    if isinstance(array, np.ma.MaskedArray) or array.ndim > 1 or array.size == 0:
        return None
    if array.dtype.kind == "O" and array.ndim == 0 and not isinstance(other, np.ndarray):
        # Numbers of Python that numpy has no type for.
        try:
            array = np.asarray(float(other) if isinstance(other, int) or hasattr(other, "numerator") else None, float)
        except (OverflowError, TypeError):
            return None
    if array.dtype.kind not in "biufc" or not np.isfinite(array).all():
        return None
    if array.size not in (1, length, slots) and not (is_one_number(x.value) and array.size < slots):
        return None
    if array.size in (1, slots):
        return exact(array)
    return np.append(exact(array), np.full(slots - array.size, np.nan, np.clongdouble))


def with_plaintext(w: World, rng: Rng, x: Item, p: Item) -> Call:
    symbol = one_of(rng, "+", "-", "*")
    operation = OPERATIONS[symbol]
    truth = operation(x.truth, p.truth) if same_slots(x, p) else REFUSE
    return Call(f"x {symbol} plaintext", lambda: operation(x.value, p.value), truth)


def unary(w: World, rng: Rng, x: Item) -> Call:
    name = one_of(rng, "neg", "square", "mul_i", "conjugate", "-x")
    truth = {
        "neg": lambda: -x.truth,
        "-x": lambda: -x.truth,
        "square": lambda: x.truth * x.truth,
        "mul_i": lambda: x.truth * np.clongdouble(1j),
        "conjugate": lambda: x.truth.conj(),
    }[name]()
    if name == "-x":
        return Call("-x", lambda: -x.value, truth)
    return Call(f"ev.{name}(x)", lambda: getattr(w.ev, name)(x.value), truth)


def rotate(w: World, rng: Rng, x: Item) -> Call:
    steps = int(one_of(rng, *(w.request["rotations"] or [0]), 0, int(rng.integers(-9, 9)), len(x.truth)))
    return Call(f"ev.rotate(x, {steps})", lambda: w.ev.rotate(x.value, steps), np.roll(x.truth, -steps))


def rotate_many(w: World, rng: Rng, x: Item) -> Call:
    steps = [int(one_of(rng, *(w.request["rotations"] or [0]), 0)) for _ in range(int(rng.integers(0, 4)))]
    truth = [np.roll(x.truth, -step) for step in steps]
    if not steps:
        return Call(
            "ev.rotate_many(x, [])", lambda: w.ev.rotate_many(x.value, []), [], check=lambda r, t: float(r != t)
        )
    return Call(f"ev.rotate_many(x, {steps})", lambda: w.ev.rotate_many(x.value, steps), truth)


def reencrypted(w: World, rng: Rng, x: Item) -> Call:
    """Re-encrypt for another secret, with both secrets or under its public key, and back."""
    (other, _), under, seeds = w.other(rng), chance(rng, 0.4), [seed_bytes(rng) for _ in range(4)]

    def run() -> Any:
        new = w.ctx.receiver_key(other.secret, seed=seeds[0]) if under else other.secret
        there = w.ctx.reencryption_key(w.keys.secret, new, seed=seeds[1])
        back = w.ctx.reencryption_key(other.secret, w.keys.secret, seed=seeds[2])
        moved = w.ctx.reencrypt(x.value, there, flood=False, seed=seeds[3])
        if moved.owner != other.secret.owner:
            raise Finding("wrong", "a ciphertext of another owner than the key says")
        return held(w, rng, w.ctx.reencrypt(moved, back))

    return Call(f"x re-encrypted for another secret{', by its public key,' if under else ''} and back", run, x.truth)


def product_and_rescale(w: World, rng: Rng, x: Item, y: Item) -> Call:
    truth = x.truth * y.truth if same_slots(x, y) else REFUSE
    return Call(
        "ev.rescale(ev.mul_no_rescale(x, y))", lambda: w.ev.rescale(w.ev.mul_no_rescale(x.value, y.value)), truth
    )


def product_without_rescale(w: World, rng: Rng, x: Item, y: Item) -> Call:
    truth = x.truth * y.truth if same_slots(x, y) else REFUSE
    return Call("ev.mul_no_rescale(x, y)", lambda: w.ev.mul_no_rescale(x.value, y.value), truth)


def rescale(w: World, rng: Rng, x: Item) -> Call:
    return Call("ev.rescale(x)", lambda: w.ev.rescale(x.value), x.truth)


def to_level(w: World, rng: Rng, x: Item) -> Call:
    name = one_of(rng, "at_level", "drop_level")
    level = int(rng.integers(0, w.params.max_level + 2))
    truth = x.truth if level <= x.value.level else REFUSE
    return Call(f"ev.{name}(x, {level})", lambda: getattr(w.ev, name)(x.value, level), truth)


def align(w: World, rng: Rng, x: Item, y: Item) -> Call:
    truth = [x.truth, y.truth]
    return Call("ev.align(x, y)", lambda: w.ev.align(x.value, y.value), truth)


def weighted_sum(w: World, rng: Rng, x: Item, y: Item, z: Item) -> Call:
    weights = real_vector(rng, 3, 2.0)
    constant = float(rng.uniform(-1, 1)) if chance(rng, 0.5) else 0.0
    truth: Any = REFUSE
    if same_slots(x, y) and same_slots(y, z):
        a, b, c = exact(weights)
        truth = a * x.truth + b * y.truth + c * z.truth + np.clongdouble(constant)
    text = f"ev.weighted_sum([x, y, z], {text_of(weights)}, constant={constant})"
    return Call(text, lambda: w.ev.weighted_sum([x.value, y.value, z.value], weights, constant=constant), truth)


def dot(w: World, rng: Rng, x: Item, y: Item, z: Item) -> Call:
    truth: Any = REFUSE
    if same_slots(x, y) and same_slots(y, z):
        truth = x.truth * y.truth + z.truth * z.truth
    return Call("ev.dot([x, z], [y, z])", lambda: w.ev.dot([x.value, z.value], [y.value, z.value]), truth)


def sum_of_slots(w: World, rng: Rng, x: Item) -> Call:
    slots = len(x.truth)
    count = int(one_of(rng, slots, slots, 2 ** int(rng.integers(0, slots.bit_length())), int(rng.integers(1, 9))))
    if chance(rng, 0.3):
        truth = np.full(slots, np.nan, np.clongdouble)
        truth[0] = x.truth[: length_of(x.value)].sum()
        ev: Any = w.ev
        return Call("ev.sum(x)", lambda: ev.sum(x.value), truth)
    options: dict[str, Any] = {}
    if chance(rng, 0.2):
        options["stride"] = int(one_of(rng, 2, -1, 3))
    if chance(rng, 0.2):
        options["steps"] = int(rng.integers(1, 4))
    stride = options.get("stride", 1)
    truth = sum((np.roll(x.truth, -k * stride) for k in range(count)), np.zeros(slots, np.clongdouble))
    text = ", ".join([str(count), *(f"{name}={value}" for name, value in options.items())])
    return Call(f"ev.sum(x, {text})", lambda: w.ev.sum(x.value, count, **options), truth)


def mean(w: World, rng: Rng, x: Item) -> Call:
    """Every value counts once."""
    length = length_of(x.value)
    truth = np.full(len(x.truth), np.nan, np.clongdouble)
    truth[0] = x.truth[:length].sum()
    name = one_of(rng, "x.mean()", "x.sum()", "np.mean(x)", "np.sum(x)", "ev.mean(x)")
    numpy: Any = np
    runs = {
        "x.mean()": lambda: w.ev.bind(x.value).mean(),
        "x.sum()": lambda: w.ev.bind(x.value).sum(),
        "np.mean(x)": lambda: numpy.mean(w.ev.bind(x.value)),
        "np.sum(x)": lambda: numpy.sum(w.ev.bind(x.value)),
        "ev.mean(x)": lambda: w.ev.mean(x.value),
    }
    return Call(name, runs[name], truth / np.longdouble(length) if "mean" in name else truth)


def product_of_slots(w: World, rng: Rng, x: Item) -> Call:
    count, stride = int(one_of(rng, 1, 2, 2, 3, 4, 4, 5, 8)), int(one_of(rng, 1, 1, 1, 2, -1))
    truth = np.ones_like(x.truth)
    for k in range(count):
        truth = truth * np.roll(x.truth, -k * stride)
    options = {} if stride == 1 else {"stride": stride}
    return Call(f"ev.product(x, {count}, {options})", lambda: w.ev.product(x.value, count, **options), truth)


def matvec(w: World, rng: Rng, x: Item) -> Call:
    """Right in the rows of the matrix; the slots after them are not told."""
    slots = len(x.truth)
    rows, columns = (int(k) for k in rng.integers(1, min(slots, 9) + 1, 2))
    matrix: Any = rng.uniform(-1, 1, (rows, columns))
    if chance(rng, 0.3):
        matrix = np.rint(matrix * 3).astype(int)
    if chance(rng, 0.1):
        matrix = [list(map(float, row)) for row in matrix]
    ev = evaluator_for(w, rng, ckks.rotations_of_matrix(matrix))
    product = np.dot(exact(matrix), x.truth[:columns])
    truth = np.full(slots, np.nan, np.clongdouble)
    truth[:rows] = product
    text = f"matrix {text_of(np.asarray(matrix))} times x"
    if chance(rng, 0.5):
        return Call(text, lambda: ev.matvec(matrix, x.value), truth)
    return Call(text, lambda: np.asarray(matrix) @ ev.bind(x.value), truth)


def evaluator_for(w: World, rng: Rng, rotations: list[int]) -> ckks.Evaluator:
    """Return an evaluator with keys of the same secret for these rotations besides; mostly."""
    if chance(rng, 0.1) or not w.params.p:
        return w.ev
    more = w.ctx.evaluation_keys(w.keys.secret, rotations=rotations, seed=seed_bytes(rng))
    return w.ctx.evaluator(w.keys.evaluation | more)


def polynomial(w: World, rng: Rng, x: Item) -> Call:
    coefficients = real_vector(rng, int(rng.integers(1, 10)), float(one_of(rng, 1.0, 1.0, 0.1, 20.0)))
    options: dict[str, Any] = {}
    u = x.truth
    if chance(rng, 0.5):
        options["basis"] = "chebyshev"
        if chance(rng, 0.5):
            known = np.abs(x.truth[~np.isnan(x.truth)])
            reach = float(known.max()) * float(one_of(rng, 1.0, 1.01, 1.5, 0.5)) if len(known) else 1.0
            low, high = one_of(rng, (-reach, reach), (-reach, reach), (-1.5 * reach, reach), (0.0, reach))
            if low < high:
                options["interval"] = (low, high)
                u = (2 * u - np.longdouble(low) - np.longdouble(high)) / (np.longdouble(high) - np.longdouble(low))
    truth = series(exact(coefficients), u, "basis" in options)
    text = f"ev.polynomial(x, {text_of(np.asarray(coefficients))}, {options})"
    return Call(text, lambda: w.ev.polynomial(x.value, coefficients, **options), truth)


def series(coefficients: Exact, u: Exact, chebyshev: bool) -> Exact:
    """Return the sum of coefficients times powers, or Chebyshev polynomials, by their recurrence."""
    total = np.zeros_like(u)
    before, power = u, np.ones_like(u)
    for coefficient in coefficients:
        total = total + coefficient * power
        before, power = (power, 2 * u * power - before) if chebyshev else (power, u * power)
    return total


# ---- statements and transport


def power(w: World, rng: Rng, x: Item) -> Call:
    exponent = one_of(rng, 0, 1, 2, 2, 3, 4, 5, 2.0, -1, 0.5)
    truth: Any = REFUSE
    if exponent in (0, 1, 2, 3, 4, 5):
        truth = np.ones_like(x.truth)
        for _ in range(int(exponent)):
            truth = truth * x.truth
    return Call(f"x ** {exponent}", lambda: x.value**exponent, truth)


def quotient(w: World, rng: Rng, x: Item) -> Call:
    divisor = one_of(rng, 2, -3, 0.5, 3.7, 1e-3, 0, 0.0, np.float32(2.5), float("nan"), float("inf"))
    good = divisor == divisor and divisor != 0
    truth = x.truth / np.clongdouble(divisor) if good else REFUSE
    return Call(f"x / {divisor!r}", lambda: x.value / divisor, truth)


def saved(w: World, rng: Rng, x: Item) -> Call:
    several = chance(rng, 0.4)

    def run() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.ct"
            if several:
                w.ctx.save(path, [x.value, x.value])
                return w.ctx.load(path)
            x.value.save(path)
            return held(w, rng, ckks.Ciphertext.load(w.ctx, path))

    text = "ctx.load(path) after ctx.save(path, [x, x])" if several else "Ciphertext.load(ctx, path) after x.save(path)"
    return Call(text, run, [x.truth, x.truth] if several else x.truth)


def with_magnitude(w: World, rng: Rng, x: Item) -> Call:
    known = np.abs(x.truth[~np.isnan(x.truth)])
    if len(known) < len(x.truth):
        return Call("x", lambda: x.value, x.truth)
    most = float(known.max()) * (1 + 1e-12) * float(one_of(rng, 1.0, 1.0, 1.5))
    return Call(f"x.with_magnitude({most})", lambda: x.value.with_magnitude(most), x.truth)


def with_range(w: World, rng: Rng, x: Item) -> Call | None:
    if np.isnan(x.truth).any() or x.truth.imag.any():
        return None
    margin = float(np.abs(x.truth).max()) * float(one_of(rng, 1e-12, 0.1)) + 1e-9
    low, high = float(x.truth.real.min()) - margin, float(x.truth.real.max()) + margin
    return Call(f"x.with_range({low}, {high})", lambda: x.value.with_range(low, high), x.truth)


def round_trip(w: World, rng: Rng, x: Item) -> Call:
    match int(rng.integers(4)):
        case 0:
            packed = chance(rng, 0.5)
            text = f"ckks.Ciphertext.from_bytes(ctx, x.to_bytes(packed={packed}))"

            def run() -> Any:
                return held(w, rng, ckks.Ciphertext.from_bytes(w.ctx, x.value.to_bytes(packed=packed)))
        case 1:
            text = "pickle of (x, ev)"

            def run() -> Any:
                again, ev = pickle.loads(pickle.dumps((x.value, w.ev)))
                return ev.bind(again)
        case 2:
            text = "ev of keys from bytes"

            def run() -> Any:
                keys = ckks.EvaluationKeys.from_bytes(bytes(w.keys.evaluation), min_security=0)
                return w.ctx.evaluator(keys).bind(x.value)
        case _:
            text = "pickle of x"

            def run() -> Any:
                return held(w, rng, pickle.loads(pickle.dumps(x.value)))

    return Call(text, run, x.truth)


def grown_keys(w: World, rng: Rng, x: Item) -> Call | None:
    """A rotation with keys that were made later for the same secret."""
    if not w.params.p:
        return None
    steps = int(rng.integers(-9, 10))
    level = int(rng.integers(0, w.params.max_level + 1)) if chance(rng, 0.3) else None
    seed = seed_bytes(rng)

    def run() -> Any:
        more = w.ctx.evaluation_keys(w.keys.secret, rotations=[steps], level=level, seed=seed)
        if chance(rng, 0.5):
            return w.ev.with_keys(more).rotate(x.value, steps)
        return w.ctx.evaluator(more | w.keys.evaluation).rotate(x.value, steps)

    text = f"rotation by {steps} with ctx.evaluation_keys(secret, rotations=[{steps}], level={level})"
    return Call(text, run, np.roll(x.truth, -steps))


def cut_keys(w: World, rng: Rng, x: Item) -> Call:
    """A square with keys that were cut to a level."""
    level = int(rng.integers(0, w.params.max_level + 1))
    run = lambda: w.ctx.evaluator(w.keys.evaluation.at_level(level)).square(x.value)
    return Call(f"square of x with keys.at_level({level})", run, x.truth * x.truth)


def secret_round_trip(w: World, rng: Rng, x: Item) -> Call:
    key = ckks.SecretKey.from_bytes(bytes(w.keys.secret), min_security=0)
    bound = x.value.error_bound

    def check(found: Any, truth: Any) -> float:
        return compare(found, truth[: length_of(x.value)], bound) if bound < np.inf else 0.0

    return Call(
        "ctx.decrypt(x, SecretKey.from_bytes(bytes(secret), min_security=0), complex=True)",
        lambda: w.ctx.decrypt(x.value, key, complex=True),
        x.truth,
        check=check,
    )


def release(w: World, rng: Rng, x: Item) -> Call:
    bits = int(rng.integers(-24, 6))

    def check(found: Any, truth: Any) -> float:
        return compare(found, truth.real[: length_of(x.value)], x.value.error_bound + 1.5 * 2.0**-bits)

    run = lambda: w.ctx.decrypt_for_release(x.value, w.keys.secret, bits=bits)
    return Call(f"ctx.decrypt_for_release(x, secret, bits={bits})", run, x.truth, check=check)


def real_part(w: World, rng: Rng, x: Item) -> Call:
    """Decrypting without complex=True gives real parts, of what is real."""
    bound = x.value.error_bound

    def check(found: Any, truth: Any) -> float:
        if not bound < np.inf:
            return 0.0
        truth = truth[: length_of(x.value)]
        imaginary = np.abs(truth.imag[~np.isnan(truth)])
        if len(imaginary) and float(imaginary.max()) > bound:
            raise Finding("accepted", f"imaginary parts up to {float(imaginary.max()):.3g} were dropped without a word")
        return compare(found, truth.real, bound)

    return Call("ctx.decrypt(x, secret)", lambda: w.ctx.decrypt(x.value, w.keys.secret), x.truth, check=check)


def observe(w: World, rng: Rng, x: Item) -> Call:
    """What is shown of things never raises, and is never empty."""
    things = (x.value, w.ctx, w.params, w.ev, w.keys.secret, w.keys.public, w.keys.evaluation)
    return Call("repr, HTML and explain() of x, keys, ...", lambda: all_shown(things), None, check=texts)


def texts(found: Any, truth: Any) -> float:
    """Check that all texts say something."""
    if not all(isinstance(text, str) and text for text in found):
        raise Finding("wrong", "an empty text")
    return 0.0


ONE, TWO, THREE = ("ciphertext",), ("ciphertext",) * 2, ("ciphertext",) * 3
VERBS: list[Verb] = [
    Verb("encrypt", encrypt, weight=1.5),
    Verb("encrypt_rows", encrypt_rows, weight=0.3),
    Verb("encode", encode, weight=0.5),
    Verb("add", binary("add", "+"), TWO),
    Verb("sub", binary("sub", "-"), TWO),
    Verb("mul", binary("mul", "*"), TWO, 2.0),
    Verb("with_plain", with_plain, ONE, 3.0),
    Verb("with_plaintext", with_plaintext, ("ciphertext", "plaintext"), 1.0),
    Verb("unary", unary, ONE, 1.5),
    Verb("rotate", rotate, ONE),
    Verb("rotate_many", rotate_many, ONE, 0.5),
    Verb("reencrypted", reencrypted, ONE, 0.4),
    Verb("product_and_rescale", product_and_rescale, TWO, 0.4),
    Verb("mul_no_rescale", product_without_rescale, TWO, 0.3),
    Verb("rescale", rescale, ONE, 0.3),
    Verb("to_level", to_level, ONE, 0.7),
    Verb("align", align, TWO, 0.4),
    Verb("weighted_sum", weighted_sum, THREE, 0.7),
    Verb("dot", dot, THREE, 0.7),
    Verb("sum", sum_of_slots, ONE, 0.8),
    Verb("mean", mean, ONE, 0.5),
    Verb("product", product_of_slots, ONE, 0.6),
    Verb("matvec", matvec, ONE, 1.0),
    Verb("polynomial", polynomial, ONE, 1.5),
    Verb("with_magnitude", with_magnitude, ONE, 0.5),
    Verb("power", power, ONE, 0.7),
    Verb("quotient", quotient, ONE, 0.5),
    Verb("saved", saved, ONE, 0.2),
    Verb("with_range", with_range, ONE, 0.4),
    Verb("round_trip", round_trip, ONE, 0.6),
    Verb("grown_keys", grown_keys, ONE, 0.5),
    Verb("cut_keys", cut_keys, ONE, 0.3),
    Verb("secret_round_trip", secret_round_trip, ONE, 0.2),
    Verb("release", release, ONE, 0.3),
    Verb("real_part", real_part, ONE, 0.5),
    Verb("observe", observe, ONE, 0.3),
]
