"""Fitted models of scikit-learn, XGBoost and LightGBM, and graphs of ONNX, on encrypted rows.

>>> import numpy as np
>>> from sklearn.linear_model import LogisticRegression
>>> from noren import ml
>>> X = np.random.default_rng(1).normal(size=(100, 4))
>>> y = (X @ [1, -2, 0.5, 0] > 0).astype(int)
>>> clear = LogisticRegression().fit(X, y)
>>> model = ml.compile(clear, X)
>>> model.agreement.equal
1.0
>>> keys = model.client.keygen()  # for the server: nothing in them decrypts
>>> reply = model.server.run(model.client.encrypt(X), keys)
>>> bool((model.client.predict(reply) == clear.predict(X)).all())
True

See ``docs/models.md`` for what is taken, and for what each party does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan, prod
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren import _onnx as graphs
from noren import compiler
from noren._affine import Affine
from noren._answers import dense
from noren._estimators import Lowered, Vote, lower, takes_ranks, transformed
from noren._halves import Halves, Owner
from noren._noren import EncodingError, RangeError
from noren._noren.compiler import Program
from noren._signature import graph_of
from noren.compiler import Compiled, Input

__all__ = ["Agreement", "Client", "Model", "compile", "load"]

Array = NDArray[Any]

MARGIN, CALIBRATE = 2.0, 0.5
"""The defaults of `compile`: a wide range of features costs a bit or two, and long tails are common."""
ROUNDED = 2.0**-4
"""The part of an error that roundings of weights may take."""


@dataclass(frozen=True)
class Agreement:
    """The answers of a compiled model, with simulated noise, beside those of the model itself, on the examples."""

    rows: int
    """How many rows were compared."""
    equal: float
    """The share of rows whose answers are equal; of numbers, equal within a thousandth of the largest."""
    largest_difference: float
    """The largest difference of numbers: of answers, or of the probabilities of classes; NaN where there are none."""


def compile(
    model: Any,
    X: ArrayLike,
    *,
    rows: int | None = None,
    precision: float | None = None,
    margin: float = MARGIN,
    calibrate: float = CALIBRATE,
    bounded: bool = True,
    vote: Vote = "owner",
    scheme: Any = "auto",
    security: Literal[128, 192, 256] | None = 128,
    machine: str | os.PathLike[str] | None = None,
    unlimited: bool = False,
) -> Model:
    """Compile a fitted estimator, a pipeline that ends in one, or a graph of ONNX.

    model: an estimator, or the path of a graph, or what `onnx.load` returns.
    X: examples, a row for each along the first axis: they give the ranges of features, which are public. What of the
        model is computed on encrypted rows, and what their owner does in clear, is in `Model.explain` and in
        ``docs/models.md``.
    rows: the rows of a request; as many as there are examples for None. Requests of fewer are filled up.
    precision: the error that scores may have, relative to the largest score of the examples.
    margin: how far features may leave the range of the examples, in widths of it. Rows that leave it are refused before
        they are encrypted, with the feature that does.
    calibrate: the same of intermediate results of kernels and networks, as in `noren.compile`: decryption refuses rows
        that leave it.
    bounded: the same as in `noren.compile`, of networks: False for those of many layers.
    vote: where the votes of the neighbours of a `KNeighborsClassifier` are counted. The "owner" of the rows decrypts
        distances to all examples; from the "server" the owner has the votes for each class alone, which takes
        bootstraps.
    scheme, security, machine, unlimited: as in `noren.compile`.

    Raises `noren.EncodingError` for estimators and graphs that are not taken, and for those that are not fitted; as
    `noren.compile`.
    """
    if not (np.isfinite(margin) and margin >= 0):
        raise EncodingError(f"margin={margin}: give a number from 0 on")
    model = _best(model)
    owned, rest = _apart(_steps(model))
    given = _transformed(owned, X)
    features = _numbers(given, _row_shape(model))
    shape, width = features.shape[1:], prod(features.shape[1:])
    expected = _fitted_width(rest[0]) or width
    bounds, lowered = None, _lowered(rest, Affine.identity(expected), vote)
    if width != expected:
        raise EncodingError(f"examples of {width} features, {type(rest[0]).__name__} was fitted with {expected}")
    lowered.accepts(given)
    if lowered.high is None:
        bounds = _bounds(features, margin)
        lowered = _lowered(rest, bounds, vote)
    rows = len(features) if rows is None else rows
    if rows < 1:
        raise EncodingError(f"rows={rows}: give one or more")
    made = Encoding(owned, bounds, lowered, rows, shape, vote)
    encoded = made.encoded(features)
    options: dict[str, Any] = {"scheme": scheme, "security": security, "machine": machine, "unlimited": unlimited}
    if lowered.high is not None:
        inputs: Any = Input((rows, encoded.shape[1]), 0, lowered.high, dtype=int)
        compiled = compiler.compile(lowered.scores, inputs, **options)
    else:
        scores = np.abs(np.asarray(lowered.scores(encoded), dtype=float))
        relative = lowered.precision if precision is None else precision
        options["precision"] = relative * max(float(scores.max()), 2.0**-40)
        _check_rounding(lowered.rounding, options["precision"])
        options["dead_zone"] = lowered.dead_zone
        inputs = Input((rows, width), -1.0, 1.0, dtype=float)
        if lowered.deep:
            graph = graph_of(lowered.scores, [inputs], None, reals=True, draft=True)
            requests = encoded[np.arange(-(-len(encoded) // rows) * rows) % len(encoded)]
            compiled = Compiled(Program.compile(compiler.calibrated(graph, [requests], calibrate, bounded), **options))
        else:
            compiled = compiler.compile(lowered.scores, inputs, **options)
    agreement = _agreement(model, compiled, made, X)
    return Model(made.attached(compiled, agreement), made, agreement)


def load(path: str | os.PathLike[str], model: Any, *, min_security: int = 128) -> Model:
    """Read a compiled model from the file of `Model.save`, beside the fitted estimator or graph that it was made of.

    The file is public, as the estimator is. What the owner of rows does in clear follows from the estimator, and the
    ranges of features from the file.

    Raises `noren.EncodingError` for another estimator, and for the file of a function; `noren.InsecureError` for
    parameters below `min_security` bits.
    """
    program = compiler.read_program(path, min_security)
    own = json.loads(program.interface or "{}").get("model")
    if own is None:
        raise EncodingError(f"{path}: the program of a function, that of a model is needed")
    model = _best(model)
    owned, rest = _apart(_steps(model))
    try:
        bounds = Affine(np.array(own["scale"]), np.array(own["offset"])) if own["scale"] else None
        vote = own.get("vote", "owner")
        lowered = _lowered(rest, bounds or Affine.identity(own["width"]), vote)
        made = Encoding(owned, bounds, lowered, own["rows"], _row_shape(model) or (own["width"],), vote)
        same = made.width == own["width"] and np.allclose(made.probe(), np.array(own["probe"]), rtol=1e-6, atol=1e-9)
        names, images = made.owned_probe()
        same &= names == own["owned"] and (images is None) == (own["images"] is None)
        same &= images is None or np.allclose(images, np.array(own["images"]))
        rows, equal, largest = own["agreement"]
        agreement = Agreement(rows, equal, float("nan") if largest is None else largest)
    except (KeyError, TypeError, ValueError) as error:
        raise EncodingError(f"{path}: it was compiled of another model: {error}") from error
    if not same:
        raise EncodingError(
            f"{path}: it was compiled of another model, or of this one with another version of its library"
        )
    return Model(Compiled(program), made, agreement)


def _best(model: Any) -> Any:
    """Return the best estimator of a search, or the graph that is read from a file."""
    if isinstance(model, str | os.PathLike) or type(model).__name__ == "ModelProto":
        return graphs.read(model)
    return _searched(model)


def _searched(model: Any) -> Any:
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    return model


def _steps(model: Any) -> list[Any]:
    """Return the steps of a pipeline, and of pipelines and searches within it, without those that pass rows through."""
    model = _searched(model)
    if not hasattr(model, "steps"):
        return [model]
    kept = [inner for _, step in model.steps for inner in _steps(step)]
    return [step for step in kept if step is not None and step != "passthrough"] or kept


def _lowered(steps: Sequence[Any], before: Affine, vote: Vote) -> Lowered:
    """Return the estimator at the end of steps, which are linear maps before it."""
    *between, last = steps
    for step in between:
        image = transformed(step, before)
        before = before if image is None else image
    return lower(last, before, vote)


def _apart(steps: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the steps that the owner of rows does in clear, and the others: linear maps, and the estimator."""
    # Thresholds can be features of examples: only the steps themselves give these bit for bit.
    if takes_ranks(steps[-1]):
        return list(steps[:-1]), [steps[-1]]
    first = 0
    for at, step in enumerate(steps[:-1]):
        count = getattr(step, "n_features_in_", 1)
        if transformed(step, Affine.identity(count)) is None:
            first = at + 1
    return list(steps[:first]), list(steps[first:])


def _row_shape(model: Any) -> tuple[int, ...] | None:
    """Return the shape of a row of a graph; None for estimators, which are of tables."""
    return model.row_shape if isinstance(model, graphs.Network) else None


def _output_names(step: Any) -> list[str]:
    return [str(name) for name in step.get_feature_names_out()]


def _transformed(owned: Sequence[Any], X: Any) -> Any:
    """Return rows after the steps of their owner."""
    for step in owned:
        try:
            X = step.transform(X)
        except (TypeError, ValueError) as error:
            raise EncodingError(f"{type(step).__name__}, which the owner of rows applies to them: {error}") from error
    return X


def _fitted_width(model: Any) -> int | None:
    """Return how many features an estimator was fitted with; None where it does not say so."""
    # Boosters of XGBoost and LightGBM have a method for it.
    width = next((getattr(model, name) for name in _WIDTHS if hasattr(model, name)), None)
    return width() if callable(width) else width


_WIDTHS = ("n_features_in_", "num_features", "num_feature")


def _numbers(X: Any, shape: tuple[int, ...] | None = None) -> Array:
    """Return rows of a shape as an array of finite numbers; None stands for tables of any width."""
    array = dense(X)
    if array.ndim < 2 or array.shape[0] == 0 or (array.ndim != 2 if shape is None else array.shape[1:] != shape):
        needed = "a table" if shape is None else f"an array of rows x {' x '.join(map(str, shape))}"
        raise EncodingError(f"rows of shape {array.shape}: {needed} is needed, with a row for each")
    if array.dtype.kind == "O" and all(isinstance(value, Real | np.bool_) for value in array.flat):
        # What takes columns apart gives numbers of different types so.
        array = array.astype(float)
    if array.dtype.kind not in "biuf":
        raise EncodingError(
            f"features of type {array.dtype}: numbers are needed, such as by a OneHotEncoder in the pipeline"
        )
    array = array.astype(float)
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0])
        raise EncodingError(
            f"row {place[0]}, feature {_named(place[1:])}, is {array[place]}: finite numbers are needed"
        )
    return array


def _named(place: Sequence[Any]) -> str:
    """Return the place of a feature in its row."""
    return ", ".join(map(str, place)) if len(place) == 1 else f"({', '.join(map(str, place))})"


def _bounds(features: Array, margin: float) -> Affine:
    """Return the map from -1 to 1 to the range of each feature, or channel of images and signals, with a margin."""
    # Behind channels are places, and what occurs at one of them may occur at another.
    places = (0, *range(2, features.ndim))
    ends = (features.min(axis=places, keepdims=True), features.max(axis=places, keepdims=True))
    low, high = (np.broadcast_to(end, (1, *features.shape[1:])).ravel() for end in ends)
    middle = (low + high) / 2
    # The middle is rounded: without a margin both ends are within the range all the same.
    half = np.maximum(high - middle, middle - low) * (1 + 2 * margin)
    # A feature that is always the same may be a little different.
    return Affine(np.where(half > 0, half, np.maximum(np.abs(low), 1.0) * 2.0**-10), middle)


@dataclass(frozen=True)
class Encoding:
    """What the owner of rows does in clear: before encryption, and after decryption."""

    owned: Sequence[Any]
    bounds: Affine | None
    lowered: Lowered
    rows: int
    shape: tuple[int, ...]
    """The shape of a row of features."""
    vote: Vote = "owner"
    """Who counts the votes of nearest neighbours."""

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return prod(self.shape)

    def features(self, X: Any) -> Array:
        """Return the features of rows after the steps of their owner."""
        given = _transformed(self.owned, X)
        self.lowered.accepts(given)
        return _numbers(given, self.shape if len(self.shape) > 1 else None)

    def encoded(self, features: Array) -> Array:
        """Return the numbers that are encrypted, of shape (rows, numbers)."""
        features = features.reshape(len(features), -1)
        if features.shape[1] != self.width:
            raise EncodingError(f"rows of {features.shape[1]} features, {self.width} were compiled")
        if self.bounds is None:
            return self.lowered.prepare(features)
        scaled = (features - self.bounds.offset) / self.bounds.scale
        outside = np.abs(scaled) > 1
        if outside.any():
            row, column = np.argwhere(outside)[0]
            place = _named(np.unravel_index(column, self.shape))
            low, high = self.bounds.offset[column] + np.array([-1, 1]) * self.bounds.scale[column]
            raise RangeError(
                f"{outside.any(axis=1).sum()} of {len(features)} rows have features outside of the declared range, "
                f"row {row} first: feature {place} is {features[row, column]:g}, from {low:g} to {high:g} was "
                "compiled; compile with a larger margin, or with examples like it"
            )
        return np.asarray(scaled)

    def probe(self) -> Array:
        """Return the scores of a few rows that are the same for all models of so many features."""
        rows = np.random.default_rng(0).uniform(-1, 1, (4, self.width))
        if self.bounds is None:
            rows = self.lowered.prepare(rows * np.array([[1.0], [10.0], [100.0], [1000.0]]))
        with np.errstate(all="ignore"):
            # Functions such as logarithms are not defined for all rows.
            return np.asarray(np.nan_to_num(np.asarray(self.lowered.scores(rows), dtype=float)))

    def owned_probe(self) -> tuple[list[Any], Any]:
        """Return what tells the steps of the owner from others: names of their features, and the images of a few rows.

        None stands for what there is not, such as images of numbers where texts are needed.
        """

        def tried(call: Callable[[], Any]) -> Any:
            try:
                return call()
            except (AttributeError, TypeError, ValueError):
                return None

        names = [tried(partial(_output_names, step)) for step in self.owned]
        width = getattr(self.owned[0], "n_features_in_", 1) if self.owned else self.width
        rows = np.random.default_rng(0).normal(size=(4, width))
        return names, tried(lambda: _numbers(_transformed(self.owned, rows)).tolist())

    def attached(self, compiled: Compiled, agreement: Agreement) -> Compiled:
        """Return a compiled function whose file says how its inputs are made."""
        bounds, largest = self.bounds, agreement.largest_difference
        names, images = self.owned_probe()
        own = {
            "rows": self.rows,
            "width": self.width,
            "vote": self.vote,
            "scale": None if bounds is None else bounds.scale.tolist(),
            "offset": None if bounds is None else bounds.offset.tolist(),
            "probe": self.probe().tolist(),
            "owned": names,
            "images": images,
            # NaN is no number of JSON.
            "agreement": [agreement.rows, agreement.equal, None if isnan(largest) else largest],
        }
        return compiled.with_interface(json.dumps({"model": own}))

    def filled(self, X: ArrayLike) -> Array:
        """Return the numbers of a request; its last row stands for those that are missing."""
        encoded = self.encoded(self.features(X))
        if len(encoded) > self.rows:
            raise EncodingError(f"{len(encoded)} rows, a request has {self.rows}: encrypt them in several")
        return self._padded(encoded)

    def _padded(self, encoded: Array) -> Array:
        return encoded[np.minimum(np.arange(self.rows), len(encoded) - 1)]

    def chunks(self, X: Any) -> Iterator[tuple[Array, int]]:
        """Yield requests of rows, with the number of their rows."""
        encoded = self.encoded(self.features(X))
        for start in range(0, len(encoded), self.rows):
            chunk = encoded[start : start + self.rows]
            yield self._padded(chunk), len(chunk)

    def answer(self, method: str) -> Callable[[Array], Any]:
        """Return a method of the model, of scores."""
        answers = self.lowered.answers
        if method not in answers:
            raise AttributeError(f"the model has no {method}: it has {', '.join(answers)}")
        return lambda scores: answers[method](np.asarray(scores).reshape(len(scores), -1))


def _check_rounding(rounding: float, precision: float) -> None:
    """Refuse weights that cancel out to less than their roundings: the library's own numbers are arbitrary then."""
    if rounding > ROUNDED * precision:
        raise EncodingError(
            f"scores are off by up to {rounding:.2g} because weights are rounded to double precision, for an error of "
            f"{precision:.2g}: steps of the model cancel each other out, or its fit has not converged; leave out "
            "components without spread, scale features before the fit, or give a larger precision"
        )


def _agreement(model: Any, compiled: Compiled, encoding: Encoding, X: Any) -> Agreement:
    """Compare the answers of a model with those of what was compiled, on as many examples as a request has."""
    method = next(iter(encoding.lowered.answers))
    chunk, count = next(encoding.chunks(X))
    scores = np.asarray(compiled.simulate(chunk))
    # Lists stay lists: a pipeline that was fitted on them may refuse arrays.
    examples = X.iloc[:count] if hasattr(X, "iloc") else X.tocsr()[:count] if hasattr(X, "tocsr") else X[:count]
    # The Booster of XGBoost predicts arrays by another name.
    clear = getattr(model, "inplace_predict", getattr(model, method))
    near, largest = np.ones(count, dtype=bool), float("nan")
    found, expected = _outputs(encoding.answer(method)(scores)), _outputs(clear(examples))
    for own, other in zip(found, expected, strict=True):
        rows, difference = _compared(own[:count].reshape(count, -1), dense(other).reshape(count, -1))
        near &= rows
        largest = float(np.fmax(largest, difference))
    if isnan(largest) and "predict_proba" in encoding.lowered.answers:
        proba = encoding.answer("predict_proba")(scores)[:count]
        largest = float(np.abs(proba - model.predict_proba(examples)).max())
    return Agreement(count, float(near.mean()), largest)


def _outputs(answer: Any) -> tuple[Any, ...]:
    """Return the outputs of a model, of which most have one."""
    return answer if isinstance(answer, tuple) else (answer,)


def _of_each(change: Callable[..., Array], *answers: Any) -> Any:
    """Change each output of answers."""
    outputs = tuple(change(*own) for own in zip(*map(_outputs, answers), strict=True))
    return outputs if isinstance(answers[0], tuple) else outputs[0]


def _compared(found: Array, expected: Array) -> tuple[Array, float]:
    """Return which rows are equal, and the largest difference of numbers; NaN where there are none."""
    if expected.dtype.kind != "f":
        return (found == expected).all(axis=1), float("nan")
    differences = np.abs(found - expected).max(axis=1)
    return differences <= np.abs(expected).max() / 1000, float(differences.max())


class Model(Halves):
    """A compiled model: two halves, and what is known of it before it runs."""

    def __init__(self, compiled: Compiled, encoding: Encoding, agreement: Agreement) -> None:
        """Wrap a compiled function, and what the owner does in clear."""
        super().__init__(compiled)
        self._encoding, self.agreement = encoding, agreement
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The half that has the secret key: it encrypts rows, and decrypts answers."""
        self._client = self._client or Client(self.compiled, self._encoding)
        return self._client

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the model that are answered."""
        return tuple(self._encoding.lowered.answers)

    def _simulated(self, method: str, X: Any, seed: bytes | None = None) -> Any:
        """Return the answers of a method in clear, with the noise that the scheme would add."""
        answer = self._encoding.answer(method)
        chunks = []
        for chunk, count in self._encoding.chunks(X):
            found = answer(np.asarray(self.compiled.simulate(chunk, seed=seed)))
            chunks.append(_of_each(lambda output, count=count: output[:count], found))
        return _of_each(lambda *outputs: np.concatenate(outputs), *chunks)

    def predict(self, X: ArrayLike, *, seed: bytes | None = None) -> Any:
        """Return predictions in clear, with the noise that the scheme would add; a tuple of several outputs."""
        return self._simulated("predict", X, seed)

    def predict_proba(self, X: ArrayLike, *, seed: bytes | None = None) -> Any:
        """Return the probabilities of classes in clear, with the noise that the scheme would add."""
        return self._simulated("predict_proba", X, seed)

    def decision_function(self, X: ArrayLike, *, seed: bytes | None = None) -> Any:
        """Return scores in clear, with the noise that the scheme would add."""
        return self._simulated("decision_function", X, seed)

    def transform(self, X: ArrayLike, *, seed: bytes | None = None) -> Any:
        """Return the images of rows in clear, with the noise that the scheme would add."""
        return self._simulated("transform", X, seed)

    def score(self, X: ArrayLike, y: ArrayLike, *, seed: bytes | None = None) -> float:
        """Return the share of rows that are predicted right, or R^2 of numbers, in clear with simulated noise."""
        found, expected = self.predict(X, seed=seed), np.asarray(y)
        if isinstance(found, tuple) or found.shape != expected.shape:
            shapes = ", ".join(str(output.shape) for output in _outputs(found))
            raise EncodingError(f"predictions of shape {shapes}, the numbers beside them have {expected.shape}")
        if "predict_proba" in self.methods or "decision_function" in self.methods or found.dtype.kind != "f":
            return float((found == expected).mean())
        left, all_of = ((expected - found) ** 2).sum(axis=0), ((expected - expected.mean(axis=0)) ** 2).sum(axis=0)
        # The mean over outputs; of one that is constant 1 or 0, as in scikit-learn.
        return float(np.where(all_of > 0, 1 - left / np.where(all_of > 0, all_of, 1), left == 0).mean())

    def __repr__(self) -> str:
        """Return the scheme, and the rows of a request."""
        return f"Model(scheme={self.scheme!r}, rows={self._encoding.rows}, methods={self.methods})"


class Client(Owner):
    """The half of a compiled model that has the secret key."""

    def __init__(self, compiled: Compiled, encoding: Encoding) -> None:
        """Wrap a compiled function, and what the owner does in clear."""
        super().__init__(compiled.client)
        self._encoding = encoding

    def encrypt(self, X: ArrayLike, *, seed: bytes | None = None) -> bytes:
        """Encrypt rows, up to as many as a request has.

        Raises `noren.RangeError` that names the row and the feature for features outside of their ranges,
        `noren.EncodingError` for too many rows and for other features.
        """
        return self._half.encrypt(self._encoding.filled(X), seed=seed)

    def _decrypted(self, method: str, reply: bytes, rows: int | None) -> Any:
        count = self._encoding.rows if rows is None else rows
        if not 1 <= count <= self._encoding.rows:
            raise EncodingError(f"rows={rows}: a reply has 1 to {self._encoding.rows}")
        found = self._encoding.answer(method)(np.asarray(self._half.decrypt(reply)))
        return _of_each(lambda output: output[:count], found)

    def predict(self, reply: bytes, *, rows: int | None = None) -> Any:
        """Decrypt predictions, of the first `rows` rows of the request; of all for None.

        Raises `noren.RangeError` for rows whose intermediate results left the ranges of the examples.
        """
        return self._decrypted("predict", reply, rows)

    def predict_proba(self, reply: bytes, *, rows: int | None = None) -> Any:
        """Decrypt the probabilities of classes, as `predict`."""
        return self._decrypted("predict_proba", reply, rows)

    def decision_function(self, reply: bytes, *, rows: int | None = None) -> Any:
        """Decrypt scores, as `predict`."""
        return self._decrypted("decision_function", reply, rows)

    def transform(self, reply: bytes, *, rows: int | None = None) -> Any:
        """Decrypt the images of rows, as `predict`."""
        return self._decrypted("transform", reply, rows)
