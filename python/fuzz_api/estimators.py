"""Random fitted estimators of scikit-learn, XGBoost and LightGBM, with the examples that they were fitted on."""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz_api.draw import Rng, chance, one_of

# A child of fork would wait for the threads of OpenMP that the libraries started in its parent.
os.environ.setdefault("OMP_NUM_THREADS", "1")

Options = dict[str, tuple[Any, ...]]

INTERCEPT: Options = {"fit_intercept": (True, True, False)}
ALPHA: Options = {"alpha": (1e-6, 0.1, 1.0, 100.0), **INTERCEPT}
SIZES: Options = {"max_depth": (1, 2, 3), "min_samples_leaf": (1, 2, 4)}
FOREST: Options = {"n_estimators": (1, 2, 3), "bootstrap": (True, False), **SIZES}
BOOSTED: Options = {"n_estimators": (1, 2, 4), "learning_rate": (0.1, 1.0, 0.01), "subsample": (1.0, 0.6), **SIZES}
HISTOGRAMS: Options = {
    "max_iter": (1, 2, 4),
    "max_leaf_nodes": (2, 3, 6),
    "min_samples_leaf": (1, 2, 5),
    "max_bins": (255, 4, 16),
    "learning_rate": (0.1, 1.0),
    "early_stopping": (False, False, True),
}
NEIGHBOURS: Options = {
    "n_neighbors": (1, 2, 3, 5),
    "weights": ("uniform", "distance"),
    "algorithm": ("auto", "brute", "kd_tree"),
}
KERNEL: Options = {
    "kernel": ("rbf", "linear", "poly", "sigmoid"),
    "gamma": ("scale", "auto", 0.01, 1.0),
    "coef0": (0.0, 1.0, -0.5),
    "degree": (2, 3, 1),
}
NETWORK: Options = {
    "hidden_layer_sizes": ((3,), (4, 3), (1,)),
    "activation": ("identity", "tanh", "logistic"),
    "max_iter": (5, 40),
}
XGB: Options = {
    "n_estimators": (1, 2, 4),
    "max_depth": (1, 2, 3),
    "learning_rate": (0.3, 1.0, 0.01),
    "booster": ("gbtree", "gbtree", "dart"),
    "tree_method": ("hist", "exact", "approx"),
    "base_score": (None, 0.3, 0.9),
    "num_parallel_tree": (1, 1, 2),
    "gamma": (0, 1.0),
    "max_bin": (256, 4),
}
LGB: Options = {
    "n_estimators": (1, 2, 4),
    "num_leaves": (2, 3, 5),
    "learning_rate": (0.1, 1.0),
    "min_child_samples": (1, 3),
    "boosting_type": ("gbdt", "gbdt", "dart"),
    "max_bin": (255, 4),
}

REALS: dict[str, Options] = {
    "linear_model.LinearRegression": {"positive": (False, True), **INTERCEPT},
    "linear_model.Ridge": ALPHA,
    "linear_model.RidgeCV": INTERCEPT,
    "linear_model.Lasso": ALPHA,
    "linear_model.ElasticNet": {"l1_ratio": (0.5, 0.0, 1.0), **ALPHA},
    "linear_model.Lars": INTERCEPT,
    "linear_model.LassoLars": ALPHA,
    "linear_model.OrthogonalMatchingPursuit": INTERCEPT,
    "linear_model.BayesianRidge": INTERCEPT,
    "linear_model.ARDRegression": INTERCEPT,
    "linear_model.HuberRegressor": ALPHA,
    "linear_model.SGDRegressor": {"loss": ("squared_error", "huber", "epsilon_insensitive"), **INTERCEPT},
    "linear_model.QuantileRegressor": {"quantile": (0.5, 0.1), "alpha": (0.0, 0.1), **INTERCEPT},
    "linear_model.TheilSenRegressor": {"max_subpopulation": (30,), **INTERCEPT},
    "svm.LinearSVR": {"C": (1.0, 100.0), **INTERCEPT},
    "svm.SVR": {"C": (1.0, 50.0), "epsilon": (0.1, 0.0), **KERNEL},
    "svm.NuSVR": {"C": (1.0, 50.0), "nu": (0.5, 0.9), **KERNEL},
    "neighbors.KNeighborsRegressor": NEIGHBOURS,
    "neural_network.MLPRegressor": NETWORK,
    "tree.DecisionTreeRegressor": {"criterion": ("squared_error", "absolute_error"), **SIZES},
    "tree.ExtraTreeRegressor": SIZES,
    "ensemble.RandomForestRegressor": FOREST,
    "ensemble.ExtraTreesRegressor": FOREST,
    "ensemble.GradientBoostingRegressor": {
        "loss": ("squared_error", "absolute_error", "huber", "quantile"),
        "init": (None, "zero"),
        **BOOSTED,
    },
    "ensemble.HistGradientBoostingRegressor": {
        "loss": ("squared_error", "absolute_error", "quantile"),
        "quantile": (0.3,),
        **HISTOGRAMS,
    },
    "xgboost.XGBRegressor": {"objective": ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"), **XGB},
    "xgboost.XGBRFRegressor": {"n_estimators": (1, 3), "max_depth": (1, 2, 3)},
    "lightgbm.LGBMRegressor": {
        "objective": ("l2", "l1", "huber", "fair", "quantile"),
        "reg_sqrt": (False, True),
        **LGB,
    },
}
COUNTS: dict[str, Options] = {
    "linear_model.PoissonRegressor": ALPHA,
    "linear_model.GammaRegressor": ALPHA,
    "linear_model.TweedieRegressor": {"power": (0, 1, 1.5, 2), "link": ("auto", "log", "identity"), **ALPHA},
    "ensemble.HistGradientBoostingRegressor": {"loss": ("poisson", "gamma"), **HISTOGRAMS},
    "xgboost.XGBRegressor": {"objective": ("count:poisson", "reg:gamma", "reg:tweedie", "reg:squaredlogerror"), **XGB},
    "lightgbm.LGBMRegressor": {"objective": ("poisson", "gamma", "tweedie", "mape"), **LGB},
}
CLASSES: dict[str, Options] = {
    "linear_model.LogisticRegression": {"C": (1.0, 0.01, 1e3), "class_weight": (None, "balanced"), **INTERCEPT},
    "linear_model.LogisticRegressionCV": {"Cs": (2,), "cv": (2,)},
    "linear_model.RidgeClassifier": ALPHA,
    "linear_model.RidgeClassifierCV": INTERCEPT,
    "linear_model.Perceptron": INTERCEPT,
    "linear_model.SGDClassifier": {"loss": ("hinge", "log_loss", "modified_huber", "squared_hinge"), **INTERCEPT},
    "svm.LinearSVC": {"C": (1.0, 100.0), **INTERCEPT},
    "svm.SVC": {
        "C": (1.0, 50.0),
        "decision_function_shape": ("ovr", "ovo"),
        "break_ties": (False, False, True),
        **KERNEL,
    },
    "svm.NuSVC": {"nu": (0.2, 0.1), "decision_function_shape": ("ovr", "ovo"), **KERNEL},
    "discriminant_analysis.LinearDiscriminantAnalysis": {"solver": ("svd", "lsqr", "eigen")},
    "naive_bayes.GaussianNB": {"var_smoothing": (1e-9, 1e-3)},
    "naive_bayes.MultinomialNB": {"alpha": (1.0, 0.01), "fit_prior": (True, False)},
    "neighbors.KNeighborsClassifier": NEIGHBOURS,
    "neural_network.MLPClassifier": NETWORK,
    "tree.DecisionTreeClassifier": {"criterion": ("gini", "entropy"), "class_weight": (None, "balanced"), **SIZES},
    "tree.ExtraTreeClassifier": SIZES,
    "ensemble.RandomForestClassifier": {"class_weight": (None, "balanced"), **FOREST},
    "ensemble.ExtraTreesClassifier": FOREST,
    "ensemble.GradientBoostingClassifier": {"loss": ("log_loss", "exponential"), "init": (None, "zero"), **BOOSTED},
    "ensemble.HistGradientBoostingClassifier": HISTOGRAMS,
    "xgboost.XGBClassifier": {"objective": ("binary:logistic", "multi:softmax", "multi:softprob"), **XGB},
    "xgboost.XGBRFClassifier": {"n_estimators": (1, 3), "max_depth": (1, 2, 3)},
    "lightgbm.LGBMClassifier": {"objective": (None, "multiclassova"), "is_unbalance": (False, True), **LGB},
}
ALONE: dict[str, Options] = {
    "ensemble.IsolationForest": {
        "n_estimators": (1, 2, 3),
        "max_samples": (2, 4, 8),
        "max_features": (1.0, 0.6),
        "contamination": ("auto", 0.2),
    },
}
BEFORE: dict[str, Options] = {
    "preprocessing.StandardScaler": {"with_mean": (True, False), "with_std": (True, False)},
    "preprocessing.RobustScaler": {"with_centering": (True, False), "with_scaling": (True, False)},
    "preprocessing.MinMaxScaler": {"clip": (False, True), "feature_range": ((0, 1), (-3, 5))},
    "preprocessing.MaxAbsScaler": {},
    "decomposition.PCA": {"n_components": (None, 1, 2, 3), "whiten": (False, True)},
    "decomposition.IncrementalPCA": {"n_components": (1, 2), "whiten": (False, True)},
    "decomposition.TruncatedSVD": {"n_components": (1, 2)},
    "feature_selection.VarianceThreshold": {},
}
"""What is folded into a matrix, also alone."""
OWNED: dict[str, Options] = {
    "feature_selection.SelectKBest": {"k": (1, 2, "all")},
    "preprocessing.PolynomialFeatures": {"include_bias": (True, False)},
    "preprocessing.KBinsDiscretizer": {"n_bins": (3,), "quantile_method": ("averaged_inverted_cdf",)},
    "preprocessing.PowerTransformer": {},
    "preprocessing.Normalizer": {},
    "preprocessing.OneHotEncoder": {"handle_unknown": ("ignore",), "max_categories": (6,), "sparse_output": (False,)},
    "impute.SimpleImputer": {"strategy": ("mean", "most_frequent")},
}
"""What the owner of rows does in clear, or what selects features by labels."""
TREES = ("Tree", "Forest", "Boosting", "Booster", "XGB", "LGBM")


def dense(array: Any) -> Any:
    """Return what may be a sparse matrix as an array."""
    return array.toarray() if hasattr(array, "toarray") else array


@dataclass
class Fitted:
    """An estimator, and what it was fitted on."""

    text: str
    model: Any
    examples: Any
    labels: Any
    form: str = "array"
    """What tables are given as: an array, a sparse matrix, a table of pandas, or lists."""

    @property
    def best(self) -> Any:
        """The estimator itself, of a search too."""
        return getattr(self.model, "best_estimator_", self.model)

    @property
    def last(self) -> Any:
        """The estimator at the end."""
        return self.best.steps[-1][1] if hasattr(self.best, "steps") else self.best

    @property
    def name(self) -> str:
        """The class of the estimator at the end."""
        return type(self.last).__name__

    @property
    def is_trees(self) -> bool:
        """Whether the owner gives ranks, which rows everywhere have."""
        return any(word in self.name for word in TREES)

    @property
    def is_folded(self) -> bool:
        """Whether the features that are encrypted are those of the rows."""
        between = [type(step).__name__ for _, step in self.steps]
        linear = {name.partition(".")[2] for name in BEFORE} | {"SelectKBest", "str"}
        return set(between) <= linear and not any(
            getattr(step, "clip", False) or getattr(step, "whiten", False) for _, step in self.steps
        )

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """The steps before the estimator."""
        return list(getattr(self.best, "steps", [])[:-1])

    @property
    def used(self) -> int:
        """How many columns of rows are looked at, the first ones: a ColumnTransformer may drop the others."""
        for _, step in self.steps:
            if getattr(step, "remainder", None) == "drop":
                return 1 + max(int(column) for _, _, columns in step.transformers for column in columns)
        return int(np.shape(dense(self.examples))[1])

    def before(self, rows: Any) -> Any:
        """Return rows after the steps before the estimator."""
        found = self.best[:-1].transform(rows) if self.steps else rows
        return dense(found)

    def table(self, rows: Any) -> Any:
        """Return rows as those that the estimator was fitted on."""
        match self.form:
            case "pandas":
                return importlib.import_module("pandas").DataFrame(
                    rows, columns=[f"x{k}" for k in range(rows.shape[1])]
                )
            case "sparse":
                return importlib.import_module("scipy.sparse").csr_matrix(rows)
            case "lists":
                return rows.tolist()
            case _:
                return rows


def made(rng: Rng, name: str, options: Options) -> Any:
    """Return an estimator with some of these options."""
    module, _, kind = name.rpartition(".")
    full = module if module in ("xgboost", "lightgbm") else f"sklearn.{module}"
    of = getattr(importlib.import_module(full), kind)
    given = {option: one_of(rng, *values) for option, values in options.items() if chance(rng, 0.6)}
    if module in ("xgboost", "lightgbm"):
        smallest: dict[str, Any] = {
            option: options[option][0] for option in ("n_estimators", "max_depth", "num_leaves") if option in options
        }
        given = {**smallest, "n_jobs": 1, "random_state": 0, **given}
        given |= {"verbose": -1} if module == "lightgbm" else {}
    else:
        known = of().get_params()
        small = {"n_estimators": 2, "max_depth": 3, "max_iter": 3} if "ensemble" in module or "tree" in module else {}
        # On features of very different scale support vectors would be sought for minutes.
        small |= {"max_iter": 5000} if "kernel" in known else {}
        small = {option: value for option, value in small.items() if option in known and option not in given}
        given |= small | ({"random_state": 0} if "random_state" in known else {})
    return of(**given)


def column(rng: Rng, rows: int) -> Any:
    """Draw a column of features."""
    size = float(one_of(rng, 1.0, 1.0, 1.0, 1e-6, 1e3, 1e6))
    match int(rng.integers(9)):
        case 0:
            return np.full(rows, float(one_of(rng, 0.0, 1.0, -3.5, 1e5)))
        case 1:
            return rng.integers(0, 2, rows).astype(float)
        case 2:
            return rng.integers(-3, 4, rows) * size
        case 3:
            return np.exp(rng.normal(size=rows)) * size
        case 4:
            return rng.normal(size=rows) + float(one_of(rng, 10.0, 1e4, -1e3))
        case 5:
            return np.round(rng.uniform(-1, 1, rows), 1) * size
        case _:
            return rng.normal(size=rows) * size


def table(rng: Rng) -> Any:
    """Draw examples."""
    rows, width = int(rng.integers(8, 50)), int(rng.integers(1, 7))
    columns = [column(rng, rows) for _ in range(width)]
    if width > 1 and chance(rng, 0.15):
        columns[-1] = columns[0] * float(one_of(rng, 1.0, -2.0))
    examples = np.stack(columns, axis=1)
    if chance(rng, 0.2):
        examples = np.clip(np.rint(examples), -(2**20), 2**20)
        examples = examples.astype(one_of(rng, np.int64, np.int32))
    elif chance(rng, 0.1):
        examples = examples.astype(np.float32)
    return examples[rng.integers(0, rows // 2, rows)] if chance(rng, 0.15) else examples


def score(rng: Rng, examples: Any) -> Any:
    """Draw what labels depend on, of about 1."""
    numbers = examples.astype(float)
    spread = numbers.std(axis=0)
    scaled = (numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.tanh(scaled @ rng.normal(size=examples.shape[1])) + 0.3 * rng.normal(size=len(examples))


def labels(rng: Rng, examples: Any, kind: str, name: str) -> Any:
    """Draw labels of a kind."""
    of = score(rng, examples)
    match kind:
        case "real":
            y = of * float(one_of(rng, 1.0, 1.0, 100.0, 1e-4)) + float(one_of(rng, 0.0, 0.0, 1e4))
            if chance(rng, 0.1):
                y = np.rint(y).astype(int)
            several = ("LinearRegression", "Ridge", "KNeighborsRegressor", "MLPRegressor", "XGBRegressor", "Lasso")
            return np.stack([y, 2 - y**2], axis=1) if name in several and chance(rng, 0.15) else y
        case "count":
            return rng.poisson(np.exp(of)) + (0.5 if "amma" in name or "LGBM" in name or chance(rng, 0.7) else 0)
        case _:
            count = int(one_of(rng, 2, 2, 3, 4))
            edges = np.quantile(of, np.sort(rng.uniform(0.1, 0.9, count - 1)))
            places = np.searchsorted(edges, of)
            # Each class has a few examples.
            places[: 2 * count] = np.arange(2 * count) % count
            if name.startswith("XGB"):
                return places
            names = one_of(rng, ["no", "yes", "größe", ""], [-7, -1, 0, 40], [0, 1, 2, 3], [0.5, 1.5, 2.5, 3.5])
            return np.array([False, True] if count == 2 and chance(rng, 0.1) else names)[places]


def steps(rng: Rng, name: str, examples: Any) -> list[Any]:
    """Draw the steps before an estimator."""
    found: list[Any] = []
    if chance(rng, 0.55):
        for _ in range(int(rng.integers(1, 4))):
            at, options = one_of(rng, *[*BEFORE.items()] * 2, *OWNED.items())
            found.append("passthrough" if chance(rng, 0.05) else made(rng, at, options))
    if chance(rng, 0.08) and examples.shape[1] > 1:
        kinds = importlib.import_module("sklearn.compose")
        parts = [("a", made(rng, "preprocessing.StandardScaler", {}), [0]), ("b", "passthrough", [1])]
        found.insert(0, kinds.ColumnTransformer(parts, remainder=one_of(rng, "drop", "passthrough")))
    if "MultinomialNB" in name:
        found.append(made(rng, "preprocessing.MinMaxScaler", {}))
    elif any(word in name for word in ("SVC", "SVR", "MLP", "SGD")) and chance(rng, 0.8):
        found.append(made(rng, "preprocessing.StandardScaler", {}))
    return found


def drawn(rng: Rng) -> Fitted:
    """Draw examples and an estimator, and fit it."""
    known = {"real": REALS, "class": CLASSES, "count": COUNTS, "none": {**ALONE, **BEFORE}}
    kind = str(one_of(rng, "real", "real", "class", "class", "class", "count", "none"))
    libraries = ("xgboost", "lightgbm")
    names = [
        name
        for name in known[kind]
        if (library := name.split(".")[0]) not in libraries or importlib.util.find_spec(library) is not None
    ]
    name = str(names[int(rng.integers(len(names)))])
    examples = table(rng)
    y = labels(rng, examples, kind, name.rpartition(".")[2]) if kind != "none" else None
    options = dict(known[kind][name])
    if "LGBM" in name and y is not None and kind == "class" and len(set(y)) == 2:
        del options["objective"]
    model = made(rng, name, options)
    between = steps(rng, name, examples)
    pipeline = importlib.import_module("sklearn.pipeline").make_pipeline
    model = pipeline(*between, model) if between or chance(rng, 0.1) else model
    found = Fitted("", model, examples, y)
    if chance(rng, 0.2):
        found.form = str(one_of(rng, "sparse", "lists", *["pandas"] * (importlib.util.find_spec("pandas") is not None)))
        found.examples = found.table(examples)
    if any(type(step).__name__ == "SimpleImputer" for _, step in found.steps[:1]):
        examples = examples.astype(float)
        examples[rng.random(examples.shape) < 0.1] = np.nan
        found.examples = found.table(examples)
    if y is not None and chance(rng, 0.04):
        found.model = model = importlib.import_module("sklearn.model_selection").GridSearchCV(model, {}, cv=2)
    given: dict[str, Any] = {}
    if name.startswith(libraries) and "RF" not in name and found.best is found.last and chance(rng, 0.2):
        # Predictions end where the labels of other examples were met best.
        model.set_params(n_estimators=6, early_stopping_rounds=1)
        given = {"eval_set": [(found.examples, np.asarray(y)[::-1])]}
        given |= {"verbose": False} if name.startswith("xgboost") else {}
    model.fit(found.examples, *([] if y is None else [y]), **given)
    if chance(rng, 0.05) and name.startswith(libraries) and found.best is found.last:
        model = found.best
        found.model = model.get_booster() if name.startswith("xgboost") else model.booster_
    shown = " ".join(repr(model).split())
    found.text = f"{shown}.fit(<{found.form} {examples.dtype} {examples.shape}>, <{kind}>)"
    return found


def fitted(rng: Rng) -> Fitted:
    """Draw an estimator that can be fitted on its examples, and answers on them."""
    while True:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = drawn(rng)
                method = "predict" if hasattr(found.model, "predict") else "transform"
                own = getattr(found.model, "inplace_predict", getattr(found.model, method))
                answers = np.asarray(own(found.examples))
                if answers.dtype.kind != "f" or np.isfinite(answers).all():
                    return found
        except Exception:
            # Not all options go with all examples: the library refuses these itself.
            continue
