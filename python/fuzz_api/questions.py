"""Questions on tables, against numpy on the same rows: random columns, conditions, measures and groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz_api.draw import Rng, chance, one_of, seed_bytes
from fuzz_api.program import Call, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import tables

Mask = NDArray[np.bool_]
NAMES = ("age", "x1", "body weight", "select", "größe", 'a "b"')
MOST_SUMS = 4096


def numbers(rng: Rng, low: float, step: float, count: int, rows: int) -> NDArray[np.float64]:
    """Draw values of a column, some of them much more often than others."""
    codes = rng.integers(0, count, rows)
    return low + step * np.where(rng.random(rows) < 0.2, rng.integers(0, count), codes)


class World:
    """A table, and what its columns may hold."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.rows = int(one_of(rng, 1, rng.integers(1, 40), rng.integers(40, 400), 2 ** rng.integers(1, 8)))
        self.most = self.rows + int(one_of(rng, 0, 0, rng.integers(0, 300)))
        self.held: dict[str, Any] = {}
        self.cells: dict[str, Any] = {}
        self.compared: set[str] = set()
        """The columns that a question compares with one another: their groups are of the values of either."""
        for name in rng.permutation(NAMES)[: rng.integers(1, 5)]:
            self._column(rng, str(name))
        self.text = [f"columns = {self.held}  # {self.rows} rows, at most {self.most}"]

    def _column(self, rng: Rng, name: str) -> None:
        count = int(one_of(rng, 1, 2, rng.integers(2, 9), rng.integers(2, 200), 2 ** rng.integers(1, 17)))
        match int(rng.integers(3)):
            case 0:
                low = int(one_of(rng, 0, 0, -count // 2, rng.integers(-(2**40), 2**40)))
                self.held[name] = tables.Integers(low, low + count - 1)
                self.cells[name] = numbers(rng, low, 1, count, self.rows).astype(np.int64)
            case 1:
                # Multiples of powers of two are what they are in the oracle too.
                least, step = float(rng.integers(-500, 500)), float(2.0 ** rng.integers(-6, 3))
                self.held[name] = tables.Steps(least, least + step * (count - 1), step)
                self.cells[name] = numbers(rng, least, step, count, self.rows)
            case _:
                count = min(count, 20)
                texts = [f"{one_of(rng, 'é', 'it', '')}'{k}" for k in range(count)]
                self.held[name] = tables.Categories(tuple(texts))
                self.cells[name] = [texts[k] for k in rng.integers(0, count, self.rows)]

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        raise AssertionError("an answer is no item")


def quoted(name: str) -> str:
    """Return the name of a column in a question."""
    return name if name.isidentifier() and name != "select" else '"' + name.replace('"', '""') + '"'


def column(w: World, rng: Rng, *, numeric: bool = False) -> str | None:
    """Choose a column."""
    names = [name for name in w.held if not (numeric and isinstance(w.held[name], tables.Categories))]
    return str(one_of(rng, *names)) if names else None


def near(w: World, rng: Rng, name: str) -> float:
    """Draw a number that values of a column are compared with: one of them, beside one, or outside."""
    held = w.held[name]
    step = held.step if isinstance(held, tables.Steps) else 1
    value = float(one_of(rng, w.cells[name][int(rng.integers(w.rows))], held.low, held.high))
    return value + step * float(one_of(rng, 0, 0, 0, 0.5, -0.25, 1, -1))


def condition(w: World, rng: Rng, depth: int = 0) -> tuple[str, Mask]:
    """Draw a condition, with the rows for which it holds."""
    if depth < 3 and chance(rng, 0.5):
        (a, in_a), (b, in_b) = condition(w, rng, depth + 1), condition(w, rng, depth + 1)
        text, mask = one_of(rng, (f"({a} AND {b})", in_a & in_b), (f"({a} or {b})", in_a | in_b), (f"not ({a})", ~in_a))
        return str(text), mask
    name = column(w, rng)
    assert name is not None
    cells, shown = w.cells[name], quoted(name)
    if (other := column(w, rng)) and type(w.held[other]) is type(w.held[name]) and chance(rng, 0.4):
        return between_columns(w, rng, name, other)
    if isinstance(w.held[name], tables.Categories):
        texts = [str(text) for text in rng.permutation(w.held[name].values)[: rng.integers(1, 4)]]
        words = ["'" + text.replace("'", "''") + "'" for text in texts]
        mask = np.isin(np.array(cells), texts[:1])
        many = np.isin(np.array(cells), texts)
        cases: list[tuple[str, Mask]] = [
            (f"{shown} = {words[0]}", mask),
            (f"{shown} <> {words[0]}", ~mask),
            (f"{shown} IN ({', '.join(words)})", many),
            (f"{shown} NOT IN ({', '.join(words)})", ~many),
        ]
    else:
        x, y = near(w, rng, name), near(w, rng, name)
        between = (cells >= x) & (cells <= y)
        cases = [
            (f"{shown} < {x!r}", cells < x),
            (f"{shown} <= {x!r}", cells <= x),
            (f"{shown} > {x!r}", cells > x),
            (f"{shown} >= {x!r}", cells >= x),
            (f"{shown} = {x!r}", cells == x),
            (f"{shown} != {x!r}", cells != x),
            (f"{shown} between {x!r} and {y!r}", between),
            (f"{shown} not between {x!r} and {y!r}", ~between),
            (f"{shown} in ({x!r}, {y!r})", np.isin(cells, [x, y])),
        ]
    text, mask = cases[int(rng.integers(len(cases)))]
    return text, mask


def between_columns(w: World, rng: Rng, name: str, other: str) -> tuple[str, Mask]:
    """Compare two columns."""
    w.compared |= {name, other}
    a, b = np.array(w.cells[name]), np.array(w.cells[other])
    cases: list[tuple[str, Mask]] = [("=", a == b), ("<>", a != b)]
    if not isinstance(w.held[name], tables.Categories):
        cases += [("<", a < b), ("<=", a <= b), (">", a > b), (">=", a >= b)]
    symbol, mask = cases[int(rng.integers(len(cases)))]
    return f"{quoted(name)} {symbol} {quoted(other)}", mask


Measured = Callable[[Mask], list[Any]]


def or_none(of: Callable[[Any], Any], least: int = 1) -> Callable[[Any], list[Any]]:
    """Return a measure of values that is nothing of fewer than so many."""
    return lambda values: [of(values) if len(values) >= least else None]


def measure(w: World, rng: Rng) -> tuple[str, Measured]:
    """Draw a measure, with its values of some rows."""
    name = column(w, rng, numeric=True)
    if name is None or chance(rng, 0.2):
        return "count(*)", lambda mask: [int(mask.sum())]
    cells, shown = w.cells[name], quoted(name)
    share = float(one_of(rng, 0.0, 1.0, 0.5, round(rng.random(), 3)))
    edges = sorted({near(w, rng, name) for _ in range(4)} | {float(w.held[name].low) - 3})
    edges = edges if len(edges) > 1 else [edges[0], edges[0] + 1]
    cases: list[tuple[str, Callable[[Any], list[Any]]]] = [
        (f"sum({shown})", lambda values: [values.sum()]),
        (f"avg({shown})", or_none(np.mean)),
        (f"var_pop({shown})", or_none(np.var)),
        (f"var_samp({shown})", or_none(lambda values: np.var(values, ddof=1), 2)),
        (f"stddev_samp({shown})", or_none(lambda values: np.std(values, ddof=1), 2)),
        (f"min({shown})", or_none(np.min)),
        (f"max({shown})", or_none(np.max)),
        (f"quantile({shown}, {share})", or_none(lambda values: np.quantile(values, share))),
        (f"histogram({shown}, {', '.join(map(repr, edges))})", lambda values: list(np.histogram(values, edges)[0])),
    ]
    text, of = cases[int(rng.integers(len(cases)))]
    return text, lambda mask: of(cells[mask])


def groups(w: World, names: list[str]) -> list[tuple[list[Any], Mask]]:
    """Return the values of each group with its rows."""
    values: list[list[Any]] = []
    for name in names:
        held = w.held[name]
        match held:
            case tables.Integers(low, high):
                values.append(list(range(low, high + 1)))
            case tables.Steps(low, high, step):
                values.append(list(np.arange(low, high + step / 2, step)))
            case _:
                values.append(list(held.values))
    found = []
    for combination in itertools.product(*values):
        mask = np.ones(w.rows, bool)
        for name, value in zip(names, combination, strict=True):
            mask &= np.array(w.cells[name]) == value
        found.append((list(combination), mask))
    return found


def size(w: World, name: str) -> int:
    """Return how many values a column may have."""
    held = w.held[name]
    match held:
        case tables.Integers(low, high):
            return high - low + 1
        case tables.Steps(low, high, step):
            return round((high - low) / step) + 1
        case _:
            return len(held.values)


def check(answer: tables.Answer, truth: list[list[Any]]) -> float:
    """Return 0 for an answer that is right; sums are those of whole numbers, others as near as numpy is itself."""
    if len(answer.rows) != len(truth):
        raise Finding("wrong", f"{len(answer.rows)} rows, {len(truth)} are right")
    for found, expected in zip(answer.rows, truth, strict=True):
        if len(found) != len(expected):
            raise Finding("wrong", f"{found} for {expected}")
        for a, b in zip(found, expected, strict=True):
            if isinstance(a, float) and b is not None:
                # Variances of numbers far from 0 are what numpy loses digits of.
                is_near = math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
            else:
                is_near = a == b
            if not is_near:
                raise Finding("wrong", f"{a} for {b}, in {found}")
    return 0.0


def question(w: World, rng: Rng) -> tuple[str, Callable[[], list[list[Any]]]]:
    """Draw a question, with how its answer is found."""
    w.compared = set()
    where, mask = condition(w, rng) if chance(rng, 0.7) else ("", np.ones(w.rows, bool))
    few = [name for name in w.held if size(w, name) <= 32 and name not in w.compared]
    names = [str(name) for name in rng.permutation(few)[: rng.integers(0, 3)]] if few and chance(rng, 0.4) else []
    measures = [measure(w, rng) for _ in range(int(rng.integers(1, 4)))]
    text = one_of(rng, "SELECT ", "select ", "") + ", ".join(one for one, _ in measures)
    text += one_of(rng, "", " from t") + (f" WHERE {where}" if where else "")
    text += f" GROUP BY {', '.join(map(quoted, names))}" if names else ""

    def truth() -> list[list[Any]]:
        return [[*keys, *(value for _, of in measures for value in of(mask & rows))] for keys, rows in groups(w, names)]

    return text, truth


def ask_in_clear(w: World, rng: Rng) -> Call:
    text, truth = question(w, rng)

    def run() -> tables.Answer:
        return tables.compile(text, w.held, rows=w.most, security=None).simulate(w.cells)

    return Call(f"simulate {text}", run, truth(), check=check, keep=False)


def ask_encrypted(w: World, rng: Rng) -> Call:
    text, truth = question(w, rng)
    seed = seed_bytes(rng)

    def run() -> tables.Answer:
        query = tables.compile(text, w.held, rows=w.most, security=None)
        keys = query.client.keygen(seed=seed)
        return query.client.decrypt(query.server.run(query.client.encrypt(w.cells), keys))

    return Call(f"ask {text}", run, truth(), check=check, keep=False)


def ask_in_other_words(w: World, rng: Rng) -> Call:
    """Change a question by a few characters: it is another one, or none."""
    text, _ = question(w, rng)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(text) + 1))
        added = str(
            one_of(rng, "", "(", ")", "'", '"', ",", "*", "1e999", "-", "é", " and ", "\x00", "=", ";", ".", "_")
        )
        text = text[:at] + added + text[at + int(rng.integers(0, 3)) :]

    def run() -> tables.Answer:
        return tables.compile(text, w.held, rows=w.most, security=None).simulate(w.cells)

    return Call(f"simulate {text!r}", run, None, check=lambda answer, _: 0.0 * len(str(answer)), keep=False)


def ask_an_unfit_table(w: World, rng: Rng) -> Call:
    name = column(w, rng)
    assert name is not None
    held, cells = w.held[name], list(w.cells[name])
    at = int(rng.integers(w.rows))
    match held:
        case tables.Categories():
            cells[at] = one_of(rng, "none", "", None, 3)
        case _:
            cells[at] = one_of(rng, math.nan, math.inf, held.high + 1, held.low - 1.5, 2.0**60, "one")
    changed = {**w.cells, name: one_of(rng, cells, cells[:-1] if w.rows > 1 and len(w.cells) > 1 else cells)}
    if changed[name] is not cells and len(changed[name]) < w.rows:
        changed[name] = w.cells[name][:-1]

    def run() -> tables.Answer:
        return tables.compile(f"count(*) GROUP BY {quoted(name)}", w.held, rows=w.most, security=None).simulate(changed)

    return Call(f"simulate {name} with {cells[at]!r} in row {at}", run, REFUSE, keep=False)


VERBS = [
    Verb("ask_in_clear", ask_in_clear, weight=4),
    Verb("ask_encrypted", ask_encrypted),
    Verb("ask_in_other_words", ask_in_other_words),
    Verb("ask_an_unfit_table", ask_an_unfit_table, mistake=True, weight=0.5),
]
