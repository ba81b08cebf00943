"""Boosted trees of XGBoost and LightGBM, read from what both libraries write of a model.

Neither library is imported: a model is known by the name and the package of its class.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from noren._answers import Answers, Array, after, classifier, flat, probabilities, regressor, softmax
from noren._noren import EncodingError
from noren._trees import Ensemble, Tree, in_output
from noren.compiler import sigmoid

NAMES = ["LGBMClassifier", "LGBMRegressor", "XGBClassifier", "XGBRFClassifier", "XGBRFRegressor", "XGBRegressor"]
"""The estimators that are taken, beside the `Booster` of each library."""

NEAR_ZERO = float(np.float32(1e-35))
"""LightGBM takes features whose absolute value is at most this as zeros (its kZeroThreshold)."""


class Link(NamedTuple):
    """What an objective makes of the sums of leaves, and of the score that a model begins with."""

    of: Callable[[Array], Array]
    """Predictions from sums, in a column for each output."""
    margin: Callable[[Array], Array] = np.asarray
    """The sum that XGBoost begins with, from the prediction that it keeps in the file."""
    proba: Callable[[Array], Array] | None = None
    """The probabilities of classes from sums, for objectives that classify."""


_IDENTITY = Link(np.asarray)
_LOG = Link(np.exp, np.log)
_SOFTMAX = Link(softmax, proba=softmax)


def _logit(shares: Array) -> Array:
    return np.asarray(np.log(shares / (1 - shares)))


_LOGISTIC = Link(sigmoid, _logit, probabilities)

_XGBOOST: Mapping[str, Link] = {
    "binary:logistic": _LOGISTIC,
    "count:poisson": _LOG,
    "multi:softmax": Link(lambda sums: sums.argmax(axis=1, keepdims=True).astype(np.float32), proba=softmax),
    "multi:softprob": _SOFTMAX,
    "reg:absoluteerror": _IDENTITY,
    "reg:gamma": _LOG,
    "reg:logistic": _LOGISTIC._replace(proba=None),
    "reg:pseudohubererror": _IDENTITY,
    "reg:quantileerror": _IDENTITY,
    "reg:squarederror": _IDENTITY,
    "reg:squaredlogerror": _IDENTITY,
    "reg:tweedie": _LOG,
}


def _scaled_logistic(scale: float) -> Link:
    return Link(lambda sums: sigmoid(scale * sums), proba=lambda sums: probabilities(scale * sums))


def _one_against_all(scale: float) -> Link:
    return Link(lambda sums: sigmoid(scale * sums), proba=lambda sums: sigmoid(scale * sums))


_LIGHTGBM: Mapping[str, Callable[[float], Link]] = {
    "binary": _scaled_logistic,
    "cross_entropy": lambda _: _LOGISTIC._replace(proba=None),
    "cross_entropy_lambda": lambda _: Link(lambda sums: np.logaddexp(0, sums)),
    "multiclass": lambda _: _SOFTMAX,
    "multiclassova": _one_against_all,
    **dict.fromkeys(["gamma", "poisson", "tweedie"], lambda _: _LOG),
    **dict.fromkeys(["fair", "huber", "mape", "quantile", "regression", "regression_l1"], lambda _: _IDENTITY),
}
"""The links of objectives, from the parameter `sigmoid`."""


def reader(model: Any) -> Callable[[Any], Ensemble] | None:
    """Return what reads a model of one of the two libraries; None for other models."""
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in _READERS and (base.__name__ == "Booster" or base.__name__ in NAMES):
            return _READERS[library]
    return None


def _xgboost(model: Any) -> Ensemble:
    name, is_estimator = type(model).__name__, hasattr(model, "get_booster")
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise EncodingError(
            f"{name} with missing={missing}: replace missing values before, and fit it without missing="
        )
    learner = json.loads((model.get_booster() if is_estimator else model).save_raw("json"))["learner"]
    booster = learner["gradient_booster"]
    if booster["name"] not in ("gbtree", "dart"):
        raise EncodingError(f"{name} with booster={booster['name']!r}: 'gbtree' and 'dart' are taken")
    own = booster.get("gbtree", booster)["model"]
    weights = booster.get("weight_drop", np.ones(len(own["trees"])))
    parameters = learner["learner_model_param"]
    # A number, or in newer versions a list with one for each output.
    first = np.atleast_1d(np.asarray(json.loads(parameters["base_score"]), dtype=float))
    outputs = max(1, len(first), int(parameters["num_class"]), int(parameters.get("num_target", 1)))
    rounds = _rounds(learner["attributes"].get("best_iteration"), own, outputs) if is_estimator else len(own["trees"])
    trees = [
        in_output(_xgboost_tree(name, tree, weight), output, outputs)
        for tree, weight, output in list(zip(own["trees"], weights, own["tree_info"], strict=True))[:rounds]
    ]
    objective = learner["objective"]["name"]
    if objective not in _XGBOOST:
        raise _unknown(name, objective, _XGBOOST)
    link = _XGBOOST[objective]
    answers = after(lambda sums: sums + link.margin(first), _answers(model, objective, link, outputs))
    return Ensemble(trees, answers, np.float32, partial(_accepted_by_xgboost, name, learner.get("feature_names")))


def _rounds(best: str | None, own: Mapping[str, Any], outputs: int) -> int:
    """Return how many trees predictions take: those up to the best iteration, where training stopped early."""
    if best is None:
        return len(own["trees"])
    if "iteration_indptr" in own:
        return int(own["iteration_indptr"][int(best) + 1])
    return (int(best) + 1) * outputs * int(own["gbtree_model_param"]["num_parallel_tree"])


def _xgboost_tree(name: str, tree: Mapping[str, Any], weight: float) -> Tree:
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise EncodingError(
            f"{name} with leaves of several values: fit it with multi_strategy='one_output_per_tree', or one for each"
        )
    if any(tree.get("split_type", [])):
        raise _categories(name)
    left, conditions = np.asarray(tree["left_children"]), np.asarray(tree["split_conditions"], dtype=np.float32)
    feature = np.where(left >= 0, np.asarray(tree["split_indices"], dtype=np.int64), -1)
    # Rows go left below a threshold, so at most at the largest number below it.
    threshold = np.nextafter(conditions, np.float32(-np.inf))
    values = weight * conditions.astype(float)[:, np.newaxis]
    return Tree(feature, threshold, left, np.asarray(tree["right_children"]), values)


def _accepted_by_xgboost(name: str, names: Sequence[str], rows: Any) -> None:
    if hasattr(rows, "toarray"):
        raise EncodingError(
            f"sparse rows: {name} takes the features that they leave out as missing; give dense ones, such as by "
            "OneHotEncoder(sparse_output=False)"
        )
    found = [str(column) for column in getattr(rows, "columns", names or [])]
    if names and found != list(names):
        raise EncodingError(f"columns {', '.join(found)}: {name} was fitted on {', '.join(names)}, in this order")


def _lightgbm(model: Any) -> Ensemble:
    name = type(model).__name__
    # Without a number of iterations both write and predict up to the best one.
    dump = getattr(model, "booster_", model).dump_model()
    outputs, structures = dump["num_tree_per_iteration"], [tree["tree_structure"] for tree in dump["tree_info"]]
    share = outputs / len(structures) if dump["average_output"] else 1.0
    trees = [in_output(_lightgbm_tree(name, root, share), at % outputs, outputs) for at, root in enumerate(structures)]
    # Without an objective, which was a function of its owner, predictions are sums.
    objective, *options = dump.get("objective", "regression" if not hasattr(model, "classes_") else "custom").split()
    if objective not in _LIGHTGBM:
        raise _unknown(name, objective, _LIGHTGBM)
    scale = next((float(option.partition(":")[2]) for option in options if option.startswith("sigmoid:")), 1.0)
    link = _LIGHTGBM[objective](scale)
    if "sqrt" in options:
        link = Link(lambda sums: np.sign(sums) * sums**2)
    return Ensemble(trees, _answers(model, objective, link, outputs), np.float64)


def _lightgbm_tree(name: str, root: Mapping[str, Any], share: float) -> Tree:
    nodes, left = [root], []
    for node in nodes:
        is_split = "split_feature" in node
        left.append(len(nodes) if is_split else -1)
        if is_split:
            nodes += [node["left_child"], node["right_child"]]
        if "leaf_coeff" in node:
            raise EncodingError(f"{name} with linear_tree=True: fit it without linear trees")
        if node.get("decision_type", "<=") != "<=":
            raise _categories(name)
        if node.get("missing_type") == "Zero":
            raise EncodingError(f"{name} with zero_as_missing=True: fit it without, so that zeros are numbers")
    threshold = np.array([_threshold(node.get("threshold", 0.0)) for node in nodes])
    values = share * np.array([node.get("leaf_value", 0.0) for node in nodes])[:, np.newaxis]
    feature, below = np.array([node.get("split_feature", -1) for node in nodes]), np.array(left)
    return Tree(feature, threshold, below, np.where(below < 0, -1, below + 1), values)


def _threshold(number: float) -> float:
    """Return the largest feature that goes left, of those that LightGBM does not take as zeros."""
    if abs(number) > NEAR_ZERO:
        return number
    return NEAR_ZERO if number >= 0 else float(np.nextafter(-NEAR_ZERO, -np.inf))


def _answers(model: Any, objective: str, link: Link, outputs: int) -> Answers:
    """Return the methods of a model from sums, in a column for each output."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return regressor(lambda sums: np.asarray(flat(link.of(sums))))
    name, count = type(model).__name__, len(classes)
    if link.proba is None:
        raise EncodingError(f"{name} with the objective {objective!r}, which has no classes: leave objective= out")
    if outputs != (1 if count == 2 else count):
        raise EncodingError(
            f"{name} with {outputs} outputs for {count} classes: leave objective= out, and fit one for each label"
        )
    answers = dict(classifier(classes, link.proba))
    del answers["decision_function"]
    return answers


def _categories(name: str) -> EncodingError:
    return EncodingError(f"{name} with splits by categories: encode them before, and fit it on numbers")


def _unknown(name: str, objective: str, known: Mapping[str, Any]) -> EncodingError:
    return EncodingError(f"{name} with the objective {objective!r}: {', '.join(sorted(known))} are taken")


_READERS: Mapping[str, Callable[[Any], Ensemble]] = {"lightgbm": _lightgbm, "xgboost": _xgboost}
