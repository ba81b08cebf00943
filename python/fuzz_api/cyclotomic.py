"""BGV and BFV in rings whose index is no power of two: slots against whole numbers and elements of Galois rings."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from fuzz_api import integers
from fuzz_api.draw import Rng, chance, one_of, seed_bytes, text_of
from fuzz_api.integers import ONE, THREE, TWO, UNTOLD, binary, plain_call, whole
from fuzz_api.operands import held
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import Finding
from noren import Error, bgv

# The largest degree of a ring, so that a case takes a moment.
LARGEST = 200


class World(integers.World):
    """A ring of some index, a power of a prime that leaves slots, and keys for some automorphisms."""

    def _parameters(self, rng: Rng) -> bgv.Parameters:
        while True:
            options: dict[str, Any] = {
                "m": int(rng.integers(3, 400)),
                "p": int(one_of(rng, 2, 2, 3, 5, 7, 11, 127, 65537)),
                "r": int(one_of(rng, 1, 1, 1, 2, 3, 10, 30, 59)),
                "log_q": [int(rng.integers(28, 51))] * int(rng.integers(1, 9)),
                "log_p": [48] * int(rng.integers(1, 3)),
                "security": None,
            }
            try:
                params = bgv.Parameters(**options)
            except Error:
                continue
            if params.n > LARGEST or not params.dimensions or params.slots < 2:
                continue
            self.text.append(f"params = bgv.Parameters(**{options})")
            return params

    def _keys(self, rng: Rng) -> None:
        self.n = self.params.slots
        # No array of two dimensions means rows.
        self.row = -1
        self.d = self.params.slot_degree
        self.sizes = [size for size, _ in self.params.dimensions]
        self.modulus = [int(g) for g in self.ctx.slot_modulus]
        self.steps = [[int(s) for s in rng.integers(-9, 10, len(self.sizes))] for _ in range(3)]
        automorphisms = set(self.ctx.automorphisms_of_matrices()) if chance(rng, 0.8) else set()
        automorphisms |= {k for steps in self.steps for k in self.ctx.rotation_along(steps)}
        automorphisms |= {self.ctx.frobenius_exponent(1)}
        request = {"automorphisms": sorted(automorphisms), "relinearization": chance(rng, 0.9)}
        seed = seed_bytes(rng)
        self.keys = self.ctx.keygen(**request, seed=seed)
        self.ev = self.ctx.evaluator(self.keys.evaluation)
        self.request = request
        self.text.append(f"keys = ctx.keygen(**{request}, seed=bytes.fromhex('{seed.hex()}'))")

    def multiply(self, a: list[int], b: list[int]) -> list[int]:
        """Return the product of two elements of a slot."""
        product = [0] * (2 * self.d - 1)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                product[i + j] += x * y
        for i in range(len(product) - 1, self.d - 1, -1):
            for j in range(self.d):
                product[i - self.d + j] -= product[i] * self.modulus[j]
        return [x % self.t for x in product[: self.d]]

    def elements(self, rng: Rng, count: int) -> Any:
        """Return elements of slots, by their coefficients."""
        return rng.integers(0, self.t, (count, self.d))


def encrypt(w: World, rng: Rng) -> Call:
    count = w.n if chance(rng, 0.6) else int(rng.integers(1, w.n + 1))
    values = w.numbers(rng, count)
    key, name = (w.keys.public, "public") if chance(rng, 0.5) else (w.keys.secret, "secret")
    truth = np.array([0] * w.n, dtype=object)
    truth[:count] = whole(values)
    text, seed = f"ctx.encrypt({text_of(np.asarray(values))}, keys.{name})", seed_bytes(rng)
    return Call(text, lambda: held(w, rng, w.ctx.encrypt(values, key, seed=seed)), truth)


def with_plain(w: World, rng: Rng, x: Item) -> Call:
    other: Any = w.numbers(rng, w.n)
    if chance(rng, 0.4):
        value = int(rng.integers(-(w.t // 2), w.t))
        other = one_of(rng, value, np.int64(value), np.array(value), 0, 1, -1, 2)
    return plain_call(w, rng, x, other)


def rotate_along(w: World, rng: Rng, x: Item) -> Call:
    steps = one_of(rng, *range(len(w.steps)))
    axes = range(len(w.sizes))
    truth = np.roll(x.truth.reshape(w.sizes), [-s for s in w.steps[steps]], axis=axes).ravel()
    return Call(f"ev.rotate_along(x, {w.steps[steps]})", lambda: w.ev.rotate_along(x.value, w.steps[steps]), truth)


def frobenius(w: World, rng: Rng, x: Item) -> Call:
    """Numbers stay what they are."""
    return Call("ev.frobenius(x)", lambda: w.ev.frobenius(x.value), x.truth)


def matvec(w: World, rng: Rng, x: Item) -> Call:
    """A matrix of numbers: rows, and zeros after them."""
    rows, columns = (int(k) for k in rng.integers(1, min(w.n, 8) + 1, 2))
    matrix = np.asarray(rng.integers(0, min(w.t, 100), (rows, columns)))
    truth = np.array([0] * w.n, dtype=object)
    truth[:rows] = [sum(int(a) * b for a, b in zip(line, x.truth, strict=False)) % w.t for line in matrix]
    if x.value.shape != (columns,):
        truth[:] = UNTOLD
    text = f"matrix {text_of(matrix)} times x"
    match int(rng.integers(3)):
        case 0:
            return Call(text, lambda: matrix @ w.ev.bind(x.value), truth)
        case 1:
            return Call(text, lambda: w.ev.matvec(pickle.loads(pickle.dumps(slot_matrix(w, matrix))), x.value), truth)
        case _:
            return Call(text, lambda: slot_matrix(w, matrix) @ w.ev.bind(x.value), truth)


def slot_matrix(w: World, matrix: Any) -> Any:
    """Encode a matrix."""
    return bgv.SlotMatrix(w.ctx, matrix)


def of_elements(w: World, rng: Rng) -> Call:
    """Products, images and matrices of elements that are no numbers: nothing that is kept."""
    count = int(rng.integers(1, w.n + 1))
    a, b = w.elements(rng, count), w.elements(rng, count)
    rows = [[[int(c) for c in x] for x in values] for values in (a, b)]
    truth = [w.multiply(x, y) for x, y in zip(*rows, strict=True)]
    seed, which = seed_bytes(rng), int(rng.integers(3))
    if which == 2:
        truth = [[sum(column) % w.t for column in zip(*truth, strict=True)]]

    def run() -> Any:
        x = w.ev.bind(w.ctx.encrypt(a, w.keys.public, elements=True, seed=seed))
        match which:
            case 0:
                y = x * b
            case 1:
                y = x * w.ctx.encrypt(b, w.keys.secret, elements=True)
            case _:
                y = slot_matrix(w, b[None]) @ x
        return w.ctx.decrypt(y, w.keys.secret, elements=True)

    def check(found: Any, expected: Any) -> float:
        if found.tolist() != expected:
            raise Finding("wrong", f"elements {found.tolist()}, true {expected} (mod {w.t})")
        return 0.0

    text = f"elements {text_of(a)} times {text_of(b)}, way {which}"
    return Call(text, run, truth, check=check, keep=False)


VERBS: list[Verb] = [
    Verb("encrypt", encrypt, weight=1.5),
    Verb("add", binary("+", "add"), TWO),
    Verb("sub", binary("-", "sub"), TWO),
    Verb("mul", binary("*", "mul"), TWO, 2.0),
    Verb("unary", integers.unary, ONE, 1.5),
    Verb("mod_switch", integers.mod_switch, ONE, 0.7),
    Verb("round_trip", integers.round_trip, ONE, 0.6),
    Verb("convert", integers.convert, ONE, 0.3),
    Verb("signed", integers.signed, ONE, 0.3),
    Verb("dot", integers.dot, THREE, 0.7),
    Verb("observe", integers.observe, ONE, 0.2),
    Verb("with_plain", with_plain, ONE, 2.0),
    Verb("polynomial", integers.polynomial, ONE, 0.7),
    Verb("power", integers.power, ONE, 0.6),
    Verb("weighted_sum", integers.weighted_sum, THREE, 0.5),
    Verb("saved", integers.saved, ONE, 0.2),
    Verb("rotate_along", rotate_along, ONE, 1.5),
    Verb("frobenius", frobenius, ONE, 0.7),
    Verb("matvec", matvec, ONE, 1.5),
    Verb("of_elements", of_elements, weight=1.5),
]
