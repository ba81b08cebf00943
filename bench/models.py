"""Fitted models on encrypted rows: time and memory of the server, what is sent, and the library's own predictions.

Each model is compiled, its client encrypts rows that it was not fitted on, and the predictions that are decrypted are
compared with those that scikit-learn, XGBoost, LightGBM or onnxruntime makes of the same rows. The server is a process
of its own.

    python bench/models.py [--scale 1] [--only WORD] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from noren import ml
from served import served
from stopwatch import Stopwatch

# Rows of which predictions are compared with the model's in clear, with simulated noise.
SIMULATED = 1000
# The least rows that models are not fitted on: of the smaller sets of data about a quarter.
HELD = 143
# The least share of predictions that are the library's: two classes that are closer than the bound may change places.
LEAST_EQUAL = 0.998

Data: TypeAlias = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Case:
    """A model, of a scale from 0 to 1, that is fitted on data, and the rows of a request."""

    data: Callable[[], Data]
    fitted: Callable[[Data, float], Any]
    rows: int
    numbers: bool = False
    """Whether predictions are numbers, which are compared within the bound, and no classes."""


def cancer() -> Data:
    """Return 569 rows of 30 features, of two classes."""
    rows, y = datasets.load_breast_cancer(return_X_y=True)
    return rows, y


def diabetes() -> Data:
    """Return 442 rows of 10 features, with a number each."""
    rows, y = datasets.load_diabetes(return_X_y=True)
    return rows, y


def digits() -> Data:
    """Return 1797 rows of 64 grey levels, of ten classes."""
    rows, y = datasets.load_digits(return_X_y=True)
    return rows / 16, y


def images() -> Data:
    """Return digits as rows x channels x height x width."""
    rows, y = digits()
    return rows.reshape(-1, 1, 8, 8), y


def large_images() -> Data:
    """Return digits, each grey level as a square of 3 x 3 with a border: rows of 784."""
    rows, y = digits()
    return np.pad(rows.reshape(-1, 8, 8).repeat(3, 1).repeat(3, 2), ((0, 0), (2, 2), (2, 2))).reshape(-1, 784), y


def of_estimator(estimator: Callable[[float], Any], *, scaled: bool = True) -> Callable[[Data, float], Any]:
    """Return what fits an estimator, on features that are scaled first."""

    def fitted(data: Data, scale: float) -> Any:
        model = estimator(scale)
        return (make_pipeline(StandardScaler(), model) if scaled else model).fit(*data)

    return fitted


def trees(scale: float, most: int) -> int:
    """Return the number of trees at a scale."""
    return max(2, int(most * scale))


def xgboost(scale: float) -> Any:
    """Return boosted trees of XGBoost."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=trees(scale, 100), max_depth=3)


def lightgbm(scale: float) -> Any:
    """Return boosted trees of LightGBM."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=trees(scale, 100), num_leaves=8, verbose=-1)


def graph(text: str, weights: dict[str, Any]) -> Any:
    """Return a graph of ONNX with these weights."""
    import onnx

    header = '<ir_version: 8, opset_import: ["": 17]>\n'
    found = onnx.parser.parse_model(header + text)
    known = [onnx.numpy_helper.from_array(a.astype(np.float32), name) for name, a in weights.items()]
    found.graph.initializer.extend(known)
    return found


def dense(data: Data, _: float) -> Any:
    """Return 784-128-64-10 with squares: two layers of random weights, the last one fitted."""
    rows, y = data
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(784, 128)) / 28, rng.normal(size=(128, 64)) / 12
    hidden = (((rows @ first) ** 2) @ second) ** 2
    last = LogisticRegression(max_iter=2000).fit(hidden / hidden.std(), y)
    weights = {"w1": first, "w2": second, "w3": last.coef_.T / hidden.std(), "b3": last.intercept_}
    return graph(
        """network (float[n, 784] x) => (float[n, 10] scores) {
            a = MatMul (x, w1)
            s = Mul (a, a)
            b = MatMul (s, w2)
            t = Mul (b, b)
            c = MatMul (t, w3)
            scores = Add (c, b3)
        }""",
        weights,
    )


def convolutions(data: Data, _: float) -> Any:
    """Return two convolutions with squares and an average pool, of random weights, and a dense layer that is fitted."""
    import onnxruntime

    rows, y = data
    rng = np.random.default_rng(1)
    weights = {"f": rng.normal(size=(4, 1, 3, 3)) / 3, "g": rng.normal(size=(8, 4, 3, 3)) / 6}
    layers = """
            a = Conv <pads = [1, 1, 1, 1]> (image, f)
            s = Mul (a, a)
            m = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (s)
            b = Conv <pads = [1, 1, 1, 1]> (m, g)
            t = Mul (b, b)
            row = Flatten (t)"""
    features = graph(f"features (float[n, 1, 8, 8] image) => (float[n, 128] row) {{{layers}\n}}", weights)
    session = onnxruntime.InferenceSession(features.SerializeToString(), providers=["CPUExecutionProvider"])
    hidden = session.run(None, {"image": rows.astype(np.float32)})[0]
    last = LogisticRegression(max_iter=2000).fit(hidden / hidden.std(), y)
    weights |= {"w": last.coef_.T / hidden.std(), "b0": last.intercept_}
    layers += "\n            c = MatMul (row, w)\n            scores = Add (c, b0)"
    return graph(f"network (float[n, 1, 8, 8] image) => (float[n, 10] scores) {{{layers}\n}}", weights)


NETWORK = {"hidden_layer_sizes": (64, 32), "random_state": 1, "max_iter": 400}
CASES = {
    "linear regression": Case(diabetes, of_estimator(lambda _: LinearRegression()), 143, numbers=True),
    "logistic regression": Case(cancer, of_estimator(lambda _: LogisticRegression()), 143),
    "components, ridge": Case(diabetes, of_estimator(lambda _: make_pipeline(PCA(5), Ridge())), 143, numbers=True),
    "support vectors": Case(cancer, of_estimator(lambda _: SVC()), 16),
    "neighbours": Case(cancer, of_estimator(lambda _: KNeighborsClassifier()), 16),
    "forest": Case(
        cancer, of_estimator(lambda s: RandomForestClassifier(trees(s, 50), max_depth=6, random_state=1)), 100
    ),
    "boosting": Case(
        cancer, of_estimator(lambda s: GradientBoostingClassifier(n_estimators=trees(s, 100), random_state=1)), 100
    ),
    "isolation forest": Case(
        cancer, of_estimator(lambda s: IsolationForest(n_estimators=trees(s, 20), max_samples=32, random_state=1)), 100
    ),
    "XGBoost": Case(cancer, of_estimator(xgboost, scaled=False), 100),
    "LightGBM": Case(cancer, of_estimator(lightgbm, scaled=False), 100),
    "rectified units": Case(digits, of_estimator(lambda _: MLPClassifier(**NETWORK), scaled=False), 1),
    "ONNX 784-128-64-10": Case(large_images, dense, 1),
    "ONNX convolutions, 1": Case(images, convolutions, 1),
    "ONNX convolutions, 64": Case(images, convolutions, 64),
}


def in_clear(model: Any, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the predictions of a model by its own library; classes of graphs, whose outputs are scores."""
    if hasattr(model, "predict"):
        return np.array(model.predict(rows))
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.array(session.run(None, {name: rows.astype(np.float32)})[0].argmax(axis=1))


def share_of_equals(case: Case, found: Any, expected: np.ndarray[Any, Any], precision: float) -> float:
    """Return the share of predictions that are those of the library."""
    found = np.asarray(found)
    if case.numbers:
        return float((np.abs(found - expected) <= precision).mean())
    return float(((found.argmax(axis=1) if found.ndim > 1 else found) == expected).mean())


def measured(case: Case, rounds: int, scale: float) -> dict[str, Any]:
    """Compile a model, predict encrypted rows, and compare the predictions with the library's own."""
    timed = Stopwatch()
    features, y = case.data()
    held = np.random.default_rng(1).permutation(len(features)) < max(len(features) // 4, HELD)
    clear = case.fitted((features[~held], y[~held]), scale)
    model = timed("compile", lambda: ml.compile(clear, features[~held], rows=case.rows))
    rows, some = features[held][: case.rows], features[held][:SIMULATED]
    client, precision = model.client, model.explain().precision
    found, figures = served(
        model, timed, lambda: client.encrypt(rows), lambda reply: client.predict(reply, rows=len(rows)), rounds
    )
    return {
        **figures,
        "equal": share_of_equals(case, found, in_clear(clear, rows), precision),
        "simulated_rows": len(some),
        "simulated_equal": share_of_equals(case, model.predict(some), in_clear(clear, some), precision),
    }


def main() -> int:
    """Measure all models."""
    parser = argparse.ArgumentParser(description="Fitted models on encrypted rows.")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the trees")
    parser.add_argument("--only", default="", help="models whose names have this word")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each server, of which the fastest counts")
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    figures = {}
    print(
        f"{'model':22} {'scheme':18} {'compile':>8} {'keys':>9} {'request':>8} {'first':>8} {'server':>8} {'ratio':>6} "
        f"{'memory':>8} {'equal':>7} of simulated rows"
    )
    for name, case in CASES.items():
        if options.only not in name:
            continue
        row = figures[name] = measured(case, options.rounds, options.scale)
        print(
            f"{name:22} {row['scheme']:18} {row['compile']:7.2f}s {row['key_bytes'] / 1e6:7.1f}MB "
            f"{row['request_bytes'] / 1e6:6.2f}MB {row['first']:7.3f}s {row['server']:7.3f}s "
            f"{row['server'] / row['predicted']['server_seconds']:6.2f} {row['memory'] / 2**20:5.0f}MiB "
            f"{row['equal']:7.2%} {row['simulated_equal']:.2%} of {row['simulated_rows']}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if all(row["equal"] >= LEAST_EQUAL for row in figures.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
