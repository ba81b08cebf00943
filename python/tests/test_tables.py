"""Questions on tables, against pandas on the same tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import noren
from noren import tables
from noren.compiler import Server

CITIES = ("Bern", "Chur", "Genève", "Scuol")


def people(rows: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": rng.integers(-3, 98, rows),
            "income": rng.integers(0, 5000, rows) / 8,
            "smokes": rng.random(rows) < 0.3,
            "city": rng.choice(CITIES, rows),
        }
    )


INCOME = {"income": 0.125}


def compiled(
    question: str,
    table: Mapping[str, object] | None = None,
    *,
    rows: int | None = None,
    steps: Mapping[str, float] | None = INCOME,
) -> tables.Query:
    return tables.compile(question, people() if table is None else table, rows=rows, steps=steps, security=None)


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ("age > 40", lambda t: t.age > 40),
        ("age > smokes AND age <> smokes", lambda t: t.age > t.smokes),
        ("income BETWEEN 20.01 AND 300 AND smokes", lambda t: t.income.between(20.01, 300) & t.smokes),
        ("city IN ('Bern', 'Scuol') OR age <> 5", lambda t: t.city.isin(["Bern", "Scuol"]) | (t.age != 5)),
        (
            "NOT (age < 18 OR city = 'Chur' AND NOT smokes)",
            lambda t: ~((t.age < 18) | ((t.city == "Chur") & ~t.smokes)),
        ),
    ],
)
def test_conditions_and_measures_are_those_of_pandas(
    condition: str, chosen: Callable[[pd.DataFrame], pd.Series[bool]]
) -> None:
    table = people()
    question = (
        f"count(*), sum(age), avg(income), var_samp(income), stddev_pop(age), quantile(age, 0.3) WHERE {condition}"
    )
    rows = table[chosen(table)]
    expected = [
        len(rows),
        rows.age.sum(),
        rows.income.mean(),
        rows.income.var(),
        rows.age.std(ddof=0),
        np.quantile(rows.age, 0.3),
    ]
    answer = compiled(question, rows=700).simulate(table)
    np.testing.assert_allclose(np.array(answer.rows[0], dtype=float), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::noren.SecurityWarning")
def test_encrypted_groups_are_those_of_pandas(tmp_path: Path) -> None:
    table = people()
    made = compiled(
        "SELECT city, smokes, count(*) AS n, min(age), max(age), sum(income) WHERE age >= 18 GROUP BY city, smokes"
    )
    keys = made.client.keygen(seed=bytes(32))
    made.save(tmp_path / "ask")
    made.client.save_secret(tmp_path / "secret")
    client = tables.Client.load(tmp_path / "ask", tmp_path / "secret", min_security=0)
    server = Server.load(tmp_path / "ask", min_security=0)
    answer = client.decrypt(server.run(client.encrypt(table), keys))
    adults = table[table.age >= 18].groupby(["city", "smokes"])
    expected = pd.DataFrame(
        {
            "n": adults.size(),
            "min(age)": adults.age.min(),
            "max(age)": adults.age.max(),
            "sum(income)": adults.income.sum(),
        }
    )
    found = answer.to_pandas()
    assert answer.keys == 2
    assert len(answer.rows) == 8
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())
    assert list(found.index.get_level_values("city")) == sorted([*CITIES, *CITIES])
    assert answer["n"] == list(expected["n"])
    # A request of fewer rows, and one that has none of a group.
    few = client.decrypt(server.run(client.encrypt(table[table.city == "Chur"][:7]), keys))
    assert few.to_pandas()["n"].sum() == (table[table.city == "Chur"][:7].age >= 18).sum()
    assert few.rows[0] == ["Bern", 0, 0, None, None, 0.0]
    loaded = tables.Query.load(tmp_path / "ask", min_security=0)
    assert loaded.scheme == made.scheme
    assert "city" in repr(loaded)


def test_histograms_are_those_of_numpy() -> None:
    table = people()
    edges = [-10, 0, 20.5, 60, 97]
    answer = compiled(f"histogram(age, {', '.join(map(str, edges))})").simulate(table)
    assert answer.rows[0] == list(np.histogram(table.age, edges)[0])
    assert answer.names[-1].endswith("[60, 97]")
    assert str(answer).splitlines()[0].startswith("histogram")


def test_columns_may_be_declared() -> None:
    columns = {"x": tables.Steps(0, 1, 0.25), "n": tables.Integers(0, 9), "kind": tables.Categories(("b", "a"))}
    made = compiled("kind, avg(x), sum(n) GROUP BY kind", columns, rows=10, steps=None)
    answer = made.simulate({"kind": ["a", "a"], "x": [0.3, 1], "n": [4, 5]})
    # The order of groups is that of the list, numbers are those of the nearest steps.
    assert answer.rows == [["b", None, 0], ["a", 0.625, 9]]
    assert compiled("count(*) where n > 3", columns, rows=10, steps=None).simulate({"n": [4, 3, 9]}).value == 2


def test_a_question_of_128_bits_end_to_end() -> None:
    table = people(3000)
    made = tables.compile("count(*), sum(income) WHERE age > 40", table, steps={"income": 0.125})
    keys = made.client.keygen()
    answer = made.client.decrypt(made.server.run(made.client.encrypt(table), keys))
    assert answer.rows == [[(table.age > 40).sum(), table.income[table.age > 40].sum()]]
    assert made.explain()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("count(*) WHERE height > 3", 'no column "height": there are age, city, income, smokes'),
        ("count(*) WHERE age >", "character 21: found the end"),
        ("avg(city)", 'column "city": found texts, needed numbers'),
        ("count(*) WHERE city = 'Basel'", "one of Bern, Chur"),
        ("count(*) WHERE age > 1000", "a condition that no row can meet"),
        ("median(income), median(age) GROUP BY age", "more than 4096 sums"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(question: str, words: str) -> None:
    with pytest.raises(noren.EncodingError, match=re.escape(words)):
        compiled(question)


def test_tables_that_do_not_fit_are_refused() -> None:
    made = compiled("count(*), avg(income) WHERE city = 'Bern' AND age > 3")
    table = people()
    cases: list[tuple[dict[str, object], str]] = [
        (
            {"age": np.where(table.index == 7, 200, table.age)},
            'row 7, column "age": found 200, needed a whole number from -3',
        ),
        ({"age": np.where(table.index == 9, np.nan, table.age)}, 'row 9, column "age"'),
        ({"age": table.age + 0.5}, "a whole number"),
        ({"city": ["Basel"] * 500}, 'row 0, column "city": found "Basel"'),
        ({"city": table.age}, "found numbers, needed texts"),
        ({"city": [None] * 500}, "row 0, column 'city', is None"),
        ({"income": ["1"] * 500}, "found texts, needed numbers"),
        ({"income": np.ones((500, 2))}, "a vector is needed"),
        ({"income": np.ones(3)}, "rows, needed"),
    ]
    for change, words in cases:
        with pytest.raises(noren.EncodingError, match=re.escape(words)):
            made.client.encrypt({**{str(name): table[name] for name in table}, **change})
    with pytest.raises(noren.EncodingError, match="501 rows, needed at most 500"):
        made.simulate(people(501))
    with pytest.raises(noren.EncodingError, match='no column "income"'):
        made.simulate(table.drop(columns="income"))


def test_options_that_do_not_fit_are_refused() -> None:
    columns = {"x": tables.Integers(0, 9)}
    with pytest.raises(noren.EncodingError, match="rows="):
        compiled("count(*)", columns, steps=None)
    with pytest.raises(noren.EncodingError, match="steps= is for columns of cells"):
        compiled("count(*)", columns, rows=3)
    with pytest.raises(noren.EncodingError, match="has cells"):
        compiled("count(*)", {**columns, "y": [1]}, rows=3, steps=None)
    with pytest.raises(noren.EncodingError, match='no column "size"'):
        compiled("count(*)", steps={"size": 1.0})
    with pytest.raises(noren.EncodingError, match="a step above 0"):
        compiled("count(*)", steps={"income": 0.0})
    with pytest.raises(noren.EncodingError, match="rows=0: give 1 to"):
        compiled("count(*)", rows=0)
    with pytest.raises(noren.EncodingError, match="without rows"):
        compiled("count(*)", {}, steps=None)
    with pytest.raises(noren.EncodingError, match="finite number"):
        compiled("count(*)", {"x": [1.0, np.nan]}, steps=None)
    with pytest.raises(noren.EncodingError, match="is a text"):
        tables.compile(3, people())  # type: ignore[arg-type]
    with pytest.raises(noren.Error, match="exact integers"):
        tables.compile("count(*)", people(), scheme="ckks")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        compiled("count(*)", {"x": tables.Integers(0, 2.5)}, rows=3, steps=None)  # type: ignore[arg-type]
    with pytest.raises(noren.EncodingError, match="columns of these values are refused"):
        compiled("count(*)", {"x": tables.Integers(0, 2**70)}, rows=3, steps=None)
    answer = compiled("count(*), sum(age)").simulate(people())
    with pytest.raises(noren.EncodingError, match="take one by"):
        _ = answer.value
    with pytest.raises(KeyError, match="there are"):
        _ = answer["avg(age)"]


def test_programs_of_functions_are_no_questions(tmp_path: Path) -> None:
    noren.compile(lambda x: x + 1, noren.Input(3, 0, 9)).save(tmp_path / "f")
    with pytest.raises(noren.EncodingError, match="a program of a function"):
        tables.Query.load(tmp_path / "f")
