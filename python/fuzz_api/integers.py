"""BGV and BFV: random rings and moduli; every operation against whole numbers of Python modulo t."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from fuzz_api.draw import Rng, all_shown, chance, one_of, seed_bytes, text_of
from fuzz_api.operands import OPERATIONS, held, is_one_number, with_clear
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import Error, bfv, bgv

UNTOLD = float("nan")
"""A number that nothing is said of; arithmetic keeps it."""


def whole(values: Any) -> Any:
    """Return whole numbers of any size."""
    return np.array([int(value) for value in np.asarray(values).ravel()], dtype=object)


ROUNDINGS = 2.0**-8
"""The bits of the noise budget that a decryption takes for its own roundings."""


class World:
    """A ring and a modulus with slots, one of the two schemes, a secret with some keys."""

    has_slots = True

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.text: list[str] = []
        self.scheme: ModuleType = one_of(rng, bgv, bfv)
        name = self.scheme.__name__.split(".")[-1]
        self.params = self._parameters(rng)
        self.t, self.n = self.params.plaintext_modulus, self.params.n
        self.row = self.n // 2
        threads = int(one_of(rng, 1, 1, 2))
        self.ctx: Any = self.scheme.Context(self.params, threads=threads)
        self.text.append(f"ctx = {name}.Context(params, threads={threads})")
        self._keys(rng)
        self._other: Any = None

    def _parameters(self, rng: Rng) -> bgv.Parameters:
        while True:
            log_n = int(rng.integers(4, 10))
            t = self._modulus(rng, 2 ** (log_n + 1))
            bits = int(rng.integers(25, 51))
            log_q = [bits] * int(rng.integers(1, 9))
            if chance(rng, 0.2):
                log_q = [int(b) for b in rng.integers(20, 51, len(log_q))]
            log_p = [int(b) for b in rng.integers(40, 51, int(rng.integers(0, 4) or 2))]
            if chance(rng, 0.05):
                log_p = []
            options: dict[str, Any] = {}
            if chance(rng, 0.3):
                options["dnum"] = int(rng.integers(0, len(log_q) + 1))
            if chance(rng, 0.3):
                options["secret"] = one_of(rng, "gaussian", "ternary", min(8, 2 ** (log_n - 1)))
            try:
                params = bgv.Parameters(log_n, t, log_q, log_p, security=None, **options)
            except Error:
                continue
            self.text.append(
                f"params = bgv.Parameters({log_n}, {t}, {log_q}, {log_p}, security=None"
                + "".join(f", {name}={value!r}" for name, value in options.items())
                + ")"
            )
            return params

    def _modulus(self, rng: Rng, step: int) -> int:
        """Return a prime that is 1 modulo 2 n."""
        start = int(one_of(rng, 1, 1, 65536, 65536, 2**20, 2**30, 2**35))
        candidate = start - start % step + 1
        while not (candidate > 2 and is_prime(candidate)):
            candidate += step
        return candidate

    def _keys(self, rng: Rng) -> None:
        row = self.row
        request: dict[str, Any] = {
            "rotations": sorted({int(r) for r in rng.integers(-row, row + 1, int(rng.integers(0, 6)))}),
            "swap": chance(rng, 0.6),
            "relinearization": chance(rng, 0.9),
        }
        if chance(rng, 0.5):
            request["rotations"] = sorted({*request["rotations"], *(2**k for k in range(row.bit_length() - 1))})
        if chance(rng, 0.1):
            request["limbs"] = int(rng.integers(1, self.params.max_limbs + 1))
        seed = seed_bytes(rng)
        try:
            self.keys = self.ctx.keygen(**request, seed=seed)
        except Error:
            request = {"rotations": [], "swap": False, "relinearization": False}
            self.keys = self.ctx.keygen(**request, seed=seed)
        self.ev = self.ctx.evaluator(self.keys.evaluation)
        self.request = request
        self.text.append(f"keys = ctx.keygen(**{request}, seed=bytes.fromhex('{seed.hex()}'))")

    def other(self, rng: Rng) -> tuple[Any, Any]:
        """Return keys of another secret of the same parameters."""
        if self._other is None:
            keys = self.ctx.keygen(**self.request, seed=seed_bytes(rng))
            self._other = keys, self.ctx.evaluator(keys.evaluation)
        found: tuple[Any, Any] = self._other
        return found

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Decrypt: equal, or refused for its noise."""
        if value.noise_budget < ROUNDINGS:
            return 0.0
        try:
            found = self.ctx.decrypt(value, self.keys.secret, **self.reading())
        except Error as error:
            raise Finding("refused", f"decrypt with a budget of {value.noise_budget}: {error}") from error
        compare(found, truth[: length_of(value)], self.t)
        if self.has_slots and value.period < value.slots:
            # What repeats after a period does so in all slots, also behind the numbers.
            every = self.ctx.decrypt(value.with_length(value.slots), self.keys.secret)
            compare(every, np.resize(every[: value.period], len(every)), self.t)
        return 0.0

    def reading(self) -> dict[str, bool]:
        """Return how results are read."""
        return {} if self.has_slots else {"coefficients": True}

    def numbers(self, rng: Rng, count: int) -> Any:
        """Return whole numbers of the range that is taken."""
        t = self.t
        values = [int(v) for v in rng.integers(-(t // 2), t, count)]
        match int(rng.integers(8)):
            case 0:
                return [v % 3 for v in values]
            case 1:
                return np.array([v % min(t, 100) for v in values], dtype=np.uint8)
            case 2:
                return np.array([v % 2 == 0 for v in values])
            case 3:
                return np.array([t - 1] * count)
            case 4:
                return np.array([-(t // 2)] * count)
            case 5:
                return values
            case _:
                return np.array(values)


class CoefficientWorld(World):
    """Any modulus: polynomials modulo X^n + 1."""

    has_slots = False

    def _modulus(self, rng: Rng, step: int) -> int:
        return int(one_of(rng, 2, 3, 4, 16, 255, 256, 2**16, 65537, 2**20 - 3, 2**30, 12289))


def is_prime(n: int) -> bool:
    """Return whether n is prime, for n below 2^64."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if n < 2 or any(n % p == 0 for p in bases):
        return n in bases
    d, r = n - 1, 0
    while d % 2 == 0:
        d, r = d // 2, r + 1
    for a in bases:
        x = pow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(r - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def compare(found: Any, truth: Any, t: int) -> None:
    """Raise a Finding for unequal residues, where the truth is told."""
    if len(found) != len(truth):
        raise Finding("wrong", f"{len(found)} numbers, {len(truth)} expected")
    for slot, (a, b) in enumerate(zip(found.tolist(), truth, strict=True)):
        if b == b and a != b % t:
            raise Finding("wrong", f"number {slot} is {a}, true {b % t} (mod {t})")


def length_of(value: Any) -> int:
    """Return how many numbers are decrypted."""
    shape: tuple[int, ...] = getattr(value, "shape", (value.parameters.n,))
    return shape[0]


def encrypt(w: World, rng: Rng) -> Call:
    count = w.n if chance(rng, 0.6) else int(rng.integers(1, w.n + 1))
    values = w.numbers(rng, count)
    key, name = (w.keys.public, "public") if chance(rng, 0.5) else (w.keys.secret, "secret")
    truth = np.array([0] * w.n, dtype=object)
    truth[:count] = whole(values)
    options: dict[str, Any] = {"seed": seed_bytes(rng), **w.reading()}
    if w.has_slots and chance(rng, 0.1):
        options["repeat"] = True
        period = 1 << (count - 1).bit_length()
        truth = np.tile(truth[:period], w.n // period)
    text = f"ctx.encrypt({text_of(np.asarray(values))}, keys.{name}, {w.reading()}, repeat={'repeat' in options})"
    return Call(text, lambda: held(w, rng, w.ctx.encrypt(values, key, **options)), truth)


def binary(symbol: str, name: str) -> Any:
    def make(w: World, rng: Rng, x: Item, y: Item) -> Call:
        truth = product(w, x, y) if symbol == "*" else OPERATIONS[symbol](x.truth, y.truth)
        if chance(rng, 0.5):
            return Call(f"ev.{name}(x, y)", lambda: getattr(w.ev, name)(x.value, y.value), truth % w.t)
        return Call(f"x {symbol} y", lambda: OPERATIONS[symbol](x.value, y.value), truth % w.t)

    return make


def product(w: World, x: Item, y: Item) -> Any:
    """Return the product slot by slot, or of polynomials."""
    if w.has_slots:
        return x.truth * y.truth
    full = np.convolve(x.truth % w.t, y.truth % w.t)
    full = np.append(full, [0] * (2 * w.n - len(full)))
    return full[: w.n] - full[w.n :]


def with_plain(w: World, rng: Rng, x: Item) -> Call:
    other: Any = w.numbers(rng, w.n)
    if chance(rng, 0.2):
        other = np.asarray(other).reshape(2, -1)
    elif chance(rng, 0.5):
        value = int(rng.integers(-(w.t // 2), w.t))
        other = one_of(rng, value, value, np.int64(value), np.array(value), value % 2 == 0, 0, 1, -1, 2)
    return plain_call(w, rng, x, other)


def plain_call(w: World, rng: Rng, x: Item, other: Any) -> Call:
    """One of the calls with a clear operand."""
    true = meaning(other, w, x.value)
    spelling, run, operation = with_clear(rng, w.ev, x.value, other)
    truth: Any = REFUSE
    if true is not None:
        # Reduced before, because a number that nothing is said of takes no integer beyond the range of float.
        truth = np.array([operation(a, b % w.t) % w.t for a, b in zip(x.truth, true, strict=True)], dtype=object)
    return Call(spelling.format(text_of(other)), run, truth)


def meaning(other: Any, w: World, x: Any) -> Any:
    """Return the operand in every slot, or None for what is none."""
    try:
        array = np.asanyarray(other)
    except (ValueError, OverflowError):
        return None
    if isinstance(array, np.ma.MaskedArray) or array.size == 0 or array.ndim > 2:
        return None
    if array.dtype.kind == "O" and isinstance(other, int):
        return whole([other] * w.n)
    if array.dtype.kind not in "biu":
        return None
    if array.size == 1 and array.ndim < 2:
        return whole([array.item()] * w.n)
    if array.shape == (length_of(x),) or (is_one_number(x) and array.ndim == 1 and array.size < w.n):
        return np.append(whole(array), np.full(w.n - array.size, UNTOLD, dtype=object))
    return whole(array) if array.shape in ((w.n,), (2, w.row)) else None


def unary(w: World, rng: Rng, x: Item) -> Call | None:
    name = one_of(rng, "neg", "square", "-x")
    truth = -x.truth if name != "square" else product(w, x, x)
    run = (lambda: -x.value) if name == "-x" else (lambda: getattr(w.ev, name)(x.value))
    return Call(f"{name}(x)", run, truth % w.t)


def rolled(w: World, truth: Any, steps: int) -> Any:
    """Rotate both rows."""
    return np.roll(truth.reshape(2, -1), -steps, axis=1).ravel()


def rotate(w: World, rng: Rng, x: Item) -> Call:
    steps = int(one_of(rng, *(w.request["rotations"] or [0]), 0, int(rng.integers(-9, 9)), w.row))
    return Call(f"ev.rotate(x, {steps})", lambda: w.ev.rotate(x.value, steps), rolled(w, x.truth, steps))


def rotate_many(w: World, rng: Rng, x: Item) -> Call:
    steps = [int(one_of(rng, *(w.request["rotations"] or [0]), 0)) for _ in range(int(rng.integers(1, 4)))]
    truth = [rolled(w, x.truth, step) for step in steps]
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


def swap_rows(w: World, rng: Rng, x: Item) -> Call:
    return Call("ev.swap_rows(x)", lambda: w.ev.swap_rows(x.value), x.truth.reshape(2, -1)[::-1].ravel())


def sum_of_slots(w: World, rng: Rng, x: Item) -> Call | None:
    count = int(one_of(rng, w.row, 2 ** int(rng.integers(0, w.row.bit_length())), int(rng.integers(1, 9))))
    stride = int(one_of(rng, 1, 1, 1, 2, -1))
    options = {} if stride == 1 else {"stride": stride}
    if chance(rng, 0.3):
        length = length_of(x.value)
        total = sum(x.truth[:length]) % w.t
        truth = np.array([total, *[UNTOLD] * (w.n - 1)], dtype=object)
        if chance(rng, 0.5):
            return Call("x.sum()", lambda: w.ev.bind(x.value).sum(), truth)
        return Call("ev.sum(x)", lambda: w.ev.sum(x.value), truth)
    truth = sum((rolled(w, x.truth, k * stride) for k in range(count)), np.array([0] * w.n, dtype=object))
    return Call(f"ev.sum(x, {count}, {options})", lambda: w.ev.sum(x.value, count, **options), truth % w.t)


def product_of_slots(w: World, rng: Rng, x: Item) -> Call | None:
    count, stride = int(one_of(rng, 1, 2, 2, 3, 4, 4, 5, 8)), int(one_of(rng, 1, 1, 1, 2, -1))
    truth = np.array([1] * w.n, dtype=object)
    for k in range(count):
        truth = truth * rolled(w, x.truth, k * stride) % w.t
    options = {} if stride == 1 else {"stride": stride}
    return Call(f"ev.product(x, {count}, {options})", lambda: w.ev.product(x.value, count, **options), truth)


def dot(w: World, rng: Rng, x: Item, y: Item, z: Item) -> Call | None:
    truth = (product(w, x, y) + product(w, z, z)) % w.t
    return Call("ev.dot([x, z], [y, z])", lambda: w.ev.dot([x.value, z.value], [y.value, z.value]), truth)


def polynomial(w: World, rng: Rng, x: Item) -> Call | None:
    coefficients = w.numbers(rng, int(rng.integers(1, 9)))
    truth = np.array([0] * w.n, dtype=object)
    for coefficient in reversed([int(c) for c in coefficients]):
        truth = (truth * x.truth + coefficient) % w.t
    text = f"ev.polynomial(x, {text_of(np.asarray(coefficients))})"
    return Call(text, lambda: w.ev.polynomial(x.value, coefficients), truth)


def matvec(w: World, rng: Rng, x: Item) -> Call | None:
    """Right in the rows of the matrix, in both rows of slots."""
    rows, columns = (int(k) for k in rng.integers(1, min(w.row, 8) + 1, 2))
    matrix = np.asarray(rng.integers(-3, 4, (rows, columns)))
    truth = np.full((2, w.row), UNTOLD, dtype=object)
    for k, row in enumerate(x.truth.reshape(2, -1)):
        truth[k, :rows] = [sum(int(a) * b for a, b in zip(line, row, strict=False)) % w.t for line in matrix]
    ev = evaluator_for(w, rng, list(bgv.rotations_of_matrix(matrix)))
    text = f"matrix {text_of(matrix)} times x"
    if chance(rng, 0.3):
        return Call(text, lambda: matrix @ ev.bind(x.value), truth.ravel())
    return Call(text, lambda: ev.matvec(matrix, x.value), truth.ravel())


def evaluator_for(w: World, rng: Rng, rotations: list[int]) -> Any:
    """Return an evaluator with keys of the same secret for these rotations besides, where they can be made."""
    if chance(rng, 0.1) or not w.request["relinearization"]:
        return w.ev
    more = w.ctx.evaluation_keys(w.keys.secret, rotations=rotations, seed=seed_bytes(rng))
    return w.ctx.evaluator(w.keys.evaluation | more)


def grown_keys(w: World, rng: Rng, x: Item) -> Call:
    """A rotation with keys that were made later for the same secret."""
    steps = int(rng.integers(-9, 10))
    seed = seed_bytes(rng)

    def run() -> Any:
        more = w.ctx.evaluation_keys(w.keys.secret, rotations=[steps], seed=seed)
        if chance(rng, 0.5):
            return w.ev.with_keys(more).rotate(x.value, steps)
        return w.ctx.evaluator(more | w.keys.evaluation).rotate(x.value, steps)

    text = f"rotation by {steps} with ctx.evaluation_keys(secret, rotations=[{steps}])"
    return Call(text, run, rolled(w, x.truth, steps))


def cut_keys(w: World, rng: Rng, x: Item) -> Call | None:
    """A square with keys that were cut to some limbs."""
    limbs = int(rng.integers(1, w.params.max_limbs + 1))
    run = lambda: w.ctx.evaluator(w.keys.evaluation.at_limbs(limbs)).square(x.value)
    return Call(f"square of x with keys.at_limbs({limbs})", run, product(w, x, x) % w.t)


def power(w: World, rng: Rng, x: Item) -> Call:
    exponent = one_of(rng, 0, 1, 2, 3, 4, 7, -1, 0.5, 2.0)
    truth: Any = REFUSE
    if exponent in (0, 1, 2, 3, 4, 7) and w.has_slots:
        truth = np.array([1] * w.n, dtype=object)
        for _ in range(int(exponent)):
            truth = truth * x.truth % w.t
    return Call(f"x ** {exponent}", lambda: x.value**exponent, truth)


def weighted_sum(w: World, rng: Rng, x: Item, y: Item, z: Item) -> Call:
    a, b, c, d = (int(v) for v in rng.integers(-(w.t // 2), w.t, 4))
    truth = (a * x.truth + b * y.truth + c * z.truth + d) % w.t
    run = lambda: w.ev.weighted_sum([x.value, y.value, z.value], [a, b, c], constant=d)
    return Call(f"ev.weighted_sum([x, y, z], [{a}, {b}, {c}], constant={d})", run, truth)


def saved(w: World, rng: Rng, x: Item) -> Call:
    several = chance(rng, 0.4)

    def run() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.ct"
            if several:
                w.ctx.save(path, [x.value, x.value])
                return w.ctx.load(path)
            x.value.save(path)
            return held(w, rng, w.scheme.Ciphertext.load(w.ctx, path))

    text = "ctx.load(path) after ctx.save(path, [x, x])" if several else "Ciphertext.load(ctx, path) after x.save(path)"
    return Call(text, run, [x.truth, x.truth] if several else x.truth)


def mod_switch(w: World, rng: Rng, x: Item) -> Call:
    limbs = int(rng.integers(1, w.params.max_limbs + 1))
    truth = x.truth if limbs <= x.value.limbs else REFUSE
    return Call(f"ev.mod_switch(x, {limbs})", lambda: w.ev.mod_switch(x.value, limbs), truth)


def round_trip(w: World, rng: Rng, x: Item) -> Call:
    match int(rng.integers(3)):
        case 0:

            def run() -> Any:
                return held(w, rng, w.scheme.Ciphertext.from_bytes(w.ctx, bytes(x.value)))
        case 1:

            def run() -> Any:
                again, ev = pickle.loads(pickle.dumps((x.value, w.ev)))
                return ev.bind(again)
        case _:

            def run() -> Any:
                return held(w, rng, pickle.loads(pickle.dumps(x.value)))

    return Call("x by bytes or pickle", run, x.truth)


def convert(w: World, rng: Rng, x: Item) -> Call:
    """To the other scheme and back."""
    other = (bfv if w.scheme is bgv else bgv).Context(w.params, threads=1)
    return Call("x.convert there and back", lambda: held(w, rng, w.ctx.convert(other.convert(x.value))), x.truth)


def signed(w: World, rng: Rng, x: Item) -> Call | None:
    half = (w.t - 1) // 2
    centred = np.array([(v + half) % w.t - half for v in x.truth[: length_of(x.value)]], dtype=object)

    def check(found: Any, truth: Any) -> float:
        wrong = [k for k, (a, b) in enumerate(zip(found.tolist(), truth, strict=True)) if b == b and a != b]
        if wrong:
            k = wrong[0]
            raise Finding("wrong", f"number {k} is {found[k]} with signed=True, true {truth[k]} (mod {w.t})")
        return 0.0

    run = lambda: w.ctx.decrypt(x.value, w.keys.secret, signed=True, **w.reading())
    return Call("ctx.decrypt(x, secret, signed=True)", run, centred, check=check)


def observe(w: World, rng: Rng, x: Item) -> Call:
    """What is shown of things never raises."""
    things = (x.value, w.ctx, w.params, w.ev, w.keys.secret, w.keys.public, w.keys.evaluation)
    check = lambda found, truth: 0.0 if all(found) else 1.0
    return Call("repr, HTML and explain() of x, keys, ...", lambda: all_shown(things), None, check=check)


ONE, TWO, THREE = ("ciphertext",), ("ciphertext",) * 2, ("ciphertext",) * 3
COEFFICIENT_VERBS: list[Verb] = [
    Verb("encrypt", encrypt, weight=1.5),
    Verb("add", binary("+", "add"), TWO),
    Verb("sub", binary("-", "sub"), TWO),
    Verb("mul", binary("*", "mul"), TWO, 2.0),
    Verb("unary", unary, ONE, 1.5),
    Verb("mod_switch", mod_switch, ONE, 0.7),
    Verb("round_trip", round_trip, ONE, 0.6),
    Verb("convert", convert, ONE, 0.3),
    Verb("signed", signed, ONE, 0.3),
    Verb("dot", dot, THREE, 0.7),
    Verb("observe", observe, ONE, 0.2),
]
VERBS: list[Verb] = [
    *COEFFICIENT_VERBS,
    Verb("with_plain", with_plain, ONE, 3.0),
    Verb("rotate", rotate, ONE),
    Verb("grown_keys", grown_keys, ONE, 0.5),
    Verb("cut_keys", cut_keys, ONE, 0.3),
    Verb("rotate_many", rotate_many, ONE, 0.5),
    Verb("reencrypted", reencrypted, ONE, 0.4),
    Verb("swap_rows", swap_rows, ONE, 0.5),
    Verb("sum", sum_of_slots, ONE, 0.8),
    Verb("product", product_of_slots, ONE, 0.6),
    Verb("polynomial", polynomial, ONE, 1.0),
    Verb("matvec", matvec, ONE, 1.0),
    Verb("power", power, ONE, 0.6),
    Verb("weighted_sum", weighted_sum, THREE, 0.5),
    Verb("saved", saved, ONE, 0.2),
]
