"""Trees and their ensembles as functions of encrypted integers; those of scikit-learn are read here.

A split asks whether a feature is at most a threshold: whether its rank, the number of thresholds of the feature below
it, is at most the place of the threshold. The owner encrypts ranks, on which trees answer as on the feature itself.
Thresholds of one feature come in groups of `GROUP`, each with a rank of its own, so that a comparison is a polynomial
of few levels.

The server computes the bits of all splits; for each leaf how many splits of its path point elsewhere, as a product with
a matrix; and adds the values of the leaves for which that is 0, as whole numbers of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from noren._answers import Answers, Array, after, classifier, probabilities, regressor
from noren._noren import EncodingError
from noren.compiler import table

NAMES = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "IsolationForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
"""The estimators that are taken."""

GROUP = 15
"""The most thresholds that a rank counts."""
MOST = 1 << 21
"""The most splits times leaves: in larger matrices the compiler does not bound the sums of each column by itself."""
STEPS = 1 << 10
"""The sum of the values of all trees is off by at most its largest absolute value over this."""


class Tree(NamedTuple):
    """A tree: for each node the feature that it splits, or a negative number, and so on."""

    feature: Array
    threshold: Array
    left: Array
    right: Array
    values: Array
    """For each node its value in each output."""


@dataclass(frozen=True)
class Trees:
    """An ensemble as a function of ranks."""

    scores: Callable[[Any], Any]
    answers: Answers
    ranks: Callable[[Array], Array]
    """The ranks of rows of features."""
    high: int
    """The largest of them."""
    accepts: Callable[[Any], None]
    """As that of the ensemble."""


class Ensemble(NamedTuple):
    """The trees of an estimator, and what follows from the sums of their values."""

    trees: list[Tree]
    answers: Answers
    dtype: type
    """The type in which features are compared."""
    accepts: Callable[[Any], None] = lambda rows: None
    """Refuses rows, as the estimator takes them, on which its answers are not those for their numbers."""


def lowered(ensemble: Ensemble) -> Trees:
    """Return an ensemble as a function of ranks."""
    # Values are rounded relative to the largest, so those of a tree are taken from their middle.
    middles = [_middle(tree) for tree in ensemble.trees]
    centred = [tree._replace(values=tree.values - middle) for tree, middle in zip(ensemble.trees, middles, strict=True)]
    constant, trees = sum(middles), [tree for tree in centred if tree.feature[0] >= 0]
    if not trees:
        raise EncodingError("trees without a split give the same for all rows: nothing is to be computed")
    splits = sum(int((tree.feature >= 0).sum()) for tree in trees)
    leaves = splits + len(trees)
    if splits * leaves > MOST:
        raise EncodingError(
            f"trees of {splits} splits and {leaves} leaves, whose product may be {MOST} at most: fit fewer trees, or "
            "smaller ones"
        )
    features = sorted({int(feature) for tree in trees for feature in tree.feature if feature >= 0})
    thresholds = {f: np.unique(np.concatenate([tree.threshold[tree.feature == f] for tree in trees])) for f in features}
    columns: dict[tuple[int, int], int] = {}
    for feature, own in thresholds.items():
        for group in range(0, len(own), GROUP):
            columns[feature, group // GROUP] = len(columns)
    selection, places, paths, misses, values = _matrices(trees, thresholds, columns)
    # Trees whose leaves are all the same have no values about their middle.
    scale = STEPS * len(trees) / (np.abs(values).max() or 1.0)
    whole = np.round(values * scale).astype(np.int64)
    longest = int(np.abs(paths).sum(axis=0).max())

    def ranks(rows: Array) -> Array:
        found = np.zeros((len(rows), len(columns)), dtype=np.int64)
        for (feature, group), column in columns.items():
            below = np.searchsorted(thresholds[feature], rows[:, feature].astype(ensemble.dtype), side="left")
            size = min(GROUP, len(thresholds[feature]) - GROUP * group)
            found[:, column] = np.clip(below - GROUP * group, 0, size)
        return found

    def scores(x: Any) -> Any:
        bits = np.where(x @ selection <= places, 1, 0)
        return table(np.array([1] + [0] * longest), bits @ paths + misses) @ whole

    answers = after(lambda found: found / scale + constant, ensemble.answers)
    return Trees(scores, answers, ranks, min(GROUP, max(map(len, thresholds.values()))), ensemble.accepts)


def _middle(tree: Tree) -> Array:
    """Return the middle of the values of the leaves, in each output."""
    leaves = tree.values[[leaf for leaf, _ in _leaves(tree)]]
    return np.asarray((leaves.min(axis=0) + leaves.max(axis=0)) / 2)


def _matrices(
    trees: list[Tree], thresholds: Mapping[int, Array], columns: Mapping[tuple[int, int], int]
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the columns and places of splits, and of leaves the paths, their splits to the left, and the values."""
    splits = [(tree, int(node)) for tree in trees for node in np.flatnonzero(tree.feature >= 0)]
    position = {(id(tree), node): at for at, (tree, node) in enumerate(splits)}
    selection, places = np.zeros((len(columns), len(splits)), dtype=np.int64), np.zeros(len(splits), dtype=np.int64)
    for at, (tree, node) in enumerate(splits):
        feature = int(tree.feature[node])
        place = int(np.searchsorted(thresholds[feature], tree.threshold[node]))
        selection[columns[feature, place // GROUP], at], places[at] = 1, place % GROUP
    paths, misses, values = [], [], []
    for tree in trees:
        for leaf, path in _leaves(tree):
            column = np.zeros(len(splits), dtype=np.int64)
            for node, goes_left in path:
                column[position[id(tree), node]] = -1 if goes_left else 1
            paths.append(column)
            misses.append(sum(goes_left for _, goes_left in path))
            values.append(tree.values[leaf])
    return selection, places, np.array(paths).T, np.array(misses), np.array(values)


def _leaves(tree: Tree) -> Iterator[tuple[int, list[tuple[int, bool]]]]:
    """Yield the leaves with their paths: nodes, and whether the path goes left there."""
    stack: list[tuple[int, list[tuple[int, bool]]]] = [(0, [])]
    while stack:
        node, path = stack.pop()
        if tree.feature[node] < 0:
            yield node, path
            continue
        stack.append((int(tree.right[node]), [*path, (node, False)]))
        stack.append((int(tree.left[node]), [*path, (node, True)]))


def _plain(estimator: Any, values: Array, features: Array | None = None) -> Tree:
    """Return a tree of scikit-learn with these values of its nodes; `features` are those of the ensemble."""
    tree = estimator.tree_
    own = np.asarray(tree.feature)
    feature = own if features is None else np.where(own >= 0, np.asarray(features)[np.maximum(own, 0)], own)
    return Tree(feature, np.asarray(tree.threshold), tree.children_left, tree.children_right, values)


def _shares(estimator: Any) -> Array:
    values = _values(estimator)
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def _values(estimator: Any) -> Array:
    """Return the values of the nodes of a tree, of its one output."""
    values = np.asarray(estimator.tree_.value)
    if values.shape[1] > 1:
        raise EncodingError(f"{type(estimator).__name__} with several outputs: fit one for each")
    return values[:, 0]


def ensemble_of(model: Any) -> Ensemble:
    """Return the trees of an estimator of scikit-learn that is fitted."""
    name = type(model).__name__
    if name == "IsolationForest":
        return _isolation(model)
    if name.startswith("HistGradientBoosting"):
        return _histograms(model)
    if name.startswith("GradientBoosting"):
        return _boosted(model)
    members = getattr(model, "estimators_", None)
    members = [model] if members is None else members
    count = len(members)
    if hasattr(model, "classes_"):
        trees = [_plain(member, _shares(member) / count) for member in members]
        classes = model.classes_
        return Ensemble(
            trees,
            {"predict": lambda sums: classes[sums.argmax(axis=1)], "predict_proba": _normalised},
            np.float32,
        )
    return Ensemble([_plain(member, _values(member) / count) for member in members], regressor(), np.float32)


def _normalised(sums: Array) -> Array:
    positive = np.maximum(sums, 0)
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))


def _of_raw(model: Any, raw: Callable[[Array], Array]) -> Answers:
    """Return the answers of boosted trees, from the sums of their values and what is added to these."""
    classes = getattr(model, "classes_", None)
    # Of the exponential loss a score is half the logarithm of the odds.
    factor = 2 if model.loss == "exponential" else 1

    def proba(scores: Array) -> Array:
        return probabilities(factor * scores)

    return after(raw, regressor() if classes is None else classifier(classes, proba))


def in_output(tree: Tree, output: int, count: int) -> Tree:
    """Return a tree of one value as one of several outputs, of which all others are 0."""
    values = np.zeros((len(tree.values), count))
    values[:, output] = tree.values[:, 0]
    return tree._replace(values=values)


def _boosted(model: Any) -> Ensemble:
    if not (model.init_ == "zero" or type(model.init_).__name__.startswith("Dummy")):
        raise EncodingError(f"{type(model).__name__} with init={type(model.init_).__name__}: fit it without init=")
    members, rate = np.asarray(model.estimators_), model.learning_rate
    count = members.shape[1]
    trees = [
        in_output(_plain(member, rate * _values(member)), output, count)
        for row in members
        for output, member in enumerate(row)
    ]
    first = np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))
    return Ensemble(trees, _of_raw(model, lambda sums: sums + first), np.float32)


def _histograms(model: Any) -> Ensemble:
    predictors = model._predictors
    count = len(predictors[0])
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise EncodingError(f"{type(model).__name__} with categories: encode them before")
    link = getattr(model._loss.link, "inverse", lambda x: x) if not hasattr(model, "classes_") else None
    trees = []
    for row in predictors:
        for output, predictor in enumerate(row):
            nodes = predictor.nodes
            feature = np.where(nodes["is_leaf"] != 0, -1, nodes["feature_idx"].astype(np.int64))
            tree = Tree(feature, nodes["num_threshold"], nodes["left"], nodes["right"], nodes["value"][:, np.newaxis])
            trees.append(in_output(tree, output, count))
    first = np.asarray(model._baseline_prediction).reshape(1, -1)

    def raw(sums: Array) -> Array:
        return np.asarray(sums + first if link is None else link(sums + first))

    return Ensemble(trees, _of_raw(model, raw), np.float64)


def _isolation(model: Any) -> Ensemble:
    trees = []
    for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
        tree = member.tree_
        depths = np.zeros(tree.node_count)
        for node in range(tree.node_count):
            for child in (tree.children_left[node], tree.children_right[node]):
                if child >= 0:
                    depths[child] = depths[node] + 1
        values = (depths + _average_path(tree.n_node_samples))[:, np.newaxis] / len(model.estimators_)
        trees.append(_plain(member, values, features))
    usual = float(_average_path(np.array([model._max_samples]))[0])

    def samples(sums: Array) -> Array:
        return np.asarray(-(2.0 ** (-sums[:, 0] / usual)))

    return Ensemble(
        trees,
        {
            "predict": lambda sums: np.where(samples(sums) - model.offset_ < 0, -1, 1),
            "decision_function": lambda sums: samples(sums) - model.offset_,
            "score_samples": samples,
        },
        np.float32,
    )


def _average_path(counts: Array) -> Array:
    """Return average path lengths by the count of samples (Liu, Ting and Zhou, Isolation Forest, 2008)."""
    counts = np.asarray(counts, dtype=float)
    many = np.maximum(counts, 3)
    usual = 2 * (np.log(many - 1) + np.euler_gamma) - 2 * (many - 1) / many
    return np.where(counts <= 1, 0.0, np.where(counts == 2, 1.0, usual))
