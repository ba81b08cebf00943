"""The side of a client: a mod of Flower that takes part in the joint key, and encrypts what training changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from flwr.app import Context, Message, MessageType, RecordDict
from flwr.clientapp.typing import ClientAppCallable

from noren import federated, owners
from noren._noren import EncodingError, Error
from noren.flower import _records
from noren.flower._records import FIELDS, Step

T = TypeVar("T")

_DIGEST = 16
"""How many signs of the digest of a session name the folder of its party."""


class PartyMod:
    """A mod for `flwr.clientapp.ClientApp`, or for the training function of one.

    The training function is an ordinary one: it gets weights, returns as many, and says in its metrics how many
    examples it had. The mod returns to the server how the weights changed, encrypted, and metrics as they are. It
    answers the key rounds and the openings of `EncryptedFedAvg` without the function. Messages of evaluation pass.

    It stands before mods that change weights: ``ClientApp(mods=[PartyMod(...), LocalDpMod(...)])``.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | Callable[[Context], str | os.PathLike[str]],
        name: str | Callable[[Context], str],
        *,
        passphrase: str | Callable[[Context], str | None] | None = None,
        digest: str | Callable[[Context], str | None] | None = None,
        least: int = 2,
        min_security: int = 128,
    ) -> None:
        """Say where this client keeps its part of the secret, and what it takes part in.

        Each of the first four arguments can be a function of the context of Flower, which has the configuration of the
        node: ``lambda context: context.node_config["party"]``.

        folder: for a folder of `noren.owners.Party` of each session; it is made if it is not there.
        name: the name of this party in the sessions of the server.
        passphrase: encrypts the secret.
        digest: that of the only session to take part in (`noren.owners.Session.digest`); None: any.
        least: the fewest updates in a sum that this client opens, as the server states them.
        min_security: refuses parameters with less.
        """
        self._folder, self._name, self._passphrase, self._digest = folder, name, passphrase, digest
        self._least, self._min_security = least, min_security

    def __call__(self, message: Message, context: Context, call_next: ClientAppCallable) -> Message:
        """Answer a message of the strategy.

        Raises `noren.Error` for messages that ask for weights in clear, and for what a party refuses; Flower sends its
        text to the server.
        """
        if message.metadata.message_type.partition(".")[0] != MessageType.TRAIN:
            return call_next(message, context)
        content = message.content
        if FIELDS not in content.config_records:
            raise Error("the server asks for weights in clear: its strategy is no EncryptedFedAvg, and they stay here")
        step = Step(_records.field(content, "step", str))
        party = self._join(content, context) if step is Step.JOIN else self._load(content, context)
        match step:
            case Step.JOIN:
                data = _sent(party.next())
            case Step.KEYS:
                data = _sent(party.next(_records.data(content)))
            case Step.OPEN:
                data = [self._open(content, party)]
            case Step.UPDATE:
                reply = call_next(message, context)
                return reply if reply.has_error() else _encrypted(content, reply, party)
        return Message(_reply(party, data), reply_to=message)

    def _join(self, content: RecordDict, context: Context) -> owners.Party:
        """Return the party of the session that the server brings, which begins with it."""
        (brought,) = _records.data(content)
        session = owners.Session.from_bytes(brought, min_security=self._min_security)
        folder = self._place(session.digest, context)
        if folder.exists():
            return self._loaded(folder, session.digest, context)
        folder.parent.mkdir(parents=True, exist_ok=True)
        name, passphrase = _value(self._name, context), _value(self._passphrase, context)
        return owners.Party.create(folder, session, name, passphrase=passphrase)

    def _load(self, content: RecordDict, context: Context) -> owners.Party:
        digest = _records.field(content, "session", str)
        folder = self._place(digest, context)
        if not folder.exists():
            raise Error(f"this client does not take part in the session {digest}: there is no {folder}")
        return self._loaded(folder, digest, context)

    def _loaded(self, folder: Path, digest: str, context: Context) -> owners.Party:
        passphrase = _value(self._passphrase, context)
        party = owners.Party.load(folder, passphrase=passphrase, min_security=self._min_security)
        name = _value(self._name, context)
        if party.session.digest != digest or party.name != name:
            found = f"party {party.name!r} of the session {party.session.digest}"
            raise Error(f"{folder} has the {found}; needed is {name!r} of {digest}")
        return party

    def _place(self, digest: str, context: Context) -> Path:
        wanted = _value(self._digest, context)
        if wanted is not None and wanted != digest:
            raise Error(f"the server has the session {digest}; this client takes part in {wanted} alone")
        if not digest.isalnum():
            raise Error(f"a digest of a session has letters and digits, unlike {digest!r}")
        # Not by `_value`: strings and paths have no type in common.
        folder = Path(self._folder(context) if callable(self._folder) else self._folder)
        return folder / digest[:_DIGEST]

    def _open(self, content: RecordDict, party: owners.Party) -> bytes:
        updates = _records.names(content, "updates")
        if len(set(updates)) < self._least:
            raise Error(
                f"the sum has updates of {sorted(set(updates))}; this client opens those of {self._least} or more"
            )
        if strangers := set(updates) - set(party.session.names):
            raise Error(f"the sum has updates of {sorted(strangers)}, who are no parties")
        among = _records.names(content, "among") if party.session.threshold else None
        (request,) = _records.data(content)
        return party.open(request, among)


def _encrypted(content: RecordDict, reply: Message, party: owners.Party) -> Message:
    """Return the reply of a training function with how the weights changed, encrypted, in place of weights."""
    _, before = _records.only(content.array_records, "arrays")
    key, after = _records.only(reply.content.array_records, "arrays")
    change = _records.change(before, after)
    security = _records.field(content, "security", int)
    average = federated.Average(
        np.zeros(change.size),
        parties=len(party.session.names),
        total=_records.field(content, "total", int),
        bits=_records.field(content, "bits", int),
        bound=_records.field(content, "bound", float),
        rounds=_records.field(content, "rounds", int),
        distance=party.session.distance,
        security=security or None,  # type: ignore[arg-type] # others are refused
    )
    if average.parameters != party.session.parameters or average.results > party.session.results:
        raise EncodingError(f"the session of {party.session.results} results has no room for {average!r}")
    public, _ = party.keys()
    weight = _records.weight(reply.content, _records.field(content, "weighted-by", str))
    clip = bool(_records.field(content, "clip", int))
    data = [bytes(part) for part in average.encrypt(change, public, weight=weight, clip=clip)]
    kept = RecordDict({name: record for name, record in reply.content.items() if name != key})
    kept.update(_reply(party, data))
    reply.content = kept
    return reply


def _reply(party: owners.Party, data: list[bytes]) -> RecordDict:
    return _records.records({"name": party.name, "left": party.results_left}, data)


def _sent(message: bytes | None) -> list[bytes]:
    return [] if message is None else [message]


def _value(given: T | Callable[[Context], T], context: Context) -> T:
    return given(context) if callable(given) else given
