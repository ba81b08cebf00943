"""The side of the server: a strategy of Flower that averages what is encrypted, and never has a secret."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

from noren import federated, owners
from noren._noren import EncodingError, Error, bfv
from noren.flower import _records
from noren.flower._errors import MissingPartyError, listed
from noren.flower._group import LOG, Group
from noren.flower._records import FIELDS, Step


class EncryptedFedAvg(FedAvg):  # type: ignore[misc, unused-ignore] # where Flower is not installed
    """Federated averaging whose server sees the average of all changes of the weights, and no single one.

    Clients have a `PartyMod`. The numbers of their examples, and their metrics, pass in clear.
    """

    def __init__(
        self,
        names: Iterable[str],
        *,
        rounds: int,
        total: int,
        threshold: int | None = None,
        spare: int | None = None,
        min_train_nodes: int | None = None,
        bits: int = 16,
        bound: float = 1.0,
        clip: bool = True,
        distance: int = 64,
        security: Literal[128, 192, 256] | None = 128,
        session: str | os.PathLike[str] | None = None,
        timeout: float = 600.0,
        **options: Any,  # noqa: ANN401 - those of the class above
    ) -> None:
        """Say who the parties are, and how changes are encoded.

        names: the names of the parties. All of them make the keys, before the first round of training.
        rounds: how many averages are opened.
        total: the most examples of a round: the sum of the metric ``num-examples`` over all clients.
        threshold: how many parties open an average; None: all of them.
        spare: how many more times a sum is opened, by others, because a party did not answer; None: as often as there
            are rounds with a threshold, and never without one.
        min_train_nodes: the fewest updates that are averaged; None: as many as open an average. Of two updates each
            party learns that of the other.
        bits, bound, distance, security: as in `noren.federated.Average`; bound is the largest change of a weight in a
            round.
        clip: take changes beyond `bound` as if they were there; otherwise clients refuse to send them.
        session: a file for the session, which is public. Where it is there, parties use the keys again that they
            have; None: each strategy makes a session, and parties new keys.
        timeout: how many seconds are waited for parties to connect, and for replies to key rounds and openings.
        options: those of `flwr.serverapp.strategy.FedAvg`, such as ``fraction_evaluate``.
        """
        self._names = list(names)
        least = (threshold or len(self._names)) if min_train_nodes is None else min_train_nodes
        super().__init__(min_train_nodes=least, **options)
        self._least = least
        self._rounds = rounds + ((rounds if threshold else 0) if spare is None else spare)
        self._total, self._threshold = total, threshold
        self._bits, self._bound, self._clip = bits, float(bound), clip
        self._distance, self._security = distance, security
        self._file = None if session is None else Path(session)
        self._timeout = timeout
        self._average: federated.Average | None = None
        self._group: Group | None = None
        self._round: tuple[Grid, ArrayRecord, list[str]] | None = None

    @property
    def session(self) -> owners.Session | None:
        """The session of the parties; None before the first round of training."""
        return None if self._group is None else self._group.session

    @property
    def average(self) -> federated.Average | None:
        """The encoding of updates, which says their step; None before the first round of training."""
        return self._average

    def summary(self) -> None:
        """Log who takes part."""
        opening = f"{self._threshold or len(self._names)} of {len(self._names)} parties"
        LOG.info("\t├──> Encrypted averages, opened by %s: %s", opening, ", ".join(self._names))
        super().summary()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask parties to train; before the first round they make their keys.

        Raises `noren.flower.MissingPartyError` that names parties without which there are no keys, and if fewer than
        `min_train_nodes` are connected.
        """
        if self.fraction_train == 0.0:
            return []
        average, group = self._prepared(arrays)
        group.keys(grid)
        there = group.connected(grid)
        self._enough("connected", there, {name: "not connected" for name in self._names if name not in there})
        chosen = random.sample(there, max(self._least, int(len(there) * self.fraction_train)))
        self._round = grid, arrays, chosen
        config["server-round"] = server_round
        fields: dict[str, Any] = {
            "step": Step.UPDATE.value,
            "session": group.session.digest,
            "bits": average.bits,
            "bound": average.bound,
            "total": average.total,
            "rounds": self._rounds,
            "security": self._security or 0,
            "weighted-by": self.weighted_by_key,
            "clip": int(self._clip),
        }
        record = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: config, FIELDS: ConfigRecord(fields)})
        return [
            Message(content=record, message_type=MessageType.TRAIN, dst_node_id=group.nodes[name]) for name in chosen
        ]

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Add encrypted changes up, have parties open the sum, and return the new weights and the average metrics.

        Raises `noren.flower.MissingPartyError` and `noren.flower.BudgetError`, which name parties, and
        `noren.EncodingError` for more examples than `total`.
        """
        if self._round is None or self._average is None or self._group is None:
            return None, None
        (grid, before, chosen), self._round = self._round, None
        average, group = self._average, self._group
        contents, failures = group.answers(chosen, replies)
        public, evaluation = group.keys(grid)
        updates, weights = dict[str, list[bfv.Ciphertext]](), dict[str, int]()
        for name, content in contents.items():
            try:
                updates[name] = self._update(content, average, public.owner)
                weights[name] = _records.weight(content, self.weighted_by_key)
            except Error as error:
                updates.pop(name, None)
                failures[name] = str(error)
        LOG.info("aggregate_train: %d encrypted updates, and %d failures", len(updates), len(failures))
        if failures:
            LOG.warning("left out of round %d: %s", server_round, listed(failures, failures))
        self._enough("averaged", updates, failures)
        if (weight := sum(weights.values())) > self._total:
            raise EncodingError(f"there are {weight} examples, of {weights}; total is {self._total}: make it larger")
        total = average.add(updates.values(), evaluation)
        change = average.decode(group.open(grid, total, updates), weight=weight)
        metrics = self.train_metrics_aggr_fn([contents[name] for name in updates], self.weighted_by_key)
        return _records.changed(before, change), metrics

    def _prepared(self, arrays: ArrayRecord) -> tuple[federated.Average, Group]:
        """Return the encoding of weights like these, and the parties, which both stay what they are."""
        if self._average is None or self._group is None:
            average = federated.Average(
                np.zeros(_records.size(arrays)),
                parties=len(self._names),
                total=self._total,
                bits=self._bits,
                bound=self._bound,
                rounds=self._rounds,
                distance=self._distance,
                security=self._security,
            )
            self._average, self._group = average, Group(self._agreed(average), self._timeout)
        elif self._average.size != _records.size(arrays):
            raise EncodingError(f"there are {_records.size(arrays)} weights; {self._average.size} were averaged before")
        return self._average, self._group

    def _agreed(self, average: federated.Average) -> owners.Session:
        """Return the session of the file, or a new one."""
        if self._file is None or not self._file.exists():
            made = owners.Session(
                average.parameters,
                self._names,
                results=average.results,
                distance=self._distance,
                threshold=self._threshold,
            )
            if self._file is not None:
                made.save(self._file)
            return made
        found = owners.Session.load(self._file, min_security=self._security or 0)
        same = found.names == self._names and found.threshold == self._threshold and found.distance == self._distance
        if not (same and found.parameters == average.parameters and found.results >= average.results):
            raise Error(f"{self._file} has the {found!r}, not one for {average!r}: give another file")
        return found

    def _update(self, content: RecordDict, average: federated.Average, owner: str) -> list[bfv.Ciphertext]:
        """Return the ciphertexts of an update, which fit to others."""
        parts = [bfv.Ciphertext.from_bytes(average.context, part) for part in _records.data(content)]
        # What a session is for is as many ciphertexts for each average.
        if len(parts) != (needed := average.results // self._rounds):
            raise EncodingError(f"the update has {len(parts)} ciphertexts; needed are {needed}")
        if any(part.owner != owner for part in parts):
            raise EncodingError("the update is encrypted under another key")
        return parts

    def _enough(self, what: str, found: Iterable[str], reasons: dict[str, str]) -> None:
        names = list(found)
        if len(names) < self._least:
            counted = f"parties {what}: {len(names)}; min_train_nodes is {self._least}"
            raise MissingPartyError(f"{counted}; missing are {listed(reasons, reasons)}")
