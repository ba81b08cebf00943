"""Several owners of one secret key: keys that they make together, and results that only all of them can open."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import bfv, bgv, owners

NAMES = ["north", "south", "west"]
T = 12289


def parameters(parties: int = 3, limbs: int = 5) -> Any:
    return bfv.Parameters(10, T, [45] * limbs, [48] * 2, secret=f"joint:{parties}", security=None)


def session(names: Iterable[str] = NAMES, **options: Any) -> owners.Session:
    names = list(names)
    return owners.Session(parameters(len(names)), names, **{"results": 4, **options})


def created(folder: Path, of: owners.Session, name: str, at: int) -> owners.Party:
    return owners.Party.create(folder / name, of, name, seed=bytes([at]) * 32)


def joint(folder: Path, of: owners.Session) -> tuple[list[owners.Party], Any, Any]:
    """All parties, and the keys that a coordinator makes of their messages."""
    parties = [created(folder, of, name, at) for at, name in enumerate(of.names)]
    coordinator, messages = owners.Coordinator(of), list[bytes]()
    while sent := [message for party in parties if (message := party.next(messages)) is not None]:
        messages = sent
        coordinator.add(*messages)
    return parties, *coordinator.keys()


@pytest.mark.parametrize("scheme", [bfv, bgv])
def test_parties_open_what_was_computed_under_their_keys(tmp_path: Path, scheme: Any) -> None:
    of = session(relinearization=True, rotations=[1], swap=True)
    parties, public, evaluation = joint(tmp_path, of)
    context = scheme.Context(of.parameters)
    values = np.random.default_rng(1).integers(-100, 100, 1024)
    x = context.encrypt(values, public)
    result = scheme.Evaluator(context, evaluation).rotate(x * x, 1)
    shares = [party.open([x, result]) for party in parties]
    opened = of.opened([x, result], shares, signed=True)
    assert (opened[0] == values).all()
    rows = (values**2).reshape(2, -1)
    squares = np.roll(rows, -1, axis=1).ravel() % T
    assert (opened[1] % T == squares).all()
    assert [party.results_left for party in parties] == [2, 2, 2]
    assert public.owner == parties[0].keys()[0].owner == x.owner


def test_short_vectors_and_coefficients_come_back(tmp_path: Path) -> None:
    of = session(["a", "b"])
    parties, public, _ = joint(tmp_path, of)
    context = bfv.Context(of.parameters)
    x = context.encrypt([1, -2, 3], public)
    assert list(of.opened(x, [party.open(x) for party in parties], signed=True)) == [1, -2, 3]
    y = context.encrypt([4, 5], public, coefficients=True)
    shares = [party.open(y) for party in parties]
    assert list(of.opened(y, shares, coefficients=True)[:2]) == [4, 5]
    with pytest.raises(noren.EncodingError, match="coefficients"):
        of.opened(y, shares)


def test_sessions_and_parties_are_read_from_files(tmp_path: Path) -> None:
    of = session()
    of.save(tmp_path / "session")
    with pytest.raises(noren.InsecureError):
        owners.Session.load(tmp_path / "session")
    again = owners.Session.load(tmp_path / "session", min_security=0)
    assert again == of
    assert (again.names, again.results, again.distance) == (NAMES, 4, 64)
    first = owners.Party.create(tmp_path / "north", of, "north", passphrase="correct horse").next()
    with pytest.raises(noren.Error, match="passphrase"):
        owners.Party.load(tmp_path / "north", min_security=0)
    party = owners.Party.load(tmp_path / "north", passphrase="correct horse", min_security=0)
    assert party.sent()["commit"] == first
    assert (tmp_path / "north" / "secret").stat().st_mode & 0o77 == 0
    with pytest.raises(noren.Error, match="another process"):
        owners.Party.load(tmp_path / "north", passphrase="correct horse", min_security=0)
    with pytest.raises(FileExistsError):
        owners.Party.create(tmp_path / "north", of, "north")


REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "names that stand twice": (lambda _: session(["a", "b", "a"]), '"a" twice'),
    "one name": (lambda _: owners.Session(parameters(), "abc", results=1), "one name"),
    "parameters of others": (lambda _: owners.Session(parameters(2), NAMES, results=1), "secret"),
    "no results": (lambda _: session(results=0), "results"),
    "a small distance": (lambda _: session(distance=10), "distance"),
    "a stranger": (lambda path: owners.Party.create(path / "x", session(), "east"), "north, south, west"),
    "missing messages": (lambda _: owners.Coordinator(session()).keys(), "north, south, west are missing"),
    "no message": (lambda _: owners.Coordinator(session()).add(b"abc"), "header|bytes"),
    "one owner's parameters": (lambda _: bfv.Parameters.for_requirements(depth=0, parties=0), "parties"),
    "no room": (lambda _: bfv.Parameters.for_requirements(depth=200, parties=2), "depth"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_by_name(name: str, tmp_path: Path) -> None:
    call, words = REFUSED[name]
    with pytest.raises(noren.Error, match=words):
        call(tmp_path)


def test_messages_of_others_are_refused(tmp_path: Path) -> None:
    of, other = session(["a", "b"]), session(["a", "b"])
    parties, public, _ = joint(tmp_path / "own", of)
    strangers, foreign, _ = joint(tmp_path / "other", other)
    coordinator = owners.Coordinator(of)
    with pytest.raises(noren.Error, match="load the same description"):
        coordinator.add(*strangers[0].sent().values())
    coordinator.add(parties[0].sent()["commit"])
    assert coordinator.missing()["commit"] == ["b"]
    with pytest.raises(noren.Error, match="order of the rounds"):
        coordinator.add(parties[1].sent()["reveal"])
    context = bfv.Context(of.parameters)
    x, y = context.encrypt([1], public), context.encrypt([1], foreign)
    with pytest.raises(noren.KeyMismatchError):
        parties[0].open(y)
    shares = [party.open(x) for party in parties]
    with pytest.raises(noren.Error, match="those of b are missing"):
        of.opened(x, shares[:1])
    with pytest.raises(noren.Error, match="two of"):
        of.opened(x, [shares[0], shares[0]])
    for value in range(3):
        parties[0].open(context.encrypt([value], public))
    with pytest.raises(noren.Error, match="at most 4"):
        parties[0].open(context.encrypt([9], public))


def _next(folder: str, messages: list[bytes], out: Any, stop: bool) -> None:
    party = owners.Party.load(folder, min_security=0)
    sent = party.next(messages)
    if stop:
        os.kill(os.getpid(), signal.SIGKILL)
    out.send(sent)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed by a signal")
def test_a_party_that_is_killed_in_every_round_sends_what_it_would_have_sent(tmp_path: Path) -> None:
    of = session(["a", "b"], relinearization=True)
    undisturbed, _, _ = joint(tmp_path / "whole", of)
    other = created(tmp_path / "again", of, "b", 1)
    created(tmp_path / "again", of, "a", 0)
    spawn, messages = multiprocessing.get_context("spawn"), list[Any]()
    for name, expected in undisturbed[0].sent().items():
        for stop in (True, False):
            receiver, sender = spawn.Pipe(duplex=False)
            arguments = (str(tmp_path / "again" / "a"), messages, sender, stop)
            process = spawn.Process(target=_next, args=arguments)
            process.start()
            sender.close()
            own = None if stop else receiver.recv()
            process.join()
            assert process.exitcode == (-signal.SIGKILL if stop else 0)
        beside = other.next(messages)
        assert own == expected, name
        messages = [own, beside]


def test_some_parties_open_a_result_without_the_others(tmp_path: Path) -> None:
    of = session(["a", "b", "c", "d"], threshold=2)
    assert of.threshold == 2
    assert "threshold=2" in repr(of)
    parties, public, _ = joint(tmp_path, of)
    x = bfv.Context(of.parameters).encrypt([7, 8, 9], public)
    for at, other in [(0, 1), (3, 1), (2, 0)]:
        among = [parties[at].name, parties[other].name]
        shares = [parties[at].open(x, among), parties[other].open(x, reversed(among))]
        assert list(of.opened(x, shares)) == [7, 8, 9]
        with pytest.raises(noren.Error, match=f"those of {parties[other].name} are missing"):
            of.opened(x, shares[:1])
    # A party goes on with its part after a restart.
    del parties[0]
    again = owners.Party.load(tmp_path / "a", min_security=0)
    assert again.open(x, ["a", "c"]) == shares[1]
    assert again.results_left == 2


def test_sets_of_parties_are_checked_by_name(tmp_path: Path) -> None:
    of = session(["a", "b", "c"], threshold=2)
    parties, public, _ = joint(tmp_path, of)
    x = bfv.Context(of.parameters).encrypt([1], public)
    for among, found in [
        (None, "the names of 2 of a, b, c"),
        (["a"], "the names of 2"),
        (["a", "x"], "one of a, b, c"),
        (["b", "c"], "none of them is"),
        ("ab", "one name"),
    ]:
        with pytest.raises(noren.Error, match=found):
            parties[0].open(x, among)
    shares = [parties[0].open(x, ["a", "b"]), parties[1].open(x, ["b", "c"])]
    with pytest.raises(noren.Error, match="by b, c"):
        of.opened(x, shares)
    for threshold in (1, 3):
        with pytest.raises(noren.Error, match="threshold"):
            session(["a", "b", "c"], threshold=threshold)
