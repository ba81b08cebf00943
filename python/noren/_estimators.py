"""Fitted models as functions of encrypted numbers, and what the owner does in clear on both sides.

Nothing of scikit-learn is imported: an estimator is known by the name of its class, and by what fitting left in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from noren import _boosting, _trees
from noren._affine import Affine
from noren._answers import Answers, Array, classifier, dense, flat, probabilities, regressor, softmax
from noren._noren import EncodingError
from noren._onnx import Network
from noren.compiler import sigmoid, top

Vote: TypeAlias = Literal["owner", "server"]
"""Who counts the votes of nearest neighbours."""

FINE = 2.0**-20
"""The precision of distances: those of neighbours are much smaller than the largest."""
ROUGH = 2.0**-6
"""The precision of networks that classify: the score of a class is seldom as close to another."""
LEAST = 2.0**-26
"""Components of less spread than this, relative to the largest, are rounding errors: whitening makes these as large."""
SAME = 2.0**-18
"""Squared distances up to this, relative to the largest, are those of equal rows."""
OF_VOTES = 0.45
"""The precision of votes: two classes differ by one, or equally many votes."""
NEAR = 2.0**-8
"""The dead zone of nearness, which is up to 1: what is less near than the last neighbour by less may count in part."""
MOST_SAMPLED = 1024
"""As many examples tell how far neighbours are."""


@dataclass(frozen=True)
class Lowered:
    """An estimator: what is computed of encrypted rows, and what their owner makes of the scores."""

    scores: Callable[[Any], Any]
    """The scores of rows, in numpy: this is compiled."""
    answers: Answers
    """The methods of the estimator, each from the scores of rows; the first is what agreement is measured with."""
    prepare: Callable[[Array], Array] = field(default=lambda rows: rows)
    """The numbers of rows that are encrypted: integers, or real numbers."""
    high: int | None = None
    """The largest of them, of integers from 0 on."""
    deep: bool = False
    """Whether ranges of intermediate results come from examples."""
    precision: float = 2.0**-12
    """The usual error of scores, relative to the largest."""
    accepts: Callable[[Any], None] = field(default=lambda rows: None)
    """Refuses rows, as the estimator takes them, on which its answers are not those for their numbers."""
    dead_zone: float | None = None
    """The distance within which comparisons of scores may go either way, where there are some."""
    rounding: float = 0.0
    """How far scores of rows within [-1, 1] may be off because what is folded into weights was rounded."""


def lower(estimator: Any, before: Affine, vote: Vote = "owner") -> Lowered:
    """Return an estimator that is fitted as a function of rows whose features are images of those that are encrypted.

    vote: where the votes of nearest neighbours are counted.

    Raises `noren.EncodingError` for estimators that are not taken, and for those that are not fitted.
    """
    if isinstance(estimator, Network):
        return _graph(estimator, before)
    lowering = _lowering(estimator)
    if vote != "owner":
        if vote != "server":
            raise EncodingError(f'vote={vote!r}: "owner" and "server" are taken')
        if lowering is not _nearest_classifier:
            raise EncodingError(f'vote="server" for {type(estimator).__name__}: KNeighborsClassifier has votes')
        lowering = _voting_classifier
    if lowering is None:
        raise EncodingError(
            f"{type(estimator).__name__} is not taken: give one of "
            f"{', '.join(sorted([*_LOWERINGS, *_boosting.NAMES]))}, or a pipeline that ends in one; other functions "
            "of numpy go to noren.compile"
        )
    try:
        return lowering(estimator, before)
    except AttributeError as error:
        raise EncodingError(f"{type(estimator).__name__}: {error}: fit it first") from error


def takes_ranks(estimator: Any) -> bool:
    """Return whether the owner gives ranks of features, from which nothing is computed before."""
    return _lowering(estimator) is _forest


def _lowering(estimator: Any) -> Callable[[Any, Affine], Lowered] | None:
    if _boosting.reader(estimator) is not None:
        return _forest
    is_selection = hasattr(estimator, "get_support") and not hasattr(estimator, "predict")
    known = [_LOWERINGS[base.__name__] for base in type(estimator).__mro__ if base.__name__ in _LOWERINGS]
    return next(iter(known), _transformer if is_selection else None)


def _folded(image: Affine, answers: Answers) -> Lowered:
    return Lowered(image.of, answers, rounding=float(np.max(image.rounding)))


def _linear(matrix: Any, offset: Any, before: Affine, answers: Answers) -> Lowered:
    return _folded(before.then(np.atleast_2d(dense(matrix)).T, offset), answers)


def _linear_regressor(model: Any, before: Affine) -> Lowered:
    return _linear(model.coef_, model.intercept_, before, regressor(flat if np.ndim(model.coef_) == 1 else np.asarray))


def _generalised_linear(model: Any, before: Affine) -> Lowered:
    link = model._base_loss.link.inverse
    return _linear(model.coef_, model.intercept_, before, regressor(lambda scores: np.asarray(link(flat(scores)))))


def _linear_classifier(model: Any, before: Affine) -> Lowered:
    return _linear(model.coef_, model.intercept_, before, classifier(model.classes_))


def _logistic(model: Any, before: Affine) -> Lowered:
    # Probabilities of one class against all others are no softmax.
    is_joint = len(model.classes_) == 2 or getattr(model, "multi_class", "auto") != "ovr"
    answers = classifier(model.classes_, probabilities if is_joint else None)
    return _linear(model.coef_, model.intercept_, before, answers)


def _stochastic(model: Any, before: Affine) -> Lowered:
    if getattr(model, "loss", "") == "log_loss" and len(model.classes_) == 2:
        return _logistic(model, before)
    return _linear_classifier(model, before)


def _centred(before: Affine, points: Array) -> tuple[Affine, Array]:
    """Return rows and points about the mean of the points: differences stay, squares are no larger than need be."""
    centre = points.mean(axis=0)
    return before.moved(-centre), points - centre


def _kernel(model: Any, before: Affine) -> Callable[[Any], Any]:
    """Return the kernel of rows with all support vectors."""
    if model.kernel not in ("linear", "poly", "rbf", "sigmoid"):
        raise EncodingError(f"the kernel {model.kernel!r}: linear, poly, rbf and sigmoid are taken")
    vectors = dense(model.support_vectors_)
    if not len(vectors):
        raise EncodingError(
            f"{type(model).__name__} without support vectors gives the same for all rows: nothing is to be computed"
        )
    gamma, coef0 = model._gamma, model.coef0
    products = before.then(vectors.T, np.zeros(len(vectors)))
    if model.kernel == "linear":
        return products.of
    if model.kernel == "poly":
        return lambda x: (gamma * products.of(x) + coef0) ** model.degree
    if model.kernel == "sigmoid":
        return lambda x: np.tanh(gamma * products.of(x) + coef0)
    near, vectors = _centred(before, vectors)
    squares = (vectors * vectors).sum(axis=1)

    def rbf(x: Any) -> Any:
        rows = near.of(x)
        distances = (rows * rows).sum(axis=1, keepdims=True) - 2 * (rows @ vectors.T) + squares
        return np.exp(-gamma * distances)

    return rbf


def _support_vectors(model: Any, before: Affine, weights: Array, offset: Array, answers: Answers) -> Lowered:
    if model.kernel == "linear":
        products = before.then(dense(model.support_vectors_).T, 0.0)
        return _folded(products.then(weights, offset), answers)
    kernel = _kernel(model, before)
    return Lowered(lambda x: kernel(x) @ weights + offset, answers, deep=True)


def _support_regressor(model: Any, before: Affine) -> Lowered:
    weights = dense(model.dual_coef_).reshape(1, -1).T
    return _support_vectors(model, before, weights, np.asarray(model.intercept_), regressor())


def _support_classifier(model: Any, before: Affine) -> Lowered:
    classes, dual = model.classes_, dense(model.dual_coef_)
    if len(classes) == 2:
        answers = classifier(classes)
        return _support_vectors(model, before, dual.T, np.asarray(model.intercept_), answers)
    ends = np.cumsum([0, *model.n_support_])
    pairs = [(i, j) for i in range(len(classes)) for j in range(i + 1, len(classes))]
    weights = np.zeros((dual.shape[1], len(pairs)))
    for at, (i, j) in enumerate(pairs):
        weights[ends[i] : ends[i + 1], at] = dual[j - 1, ends[i] : ends[i + 1]]
        weights[ends[j] : ends[j + 1], at] = dual[i, ends[j] : ends[j + 1]]

    def votes(scores: Array) -> tuple[Array, Array]:
        won, sums = np.zeros((2, len(scores), len(classes)))
        for at, (i, j) in enumerate(pairs):
            won[:, i] += scores[:, at] > 0
            won[:, j] += scores[:, at] <= 0
            sums[:, i] += scores[:, at]
            sums[:, j] -= scores[:, at]
        return won, sums

    def decision(scores: Array) -> Array:
        if model.decision_function_shape == "ovo":
            return scores
        won, sums = votes(scores)
        return np.asarray(won + sums / (3 * (np.abs(sums) + 1)))

    of_pairs: Answers = {
        "predict": lambda scores: classes[(decision(scores) if model.break_ties else votes(scores)[0]).argmax(axis=1)],
        "decision_function": decision,
    }
    return _support_vectors(model, before, weights, np.asarray(model.intercept_), of_pairs)


def _distances(before: Affine, points: Array) -> Callable[[Any], Any]:
    """Return the squared distances of rows to all points."""
    squares = (points * points).sum(axis=1)

    def distances(x: Any) -> Any:
        rows = before.of(x)
        return (rows * rows).sum(axis=1, keepdims=True) - 2 * (rows @ points.T) + squares

    return distances


def _power_of_two(count: int) -> int:
    """Return the smallest power of two that is not below a number."""
    return 1 << (count - 1).bit_length()


def _examples_of(model: Any, before: Affine) -> tuple[Affine, Array]:
    """Return rows and the examples that neighbours are taken from, about the mean of these."""
    if model.effective_metric_ != "euclidean":
        raise EncodingError(f"the metric {model.effective_metric_!r}: the Euclidean one is taken")
    return _centred(before, dense(model._fit_X).astype(float))


def _neighbours(model: Any, before: Affine) -> tuple[Callable[[Any], Any], Callable[[Array], Array]]:
    """Return the squared distances of rows to all examples, and the places of the nearest with their distances."""
    before, points = _examples_of(model, before)
    if callable(model.weights):
        raise EncodingError("weights of a function: 'uniform' and 'distance' are taken")

    def shares(scores: Array) -> Array:
        """Return the weights of all examples, of which those of others than the nearest are 0."""
        nearest = np.argsort(scores, axis=1, kind="stable")[:, : model.n_neighbors]
        weights = np.zeros_like(scores)
        near = np.ones(nearest.shape)
        if model.weights == "distance":
            found = np.take_along_axis(scores, nearest, axis=1)
            same = found <= SAME * scores.max(axis=1, keepdims=True)
            near = np.where(same.any(axis=1, keepdims=True), same, 1 / np.sqrt(np.where(same, 1, found)))
        np.put_along_axis(weights, nearest, near, axis=1)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    # The same for all examples: it does not change their order.
    if model.weights == "uniform":
        return before.then(-2 * points.T, (points * points).sum(axis=1)).of, shares
    return _distances(before, points), shares


def _nearest_classifier(model: Any, before: Affine) -> Lowered:
    if np.ndim(model._y) > 1:
        raise EncodingError("KNeighborsClassifier with several outputs: fit one for each")
    scores, shares = _neighbours(model, before)
    votes = np.eye(len(model.classes_))[model._y]
    return Lowered(
        scores,
        {
            "predict": lambda found: model.classes_[(shares(found) @ votes).argmax(axis=1)],
            "predict_proba": lambda found: shares(found) @ votes,
        },
        precision=FINE,
    )


def _voting_classifier(model: Any, before: Affine) -> Lowered:
    """Lower the vote of the nearest examples: the votes of all classes, and nothing of the distances."""
    if np.ndim(model._y) > 1:
        raise EncodingError("KNeighborsClassifier with several outputs: fit one for each")
    if model.weights != "uniform":
        raise EncodingError(f'vote="server" with weights={model.weights!r}: weights="uniform" is taken')
    before, examples = _examples_of(model, before)
    # Slots behind the last example and the last row would have wider ranges than those of distances.
    points = np.zeros((_power_of_two(len(examples)), examples.shape[1]))
    points[: len(examples)] = examples
    distances = _distances(before, points)
    reach = np.abs(np.atleast_2d(before.scale)).sum(axis=0)
    low, high = before.offset - reach, before.offset + reach
    # No row within the ranges of features is as far from an example.
    largest = float(max((np.maximum(point - low, high - point) ** 2).sum() for point in points)) * (1 + 2.0**-20)

    # Powers tell distances apart that are far below the largest, and keep their order.
    sample = examples[:: -(-len(examples) // MOST_SAMPLED)]
    own = np.sort(_distances(Affine.identity(examples.shape[1]), examples)(sample), axis=1)
    usual = max(float(own[:, min(model.n_neighbors, len(examples) - 1)].max()), 2.0**-20 * largest)
    doublings = int(np.log2(max(largest / usual, 1.0)))

    def votes(x: Any) -> Any:
        rows = len(x)
        full = _power_of_two(rows)
        nearness = 1 - distances(x if full == rows else x[np.minimum(np.arange(full), rows - 1)]) / largest
        for _ in range(doublings):
            nearness = nearness * nearness
        nearest = top(nearness[:, : len(examples)], model.n_neighbors, axis=1).astype(float)
        return (nearest @ np.eye(len(model.classes_))[model._y])[:rows]

    return Lowered(
        votes,
        {
            "predict": lambda found: model.classes_[found.argmax(axis=1)],
            "predict_proba": lambda found: found / found.sum(axis=1, keepdims=True),
        },
        precision=OF_VOTES / model.n_neighbors,
        dead_zone=NEAR,
    )


def _nearest_regressor(model: Any, before: Affine) -> Lowered:
    scores, shares = _neighbours(model, before)
    return Lowered(scores, regressor(lambda found: np.asarray(shares(found) @ model._y)), precision=FINE)


def _gaussian(model: Any, before: Affine) -> Lowered:
    # Of rows of float32 they have seven digits, and the squares below take more.
    before, means = _centred(before, np.asarray(model.theta_, dtype=float))
    variances = np.asarray(model.var_, dtype=float)
    if not variances.all():
        raise EncodingError("GaussianNB with a variance of 0 has no densities: leave out features that are constant")
    squares, linear = -0.5 / variances.T, (means / variances).T
    offset = np.log(model.class_prior_) - 0.5 * (np.log(2 * np.pi * variances) + means**2 / variances).sum(axis=1)

    def scores(x: Any) -> Any:
        rows = before.of(x)
        return (rows * rows) @ squares + rows @ linear + offset

    return Lowered(scores, _likelihoods(model.classes_))


def _likelihoods(classes: Array) -> Answers:
    return {
        "predict": lambda scores: classes[scores.argmax(axis=1)],
        "predict_proba": softmax,
        "predict_joint_log_proba": np.asarray,
    }


def _multinomial(model: Any, before: Affine) -> Lowered:
    return _linear(model.feature_log_prob_, model.class_log_prior_, before, _likelihoods(model.classes_))


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "logistic": sigmoid,
}


def _perceptrons(model: Any, before: Affine) -> Callable[[Any], Any]:
    activation = _ACTIVATIONS[model.activation]

    def scores(x: Any) -> Any:
        x = before.then(np.asarray(model.coefs_[0]), model.intercepts_[0]).of(x)
        for weights, offset in zip(model.coefs_[1:], model.intercepts_[1:], strict=True):
            x = activation(x) @ np.asarray(weights) + offset
        return x

    return scores


def _network_classifier(model: Any, before: Affine) -> Lowered:
    if model._label_binarizer.y_type_.startswith("multilabel"):
        raise EncodingError("MLPClassifier of several labels: fit one for each")
    answers = {name: answer for name, answer in classifier(model.classes_, probabilities).items()}
    del answers["decision_function"]
    return Lowered(_perceptrons(model, before), answers, deep=True, precision=ROUGH)


def _network_regressor(model: Any, before: Affine) -> Lowered:
    if model.out_activation_ != "identity":
        raise EncodingError(f"MLPRegressor with {model.out_activation_!r} outputs: 'identity' is taken")
    return Lowered(_perceptrons(model, before), regressor(), deep=True)


def _graph(model: Network, before: Affine) -> Lowered:
    precision = ROUGH if model.chooses else Lowered.precision
    return Lowered(partial(model.scores, before), {"predict": model.answers}, deep=True, precision=precision)


def _transformer(model: Any, before: Affine) -> Lowered:
    image = transformed(model, before)
    if image is None:
        raise EncodingError(f"{type(model).__name__} as it is fitted is no linear map of its features")
    return _folded(image, {"transform": np.asarray})


def _forest(model: Any, before: Affine) -> Lowered:
    """Lower trees: the owner gives the ranks of features among the thresholds."""
    trees = _trees.lowered((_boosting.reader(model) or _trees.ensemble_of)(model))
    ranks = trees.ranks

    def prepare(rows: Array) -> Array:
        return ranks(before.of(rows))

    return Lowered(trees.scores, trees.answers, prepare=prepare, high=trees.high, accepts=trees.accepts)


def transformed(step: Any, before: Affine) -> Affine | None:
    """Return the image of rows under a transformer that is a linear map and a shift; None for other transformers."""
    name = type(step).__name__
    if name in ("StandardScaler", "RobustScaler"):
        # Means are kept too where they are not taken off.
        middle = step.center_ if name == "RobustScaler" else step.mean_ if step.with_mean else None
        scale = 1.0 if step.scale_ is None else step.scale_
        return before.moved(0.0 if middle is None else -np.asarray(middle)).divided(scale)
    if name == "MinMaxScaler" and not step.clip:
        return before.scaled(step.scale_).moved(step.min_)
    if name == "MaxAbsScaler" and not getattr(step, "clip", False):
        return before.divided(step.scale_)
    if name in ("PCA", "IncrementalPCA"):
        spread = np.sqrt(np.asarray(step.explained_variance_, dtype=float))
        if step.whiten and not spread.min() > LEAST * spread.max():
            return None
        components = before.moved(-np.asarray(step.mean_)).then(np.asarray(step.components_).T, 0.0)
        return components.divided(spread) if step.whiten else components
    if name == "TruncatedSVD":
        return before.then(np.asarray(step.components_).T, 0.0)
    if hasattr(step, "get_support"):
        kept = np.flatnonzero(step.get_support())
        return before.then(np.eye(len(step.get_support()))[:, kept], 0.0)
    return None


_LOWERINGS: dict[str, Callable[[Any, Affine], Lowered]] = {
    "ARDRegression": _linear_regressor,
    "BayesianRidge": _linear_regressor,
    "ElasticNet": _linear_regressor,
    "ElasticNetCV": _linear_regressor,
    "GammaRegressor": _generalised_linear,
    "GaussianNB": _gaussian,
    "HuberRegressor": _linear_regressor,
    "IncrementalPCA": _transformer,
    "KNeighborsClassifier": _nearest_classifier,
    "KNeighborsRegressor": _nearest_regressor,
    "Lars": _linear_regressor,
    "LarsCV": _linear_regressor,
    "Lasso": _linear_regressor,
    "LassoCV": _linear_regressor,
    "LassoLars": _linear_regressor,
    "LinearDiscriminantAnalysis": _logistic,
    "LinearRegression": _linear_regressor,
    "LinearSVC": _linear_classifier,
    "LinearSVR": _linear_regressor,
    "LogisticRegression": _logistic,
    "LogisticRegressionCV": _logistic,
    "MLPClassifier": _network_classifier,
    "MLPRegressor": _network_regressor,
    "MaxAbsScaler": _transformer,
    "MinMaxScaler": _transformer,
    "MultinomialNB": _multinomial,
    "NuSVC": _support_classifier,
    "NuSVR": _support_regressor,
    "OrthogonalMatchingPursuit": _linear_regressor,
    "PCA": _transformer,
    "Perceptron": _linear_classifier,
    "PoissonRegressor": _generalised_linear,
    "QuantileRegressor": _linear_regressor,
    "Ridge": _linear_regressor,
    "RidgeCV": _linear_regressor,
    "RidgeClassifier": _linear_classifier,
    "RidgeClassifierCV": _linear_classifier,
    "RobustScaler": _transformer,
    "SGDClassifier": _stochastic,
    "SGDRegressor": _linear_regressor,
    "SVC": _support_classifier,
    "SVR": _support_regressor,
    "StandardScaler": _transformer,
    "TheilSenRegressor": _linear_regressor,
    "TruncatedSVD": _transformer,
    "TweedieRegressor": _generalised_linear,
    **dict.fromkeys(_trees.NAMES, _forest),
}
