"""CKKS: random rings, keys and vectors; every operation against numpy with 64 bits of mantissa."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fuzz_api.draw import (
    Rng,
    chance,
    exact,
    one_of,
    seed_bytes,
)
from fuzz_api.verdict import Finding
from noren import Error, ckks


class World:
    """A ring, a secret with some keys, and a second secret."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.text: list[str] = []
        self.ctx, self.params = self._context(rng)
        log_slots = int(rng.integers(0, self.params.n.bit_length() - 1))
        self.slots = 2**log_slots
        self._keys(rng)
        self._other: Any = None

    def _context(self, rng: Rng) -> tuple[ckks.Context, ckks.Parameters]:
        while True:
            log_n = int(rng.integers(4, 11))
            bits = int(one_of(rng, 25, 30, 36, 40, 40, 40, 45, 50))
            levels = int(rng.integers(0, 7))
            log_q = [min(50, bits + int(rng.integers(0, 13))), *([bits] * levels)]
            if chance(rng, 0.2):
                log_q = [int(bits) for bits in rng.integers(20, 51, levels + 1)]
            log_p = [int(rng.integers(max(bits, 30), 51)) for _ in range(int(rng.integers(1, 4)))]
            if chance(rng, 0.1):
                log_p = []
            options: dict[str, Any] = {}
            if chance(rng, 0.3):
                options["dnum"] = int(rng.integers(0, levels + 2))
            if chance(rng, 0.3):
                options["secret"] = one_of(rng, "gaussian", "ternary", min(8, 2 ** (log_n - 1)))
            if chance(rng, 0.1):
                options["log_scale"] = int(rng.integers(20, 51))
            if chance(rng, 0.1) and levels:
                options["restarts"] = {int(rng.integers(0, levels)): int(rng.integers(20, 51))}
            try:
                params = ckks.Parameters(log_n, log_q, log_p, security=None, **options)
            except Error:
                continue
            self.text.append(
                f"params = ckks.Parameters({log_n}, {log_q}, {log_p}, security=None"
                + "".join(f", {name}={value!r}" for name, value in options.items())
                + ")"
            )
            threads = int(one_of(rng, 1, 1, 2))
            self.text.append(f"ctx = ckks.Context(params, threads={threads})")
            return ckks.Context(params, threads=threads), params

    def _keys(self, rng: Rng) -> None:
        request: dict[str, Any] = {
            "rotations": sorted({int(r) for r in rng.integers(-self.slots, self.slots + 1, int(rng.integers(0, 6)))}),
            "conjugation": chance(rng, 0.6),
            "relinearization": chance(rng, 0.9),
        }
        if not self.params.p:
            request = {"rotations": [], "conjugation": False, "relinearization": False}
        elif chance(rng, 0.5):
            request["rotations"] = sorted({*request["rotations"], *(2**k for k in range(self.slots.bit_length() - 1))})
        if chance(rng, 0.1):
            request["level"] = int(rng.integers(0, self.params.max_level + 1))
        seed = seed_bytes(rng)
        self.keys = self.ctx.keygen(**request, seed=seed)
        self.ev = self.ctx.evaluator(self.keys.evaluation)
        self.request = request
        self.text.append(f"keys = ctx.keygen(**{request}, seed=bytes.fromhex('{seed.hex()}'))  # slots {self.slots}")

    def other(self, rng: Rng) -> tuple[ckks.Keys, ckks.Evaluator]:
        """Return keys of another secret of the same parameters."""
        if self._other is None:
            keys = self.ctx.keygen(**self.request, seed=seed_bytes(rng))
            self._other = keys, self.ctx.evaluator(keys.evaluation)
        found: tuple[ckks.Keys, ckks.Evaluator] = self._other
        return found

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Compare with the error bound; NaN in the truth stands for slots that are not told."""
        if kind == "plaintext":
            found, bound = self.ctx.decode(value, complex=True), value.error_bound
        else:
            if value.slots != len(truth):
                raise Finding("wrong", f"{value.slots} slots, {len(truth)} expected")
            bound, truth = value.error_bound, truth[: length_of(value)]
            if not bound < np.inf:
                self.pessimism += bool(fits(self.params, value, truth))
                return self._unbounded(value)
            sizes = np.abs(truth)
            most = float(np.nanmax(sizes)) if not np.isnan(sizes).all() else 0.0
            if most > value.magnitude * (1 + 1e-12) + bound:
                raise Finding("magnitude", f"values up to {most:.17g} beside a magnitude of {value.magnitude:.17g}")
            try:
                found = self.ctx.decrypt(value, self.keys.secret, complex=True)
            except Error as error:
                raise Finding("refused", f"decrypt: {error}") from error
            self._check_copies(value)
        return compare(found, truth, bound)

    def _check_copies(self, value: Any) -> None:
        """What repeats after a period does so in all slots, also behind the values."""
        if value.period == value.slots:
            return
        found = self.ctx.decrypt(value.with_length(value.slots), self.keys.secret, complex=True)
        far = np.abs(found - np.resize(found[: value.period], len(found))).max()
        if far > 2 * value.error_bound:
            raise Finding("period", f"copies differ by {far:.3g}, period {value.period}, bound {value.error_bound:.3g}")

    def _unbounded(self, value: Any) -> float:
        """What nothing is known of is not decrypted, unless that is asked for."""
        try:
            self.ctx.decrypt(value, self.keys.secret, complex=True)
        except Error:
            return 0.0
        raise Finding("accepted", "a ciphertext with an infinite error bound was decrypted")


def length_of(value: Any) -> int:
    """Return how many numbers are decrypted."""
    shape: tuple[int, ...] = getattr(value, "shape", (value.slots,))
    return shape[0]


def compare(found: Any, truth: Any, bound: float) -> float:
    """Return error/bound over all slots whose truth is known."""
    if len(found) != len(truth):
        raise Finding("wrong", f"{len(found)} numbers, {len(truth)} expected")
    known = ~np.isnan(truth)
    error = np.abs(exact(found)[known] - truth[known])
    if not len(error):
        return 0.0
    worst = float(error.max())
    if not worst <= bound:
        slot = int(np.flatnonzero(known)[int(np.argmax(error))])
        raise Finding(
            "wrong",
            f"slot {slot} is {found[slot]:.17g}, true {complex(truth[slot]):.17g}: error {worst:.3g} beyond the "
            f"stated bound {bound:.3g}",
        )
    return worst / bound if bound else 0.0


def fits(params: ckks.Parameters, value: ckks.Ciphertext, truth: Any) -> bool:
    """Return whether the true values are well inside of what the modulus holds."""
    modulus = float(np.prod([float(q) for q in params.q[: value.level + 1]]))
    known = np.abs(truth)[~np.isnan(truth)]
    return bool(len(known)) and float(known.max()) * value.scale * 64 * np.sqrt(params.n) < modulus


@functools.cache
def secure(number: int) -> tuple[ckks.Context, ckks.Keys]:
    """Return keys of a secure set, which all cases of a process share."""
    params = [
        lambda: ckks.Parameters(13, [50, 40, 40], [50]),
        lambda: ckks.Parameters.for_requirements(depth=2, precision_bits=20, max_abs=4.0, slots=64),
        lambda: ckks.Parameters.for_requirements(depth=4, precision_bits=16),
    ][number]()
    ctx = ckks.Context(params, threads=1)
    return ctx, ctx.keygen(rotations=(1, 2, 4, -1), conjugation=True, seed=bytes([number] * 32))


class SecureWorld(World):
    """A set of 128 bits."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        number = int(rng.integers(3))
        self.ctx, self.keys = secure(number)
        self.params = self.ctx.parameters
        self.request = {"rotations": [1, 2, 4, -1]}
        self.ev = self.ctx.evaluator(self.keys.evaluation)
        self.slots = 2 ** int(rng.integers(0, 7))
        self.text = [f"params = {self.params!r}  # slots {self.slots}"]
        self._other = None
