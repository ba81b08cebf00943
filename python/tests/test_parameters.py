import pickle

import pytest

import noren
from noren import ckks


def test_parameters_say_what_they_are() -> None:
    params = ckks.Parameters(log_n=14, log_q=[50, 40, 40, 40], log_p=[50], log_scale=40)
    assert (params.n, params.slots, params.max_level, params.log_scale) == (2**14, 2**13, 3, 40)
    assert (len(params.q), len(params.p), params.security) == (4, 1, 128)
    assert 219 < params.log_qp < 221
    assert all(q % 2**15 == 1 for q in params.q + params.p)
    assert params.scale(3) == 2.0**40
    assert abs(params.scale(0) / 2.0**40 - 1) < 2**-15
    assert len(bytes.fromhex(params.fingerprint)) == 32


def test_the_scale_is_by_default_that_of_the_last_prime() -> None:
    assert ckks.Parameters(10, [50, 36], security=None).log_scale == 36


def test_equal_parameters_are_equal_and_hash_alike() -> None:
    a, b = (ckks.Parameters(10, [50, 40], [50], security=None) for _ in range(2))
    c = ckks.Parameters(10, [50, 41], [50], security=None)
    assert a == b
    assert hash(a) == hash(b)
    assert a != c
    assert {a: 1}[b] == 1


def test_parameters_pickle_to_equal_ones() -> None:
    params = ckks.Parameters(10, [50, 40], [50], dnum=2, secret=64, security=None)
    assert pickle.loads(pickle.dumps(params)) == params
    assert ckks.Parameters.from_bytes(bytes(params)) == params


def test_insecure_parameters_are_refused() -> None:
    with pytest.raises(noren.InsecureError, match="170"):
        ckks.Parameters(12, [50, 40, 40], [40])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"log_n": 2, "log_q": [40]}, "log_n"),
        ({"log_n": 10, "log_q": []}, "log_q"),
        ({"log_n": 10, "log_q": [60]}, "log_q"),
        ({"log_n": 10, "log_q": [50, 40], "log_p": [19]}, "log_p"),
        ({"log_n": 10, "log_q": [50, 40], "secret": "sparse"}, "secret"),
        ({"log_n": 10, "log_q": [50, 40], "security": 100}, "security"),
    ],
)
def test_sizes_out_of_range_are_named(arguments: dict[str, object], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        ckks.Parameters(**{"security": None, **arguments})  # type: ignore[arg-type]


def test_requirements_give_the_smallest_parameters() -> None:
    params = ckks.Parameters.for_requirements(depth=2, precision_bits=20, slots=1000)
    assert params.max_level >= 2
    assert params.security == 128
    with pytest.raises(noren.Error, match="depth"):
        ckks.Parameters.for_requirements(depth=500, precision_bits=20)


def test_levels_that_there_are_not_have_no_scale() -> None:
    with pytest.raises(ValueError, match="level 2"):
        ckks.Parameters(10, [50, 40], security=None).scale(2)
