"""Readers of what the parties of a joint secret exchange."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fuzz_api.reading import Reader, World, attempt
from noren import owners

NAMES = ("joint.session", "joint.message", "joint.shares", "joint.secret", "joint.request")


def session(w: World) -> None:
    """A session: a party of it begins."""
    made = owners.Session.from_bytes(w.data, min_security=0)
    with tempfile.TemporaryDirectory() as folder:
        party = owners.Party.create(Path(folder) / "party", made, made.names[0], seed=bytes(32))
        attempt(party.next)


def message(w: World) -> None:
    """A message of one party, after those of the rounds before, and before the last ones."""
    good, before, after = w.good.objects["joint.messages"]
    coordinator = owners.Coordinator(good)
    coordinator.add(*before)
    coordinator.add(w.data)
    attempt(lambda: coordinator.add(*after))
    attempt(coordinator.keys)


def shares(w: World) -> None:
    """The shares of one party, beside those of the other."""
    good, ciphertext, other = w.good.objects["joint.opening"]
    good.opened(ciphertext, [w.data, other])


def secret(w: World) -> None:
    """The secret of a party, in its folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "party"
        shutil.copytree(w.good.objects["joint.folder"], folder)
        (folder / "secret").write_bytes(w.data)
        owners.Party.load(folder, min_security=0)


def request(w: World) -> None:
    """What a party is asked to open."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "party"
        shutil.copytree(w.good.objects["joint.folder"], folder)
        owners.Party.load(folder, min_security=0).open(w.data)


READERS = [
    Reader("owners.Session", NAMES[:1], session),
    Reader("owners.Coordinator", NAMES[1:2], message),
    Reader("owners.Session.opened", NAMES[2:3], shares),
    Reader("owners.Party", NAMES[3:4], secret),
    Reader("owners.Party.open", NAMES[4:], request),
]
