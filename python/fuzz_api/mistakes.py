"""Mistakes: things of the wrong kind, of other keys and of other parameters, and damaged bytes.

A mistake is refused with an allowed exception; where numpy gives it a meaning, the result must be right.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from fuzz_api import ckks_verbs as on_reals
from fuzz_api import integers as on_integers
from fuzz_api import tfhe as on_arrays
from fuzz_api.draw import Rng, one_of, real_vector, seed_bytes, text_of, weird
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import Error, PicklableSecret, bfv, bgv, ckks, tfhe

NUMBERS = (-1, -(2**31), 2**31, 2**32, 2**63, 2**64, -(2**63), 10**30, 0.5, "3", None, 1e300, float("nan"), True, [1])


def nothing(found: Any, truth: Any) -> float:
    """Take any result: a call that may be refused, and whose result says nothing that can be wrong."""
    return 0.0


def damaged(rng: Rng, data: bytes) -> bytes:
    """Return bytes that are not what they were."""
    changed = bytearray(data)
    match int(rng.integers(5)):
        case 0:
            return bytes(changed[: int(rng.integers(0, len(changed)))])
        case 1:
            return bytes(changed) + rng.bytes(int(rng.integers(1, 99)))
        case 2:
            return rng.bytes(int(rng.integers(0, 200)))
        case 3:
            return b""
        case _:
            changed[int(rng.integers(len(changed)))] ^= int(rng.integers(1, 256))
            return bytes(changed)


# ---- CKKS


def reals_operand(w: Any, rng: Rng, x: Item) -> Call:
    return on_reals.plain_call(w, rng, x, weird(rng))


def reals_length(w: Any, rng: Rng, x: Item) -> Call | None:
    """Vectors of another length than the slots: numpy spreads one number, and refuses the rest."""
    slots = len(x.truth)
    length = int(one_of(rng, 1, 1, 2, slots - 1, slots + 1, 2 * slots, 0))
    if length in (0, slots):
        return None
    return on_reals.plain_call(w, rng, x, real_vector(rng, length))


def reals_number(w: Any, rng: Rng, x: Item) -> Call:
    """Numbers that are no steps, counts or levels."""
    number = one_of(rng, *NUMBERS)
    name = one_of(rng, "rotate", "sum", "at_level", "drop_level", "rotate_many", "stride", "steps", "bits")
    calls: dict[str, Any] = {
        "rotate_many": lambda: w.ev.rotate_many(x.value, [number]),
        "stride": lambda: w.ev.sum(x.value, 2, stride=number),
        "steps": lambda: w.ev.sum(x.value, 4, steps=number),
        "bits": lambda: w.ctx.decrypt_for_release(x.value, w.keys.secret, bits=number),
    }
    run = calls.get(name, lambda: getattr(w.ev, name)(x.value, number))
    return Call(f"ev.{name}(x, {number!r})", run, None, check=whole_number(name, w, x, number))


def whole_number(name: str, w: Any, x: Item, number: Any) -> Any:
    """Return how a result is checked for a number that happens to be good."""

    def check(found: Any, truth: Any) -> float:
        if name == "rotate" and isinstance(number, int):
            ratio: float = w.verify(found, np.roll(x.truth, -(number % len(x.truth))), "ciphertext")
            return ratio
        if name in ("at_level", "drop_level") and isinstance(number, int):
            ratio = w.verify(found, x.truth, "ciphertext")
            return ratio
        return 0.0

    return check


def reals_argument(w: Any, rng: Rng, x: Item) -> Call:
    """Something else in the place of a ciphertext, a key, coefficients, a matrix or a list."""
    thing = weird(rng)
    ev, ctx, v = w.ev, w.ctx, x.value
    calls: dict[str, Any] = {
        "ev.add(thing, x)": lambda: ev.add(thing, v),
        "ev.square(thing)": lambda: ev.square(thing),
        "ev.bind(thing)": lambda: ev.bind(thing),
        "ev.dot(thing, [x])": lambda: ev.dot(thing, [v]),
        "ev.dot([x], thing)": lambda: ev.dot([v], thing),
        "ev.mul_no_rescale(x, thing)": lambda: ev.mul_no_rescale(v, thing),
        "ev.align(x, thing)": lambda: ev.align(v, thing),
        "ctx.decrypt(thing, secret)": lambda: ctx.decrypt(thing, w.keys.secret),
        "ctx.decrypt(x, thing)": lambda: ctx.decrypt(v, thing),
        "ctx.decrypt(x, public)": lambda: ctx.decrypt(v, w.keys.public),
        "ctx.encrypt([1.0], thing)": lambda: ctx.encrypt([1.0], thing),
        "ctx.evaluator(thing)": lambda: ctx.evaluator(thing),
        "ckks.Context(thing)": lambda: ckks.Context(thing),
        "Ciphertext.from_bytes(ctx, thing)": lambda: ckks.Ciphertext.from_bytes(ctx, thing),
        "SecretKey.from_bytes(thing)": lambda: ckks.SecretKey.from_bytes(thing, min_security=0),
        "ev.polynomial(x, [1, 2], basis=thing)": lambda: ev.polynomial(v, [1, 2], basis=thing),
    }
    text = one_of(rng, *calls)
    return Call(f"{text}, thing {text_of(thing)}", calls[text], REFUSE if not is_list(thing) else None, check=nothing)


def is_list(thing: Any) -> bool:
    """Return whether this may stand for an empty list."""
    return isinstance(thing, list | tuple | dict | set | range | np.ndarray) or hasattr(thing, "__next__")


def reals_array(w: Any, rng: Rng, x: Item) -> Call:
    """Arrays of no numbers as coefficients, matrices, weights and messages."""
    thing = weird(rng)
    finite = clean(thing)
    ev, ctx, v = w.ev, w.ctx, x.value
    calls: dict[str, Any] = {
        "ev.polynomial(x, thing)": lambda: ev.polynomial(v, thing),
        "ev.matvec(thing, x)": lambda: ev.matvec(thing, v),
        "ckks.rotations_of_matrix(thing)": lambda: ckks.rotations_of_matrix(thing),
        "ev.weighted_sum([x], thing)": lambda: ev.weighted_sum([v], thing),
        "ctx.encrypt(thing, public)": lambda: ctx.encrypt(thing, w.keys.public),
        "ctx.encode(thing)": lambda: ctx.encode(thing),
        "ev.polynomial(x, [1], interval=thing)": lambda: ev.polynomial(v, [1.0, 2.0], interval=thing),
    }
    text = one_of(rng, *calls)
    # No interval is the default.
    default = thing is None and "interval" in text
    return Call(f"{text}, thing {text_of(thing)}", calls[text], None if finite or default else REFUSE, check=nothing)


def clean(thing: Any) -> bool:
    """Return whether numpy makes finite numbers of it."""
    try:
        array = np.asanyarray(thing)
    except ValueError:
        return False
    if isinstance(array, np.ma.MaskedArray):
        return False
    if array.dtype.kind == "O":
        return isinstance(thing, int) or hasattr(thing, "numerator") or type(thing).__name__ == "Decimal"
    return array.dtype.kind in "biufc" and bool(np.isfinite(array).all())


def reals_foreign(w: Any, rng: Rng, x: Item) -> Call | None:
    """Another secret of the same parameters."""
    keys, ev = w.other(rng)
    foreign = ev.bind(w.ctx.encrypt(np.zeros(len(x.truth)), keys.public, slots=len(x.truth), level=x.value.level))
    return foreign_call(w, rng, x, keys, ev, foreign)


def foreign_call(w: Any, rng: Rng, x: Item, keys: Any, ev: Any, foreign: Any) -> Call | None:
    """One of the calls that mix two secrets."""
    v = x.value

    def back() -> Any:
        return w.ctx.reencrypt(v, w.ctx.reencryption_key(keys.secret, w.keys.secret))

    calls: dict[str, Any] = {
        "ctx.decrypt(x, other.secret)": lambda: w.ctx.decrypt(v, keys.secret),
        "ctx.reencrypt(x, the key from the other secret)": back,
        "x + foreign": lambda: v + foreign,
        "foreign - x": lambda: foreign - v,
        "x * foreign": lambda: v * foreign,
        "ev.dot([x], [foreign])": lambda: w.ev.dot([v], [foreign]),
        "other_ev.bind(x)": lambda: ev.bind(v),
        "other_ev.add(x, 1)": lambda: ev.add(v, 1),
        "other_ev.rotate(x, 1)": lambda: ev.rotate(v, 1),
        "other_ev.square(x)": lambda: ev.square(v),
        "keys.evaluation | other.evaluation": lambda: w.keys.evaluation | keys.evaluation,
        "ev.with_keys(other.evaluation)": lambda: w.ev.with_keys(keys.evaluation),
    }
    text = one_of(rng, *calls)
    return Call(text, calls[text], REFUSE)


def reals_mixed(w: Any, rng: Rng, x: Item) -> Call:
    """Other parameters."""
    params = ckks.Parameters(5, [45, 35], [50], security=None)
    ctx = ckks.Context(params, threads=1)
    keys = ctx.keygen(seed=seed_bytes(rng))
    ev = ctx.evaluator(keys.evaluation)
    y = ev.bind(ctx.encrypt([0.5], keys.public, slots=1))
    v = x.value
    calls: dict[str, Any] = {
        "x + of_other_parameters": lambda: v + y,
        "of_other_parameters * x": lambda: y * v,
        "other_ctx.decrypt(x, secret)": lambda: ctx.decrypt(v, w.keys.secret),
        "ctx.decrypt(of_other_parameters, secret)": lambda: w.ctx.decrypt(y, w.keys.secret),
        "ctx.decrypt(x, secret_of_other_parameters)": lambda: w.ctx.decrypt(v, keys.secret),
        "ctx.evaluator(keys_of_other_parameters)": lambda: w.ctx.evaluator(keys.evaluation),
        "ctx.encrypt([1.0], key_of_other_parameters)": lambda: w.ctx.encrypt([1.0], keys.public),
        "ev.bind(of_other_parameters)": lambda: w.ev.bind(y),
        "Ciphertext.from_bytes(other_ctx, bytes(x))": lambda: ckks.Ciphertext.from_bytes(ctx, bytes(v)),
        "ctx.decode(plaintext_of_other_parameters)": lambda: w.ctx.decode(ctx.encode([1.0])),
        "x + plaintext_of_other_parameters": lambda: v + ctx.encode([0.5], slots=1),
        "ev.dot([x], [of_other_parameters])": lambda: w.ev.dot([v], [y]),
    }
    text = one_of(rng, *calls)
    return Call(text, calls[text], REFUSE)


def reals_bytes(w: Any, rng: Rng, x: Item) -> Call:
    """Damaged bytes, and bytes of other things."""
    sources = [bytes(x.value), bytes(w.keys.secret), bytes(w.keys.public), bytes(w.params), bytes(w.keys.evaluation)]
    data = damaged(rng, one_of(rng, *sources))
    readers: dict[str, Any] = {
        "Ciphertext": lambda: ckks.Ciphertext.from_bytes(w.ctx, data),
        "Plaintext": lambda: ckks.Plaintext.from_bytes(w.ctx, data),
        "SecretKey": lambda: ckks.SecretKey.from_bytes(data, min_security=0),
        "PublicKey": lambda: ckks.PublicKey.from_bytes(data, min_security=0),
        "EvaluationKeys": lambda: ckks.EvaluationKeys.from_bytes(data, min_security=0),
        "ReencryptionKey": lambda: ckks.ReencryptionKey.from_bytes(data, min_security=0),
        "ReceiverKey": lambda: ckks.ReceiverKey.from_bytes(data, min_security=0),
        "Parameters": lambda: ckks.Parameters.from_bytes(data),
    }
    text = one_of(rng, *readers)
    return Call(f"{text}.from_bytes({len(data)} damaged bytes)", readers[text], REFUSE)


def reals_parameters(w: Any, rng: Rng) -> Call:
    """Parameters and requests out of range."""

    def size() -> Any:
        return one_of(rng, 0, 1, 19, 20, 30, 50, 51, 64, -1, 2**40, 10)

    calls: list[tuple[str, Any]] = []
    a, b, c, d = size(), size(), size(), size()
    calls.append(
        (
            f"ckks.Parameters({a}, [{b}, {c}], [{d}], security=None)",
            lambda: ckks.Parameters(min(a, 8), [b, c], [d], security=None),
        )
    )
    calls.append(
        (
            f"ckks.Parameters(6, [50, 40], [50], {a}, dnum={b}, security=None)",
            lambda: ckks.Parameters(6, [50, 40], [50], a, dnum=b, security=None),
        )
    )
    calls.append(
        (
            f"ckks.Parameters(6, [50, 40], [50], secret={a}, restarts={{{b}: {c}}}, security=None)",
            lambda: ckks.Parameters(6, [50, 40], [50], secret=a, restarts={b: c}, security=None),
        )
    )
    calls.append(
        (
            f"ckks.Parameters.for_requirements(depth={a % 40}, precision_bits={b}, max_abs={c}, slots={d})",
            lambda: ckks.Parameters.for_requirements(depth=a % 40, precision_bits=b, max_abs=c, slots=d),
        )
    )
    calls.append((f"ctx.keygen(rotations=[{a}], level={b})", lambda: w.ctx.keygen(rotations=[a], level=b)))
    calls.append((f"ctx.keygen(rotations_at={{{a}: {b}}})", lambda: w.ctx.keygen(rotations_at={a: b})))
    calls.append(
        (
            f"ctx.encrypt([1.0], public, slots={a}, level={b})",
            lambda: w.ctx.encrypt([1.0], w.keys.public, slots=a, level=b),
        )
    )
    calls.append((f"ctx.keygen(seed={a} bytes)", lambda: w.ctx.keygen(seed=bytes(min(abs(a), 99)))))
    calls.append(
        (
            f"ckks.rotations_of_sum({a}, stride={b}, steps={c})",
            lambda: ckks.rotations_of_sum(min(a, 2**20), stride=b, steps=min(c, 64)),
        )
    )
    calls.append(
        (f"ckks.rotations_of_product({a}, stride={b})", lambda: ckks.rotations_of_product(min(a, 2**20), stride=b))
    )
    calls.append(
        (f"ctx.steps_of_sum({a}, level={b}, key_memory={c})", lambda: w.ctx.steps_of_sum(a, level=b, key_memory=c))
    )
    text, run = calls[int(rng.integers(len(calls)))]
    return Call(text, run, None, check=nothing)


def python_protocols(w: Any, rng: Rng, x: Item) -> Call:
    """What Python asks of every object, and a ciphertext cannot answer."""
    v = x.value
    calls: dict[str, Any] = {
        "x == 1": lambda: v == 1,
        "x == x": lambda: v == v,
        "x != 0": lambda: v != 0,
        "x < 1": lambda: v < 1,
        "bool(x)": lambda: bool(v),
        "1 in x": lambda: 1 in v,
        "x in [1, 2]": lambda: v in [1, 2],
        "float(x)": lambda: float(v),
        "int(x)": lambda: int(v),
        "list(x)": lambda: list(v),
        "x[0]": lambda: v[0],
        "np.asarray(x)": lambda: np.asarray(v),
        "x @ x": lambda: v @ v,
        "x ** 0.5": lambda: v**0.5,
        "x // 2": lambda: v // 2,
        "x % 2": lambda: v % 2,
        "x & 1": lambda: v & 1,
        "abs(x)": lambda: abs(v),
        "round(x)": lambda: round(v),
        "math.floor": lambda: np.floor(v),
        "np.sin(x)": lambda: np.sin(v),
    }
    text = one_of(rng, *calls)
    return Call(text, calls[text], REFUSE)


def pickled_secret(w: Any, rng: Rng) -> Call:
    """Secret keys are pickled on purpose only."""
    thing, text = one_of(rng, (w.keys, "keys"), (w.keys.secret, "keys.secret"))
    if rng.random() < 0.5:
        return Call(f"pickle.dumps([{text}])", lambda: pickle.dumps([thing]), REFUSE)

    def run() -> Any:
        again = pickle.loads(pickle.dumps(PicklableSecret(thing))).value
        if bytes(getattr(again, "secret", again)) != bytes(w.keys.secret):
            raise Finding("wrong", f"the pickle of PicklableSecret({text}) holds another key")

    return Call(f"pickle.dumps(PicklableSecret({text}))", run, None, check=nothing)


# ---- integers


def integers_operand(w: Any, rng: Rng, x: Item) -> Call:
    return on_integers.plain_call(w, rng, x, weird(rng))


def integers_length(w: Any, rng: Rng, x: Item) -> Call | None:
    length = int(one_of(rng, 1, 2, w.n - 1, w.n + 1, w.row, 2 * w.n))
    if length == w.n:
        return None
    return on_integers.plain_call(w, rng, x, w.numbers(rng, length))


def integers_number(w: Any, rng: Rng, x: Item) -> Call:
    number = one_of(rng, *NUMBERS)
    name = one_of(rng, "rotate", "sum", "mod_switch", "rotate_many", "stride")
    calls: dict[str, Any] = {
        "rotate_many": lambda: w.ev.rotate_many(x.value, [number]),
        "stride": lambda: w.ev.sum(x.value, 2, stride=number),
    }

    def check(found: Any, truth: Any) -> float:
        if name == "rotate" and isinstance(number, int):
            w.verify(found, on_integers.rolled(w, x.truth, number % w.row), "ciphertext")
        if name == "mod_switch" and isinstance(number, int):
            w.verify(found, x.truth, "ciphertext")
        return 0.0

    run = calls.get(name, lambda: getattr(w.ev, name)(x.value, number))
    return Call(f"ev.{name}(x, {number!r})", run, None, check=check)


def integers_argument(w: Any, rng: Rng, x: Item) -> Call:
    thing = weird(rng)
    ev, ctx, v = w.ev, w.ctx, x.value
    whole = isinstance(thing, int | range | memoryview) or (isinstance(thing, np.ndarray) and thing.dtype.kind in "biu")
    calls: dict[str, tuple[Any, bool]] = {
        "ev.add(thing, x)": (lambda: ev.add(thing, v), True),
        "ev.square(thing)": (lambda: ev.square(thing), True),
        "ev.bind(thing)": (lambda: ev.bind(thing), True),
        "ctx.decrypt(thing, secret)": (lambda: ctx.decrypt(thing, w.keys.secret), not is_list(thing)),
        "ctx.decrypt(x, thing)": (lambda: ctx.decrypt(v, thing), True),
        "ctx.evaluator(thing)": (lambda: ctx.evaluator(thing), True),
        "ev.polynomial(x, thing)": (lambda: ev.polynomial(v, thing), not whole),
        "ev.matvec(thing, x)": (lambda: ev.matvec(thing, v), not whole),
        "ctx.encrypt(thing, public)": (lambda: ctx.encrypt(thing, w.keys.public), not (whole or is_list(thing))),
        "Ciphertext.from_bytes(ctx, thing)": (lambda: w.scheme.Ciphertext.from_bytes(ctx, thing), True),
    }
    text = one_of(rng, *calls)
    run, refused = calls[text]
    return Call(f"{text}, thing {text_of(thing)}", run, REFUSE if refused else None, check=nothing)


def integers_foreign(w: Any, rng: Rng, x: Item) -> Call | None:
    keys, ev = w.other(rng)
    foreign = ev.bind(w.ctx.encrypt(np.zeros(w.n, int), keys.public))
    return foreign_call(w, rng, x, keys, ev, foreign)


def integers_mixed(w: Any, rng: Rng, x: Item) -> Call:
    """Other parameters, the other scheme, and the other encoding."""
    params = bgv.Parameters(5, 193, [40] * 3, [45], security=None)
    ctx = w.scheme.Context(params, threads=1)
    keys = ctx.keygen(seed=seed_bytes(rng))
    y = ctx.evaluator(keys.evaluation).bind(ctx.encrypt([1], keys.public))
    other_scheme = bfv if w.scheme is bgv else bgv
    z = other_scheme.Context(w.params, threads=1).encrypt([1], w.keys.public)
    polynomial = w.ctx.encrypt([1, 2], w.keys.public, coefficients=True)
    v = x.value
    calls: dict[str, Any] = {
        "x + of_other_parameters": lambda: v + y,
        "of_other_parameters * x": lambda: y * v,
        "other_ctx.decrypt(x, secret)": lambda: ctx.decrypt(v, w.keys.secret),
        "ctx.decrypt(x, secret_of_other_parameters)": lambda: w.ctx.decrypt(v, keys.secret),
        "ctx.evaluator(keys_of_other_parameters)": lambda: w.ctx.evaluator(keys.evaluation),
        "ctx.convert(of_other_parameters)": lambda: w.ctx.convert(
            other_scheme.Context(params, threads=1).encrypt([1], keys.public)
        ),
        "x + of_the_other_scheme": lambda: v + z,
        "ev.mul(x, of_the_other_scheme)": lambda: w.ev.mul(v, z),
        "x + coefficients": lambda: v + polynomial,
        "x * coefficients": lambda: v * polynomial,
        "ev.rotate(coefficients, 1)": lambda: w.ev.rotate(polynomial, 1) if 1 in w.request["rotations"] else raising(),
        "ctx.decrypt(x, secret, coefficients=True)": lambda: w.ctx.decrypt(v, w.keys.secret, coefficients=True),
        "ctx.decrypt(coefficients, secret)": lambda: w.ctx.decrypt(polynomial, w.keys.secret),
    }
    text = one_of(rng, *calls)
    return Call(text, calls[text], REFUSE)


def raising() -> None:
    """Be refused."""
    raise ValueError("there is no key")


def integers_bytes(w: Any, rng: Rng, x: Item) -> Call:
    sources = [bytes(x.value), bytes(w.keys.secret), bytes(w.keys.public), bytes(w.params), bytes(w.keys.evaluation)]
    data = damaged(rng, one_of(rng, *sources))
    readers: dict[str, Any] = {
        "Ciphertext": lambda: w.scheme.Ciphertext.from_bytes(w.ctx, data),
        "SecretKey": lambda: bgv.SecretKey.from_bytes(data, min_security=0),
        "PublicKey": lambda: bgv.PublicKey.from_bytes(data, min_security=0),
        "EvaluationKeys": lambda: bgv.EvaluationKeys.from_bytes(data, min_security=0),
        "ReencryptionKey": lambda: bgv.ReencryptionKey.from_bytes(data, min_security=0),
        "ReceiverKey": lambda: bgv.ReceiverKey.from_bytes(data, min_security=0),
        "Parameters": lambda: bgv.Parameters.from_bytes(data),
    }
    text = one_of(rng, *readers)
    return Call(f"{text}.from_bytes({len(data)} damaged bytes)", readers[text], REFUSE)


# ---- TFHE


def arrays_operand(w: Any, rng: Rng, x: Item) -> Call:
    """Things beside an encrypted array: a clear number or array of its type's range, or refused."""
    thing = weird(rng)
    symbol = one_of(rng, "+", "-", "&", "==", "<", "^")
    truth = arrays_truth(symbol, x.truth, thing)
    run = on_arrays.OPERATORS[symbol]
    if truth is None:
        return Call(f"x {symbol} {text_of(thing)}", lambda: run(x.value, thing), None, check=nothing)
    return Call(f"x {symbol} {text_of(thing)}", lambda: run(x.value, thing), truth)


def arrays_truth(symbol: str, a: Any, thing: Any) -> Any:
    """Return what numpy gives, REFUSE for what is no operand, None where either may be."""
    try:
        array = np.asanyarray(thing)
    except (ValueError, OverflowError):
        return REFUSE
    if isinstance(array, np.ma.MaskedArray) or array.dtype.kind not in "biu" or array.size == 0:
        return REFUSE
    if a.dtype == np.bool_ or array.dtype.kind == "b":
        return None
    info = np.iinfo(a.dtype)
    if not all(info.min <= int(v) <= info.max for v in array.ravel()):
        return REFUSE
    return on_arrays.expected(symbol, a, array.astype(a.dtype))


def arrays_argument(w: Any, rng: Rng, x: Item) -> Call:
    thing = weird(rng)
    ev, ctx, v = w.ev, w.ctx, x.value
    empty = is_list(thing)
    calls: dict[str, tuple[Any, bool]] = {
        "ev.bind(thing)": (lambda: ev.bind(thing), True),
        "ev.where(thing, x, x)": (lambda: ev.where(thing, v, v), True),
        "ev.where(x, thing, thing)": (lambda: ev.where(v, thing, thing), True),
        "ctx.decrypt(thing, secret)": (lambda: ctx.decrypt(thing, w.keys.secret), True),
        "ctx.decrypt(x, thing)": (lambda: ctx.decrypt(v, thing), True),
        "ctx.evaluator(thing)": (lambda: ctx.evaluator(thing), True),
        "ev.lookup(thing, x)": (lambda: ev.lookup(thing, v), not callable(thing) and not empty),
        "x.astype(thing)": (lambda: v.astype(thing), False),
        "x[thing]": (lambda: v[thing], False),
        "x.reshape(thing)": (lambda: v.reshape(thing), False),
        "ev.sum(x, axis=thing)": (lambda: ev.sum(v, axis=thing), False),
        "tfhe.Parameters(thing)": (lambda: tfhe.Parameters(thing), True),
        "EncryptedArray.from_bytes(ctx, thing)": (lambda: tfhe.EncryptedArray.from_bytes(ctx, thing), True),
        "ctx.encrypt(thing, secret)": (lambda: ctx.encrypt(thing, w.keys.secret), False),
    }
    text = one_of(rng, *calls)
    run, refused = calls[text]
    return Call(f"{text}, thing {text_of(thing)}", run, REFUSE if refused else None, check=nothing)


def arrays_foreign(w: Any, rng: Rng, x: Item) -> Call | None:
    keys, ev = w.other(rng)
    v = x.value
    if is_known(w, x, keys):
        return None
    foreign = ev.bind(w.ctx.encrypt(x.truth, keys.secret, seed=seed_bytes(rng)))
    calls: dict[str, Any] = {
        "ctx.decrypt(x, other.secret)": lambda: w.ctx.decrypt(v, keys.secret),
        "ctx.decrypt(foreign, secret)": lambda: w.ctx.decrypt(foreign, w.keys.secret),
        "x & foreign": lambda: v & foreign,
        "x == foreign": lambda: v == foreign,
        "foreign ^ x": lambda: foreign ^ v,
        "ev.where(foreign == x, x, x)": lambda: w.ev.where(foreign == v, v, v),
    }
    text = one_of(rng, *calls)
    return Call(text, calls[text], REFUSE)


def is_known(w: Any, x: Item, keys: Any) -> bool:
    """Return whether x is a number that every key decrypts, such as the only place of one element."""
    try:
        return bool((w.ctx.decrypt(x.value, keys.secret) == x.truth).all())
    except Error:
        return False


def arrays_protocols(w: Any, rng: Rng, x: Item) -> Call:
    v = x.value
    calls: dict[str, Any] = {
        "bool(x)": lambda: bool(v),
        "hash(x)": lambda: hash(v),
        "float(x)": lambda: float(v),
        "int(x)": lambda: int(v),
        "np.sin(x)": lambda: np.sin(v),
        "x @ x": lambda: v @ v,
        "x ** x": lambda: v**v,
        "if x == x": lambda: "yes" if v == v else "no",
        "x / 2": lambda: v / 2,
        "{x: 1}": lambda: {v: 1},
    }
    text = one_of(rng, *calls)
    return Call(text, calls[text], REFUSE)


def arrays_bytes(w: Any, rng: Rng, x: Item) -> Call:
    data = damaged(rng, one_of(rng, bytes(x.value), bytes(w.keys.secret), bytes(w.ctx.parameters)))
    readers: dict[str, Any] = {
        "EncryptedArray": lambda: tfhe.EncryptedArray.from_bytes(w.ctx, data),
        "SecretKey": lambda: tfhe.SecretKey.from_bytes(data, min_security=0),
        "ServerKeys": lambda: tfhe.ServerKeys.from_bytes(data, min_security=0),
        "CircuitKeys": lambda: tfhe.CircuitKeys.from_bytes(data, min_security=0),
        "Parameters": lambda: tfhe.Parameters.from_bytes(data),
    }
    text = one_of(rng, *readers)
    return Call(f"{text}.from_bytes({len(data)} damaged bytes)", readers[text], REFUSE)


def mistake(name: str, make: Any, weight: float = 0.5, takes: tuple[str, ...] = ("ciphertext",)) -> Verb:
    """Return a verb that is a mistake."""
    return Verb(name, make, takes, weight, mistake=True)


CKKS = [
    mistake("weird_operand", reals_operand, 1.5),
    mistake("other_length", reals_length),
    mistake("weird_number", reals_number),
    mistake("weird_argument", reals_argument),
    mistake("weird_array", reals_array),
    mistake("foreign_secret", reals_foreign, 0.7),
    mistake("other_parameters", reals_mixed),
    mistake("damaged_bytes", reals_bytes, 0.3),
    mistake("parameters", reals_parameters, 0.3, ()),
    mistake("protocols", python_protocols),
    mistake("pickled_secret", pickled_secret, 0.2, ()),
]
INTEGERS = [
    mistake("weird_operand", integers_operand, 1.5),
    mistake("other_length", integers_length),
    mistake("weird_number", integers_number),
    mistake("weird_argument", integers_argument),
    mistake("foreign_secret", integers_foreign, 0.7),
    mistake("other_parameters", integers_mixed),
    mistake("damaged_bytes", integers_bytes, 0.3),
    mistake("protocols", python_protocols),
    mistake("pickled_secret", pickled_secret, 0.2, ()),
]
TFHE = [
    mistake("weird_operand", arrays_operand, 1.5),
    mistake("weird_argument", arrays_argument),
    mistake("foreign_secret", arrays_foreign, 0.7),
    mistake("damaged_bytes", arrays_bytes, 0.3),
    mistake("protocols", arrays_protocols),
    mistake("pickled_secret", pickled_secret, 0.2, ()),
]
