"""Several owners of one secret key: keys that they make together, and results that only all of them can open.

>>> import tempfile
>>> from pathlib import Path
>>> from noren import bfv, owners
>>> parameters = bfv.Parameters.for_requirements(depth=0, sum=2, parties=2, results=10)
>>> session = owners.Session(parameters, ["north", "south"], results=10)

Each party has a folder of its own, and sends a message a round; those of all parties lead to the next ones:

>>> folder = Path(tempfile.mkdtemp())
>>> parties = [owners.Party.create(folder / name, session, name) for name in session.names]
>>> messages = [party.next() for party in parties]
>>> while None not in messages:
...     messages = [party.next(messages) for party in parties]

Then everybody encrypts with the public key, and a result is opened by a message of each party:

>>> public, evaluation = parties[0].keys()
>>> context = bfv.Context(parameters)
>>> evaluator = context.evaluator(evaluation)
>>> total = context.encrypt([1, 2, 3], public) * 2
>>> session.opened(total, [party.open(total) for party in parties])
array([2, 4, 6])

See ``docs/owners.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from noren import _files
from noren._noren import EncodingError, integers, owners

__all__ = ["Coordinator", "Party", "Session"]

P = TypeVar("P", bound="Party")
Ciphertexts = Any
"""A ciphertext of BGV or BFV, or several of one scheme."""


class Session:
    """What the parties agree on before any has a key; it is public."""

    def __init__(
        self,
        parameters: integers.Parameters,
        names: Iterable[str],
        *,
        results: int,
        distance: int = 64,
        relinearization: bool = False,
        rotations: Iterable[int] = (),
        swap: bool = False,
        threshold: int | None = None,
        seed: bytes | None = None,
    ) -> None:
        """Make a session of parties with these names.

        parameters: those of as many parties, such as ``bfv.Parameters.for_requirements(parties=...)`` finds.
        results: the most ciphertexts that the parties ever open.
        distance: what a party shows of its secret by opening all of them is within a statistical distance of
            2^-distance of nothing.
        relinearization, rotations, swap: the keys that the parties make, as in ``Context.keygen``: few, because each
            is a message as large as itself. A relinearisation key, for products, takes one round more.
        threshold: how many of the parties open a result; None: all of them. Any as many do, without the others, and
            fewer learn nothing; all of them make the keys.
        seed: tells sessions apart that agree on the same; it is no secret. None draws it from the operating system.

        Raises `noren.Error` for names that stand twice, and for parameters of other parties.
        """
        if isinstance(names, str):
            raise EncodingError(f"{names!r} is one name: give a list")
        self._session = owners.Session(
            parameters,
            list(names),
            results=results,
            distance=distance,
            relinearization=relinearization,
            rotations=list(rotations),
            swap=swap,
            threshold=threshold,
            seed=seed,
        )

    @classmethod
    def _of(cls, session: owners.Session) -> Session:
        made = cls.__new__(cls)
        made._session = session
        return made

    @classmethod
    def from_bytes(cls, data: bytes, *, min_security: int = 128) -> Session:
        """Return the session that ``bytes(session)`` gave.

        Raises `noren.Error` for other bytes, `noren.InsecureError` for parameters below `min_security` bits.
        """
        return cls._of(owners.Session.from_bytes(data, min_security=min_security))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, min_security: int = 128) -> Session:
        """Read what `save` wrote. Raises as `from_bytes`, and OSError."""
        return cls.from_bytes(_files.read(path), min_security=min_security)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the session to a file, for every party. Raises FileExistsError unless `force` is true."""
        _files.write(Path(path), bytes(self), force=force)

    @property
    def parameters(self) -> integers.Parameters:
        """The parameters of ciphertexts."""
        return self._session.parameters

    @property
    def names(self) -> list[str]:
        """The names of the parties."""
        return self._session.names

    @property
    def results(self) -> int:
        """The most ciphertexts that the parties ever open."""
        return self._session.results

    @property
    def distance(self) -> int:
        """The bits of the statistical distance, over all results."""
        return self._session.distance

    @property
    def threshold(self) -> int | None:
        """How many of the parties open a result; None: all of them."""
        return self._session.threshold

    @property
    def digest(self) -> str:
        """What messages name the session by: parties compare it before they take part."""
        return self._session.digest

    def opened(
        self, ciphertexts: Ciphertexts, shares: Iterable[bytes], *, signed: bool = False, coefficients: bool = False
    ) -> Any:  # noqa: ANN401 - an array, or a list of arrays
        """Return the numbers in a ciphertext, or those of each of several, from the shares of all who open it.

        shares: what `Party.open` of each party that opens them returned.

        signed, coefficients: as in ``Context.decrypt``.

        Raises `noren.Error` that names parties whose shares are missing, for shares of other ciphertexts or for others
        who open together, and for two of one party.
        """
        several, single = _listed(ciphertexts)
        values = self._session.opened(several, list(shares), signed=signed, coefficients=coefficients)
        return values[0] if single else values

    def request(self, ciphertexts: Ciphertexts) -> bytes:
        """Return what parties need of a ciphertext, or of several, for `Party.open`: half of the bytes."""
        return self._session.request(_listed(ciphertexts)[0])

    def __bytes__(self) -> bytes:
        """Return the bytes of a file."""
        return bytes(self._session)

    def __eq__(self, other: object) -> bool:
        """Whether both are one session."""
        return isinstance(other, Session) and self.digest == other.digest

    def __hash__(self) -> int:
        """Return a hash of its digest."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Return who takes part, and what is opened."""
        threshold = f"threshold={self.threshold}, " if self.threshold else ""
        opening = f"{threshold}results={self.results}, distance={self.distance}"
        return f"Session({self.names}, {opening}, digest={self.digest[:8]})"


class Coordinator:
    """The messages of all parties, and the keys that follow from them. It has no secret, and is trusted with none."""

    def __init__(self, session: Session) -> None:
        """Begin without a message."""
        self._transcript = owners.Transcript(session._session)

    def add(self, *messages: bytes) -> None:
        """Take messages of parties, in the order of their rounds; what is known already changes nothing.

        Raises `noren.Error` for messages of another session, and for those that break the protocol, with the name of
        the party.
        """
        self._transcript.add(list(messages))

    def missing(self) -> dict[str, list[str]]:
        """Return the names of the parties whose messages are missing, for each round."""
        return dict(self._transcript.missing())

    def keys(self) -> tuple[integers.PublicKey, integers.EvaluationKeys]:
        """Return the public key and the evaluation keys. Raises `noren.Error` that names who is missing."""
        return self._transcript.keys()


class Party:
    """One party of a session: its part of the secret key, in a folder that it keeps to itself."""

    def __init__(self, party: owners.Party) -> None:
        """Wrap what `create` and `load` return."""
        self._party = party

    @classmethod
    def create(
        cls: type[P],
        folder: str | os.PathLike[str],
        session: Session,
        name: str,
        *,
        passphrase: str | None = None,
        seed: bytes | None = None,
    ) -> P:
        """Make a folder for a party, with a secret of its own.

        passphrase: encrypts the secret.
        seed: 32 secret bytes from which its secret follows; None draws them from the operating system.

        Raises `noren.Error` for a name that the session does not have, FileExistsError for a folder of a party.
        """
        return cls(owners.Party.create(folder, session._session, name, passphrase=passphrase, seed=seed))

    @classmethod
    def load(
        cls: type[P], folder: str | os.PathLike[str], *, passphrase: str | None = None, min_security: int = 128
    ) -> P:
        """Return the party of a folder, as it was when it was last used, even if its process was killed.

        Raises `noren.Error` for a folder that is in use, OSError and `noren.WireError` for files that are missing or
        damaged.
        """
        return cls(owners.Party.load(folder, passphrase=passphrase, min_security=min_security))

    @property
    def session(self) -> Session:
        """The session."""
        return Session._of(self._party.session)

    @property
    def name(self) -> str:
        """The name of the party."""
        return self._party.name

    @property
    def results_left(self) -> int:
        """How many ciphertexts it may still open."""
        return self._party.results_left

    def next(self, messages: Iterable[bytes] = ()) -> bytes | None:
        """Take the messages of a round, and return the own one of the next.

        Without messages it is that of the first round; after the last one it is None. All of them are in the folder
        before it returns, and the same messages lead to the same one, also after a process that was killed.

        Raises `noren.Error` that names parties whose messages are missing, and for messages that break the protocol.
        """
        return self._party.next(list(messages))

    def sent(self) -> dict[str, bytes]:
        """Return the messages that it has sent, by the names of their rounds."""
        return dict(self._party.sent())

    def keys(self) -> tuple[integers.PublicKey, integers.EvaluationKeys]:
        """Return the public key and the evaluation keys. Raises `noren.Error` that names who is missing."""
        return self._party.keys()

    def open(self, ciphertexts: Ciphertexts | bytes, among: Iterable[str] | None = None) -> bytes:
        """Return its shares in the decryption of a ciphertext, or of several, for `Session.opened`.

        Whoever has those of all parties learns the numbers; a party that keeps its own to itself is the only one. What
        is opened stands in its folder before it returns, and counts once: a second share is the first one again.

        ciphertexts: a ciphertext, or several, or what `Session.request` returned for them.
        among: the names of the parties that open it together, this one too, in a session with a threshold. A
            ciphertext that others open again, because one of them did not answer, counts as another result.

        Raises `noren.Error` for names that do not open results, beyond the results that the session is for, for
        ciphertexts of another key, and for those whose noise cannot be hidden: parameters for more operations have room
        for it.
        """
        if isinstance(among, str):
            raise EncodingError(f"{among!r} is one name: give a list")
        names = None if among is None else list(among)
        if isinstance(ciphertexts, bytes):
            return self._party.open_request(ciphertexts, names)
        return self._party.open(_listed(ciphertexts)[0], names)

    def __repr__(self) -> str:
        """Return its name and session."""
        return f"Party({self.name!r}, results_left={self.results_left}, session={self.session.digest[:8]})"


def _listed(ciphertexts: Ciphertexts) -> tuple[list[Any], bool]:
    """Return ciphertexts as a list, and whether it was a single one."""
    several = isinstance(ciphertexts, Sequence)
    return (list(ciphertexts), False) if several else ([ciphertexts], True)
