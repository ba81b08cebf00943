"""The parties as the server sees them: which nodes they are, the rounds of their keys, and openings of sums."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flwr.app import Message, MessageType, RecordDict
from flwr.serverapp import Grid

from noren import owners
from noren._noren import Error, bfv, integers
from noren.flower import _records
from noren.flower._errors import BudgetError, MissingPartyError, listed
from noren.flower._records import Step

LOG = logging.getLogger("flwr")
_PAUSE = 1.0
"""Seconds between two looks at which nodes are connected."""


class Group:
    """The parties of a session, and the nodes of Flower that they are."""

    def __init__(self, session: owners.Session, timeout: float) -> None:
        """Begin without a party.

        timeout: how many seconds are waited for parties to connect, and for the replies of a round.
        """
        self.session = session
        self.nodes: dict[str, int] = {}
        self._timeout = timeout
        self._coordinator = owners.Coordinator(session)
        self._keys: tuple[integers.PublicKey, integers.EvaluationKeys] | None = None
        # Nodes that were asked to join, with what those said that did not.
        self._asked: set[int] = set()
        self._strangers: dict[str, str] = {}
        # How many results each party may still open, and its last message.
        self._left: dict[str, int] = {}
        self._messages: dict[str, bytes] = {}

    def keys(self, grid: Grid) -> tuple[integers.PublicKey, integers.EvaluationKeys]:
        """Return the keys of all parties, who make them first if there are none.

        Raises `noren.flower.MissingPartyError` for a party that does not take part.
        """
        self._meet(grid)
        if self._keys is None:
            LOG.info("keys of %d parties, session %s", len(self.nodes), self.session.digest)
            messages = self._messages
            while messages:
                self._coordinator.add(*messages.values())
                request = self._request(Step.KEYS, {}, messages.values())
                contents, failures = self.ask(grid, dict.fromkeys(self.nodes, request))
                self._all("the round of keys", failures)
                messages = {name: part for name, content in contents.items() for part in _records.data(content)}
            self._keys = self._coordinator.keys()
        return self._keys

    def connected(self, grid: Grid) -> list[str]:
        """Return the names of parties whose nodes are connected."""
        there = set(grid.get_node_ids())
        return [name for name in self.session.names if self.nodes.get(name) in there]

    def open(self, grid: Grid, total: Sequence[bfv.Ciphertext], updates: Iterable[str]) -> Any:  # noqa: ANN401 - arrays
        """Return what `owners.Session.opened` returns of a sum.

        updates: the names of the parties whose updates it has: they answered last, and are asked first.

        If one of the openers fails, others open the sum instead, for which it counts as another result.

        Raises `noren.flower.BudgetError` and `MissingPartyError` if fewer than those that open a result can.
        """
        updates = list(updates)
        needed = self.session.threshold or len(self.session.names)
        data = [self.session.request(total)]
        failed: dict[str, str] = {}
        while True:
            there = self.connected(grid)
            able = [name for name in there if name not in failed and self._left[name] >= len(total)]
            if len(able) < needed:
                raise self._cannot_open(there, failed, needed, len(total))
            among = sorted(able, key=lambda name: name not in updates)[:needed]
            request = self._request(Step.OPEN, {"among": among, "updates": updates}, data)
            contents, failures = self.ask(grid, dict.fromkeys(among, request))
            if not failures:
                shares = [share for content in contents.values() for share in _records.data(content)]
                return self.session.opened(total, shares, signed=True, coefficients=True)
            failed |= failures
            if not self.session.threshold:
                raise self._cannot_open(there, failed, needed, len(total))
            LOG.warning("others open the sum, which counts as another result: %s", listed(failures, failures))

    def ask(self, grid: Grid, requests: Mapping[str, RecordDict]) -> tuple[dict[str, RecordDict], dict[str, str]]:
        """Send a request to each party; return the contents of replies, and the reasons where there is none."""
        return self.answers(requests, self._send(grid, {self.nodes[name]: each for name, each in requests.items()}))

    def answers(self, asked: Iterable[str], replies: Iterable[Message]) -> tuple[dict[str, RecordDict], dict[str, str]]:
        """Return the contents of replies of those that were asked, and the reasons where there is none."""
        found = _by_node(replies)
        contents, failures = dict[str, RecordDict](), dict[str, str]()
        for name in asked:
            match found.get(self.nodes[name]):
                case None:
                    failures[name] = "no answer"
                case str() as reason:
                    failures[name] = reason
                case content:
                    try:
                        self._left[name] = _records.field(content, "left", int)
                        contents[name] = content
                    except Error as error:
                        failures[name] = str(error)
        return contents, failures

    def _meet(self, grid: Grid) -> None:
        """Ask nodes that are new to join, until all parties are there; for others than the first time nobody waits."""
        end = time.monotonic() + self._timeout
        while True:
            self._join(grid, [node for node in grid.get_node_ids() if node not in self._asked])
            missing = [name for name in self.session.names if name not in self.nodes]
            if not missing or self._keys is not None:
                return
            if time.monotonic() >= end:
                self._all("the session", dict.fromkeys(missing, "no node has joined as it") | self._strangers)
            time.sleep(min(_PAUSE, self._timeout))

    def _join(self, grid: Grid, nodes: list[int]) -> None:
        request = _records.records({"step": Step.JOIN.value}, [bytes(self.session)])
        found = _by_node(self._send(grid, dict.fromkeys(nodes, request)))
        self._asked.update(nodes)
        for node in nodes:
            content = found.get(node, "no answer")
            try:
                if isinstance(content, str):
                    raise Error(content)
                name = _records.field(content, "name", str)
                (message,) = _records.data(content)
                if name not in self.session.names:
                    raise Error(f"it joins as {name!r}; the parties are {self.session.names}")
                if name in self.nodes and self.nodes[name] in set(grid.get_node_ids()):
                    raise Error(f"it joins as {name!r}, as node {self.nodes[name]} does")
                self._coordinator.add(message)
                self._left[name] = _records.field(content, "left", int)
            except (Error, ValueError) as error:
                self._strangers[f"node {node}"] = str(error)
                LOG.warning("node %d is no party: %s", node, error)
            else:
                self.nodes[name], self._messages[name] = node, message

    def _request(self, step: Step, fields: dict[str, Any], data: Iterable[bytes]) -> RecordDict:
        return _records.records({"step": step.value, "session": self.session.digest, **fields}, data)

    def _send(self, grid: Grid, contents: Mapping[int, RecordDict]) -> Iterable[Message]:
        if not contents:
            return []
        messages = [
            Message(content=content, message_type=MessageType.TRAIN, dst_node_id=node)
            for node, content in contents.items()
        ]
        replies: Iterable[Message] = grid.send_and_receive(messages, timeout=self._timeout)
        return replies

    def _all(self, what: str, failures: dict[str, str]) -> None:
        if failures:
            raise MissingPartyError(f"{what} needs all parties; missing are {listed(failures, failures)}")

    def _cannot_open(self, there: list[str], failed: dict[str, str], needed: int, results: int) -> Error:
        reasons = {name: "not connected" for name in self.session.names if name not in there}
        spent = {
            name: f"{self._left[name]} results left"
            for name in there
            if name not in failed and self._left[name] < results
        }
        unable = listed([*reasons, *failed, *spent], reasons | failed | spent)
        text = f"{needed} parties open a sum of {results} ciphertexts; those that cannot are {unable}"
        if spent:
            return BudgetError(f"{text}: make a session of more rounds, or of more spare ones")
        return MissingPartyError(text)


def _by_node(replies: Iterable[Message]) -> dict[int, RecordDict | str]:
    """Return the contents of replies, or the reasons of errors."""
    return {
        reply.metadata.src_node_id: (reply.error.reason or f"error {reply.error.code}")
        if reply.has_error()
        else reply.content
        for reply in replies
    }
