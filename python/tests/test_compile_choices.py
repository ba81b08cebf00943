"""Functions that users of numpy, scikit-learn and pandas write, and what an expert's plan of each costs at most.

Costs are those that plans predict on the reference machine: nothing is encrypted here. A limit is what the best way
that is known costs, rounded up; schemes are those of such a way.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from noren import Input, advisor, compiler

rng = np.random.default_rng(20)


class Case(NamedTuple):
    """A function, its inputs, and the most that a plan may take."""

    function: Callable[..., Any]
    inputs: tuple[Input, ...]
    schemes: tuple[str, ...]
    key_megabytes: float
    seconds: float
    options: dict[str, Any] | None = None


CKKS, EXACT = ("ckks",), ("bgv", "bfv")
ONE_BY_ONE = ("tfhe",)
LOOKED_UP = ("bfv-lookups",)


def real(*shape: int, low: float = -1.0, high: float = 1.0) -> Input:
    return Input(shape, low, high, dtype=float)


def whole(*shape: int, low: int = 0, high: int = 255) -> Input:
    return Input(shape, low, high, dtype=int)


def truth(*shape: int) -> Input:
    return Input(shape, 0, 1, dtype=bool)


WEIGHTS, TABLE, SQUARE = rng.normal(size=10), rng.normal(size=(200, 16)), rng.normal(size=(16, 16)) / 4
HIDDEN, LAST = rng.normal(size=(16, 16)) / 4, rng.normal(size=(16, 3)) / 4
GROUPS = np.eye(8)[rng.integers(0, 8, 4096)]
INTEGER_WEIGHTS = rng.integers(-9, 9, 16)
PLACES, POINTS = rng.normal(size=(20_000, 64)), rng.normal(size=(426, 30)).clip(-4, 4)


def standardised(x: Any) -> Any:
    return (x - 5.0) / 2.5


def distances(x: Any, table: Any = TABLE) -> Any:
    return (x * x).sum(axis=1, keepdims=True) - 2 * (x @ table.T) + (table * table).sum(axis=1)


def covariance(x: Any, y: Any) -> Any:
    return ((x - x.mean()) * (y - y.mean())).mean()


def logistic(x: Any) -> Any:
    return compiler.sigmoid(x @ WEIGHTS + 0.5)


CASES = {
    # Linear functions: no rotation of a result, keys of a few rotations.
    "linear regression": Case(lambda x: x @ WEIGHTS + 1.0, (real(442, 10),), CKKS, 4, 0.05),
    "standardised columns": Case(standardised, (real(1000, 8, low=0.0, high=10.0),), CKKS, 1, 0.02),
    "change of units": Case(lambda x: x * 1.8 + 32, (real(5000, low=-40.0, high=50.0),), CKKS, 1, 0.02),
    "principal components": Case(lambda x: (x - 0.1) @ SQUARE[:, :4], (real(128, 16),), CKKS, 10, 0.1),
    "sum of a column": Case(np.sum, (real(100_000, high=9000.0),), CKKS, 15, 0.1),
    "mean of a column": Case(np.mean, (real(10_000),), CKKS, 15, 0.1),
    "weighted mean": Case(lambda x: np.average(x, axis=1, weights=range(1, 9)), (real(500, 8),), CKKS, 15, 0.1),
    "moving average": Case(lambda x: np.convolve(x, np.ones(8) / 8, mode="valid"), (real(512),), CKKS, 10, 0.1),
    "differences": Case(np.diff, (real(1000),), CKKS, 60, 0.5),
    "running total": Case(np.cumsum, (real(256),), CKKS, 30, 0.2),
    "inner product with a known vector": Case(lambda x: x @ WEIGHTS, (real(10),), CKKS, 4, 0.05),
    "sums by known groups": Case(lambda x: x @ GROUPS, (real(4096),), CKKS, 60, 1.0),
    "scores of a large table": Case(lambda x: PLACES @ x, (real(64),), CKKS, 10, 0.1, {"precision": 0.01}),
    "discrete Fourier transform": Case(lambda x: np.fft.rfft(x).real, (real(256),), CKKS, 30, 0.2),
    # Products of encrypted numbers: one level each.
    "inner product": Case(lambda x, y: x @ y, (real(1000), real(1000)), CKKS, 10, 0.1),
    "product of columns": Case(lambda x, y: x * y, (real(2000), real(2000)), CKKS, 3, 0.05),
    "sum of squares": Case(lambda x: (x * x).sum(), (real(1000),), CKKS, 10, 0.1),
    "mean square error": Case(lambda x, y: ((x - y) ** 2).mean(), (real(1000), real(1000)), CKKS, 10, 0.1),
    "variance": Case(np.var, (real(1000),), CKKS, 20, 0.1),
    "variance of columns": Case(lambda x: x.var(axis=0), (real(500, 8),), CKKS, 20, 0.1),
    "covariance": Case(covariance, (real(1000), real(1000)), CKKS, 20, 0.1),
    "squared distances": Case(distances, (real(16, 16),), CKKS, 30, 0.3),
    "distances of many rows": Case(
        lambda x: distances(x, POINTS), (real(256, 30, low=-4.0, high=4.0),), CKKS, 30, 0.3, {"precision": 0.01}
    ),
    "energy of a spectrum": Case(lambda x: np.abs(np.fft.rfft(x)) ** 2, (real(128),), CKKS, 30, 0.2),
    "products with a matrix twice": Case(lambda x: ((x @ HIDDEN) ** 2) @ LAST, (real(64, 16),), CKKS, 60, 0.5),
    "quadratic form": Case(lambda x: ((x @ SQUARE) * x).sum(axis=1), (real(64, 16),), CKKS, 40, 0.3),
    "body mass index": Case(
        lambda w, h: w / (h * h), (real(100, low=40.0, high=150.0), real(100, low=1.4, high=2.1)), CKKS, 20, 0.2
    ),
    # Polynomials and smooth functions: their degree decides.
    "polynomial": Case(lambda x: 1 + x * (2 + x * (3 + x)), (real(1000),), CKKS, 5, 0.1),
    "logistic regression": Case(logistic, (real(285, 10),), CKKS, 40, 0.3),
    "exponential": Case(np.exp, (real(1000),), CKKS, 10, 0.1),
    "logarithm": Case(np.log, (real(1000, low=0.5, high=10.0),), CKKS, 20, 0.2),
    "reciprocal": Case(lambda x: 1 / x, (real(1000, low=1.0, high=5.0),), CKKS, 20, 0.2),
    "square root": Case(np.sqrt, (real(1000, low=0.25, high=4.0),), CKKS, 20, 0.2),
    "hyperbolic tangent": Case(np.tanh, (real(1000, low=-3.0, high=3.0),), CKKS, 20, 0.2),
    "sine": Case(lambda x: np.sin(3 * x), (real(1000),), CKKS, 20, 0.2),
    "softplus": Case(lambda x: np.log(1 + np.exp(x)), (real(100),), CKKS, 40, 0.5),
    "standard deviation": Case(lambda x: x.std(), (real(256),), CKKS, 150, 1.0, {"precision": 0.01}),
    "norm": Case(np.linalg.norm, (real(16, low=0.5),), CKKS, 60, 0.5, {"precision": 0.01}),
    # Comparisons of real numbers, by composed polynomials.
    "count above": Case(
        lambda x: np.where(x > 64.5, 1.0, 0.0).sum(),
        (real(50_000, low=18.0, high=95.0),),
        CKKS,
        100,
        2.0,
        {"dead_zone": 0.4, "precision": 20.0},
    ),
    "threshold": Case(
        lambda x: np.where(x > 0.2, x, 0.0), (real(1000),), CKKS, 100, 1.0, {"dead_zone": 0.05, "precision": 0.01}
    ),
    "absolute values": Case(np.abs, (real(1000),), CKKS, 10, 0.15, {"precision": 0.01}),
    "rectified linear": Case(lambda x: np.maximum(x, 0), (real(1000),), CKKS, 100, 1.0, {"precision": 0.02}),
    "clipped": Case(lambda x: np.clip(x, -0.5, 0.5), (real(1000),), CKKS, 150, 2.0, {"precision": 0.05}),
    # Sums and products of integers: packed and exact.
    "sum of integers": Case(np.sum, (whole(10_000),), EXACT, 15, 0.1),
    "mean of integers": Case(np.mean, (whole(1000),), EXACT, 15, 0.1),
    "score of integers": Case(lambda x: x @ INTEGER_WEIGHTS + 100, (whole(200, 16),), EXACT, 15, 0.2),
    "product of integers": Case(lambda x, y: x * y, (whole(2000), whole(2000)), EXACT, 5, 0.05),
    "sum of squares of integers": Case(lambda x: (x * x).sum(), (whole(2000),), EXACT, 15, 0.1),
    "sum of large integers": Case(np.sum, (whole(1000, high=2**30),), EXACT, 15, 0.1),
    "counts of truth values": Case(lambda x: np.count_nonzero(x, axis=1), (truth(100, 64),), EXACT, 10, 0.1),
    "Hamming distances": Case(
        lambda a, b: np.count_nonzero(a != b, axis=1), (truth(100, 256), truth(100, 256)), EXACT, 30, 0.5
    ),
    "common members": Case(lambda a, b: (a & b).sum(), (truth(4096), truth(4096)), EXACT, 15, 0.1),
    "votes": Case(lambda x: x.sum(axis=0), (truth(500, 16),), EXACT, 10, 0.1),
    "differences of integers": Case(lambda x, y: (x - y) ** 2, (whole(1000), whole(1000)), EXACT, 5, 0.05),
    "remainder by a prime": Case(
        lambda x, y: (x * y + 7) % 65537, (whole(500, high=65536), whole(500, high=65536)), EXACT, 5, 0.1
    ),
    "equal strings": Case(lambda a, b: (a == b).all(axis=1), (whole(64, 16), whole(64, 16)), EXACT, 60, 0.5),
    "rows that differ": Case(lambda a, b: (a != b).any(axis=1), (whole(500, 8), whole(500, 8)), EXACT, 60, 1.0),
    # Functions of one or two integers, and orders.
    "table of bytes": Case(lambda x: x // 3 + x % 7, (whole(64),), LOOKED_UP, 200, 3.0),
    "quotients of bytes": Case(lambda x, y: x // (y + 1), (whole(64), whole(64)), LOOKED_UP, 200, 10.0),
    "larger of two bytes": Case(np.maximum, (whole(4), whole(4)), (*LOOKED_UP, *ONE_BY_ONE), 200, 10.0),
    "largest of some": Case(np.max, (whole(8),), ONE_BY_ONE, 100, 3.0),
    "place of the largest": Case(np.argmax, (whole(16, high=60_000),), ONE_BY_ONE, 100, 6.0),
    "median": Case(np.median, (whole(16),), ONE_BY_ONE, 100, 6.0),
    "sorted": Case(np.sort, (whole(8),), ONE_BY_ONE, 100, 6.0),
    "logic of rules": Case(lambda a, b, c: (a & b) | (~b & c), (truth(16), truth(16), truth(16)), EXACT, 5, 0.05),
}


@pytest.mark.parametrize("name", CASES)
def test_plans_are_those_of_an_expert(name: str) -> None:
    function, inputs, schemes, megabytes, seconds, options = CASES[name]
    machine: dict[str, Any] = {"machine": advisor.REFERENCE, "threads": 2, "objective": "server"}
    first = advisor.advise(function, *inputs, **machine, **(options or {}))[0]
    assert first.scheme in schemes
    assert first.key_bytes <= megabytes * 1e6, f"{first.key_bytes / 1e6:.1f} MB of keys"
    assert first.server_seconds <= seconds, f"{first.server_seconds:.3f} s of the server"
