"""Answers of fitted estimators on rows, with what an error of their scores makes of them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz_api.estimators import Fitted, dense
from fuzz_api.verdict import Finding

Array = NDArray[Any]

LEAVES = 2.0**-10
"""The error of the sum of leaves, relative to the largest of them."""
PRECISIONS = {"MLPClassifier": 2.0**-6, "KNeighborsClassifier": 2.0**-20, "KNeighborsRegressor": 2.0**-20}
"""The usual error of scores, relative to the largest of the examples, where it is not 2^-12."""
SAME = 2.0**-16
"""Squared distances relative to the largest, from which on none is taken for that of the same row."""
LINKS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "logistic": lambda s: 1 / (1 + np.exp(-s)),
    "softplus": lambda s: np.logaddexp(0, s),
    "square": lambda s: np.sign(s) * s**2,
    "none": lambda s: s,
}


def columns(scores: Any) -> Array:
    """Return scores as a table of float64."""
    array = np.asarray(dense(scores), dtype=float)
    return array.reshape(len(array), -1)


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class Truth:
    """The answers of an estimator, and the error that its scores may have."""

    def __init__(self, fitted: Fitted, precision: float | None) -> None:
        self.fitted = fitted
        with np.errstate(all="ignore"):
            largest = float(np.abs(self.scores(fitted.examples)).max())
            if fitted.is_trees:
                self.error = LEAVES * largest_leaf(fitted.last) + 1e-6 * largest
            else:
                relative = PRECISIONS.get(fitted.name, 2.0**-12) if precision is None else precision
                self.error = relative * max(largest, 2.0**-40) + 1e-12 * largest

    def scores(self, rows: Any) -> Array:
        """Return what is decrypted of rows, in clear."""
        fitted, last, name = self.fitted, self.fitted.last, self.fitted.name
        if "Neighbors" in name:
            return self._distances(rows, whole=last.weights == "distance")
        rows = fitted.before(rows)
        if name in ("GaussianNB", "MultinomialNB"):
            return columns(last.predict_joint_log_proba(rows))
        if name.startswith("MLP"):
            return perceptrons(last, rows)
        if name in ("SVC", "NuSVC"):
            pairs = copy.copy(last)
            pairs.decision_function_shape, pairs.break_ties = "ovo", False
            return columns(pairs.decision_function(rows))
        if name in ("PoissonRegressor", "GammaRegressor", "TweedieRegressor"):
            return columns(np.asarray(rows, dtype=float) @ last.coef_ + last.intercept_)
        if type(last).__module__.startswith("xgboost"):
            if name == "Booster":
                return columns(last.inplace_predict(rows, predict_type="margin"))
            return columns(last.predict(rows, output_margin=True))
        if type(last).__module__.startswith("lightgbm"):
            return columns(last.predict(rows, raw_score=True))
        if name == "HistGradientBoostingRegressor":
            return columns(last._raw_predict(rows))
        if name == "IsolationForest":
            return columns(last.score_samples(rows))
        if hasattr(last, "decision_function"):
            return columns(last.decision_function(rows))
        for method in ("predict_proba", "predict", "transform"):
            if hasattr(last, method):
                return columns(getattr(last, method)(rows))
        raise AssertionError(name)

    def _distances(self, rows: Any, *, whole: bool = True) -> Array:
        """Return squared distances to all examples; less that to their mean unless they are whole."""
        points = np.asarray(dense(self.fitted.last._fit_X), dtype=np.longdouble)
        own = np.asarray(self.fitted.before(rows), dtype=np.longdouble)
        found = ((own[:, np.newaxis] - points) ** 2).sum(axis=2)
        lengths = ((own - points.mean(axis=0)) ** 2).sum(axis=1, keepdims=True)
        return np.asarray(found if whole else found - lengths, dtype=float)

    def link(self) -> Callable[[Array], Array]:
        """Return what makes predictions of the scores of a regressor."""
        last, name = self.fitted.last, self.fitted.name
        if name in ("PoissonRegressor", "GammaRegressor", "TweedieRegressor"):
            return lambda scores: np.asarray(last._base_loss.link.inverse(scores))
        if name == "HistGradientBoostingRegressor":
            return LINKS["exp" if last.loss in ("poisson", "gamma") else "none"]
        if type(last).__module__.startswith("xgboost"):
            config = json.loads((last if name == "Booster" else last.get_booster()).save_config())
            objective = config["learner"]["objective"]["name"]
            if objective.startswith("multi"):
                return softmax
            kinds = {"count:poisson": "exp", "reg:gamma": "exp", "reg:tweedie": "exp", "binary:logistic": "logistic"}
            return LINKS[kinds.get(objective, "none")]
        if type(last).__module__.startswith("lightgbm"):
            objective, *options = getattr(last, "booster_", last).dump_model()["objective"].split()
            if objective == "multiclass":
                return softmax
            kinds = {
                "poisson": "exp",
                "gamma": "exp",
                "tweedie": "exp",
                "binary": "logistic",
                "multiclassova": "logistic",
            }
            return LINKS["square" if "sqrt" in options else kinds.get(objective, "none")]
        return LINKS["none"]

    def check(self, method: str, rows: Any, found: Any) -> float:
        """Raise a Finding for answers of a method that the error of scores does not explain; return error/bound."""
        model = self.fitted.model
        is_short = bool(np.any(getattr(rows, "dtypes", getattr(rows, "dtype", None)) == np.float32))
        if is_short and not self.fitted.is_trees:
            # The library would compute with seven digits.
            if not self.fitted.is_folded:
                # So it does in steps of the owner, and in no others.
                return 0.0
            rows = rows.astype(float)
            model = model if "Neighbors" in self.fitted.name else widened(model)
        with np.errstate(all="ignore"):
            own = getattr(model, method)
            if self.fitted.name == "Booster" and hasattr(self.fitted.model, "inplace_predict"):
                own = self.fitted.model.inplace_predict
            expected = np.asarray(dense(own(rows)))
            found = np.asarray(found)
            if found.shape != expected.shape:
                raise Finding("wrong", f"{method} of shape {found.shape}, {expected.shape} is right")
            if found.dtype.kind not in expected.dtype.kind + "f" and expected.dtype.kind == "f":
                raise Finding("wrong", f"{method} of type {found.dtype}, {expected.dtype} is right")
            if "Neighbors" in self.fitted.name:
                return self._check_neighbours(rows, found, expected)
            if method == "predict" and (hasattr(self.fitted.last, "classes_") or self.fitted.name == "IsolationForest"):
                return self._check_labels(rows, found, expected)
            return self._check_numbers(method, rows, found, expected)

    def near(self, rows: Any) -> NDArray[np.bool_]:
        """Return which rows may go to two classes."""
        scores, error = self.scores(rows), self.error * 1.0001
        last, name = self.fitted.last, self.fitted.name
        if name in ("SVC", "NuSVC") and scores.shape[1] > 1:
            close = (np.abs(scores) <= error).any(axis=1)
            if last.break_ties:
                confidences = np.sort(last.decision_function(self.fitted.before(rows)), axis=1)
                close |= confidences[:, -1] - confidences[:, -2] <= 2 * len(last.classes_) * error
            return np.asarray(close)
        if name == "IsolationForest":
            return np.asarray(np.abs(scores[:, 0] - last.offset_) <= self._outliers())
        if scores.shape[1] == 1:
            return np.asarray(np.abs(scores[:, 0]) <= error)
        two = np.sort(scores, axis=1)
        return np.asarray(two[:, -1] - two[:, -2] <= 2 * error)

    def _outliers(self) -> float:
        """Return the error of the scores of an isolation forest: 2^-(depth / usual depth)."""
        many = self.fitted.last._max_samples
        usual = 1.0 if many <= 2 else 2 * (np.log(many - 1) + np.euler_gamma) - 2 * (many - 1) / many
        return float(self.error / usual)

    def _check_labels(self, rows: Any, found: Array, expected: Array) -> float:
        wrong = (found != expected) & ~self.near(rows)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            scores = self.scores(rows)[at]
            raise Finding(
                "wrong",
                f"row {at} is {found[at]!r}, {expected[at]!r} is right, scores {scores} within {self.error:.3g}",
            )
        return 0.0

    def _check_numbers(self, method: str, rows: Any, found: Array, expected: Array) -> float:
        """Compare numbers, which lie between those of scores that are less or more by the error."""
        scores, error, name = self.scores(rows), self.error, self.fitted.name
        if method == "decision_function" and name in ("SVC", "NuSVC") and scores.shape[1] > 1:
            if self.fitted.last.decision_function_shape == "ovr":
                near = (np.abs(scores) <= error).any(axis=1)
                found, expected = found[~near], expected[~near]
                error *= scores.shape[1]
            width = np.full(expected.shape, error)
        elif name == "IsolationForest":
            width = np.full(expected.shape, self._outliers())
        elif method == "predict_proba" or (method == "predict" and self.link() is softmax):
            # A probability changes by at most half of what scores do, and shares that are made to sum to 1 by twice.
            is_share = self.fitted.is_trees and not hasattr(self.fitted.last, "decision_function")
            width = np.full(expected.shape, error * (4 if is_share and "Tree" in name + "Tree" else 1))
        elif method == "predict":
            link, shape = self.link(), expected.shape
            low, high = link(scores - error).reshape(shape), link(scores + error).reshape(shape)
            width = np.maximum(np.abs(high - expected), np.abs(expected - low))
        else:
            width = np.full(expected.shape, error)
        width = width + 2e-6 * np.abs(expected) * (expected.dtype.itemsize < 8) + 1e-9 * np.abs(expected) + 1e-300
        differences = np.abs(found - expected)
        if not (differences <= width * 1.001).all():
            at = np.unravel_index(int(np.argmax(differences / width)), found.shape)
            raise Finding("wrong", f"{method} {found[at]!r} for {expected[at]!r}, {width[at]:.3g} is the error stated")
        return float((differences / width).max(initial=0.0))

    def _check_neighbours(self, rows: Any, found: Array, expected: Array) -> float:
        """Compare rows whose nearest examples are so whatever the errors of distances are."""
        last, error = self.fitted.last, self.error
        distances = self._distances(rows)
        count = last.n_neighbors
        ends = np.sort(distances, axis=1)
        # The library does it in float64.
        noise = error + 1e-13 * (np.asarray(dense(last._fit_X), dtype=float) ** 2).sum(axis=1).max()
        sure = ends[:, count] - ends[:, count - 1] > 2 * noise if count < ends.shape[1] else np.ones(len(ends), bool)
        width = np.zeros(len(ends))
        if last.weights == "distance":
            largest, nearest = ends[:, -1], ends[:, 0]
            sure &= nearest > SAME * largest
            # Weights are 1 / sqrt(d).
            width = np.where(sure, 2 * noise / np.where(sure, nearest, 1), 1.0)
            sure &= width < 0.1
        if hasattr(last, "classes_"):
            if found.ndim == 1:
                shares = np.sort(self.fitted.model.predict_proba(rows), axis=1)
                sure &= shares[:, -1] - shares[:, -2] > 2 * width if shares.shape[1] > 1 else True
                wrong = sure & (found != expected)
            else:
                wrong = sure & (np.abs(found - expected).max(axis=1) > width + 1e-9)
        else:
            size = np.abs(np.asarray(last._y)).max()
            wrong = sure & (columns(np.abs(found - expected)).max(axis=1) > (2 * width + 1e-9) * size)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise Finding("wrong", f"row {at} is {found[at]!r}, {expected[at]!r} is right, distances {ends[at, :6]}")
        return 0.0


def widened(model: Any) -> Any:
    """Return a copy whose fitted numbers have double precision."""

    def wide(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.astype(float) if value.dtype == np.float32 else value
        if type(value) in (list, tuple):
            return type(value)(map(wide, value))
        if hasattr(value, "get_params"):
            for name, own in list(vars(value).items()):
                vars(value)[name] = wide(own)
        return value

    return wide(copy.deepcopy(model))


def perceptrons(last: Any, rows: Any) -> Array:
    """Return the scores of a network."""
    of: dict[str, Callable[[Array], Array]] = {
        "identity": lambda s: s,
        "relu": lambda s: np.maximum(s, 0),
        "tanh": np.tanh,
        "logistic": LINKS["logistic"],
    }
    found = np.asarray(rows, dtype=float) @ last.coefs_[0] + last.intercepts_[0]
    for weights, offset in zip(last.coefs_[1:], last.intercepts_[1:], strict=True):
        found = of[last.activation](found) @ weights + offset
    return np.asarray(found)


def largest_leaf(last: Any) -> float:
    """Return the largest absolute value of a leaf, as it is summed."""
    name = type(last).__name__
    if type(last).__module__.startswith("xgboost"):
        dump = "".join((last if name == "Booster" else last.get_booster()).get_dump(dump_format="json"))
        return max(abs(float(leaf)) for leaf in re.findall(r'"leaf": ?([^ ,}]+)', dump))
    if type(last).__module__.startswith("lightgbm"):
        dump = json.dumps(getattr(last, "booster_", last).dump_model())
        return max(abs(float(leaf)) for leaf in re.findall(r'"leaf_value": ?([^ ,}]+)', dump))
    if name.startswith("Hist"):
        return float(max(np.abs(tree.nodes["value"]).max() for row in last._predictors for tree in row))
    members = np.ravel(getattr(last, "estimators_", [last]))
    if name == "IsolationForest":
        # Depths, and the usual depth of what is left.
        return float(max(tree.tree_.max_depth for tree in members) + 2 * np.log(last._max_samples)) / len(members)
    largest = float(max(np.abs(tree.tree_.value).max() for tree in members))
    if name.startswith("GradientBoosting"):
        return largest * float(last.learning_rate)
    return (1.0 if hasattr(last, "classes_") else largest) / len(members)
