"""Random functions of random shapes: compiled ones are within their bounds, or refused by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noren
from noren import Input

STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "scale": lambda a, _, c: a * c[0, 0],
    "shift": lambda a, _, c: a + c[0, 1],
    "polynomial": lambda a, _, c: c[1, 0] + a * (a - 0.5),
    "matmul": lambda a, _, c: a @ np.resize(c, (a.shape[-1], 1 + int(8 * abs(c[0, 2])) % 5)),
    "sum": lambda a, _, c: a.sum(axis=int(c[0, 3] > 0) % a.ndim),
    "mean": lambda a, _, c: a.mean(axis=int(c[0, 3] > 0) % a.ndim),
    "var": lambda a, _, __: a.var(axis=0),
    "tanh": lambda a, _, __: np.tanh(a),
    "abs": lambda a, _, __: np.abs(a),
    "maximum": lambda a, _, c: np.maximum(a, c[1, 1]),
    "constants": lambda a, _, c: a * np.resize(c, a.shape) + np.resize(c.T, a.shape),
    "transpose": lambda a, _, __: a.T,
    "flip": lambda a, _, __: a[::-1],
    "ravel": lambda a, _, __: a.reshape(-1),
    "column": lambda a, _, __: a[..., 0],
    "row": lambda a, _, __: a[-1],
    "join": lambda a, _, __: np.concatenate([a, a * 0.5]),
}
# Of integers: what slots do, and what needs them one by one.
SUMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "scale": lambda a, _, c: a * c[0, 0],
    "polynomial": lambda a, _, c: a * a - c[1, 0] * a + 2,
    "constants": lambda a, _, c: np.resize(c, a.shape) - a,
    "matmul": lambda a, _, c: a @ (np.resize(c, (a.shape[-1], 1 + c[0, 2] % 3)) - 4),
    "sum": lambda a, _, c: a.sum(axis=c[0, 3] % a.ndim),
    "transpose": lambda a, _, __: a.T,
    "join": lambda a, _, __: np.concatenate([a, -a]),
}
CHOICES: dict[str, Callable[[Any, Any, Any], Any]] = {
    **SUMS,
    "where": lambda a, b, _: np.where(a > b, a, b - 1),
    "equal": lambda a, b, _: np.where(a == b, 1, 0),
    "maximum": lambda a, b, _: np.maximum(a, b),
    "largest": lambda a, _, c: a.max(axis=c[0, 3] % a.ndim),
    "quotient": lambda a, b, _: a // (abs(b) + 1),
    "remainder": lambda a, _, c: a % c[0, 1],
    "shift": lambda a, _, c: (a << c[0, 1] % 4) - (a >> c[0, 2] % 4),
    "bits": lambda a, b, _: (a & b) ^ a,
    "sign": lambda a, _, __: np.sign(a),
    "table": lambda a, _, __: noren.compiler.table(np.arange(64) * 3 % 17, a % 8),
}
NUMBERS = ("add", "sub", "mul", "scale", "shift", "tanh", "abs", "maximum", "where", "equal", "bits", "sign")
PRECISION = 3e-2


class Random:
    """A function of a few random steps, each on results of earlier ones."""

    def __init__(
        self, rng: np.random.Generator, kinds: dict[str, Callable[[Any, Any, Any], Any]], most: int, integers: bool
    ) -> None:
        def numbers() -> Any:
            return rng.integers(1, 9, (6, 6)) if integers else rng.uniform(-1, 1, (6, 6))

        self.kinds = kinds
        self.steps = [
            (str(rng.choice(list(kinds))), int(rng.integers(1000)), numbers()) for _ in range(rng.integers(2, most))
        ]

    def __call__(self, *arrays: Any) -> Any:
        pool = list(arrays)
        for name, at, numbers in self.steps:
            a, b = pool[at % len(pool)], pool[at // 7 % len(pool)]
            if np.ndim(a) > 0 or name in NUMBERS:
                try:
                    pool.append(self.kinds[name](a, b, numbers))
                except (ValueError, noren.Error) as error:
                    if "broadcast" not in str(error):
                        raise
        return pool[-1], pool[len(pool) // 2]

    def __repr__(self) -> str:
        return f"Random({[name for name, _, _ in self.steps]})"


@pytest.mark.parametrize("seed", range(40))
def test_random_functions_are_within_their_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    function = Random(rng, STEPS, 7, integers=False)
    inputs = [
        Input(tuple(int(n) for n in rng.integers(1, 7, rng.integers(1, 3))), float(rng.choice([-1.0, 0.25])), 1.0)
        for _ in range(rng.integers(1, 3))
    ]
    try:
        f = noren.compile(function, *inputs, precision=PRECISION, security=None)
    except noren.Error as error:
        # Several maxima one after the other.
        if "the nearest that is possible" in str(error) or "levels, one after the other" in str(error):
            return
        raise
    arrays = [rng.uniform(spec.low, spec.high, spec.shape) for spec in inputs]
    keys = f.client.keygen()
    encrypted = f.client.decrypt(f.server.run(f.client.encrypt(*arrays), keys), bound=True)
    for results in (encrypted, f.simulate(*arrays, bound=True)):
        for (values, bound), wanted in zip(results, function(*arrays), strict=True):
            assert values.shape == np.shape(wanted), function
            assert np.abs(values - wanted).max() <= bound <= PRECISION, function


@pytest.mark.parametrize(
    ("scheme", "seed"), [*(("bgv", seed) for seed in range(12)), *(("tfhe", seed) for seed in range(12))]
)
def test_random_functions_of_integers_are_exact(scheme: Any, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    function = Random(rng, SUMS if scheme == "bgv" else CHOICES, 5, integers=True)
    inputs = [
        Input(tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 3))), int(rng.choice([-6, 0])), 7)
        for _ in range(rng.integers(1, 3))
    ]
    f = noren.compile(function, *inputs, scheme=scheme, security=None)
    arrays = [rng.integers(int(spec.low), int(spec.high), spec.shape, endpoint=True) for spec in inputs]
    keys = f.client.keygen()
    encrypted = f.client.decrypt(f.server.run(f.client.encrypt(*arrays), keys))
    for results in (encrypted, f.simulate(*arrays)):
        for values, wanted in zip(results, function(*arrays), strict=True):
            assert values.shape == np.shape(wanted), function
            assert (values == wanted).all(), function
