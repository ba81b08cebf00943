"""Items and results of `noren.cluster` as bytes: what they are, and that reading them runs nothing."""

import ast
import dataclasses
import os
import pickle
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

import noren.cluster
from noren import PicklableSecret, ckks
from noren.cluster import ClusterError, KindError, ResultError, TaskError
from noren.cluster._digest import Given, packed, refusal, unpacked
from noren.cluster._errors import Failure, error_of
from noren.cluster._program import Loader, constants_of, pickled_classes, pickled_program
from noren.cluster._returns import check_returns
from noren.cluster._store import FRAME, ResultStore, _frame
from noren.cluster._values import MOST_DEPTH
from noren.cluster._work import Head, Job, execute

COUNT = struct.Struct("<Q")


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0

    def __post_init__(self) -> None:
        self.x = self.x if self.x is not None else 1


@dataclasses.dataclass
class Pair:
    x: Any
    y: Any = 0


def test_values_come_back_with_their_types_and_what_is_one_object_stays_one() -> None:
    inner = [1.5, 2.5]
    found = unpacked(packed({"a": inner, "b": (inner, {1, "x"}, 2**70, b"", range(3), np.float32(2))}))
    assert found == {"a": inner, "b": (inner, {1, "x"}, 2**70, b"", range(3), np.float32(2))}
    assert found["a"] is found["b"][0]
    assert type(found["b"][5]) is np.float32
    x = unpacked(packed(np.asfortranarray(np.arange(6.0).reshape(2, 3))))
    assert x.flags.f_contiguous
    x[0, 0] = 9


def test_equal_values_have_equal_bytes_and_those_of_two_classes_differ() -> None:
    assert packed({"b", "a", 3}) == packed({3, "a", "b"})
    assert len({packed(x) for x in (Point(1, 2), Pair(1, 2), (1, 2), [1, 2], 1, True, 1.0, np.int64(1))}) == 8
    made: list[Any] = [
        dataclasses.make_dataclass("Same", ["x"], namespace={"f": f}) for f in (lambda _: 1, lambda _: 2)
    ]
    assert packed(made[0](1)) != packed(made[1](1)), "the code of a class counts"
    kind = np.dtype([("x", "<f8", (2,))])
    both = [np.zeros(1, kind), np.zeros(1, kind)]
    assert packed(both) == packed(unpacked(packed(both))), "arrays of one type, and of two types that are equal"


def test_objects_of_dataclasses_are_their_fields_and_no_method_runs() -> None:
    point = Point(3, 4)
    found = unpacked(packed(point))
    assert found == point
    assert vars(found) == {"x": 3, "y": 4}
    empty = Point(1)
    empty.x = None
    assert unpacked(packed(empty)).x is None, "__post_init__ would have set it"
    empty.z = 1  # type: ignore[attr-defined]
    with pytest.raises(KindError, match="has z, which is no field"):
        unpacked(packed(empty))
    with pytest.raises(ResultError, match="is none that the program or its items name"):
        unpacked(packed(point), Given(list))
    with pytest.raises(KindError, match="so that the driver knows the class"):
        unpacked(packed(point, Given(list)))


@pytest.mark.parametrize(
    "value",
    [
        lambda: 0,
        object(),
        np.array([None]),
        {1: object},
        [[print]],
        {frozenset({("a", Path)})},
        np.ma.masked_array([1.0], mask=[True]),
        bytearray(b"x"),
    ],
)
def test_what_does_not_travel_is_named_and_refused(value: object) -> None:
    assert (
        "does not travel" in str(refusal(packed(value)))
        or "arrays that travel" in str(refusal(packed(value)))
        or ("a key of a dict" in str(refusal(packed(value))))
    )
    with pytest.raises(KindError):
        unpacked(packed(value))


def test_values_that_hold_themselves_or_are_too_deep_are_refused() -> None:
    loop: list[Any] = []
    loop.append({"a": loop})
    with pytest.raises(KindError, match="holds itself"):
        unpacked(packed(loop))
    deep: list[Any] = []
    for _ in range(MOST_DEPTH + 1):
        deep = [deep]
    with pytest.raises(KindError, match="nested more than"):
        unpacked(packed(deep))


def test_secret_keys_do_not_travel() -> None:
    ctx = ckks.Context(ckks.Parameters(log_n=5, log_q=[50], log_p=[50], security=None))
    keys = ctx.keygen()
    for secret in (keys.secret, keys, PicklableSecret(keys.secret)):
        with pytest.raises(KindError, match="does not travel"):
            unpacked(packed([secret]))
        with pytest.raises(ClusterError):
            pickled_program(lambda _, x, held=secret: x)
    with pytest.raises(ClusterError, match="each node could decrypt"):
        pickled_program(lambda _, x: (x, secret))


def test_contexts_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [ckks.Parameters(log_n=n, log_q=[50], log_p=[50], security=None) for n in (5, 6, 7)]
    data = packed([*sets, *sets])
    assert unpacked(data) == [*sets, *sets]
    monkeypatch.setattr("noren.cluster._reader.MOST_PARAMETERS", 2)
    with pytest.raises(ResultError, match="more than 2 different parameters"):
        unpacked(data)
    monkeypatch.setattr("noren.cluster._writer.MOST_PARAMETERS", 2)
    assert "more than 2 different parameters" in str(refusal(packed(sets)))


class Reply:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.putenv, ("NOREN_RAN", "1")


def test_bytes_of_a_hostile_worker_run_nothing_and_take_no_memory() -> None:
    huge = COUNT.pack(1 << 62)
    array = packed(np.zeros(4))
    hostile = [
        pickle.dumps(Reply()),
        b"\0" + pickle.dumps(Reply()),
        b"\0l" + huge,
        b"\0d" + huge + b"NN",
        b"\0s" + huge + b"a",
        b"\0LD" + huge,
        b"\0R" + COUNT.pack(0),
        b"\0o" + packed("builtins.eval")[1:] + b"(" + COUNT.pack(1) + packed("1")[1:],
        b"\0D" + bytes(32) + b"(" + COUNT.pack(0),
        array.replace(b"<f8", b"|O8"),
        array.replace(COUNT.pack(32), COUNT.pack(31)),
        packed(np.array([True]))[:-1] + b"\7",
        b"\0S" + COUNT.pack(2) + b"NN",
        b"\0d" + COUNT.pack(1) + b"l" + COUNT.pack(0) + b"N",
        packed(1) + b"N",
        b"",
        b"\2",
    ]
    for data in hostile:
        with pytest.raises(ResultError, match=r"no value of noren\.cluster|truths"):
            unpacked(data)
    # The file of a path is not opened at the driver.
    fifo = b"\0p" + packed("/dev/zero")[1:] + packed(b"")[1:]
    assert unpacked(fifo, check_files=False) == Path("/dev/zero")
    with pytest.raises(ResultError, match="a device where a regular file is needed"):
        unpacked(fifo)
    for head in (b"", 3, packed(()), packed((True, 1, 1.0, "", "", "", "", 0))):
        with pytest.raises(ResultError):
            Head.of(head)


def test_errors_are_made_again_from_their_texts_if_they_are_known() -> None:
    assert isinstance(error_of("noren.LevelError", "x"), ValueError)
    assert repr(error_of("builtins.KeyError", "x")) == "KeyError('x')"
    for name in ("builtins.SystemExit", "builtins.eval", "os.system", "noren.cluster._errors.JobError"):
        assert error_of(name, "x") is None
    again = pickle.loads(pickle.dumps(TaskError(Failure(3, "", 1, "ValueError: no", "", "", ValueError("no")))))
    assert (again.failure.index, str(again)[:22]) == (3, "item 3: ValueError: no")


def test_files_name_their_tasks(tmp_path: Path) -> None:
    store = ResultStore(tmp_path / "results")
    store.prepare()
    one, two = "aa" * 32, "bb" * 32
    for digest, value in ((one, 1), (two, 2)):
        store.write(digest, packed(value))
    store.path(one).write_bytes(store.path(two).read_bytes())
    assert not store.has(one)
    with pytest.raises(ResultError, match="is of another task and was renamed"):
        store.read(one)
    # Its name alone was changed: the digest covers that.
    data = store.path(two).read_bytes()
    store.path(one).write_bytes(data.replace(bytes.fromhex(two), bytes.fromhex(one)))
    with pytest.raises(ResultError, match="is damaged"):
        store.read(one)
    assert len(_frame(one, b"")) == FRAME


def returns_point(_: object, x: int) -> list[Point]:
    return [Point(x)]


def returns_function(_: object, x: int) -> "dict[str, Reply]":
    return {"a": Reply()}


def returns_either(_: object, x: int) -> Reply | None:
    return None


def yields(_: object, x: int) -> Any:
    yield x


def test_what_a_program_says_that_it_returns_is_looked_at_first() -> None:
    for program in (returns_point, returns_either, lambda _, x: x, Point, print):
        check_returns(program)
    for refused, needed in ((returns_function, "Reply"), (yields, "generator")):
        with pytest.raises(KindError, match=needed):
            check_returns(refused)


def test_a_class_is_one_within_a_task_and_another_in_the_next() -> None:
    found = pickled_program(lambda _, x: (isinstance(x, Point), Point))
    sent = pickled_classes([(bytes(32), Point)])
    kinds = []
    for _ in range(2):
        loader = Loader()
        program = loader.load(found.pickled, constants_of(found.constants))
        [(_, kind)] = loader.load(sent)
        x = object.__new__(kind)
        assert program(None, x) == (True, kind)
        kinds.append(kind)
    assert len({*kinds, Point}) == 3
    assert Point in found.classes


def test_captured_ciphertexts_and_arrays_that_cannot_change_are_made_once() -> None:
    ctx = ckks.Context(ckks.Parameters(log_n=5, log_q=[50], log_p=[50], security=None))
    keys = ctx.keygen()
    held, frozen, array = ctx.encrypt([1.0], keys.public), np.arange(3.0), np.arange(3.0)
    frozen.flags.writeable = False

    def program(ev: ckks.Evaluator, x: float) -> tuple[ckks.Ciphertext, int, float]:
        array[0] += x
        return ev.add(held, held), id(frozen), float(array[0])

    found = pickled_program(program)
    job = Job("", found.pickled, found.constants, None, None, "", None)  # type: ignore[arg-type]
    constants = constants_of(found.constants)
    assert len(constants) == 2
    ended = []
    for _ in range(2):
        head, contents = execute(
            job, constants, lambda: ctx.evaluator(keys.evaluation), None, b"", "", False, [packed(2.0)], "here"
        )
        assert head.error == ""
        ended.append(unpacked(contents))
    [shared] = [id(x) for x in constants if isinstance(x, np.ndarray)]
    assert [x[1:] for x in ended] == [(shared, 2.0)] * 2
    assert bytes(ended[0][0]) == bytes(ctx.evaluator(keys.evaluation).add(held, held))
    assert not array[0]


def test_schemes_are_named_in_one_table_alone() -> None:
    """All but `_kinds` is the same for keys and values of every scheme; documentation may name them."""
    scheme = re.compile(r"ckks|bgv|bfv|tfhe", re.IGNORECASE)
    named = {}
    for path in Path(noren.cluster.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        statements = (each.value for each in ast.walk(tree) if isinstance(each, ast.Expr))
        documentation = {id(each) for each in statements if isinstance(each, ast.Constant)}
        code = (each for each in ast.walk(tree) if id(each) not in documentation)
        # Names, texts, attributes and imports are texts among the fields of nodes.
        words = (x for each in code for _, x in ast.iter_fields(each) if isinstance(x, str))
        named[path.name] = sorted({word for word in words if scheme.search(word)})
    assert named.pop("_kinds.py")
    assert len(named) > 15
    assert not any(named.values()), named
