"""Order statistics and masks of the largest of many real numbers: what numpy gives, within stated bounds."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noren
from noren import Input, compiler

ERROR, ZONE = 0.05, 0.1
RNG = np.random.default_rng(3)
ARRAYS = {
    "random": RNG.uniform(-1, 1, 20),
    "equal": np.full(20, 0.3),
    "two values": np.repeat([-1.0, 1.0], 10),
    "ties": RNG.integers(-2, 2, 20) / 2,
    "clusters": np.repeat([-0.4, 0.9], [3, 17]) + RNG.normal(0, 1e-4, 20),
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "median": np.median,
    "first": lambda x: np.quantile(x, 0),
    "last": lambda x: np.percentile(x, 100),
    "several": lambda x: np.quantile(x, [0.1, 0.5]),
}


def compiled(function: Callable[[Any], Any], shape: Any = 20, **options: Any) -> compiler.Compiled:
    number = Input(shape, -1.0, 1.0, dtype=float)
    usual: dict[str, Any] = {"precision": ERROR, "scheme": "ckks-bootstrapping", "security": None}
    return noren.compile(function, number, **usual | options)


def assert_is_mask(mask: Any, x: Any, k: int, error: float) -> None:
    """Compare with the definition: in between it may be anything."""
    least = np.sort(x, axis=-1)[..., -k, np.newaxis]
    ones, zeros = x >= least, x < least - ZONE
    assert np.abs(mask - 1)[ones].max() <= error
    assert np.abs(mask[zeros]).max(initial=0) <= error
    assert mask.min() >= -error
    assert mask.max() <= 1 + error


@pytest.mark.parametrize("name", FUNCTIONS)
def test_order_statistics_are_within_their_bound(name: str) -> None:
    f = compiled(FUNCTIONS[name])
    for x in ARRAYS.values():
        found, bound = f.simulate(x, bound=True, seed=bytes(32))
        bound = np.max([error for _, error in found] if isinstance(found, tuple) else bound)
        assert bound <= ERROR
        assert np.abs(found - FUNCTIONS[name](x)).max() <= bound


def test_order_statistics_are_taken_along_axes() -> None:
    x = RNG.uniform(-1, 1, (2, 17))
    for axis, keepdims in [(1, False), (-1, True), (None, False)]:
        f = compiled(functools.partial(np.median, axis=axis, keepdims=keepdims), x.shape)
        expected = np.median(x, axis=axis, keepdims=keepdims)
        found = f.simulate(x, seed=bytes(32))
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= ERROR


def test_a_median_and_a_mask_of_encrypted_numbers() -> None:
    f = compiled(lambda x: (np.median(x), compiler.top(x, 3)), dead_zone=ZONE)
    keys = f.client.keygen(seed=bytes(32))
    x = ARRAYS["random"]
    request = f.client.encrypt(x, seed=bytes(31) + b"1")
    (median, error), (mask, error_of_mask) = f.client.decrypt(f.server.run(request, keys), bound=True)
    assert abs(median - np.median(x)) <= error <= ERROR
    assert_is_mask(mask, x, 3, error_of_mask)


@pytest.mark.parametrize("k", [1, 3, 20])
def test_masks_have_the_largest(k: int) -> None:
    f = compiled(lambda x: compiler.top(x, k), dead_zone=ZONE)
    for x in ARRAYS.values():
        mask, bound = f.simulate(x, bound=True, seed=bytes(32))
        assert_is_mask(mask, x, k, bound)
    rows = RNG.uniform(-1, 1, (2, 20))
    f = compiled(lambda x: compiler.top(x, k, axis=1), rows.shape, dead_zone=ZONE)
    assert_is_mask(f.simulate(rows, seed=bytes(32)), rows, k, ERROR)


def test_masks_of_numbers_and_of_integers_are_exact() -> None:
    x = np.array([[3, 1, 2, 3], [0, 5, -1, 4]])
    expected = np.array([[True, False, False, True], [False, True, False, True]])
    assert (compiler.top(x, 2) == expected).all()
    assert (compiler.top(x.T, 2, axis=0) == expected.T).all()
    assert (compiler.top(x / 2, 1, axis=None) == (x == 5)).all()
    # The last of the largest has equals.
    assert compiler.top([1, 1, 0], 1).tolist() == [True, True, False]
    f = noren.compile(lambda x: compiler.top(x, 2), Input(x.shape, -1, 5), scheme="tfhe", security=None)
    assert (f.simulate(x) == expected).all()


def test_few_numbers_and_integers_are_sorted() -> None:
    few = noren.compile(np.median, Input(3, -1.0, 1.0, dtype=float), precision=0.1, security=None)
    integers = noren.compile(np.median, Input(40, 0, 3), scheme="tfhe", security=None)
    assert all('"sort"' in f._program.graph for f in (few, integers))
    assert '"order-statistic"' in compiled(np.median, 17)._program.graph


@pytest.mark.parametrize("k", [0, 21, -1])
def test_the_largest_of_fewer_are_refused(k: int) -> None:
    with pytest.raises(compiler.TraceError, match="largest of 20"):
        compiled(lambda x: compiler.top(x, k), dead_zone=ZONE)
    with pytest.raises(noren.EncodingError, match="largest of 20"):
        compiler.top(np.zeros(20), k)


def test_what_has_no_order_is_refused() -> None:
    with pytest.raises(noren.EncodingError, match="NaN"):
        compiler.top([1.0, np.nan], 1)
    with pytest.raises(noren.Error, match="dead_zone"):
        compiled(lambda x: compiler.top(x, 3))
    f = compiled(np.median)
    with pytest.raises(noren.Error):
        f.simulate(np.full(20, np.nan))
