"""Rows of a table of another: by numbers, by keywords, and those that both have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import intersection, retrieval

ROWS = [bytes([at % 251, at * 7 % 256, at // 251]) * 5 for at in range(900)]
TABLE: dict[str | bytes, str | bytes] = {f"key {at}": row[: at % 16] for at, row in enumerate(ROWS)}


def retrieved(rows: Any, keys: Any, **options: Any) -> list[bytes | None]:
    database = retrieval.Database(rows, **options)
    client = retrieval.Client(database.description, min_security=0 if options.get("security", 128) is None else 128)
    server_keys = client.keygen()
    return client.decrypt(database.answer(client.encrypt(keys), server_keys), keys)


def shared(rows: Any, keywords: Any, asked: int = 20, **options: Any) -> dict[str | bytes, bytes]:
    database = intersection.Database(rows, asked=asked, **options)
    client = intersection.Client(database.description, min_security=0 if options.get("security", 128) is None else 128)
    server_keys = client.keygen()
    return client.decrypt(database.answer(client.encrypt(keywords), server_keys), keywords)


@pytest.mark.filterwarnings("ignore::noren.SecurityWarning")
def test_rows_are_those_of_the_table() -> None:
    asked: list[Any] = [0, 899, 450, np.int64(7)]
    assert retrieved(ROWS, asked, security=None) == [ROWS[at] for at in asked]
    assert retrieved(["ä", "bcd"], [1, 0], security=None) == [b"bcd", "ä".encode()]
    names: list[str | bytes] = ["key 3", b"key 899", "key", "key 16"]
    assert retrieved(TABLE, names, security=None) == [ROWS[3][:3], ROWS[899][:3], None, b""]


@pytest.mark.filterwarnings("ignore::noren.SecurityWarning")
def test_keywords_that_both_have_are_found_with_their_rows() -> None:
    names = ["key 5", b"key 44", "another", "key 5"]
    expected = {"key 5": ROWS[5][:5], b"key 44": ROWS[44][:12]}
    assert shared(TABLE, names, security=None) == expected
    assert shared(list(TABLE), names, security=None) == dict.fromkeys(expected, b"")
    assert shared(TABLE, [], security=None) == {}


def test_at_128_bits_rows_are_those_of_the_table() -> None:
    rows = [row * 6 for row in ROWS]
    assert retrieved(rows, [123]) == [rows[123]]
    assert shared(TABLE, ["key 9", "nothing"]) == {"key 9": ROWS[9][:9]}


def test_halves_meet_in_files(tmp_path: Path) -> None:
    for database, client_of in (
        (retrieval.Database(TABLE), retrieval.Client),
        (intersection.Database(TABLE, asked=5), intersection.Client),
    ):
        client: Any = client_of(database.description)
        client.keygen().save(tmp_path / "keys")
        client.save_secret(tmp_path / "secret", passphrase="of a test")
        request = client.encrypt(["key 1"])
        reply = database.answer(request, tmp_path / "keys")
        again: Any = client_of(database.description)
        again.load_secret(tmp_path / "secret", passphrase="of a test")
        expected = [b"\x01"] if client_of is retrieval.Client else {"key 1": b"\x01"}
        assert again.decrypt(reply, ["key 1"]) == expected
        assert database.answer(request, (tmp_path / "keys").read_bytes())
        assert "rows=900" in repr(database)
        assert "rows=900" in repr(client)
        assert str(client.parameters) == str(database.parameters)
        (tmp_path / "keys").unlink()
        (tmp_path / "secret").unlink()


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no rows": (lambda: retrieval.Database([]), "rows"),
    "a row that is a number": (lambda: retrieval.Database([b"a", 5]), "row 1 is 5"),  # type: ignore[list-item]
    "a keyword that is a number": (lambda: retrieval.Database({5: b"a"}), "a keyword is 5"),  # type: ignore[dict-item]
    "one keyword twice": (lambda: retrieval.Database({"a": b"1", b"a": b"2"}), '"a" in rows 0 and 1'),
    "a description of nothing": (lambda: retrieval.Client(b"nothing"), "cannot be read"),
    "one keyword for all rows": (lambda: intersection.Database("abc", asked=1), "one keyword"),
    "none asked for": (lambda: intersection.Database(["a"], asked=0), "asked"),
    "no distance": (lambda: intersection.Database(["a"], asked=1, distance=3), "distance"),
    "a set with a keyword twice": (lambda: intersection.Database(["a", b"a"], asked=1), '"a" in rows 0 and 1'),
    "a retrieval for an intersection": (
        lambda: intersection.Client(retrieval.Database([b"a"]).description),
        "private set intersection",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_table_is_refused(what: str) -> None:
    call, message = REFUSED[what]
    with pytest.raises(noren.Error, match=message):
        call()


def test_what_the_table_does_not_have_is_refused() -> None:
    by_number, by_name = retrieval.Database([b"a", b"b"]), retrieval.Database({"a": b"1"})
    client, other = retrieval.Client(by_number.description), retrieval.Client(by_name.description)
    with pytest.raises(noren.Error, match="no secret key"):
        client.encrypt([0])
    keys = client.keygen()
    other.keygen()
    for number in (2, -1, 1 << 70):
        with pytest.raises(noren.Error, match="there are rows 0 to 1"):
            client.encrypt([number])
    with pytest.raises(noren.Error, match="by their numbers"):
        client.encrypt(["a"])
    with pytest.raises(noren.Error, match="give a list"):
        client.encrypt("a")
    with pytest.raises(TypeError):
        client.encrypt([0.5])  # type: ignore[list-item]
    with pytest.raises(noren.Error, match="bytes or a text"):
        other.encrypt([0])
    with pytest.raises(noren.Error, match="asked for"):
        client.encrypt([])
    request = client.encrypt([0])
    with pytest.raises(noren.Error, match=r"another table|parameters"):
        by_name.answer(request, keys)
    with pytest.raises(noren.Error, match="replies"):
        client.decrypt(by_number.answer(request, keys), [0, 1])
    with pytest.raises(TypeError, match="bytes or a path"):
        by_number.answer(request, 5)  # type: ignore[arg-type]
    asker = intersection.Client(intersection.Database(["a"], asked=2).description)
    asker.keygen()
    with pytest.raises(noren.Error, match="at most 2"):
        asker.encrypt(["a", "b", "c"])
    assert asker.log2_false_match < -90


def test_descriptions_below_the_security_asked_for_are_refused() -> None:
    with pytest.raises(noren.InsecureError):
        retrieval.Client(retrieval.Database([b"a"], security=None).description)
    with pytest.raises(noren.InsecureError):
        intersection.Client(intersection.Database(["a"], asked=1, security=None).description)
