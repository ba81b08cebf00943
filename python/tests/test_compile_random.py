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
PRECISION = 3e-2


class Random:
    """A function of a few random steps, each on results of earlier ones."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.steps = [
            (str(rng.choice(list(STEPS))), int(rng.integers(1000)), rng.uniform(-1, 1, (6, 6)))
            for _ in range(rng.integers(2, 7))
        ]

    def __call__(self, *arrays: Any) -> Any:
        pool = list(arrays)
        for name, at, numbers in self.steps:
            a, b = pool[at % len(pool)], pool[at // 7 % len(pool)]
            if np.ndim(a) > 0 or name in ("add", "sub", "mul", "scale", "shift", "tanh", "abs", "maximum"):
                try:
                    pool.append(STEPS[name](a, b, numbers))
                except (ValueError, noren.Error) as error:
                    if "broadcast" not in str(error):
                        raise
        return pool[-1], pool[len(pool) // 2]

    def __repr__(self) -> str:
        return f"Random({[name for name, _, _ in self.steps]})"


@pytest.mark.parametrize("seed", range(40))
def test_random_functions_are_within_their_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    function = Random(rng)
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
