"""Fitted models, against the libraries that fitted them: random estimators, pipelines, examples and rows."""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api.draw import Rng, chance, one_of, seed_bytes
from fuzz_api.estimators import Fitted, dense, fitted
from fuzz_api.model_answers import Truth
from fuzz_api.program import Call, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import Error, RangeError, ml
from noren.compiler import Server

# What the refusal of a random model may say.
LIMITS = (
    "without a split",
    "fit fewer trees",
    "the nearest that is possible",
    "the smallest that is possible",
    "use smaller ranges",
    "to be bootstrapped",
    "a much larger one",
    "sparse rows",
    "which degree",
    "declare a narrower range",
    "larger precision= help",
    "is no linear map",
    "without support vectors",
    "a variance of 0",
    "outputs for",
    "rounded to double precision",
)
GENERALISED = ("PoissonRegressor", "GammaRegressor", "TweedieRegressor", "IsolationForest", "Booster")
"""Their score is not that of squares."""


class World:
    """A fitted model, and how it is compiled."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.fitted: Fitted = fitted(rng)
        count = len(self.numbers)
        self.options: dict[str, Any] = {"rows": one_of(rng, None, 1, 2, 5, count, count + 3)}
        if chance(rng, 0.4):
            self.options["precision"] = 2.0 ** int(rng.integers(-18, -5))
        if chance(rng, 0.5):
            self.options["margin"] = float(one_of(rng, 0, 0.1, 1, 3))
        if "MLP" in self.fitted.name or "SV" in self.fitted.name:
            self.options["calibrate"] = float(one_of(rng, 0.5, 0.5, 0.25, 1.0))
        self.truth = Truth(self.fitted, self.options.get("precision"))
        self.rows = count if self.options["rows"] is None else self.options["rows"]
        self.margin = self.options.get("margin", ml.MARGIN)
        self._model: ml.Model | None = None
        shown = ", ".join(f"{name}={value!r}" for name, value in self.options.items() if value is not None)
        self.text = [f"model = {self.fitted.text}", f"ml.compile(model, examples, {shown})"]
        self.about = [f"estimator {self.fitted.name}"]

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        raise AssertionError("an answer is no item")

    @property
    def model(self) -> ml.Model:
        """The compiled model."""
        if self._model is None:
            try:
                self._model = ml.compile(self.fitted.model, self.fitted.examples, security=None, **self.options)
            except Error as error:
                if any(limit in str(error) for limit in LIMITS):
                    raise
                raise Finding("refused", f"{type(error).__name__}: {error}") from error
        return self._model

    @property
    def numbers(self) -> Any:
        """The examples as an array."""
        return np.asarray(dense(self.fitted.examples))


def quiet(run: Callable[[], Any]) -> Callable[[], Any]:
    """Return a call that raises errors of noren alone."""

    def call() -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return run()
            except (Error, Finding):
                raise
            except Exception as error:
                raise Finding("exception", f"{type(error).__name__}: {error}") from error

    return call


def own(w: World, rng: Rng, most: int) -> tuple[Any, Any]:
    """Draw some of the examples."""
    chosen = rng.integers(0, len(w.numbers), int(rng.integers(1, most + 1)))
    rows = w.numbers[chosen]
    return w.fitted.table(rows), chosen


def between(w: World, rng: Rng, most: int) -> tuple[Any, str]:
    """Draw rows beside examples, with the side of the range on which they are: "inside", "outside" or "near"."""
    numbers = np.nan_to_num(w.numbers.astype(float))
    count = int(rng.integers(1, most + 1))
    one, other = (numbers[rng.integers(0, len(numbers), count)] for _ in range(2))
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    match one_of(rng, "mixed", "between values", "ends", "beyond", "next", "far"):
        case "mixed":
            rows = np.where(rng.random(one.shape) < 0.5, one, other)
        case "between values":
            # Thresholds of trees lie in the middle of two values that are next to one another.
            rows = one.copy()
            for column in range(rows.shape[1]):
                values = np.unique(numbers[:, column])
                if len(values) > 1:
                    middles = (values[1:] + values[:-1]) / 2
                    rows[:, column] = middles[rng.integers(0, len(middles), count)]
        case "ends":
            edge = w.margin * (high - low) * (1 - 1e-6)
            rows = np.where(rng.random(one.shape) < 0.5, low - edge, high + edge)
        case "beyond":
            rows = one.copy()
            column = int(rng.integers(rows.shape[1]))
            # Constant columns have a little range too.
            width = high[column] - low[column] or max(1.0, abs(high[column]))
            rows[-1, column] = high[column] + w.margin * width * 1.01 + 0.01 * width
        case "next":
            rows = np.nextafter(one, np.where(rng.random(one.shape) < 0.5, np.inf, -np.inf))
        case _:
            rows = one + (high - low) * rng.normal(size=one.shape) * 10 ** rng.uniform(-6, 3)
    if w.numbers.dtype.kind == "i" and chance(rng, 0.5):
        rows = np.rint(rows).astype(w.numbers.dtype)
    elif w.numbers.dtype == np.float32:
        rows = rows.astype(np.float32)
    middle, half = (low + high) / 2, (high - low) * (0.5 + w.margin)
    half = np.where(half > 0, half, np.maximum(np.abs(low), 1.0) * 2.0**-10)
    left = np.abs((rows.astype(float) - middle) / half)
    slack = 1e-9 + 4e-16 * np.abs(middle) / half
    side = "outside" if (left > 1 + slack).any() else "inside" if (left <= 1 - slack).all() else "near"
    return w.fitted.table(rows), side


def method(w: World, rng: Rng, model: Any) -> str:
    """Choose a method that both have."""
    names = [name for name in model.methods if hasattr(model, name) and hasattr(w.fitted.model, name)]
    return str(names[int(rng.integers(len(names)))])


def encrypted(model: ml.Model, rows: Any, name: str, seed: bytes) -> Any:
    """Return the answers of a method on encrypted rows."""
    keys = model.client.keygen(seed=seed)
    reply = model.server.run(model.client.encrypt(rows), keys)
    return getattr(model.client, name)(reply, rows=np.shape(rows)[0])


def through_files(w: World, rows: Any, name: str, seed: bytes) -> Any:
    """Return the same by halves that meet in files."""
    model = w.model
    keys = model.client.keygen(seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        path, secret = Path(folder) / "model", Path(folder) / "secret"
        model.save(path)
        model.client.save_secret(secret)
        again = ml.load(path, w.fitted.model, min_security=0)
        again.client.load_secret(secret)
        reply = Server.load(path, min_security=0).run(again.client.encrypt(rows), keys)
    if repr(again.agreement) != repr(model.agreement):
        raise Finding("wrong", f"{again.agreement} from the file, {model.agreement} was written")
    return getattr(again.client, name)(reply, rows=np.shape(rows)[0])


def ask(w: World, rng: Rng, way: str, rows: Any, side: str) -> Call:
    """Ask for the answers of some method on rows."""
    pick = int(rng.integers(2**31))
    seed = seed_bytes(rng)

    def run() -> Any:
        name = method(w, np.random.default_rng(pick), w.model)
        try:
            if way == "simulated":
                return name, getattr(w.model, name)(rows, seed=seed)
            return name, encrypted(w.model, rows, name, seed) if way == "encrypted" else through_files(
                w, rows, name, seed
            )
        except Error as error:
            # Rows beside the examples may leave the range of a feature, or of an intermediate result.
            # A step of the owner has ranges of its own.
            is_beside = isinstance(error, RangeError) or "the owner of rows applies" in str(error)
            if side == "an example" or not is_beside:
                raise Finding("refused", f"{way}: {type(error).__name__}: {error}") from error
            if side == "inside" and "declared range" in str(error):
                raise Finding("refused", f"rows inside: {error}") from error
            raise

    def check(answer: Any, _: Any) -> float:
        name, found = answer
        if side == "outside":
            raise Finding("accepted", "rows outside of the range of a feature")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return w.truth.check(name, rows, found)

    shown = np.array2string(np.asarray(dense(rows))[:2], precision=17, separator=",")
    return Call(
        f"{way}, {np.shape(rows)[0]} rows, {side}: {' '.join(shown.split())}", quiet(run), None, check=check, keep=False
    )


def ask_of_examples(w: World, rng: Rng) -> Call:
    way = str(one_of(rng, "simulated", "encrypted"))
    rows, _ = own(w, rng, 20 if way == "simulated" else w.rows)
    return ask(w, rng, way, rows, "an example")


def ask_of_rows_beside(w: World, rng: Rng) -> Call:
    way = str(one_of(rng, "simulated", "simulated", "encrypted"))
    rows, side = between(w, rng, 20 if way == "simulated" else w.rows)
    side = "inside" if w.fitted.is_trees else side if w.fitted.is_folded else "near"
    return ask(w, rng, way, rows, side)


def ask_through_files(w: World, rng: Rng) -> Call:
    return ask(w, rng, "through files", own(w, rng, w.rows)[0], "an example")


def compare_with_the_model(w: World, rng: Rng) -> Call:
    """The agreement, and the score, are those of the model but for rows that may go to two classes."""
    count = min(w.rows, len(w.numbers))
    model, y = w.fitted.model, w.fitted.labels
    is_classifier = hasattr(w.fitted.last, "classes_") and "Neighbors" not in w.fitted.name

    def run() -> Any:
        scored = None
        if y is not None and hasattr(model, "score") and w.fitted.name not in GENERALISED:
            scored = w.model.score(w.fitted.examples, y)
        return w.model.agreement, scored

    def check(found: Any, _: Any) -> float:
        agreement, scored = found
        if agreement.rows != count or not 0 <= agreement.equal <= 1:
            raise Finding("wrong", f"{agreement} of {count} rows")
        if not is_classifier:
            if scored is not None and "Neighbors" not in w.fitted.name:
                clear = model.score(w.fitted.examples, y)
                if w.truth.error < 1e-3 * np.std(y, axis=0).min() and abs(scored - clear) > 0.02 * (1 + abs(clear)):
                    raise Finding("wrong", f"score {scored}, {clear} is right")
            return 0.0
        near = w.truth.near(w.fitted.examples)
        if agreement.equal < 1 - near[:count].mean() - 1e-9:
            raise Finding("wrong", f"{agreement}, {near[:count].sum()} rows may go to two classes")
        clear = model.score(w.fitted.examples, y)
        if scored is not None and abs(scored - clear) > near.mean() + 1e-9:
            raise Finding("wrong", f"score {scored}, {clear} is right")
        return 0.0

    return Call("agreement, and score of the examples", quiet(run), None, check=check, keep=False)


def ask_of_unfit_rows(w: World, rng: Rng) -> Call:
    """Rows that are none are refused by noren, whatever a library makes of them."""
    rows = w.numbers[rng.integers(0, len(w.numbers), 3)].astype(float)
    at = int(rng.integers(w.fitted.used))
    is_imputed = any(type(step).__name__ in ("SimpleImputer", "OneHotEncoder") for _, step in w.fitted.steps)
    words = str(
        one_of(rng, "a number that is none", "more features", "no rows", "a row alone", "texts", "too many rows")
    )
    match words:
        case "a number that is none":
            rows[1, at] = one_of(rng, math.inf, -math.inf) if is_imputed else one_of(rng, math.nan, math.inf)
        case "more features":
            rows = np.hstack([rows, rows[:, :1]])
        case "no rows":
            rows = rows[:0]
        case "a row alone":
            rows = rows[0]
        case "texts":
            rows = np.full(rows.shape, "a")
        case _:
            rows = w.numbers[np.arange(w.rows + 1) % len(w.numbers)]
    if is_imputed and words != "too many rows":
        rows = np.nan_to_num(rows) if rows.dtype.kind == "f" and words != "a number that is none" else rows

    def run() -> Any:
        w.model.client.keygen()
        return w.model.client.encrypt(rows)

    return Call(f"encrypt {words}", quiet(run), REFUSE, keep=False)


def compile_with_unfit_options(w: World, rng: Rng) -> Call:
    """Options that are none, and examples of other features."""
    options: dict[str, Any] = one_of(
        rng,
        {"rows": int(one_of(rng, 0, -1))},
        {"margin": one_of(rng, -0.5, math.nan, math.inf)},
        {"precision": one_of(rng, 0.0, -1.0, math.nan)} if not w.fitted.is_trees else {"rows": 0},
        {"X": w.numbers[:0]},
        {"X": np.hstack([w.numbers, w.numbers[:, :1]])},
        {"X": w.numbers[0]},
    )
    examples = options.pop("X", w.fitted.examples)

    def run() -> Any:
        return ml.compile(w.fitted.model, examples, security=None, **options)

    return Call(f"compile with {options}, examples {np.shape(examples)}", quiet(run), REFUSE, keep=False)


VERBS = [
    Verb("ask_of_examples", ask_of_examples, weight=2),
    Verb("ask_of_rows_beside", ask_of_rows_beside, weight=2),
    Verb("ask_through_files", ask_through_files, weight=0.5),
    Verb("compare_with_the_model", compare_with_the_model, weight=0.7),
    Verb("ask_of_unfit_rows", ask_of_unfit_rows, mistake=True, weight=0.5),
    Verb("compile_with_unfit_options", compile_with_unfit_options, mistake=True, weight=0.3),
]
