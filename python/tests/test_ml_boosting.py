"""Boosted trees of XGBoost and LightGBM: answers beside those of the model itself, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import _boosting, ml
from noren.compiler import Server

datasets = pytest.importorskip("sklearn.datasets")

from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

DIABETES = datasets.load_diabetes(return_X_y=True)
IRIS = datasets.load_iris(return_X_y=True)
CANCER = datasets.load_breast_cancer(return_X_y=True)
SHARES = DIABETES[1] / DIABETES[1].max()
ROWS = 12


def xgb(name: str = "XGBRegressor", **options: Any) -> Any:
    """Return a small model of XGBoost that is not fitted; the test is skipped without XGBoost."""
    xgboost = pytest.importorskip("xgboost")
    return getattr(xgboost, name)(**{"n_estimators": 3, "max_depth": 2, "random_state": 0, "n_jobs": 1, **options})


def lgb(name: str = "LGBMRegressor", **options: Any) -> Any:
    """Return a small model of LightGBM that is not fitted; the test is skipped without LightGBM."""
    lightgbm = pytest.importorskip("lightgbm")
    shape = {"n_estimators": 3, "num_leaves": 4, "random_state": 0, "n_jobs": 1, "verbose": -1}
    return getattr(lightgbm, name)(**{**shape, **options})


def stopped(model: Any, X: Any, y: Any) -> Any:
    """Return a model that is fitted on labels that say nothing of those that it stops by."""
    return model.fit(X, y, eval_set=[(X[::-1], y)])


REGRESSORS: dict[str, Callable[[], Any]] = {
    "xgb squares": lambda: xgb().fit(*DIABETES),
    "xgb absolute": lambda: xgb(objective="reg:absoluteerror", base_score=100).fit(*DIABETES),
    "xgb Poisson": lambda: xgb(objective="count:poisson", gamma=5, max_depth=3).fit(*DIABETES),
    "xgb pruned": lambda: xgb(gamma=30000, learning_rate=1, tree_method="exact", n_estimators=9).fit(*DIABETES),
    "xgb gamma": lambda: xgb(objective="reg:gamma").fit(*DIABETES),
    "xgb Tweedie": lambda: xgb(objective="reg:tweedie").fit(*DIABETES),
    "xgb logistic": lambda: xgb(objective="reg:logistic").fit(DIABETES[0], SHARES),
    "xgb quantiles": lambda: xgb(objective="reg:quantileerror", quantile_alpha=[0.2, 0.8]).fit(*DIABETES),
    "xgb own objective": lambda: xgb(objective=lambda y, found: (found - y, np.ones_like(y))).fit(*DIABETES),
    "xgb dart": lambda: xgb(booster="dart", rate_drop=0.5, one_drop=1, n_estimators=5).fit(*DIABETES),
    "xgb forest": lambda: xgb("XGBRFRegressor").fit(*DIABETES),
    "xgb parallel": lambda: stopped(xgb(num_parallel_tree=2, early_stopping_rounds=2, n_estimators=9), *DIABETES),
    "xgb targets": lambda: xgb().fit(DIABETES[0], np.stack([DIABETES[1], -DIABETES[1]], axis=1)),
    "xgb booster": lambda: xgb(objective="binary:logistic").fit(DIABETES[0], SHARES > 0.4).get_booster(),
    "lgb squares": lambda: lgb().fit(*DIABETES),
    "lgb roots": lambda: lgb(reg_sqrt=True).fit(*DIABETES),
    "lgb absolute": lambda: lgb(objective="l1").fit(*DIABETES),
    "lgb Poisson": lambda: lgb(objective="poisson").fit(*DIABETES),
    "lgb Tweedie": lambda: lgb(objective="tweedie").fit(*DIABETES),
    "lgb shares": lambda: lgb(objective="cross_entropy").fit(DIABETES[0], SHARES),
    "lgb rates": lambda: lgb(objective="cross_entropy_lambda").fit(DIABETES[0], SHARES),
    "lgb own objective": lambda: lgb(objective=lambda y, found: (found - y, np.ones_like(y))).fit(*DIABETES),
    "lgb dart": lambda: lgb(boosting_type="dart", drop_rate=0.5).fit(*DIABETES),
    "lgb forest": lambda: lgb(boosting_type="rf", subsample=0.5, subsample_freq=1).fit(*DIABETES),
    "lgb best": lambda: stopped(lgb(n_estimators=9, early_stopping_rounds=2), *DIABETES),
    "lgb booster": lambda: lgb(objective="binary").fit(DIABETES[0], SHARES > 0.4).booster_,
}
CLASSIFIERS: dict[str, Callable[..., Any]] = {
    "xgb": lambda X, y: xgb("XGBClassifier").fit(X, y),
    "xgb softmax": lambda X, y: stopped(xgb("XGBClassifier", early_stopping_rounds=1, n_estimators=6), X, y),
    "xgb forest": lambda X, y: xgb("XGBRFClassifier", n_estimators=2).fit(X, y),
    "lgb": lambda X, y: lgb("LGBMClassifier").fit(X, y),
    "lgb forest": lambda X, y: lgb("LGBMClassifier", boosting_type="rf", subsample=0.5, subsample_freq=1).fit(X, y),
    "lgb one against all": lambda X, y: lgb("LGBMClassifier", objective="multiclassova", num_class=3, sigmoid=2.0).fit(
        X, y
    ),
}


def compiled(model: Any, X: Any) -> ml.Model:
    return ml.compile(model, X, rows=ROWS, scheme="bfv", security=None)


def own(model: Any, X: Any) -> Any:
    """Return the predictions of a model itself."""
    return getattr(model, "inplace_predict", model.predict)(X)


def answered(model: ml.Model, X: Any, method: str = "predict") -> Any:
    keys = model.client.keygen()
    reply = model.server.run(model.client.encrypt(X), keys)
    return getattr(model.client, method)(reply, rows=len(X))


def edges(model: Any, X: Any) -> Any:
    """Return rows with a feature that is a threshold of the model, or the number next to one, in its type."""
    ensemble = (_boosting.reader(model) or pytest.fail)(model)
    rows: list[Any] = []
    for tree in ensemble.trees:
        for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
            number = ensemble.dtype(threshold)
            for near in (number, np.nextafter(number, ensemble.dtype(np.inf)), np.nextafter(number, -number)):
                row = X[len(rows) % len(X)].copy()
                row[max(feature, 0)] = near
                rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_are_those_of_the_library(name: str) -> None:
    clear, X = REGRESSORS[name](), DIABETES[0]
    model = compiled(clear, X)
    assert model.agreement.equal == 1.0
    tolerance = np.abs(own(clear, X)).max() / 500
    for rows in (X[:100], edges(clear, X)):
        found, expected = model.predict(rows), own(clear, rows)
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= tolerance


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_are_those_of_the_library(name: str) -> None:
    X, y = IRIS
    clear = CLASSIFIERS[name](X, y)
    model = compiled(clear, X[::-1])
    assert model.methods == ("predict", "predict_proba")
    assert (answered(model, X[45:57]) == clear.predict(X[45:57])).all()
    for rows in (X, edges(clear, X)):
        assert np.abs(model.predict_proba(rows) - clear.predict_proba(rows)).max() < 0.01
    assert model.score(X, y) == clear.score(X, y)


@pytest.mark.parametrize("name", ["xgb", "lgb"])
def test_two_classes_have_one_score(name: str) -> None:
    X, y = CANCER[0][:, :6], CANCER[1]
    labels = np.array(["benign", "malignant"])[y] if name == "lgb" else y
    clear = CLASSIFIERS[name](X, labels)
    model = compiled(clear, X)
    rows = X[100:112]
    assert (answered(model, rows) == clear.predict(rows)).all()
    assert np.abs(model.predict_proba(rows) - clear.predict_proba(rows)).max() < 0.01


@pytest.mark.parametrize("of", [xgb, lgb])
def test_steps_before_trees_are_exact(of: Callable[[], Any]) -> None:
    X = DIABETES[0].astype(np.float32)
    clear = Pipeline([("none", "passthrough"), ("scaler", StandardScaler()), ("trees", of())]).fit(X, DIABETES[1])
    model = compiled(clear, X)
    ensemble = (_boosting.reader(clear[-1]) or pytest.fail)(clear[-1])
    feature, threshold = ensemble.trees[0].feature[0], ensemble.trees[0].threshold[0]
    near = np.argsort(np.abs(clear[1].transform(X)[:, feature] - threshold))[:60]
    assert np.abs(model.predict(X[near]) - clear.predict(X[near])).max() < 0.5


@pytest.mark.parametrize("of", [xgb, lgb])
def test_tables_of_pandas_are_taken(of: Callable[[], Any]) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"age": np.arange(60), "pulse": np.linspace(40, 99.5, 60) % 17, "rank": np.arange(60) // 9}
    )
    clear = of().fit(table, table.age * 2 + table.pulse)
    model = compiled(clear, table)
    assert np.abs(answered(model, table[20:30]) - clear.predict(table[20:30])).max() < 0.5
    if of is xgb:
        with pytest.raises(noren.EncodingError, match=r"columns pulse, age, rank: .* fitted on age, pulse, rank"):
            model.client.encrypt(table[["pulse", "age", "rank"]])


def test_small_numbers_are_zeros_of_lightgbm() -> None:
    X = np.array([[-1.0], [0.0], [1.0]] * 40)
    clear = lgb(min_child_samples=1).fit(X, X[:, 0] * 2 + (X[:, 0] == 0))
    model = compiled(clear, X)
    edge = _boosting.NEAR_ZERO
    rows = np.array([[at] for near in (-edge, edge) for at in (near, np.nextafter(near, -1), np.nextafter(near, 1))])
    assert np.abs(model.predict(rows) - clear.predict(rows)).max() < 0.01


def test_older_files_of_xgboost_are_read() -> None:
    clear = xgb("XGBRFRegressor").fit(*DIABETES)
    content = json.loads(clear.get_booster().save_raw("json"))
    learner = content["learner"]
    # One number for all outputs, and no list of the trees of iterations.
    learner["learner_model_param"]["base_score"] = learner["learner_model_param"]["base_score"].strip("[]")
    del learner["learner_model_param"]["num_target"], learner["gradient_booster"]["model"]["iteration_indptr"]
    learner["attributes"]["best_iteration"] = "0"
    methods = {"get_booster": lambda self: self, "save_raw": lambda self, form: json.dumps(content).encode()}
    older = type("XGBRFRegressor", (), {"__module__": "xgboost.sklearn", **methods})()
    found, expected = _boosting.reader(older)(older), _boosting.reader(clear)(clear)  # type: ignore[misc]
    assert len(found.trees) == 3
    assert found.answers["predict"](np.ones((1, 1))) == expected.answers["predict"](np.ones((1, 1)))


def test_models_are_read_from_files_beside_their_estimators(tmp_path: Path) -> None:
    X, y = DIABETES
    clear = xgb().fit(X, y)
    model = ml.compile(clear, X[:50], rows=ROWS)
    keys = model.client.keygen()
    model.save(tmp_path / "model")
    model.client.save_secret(tmp_path / "secret")
    loaded = ml.load(tmp_path / "model", clear)
    loaded.client.load_secret(tmp_path / "secret")
    reply = Server.load(tmp_path / "model").run(loaded.client.encrypt(X[:ROWS]), keys)
    assert np.abs(loaded.client.predict(reply) - clear.predict(X[:ROWS])).max() < 1e-3 * np.abs(y).max()
    with pytest.raises(noren.EncodingError, match="of another model"):
        ml.load(tmp_path / "model", xgb().fit(X[:100], y[:100] + 1))


def test_what_xgboost_takes_as_missing_is_refused() -> None:
    cities, y = np.array([["a"], ["b"], ["c"]] * 9), np.arange(27) % 3 * 2.0
    clear = make_pipeline(OneHotEncoder(), xgb(min_child_weight=0)).fit(cities, y)
    with pytest.raises(
        noren.EncodingError, match="sparse rows: XGBRegressor takes the features that they leave out as"
    ):
        compiled(clear, cities)
    clear = make_pipeline(OneHotEncoder(), lgb(min_child_samples=1)).fit(cities, y)
    assert np.abs(compiled(clear, cities).predict(cities) - clear.predict(cities)).max() < 0.01
    with pytest.raises(noren.EncodingError, match=r"with missing=0\.0: replace missing values before"):
        compiled(xgb(missing=0.0).fit(*DIABETES), DIABETES[0])


def of_categories(model: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    return model.fit(pandas.DataFrame({"city": pandas.Categorical(IRIS[1]), "age": IRIS[0][:, 0]}), IRIS[1] * 1.0)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "xgb linear": (lambda: xgb(booster="gblinear").fit(*IRIS), "booster='gblinear': 'gbtree' and 'dart' are taken"),
    "xgb vectors": (
        lambda: xgb(multi_strategy="multi_output_tree").fit(IRIS[0], IRIS[0][:, :2]),
        "leaves of several values: .* multi_strategy='one_output_per_tree'",
    ),
    "xgb categories": (lambda: of_categories(xgb(enable_categorical=True)), "by categories: encode them before"),
    "xgb objective": (
        lambda: xgb(objective="survival:cox").fit(*DIABETES),
        "'survival:cox': binary:logistic, .* taken",
    ),
    "xgb classes": (
        lambda: xgb("XGBClassifier", objective="reg:logistic").fit(IRIS[0], IRIS[1] > 0),
        "'reg:logistic', which has no classes: leave objective= out",
    ),
    "xgb labels": (
        lambda: xgb("XGBClassifier").fit(IRIS[0], IRIS[0][:, :2] > 3),
        "2 outputs for 2 classes: .* one for each label",
    ),
    "xgb stump": (lambda: xgb(max_depth=1, gamma=1e9).fit(*IRIS), "without a split give the same for all rows"),
    "xgb not fitted": (lambda: xgb("XGBClassifier"), "XGBClassifier: .* fit it first"),
    "xgb ranker": (
        lambda: xgb("XGBRanker").fit(*IRIS, qid=np.repeat([1, 2, 3], 50)),
        "XGBRanker is not taken: give .*XGBRegressor",
    ),
    "lgb linear": (lambda: lgb(linear_tree=True).fit(*IRIS), "linear_tree=True: fit it without"),
    "lgb categories": (lambda: of_categories(lgb()), "by categories: encode them before"),
    "lgb zeros": (lambda: lgb(zero_as_missing=True).fit(*IRIS), "zero_as_missing=True: fit it without"),
    "lgb ranks": (
        lambda: lgb("LGBMRanker").fit(*IRIS, group=[50, 50, 50]).booster_,
        "'lambdarank': binary, .*tweedie are taken",
    ),
    "lgb own objective": (
        lambda: lgb("LGBMClassifier", objective=lambda y, found: (found - y, np.ones_like(y))).fit(
            IRIS[0], IRIS[1] > 0
        ),
        "objective 'custom': binary, .* are taken",
    ),
    "lgb classes": (
        lambda: lgb("LGBMClassifier", objective="cross_entropy").fit(IRIS[0], IRIS[1] > 0),
        "'cross_entropy', which has no classes: leave objective= out",
    ),
    "lgb stump": (lambda: lgb(min_split_gain=1e9).fit(*IRIS), "without a split give the same for all rows"),
    "lgb not fitted": (lgb, "LGBMRegressor: .* fit it first"),
    "too large": (
        lambda: lgb(n_estimators=100, num_leaves=31, min_child_samples=1).fit(*DIABETES),
        "trees of 3000 splits and 3100 leaves, .* fit fewer trees",
    ),
    "class of that name": (lambda: type("XGBClassifier", (), {})(), "XGBClassifier is not taken"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_taken_is_named(name: str) -> None:
    model, words = REFUSED[name]
    with pytest.raises(noren.EncodingError, match=words):
        compiled(model(), IRIS[0])
