"""The methods of estimators, from the scores of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noren.compiler import sigmoid

Array: TypeAlias = NDArray[Any]
Answers: TypeAlias = Mapping[str, Callable[[Array], Any]]
"""The methods of an estimator, each from the scores of rows; the first is what agreement is measured with."""


def dense(array: Any) -> Array:
    """Return what may be a sparse matrix as an array."""
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array)


def flat(scores: Array) -> Array:
    """Return scores of one column as a vector."""
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def softmax(scores: Array) -> Array:
    """Return the softmax of each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def probabilities(scores: Array) -> Array:
    """Return logistic probabilities of one score, softmax of several."""
    own = flat(scores)
    if own.ndim == 2:
        return softmax(own)
    positive = sigmoid(own)
    return np.column_stack([1 - positive, positive])


def regressor(of_scores: Callable[[Array], Array] = flat) -> Answers:
    """Return the answers of a regressor."""
    return {"predict": of_scores}


def classifier(classes: Array, proba: Callable[[Array], Array] | None = None) -> Answers:
    """Return the answers of a classifier with a score for each class, or with one score for the second of two."""

    def predict(scores: Array) -> Array:
        own = flat(scores)
        places = (own > 0).astype(int) if own.ndim == 1 else own.argmax(axis=1)
        return np.asarray(classes[places])

    answers: dict[str, Callable[[Array], Any]] = {"predict": predict, "decision_function": flat}
    if proba is not None:
        answers["predict_proba"] = proba
    return answers


def after(change: Callable[[Array], Array], answers: Answers) -> Answers:
    """Return answers from what a change makes of scores."""

    def changed(answer: Callable[[Array], Any]) -> Callable[[Array], Any]:
        return lambda scores: answer(change(scores))

    return {name: changed(answer) for name, answer in answers.items()}
