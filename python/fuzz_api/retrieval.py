"""Rows of a table of another, against a dictionary: random tables and keywords, and bytes changed on the way."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api.container import is_container, with_digest
from fuzz_api.draw import Rng, chance, one_of, seed_bytes
from fuzz_api.mutate import mutate
from fuzz_api.program import Call, Verb
from fuzz_api.verdict import REFUSE, Finding
from noren import Error, intersection, retrieval

Key = int | str | bytes
Bytes = dict[str, bytes]


def contents(rng: Rng, count: int) -> list[bytes | str]:
    """Draw rows: of one length, of several, empty ones, and some that take many plaintexts."""
    longest = int(one_of(rng, 0, 1, 7, 30, 100, 100, 600, 3000 if count < 100 else 300))
    lengths = rng.integers(0, longest + 1, count) if chance(rng, 0.6) else np.full(count, longest)
    if chance(rng, 0.2):
        lengths[int(rng.integers(count))] = int(one_of(rng, 0, 2 * longest, 1000))
    rows: list[bytes | str] = [bytes(rng.bytes(int(length))) for length in lengths]
    for at in np.flatnonzero(rng.random(count) < 0.1):
        rows[at] = str(one_of(rng, "", "größe", "\0", "a" * int(lengths[at]), "日本"))
    for at in np.flatnonzero(rng.random(count) < 0.1):
        rows[at] = bytes([int(one_of(rng, 0, 255))]) * int(lengths[at])
    return rows


def as_bytes(value: bytes | str) -> bytes:
    """Return what is retrieved of a text."""
    return value.encode() if isinstance(value, str) else value


def keyword(rng: Rng, at: int) -> str | bytes:
    """Draw a keyword, which differs from those of other numbers."""
    text = one_of(
        rng, f"{at}", f"key {at}", f"größe {at}", f"{at}\0", "日本" * 40 + str(at), f" {at} ", f"\N{GRINNING FACE}{at}"
    )
    return (
        str(text).encode()
        if chance(rng, 0.3)
        else bytes([255, at % 256]) + str(at).encode()
        if chance(rng, 0.1)
        else str(text)
    )


class World:
    """A table of one of the two protocols, its halves, and another table."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.kind = str(one_of(rng, "number", "keyword", "keyword", "intersection", "intersection", "set"))
        self.rows = int(one_of(rng, 1, 2, rng.integers(1, 20), rng.integers(20, 400), rng.integers(400, 2500)))
        self.security = 128 if chance(rng, 0.04) else None
        self.asked = int(one_of(rng, 1, 2, rng.integers(1, 40), rng.integers(40, 300)))
        self.distance = int(one_of(rng, 64, 64, 30, 128))
        rows = contents(rng, self.rows)
        keys: list[Key] = list(range(self.rows))
        if self.kind != "number":
            keys = [keyword(rng, at) for at in range(self.rows)]
            if chance(rng, 0.3):
                keys[0] = str(one_of(rng, "", " ", "\0"))
        if self.kind == "set":
            rows = [b""] * self.rows
        elif self.kind != "intersection" and not any(rows):
            rows[0] = b"not all may be empty"
        self.table: dict[Key, bytes | str] = dict(zip(keys, rows, strict=True))
        self.found = {
            as_bytes(key) if not isinstance(key, int) else key: as_bytes(row) for key, row in self.table.items()
        }
        self.database = self._database(self.table)
        self.client: Any = self.client_of(self.database.description)
        self.seed = seed_bytes(rng)
        self.keys = self.client.keygen(seed=self.seed)
        lengths = sorted({len(row) for row in self.found.values()})
        self.text = [
            f"# by {self.kind}, {self.rows} rows of {lengths[0]} to {lengths[-1]} bytes, security {self.security}",
            f"# asked={self.asked}, distance={self.distance}: {self.database!r}",
        ]
        self.about = [f"table by {self.kind}", f"security {self.security}"]

    @property
    def is_intersection(self) -> bool:
        return self.kind in ("intersection", "set")

    def _database(self, table: dict[Key, Any], asked: int | None = None) -> Any:
        security: Any = self.security
        asked = self.asked if asked is None else asked
        match self.kind:
            case "number":
                return retrieval.Database(list(table.values()), security=security)
            case "keyword":
                return retrieval.Database(table, security=security)  # type: ignore[arg-type]
            case "set":
                return intersection.Database(list(table), asked=asked, distance=self.distance, security=security)  # type: ignore[arg-type]
            case _:
                return intersection.Database(table, asked=asked, distance=self.distance, security=security)  # type: ignore[arg-type]

    def client_of(self, description: bytes) -> Any:
        """Return the half that asks."""
        of: Any = intersection.Client if self.is_intersection else retrieval.Client
        return of(description, min_security=0)

    def other(self, rng: Rng) -> tuple[Any, int]:
        """Return another table of the same protocol, and how many rows it has."""
        count = int(one_of(rng, self.rows, self.rows + 1, 3))
        keys: list[Key] = list(range(count)) if self.kind == "number" else [f"other {at}" for at in range(count)]
        rows = [b"1", *contents(rng, count)[1:]] if self.kind != "set" else [b""] * count
        return self._database(dict(zip(keys, rows, strict=True)), int(one_of(rng, self.asked, self.asked + 1))), count

    def truth(self, keys: list[Key]) -> Any:
        """Return what keys give."""
        if not self.is_intersection:
            return [self.found.get(key if isinstance(key, int | np.integer) else as_bytes(key)) for key in keys]
        last = {as_bytes(key): key for key in keys if not isinstance(key, int)}
        return {key: self.found[own] for own, key in last.items() if own in self.found}

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        raise AssertionError("rows are no items")


def check(found: Any, truth: Any) -> float:
    """Return 0 for the rows that are right."""
    if type(found) is not type(truth) or found != truth:
        raise Finding("wrong", f"{str(found)[:300]} for {str(truth)[:300]}")
    return 0.0


def asked(w: World, rng: Rng) -> list[Any]:
    """Draw what is asked for: keys of the table, some twice, and others."""
    most = w.asked if w.is_intersection else 4
    there = list(w.table)
    count = int(one_of(rng, most, rng.integers(0 if w.is_intersection else 1, most + 1)))
    keys: list[Any] = []
    for _ in range(count):
        key: Any = there[int(rng.integers(len(there)))]
        if isinstance(key, int):
            keys.append(one_of(rng, key, key, np.int64(key), np.uint16(key)))
            continue
        if chance(rng, 0.4):
            key = one_of(
                rng, "absent", "", b"", "Größe", f"key {int(rng.integers(9999))}", key + key[:1], key[:-1], "\ufeff"
            )
        elif chance(rng, 0.2) and isinstance(key, str):
            key = key.encode()
        keys.append(key)
        if chance(rng, 0.1) and len(keys) < count:
            keys.append(key)
    return keys[:count]


def exchanged(
    w: World, keys: list[Any], seed: bytes, change: Callable[[str, bytes], bytes] = lambda _, data: data
) -> Any:
    """Return what keys give by bytes, which may change on the way."""
    client = w.client_of(change("description", w.database.description))
    server_keys = change("keys", bytes(client.keygen(seed=w.seed)))
    request = change("request", client.encrypt(keys, seed=seed))
    return client.decrypt(change("reply", w.database.answer(request, server_keys)), keys)


def ask(w: World, rng: Rng) -> Call:
    keys, seed = asked(w, rng), seed_bytes(rng)

    def run() -> Any:
        return w.client.decrypt(w.database.answer(w.client.encrypt(keys, seed=seed), w.keys), keys)

    return Call(f"ask for {str(keys)[:300]}", run, w.truth(keys), check=check, keep=False)


def ask_by_bytes(w: World, rng: Rng) -> Call:
    keys, seed = asked(w, rng), seed_bytes(rng)
    return Call(
        f"ask by bytes for {str(keys)[:300]}", lambda: exchanged(w, keys, seed), w.truth(keys), check=check, keep=False
    )


def ask_through_files(w: World, rng: Rng) -> Call:
    keys, seed = asked(w, rng), seed_bytes(rng)
    passphrase = one_of(rng, None, None, "größe")

    def run() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            of_server, secret = Path(folder) / "keys", Path(folder) / "secret"
            w.client.keygen(seed=w.seed).save(of_server)
            # Scrypt is slow on purpose.
            hidden = passphrase if w.security else None
            w.client.save_secret(secret, passphrase=hidden)
            again = w.client_of(w.database.description)
            again.load_secret(secret, passphrase=hidden)
            return again.decrypt(w.database.answer(again.encrypt(keys, seed=seed), of_server), keys)

    return Call(f"ask through files for {str(keys)[:300]}", run, w.truth(keys), check=check, keep=False)


def flipped(rng: Rng, data: bytes) -> bytes:
    """Return bytes that were damaged: no digest is that of what they hold."""
    match int(rng.integers(4)):
        case 0:
            return data[: int(rng.integers(len(data)))]
        case 1:
            return data + bytes(rng.bytes(int(rng.integers(1, 100))))
        case 2:
            at = int(rng.integers(len(data)))
            return data[:at] + data[at + 1 :]
        case _:
            at = int(rng.integers(len(data)))
            return data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]


def ask_with_damaged_bytes(w: World, rng: Rng) -> Call:
    """Bytes of one kind that were damaged: noren refuses them, or they hold what they held."""
    return changed(w, rng, flipped, lambda found, truth: check(found, truth))


def ask_with_made_up_bytes(w: World, rng: Rng) -> Call:
    """Bytes of one kind that hold something else, with the digest of it: refused, or used as far as they go."""

    def forge(rng: Rng, data: bytes) -> bytes:
        made = mutate(rng, data, w.database.description)[1]
        return with_digest(made) if is_container(made) else made

    return changed(w, rng, forge, lambda found, _: 0.0 * len(found))


def changed(w: World, rng: Rng, change: Callable[[Rng, bytes], bytes], verdict: Callable[[Any, Any], float]) -> Call:
    keys, seed = asked(w, rng), seed_bytes(rng)
    what = str(one_of(rng, "description", "keys", "request", "reply"))
    pick = int(rng.integers(2**31))

    def run() -> Any:
        own = np.random.default_rng(pick)
        try:
            return exchanged(w, keys, seed, lambda name, data: change(own, data) if name == what else data)
        except (Error, Finding, MemoryError):
            raise
        except Exception as error:
            raise Finding("exception", f"{what}: {type(error).__name__}: {error}") from error

    return Call(f"{change.__name__} {what}, asked for {str(keys)[:100]}", run, w.truth(keys), check=verdict, keep=False)


def mix_tables(w: World, rng: Rng) -> Call:
    """Requests, keys and replies of another table are refused where its description differs."""
    keys, seed = asked(w, rng), seed_bytes(rng)
    other, rows = w.other(rng)
    what = str(one_of(rng, "request", "reply", "keys and request"))
    both = keys if w.kind != "number" else [key for key in keys if key < rows] or [0]
    is_same = other.description == w.database.description

    def run() -> Any:
        stranger = w.client_of(other.description)
        server_keys = stranger.keygen(seed=w.seed)
        if what == "reply":
            return w.client.decrypt(other.answer(stranger.encrypt(both, seed=seed), server_keys), both)
        return other.answer(w.client.encrypt(keys, seed=seed), w.keys if what == "keys and request" else server_keys)

    return Call(f"a {what} of another table", run, None if is_same else REFUSE, check=lambda _, __: 0.0, keep=False)


def answer_what_is_none(w: World, rng: Rng) -> Call:
    """Bytes of other kinds in place of those that are needed."""
    keys, seed = asked(w, rng), seed_bytes(rng)
    what = str(one_of(rng, "description", "keys", "request", "reply"))
    taken = str(one_of(rng, "description", "keys", "request", "reply", "nothing", "text"))
    held: Bytes = {"nothing": b"", "text": b"text"}

    def change(name: str, data: bytes) -> bytes:
        held[name] = data
        return held.get(taken, b"") if name == what and taken != what else data

    truth = w.truth(keys) if taken == what else REFUSE
    return Call(f"{taken} for {what}", lambda: exchanged(w, keys, seed, change), truth, check=check, keep=False)


def ask_for_what_is_none(w: World, rng: Rng) -> Call:
    """Keys that are none of the table's kind, too many, and requests beside those that were answered."""
    key: Any
    if w.kind == "number":
        key = one_of(rng, -1, w.rows, 1 << 70, "a", b"", None, 0.5, np.float64(0))
        keys: Any = one_of(rng, [key], [0, key], "0", [])
    elif w.is_intersection:
        keys = one_of(rng, [f"k{at}" for at in range(w.asked + 1)], [0], [None], "key", b"key", [["key"]], [1.5])
    else:
        keys = one_of(rng, [0], [None], "key", b"key", [["a"]], [], ["a", 5])
    return Call(f"encrypt {str(keys)[:200]}", lambda: w.client.encrypt(keys), REFUSE, keep=False)


def make_what_is_no_table(w: World, rng: Rng) -> Call:
    wrong: Any
    if w.is_intersection:
        options: dict[str, Any] = {"asked": 3, "security": None}
        options |= one_of(rng, {}, {"asked": 0}, {"asked": -1}, {"distance": 29}, {"distance": 129}, {"asked": 1 << 70})
        keys = (
            ["a", "b"]
            if len(options) > 2 or options["asked"] != 3
            else one_of(rng, [], ["a", b"a"], "ab", {1: b""}, [None], {})
        )
        return Call(
            f"intersection.Database({keys}, {options})",
            lambda: intersection.Database(keys, **options),
            REFUSE,
            keep=False,
        )
    wrong = one_of(rng, [], {}, [b""], {"a": 1}, {"a": b"", b"a": b""}, [1], [None], {None: b""}, [[b"a"]], {"a": None})
    return Call(f"retrieval.Database({wrong})", lambda: retrieval.Database(wrong, security=None), REFUSE, keep=False)


VERBS = [
    Verb("ask", ask, weight=2),
    Verb("ask_by_bytes", ask_by_bytes),
    Verb("ask_through_files", ask_through_files, weight=0.5),
    Verb("ask_with_damaged_bytes", ask_with_damaged_bytes, mistake=True, weight=2),
    Verb("ask_with_made_up_bytes", ask_with_made_up_bytes, mistake=True, weight=2),
    Verb("mix_tables", mix_tables, mistake=True),
    Verb("answer_what_is_none", answer_what_is_none, mistake=True, weight=0.5),
    Verb("ask_for_what_is_none", ask_for_what_is_none, mistake=True, weight=0.5),
    Verb("make_what_is_no_table", make_what_is_no_table, mistake=True, weight=0.3),
]
