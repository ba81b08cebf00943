"""Compiled functions: random functions of random shapes, within their bounds of numpy, or refused before keys exist."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import noren
from fuzz_api.draw import Rng, chance, one_of
from fuzz_api.program import Call, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import Input

Step = Callable[[Any, Any, Any], Any]

REALS: dict[str, Step] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "scale": lambda a, _, c: a * c[0, 0],
    "shift": lambda a, _, c: a + c[0, 1],
    "polynomial": lambda a, _, c: c[1, 0] + a * (a - 0.5),
    "matmul": lambda a, _, c: a @ np.resize(c, (a.shape[-1], 1 + int(8 * abs(c[0, 2])) % 5)),
    "sum": lambda a, _, c: a.sum(axis=int(c[0, 3] > 0) % a.ndim),
    "mean": lambda a, _, c: a.mean(axis=int(c[0, 3] > 0) % a.ndim),
    "var": lambda a, _, __: a.var(axis=0),
    "tanh": lambda a, _, __: np.tanh(a),
    "abs": lambda a, _, __: np.abs(a),
    "maximum": lambda a, _, c: np.maximum(a, c[1, 1]),
    "constants": lambda a, _, c: a * np.resize(c, a.shape) + np.resize(c.T, a.shape),
    "transpose": lambda a, _, __: a.T,
    "flip": lambda a, _, __: a[::-1],
    "ravel": lambda a, _, __: a.reshape(-1),
    "column": lambda a, _, __: a[..., 0],
    "row": lambda a, _, __: a[-1],
    "join": lambda a, _, __: np.concatenate([a, a * 0.5]),
    "spectrum": lambda a, _, __: abs(np.fft.rfft(a)) ** 2 / a.shape[-1],
}
# With decisions, what takes many levels otherwise: within the bound everywhere.
DECIDED: dict[str, Step] = {
    **REALS,
    "extremes": lambda a, b, _: np.minimum(np.abs(a), np.maximum(b, 0.25)) if np.shape(a) == np.shape(b) else abs(a),
    "largest": lambda a, _, c: a.max(axis=int(c[0, 3] > 0) % a.ndim),
    "sort": lambda a, _, c: np.sort(a, axis=int(c[0, 3] > 0) % a.ndim),
}
# Of integers: what slots do, and what needs them one by one.
SUMS: dict[str, Step] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "scale": lambda a, _, c: a * c[0, 0],
    "polynomial": lambda a, _, c: a * a - c[1, 0] * a + 2,
    "constants": lambda a, _, c: np.resize(c, a.shape) - a,
    "matmul": lambda a, _, c: a @ (np.resize(c, (a.shape[-1], 1 + c[0, 2] % 3)) - 4),
    "sum": lambda a, _, c: a.sum(axis=c[0, 3] % a.ndim),
    "transpose": lambda a, _, __: a.T,
    "join": lambda a, _, __: np.concatenate([a, -a]),
    "equal": lambda a, b, _: (a == b) * 1,
    "any": lambda a, _, c: (a == c[0, 1]).any(axis=c[0, 3] % a.ndim) * 1,
    "all": lambda a, b, _: (a != b).all(axis=0) * 1,
}
CHOICES: dict[str, Step] = {
    **SUMS,
    "where": lambda a, b, _: np.where(a > b, a, b - 1),
    "maximum": lambda a, b, _: np.maximum(a, b),
    "largest": lambda a, _, c: a.max(axis=c[0, 3] % a.ndim),
    "quotient": lambda a, b, _: a // (abs(b) + 1),
    "remainder": lambda a, _, c: a % c[0, 1],
    "shift": lambda a, _, c: (a << c[0, 1] % 4) - (a >> c[0, 2] % 4),
    "bits": lambda a, b, _: (a & b) ^ a,
    "sign": lambda a, _, __: np.sign(a),
    "table": lambda a, _, __: noren.compiler.table(np.arange(64) * 3 % 17, a % 8),
}
# What single numbers have too.
NUMBERS = ("add", "sub", "mul", "scale", "shift", "tanh", "abs", "maximum", "where", "equal", "bits", "sign")
# What a refusal of a random function may say: several maxima one after the other take more levels than there are,
# integers grow beyond their widest types, and real numbers beyond those that are bootstrapped.
LIMITS = (
    "the nearest that is possible",
    "the smallest that is possible",
    "a much larger one",
    "levels, one after the other",
    "use smaller ranges",
    "to be bootstrapped: narrow the ranges",
    "int64",
)
# A lookup is of two encrypted numbers, and its results are residues.
LOOKUP_LIMITS = (
    *LIMITS,
    "a function of at most two encrypted numbers",
    "results in a range of at most 65537 values",
    "different functions of elements",
)


# The same of results over several ciphertexts.
LONG_LIMITS = (
    "apply it to the input",
    "apply the function to parts",
    "narrow the ranges of inputs",
    "smaller arrays",
    "with fewer rows",
)


class Function:
    """A few random steps, each on results of earlier ones."""

    def __init__(self, rng: Rng, kinds: dict[str, Step], most: int, *, integers: bool) -> None:
        def numbers() -> Any:
            return rng.integers(1, 9, (6, 6)) if integers else rng.uniform(-1, 1, (6, 6))

        self.kinds = kinds
        self.steps = [
            (str(rng.choice(list(kinds))), int(rng.integers(1000)), numbers()) for _ in range(rng.integers(2, most))
        ]

    def __call__(self, *arrays: Any) -> Any:
        pool = list(arrays)
        for name, at, numbers in self.steps:
            a, b = pool[at % len(pool)], pool[at // 7 % len(pool)]
            if np.ndim(a) > 0 or name in NUMBERS:
                try:
                    pool.append(self.kinds[name](a, b, numbers))
                except (ValueError, noren.Error) as error:
                    if "broadcast" not in str(error):
                        raise
        return pool[-1], pool[len(pool) // 2]

    def __repr__(self) -> str:
        return f"Function({[name for name, _, _ in self.steps]})"


class World:
    """Nothing but its seed: each function has parameters and keys of its own."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.text: list[str] = []

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Every call has a check of its own."""
        raise NotImplementedError


def compiled(
    function: Function,
    inputs: list[Input],
    options: dict[str, Any],
    through_file: bool,
    limits: tuple[str, ...] = LIMITS,
) -> Any:
    """Compile; what is refused here may be for its limits alone."""
    try:
        f = noren.compile(function, *inputs, security=None, **options)
    except noren.Error as error:
        if any(words in str(error) for words in limits):
            raise
        raise Finding("refused", f"{function}, {inputs}: {error}") from error
    if not through_file:
        return f
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "function"
        f.save(path)
        return noren.compiler.Compiled.load(path, min_security=0)


def values_of(rng: Rng, spec: Input, *, integers: bool) -> Any:
    """Return values of the range of an input, in places its ends alone."""
    if integers:
        values: Any = rng.integers(int(spec.low), int(spec.high), spec.shape, endpoint=True)
    else:
        values = rng.uniform(spec.low, spec.high, spec.shape)
    ends = rng.choice([spec.low, spec.high], spec.shape).astype(values.dtype)
    return np.where(rng.random(spec.shape) < one_of(rng, 0.0, 0.3, 1.0), ends, values)


def drawn(rng: Rng, most: int, ranges: tuple[tuple[float, float], ...], *, long: bool = False) -> list[Input]:
    """Return one argument or two of random shapes and ranges; long ones have rows for several ciphertexts."""
    if long:
        rows = int(rng.integers(200, 900))
        shapes = [(rows, int(rng.integers(1, most))) for _ in range(rng.integers(1, 3))]
        return [Input(shape, *one_of(rng, *ranges)) for shape in shapes]
    return [
        Input(tuple(int(n) for n in rng.integers(1, most, rng.integers(1, 3))), *one_of(rng, *ranges))
        for _ in range(rng.integers(1, 3))
    ]


def run_both(f: Any, arrays: list[Any], *, bound: bool) -> list[Any]:
    """Encrypt, compute and decrypt, and simulate the same: what was compiled is not refused any more."""
    try:
        keys = f.client.keygen()
        reply = f.server.run(f.client.encrypt(*arrays), keys)
        return [f.client.decrypt(reply, bound=bound), f.simulate(*arrays, bound=bound)]
    except noren.Error as error:
        raise Finding("late", f"it was compiled, and refused later: {type(error).__name__}: {error}") from error


def reals(
    scheme: str,
    most: int,
    kinds: dict[str, Step] = REALS,
    precisions: tuple[float, ...] = (3e-2, 3e-2, 3e-3),
    *,
    long: bool = False,
) -> Callable[[World, Rng], Call]:
    def make(_: World, rng: Rng) -> Call:
        function = Function(rng, kinds, most, integers=False)
        inputs = drawn(rng, 7, ((-1.0, 1.0), (-1.0, 1.0), (0.25, 1.0), (-0.125, 0.5)), long=long)
        precision = float(one_of(rng, *precisions))
        arrays = [values_of(rng, spec, integers=False) for spec in inputs]
        through_file = chance(rng, 0.2)

        def run() -> Any:
            limits = (*LIMITS, *LONG_LIMITS) if long else LIMITS
            f = compiled(function, inputs, {"precision": precision, "scheme": scheme}, through_file, limits)
            return run_both(f, arrays, bound=True)

        def check(found: Any, wanted: Any) -> float:
            worst = 0.0
            for results in found:
                for (values, bound), truth in zip(results, wanted, strict=True):
                    error = float(np.abs(values - truth).max())
                    if values.shape != np.shape(truth) or not error <= bound <= precision:
                        raise Finding("wrong", f"{values}, true {truth}, bound {bound}, precision {precision}")
                    worst = max(worst, error / bound)
            return worst

        return Call(f"{scheme}: {function}({inputs})", run, function(*arrays), check=check)

    return make


def integers(
    scheme: str, kinds: dict[str, Step], limits: tuple[str, ...] = LIMITS, *, long: bool = False
) -> Callable[[World, Rng], Call]:
    def make(_: World, rng: Rng) -> Call:
        function = Function(rng, kinds, 5, integers=True)
        inputs = drawn(rng, 4, ((-6, 7), (0, 7), (0, 1), (-3, -1)), long=long)
        arrays = [values_of(rng, spec, integers=True) for spec in inputs]
        through_file = chance(rng, 0.2)

        def run() -> Any:
            return run_both(compiled(function, inputs, {"scheme": scheme}, through_file, limits), arrays, bound=False)

        def check(found: Any, wanted: Any) -> float:
            for results in found:
                for values, truth in zip(results, wanted, strict=True):
                    if np.shape(values) != np.shape(truth) or not (values == truth).all():
                        raise Finding("wrong", f"{values}, true {truth}")
            return 0.0

        return Call(f"{scheme}: {function}({inputs})", run, function(*arrays), check=check)

    return make


def decisions(_: World, rng: Rng) -> Call:
    """Compare results of random steps: right outside of the dead zone."""
    steps, edge = Function(rng, DECIDED, 3, integers=False), float(rng.uniform(-0.5, 0.5))
    inputs = drawn(rng, 7, ((-1.0, 1.0), (0.25, 1.0)))
    arrays = [values_of(rng, spec, integers=False) for spec in inputs]
    zone, precision = float(one_of(rng, 0.25, 0.5, 1.0)), 0.75

    def function(*arrays: Any) -> Any:
        x, _ = steps(*arrays)
        place = x.argmax(axis=-1) if np.ndim(x) > 0 else x * 0.0
        return np.where(x > edge, x - 1.0, 0.5 * x), np.sign(x - edge), place

    def run() -> Any:
        options: dict[str, Any] = {"precision": precision, "dead_zone": zone, "scheme": "ckks-switching"}
        try:
            return run_both(noren.compile(function, *inputs, security=None, **options), arrays, bound=True)
        except noren.Error as error:
            if any(words in str(error) for words in LIMITS):
                raise
            raise Finding("refused", f"{steps}, {inputs}: {error}") from error

    def check(found: Any, wanted: Any) -> float:
        x, worst = steps(*arrays)[0], 0.0
        ordered = np.sort(np.atleast_1d(x), axis=-1)
        apart = np.abs(x - edge) > zone
        single = ordered.shape[-1] == 1 or ordered[..., -1] - ordered[..., -2] > zone
        for results in found:
            for (values, bound), truth, clear in zip(results, wanted, (apart, apart, single), strict=True):
                error = float(np.where(clear, np.abs(values - truth), 0.0).max())
                if values.shape != np.shape(truth) or not error <= bound <= precision:
                    raise Finding("wrong", f"{values}, true {truth} of {x} about {edge}, bound {bound}, zone {zone}")
                worst = max(worst, error / bound)
        return worst

    return Call(f"decisions: {steps}({inputs}) about {edge}", run, function(*arrays), check=check)


def calibrated(scheme: str) -> Callable[[World, Rng], Call]:
    """Ranges come from examples: rows without a flag are right, whatever the others hold."""

    def make(_: World, rng: Rng) -> Call:
        function = Function(rng, REALS, 6, integers=False)
        inputs = drawn(rng, 7, ((-1.0, 1.0), (0.25, 1.0)))
        part = float(one_of(rng, 0.05, 0.3, 1.0))
        examples = [spec.low + part * (values_of(rng, spec, integers=False) - spec.low) for spec in inputs]
        same = chance(rng, 0.4)
        arrays = examples if same else [values_of(rng, spec, integers=False) for spec in inputs]
        precision, margin = 3e-2, float(one_of(rng, 0.25, 1.0))

        def run() -> Any:
            options: dict[str, Any] = {"precision": precision, "scheme": scheme, "calibrate": margin}
            ranges = [(spec.low, spec.high) for spec in inputs]
            try:
                f = noren.compile(function, *examples, ranges=ranges, security=None, **options)
            except noren.Error as error:
                if any(words in str(error) for words in LIMITS):
                    raise
                raise Finding("refused", f"{function}, {inputs}: {error}") from error
            try:
                keys = f.client.keygen()
                reply = f.server.run(f.client.encrypt(*arrays), keys)
                found = f.client.decrypt(reply, bound=True, flags=True)
                return [found, f.simulate(*arrays, bound=True, flags=True)]
            except noren.Error as error:
                raise Finding("late", f"it was compiled, and refused later: {type(error).__name__}: {error}") from error

        def check(found: Any, wanted: Any) -> float:
            worst = 0.0
            for results, flags in found:
                if same and flags.any():
                    raise Finding("flagged", f"examples themselves: {flags}")
                for (values, bound), truth in zip(results, wanted, strict=True):
                    if values.shape != np.shape(truth):
                        raise Finding("wrong", f"{values}, true {truth}")
                    errors = np.abs(values - truth)
                    right = errors[~flags] if flags.size > 1 else errors[None][~flags]
                    if right.size and not right.max() <= bound <= precision:
                        raise Finding("wrong", f"{values}, true {truth}, bound {bound}, flags {flags}")
                    worst = max(worst, float(right.max(initial=0.0)) / bound if bound else 0.0)
            return worst

        return Call(f"{scheme}, calibrated: {function}({inputs})", run, function(*arrays), check=check)

    return make


def outside(_: World, rng: Rng) -> Call:
    """Values outside of their ranges are refused."""
    exact = chance(rng, 0.5)
    function = Function(rng, SUMS if exact else REALS, 3, integers=exact)
    inputs = drawn(rng, 4, ((-6, 7), (0, 7)) if exact else ((-1.0, 1.0), (0.25, 1.0)))
    arrays = [values_of(rng, spec, integers=exact) for spec in inputs]
    wrong = one_of(rng, inputs[0].high + 1, inputs[0].low - 1) if exact else one_of(rng, 1.1, -7.0, np.nan, np.inf)
    arrays[0] = arrays[0].copy()
    arrays[0].flat[int(rng.integers(arrays[0].size))] = wrong

    def run() -> Any:
        f = compiled(function, inputs, {"scheme": "bgv"} if exact else {"precision": 3e-2, "scheme": "ckks"}, False)
        f.client.keygen()
        return f.client.encrypt(*arrays)

    return Call(f"{function}({inputs}) of {wrong}", run, REFUSE)


def foreign(_: World, rng: Rng) -> Call:
    """Keys and requests of another function are refused, and so are replies for another secret."""
    function = Function(rng, REALS, 3, integers=False)
    inputs = drawn(rng, 4, ((-1.0, 1.0),))
    arrays = [values_of(rng, spec, integers=False) for spec in inputs]
    what, kept = one_of(rng, "keys", "request", "reply", "cut"), rng.random()

    def run() -> Any:
        options = {"precision": 3e-2, "scheme": "ckks"}
        f, g = compiled(function, inputs, options, False), compiled(function, inputs, options, False)
        keys, others = f.client.keygen(), g.client.keygen()
        request = (g if what == "request" else f).client.encrypt(*arrays)
        if what == "cut":
            request = request[: int(kept * len(request))]
        reply = f.server.run(request, others if what == "keys" else keys)
        return (g if what == "reply" else f).client.decrypt(reply)

    def check(found: Any, wanted: Any) -> float:
        # What uses no key is right with every key.
        if what != "keys" or any(np.abs(a - b).max() > 3e-2 for a, b in zip(found, wanted, strict=True)):
            raise Finding("accepted", f"{found}, true {wanted}")
        return 0.0

    return Call(f"{function}({inputs}) of another: {what}", run, function(*arrays), check=check)


VERBS: list[Verb] = [
    Verb("reals", reals("ckks", 7), weight=4.0),
    Verb("long reals", reals("ckks", 5, precisions=(0.3, 3e-2), long=True), weight=0.4),
    Verb("long sums", integers("bgv", SUMS, (*LIMITS, *LONG_LIMITS), long=True), weight=0.3),
    Verb("bootstraps", reals("ckks-bootstrapping", 4), weight=0.6),
    Verb("switches", reals("ckks-switching", 4, DECIDED, (0.3, 1.0)), weight=0.6),
    Verb("decisions", decisions, weight=0.6),
    Verb("sums", integers("bgv", SUMS), weight=2.0),
    Verb("residues", integers("bfv", SUMS), weight=1.0),
    Verb("choices", integers("tfhe", CHOICES), weight=1.0),
    Verb("lookups", integers("bfv-lookups", CHOICES, LOOKUP_LIMITS), weight=2.0),
    Verb("calibrated", calibrated("ckks"), weight=1.0),
    Verb("calibrated, deep", calibrated("ckks-bootstrapping"), weight=0.3),
    Verb("outside", outside, weight=0.5, mistake=True),
    Verb("foreign", foreign, weight=0.5, mistake=True),
]
