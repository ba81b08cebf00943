"""Programs on encrypted tables: random models and tables, against numpy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from fuzz_api.draw import Rng, chance, one_of, seed_bytes, text_of
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import Error, ckks, programs


class World:
    """A ring, a shape of tables, and a secret."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        bits = int(one_of(rng, 36, 40, 45))
        levels = int(rng.integers(4, 9))
        log_n = int(rng.integers(6, 10))
        arguments = f"{log_n}, [50, *[{bits}] * {levels}], [50, 50], security=None"
        self.params = ckks.Parameters(log_n, [50, *[bits] * levels], [50, 50], security=None)
        self.ctx = ckks.Context(self.params, threads=1)
        self.rows, self.columns = int(rng.integers(1, 50)), int(rng.integers(1, 34 if chance(rng, 0.2) else 5))
        self.seed = seed_bytes(rng)
        self.keys = self.ctx.keygen(seed=self.seed)
        self.text = [
            f"params = ckks.Parameters({arguments})",
            f"keys = ctx.keygen(seed=bytes.fromhex('{self.seed.hex()}'))  # {self.rows} rows, {self.columns} columns",
        ]

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Decrypt the table: within the errors that it states."""
        matrix = programs.decrypt_table(value, self.keys.secret)
        return compare(matrix, truth)


def compare(matrix: programs.Matrix, truth: Any, told: Any = None) -> float:
    """Raise a Finding for an entry beyond its error."""
    if matrix.values.shape != truth.shape or matrix.errors.shape != truth.shape:
        raise Finding("wrong", f"shape {matrix.values.shape}, true {truth.shape}")
    with np.errstate(invalid="ignore"):
        error = np.abs(matrix.values.astype(np.longdouble) - truth)
    wrong = ~(error <= matrix.errors)
    if told is not None:
        wrong &= told
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        found, true, bound = matrix.values[i, j], float(truth[i, j]), matrix.errors[i, j]
        raise Finding("wrong", f"entry ({i}, {j}) is {found:.12g}, true {true:.12g}, stated error {bound:.3g}")
    return float(np.max(np.where(matrix.errors > 0, error / np.maximum(matrix.errors, 1e-300), 0)))


def encrypt(w: World, rng: Rng) -> Call:
    sizes = np.array([float(one_of(rng, 1.0, 1.0, 10.0, 100.0, 0.1)) for _ in range(w.columns)])
    values = rng.uniform(-1, 1, (w.rows, w.columns)) * sizes
    if chance(rng, 0.2):
        values = np.rint(values)
    options: dict[str, Any] = {"seed": seed_bytes(rng)}
    if chance(rng, 0.4):
        options["max_abs"] = one_of(rng, [float(2 * size) for size in sizes], float(2 * sizes.max()))
    if chance(rng, 0.3):
        options["column_names"] = [f"c{k}" for k in range(w.columns)]
    key = w.keys.public if chance(rng, 0.5) else w.keys.secret
    text = f"programs.encrypt_table({text_of(values)}, key, max_abs={options.get('max_abs')})"
    truth = values.astype(np.longdouble)
    return Call(text, lambda: programs.encrypt_table(values, key, **options), truth, "table")


def model(rng: Rng, x: Any) -> tuple[str, dict[str, Any], Any]:
    """Return a program with its model and what it gives, REFUSE where nothing can be right."""
    name = one_of(rng, "sum", "mean", "variance", "covariance", "inner-product", "linear", "logistic", "polynomial")
    rows, columns = x.shape
    weights = rng.uniform(-2, 2, columns)
    bias = float(rng.uniform(-1, 1)) if chance(rng, 0.5) else 0.0
    if name in ("sum", "mean"):
        return name, {}, (x.sum(axis=0) if name == "sum" else x.sum(axis=0) / np.longdouble(rows))[None]
    if name in ("variance", "covariance"):
        ddof = int(rng.integers(0, 2))
        if rows <= ddof:
            return name, {"ddof": ddof}, REFUSE
        centred = x - x.sum(axis=0) / np.longdouble(rows)
        product = np.dot(centred.T, centred) / np.longdouble(rows - ddof)
        return name, {"ddof": ddof}, np.diag(product)[None].copy() if name == "variance" else product
    if name == "inner-product":
        pairs = [[int(a), int(b)] for a, b in rng.integers(0, columns, (2, 2))]
        return name, {"pairs": pairs}, np.array([[np.sum(x[:, a] * x[:, b])] for a, b in pairs])
    if name == "linear":
        outputs = int(rng.integers(1, 4))
        matrix = rng.uniform(-2, 2, (outputs, columns)) * float(10.0 ** rng.integers(-3, 4))
        if chance(rng, 0.4):
            matrix *= rng.random(matrix.shape) < 0.3
        biases = [float(b) for b in rng.uniform(-1, 1, outputs)]
        return name, {"weights": matrix, "bias": biases}, np.dot(x, matrix.T) + np.array(biases, np.longdouble)
    if name == "polynomial":
        coefficients = rng.uniform(-1, 1, int(rng.integers(1, 6)))
        truth = np.zeros_like(x)
        for coefficient in coefficients[::-1]:
            truth = truth * x + np.longdouble(coefficient)
        return name, {"coefficients": coefficients}, truth
    logits = np.dot(x, weights.astype(np.longdouble)) + np.longdouble(bias)
    interval = float(np.ceil(np.abs(logits).max())) * float(one_of(rng, 1.0, 1.0, 2.0, 0.4)) + 0.5
    options: dict[str, Any] = {"weights": weights, "bias": bias, "interval": interval, "error": 1e-2}
    return name, options, (1 / (1 + np.exp(-logits)))[:, None]


def run(w: World, rng: Rng, table: Item) -> Call:
    name, options, truth = model(rng, table.truth)
    text = f"programs.run(ev, Program({name!r}, **{ {k: text_of(v) for k, v in options.items()} }), table)"
    # Where a row leaves the interval nothing is told, unless the result says so.
    outside = name == "logistic" and logit(table.truth, options) > options["interval"]

    def work() -> Any:
        program = programs.Program(name, **options)
        if chance(rng, 0.2):
            program = pickle.loads(pickle.dumps(program))
        plan = program.plan(w.rows, w.columns, slots=w.ctx.slots)
        # The same seed makes the same secret.
        keys = plan.keygen(w.ctx, seed=w.seed)
        return programs.run(w.ctx.evaluator(keys.evaluation), program, table.value)

    def check(found: Any, truth: Any) -> float:
        try:
            matrix = programs.decrypt_table(found, w.keys.secret)
        except Error:
            if not outside:
                raise
            matrix = programs.decrypt_table(found, w.keys.secret, allow_unbounded=True)
        flagged = np.isinf(matrix.errors)
        for i, j in matrix.out_of_range:
            flagged[i, j] = True
        if flagged.any() and not outside:
            raise Finding("refused", f"{int(flagged.sum())} entries are flagged, and all are in range")
        return compare(matrix, truth, ~flagged if outside else None)

    return Call(text, work, truth, check=check)


def planned(w: World, rng: Rng, table: Item) -> Call:
    """Parameters, plan and keys by noren itself: the result decrypts, and is within its errors."""
    name, options, truth = model(rng, table.truth)
    bits, public, rows, columns = float(rng.uniform(6, 20)), chance(rng, 0.5), w.rows, w.columns
    outside = name == "logistic" and logit(table.truth, options) > options["interval"]
    text = f"planned for {bits} bits: Program({name!r}, **{ {k: text_of(v) for k, v in options.items()} })"

    def work() -> Any:
        program = programs.Program(name, **options)
        params = programs.choose_parameters([program], rows=rows, columns=columns, precision_bits=bits)
        ctx = ckks.Context(params, threads=1)
        keys = programs.plan([program], rows=rows, columns=columns, slots=ctx.slots).keygen(ctx)
        key = keys.public if public else keys.secret
        encrypted = programs.encrypt_table(table.truth.astype(float), key)
        result = programs.run(ctx.evaluator(keys.evaluation), program, encrypted)
        return programs.decrypt_table(result, keys.secret, allow_unbounded=outside)

    def check(matrix: Any, truth: Any) -> float:
        flagged = np.isinf(matrix.errors)
        if flagged.any() and not outside:
            raise Finding("refused", f"{int(flagged.sum())} entries are flagged, and all are in range")
        return compare(matrix, truth, ~flagged if outside else None)

    return Call(text, work, truth, check=check)


def exceeded(w: World, rng: Rng) -> Call:
    """Values above their bound, and names that occur twice, are refused."""
    values = rng.uniform(-1, 1, (w.rows, w.columns))
    if w.columns > 1 and chance(rng, 0.4):
        names = [f"c{k}" for k in range(w.columns)]
        names[int(rng.integers(1, w.columns))] = "c0"
        work = lambda: programs.encrypt_table(values, w.keys.secret, column_names=names)
        return Call(f"encrypt_table(values, column_names={names})", work, REFUSE)
    bounds = np.abs(values).max(axis=0) * 1.001
    column = int(rng.integers(0, w.columns))
    bounds[column] = np.abs(values[:, column]).max() * float(rng.uniform(0.51, 0.999))
    work = lambda: programs.encrypt_table(values, w.keys.secret, max_abs=bounds)
    return Call(f"encrypt_table({text_of(values)}, max_abs={bounds.tolist()})", work, REFUSE)


def logit(x: Any, options: dict[str, Any]) -> float:
    """Return the largest absolute value of the linear part."""
    return float(np.abs(np.dot(x, options["weights"]) + options["bias"]).max())


def round_trip(w: World, rng: Rng, table: Item) -> Call:
    if chance(rng, 0.5):
        return Call("pickle of the table", lambda: pickle.loads(pickle.dumps(table.value)), table.truth, "table")
    work = lambda: programs.EncryptedTable.from_bytes(w.ctx, bytes(table.value))
    return Call("EncryptedTable.from_bytes(ctx, bytes(table))", work, table.truth, "table")


def foreign(w: World, rng: Rng, table: Item) -> Call:
    """Keys of another secret are refused."""
    keys = w.ctx.keygen(seed=seed_bytes(rng))
    return Call("decrypt_table(table, other.secret)", lambda: programs.decrypt_table(table.value, keys.secret), REFUSE)


VERBS: list[Verb] = [
    Verb("encrypt_table", encrypt),
    Verb("run", run, ("table",), 5.0),
    Verb("round_trip", round_trip, ("table",), 0.5),
    Verb("planned", planned, ("table",), 0.4),
    Verb("exceeded", exceeded, (), 0.3, mistake=True),
    Verb("foreign", foreign, ("table",), 0.3, mistake=True),
]
