"""Models of scikit-learn: answers beside those of the model itself, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import ml
from noren.compiler import Server

datasets = pytest.importorskip("sklearn.datasets")

from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest  # noqa: E402
from sklearn.linear_model import (  # noqa: E402
    ElasticNet,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.naive_bayes import GaussianNB, MultinomialNB  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor  # noqa: E402
from sklearn.neural_network import MLPClassifier, MLPRegressor  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC  # noqa: E402
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402

DIABETES = datasets.load_diabetes(return_X_y=True)
IRIS = datasets.load_iris(return_X_y=True)
CANCER = datasets.load_breast_cancer(return_X_y=True)
ROWS = 12

REGRESSORS = {
    "linear": LinearRegression(),
    "scaled ridge": make_pipeline(StandardScaler(), Ridge()),
    "components": make_pipeline(RobustScaler(), PCA(4, whiten=True), ElasticNet(alpha=0.1)),
    "Poisson": PoissonRegressor(max_iter=1000),
    "neighbours": make_pipeline(MinMaxScaler(), KNeighborsRegressor(5, weights="distance")),
    "kernel": make_pipeline(StandardScaler(), SVR(kernel="rbf", C=50)),
    "tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": ExtraTreesRegressor(3, max_depth=3, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0),
    "histograms": HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=6),
    "network": make_pipeline(
        StandardScaler(), MLPRegressor(hidden_layer_sizes=(6,), activation="tanh", max_iter=30, random_state=0)
    ),
}
CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "ridge": RidgeClassifier(),
    "stochastic": make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
    "discriminant": LinearDiscriminantAnalysis(),
    "linear vectors": LinearSVC(random_state=0),
    "kernel": make_pipeline(StandardScaler(), SVC(kernel="rbf")),
    "polynomial kernel": make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2)),
    "linear kernel": SVC(kernel="linear", decision_function_shape="ovo"),
    "neighbours": KNeighborsClassifier(5),
    "Gaussian": GaussianNB(),
    "multinomial": MultinomialNB(),
    "network": make_pipeline(StandardScaler(), MLPClassifier(hidden_layer_sizes=(8,), max_iter=60, random_state=0)),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=5),
}


def compiled(model: Any, X: Any, **options: Any) -> ml.Model:
    return ml.compile(model, X, rows=ROWS, security=None, **options)


def answered(model: ml.Model, X: Any, method: str) -> Any:
    keys = model.client.keygen()
    reply = model.server.run(model.client.encrypt(X), keys)
    return getattr(model.client, method)(reply, rows=len(X))


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_are_those_of_scikit_learn(name: str) -> None:
    X, y = DIABETES
    clear = REGRESSORS[name].fit(X, y)
    model = compiled(clear, X)
    assert model.agreement.equal == 1.0
    expected = clear.predict(X[:7])
    tolerance = np.abs(clear.predict(X)).max() / 500
    assert np.abs(answered(model, X[:7], "predict") - expected).max() <= tolerance
    assert np.abs(model.predict(X[:30]) - clear.predict(X[:30])).max() <= tolerance
    assert model.score(X[:50], y[:50]) == pytest.approx(clear.score(X[:50], y[:50]), abs=0.02)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_are_those_of_scikit_learn(name: str) -> None:
    X, y = IRIS
    clear = CLASSIFIERS[name].fit(X, y)
    model = compiled(clear, X[::-1])
    rows = X[40:52]
    assert model.agreement.equal == 1.0
    assert (answered(model, rows, "predict") == clear.predict(rows)).all()
    assert model.score(X, y) == pytest.approx(clear.score(X, y), abs=0.01)
    for method in model.methods:
        found, expected = getattr(model, method)(rows) if hasattr(model, method) else None, getattr(clear, method)(rows)
        if found is not None and expected.dtype.kind == "f":
            assert np.abs(found - expected).max() <= max(np.abs(expected).max(), 1) / 100, method


@pytest.mark.parametrize("name", ["logistic", "kernel", "boosting", "histograms", "network"])
def test_two_classes_have_one_score(name: str) -> None:
    X, y = CANCER
    labels = np.array(["benign", "malignant"])[y]
    clear = CLASSIFIERS[name].fit(X[:, :6], labels)
    model = compiled(clear, X[:, :6])
    rows = X[100:112, :6]
    assert (answered(model, rows, "predict") == clear.predict(rows)).all()
    if "predict_proba" in model.methods:
        assert np.abs(model.predict_proba(rows) - clear.predict_proba(rows)).max() < 0.01


def test_leaves_are_rounded_relative_to_their_differences() -> None:
    X, y = DIABETES
    clear = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y + 1e6)
    assert np.abs(compiled(clear, X).predict(X) - clear.predict(X)).max() < np.ptp(y) / 1000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("clear", [GaussianNB(), KNeighborsClassifier(3), SVC(kernel="rbf", gamma=0.5)])
def test_features_may_be_far_from_zero(clear: Any, dtype: Any) -> None:
    X, y = IRIS
    rows = (X + 1e4).astype(dtype)
    assert compiled(clear.fit(rows, y), rows).agreement.equal == 1.0
    found, expected = compiled(clear, rows).predict(rows), clear.predict(rows.astype(float))
    assert (found == expected).mean() > 0.98


@pytest.mark.parametrize("features", [1, 4])
def test_outliers_are_those_of_an_isolation_forest(features: int) -> None:
    X = IRIS[0][:, :features]
    clear = IsolationForest(n_estimators=5, max_samples=32, max_features=min(3, features), random_state=0).fit(X)
    model = compiled(clear, X)
    assert model.agreement.equal == 1.0
    assert np.abs(model.decision_function(X[:20]) - clear.decision_function(X[:20])).max() < 1e-2


def test_scores_of_the_exponential_loss_are_half_the_logarithms_of_odds() -> None:
    X, y = CANCER
    clear = GradientBoostingClassifier(loss="exponential", n_estimators=3, max_depth=2, random_state=0).fit(X, y)
    assert np.abs(compiled(clear, X).predict_proba(X) - clear.predict_proba(X)).max() < 0.01


def test_scores_of_several_outputs_are_their_mean() -> None:
    X, y = DIABETES
    outputs = np.stack([y, np.random.default_rng(2).normal(size=len(y))], axis=1)
    clear = LinearRegression().fit(X, outputs)
    assert compiled(clear, X).score(X, outputs) == pytest.approx(clear.score(X, outputs), abs=0.01)


def test_transformers_give_components() -> None:
    X, _ = IRIS
    clear = make_pipeline(StandardScaler(), PCA(2)).fit(X)
    model = compiled(clear, X)
    assert np.abs(answered(model, X[:5], "transform") - clear.transform(X[:5])).max() < 1e-2


TRANSFORMERS = {
    "without means": StandardScaler(with_mean=False),
    "means alone": StandardScaler(with_std=False),
    "quartiles alone": RobustScaler(with_centering=False),
    "medians alone": RobustScaler(with_scaling=False),
    "selection": SelectKBest(k=2),
    "sparse rows": make_pipeline(OneHotEncoder(handle_unknown="ignore", max_categories=4), MaxAbsScaler()),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_do_what_their_options_say(name: str) -> None:
    X, y = IRIS
    clear = TRANSFORMERS[name].fit(X, y)
    expected = clear.transform(X[:9])
    expected = expected.toarray() if hasattr(expected, "toarray") else expected
    assert np.abs(compiled(clear, X).transform(X[:9]) - expected).max() < 1e-2


def test_components_that_are_rounding_errors_are_whitened_by_the_owner() -> None:
    X, y = DIABETES
    rows = np.hstack([X[:, :3], X[:, :1]])
    clear = make_pipeline(PCA(whiten=True), LinearRegression()).fit(rows, y)
    assert np.abs(compiled(clear, rows).predict(rows) - clear.predict(rows)).max() < np.ptp(y) / 1000
    with pytest.raises(noren.EncodingError, match="no linear map"):
        compiled(clear[:1], rows)


def test_weights_that_cancel_out_to_their_roundings_are_refused() -> None:
    X, y = DIABETES
    rows = np.hstack([X[:, :3], X[:, :1]])
    clear = make_pipeline(PCA(), MaxAbsScaler()).fit(rows)
    # The last component has no spread: what a scaler makes as large as others is rounding errors.
    clear[1].scale_[-1] = 2.0**-60
    with pytest.raises(noren.EncodingError, match=r"off by up to .* rounded to double precision.* without spread"):
        compiled(clear, rows)
    machine = SVC(kernel="linear").fit(X, y > np.median(y))
    assert compiled(machine, X).agreement.equal == 1.0
    machine.support_vectors_ = np.vstack([machine.support_vectors_, X[:1], X[:1]])
    machine.dual_coef_ = np.hstack([machine.dual_coef_, [[1e15, -1e15]]])
    with pytest.raises(noren.EncodingError, match="rounded to double precision"):
        compiled(machine, X)


def test_models_of_float32_are_computed_as_if_of_doubles() -> None:
    X, y = IRIS
    rows = (X + 1e4).astype(np.float32)
    clear = make_pipeline(MaxAbsScaler(), LinearRegression()).fit(rows, y)
    last = clear[-1]
    assert clear[0].scale_.dtype == last.coef_.dtype == np.float32
    expected = rows.astype(float) / clear[0].scale_.astype(float) @ last.coef_.astype(float) + float(last.intercept_)
    found = compiled(clear, rows, precision=2.0**-20).predict(rows)
    assert np.abs(found - expected).max() < 2.0**-20 * np.abs(expected).max()


def test_models_that_were_fitted_on_lists_are_compared_on_lists() -> None:
    rows = [[float(k % 3), float(k)] for k in range(30)]
    columns = ColumnTransformer([("scaled", StandardScaler(), [1]), ("given", "passthrough", [0])])
    clear = make_pipeline(columns, OneHotEncoder(max_categories=3, sparse_output=False), StandardScaler()).fit(rows)
    with pytest.raises(TypeError):
        clear.transform(np.array(rows))
    assert np.abs(compiled(clear, rows).transform(rows) - clear.transform(rows)).max() < 1e-2


SPARSE = {
    "kernel": SVC(kernel="poly", degree=2),
    "linear kernel": SVC(kernel="linear"),
    "neighbours": KNeighborsClassifier(3),
    "forest": RandomForestClassifier(2, max_depth=2, random_state=0),
    "linear": LogisticRegression(),
}


@pytest.mark.parametrize("name", SPARSE)
def test_models_are_fitted_on_sparse_rows(name: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.6)
    y = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    for given in (sparse.csr_matrix(rows), sparse.coo_matrix(rows)):
        clear = SPARSE[name].fit(given, y)
        model = compiled(clear, given)
        assert model.agreement.equal == 1.0
        assert (model.predict(given) == clear.predict(given)).mean() > 0.95


def test_owners_do_steps_in_clear_that_are_no_linear_maps() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    table = pandas.DataFrame({"age": rng.uniform(20, 80, 60), "city": rng.choice(["a", "b", "c"], 60)})
    y = table.age * 2 + (table.city == "b") * 30
    columns = ColumnTransformer([("number", StandardScaler(), ["age"]), ("place", OneHotEncoder(), ["city"])])
    clear = Pipeline([("columns", columns), ("model", Ridge())]).fit(table, y)
    model = compiled(clear, table)
    found = answered(model, table.iloc[:4], "predict")
    assert np.abs(found - clear.predict(table.iloc[:4])).max() < 0.5


@pytest.mark.parametrize("last", [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)])
def test_steps_that_pass_rows_through_are_left_out(last: Any) -> None:
    rows = np.array([["a"], ["b"], ["c"]] * 10)
    clear = make_pipeline("passthrough", OneHotEncoder(sparse_output=False), "passthrough", last)
    clear.fit(rows, rows[:, 0] == "b")
    assert (compiled(clear, rows).predict(rows) == clear.predict(rows)).all()


def test_pipelines_may_have_pipelines_and_searches_as_steps() -> None:
    X, y = IRIS
    before = make_pipeline(StandardScaler(), "passthrough", make_pipeline(PCA(3), "passthrough"))
    search = GridSearchCV(make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=500)), {}, cv=2)
    clear = make_pipeline(before, search).fit(X, y)
    assert (answered(compiled(clear, X), X[:4], "predict") == clear.predict(X[:4])).all()


def test_steps_of_the_owner_may_give_numbers_of_several_types() -> None:
    X, y = IRIS
    kept = ColumnTransformer([("number", StandardScaler(), [0]), ("rest", "passthrough", [1, 2])])
    clear = make_pipeline(kept, RidgeClassifier())
    rows = [[float(row[0]), int(row[1]), bool(row[2] > 3)] for row in X]
    assert (compiled(clear.fit(rows, y), rows).predict(rows) == clear.predict(rows)).all()


def test_searches_give_the_best_of_their_models() -> None:
    X, y = IRIS
    search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert compiled(search, X).agreement.equal == 1.0


def test_rows_outside_of_ranges_are_refused_by_row_and_feature() -> None:
    X, y = IRIS
    model = compiled(LogisticRegression(max_iter=500).fit(X, y), X)
    rows = X[:6].copy()
    rows[2, 1] = 400
    with pytest.raises(noren.RangeError, match=r"1 of 6 rows .* row 2 first: feature 1 is 400, from .* was compiled"):
        model.client.encrypt(rows)
    for wrong, words in [
        (X[:20], "20 rows, a request has 12"),
        (X[:3, :2], "2 features, 4 were compiled"),
        (X[0], r"shape \(4,\): a table is needed"),
        (np.where(rows == 400, np.nan, rows), "row 2, feature 1, is nan"),
    ]:
        with pytest.raises(noren.EncodingError, match=words):
            model.client.encrypt(wrong)


def test_examples_are_within_their_range_without_a_margin() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        rows = rng.normal(size=(9, 20)) * 10.0 ** rng.integers(-6, 3, 20) + 10.0 ** rng.integers(0, 5, 20)
        clear = MaxAbsScaler().fit(rows)
        assert compiled(clear, rows, margin=0).agreement.rows == 9


def test_rows_that_the_model_itself_does_not_take_are_refused() -> None:
    X, y = IRIS
    wide = np.hstack([X, X])
    for clear in (LinearRegression(), DecisionTreeClassifier(max_depth=2)):
        with pytest.raises(noren.EncodingError, match=f"examples of 8 features, {type(clear).__name__} was .* with 4"):
            compiled(clear.fit(X, y), wide)
    clear = make_pipeline(StandardScaler(), PowerTransformer(), Ridge()).fit(X, y)
    for rows, words in [
        (wide, "StandardScaler, .*: X has 8 features"),
        (np.full((3, 4), "a"), "StandardScaler, .*'a'"),
    ]:
        with pytest.raises(noren.EncodingError, match=words):
            compiled(clear, rows)
        with pytest.raises(noren.EncodingError, match=words):
            compiled(clear, X).client.encrypt(rows)


def test_what_is_not_taken_is_named() -> None:
    X, y = IRIS
    gaussian = pytest.importorskip("sklearn.gaussian_process")
    for model, words in [
        (gaussian.GaussianProcessClassifier().fit(X, y), "GaussianProcessClassifier is not taken: give one of"),
        (LogisticRegression(), "LogisticRegression: .* fit it first"),
        (KNeighborsClassifier(metric="manhattan").fit(X, y), "the metric 'manhattan'"),
        (ExtraTreesRegressor(80, random_state=0).fit(X, X[:, 0]), r"trees of \d+ splits .* fit fewer trees"),
        (SVC(kernel="precomputed").fit(X @ X.T, y), "the kernel 'precomputed'"),
        (SVR(epsilon=9.0).fit(X, y), "SVR without support vectors"),
        (GaussianNB().fit(np.ones_like(X), y), "GaussianNB with a variance of 0"),
    ]:
        with pytest.raises(noren.EncodingError, match=words):
            ml.compile(model, X, security=None)
    with pytest.raises(noren.EncodingError, match="margin=-1"):
        ml.compile(LogisticRegression().fit(X, y), X, margin=-1)
    model = compiled(LinearRegression().fit(X, y), X)
    with pytest.raises(AttributeError, match="no predict_proba: it has predict"):
        model.predict_proba(X)


@pytest.mark.parametrize("name", ["forest", "components"])
def test_models_are_read_from_files_beside_their_estimators(name: str, tmp_path: Path) -> None:
    X, y = DIABETES
    clear = REGRESSORS[name].fit(X, y)
    model = ml.compile(clear, X[:50], rows=ROWS)
    keys = model.client.keygen()
    model.save(tmp_path / "model")
    model.client.save_secret(tmp_path / "secret")
    loaded = ml.load(tmp_path / "model", clear)
    assert loaded.agreement == model.agreement
    loaded.client.load_secret(tmp_path / "secret")
    reply = Server.load(tmp_path / "model").run(loaded.client.encrypt(X[:ROWS]), keys)
    for client in (loaded.client, model.client):
        found = client.predict(reply)
        assert np.abs(found - clear.predict(X[:ROWS])).max() < 1e-3 * np.abs(y).max()
    other = REGRESSORS[name].fit(X[:100], y[:100] + 1)
    for wrong in (other, REGRESSORS["linear"].fit(X[:, :3], y), REGRESSORS["kernel"].fit(X, y)):
        with pytest.raises(noren.EncodingError, match="of another model"):
            ml.load(tmp_path / "model", wrong)
    noren.compile(lambda x: x + 1, noren.Input(3, 0, 9)).save(tmp_path / "function")
    with pytest.raises(noren.EncodingError, match="the program of a function"):
        ml.load(tmp_path / "function", clear)


def test_steps_of_the_owner_tell_models_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = np.stack([rng.choice(["a", "b"], 60), rng.choice(["c", "d"], 60)], axis=1)
    y = (rows[:, 0] == "a").astype(int)
    clear = make_pipeline(OneHotEncoder(sparse_output=False), LogisticRegression()).fit(rows, y)
    ml.compile(clear, rows, rows=ROWS).save(tmp_path / "model")
    assert (ml.load(tmp_path / "model", clear).predict(rows) == y).all()
    renamed = np.where(rows == "a", "z", rows)
    with pytest.raises(noren.EncodingError, match="of another model"):
        ml.load(tmp_path / "model", make_pipeline(OneHotEncoder(sparse_output=False), clear[-1]).fit(renamed, y))


def test_votes_of_neighbours_are_counted_at_the_server(tmp_path: Path) -> None:
    X, y = IRIS
    clear = make_pipeline(StandardScaler(), KNeighborsClassifier(3)).fit(X[::5], y[::5])
    model = ml.compile(clear, X[::5], rows=3, security=None, vote="server", margin=0.25)
    assert model.agreement.equal == 1.0
    assert model.methods == ("predict", "predict_proba")
    rows = X[1::20]
    assert (model.predict(rows, seed=bytes(32)) == clear.predict(rows)).mean() > 0.8
    votes = model.compiled.simulate(model._encoding.filled(rows[:3]), seed=bytes(32))
    # Nothing but a number for each class.
    assert votes.shape == (3, 3)
    assert np.abs(votes.sum(axis=1) - 3).max() < 1.5
    model.save(tmp_path / "model")
    assert (
        ml.load(tmp_path / "model", clear, min_security=0).predict(rows, seed=bytes(32)) == clear.predict(rows)
    ).any()


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (KNeighborsClassifier(3, weights="distance"), {"vote": "server"}, "uniform"),
        (LogisticRegression(), {"vote": "server"}, "KNeighborsClassifier has votes"),
        (KNeighborsClassifier(3), {"vote": "client"}, "owner"),
    ],
)
def test_other_votes_are_refused(model: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(noren.EncodingError, match=message):
        compiled(model.fit(*IRIS), IRIS[0], **options)
