"""Ranges of intermediate results that come from examples, and what leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import Input, compiler

RNG = np.random.default_rng(5)
LAYERS = [RNG.normal(size=shape) / 8 for shape in [(64, 32), (32, 8), (8, 3)]]


def network(x: Any) -> Any:
    for layer in LAYERS[:-1]:
        x = (x @ layer) ** 2
    return x @ LAYERS[-1]


def examples(rows: int) -> Any:
    return RNG.uniform(0, 0.2, (rows, 64))


def compiled(rows: int, **options: Any) -> compiler.Compiled:
    return noren.compile(network, examples(rows), ranges=[(0.0, 1.0)], security=None, **options)


def test_calibrated_ranges_are_those_of_the_examples() -> None:
    wide, narrow = compiled(20), compiled(20, calibrate=0.5)
    assert narrow.precision < wide.precision / 4
    x = examples(20)
    keys = narrow.client.keygen()
    reply = narrow.server.run(narrow.client.encrypt(x), keys)
    found, bound = narrow.client.decrypt(reply, bound=True)
    assert np.abs(found - network(x)).max() <= bound <= narrow.precision
    (found, bound), flags = narrow.client.decrypt(reply, bound=True, flags=True)
    assert np.abs(found - network(x)).max() <= bound
    assert flags.shape == (20,)
    assert not flags.any()
    assert np.abs(narrow.simulate(x) - network(x)).max() <= narrow.precision


def test_rows_that_leave_their_ranges_are_refused_or_flagged(tmp_path: Path) -> None:
    f = compiled(40, calibrate=0.5)
    f.save(tmp_path / "f")
    server = compiler.Server.load(tmp_path / "f", min_security=0)
    x, keys = examples(40), f.client.keygen()
    # Far outside, and so little outside that only a range of the first layer tells.
    for scale in (5.0, 1.6):
        x[7] = np.minimum(1.0, examples(1)[0] * scale + 0.02 * scale)
        reply = server.run(f.client.encrypt(x), keys)
        with pytest.raises(noren.RangeError, match=r"test_compile_calibrated.py:\d+: \d+ of 40 rows left the range"):
            f.client.decrypt(reply)
        found, flags = f.client.decrypt(reply, flags=True)
        assert flags[7]
        right = ~flags
        assert np.abs(found[right] - network(x)[right]).max(initial=0) <= f.precision
        with pytest.raises(noren.RangeError, match="rows left the range"):
            f.simulate(x)
        _, simulated = f.simulate(x, flags=True)
        assert (simulated == flags).all()


def test_rows_of_other_batches_are_right() -> None:
    wide, last = RNG.normal(size=(256, 64)) / 16, RNG.normal(size=(64, 8)) / 8

    def scores(x: Any) -> Any:
        return ((x @ wide) ** 2) @ last

    x = RNG.uniform(0, 0.2, (201, 256))
    f = noren.compile(scores, x, ranges=[(0.0, 1.0)], calibrate=0.5, precision=1e-3, security=None)
    assert "101 batches of 2 rows" in str(f.explain())
    x[3] = 1.0
    keys = f.client.keygen()
    found, flags = f.client.decrypt(f.server.run(f.client.encrypt(x), keys), flags=True)
    assert np.flatnonzero(flags).tolist() == [2, 3]
    assert np.abs(found[~flags] - scores(x)[~flags]).max() <= f.precision


def test_results_that_depend_on_all_rows_have_one_flag() -> None:
    def total(x: Any) -> Any:
        return network(x).sum(axis=0)

    f = noren.compile(total, examples(10), ranges=[(0.0, 1.0)], security=None, calibrate=0.5)
    x, keys = examples(10), f.client.keygen()
    found, flags = f.client.decrypt(f.server.run(f.client.encrypt(x), keys), flags=True)
    assert flags.tolist() == [False]
    assert np.abs(found - total(x)).max() <= f.precision
    x[2] = 1.0
    _, flags = f.client.decrypt(f.server.run(f.client.encrypt(x), keys), flags=True)
    assert flags.tolist() == [True]


def test_functions_that_are_not_defined_everywhere_are_calibrated() -> None:
    def logarithm(x: Any) -> Any:
        return np.log((x * LAYERS[0][:, 0] ** 2).sum(axis=1) + 1e-3)

    x = RNG.uniform(0.4, 0.6, (8, 64))
    f = noren.compile(logarithm, x, ranges=[(0.0, 1.0)], security=None, calibrate=0.5, precision=1e-3)
    wide = noren.compile(logarithm, Input((8, 64), 0.0, 1.0), security=None, precision=1e-3)
    assert f.explain().levels < wide.explain().levels
    keys = f.client.keygen()
    found = f.client.decrypt(f.server.run(f.client.encrypt(x), keys))
    assert np.abs(found - logarithm(x)).max() <= 1e-3


def test_calibration_needs_examples() -> None:
    with pytest.raises(noren.EncodingError, match=r"arrays are needed in place of noren\.Input"):
        noren.compile(network, Input((4, 64), 0.0, 1.0), calibrate=0.5)
    with pytest.raises(noren.Error, match="margin is -1"):
        compiled(4, calibrate=-1.0)
