"""Functions of numpy are traced as numpy defines them, with all their arguments, or refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noren
from noren import Input, compiler

SQUARE = np.arange(9).reshape(3, 3)
LEFT = np.arange(6).reshape(2, 3)
KERNEL = np.array([1, -2, 3])
CUBE = np.arange(12).reshape(2, 2, 3)
Function = Callable[[Any], Any]


def numbers(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(5).integers(-3, 3, shape, endpoint=True)


def assert_equals_numpy(function: Function, *arrays: Any) -> None:
    """Compare what is computed in the clear, and whether it is a truth value: twice one is one."""

    def twice(*arguments: Any) -> Any:
        return function(*arguments) + function(*arguments)

    wanted = twice(*arrays)
    f = noren.compile(twice, *(Input(x.shape, -3, 3) for x in arrays), security=None)
    found, bound = f.simulate(*arrays, bound=True)
    assert found.shape == np.shape(wanted)
    assert np.abs(found.astype(float) - np.asarray(wanted, dtype=float)).max() <= bound


@pytest.mark.parametrize(
    ("shape", "function"),
    [
        ((2, 3), lambda x: np.inner(x, SQUARE)),
        ((3,), lambda x: np.inner(SQUARE, x)),
        ((3, 3), lambda x: np.vdot(x, SQUARE)),
        ((3, 3, 2), lambda x: LEFT @ x),
        ((3, 2), lambda x: CUBE @ x),
        ((3,), lambda x: CUBE @ x),
        ((2, 3, 2), lambda x: np.arange(3) @ x),
        ((2, 3, 2), lambda x: np.dot(np.arange(3), x)),
        ((4,), lambda x: (x > 0) @ (x > 1)),
        ((3,), lambda x: np.outer(x > 0, x > 1)),
        ((3, 3), lambda x: np.average(x, axis=0, weights=SQUARE + 1)),
        ((2, 3), lambda x: np.average(x, axis=1, weights=[1, 2, 3], keepdims=True)),
        ((2, 3, 2), lambda x: np.average(x, axis=(2, 0), weights=LEFT[:, :2] + 1)),
        ((2, 3), lambda x: np.sum(x, axis=0, keepdims=1)),  # type: ignore[call-overload]
        ((2, 3), lambda x: np.mean(x, axis=0, keepdims=1)),  # type: ignore[call-overload]
        ((2, 3), lambda x: np.count_nonzero(x, axis=1, keepdims=True)),
        ((2, 3), lambda x: x.var(1, ddof=1, keepdims=True)),
        ((2, 3), lambda x: np.any(x, axis=1)),
        ((2, 3), lambda x: x.all(axis=0, keepdims=True)),
        ((3,), np.logical_or.reduce),
        ((3,), lambda x: np.sum(x > 0, axis=())),
        ((3,), lambda x: np.sum(x, 0, None)),
        ((3,), lambda x: np.sum(x, dtype=np.float64)),
        ((3,), lambda x: np.stack([x > 0, x > 1])),
        ((3,), lambda x: np.stack([x > 0, x])),
        ((3,), lambda x: abs(x > 0)),
        ((3,), lambda x: np.maximum((x > 0).astype(int), x > 1) + (x > 0)),
        ((200,), lambda x: np.concatenate([x, x])),
        ((2, 3), lambda x: np.concatenate([x, x], axis=None)),
        ((3,), lambda x: np.stack(arrays=[x, x], axis=1)),
        ((3,), lambda x: np.full_like(x, 7, shape=(3, 3)) + np.zeros_like(x, shape=(3, 1)) + x),
        ((3,), lambda x: np.clip(x, a_min=0, a_max=1)),
        ((3,), lambda x: x.clip(min=0)),
        ((3,), lambda x: x.astype(np.int8)),
        ((3,), lambda x: x.astype(np.int8).sum()),
        ((3,), lambda x: (x + 4) ** -1.0),
        ((2, 3), lambda x: x.ravel(order="F")),
        ((2, 3), lambda x: x.reshape(3, -1, order="F")),
        ((2, 3), lambda x: x * np.size(x, 1)),
        ((5,), lambda x: np.convolve(x, KERNEL)),
        ((5,), lambda x: np.convolve(KERNEL, x, "same")),
        ((5,), lambda x: np.convolve(x, KERNEL / 4, mode="valid")),
        ((2,), lambda x: np.convolve(x, KERNEL, "valid")),
        ((4,), lambda x: np.convolve(x, x[:2])),
        ((5,), lambda x: np.correlate(x, KERNEL)),
        ((5,), lambda x: np.correlate(KERNEL, x, "full")),
        ((4,), lambda x: np.correlate(x[:2], x, "full")),
        ((5,), np.diff),
        ((3, 4), lambda x: np.diff(x, 2, axis=0)),
        ((3, 4), lambda x: np.diff(x, axis=1, prepend=0, append=0)),
        ((3, 2), lambda x: np.diff(x, prepend=x[:, :1])),
        ((4,), lambda x: np.diff(x > 0)),
        ((3, 4), np.cumsum),
        ((3, 4), lambda x: x.cumsum(axis=0)),
        ((4,), lambda x: np.cumsum(x > 0)),
        ((3, 3), np.trace),
        ((2, 3, 3), lambda x: np.trace(x, 1, 1, 2)),
        ((3, 3), np.tril),
        ((3, 4), lambda x: np.triu(x, 1)),
        ((3, 2), lambda x: np.pad(x, 1, constant_values=0)),
        ((3, 2), lambda x: np.pad(x, ((1, 0), (0, 2)), mode="edge")),
        ((4,), lambda x: np.pad(x, 2, "reflect")),
        ((3, 4), lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1).sum(-1)),
        ((4,), lambda x: np.digitize(x, [-2.5, -0.5, 0.5])),
        ((4,), lambda x: np.digitize(x, [-1, 0, 1], right=True)),
        ((4,), lambda x: np.searchsorted([-1, 0, 1], x)),
        ((4,), lambda x: np.searchsorted([-1, 0, 1], x, side="right")),
        ((6,), lambda x: np.histogram(x, bins=[-3, 0, 2, 3])[0]),
        ((6,), lambda x: np.histogram(x, 3, (-3, 3))[0]),
        ((6,), lambda x: np.bincount(x + 3, minlength=8)),
        ((4,), lambda x: np.select([x > 1, x > 0], [x, 2 * x], -1)),
        ((4,), np.ptp),
        ((4,), lambda x: np.cosh(x / 4.0) + np.sinh(x / 4.0)),
        ((5,), lambda x: np.linalg.norm(x + 4.0)),
        ((3, 4), lambda x: np.linalg.norm(x + 4, axis=1)),
        ((3,), lambda x: np.hypot(x + 5, 2.0)),
        ((4,), lambda x: np.bincount([0, 2, 1, 0], weights=x, minlength=5)),
        ((5,), np.median),
        ((4,), lambda x: np.percentile(x, [0, 100])),
        ((3, 2), lambda x: np.quantile(x, 0.5, axis=0, keepdims=True)),
    ],
)
def test_a_traced_function_is_that_of_numpy(shape: tuple[int, ...], function: Function) -> None:
    assert_equals_numpy(function, numbers(shape))


def test_several_quantiles_take_one_sort() -> None:
    f = noren.compile(lambda x: np.percentile(x, [0, 50, 100]), Input(5, -3, 3), security=None)
    assert sum(step["operation"] == "sort" for step in f.explain().steps) == 1


def test_matrices_that_take_too_much_memory_are_refused_before_they_are_made() -> None:
    for function in (np.cumsum, lambda x: np.convolve(x, KERNEL)):
        with pytest.raises(compiler.TraceError, match="100000 x 10000"):
            noren.compile(function, Input(100_000, -1.0, 1.0), security=None)


@pytest.mark.parametrize(
    ("shape", "function"),
    [((3, 4), lambda x: np.std(x, axis=1)), ((6,), lambda x: x.std(ddof=1)), ((4,), lambda x: np.linalg.norm(x))],
)
def test_roots_of_sums_that_may_be_zero_are_within_their_bound(shape: tuple[int, ...], function: Function) -> None:
    x = np.random.default_rng(5).uniform(-1, 1, shape)
    f = noren.compile(function, Input(shape, -1.0, 1.0), precision=0.1, security=None)
    for values in (x, np.zeros(shape)):
        found, bound = f.simulate(values, bound=True)
        assert np.abs(found - function(values)).max() <= bound <= 0.1


def added_out(x: Any) -> Any:
    np.add(x, 1, out=x)
    return x


def added_to_known(x: Any) -> Any:
    total = np.zeros(3, dtype=int)
    total += x
    return total


def assigned(x: Any) -> Any:
    out = np.zeros(3)
    out[0] = x[0]
    return out


def halved(x: Any) -> Any:
    y = x + 0
    y /= 2
    return y


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: np.add.reduce(x, initial=10), r"np\.add\.reduce with initial="),
        (lambda x: np.maximum.reduce(x, initial=10), "initial="),
        (lambda x: np.sum(x, initial=10), "initial="),
        (lambda x: np.max(x, where=x > 0, initial=0), "initial=, where="),
        (added_out, r"out=.*assign the result"),
        (added_to_known, r"out=.*y = y \+ x"),
        (assigned, r"test_compile_numpy\.py:\d+: .*np\.stack"),
        (lambda _: None, "returns None"),
        (lambda x: {"x": x}, "returns a dict"),
        (halved, "in its place: name a new one"),
        (lambda x: np.add(x, 1, where=np.array([True, False, True])), "where="),
        (lambda x: np.add(x, 1, dtype=np.int8), "dtype=int8"),
        (lambda x: np.sum(x, dtype=np.uint8), "dtype=uint8"),
        (lambda x: x.astype(np.uint8), "from -3 to 3 as uint8"),
        (lambda x: x.astype(np.int8) * 100, "from -300 to 300 as int8"),
        (lambda x: (x > 0) + np.array([255], dtype=np.uint8), "as uint8"),
        (lambda x: np.concatenate([x, x], dtype=np.int8), "dtype=int8"),
        (lambda x: np.atleast_1d(x, np.array([1, 0, 2]))[1], "several arrays"),
        (lambda x: np.take(x, x), "encrypted indices="),
        (lambda x: np.average(x.reshape(3, 1), weights=[1, 2, 3]), r"\(3, 1\) is needed"),
        (lambda x: np.average(x, axis=0, weights=[1]), r"shape \(1,\)"),
        (lambda x: np.average(x, axis=0, weights=[1, 0, -1]), "sum is 0"),
        (lambda x: np.dot(LEFT, x.reshape(1, 3, 1)), "write @"),
        (lambda x: x @ x[:1], "3 elements, 1 are needed"),
        (lambda x: np.where(x > 0, 2**53 + 1, 0), "9007199254740993"),
        (lambda x: compiler.table([2**53 + 1] * 7, x, first=-3), "9007199254740993"),
        (lambda x: x * np.ma.array([1, 2, 3], mask=[False, True, False]), "mask|values of an encrypted array"),
        (lambda x: -(x > 0), "truth values"),
        (lambda x: (x > 0) - (x > 1), "truth values"),
        (lambda x: np.reciprocal(x + 5), "rounds towards 0"),
        (lambda x: (x + 5) ** -1, "numpy refuses"),
        (lambda x: np.ravel(x, order="K"), "order='K'"),
        (lambda x: np.linalg.outer(x, x), "numpy.linalg.outer is not traced"),
        (lambda x: np.convolve(x, SQUARE), "two vectors"),
        (lambda x: np.diff(x, 3), "n=3 of 3 elements"),
        (lambda x: np.pad(x, 1, constant_values=7), "constant_values=7"),
        (lambda x: np.pad(x, 1, "mean"), "mode='mean'"),
        (lambda x: np.digitize(x, [1, 0]), "do not ascend"),
        (lambda x: np.searchsorted(x, [1, 2]), "in an encrypted array"),
        (lambda x: np.histogram(x, 3)[0], "depend on encrypted numbers"),
        (lambda x: np.bincount(x + 3, minlength=3), "minlength=7 or more"),
        (lambda x: np.bincount(x, minlength=9), "integers from 0 on"),
        (lambda x: np.percentile(x, 101), "outside of 0 to 100"),
        (lambda x: np.quantile(x, 0.5, method="nearest"), "method="),
        (lambda x: np.std(x, ddof=3), "ddof=3"),
        (lambda x: np.linalg.norm(x, 1), "ord="),
        (lambda x: np.clip(x, 0, 1, dtype=np.int8), "dtype="),
        (lambda x: x.clip(-1, 1, min=0), "bound twice"),
    ],
)
def test_arguments_that_are_not_traced_are_refused(function: Function, words: str) -> None:
    with pytest.raises(compiler.TraceError, match=words):
        noren.compile(function, Input(3, -3, 3), security=None)


# What a function is called with: the array, or two of one shape, and arguments drawn from these.
AXES: list[Any] = [None, 0, 1, -1, 2, (0, 1), (0,), ()]
KEEP: dict[str, list[Any]] = {"axis": AXES, "keepdims": [False, True, 1]}
UNARY: dict[Any, dict[str, list[Any]]] = {
    np.sum: KEEP | {"dtype": [None, np.int64, np.int8, np.float64], "initial": [0, 10]},
    np.prod: KEEP,
    np.max: KEEP | {"initial": [5]},
    np.min: KEEP,
    np.any: KEEP,
    np.all: KEEP,
    np.mean: KEEP | {"dtype": [None, np.float64, np.int64]},
    np.var: KEEP | {"ddof": [0, 1]},
    np.average: KEEP | {"weights": [[1, 2], [1, 2, 3], SQUARE + 1, LEFT + 1, [4]], "returned": [False, True]},
    np.count_nonzero: KEEP,
    np.add.reduce: KEEP | {"initial": [10], "dtype": [np.int8]},
    np.multiply.reduce: KEEP,
    np.maximum.reduce: KEEP | {"initial": [10]},
    np.logical_or.reduce: KEEP,
    np.clip: {"min": [None, -1], "max": [None, 1], "a_min": [0, None], "a_max": [2]},
    np.abs: {"dtype": [None, np.int8], "where": [True, False], "casting": ["same_kind", "no"]},
    np.sign: {},
    np.negative: {},
    np.positive: {},
    np.fabs: {},
    np.square: {},
    np.logical_not: {},
    np.reciprocal: {},
    np.transpose: {"axes": [None, (1, 0), (2, 0, 1)]},
    np.ravel: {"order": ["C", "F", "K", "A"]},
    np.squeeze: {"axis": [None, 0]},
    np.flip: {"axis": AXES},
    np.roll: {"shift": [1, -2, (1, 1)], "axis": AXES},
    np.repeat: {"repeats": [2], "axis": AXES},
    np.take: {"indices": [0, [1, 0], SQUARE % 2], "axis": AXES, "mode": ["raise", "wrap", "clip"]},
    np.delete: {"obj": [0, [0, 1]], "axis": AXES},
    np.diagonal: {"offset": [0, 1], "axis1": [0, 1], "axis2": [1, 0]},
    np.expand_dims: {"axis": [0, 1, (0, 1)]},
    np.tile: {"reps": [2, (2, 1)]},
    np.rot90: {"k": [1, 3], "axes": [(0, 1), (1, 0)]},
    np.moveaxis: {"source": [0, 1], "destination": [0, -1]},
    np.matrix_transpose: {},
    np.copy: {"order": ["C", "K"]},
}
BINARY: dict[Any, dict[str, list[Any]]] = {
    np.add: {"dtype": [None, np.int64, np.float64, np.int8], "where": [True], "casting": ["same_kind", "unsafe"]},
    np.subtract: {},
    np.multiply: {},
    np.divide: {},
    np.floor_divide: {},
    np.remainder: {},
    np.power: {},
    np.maximum: {},
    np.fmin: {},
    np.equal: {},
    np.less: {},
    np.bitwise_xor: {},
    np.logical_and: {},
    np.left_shift: {},
    np.matmul: {},
    np.dot: {},
    np.inner: {},
    np.vdot: {},
    np.outer: {},
}
JOINING: dict[Any, dict[str, list[Any]]] = {
    np.concatenate: {"axis": [0, 1, None, -1], "dtype": [None, np.int64, np.int8], "casting": ["same_kind", "no"]},
    np.stack: {"axis": [0, 1, -1]},
    np.vstack: {"dtype": [None, np.int64]},
    np.hstack: {},
    np.dstack: {},
    np.column_stack: {},
}
SHAPES: list[tuple[int, ...]] = [(), (1,), (2,), (3,), (2, 3), (3, 3), (3, 1), (2, 2, 3), (2, 3, 3)]


class Call:
    """A call of a function of numpy, drawn with its arguments; x may be truth values, or beside known numbers."""

    def __init__(self, rng: np.random.Generator) -> None:
        tables = [UNARY, BINARY, JOINING]
        table = tables[rng.choice(3, p=[0.6, 0.3, 0.1])]
        self.function = list(table)[rng.integers(len(table))]
        self.joins, self.pairs = table is JOINING, table is BINARY
        options = table[self.function]
        self.options = {key: values[rng.integers(len(values))] for key, values in options.items() if rng.random() < 0.5}
        self.shape = SHAPES[rng.integers(len(SHAPES))]
        other = self.shape if rng.random() < 0.5 else SHAPES[rng.integers(len(SHAPES))]
        self.known = rng.integers(-3, 3, other, endpoint=True)
        self.narrow = rng.random() < 0.2
        self.truths, self.turned, self.encrypted = rng.random(3) < [0.3, 0.5, 0.4]
        self.x = rng.integers(-3, 3, self.shape, endpoint=True)

    def __call__(self, x: Any) -> Any:
        y = x[::-1] if self.encrypted and x.ndim else x if self.encrypted else self.known
        if self.narrow:
            y = y.astype(np.int8) if isinstance(y, np.ndarray) else y
        if self.truths:
            x, y = x > 0, y > 0
        pair = (y, x) if self.turned else (x, y)
        if self.joins:
            result = self.function(pair, **self.options)
        else:
            result = self.function(*(pair if self.pairs else (x,)), **self.options)
        # Truth values and numbers differ here.
        return result + result

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", str(self.function))
        known = f", known of {self.known.shape}, {vars(self)}" if self.joins or self.pairs else ""
        return f"{name} of {self.shape}, truths {self.truths}, {self.options}{known}"


@pytest.mark.filterwarnings("ignore")
def test_random_calls_equal_numpy_or_are_refused() -> None:
    rng = np.random.default_rng(11)
    equal = 0
    for _ in range(900):
        call = Call(rng)
        try:
            f = noren.compile(call, Input(call.shape, -3, 3), security=None)
        except (noren.Error, TypeError, ValueError, IndexError):
            continue
        found, bound = f.simulate(call.x, bound=True)
        wanted = call(call.x)
        assert found.shape == np.shape(wanted), call
        assert np.abs(found.astype(float) - np.asarray(wanted, dtype=float)).max() <= bound, call
        equal += 1
    assert equal > 400
