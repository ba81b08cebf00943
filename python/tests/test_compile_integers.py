"""Integers beyond 2^53 in compiled functions: int64, exact, or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noren
from noren import Input, compiler

ROWS = 100_000
MOST = 2**62 // ROWS


def column(seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(-MOST, MOST, ROWS, endpoint=True)


def evaluated(f: compiler.Compiled, *arguments: Any) -> Any:
    keys = f.client.keygen()
    return f.client.decrypt(f.server.run(f.client.encrypt(*arguments), keys))


def test_sums_of_int64_are_exact_to_2_to_the_62() -> None:
    x = column(1)
    x[: ROWS // 2] = MOST
    f = noren.compile(lambda x: x.sum(), Input(ROWS, -MOST, MOST))
    found = evaluated(f, x)
    assert f.scheme in ("bgv", "bfv")
    assert found.dtype == np.int64
    assert found == x.sum() == f.simulate(x)
    assert abs(int(found)) > 2**60


def test_both_ends_of_the_range_come_out() -> None:
    f = noren.compile(lambda x: x.sum(), Input(4, -(2**53), 2**53), security=None)
    g = noren.compile(lambda x: (x * 255).sum(), Input(4, -(2**50), 2**53), security=None)
    for sign in (1, -1):
        assert evaluated(f, [sign * 2**53] * 4) == sign * 2**55
    assert evaluated(g, [2**53] * 4) == 255 * 2**55
    assert evaluated(g, [-(2**50)] * 4) == -255 * 2**52


@pytest.mark.parametrize("scheme", ["bgv", "bfv"])
def test_products_and_choices_pass_2_to_the_53(scheme: Any, tmp_path: Path) -> None:
    def f(x: Any, y: Any) -> Any:
        return (x * y).sum(axis=1), np.where(y > 2, x, 0).sum(), x @ np.array([1, -3, 2**40]), x.sum()

    x = np.random.default_rng(2).integers(0, 2**19, (8, 3))
    y = np.random.default_rng(3).integers(0, 5, (8, 3))
    compiled = noren.compile(f, Input((8, 3), 0, 2**19), Input((8, 3), 0, 4), scheme=scheme, security=None)
    path = tmp_path / "f"
    compiled.save(path)
    for loaded in (compiled, compiler.Compiled.load(path, min_security=0)):
        for found, expected in zip(evaluated(loaded, x, y), f(x, y), strict=True):
            assert found.dtype == np.int64
            assert np.array_equal(found, expected)


def test_means_of_large_sums_are_those_of_float64() -> None:
    x = column(4)[:1000]
    f = noren.compile(lambda x: x.mean(), Input(1000, -MOST, MOST), security=None)
    assert f.scheme in ("bgv", "bfv")
    assert evaluated(f, x) == pytest.approx(x.mean(), rel=1e-14)


@pytest.mark.parametrize(
    ("function", "example", "scheme", "words"),
    [
        (lambda x: (x * x) > 5, Input(3, 0, 2**30), "auto", "2.53"),
        (lambda x: np.abs(x * x * x), Input(3, 0, 2**20), "auto", "2.53"),
        (lambda x: x.sum(), Input(3, 0, 2**53), "tfhe", "2.53: .*bgv"),
        (lambda x: x + 1, Input(3, 0, 2**54), "auto", "2.53"),
        (lambda x: (x * x).sum(), Input(2, 0, 2**31), "auto", "2.63"),
        (lambda x: np.sign(x) * x, Input(3, 0, 2**47), "bgv", "residues"),
    ],
)
def test_more_than_sums_and_products_is_refused(function: Any, example: Input, scheme: Any, words: str) -> None:
    with pytest.raises(noren.Error, match=words):
        noren.compile(function, example, scheme=scheme, security=None)
