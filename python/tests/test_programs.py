import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import noren
from noren import ckks, programs

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def table() -> NDArray[np.float64]:
    return np.random.default_rng(2).normal(50, 20, (20, 3))


@pytest.fixture(scope="module")
def clinic(table: NDArray[np.float64]) -> tuple[ckks.Keys, ckks.Evaluator]:
    """Keys for all programs of this file."""
    ctx = ckks.Context(ckks.Parameters(10, [50, *[40] * 6], [50, 50], security=None))
    wanted = [programs.Program(name, **model) for name, model, _ in cases(table)]
    keys = programs.plan(wanted, rows=20, columns=3, slots=ctx.slots, column_names=NAMES).keygen(ctx)
    return keys, ctx.evaluator(keys.evaluation)


def cases(x: NDArray[np.float64]) -> list[tuple[str, dict[str, Any], NDArray[np.float64]]]:
    """Programs with their models and what they give."""
    weights, mean, scale = np.array([0.5, -1.0, 2.0]), x.mean(axis=0), x.std(axis=0)
    logits = ((x - mean) / scale) @ weights + 0.25
    standard = {"weights": weights, "bias": 0.25, "mean": mean, "scale": scale}
    return [
        ("sum", {}, x.sum(axis=0)[None]),
        ("mean", {}, x.mean(axis=0)[None]),
        ("variance", {}, x.var(axis=0, ddof=1)[None]),
        ("covariance", {"ddof": 0}, np.cov(x, rowvar=False, ddof=0)),
        ("inner-product", {"pairs": [["a", "c"], [1, 1]]}, np.array([[x[:, 0] @ x[:, 2]], [x[:, 1] @ x[:, 1]]])),
        ("linear", {"weights": np.array([[1.0, 0, 0], [0, 1, -1]])}, np.stack([x[:, 0], x[:, 1] - x[:, 2]], axis=1)),
        ("linear", standard, logits[:, None]),
        ("logistic", {**standard, "interval": 8, "error": 1e-3}, 1 / (1 + np.exp(-logits[:, None]))),
        ("polynomial", {"coefficients": [1, 0, 0.01]}, 1 + 0.01 * x**2),
    ]


@pytest.mark.parametrize("case", range(9))
def test_programs_agree_with_numpy(
    table: NDArray[np.float64], clinic: tuple[ckks.Keys, ckks.Evaluator], case: int
) -> None:
    keys, ev = clinic
    name, model, expected = cases(table)[case]
    encrypted = programs.encrypt_table(table, keys.secret, column_names=NAMES)
    matrix = programs.decrypt_table(programs.run(ev, programs.Program(name, **model), encrypted), keys.secret)
    assert matrix.values.shape == matrix.errors.shape == expected.shape
    assert (np.abs(matrix.values - expected) <= matrix.errors).all()
    assert matrix.errors.max() < 2e-3 * np.abs(expected).max()
    assert matrix.out_of_range == []


def test_names_travel_with_the_table(table: NDArray[np.float64], clinic: tuple[ckks.Keys, ckks.Evaluator]) -> None:
    keys, ev = clinic
    rows = [f"r{i}" for i in range(20)]
    encrypted = programs.encrypt_table(table, keys.public, column_names=NAMES, row_names=rows)
    assert encrypted.column_names == NAMES
    matrix = programs.decrypt_table(encrypted, keys.secret)
    assert (matrix.row_names, matrix.column_names) == (rows, NAMES)
    expected = pd.DataFrame(table, index=rows, columns=NAMES)
    pd.testing.assert_frame_equal(matrix.to_pandas(), expected, atol=matrix.errors.max(), rtol=0)
    unnamed = programs.decrypt_table(programs.encrypt_table(table, keys.secret), keys.secret)
    assert unnamed.column_names == ["0", "1", "2"]
    covariance = programs.run(ev, programs.Program("covariance", ddof=0), encrypted)
    assert programs.decrypt_table(covariance, keys.secret).row_names == NAMES


def test_bounds_from_outside_hide_the_largest_values(
    table: NDArray[np.float64], clinic: tuple[ckks.Keys, ckks.Evaluator]
) -> None:
    keys, _ = clinic
    encrypted = programs.encrypt_table(table, keys.secret, max_abs=[1000, 500, 200], seed=bytes(32))
    matrix = programs.decrypt_table(encrypted, keys.secret)
    assert (np.abs(matrix.values - table) <= matrix.errors).all()
    # The bounds become powers of two, and the errors are those of numbers up to 1.
    assert (matrix.errors[0] / matrix.errors[0, 2]).tolist() == [4, 2, 1]
    with pytest.raises(noren.Error, match="at most 1, its bound"):
        programs.encrypt_table(table, keys.secret, max_abs=[1000, 500, 1])


def test_tables_travel(table: NDArray[np.float64], clinic: tuple[ckks.Keys, ckks.Evaluator], tmp_path: Path) -> None:
    keys, ev = clinic
    encrypted = programs.encrypt_table(table, keys.secret, column_names=NAMES, seed=bytes(32))
    data = bytes(encrypted)
    encrypted.save(tmp_path / "table.ct")
    for back in (
        pickle.loads(pickle.dumps(encrypted)),
        programs.EncryptedTable.from_bytes(ev.context, data),
        programs.EncryptedTable.load(ev.context, tmp_path / "table.ct"),
    ):
        assert (bytes(back), back.level, back.slots, back.ciphertexts) == (data, 6, encrypted.slots, 1)
    with pytest.raises(noren.WireError):
        programs.EncryptedTable.from_bytes(ev.context, data[:-64])
    with pytest.raises(noren.WireError, match="table"):
        ckks.Ciphertext.from_bytes(ev.context, data)


def test_released_tables_are_rounded(table: NDArray[np.float64], clinic: tuple[ckks.Keys, ckks.Evaluator]) -> None:
    keys, _ = clinic
    encrypted = programs.encrypt_table(table, keys.secret, max_abs=[128] * 3)
    releases = ckks.Releases(statistical_security=10)
    matrix = programs.decrypt_table(encrypted, keys.secret, release_bits=4, releases=releases)
    assert (matrix.values % (128 / 2**4) == 0).all()
    assert (np.abs(matrix.values - table) <= matrix.errors).all()
    assert releases.made == 1
    with pytest.raises(noren.Error, match="bits"):
        programs.decrypt_table(encrypted, keys.secret, release_bits=40)
    with pytest.raises(noren.Error, match="planned"):
        programs.decrypt_table(encrypted, keys.secret, release_bits=3, releases=releases)


def test_plans_say_what_is_needed(table: NDArray[np.float64]) -> None:
    mean, logistic = programs.Program("mean"), programs.Program("logistic", weights=[1, 2, 3], interval=8)
    single = mean.plan(20, 3, slots=512)
    assert (single.depth, single.relinearization) == (1, None)
    assert set(single.rotations) == set(ckks.rotations_of_sum(32))
    both = programs.plan([mean, logistic], rows=20, columns=3, slots=512)
    assert both == single | logistic.plan(20, 3, slots=512)
    assert both.depth > single.depth
    assert both.counts["products"] > single.counts["products"] == 0
    with pytest.raises(ValueError, match="program"):
        programs.plan([], rows=1, columns=1, slots=8)
    # Columns of different powers of two cost this program a level; without bounds they are taken to differ.
    cube = programs.Program("polynomial", coefficients=[0, 1, 0, 1])
    depths = [cube.plan(20, 3, slots=512, max_abs=bounds).depth for bounds in (1, 100, [1, 2, 100], None)]
    assert depths == [2, 2, 3, 3]
    named = mean.plan(20, 3, slots=512, column_names=NAMES, max_abs={"c": 100, "a": 1, "b": 2})
    assert named == mean.plan(20, 3, slots=512, max_abs=[1, 2, 100])
    with pytest.raises(noren.Error, match="without column"):
        mean.plan(20, 3, slots=512, column_names=NAMES, max_abs={"a": 1})
    shallow = ckks.Context(ckks.Parameters(10, [50, 40], [50], security=None))
    with pytest.raises(noren.LevelError, match=str(both.depth)):
        both.keygen(shallow)


def test_parameters_are_chosen_for_programs() -> None:
    wanted = [programs.Program("mean"), programs.Program("covariance")]
    params = programs.choose_parameters(wanted, rows=300, columns=12, precision_bits=16)
    plan = programs.plan(wanted, rows=300, columns=12, slots=params.slots)
    assert (params.max_level, params.security) == (plan.depth, 128)
    finer = programs.choose_parameters(wanted, rows=300, columns=12, precision_bits=24)
    assert finer.log_scale > params.log_scale
    with pytest.raises(noren.Error, match="precision_bits"):
        programs.choose_parameters(wanted, rows=300, columns=12, precision_bits=60)


def test_intervals_that_bounds_do_not_prove_are_refused() -> None:
    # |0.5 x - y + 1| is at most 2 + 8 + 1 for columns up to 4 and 8.
    logistic = programs.Program("logistic", weights=[0.5, -1], bias=1, interval=10.5, degree=7, outputs=["risk"])
    cubic = programs.Program("polynomial", coefficients=[0, 1, 0, 1], interval=[-1, 4])
    for program, most, named in [(logistic, [3, 8], ["risk", "from -9 to 11"]), (cubic, 3, ["column", "from -4 to 4"])]:
        shape: dict[str, Any] = {"rows": 8, "columns": 2, "max_abs": most}
        calls: list[Callable[..., object]] = [
            lambda program=program, **more: programs.plan([program], slots=512, **more),
            lambda program=program, **more: programs.choose_parameters([program], precision_bits=12, **more),
            lambda program=program, **more: program.plan(more.pop("rows"), more.pop("columns"), slots=512, **more),
        ]
        for call in calls:
            with pytest.raises(noren.RangeError) as caught:
                call(**shape)
            for part in [*named, "widen the interval", "smaller bounds", "unproven_interval=True"]:
                assert part in str(caught.value)
            assert call(**shape, unproven_interval=True) is not None
            assert call(**{**shape, "max_abs": 1}) is not None
            assert call(**{**shape, "max_abs": None}) is not None


def test_rows_outside_the_interval_are_refused() -> None:
    ctx = ckks.Context(ckks.Parameters(10, [50, *[40] * 4], [50, 50], security=None))
    program = programs.Program("logistic", weights=[1.0], interval=4, degree=7)
    table = np.array([[1.0], [-2.0], [8.0]])
    keys = program.plan(3, 1, slots=ctx.slots, max_abs=8, unproven_interval=True).keygen(ctx)
    encrypted = programs.encrypt_table(table, keys.secret, max_abs=8)
    result = programs.run(ctx.evaluator(keys.evaluation), program, encrypted)
    for bits in (None, 2):
        with pytest.raises(noren.RangeError, match=r"outside \[-4, 4\].*3 numbers.*allow_unbounded=True"):
            programs.decrypt_table(result, keys.secret, release_bits=bits)
    matrix = programs.decrypt_table(result, keys.secret, allow_unbounded=True)
    assert np.isinf(matrix.errors).all()
    assert matrix.out_of_range == [(0, 0), (1, 0), (2, 0)]
    # Inside, they are numbers as any other.
    inside = programs.encrypt_table(np.array([[1.0], [-2.0], [3.5]]), keys.secret, max_abs=8)
    matrix = programs.decrypt_table(programs.run(ctx.evaluator(keys.evaluation), program, inside), keys.secret)
    assert (np.abs(matrix.values - 1 / (1 + np.exp([[-1.0], [2.0], [-3.5]]))) <= matrix.errors).all()
    assert matrix.out_of_range == []


def test_models_are_checked() -> None:
    refused: list[tuple[str, dict[str, Any]]] = [
        ("median", {}),
        ("linear", {}),
        ("sum", {"weights": [1]}),
        ("linear", {"weights": [1], "wieghts": [1]}),
        ("linear", {"weights": "text"}),
        ("linear", {"weights": [float("nan")]}),
    ]
    for name, model in refused:
        with pytest.raises(noren.Error):
            programs.Program(name, **model)
    with pytest.raises(noren.Error, match="weights"):
        programs.Program("linear", weights=[1, 2]).plan(20, 3, slots=512)
    with pytest.raises(noren.Error, match="column is d"):
        programs.Program("inner-product", pairs=[["a", "d"]]).plan(20, 3, slots=512, column_names=NAMES)


def test_programs_pickle_and_come_from_json() -> None:
    program = programs.Program("linear", weights=np.array([1.0, 2.0]), bias=np.float64(0.5))
    text = json.dumps({"weights": [1.0, 2.0], "bias": 0.5})
    assert repr(program) == repr(pickle.loads(pickle.dumps(program)))
    assert repr(program) == repr(programs.Program.from_json("linear", text))
    assert program.name == "linear"


def test_tables_of_the_wrong_shape_are_refused(
    table: NDArray[np.float64], clinic: tuple[ckks.Keys, ckks.Evaluator], other: ckks.Context
) -> None:
    keys, ev = clinic
    with pytest.raises(noren.EncodingError, match="2 dimensions"):
        programs.encrypt_table([1.0, 2.0], keys.secret)
    with pytest.raises(noren.EncodingError, match="names"):
        programs.encrypt_table(table, keys.secret, column_names=["a"])
    with pytest.raises(noren.EncodingError, match="value 4"):
        programs.encrypt_table(np.array([[1, 2, 3], [4, np.nan, 5]]), keys.secret)
    with pytest.raises(TypeError, match="complex"):
        programs.encrypt_table(table * 1j, keys.secret)
    with pytest.raises(noren.Error, match="rows"):
        programs.encrypt_table(np.zeros((0, 3)), keys.secret)
    foreign = programs.encrypt_table(table, other.keygen().secret)
    with pytest.raises(noren.ParameterMismatchError):
        programs.run(ev, programs.Program("mean"), foreign)
    with pytest.raises(noren.ParameterMismatchError):
        programs.decrypt_table(foreign, keys.secret)
    shallow = programs.encrypt_table(table, keys.secret, level=1)
    with pytest.raises(noren.LevelError):
        programs.run(ev, programs.Program("variance"), shallow)


def test_linear_models_that_noren_plans_decrypt() -> None:
    rng = np.random.default_rng(46)
    models: list[NDArray[np.float64]] = [
        *(np.array([w]) for w in ([1.0, 0.0], [1.0, 0.0, 0.0], [0.6, 0, 0, 0, 0], [0.8, -0.3] + [0.0] * 8)),
        rng.normal(size=(1, 30)),
        rng.normal(size=(3, 11)),
    ]
    for matrix in models:
        x = rng.uniform(0, 7, (6, matrix.shape[1])) * rng.choice([1e-3, 1, 50], matrix.shape[1])
        program = programs.Program("linear", weights=matrix, bias=0.25)
        rows, columns = x.shape
        params = programs.choose_parameters([program], rows=rows, columns=columns, precision_bits=20)
        ctx = ckks.Context(params, threads=1)
        keys = programs.plan([program], rows=rows, columns=columns, slots=ctx.slots).keygen(ctx)
        table = programs.encrypt_table(x, keys.public)
        matrix_of = programs.decrypt_table(programs.run(ctx.evaluator(keys.evaluation), program, table), keys.secret)
        assert (np.abs(matrix_of.values - (x @ matrix.T + 0.25)) <= matrix_of.errors).all()


def test_parameters_that_do_not_hold_results_get_no_keys() -> None:
    program = programs.Program("variance", ddof=15)
    plan = programs.plan([program], rows=16, columns=2, slots=2**10)
    for first, fits in ((42, False), (47, True)):
        ctx = ckks.Context(ckks.Parameters(11, [first, 40, 40], [50], log_scale=40, security=None), threads=1)
        if fits:
            plan.keygen(ctx)
        else:
            with pytest.raises(noren.RangeError, match=r"variance: results .* the first prime, of 42 bits"):
                plan.keygen(ctx)


def test_values_above_their_bound_are_refused(clinic: tuple[ckks.Keys, ckks.Evaluator]) -> None:
    values = np.array([[1, 7.5], [2, 3]])
    for bound in (5, [4, 5], 7.49, {"0": 4, "1": 6}, {"0": 2, "1": 7.25}):
        with pytest.raises(noren.Error, match=r'entry is 7.5 in row 0, column "1"'):
            programs.encrypt_table(values, clinic[0].secret, max_abs=bound)
    programs.encrypt_table(values, clinic[0].secret, max_abs=[2, 7.5])


def test_names_of_frames_are_kept_and_none_occurs_twice(clinic: tuple[ckks.Keys, ckks.Evaluator]) -> None:
    values, (keys, _) = np.array([[1, 7.5], [2, 3]]), clinic
    for columns, names in ((["a", "b"], ["a", "b"]), ([3, 4], ["3", "4"]), (None, [])):
        frame = pd.DataFrame(values, columns=columns)
        assert programs.encrypt_table(frame, keys.secret).column_names == names
    frame = pd.DataFrame(values, columns=["a", "b"])
    programs.encrypt_table(frame, keys.secret, max_abs={"a": 10, "b": 10})
    assert programs.encrypt_table(frame, keys.secret, column_names=["c", "d"]).column_names == ["c", "d"]
    twice = pd.DataFrame(values, columns=["a", "a"])
    by_name = programs.Program("linear", weights=[0.9], columns=["a"])
    for call in (
        lambda: programs.encrypt_table(twice, keys.secret),
        lambda: programs.encrypt_table(values, keys.secret, column_names=["a", "a"]),
        lambda: programs.plan([by_name], rows=2, columns=2, slots=4, column_names=["a", "a"]),
    ):
        with pytest.raises(noren.Error, match='names of columns is "a" twice'):
            call()
    with pytest.raises(noren.Error, match="the columns of the table have no names"):
        by_name.plan(2, 2, slots=4)


def test_models_that_are_none_are_refused_in_plain_words() -> None:
    for model, needed in (
        ({"weights": [float("nan"), 1]}, "weights holds nan"),
        ({"weights": np.array([1, np.inf])}, "weights holds inf"),
        ({"weights": "12"}, "weights must be a list of numbers"),
        ({"weights": [1, 2], "bias": "x"}, "bias must be a number"),
        ({"weights": [1], "columns": [0.5]}, "a column must be a position"),
    ):
        with pytest.raises(noren.Error, match=needed) as refused:
            programs.Program("linear", **model)
        assert not any(word in str(refused.value) for word in ("JSON", "untagged", "line 1"))
