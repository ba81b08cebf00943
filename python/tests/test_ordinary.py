"""Ordinary computations have finite bounds on their errors, within a factor of what is measured."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from noren import ckks

Array = NDArray[np.float64]

SLOTS = 64
# How far a bound may be above the worst of several errors: about 10 is the distance between the worst error that is
# likely and one of probability 2^-40, the rest is what bounds of single operations do not know of a program.
FACTOR = 100
MATRIX = np.random.default_rng(5).normal(size=(SLOTS, SLOTS)) / SLOTS

# Name, levels, the program, and the same by numpy.
ORDINARY: list[tuple[str, int, Callable[..., ckks.Ciphertext], Callable[[Array, Array], object]]] = [
    ("square", 1, lambda ev, x, y: x * x, lambda x, y: x * x),
    ("cube", 2, lambda ev, x, y: x**3, lambda x, y: x**3),
    ("fourth power", 2, lambda ev, x, y: x**4, lambda x, y: x**4),
    ("product", 1, lambda ev, x, y: x * y, lambda x, y: x * y),
    ("square of a product", 2, lambda ev, x, y: (x * y) * (x * y), lambda x, y: (x * y) ** 2),
    ("logistic map", 1, lambda ev, x, y: x - x * x, lambda x, y: x - x * x),
    ("squared distance", 1, lambda ev, x, y: (x - y) ** 2, lambda x, y: (x - y) ** 2),
    ("quadratic", 2, lambda ev, x, y: ev.polynomial(x, [1, 1, 0.5]), lambda x, y: 1 + x + x * x / 2),
    ("cubic", 2, lambda ev, x, y: ev.polynomial(x, [0.5, 0.2, 0, -0.004]), lambda x, y: 0.5 + 0.2 * x - 0.004 * x**3),
    ("sum", 0, lambda ev, x, y: ev.sum(x), lambda x, y: x.sum()),
    ("mean", 1, lambda ev, x, y: ev.sum(x) / SLOTS, lambda x, y: x.mean()),
    ("sum of squares", 1, lambda ev, x, y: ev.sum(x * x), lambda x, y: x @ x),
    ("mean of squares", 2, lambda ev, x, y: ev.sum(x * x) / SLOTS, lambda x, y: x @ x / SLOTS),
    ("variance", 3, lambda ev, x, y: ev.sum(x * x) / SLOTS - (ev.sum(x) / SLOTS) ** 2, lambda x, y: x.var()),
    ("inner product", 1, lambda ev, x, y: ev.sum(x * y), lambda x, y: x @ y),
    ("weighted sum", 1, lambda ev, x, y: ev.sum(x * MATRIX[0]), lambda x, y: x @ MATRIX[0]),
    ("matrix", 1, lambda ev, x, y: MATRIX @ x, lambda x, y: MATRIX @ x),
    ("differences", 1, lambda ev, x, y: (ev.rotate(x, 1) - x) * 0.5, lambda x, y: (np.roll(x, -1) - x) / 2),
    ("affine", 1, lambda ev, x, y: 2.5 * x + 1, lambda x, y: 2.5 * x + 1),
]
ROTATIONS = sorted({1, *ckks.rotations_of_sum(SLOTS), *ckks.rotations_of_matrix(MATRIX, slots=SLOTS)})


@pytest.mark.parametrize("largest", [1, 3, 10, 30])
def test_ordinary_computations_have_useful_bounds(largest: float) -> None:
    rng = np.random.default_rng(7)
    worlds: dict[bytes, tuple[ckks.Context, ckks.Keys, ckks.Evaluator]] = {}
    for name, depth, program, clear in ORDINARY:
        x, y = rng.uniform(-largest, largest, (2, SLOTS))
        truth = np.atleast_1d(np.asarray(clear(x, y)))
        # What one knows: the largest of the data and of the results. Of it the error is to be 2^-12.
        most = float(max(largest, np.abs(truth).max()))
        params = ckks.Parameters.for_requirements(
            depth=depth, precision_bits=12 - math.log2(most), max_abs=most, slots=SLOTS, security=None
        )
        if bytes(params) not in worlds:
            ctx = ckks.Context(params)
            keys = ctx.keygen(rotations=ROTATIONS, seed=bytes(32))
            worlds[bytes(params)] = ctx, keys, ctx.evaluator(keys.evaluation)
        ctx, keys, ev = worlds[bytes(params)]
        worst = 0.0
        for _ in range(8):
            a, b = (ev.bind(z) for z in ctx.encrypt(np.stack([x, y]), keys.public, slots=SLOTS))
            z = program(ev, a, b)
            error = np.abs(ctx.decrypt(z, keys.secret)[: len(truth)] - truth).max()
            assert error <= z.error_bound, name
            worst = max(worst, float(error))
        assert z.error_bound <= FACTOR * worst, (name, largest, z.error_bound, worst)
