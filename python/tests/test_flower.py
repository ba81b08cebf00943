"""Encrypted averages under Flower: its own messages, between a server and clients in one process."""

import doctest
import importlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Context,
    Error,
    Message,
    MetricRecord,
    RecordDict,
)
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid

import noren
from noren import federated, flower, owners
from noren.flower import _records

NAMES = ["north", "south", "west"]
EXAMPLES: dict[str, Any] = {"north": 100, "south": 250, "west": 50}
BOUND = 2.0


@pytest.fixture(autouse=True)
def _identity() -> None:
    """What processes of Flower set before they make messages, in versions that ask for it."""
    try:
        task: Any = importlib.import_module("flwr.supercore.task_identity").TaskIdentity
    except ModuleNotFoundError:
        return
    task.run_id, task.node_id, task.task_id = 1, 1, 1


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.flower._group._PAUSE", 0.01)


def begin() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {
        "dense": rng.uniform(-2, 2, (20, 30)),
        "bias": rng.uniform(-2, 2, 30).astype(np.float32),
        "scale": np.array(1.5),
        "steps": np.array([7, 8]),
    }


def trained(name: str, weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a client makes of weights: half of the way to what it would like."""
    rng = np.random.default_rng(EXAMPLES[name])
    new = {key: ((old + rng.uniform(-1, 1, old.shape)) / 2).astype(old.dtype) for key, old in weights.items()}
    return new | {"steps": weights["steps"] + 1}


def averaged(weights: dict[str, np.ndarray], names: Iterable[str]) -> dict[str, np.ndarray]:
    """The average of what clients make of weights, in clear."""
    parts = {name: trained(name, weights) for name in names}
    total = sum(EXAMPLES[name] for name in parts)
    return {key: sum(EXAMPLES[name] / total * part[key] for name, part in parts.items()) for key in weights}


def as_record(weights: dict[str, np.ndarray]) -> ArrayRecord:
    return ArrayRecord({key: Array(np.asarray(value)) for key, value in weights.items()})


def as_arrays(record: Any) -> dict[str, np.ndarray]:
    return {key: array.numpy() for key, array in record.items()}


def app(mod: Any, name: Callable[[Context], str], train: Callable[..., Any] = trained) -> Any:
    """A client app whose functions are ordinary ones of Flower."""
    made = ClientApp(mods=[mod])

    def fit(message: Message, context: Context) -> Message:
        own = name(context)
        weights = as_arrays(message.content["arrays"])
        metrics = MetricRecord({"loss": float(len(own)), "num-examples": EXAMPLES[own]})
        content = RecordDict({"arrays": as_record(train(own, weights)), "metrics": metrics})
        return Message(content, reply_to=message)

    def score(message: Message, context: Context) -> Message:
        metrics = MetricRecord({"size": 1.0, "num-examples": EXAMPLES[name(context)]})
        return Message(RecordDict({"metrics": metrics}), reply_to=message)

    made.train()(fit)
    made.evaluate()(score)
    return made


def client(name: str, folder: Path, train: Callable[..., Any] = trained, **options: Any) -> Any:
    """The app of one client."""
    mod = flower.PartyMod(folder / name, name, **{"min_security": 0, **options})
    return app(mod, lambda context: name, train)


class InProcess(Grid):  # type: ignore[misc, unused-ignore] # where Flower is not installed
    """Nodes of one process. Like a real grid it makes errors of exceptions."""

    def __init__(self, apps: dict[int, Any], folder: Path | None = None) -> None:
        self.apps, self.folder = apps, folder
        self.replies: list[Any] = []
        # Called with each message that is sent; what it raises is an error of the client.
        self.before: Callable[[str, int], None] = lambda step, node: None

    def get_node_ids(self) -> list[int]:
        return list(self.apps)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        return [reply for message in messages if (reply := self._sent(message)) is not None]

    def _sent(self, message: Message) -> Any:
        node = message.metadata.dst_node_id
        fields = message.content.config_records.get("noren")
        try:
            self.before(str(fields["step"]) if fields else "", node)
            if node not in self.apps:
                return None
            party = NAMES[node % 10 % 3]
            context = Context(1, node, {"party": party, "folder": f"{self.folder}/{party}"}, RecordDict(), {})
            reply = self.apps[node](message, context)
        except Exception as error:  # a client may raise anything
            reply = Message(Error(2, f"{type(error).__name__}: {error}"), reply_to=message)
        self.replies.append(reply)
        return reply

    def set_run(self, run: Any) -> None:
        raise NotImplementedError

    @property
    def run(self) -> Any:
        raise NotImplementedError

    def create_message(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def push_messages(self, messages: Any) -> Any:
        raise NotImplementedError

    def pull_messages(self, message_ids: Any) -> Any:
        raise NotImplementedError


def world(folder: Path, **options: Any) -> InProcess:
    return InProcess({10 + at: client(name, folder, **options) for at, name in enumerate(NAMES)})


def strategy(**options: Any) -> Any:
    fixed: dict[str, Any] = {"rounds": 3, "total": 400, "threshold": 2, "bound": BOUND, "timeout": 0.05}
    return flower.EncryptedFedAvg(NAMES, **{**fixed, "security": None, **options})


def run(of: Any, grid: InProcess, weights: dict[str, np.ndarray], server_round: int = 1) -> Any:
    """One round of training: the weights after it, and the metrics."""
    messages = list(of.configure_train(server_round, as_record(weights), ConfigRecord(), grid))
    arrays, metrics = of.aggregate_train(server_round, grid.send_and_receive(messages))
    return as_arrays(arrays), metrics


def assert_near(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray], most: float) -> None:
    assert list(found) == list(wanted)
    for key, value in found.items():
        # Rounding to the type of the array comes on top.
        rest = np.finfo(np.float32).eps * 4 if value.dtype == np.float32 else 1e-12
        assert np.abs(value - wanted[key]).max() <= most + rest, key


def left(of: Any, folder: Path) -> list[int]:
    """How many results each party may still open."""
    digest = of.session.digest[:16]
    return [owners.Party.load(folder / name / digest, min_security=0).results_left for name in NAMES]


def test_rounds_of_flower_average_within_a_step(tmp_path: Path) -> None:
    grid, weights = world(tmp_path), begin()
    of = strategy(bits=16)
    result = of.start(grid, as_record(weights), num_rounds=3)
    wanted = weights
    for _ in range(3):
        wanted = averaged(wanted, NAMES)
    found = as_arrays(result.arrays)
    assert [value.dtype for value in found.values()] == [value.dtype for value in weights.values()]
    # Half a step of each round, of which the next one halves what came before.
    assert_near(found, wanted, of.average.step)
    assert (found["steps"] == [10, 11]).all()
    losses = sum(EXAMPLES[name] * len(name) for name in NAMES) / sum(EXAMPLES.values())
    assert result.train_metrics_clientapp[3]["loss"] == pytest.approx(losses)
    assert result.evaluate_metrics_clientapp[3]["size"] == pytest.approx(1)
    # Three results of the session's six; the third party was not asked to open any.
    assert left(of, tmp_path) == [3, 3, 6]
    # Of what clients sent, no arrays are weights.
    assert {key for reply in grid.replies for key in reply.content.array_records} == {"noren-data"}
    assert sum("metrics" in reply.content for reply in grid.replies) == 18


def test_a_client_that_drops_out_is_left_out(tmp_path: Path) -> None:
    grid, weights = world(tmp_path), begin()
    of = strategy()
    first, _ = run(of, grid, weights)
    gone = grid.apps.pop(10)
    second, _ = run(of, grid, first, 2)
    assert_near(second, averaged(first, ["south", "west"]), of.average.step / 2)
    # It comes back as another node, and is known by its folder.
    grid.apps[20] = gone
    third, _ = run(of, grid, second, 3)
    assert_near(third, averaged(second, NAMES), of.average.step / 2)


def test_a_client_whose_training_fails_is_left_out(tmp_path: Path) -> None:
    def fails(step: str, node: int) -> None:
        if step == "update" and node == 11:
            raise RuntimeError("out of memory")

    grid, weights, of = world(tmp_path), begin(), strategy()
    grid.before = fails
    found, metrics = run(of, grid, weights)
    assert_near(found, averaged(weights, ["north", "west"]), of.average.step / 2)
    assert metrics["loss"] == pytest.approx((5 * 100 + 4 * 50) / 150)


def test_others_open_in_place_of_one_that_does_not_answer(tmp_path: Path) -> None:
    def drops(step: str, node: int) -> None:
        if step == "open" and node == 10:
            grid.apps.pop(node, None)

    grid, weights, of = world(tmp_path), begin(), strategy()
    grid.before = drops
    found, _ = run(of, grid, weights)
    assert_near(found, averaged(weights, NAMES), of.average.step / 2)
    # The second party opened the sum with the first one in vain, which counts.
    assert left(of, tmp_path) == [6, 4, 5]
    grid.apps.pop(11)
    with pytest.raises(flower.MissingPartyError, match=r"parties connected: 1.*north: not connected; south"):
        run(of, grid, found, 2)


def test_missing_openers_are_named(tmp_path: Path) -> None:
    def refuses(step: str, node: int) -> None:
        if step == "open" and node != 12:
            raise RuntimeError("the owner says no")

    grid, of = world(tmp_path), strategy()
    grid.before = refuses
    with pytest.raises(
        flower.MissingPartyError, match=r"2 parties open.*north: RuntimeError: the owner says no; south"
    ):
        run(of, grid, begin())
    alone = strategy(threshold=None)
    with pytest.raises(flower.MissingPartyError, match=r"3 parties open.*the owner says no"):
        run(alone, grid, begin())


def test_a_spent_budget_is_named(tmp_path: Path) -> None:
    grid, of = world(tmp_path), strategy(rounds=1, spare=0, threshold=None)
    found, _ = run(of, grid, begin())
    with pytest.raises(flower.BudgetError, match=r"north: 0 results left; south: 0 results left.*more rounds"):
        run(of, grid, found, 2)


def test_parties_that_make_no_keys_are_named_and_a_file_goes_on(tmp_path: Path) -> None:
    def fails(step: str, node: int) -> None:
        if step == "keys" and node == 12:
            raise RuntimeError("the disk is full")

    grid, weights = world(tmp_path), begin()
    grid.before = fails
    with pytest.raises(flower.MissingPartyError, match=r"round of keys.*west: RuntimeError: the disk is full"):
        run(strategy(session=tmp_path / "session"), grid, weights)
    west = grid.apps.pop(12)
    grid.apps[13] = client("north", tmp_path / "twin")
    with pytest.raises(flower.MissingPartyError, match="west: no node has joined as it; node 13: it joins as 'north'"):
        run(strategy(session=tmp_path / "session"), grid, weights)
    grid.before = lambda step, node: None
    grid.apps[12] = west
    del grid.apps[13]
    of = strategy(session=tmp_path / "session")
    found, _ = run(of, grid, weights)
    assert of.session == owners.Session.load(tmp_path / "session", min_security=0)
    # One more strategy with the same file has the same keys, and what is left of their results.
    again = strategy(session=tmp_path / "session")
    second, _ = run(again, grid, found)
    assert_near(second, averaged(averaged(weights, NAMES), NAMES), of.average.step)
    assert left(again, tmp_path) == [4, 4, 6]
    with pytest.raises(noren.Error, match="give another file"):
        run(strategy(session=tmp_path / "session", threshold=None), grid, weights)
    # Without a file it is another session, for which each client has another folder.
    run(strategy(), grid, weights)
    assert len(list((tmp_path / "north").iterdir())) == 2


def test_weights_never_leave_in_clear(tmp_path: Path) -> None:
    app = client("north", tmp_path)
    message = Message(RecordDict({"arrays": as_record(begin())}), message_type="train", dst_node_id=10)
    with pytest.raises(noren.Error, match="no EncryptedFedAvg"):
        app(message, Context(1, 10, {}, RecordDict(), {}))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"train": lambda name, weights: dict(list(weights.items())[1:])}, "it got .'dense'"),
        ({"train": lambda name, weights: {**weights, "bias": np.zeros(3)}}, r"'bias' of shape \(3,\)"),
        ({"train": lambda name, weights: {**weights, "scale": np.array(9.0)}}, "beyond 2.0"),
        ({"train": lambda name, weights: {**weights, "scale": np.array(np.nan)}}, "not finite"),
        ({"digest": "0" * 64}, "this client takes part in 000"),
        ({"min_security": 128}, "security"),
    ],
)
def test_clients_refuse(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    grid, of = world(tmp_path, **options), strategy(clip=False)
    with pytest.raises(flower.MissingPartyError, match=words):
        run(of, grid, begin())


def test_large_changes_are_clipped_on_request(tmp_path: Path) -> None:
    grid = world(tmp_path, train=lambda name, weights: {**weights, "scale": weights["scale"] + 9})
    found, _ = run(strategy(), grid, begin())
    assert found["scale"] == pytest.approx(begin()["scale"] + BOUND)


def test_clients_open_no_sum_of_fewer_than_they_want(tmp_path: Path) -> None:
    def fails(step: str, node: int) -> None:
        if step == "update" and node == 10:
            raise RuntimeError("no data")

    grid, of = world(tmp_path, least=3), strategy()
    found, _ = run(of, grid, begin())
    grid.before = fails
    with pytest.raises(flower.MissingPartyError, match=r"updates of .'south', 'west'.; this client opens those of 3"):
        run(of, grid, found, 2)


def test_more_examples_than_planned_are_refused(tmp_path: Path) -> None:
    with pytest.raises(noren.EncodingError, match=r"there are 400 examples.*total is 399"):
        run(strategy(total=399), world(tmp_path), begin())


def test_weights_are_whole_and_updates_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid, of = world(tmp_path, train=lambda name, weights: weights), strategy()
    monkeypatch.setitem(EXAMPLES, "south", 2.5)  # a client can send anything
    replies = grid.send_and_receive(of.configure_train(1, as_record(begin()), ConfigRecord(), grid))
    assert "whole number" in next(str(reply.error.reason) for reply in replies if reply.has_error())
    # Ciphertexts that are missing, or none, are left out like the client.
    west = next(reply for reply in replies if reply.metadata.src_node_id == 12)
    for data, words in [([], "0 ciphertexts; needed are 1"), ([b"no ciphertext"], "ciphertext")]:
        west.content["noren-data"] = ArrayRecord(
            {str(i): Array(np.frombuffer(x, np.uint8)) for i, x in enumerate(data)}
        )
        of.configure_train(1, as_record(begin()), ConfigRecord(), grid)
        with pytest.raises(flower.MissingPartyError, match=f"parties averaged: 1.*south: .*whole.*west: .*{words}"):
            of.aggregate_train(1, replies)
    with pytest.raises(noren.EncodingError, match="there are 3 weights; 633 were averaged before"):
        of.configure_train(2, as_record({"other": np.zeros(3)}), ConfigRecord(), grid)


def test_what_a_node_is_can_follow_from_its_context(tmp_path: Path) -> None:
    def party(context: Any) -> str:
        return str(context.node_config["party"])

    # One app for all nodes, as Flower sends it to them.
    mod = flower.PartyMod(lambda context: tmp_path / party(context), party, min_security=0)
    grid, of = InProcess(dict.fromkeys([10, 11, 12], app(mod, party))), strategy()
    found, _ = run(of, grid, begin())
    assert_near(found, averaged(begin(), NAMES), of.average.step / 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES


def test_a_passphrase_locks_the_folder(tmp_path: Path) -> None:
    average = federated.Average(np.zeros(3), parties=3, security=None)
    session = owners.Session(average.parameters, NAMES, results=average.results)
    content = _records.records({"step": "join"}, [bytes(session)])
    message = Message(content, message_type="train", dst_node_id=10)
    locked = client("north", tmp_path, passphrase="correct horse", digest=session.digest)
    reply = locked(message, Context(1, 10, {}, RecordDict(), {}))
    assert reply.content["noren"]["name"] == "north"
    with pytest.raises(noren.Error, match="passphrase"):
        owners.Party.load(tmp_path / "north" / session.digest[:16], min_security=0)


def test_the_average_is_that_of_noren_federated(tmp_path: Path) -> None:
    of = strategy(bits=12, rounds=2)
    run(of, world(tmp_path), begin())
    assert isinstance(of.average, federated.Average)
    assert (of.average.size, of.average.bits, of.average.parties) == (633, 12, 3)
    assert of.session.results == of.average.results == 4


def test_examples_in_docstrings_run() -> None:
    test = doctest.DocTestParser().get_doctest(flower.__doc__ or "", {}, "flower", None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_page_trains_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs/owners.md").read_text()
    of_client, of_server = re.findall(
        r"```python\n(.*?)```", page.split("## With Flower")[1].split("\n## ")[0], re.DOTALL
    )
    rng = np.random.default_rng(7)
    wanted = rng.uniform(-1, 1, 30)
    x = {name: rng.normal(0, 1, (2000, 30)) for name in NAMES}
    session: dict[str, Any] = {"load": lambda context: (part := x[context.node_config["party"]], part @ wanted)}
    exec(of_client, session)
    grid = InProcess(dict.fromkeys([10, 11, 12], session["app"]), tmp_path)
    exec(of_server, session)
    session["app"](grid, Context(1, 1, {}, RecordDict(), {}))
    (found,) = np.load("model.npz").values()
    in_clear = np.zeros(30)
    for _ in range(5):
        in_clear = np.mean([in_clear - 0.1 * a.T @ (a @ (in_clear - wanted)) / len(a) for a in x.values()], axis=0)
    # Of half a step in each round, with bits=16 and bound=1.
    assert np.abs(found - in_clear).max() <= 5 / 2 / (2**15 - 1)
    assert np.abs(found - wanted).max() < np.abs(wanted).max()
