"""Lookups of functions of encrypted integers: every pair of numbers, against the table of the function itself."""

import math
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import noren
from noren import bfv
from noren._rule import Rule

# Arrays and numbers alike, and what is tested with things that are neither.
Numbers: TypeAlias = Any
Function: TypeAlias = Any

T = 97
SEED = bytes(range(32))
Check = Callable[..., None]


def parameters(modulus: int = T, limbs: int = 12) -> bfv.Parameters:
    """16 slots, without security."""
    return bfv.Parameters(4, modulus, [40] * limbs, [40] * 2, security=None)


class World:
    """A context with keys, and the keys of lookups of one domain."""

    def __init__(self, domain: tuple[int, int]) -> None:
        self.ctx = bfv.Context(parameters(), threads=1)
        self.keys = self.ctx.keygen(seed=SEED)
        self.ev = self.ctx.evaluator(self.keys.evaluation)
        self.plan = bfv.LookupPlan(self.ctx.parameters, domain)
        self.lookup_keys = self.plan.keygen(self.keys.secret, seed=SEED)

    def encrypt(self, numbers: Numbers, axis: Numbers = 0) -> bfv.Ciphertext:
        x: bfv.Ciphertext = self.ctx.encrypt(self.plan.spread(numbers, axis=axis), self.keys.public)
        return x

    def decrypt(self, x: bfv.Ciphertext) -> NDArray[np.int64]:
        return self.plan.gather(self.ctx.decrypt(x, self.keys.secret))

    def table(self, prepared: bfv.PreparedLookup) -> NDArray[np.int64]:
        """Look up every pair of numbers."""
        domain = self.plan.domain
        x, y = (part.ravel() for part in np.indices(domain))
        steps = range(0, len(x), self.plan.queries)
        parts = [slice(start, start + self.plan.queries) for start in steps]
        pairs = [(self.encrypt(x[part]), self.encrypt(y[part], axis=1)) for part in parts]
        results = prepared.many(self.ev, pairs, keys=self.lookup_keys)
        found = [self.decrypt(z)[: len(x[part])] for z, part in zip(results, parts, strict=True)]
        return np.concatenate(found).reshape(domain)


@pytest.fixture(params=[(8, 5), (16, 16)], ids=str, scope="module")
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


@pytest.fixture(scope="module")
def small() -> World:
    return World((8, 8))


def scrambled(x: Numbers, y: Numbers) -> Numbers:
    """Values that follow no rule, for arrays and numbers alike."""
    return (31 * x * x * y + 7 * x * y * y + 11 * x + 3 * y + 5) % T


def test_every_pair_of_every_kind_of_function(world: World, tmp_path: Path) -> None:
    x, y = np.indices(world.plan.domain)
    table = scrambled(x, y)
    np.save(tmp_path / "table.npy", table.astype(np.uint8))
    first = bfv.Lookup(scrambled, domain=world.plan.domain).prepare(world.ctx)
    assert first.line is None
    assert (world.table(first) == table).all()
    first.save(tmp_path / "first")
    for lookup in [
        bfv.Lookup(lambda x, y: scrambled(int(x), int(y)), domain=list(world.plan.domain)),
        bfv.Lookup(table),
        bfv.Lookup(np.asfortranarray(table.astype(float)), domain=world.plan.domain),
        bfv.Lookup(table.tolist()),
        bfv.Lookup(tmp_path / "table.npy"),
        bfv.Lookup(str(tmp_path / "table.npy")),
    ]:
        assert lookup.plan(world.ctx.parameters) == world.plan
        prepared = lookup.prepare(world.ctx)
        assert prepared.plan == world.plan
        prepared.save(tmp_path / "prepared")
        assert (tmp_path / "prepared").read_bytes() == (tmp_path / "first").read_bytes()


def test_masked_values_of_a_table_are_none(small: World) -> None:
    x, y = np.indices(small.plan.domain)
    table = scrambled(x, y)
    masked = np.ma.array(table, mask=table % 3 == 0)
    prepared = bfv.Lookup(masked, undefined=55).prepare(small.ctx)
    assert (small.table(prepared) == masked.filled(55)).all()
    with pytest.raises(noren.Error, match="no value at"):
        bfv.Lookup(masked).prepare(small.ctx)


@pytest.mark.parametrize(
    ("value", "words"),
    [(2**63, r"2\^62 or more"), (2**64, r"2\^62 or more"), (-(2**70), r"-2\^62 or less"), (11, "11")],
)
def test_values_out_of_range_are_named(value: int, words: str) -> None:
    rule = Rule(lambda _: value, (4,))
    with pytest.raises(noren.EncodingError, match=rf"the function is {words} at 0, values must be from 0 to 10"):
        rule.values((np.arange(4),), (0, 10), None)


def test_functions_of_a_line_need_no_matrix(world: World) -> None:
    x, y = np.indices(world.plan.domain)
    functions: dict[str, Function] = {
        "x": lambda x, y: (x * x + 0 * y) % T,
        "y": lambda x, y: 90 - y + 0 * x,
        "x + y": lambda x, y: (x + y) ** 3 % T,
        "x - y": lambda x, y: abs(x - y),
    }
    for line, f in functions.items():
        prepared = bfv.Lookup(f, domain=world.plan.domain).prepare(world.ctx)
        assert prepared.line == line
        assert line in repr(prepared)
        assert (world.table(prepared) == f(x, y)).all()


def test_functions_of_one_number(small: World) -> None:
    squares = np.arange(8) ** 2
    x = small.encrypt(np.arange(2))
    for lookup in [bfv.Lookup(squares), bfv.Lookup(lambda x: x * x, domain=8), bfv.Lookup(math.isqrt, domain=(8,))]:
        plan = lookup.plan(small.ctx.parameters)
        keys = plan.keygen(small.keys.secret)
        prepared = lookup.prepare(small.ctx)
        assert (lookup.domain, plan.domain, prepared.line) == ((8,), (8, 1), "x")
        found = []
        for i in range(0, 8, plan.queries):
            x = small.ctx.encrypt(plan.spread(np.arange(i, i + plan.queries)), small.keys.public)
            found.append(plan.gather(small.ctx.decrypt(prepared(small.ev, x, keys=keys), small.keys.secret)))
        root = "isqrt" in repr(lookup)
        assert np.concatenate(found).tolist() == (np.sqrt(np.arange(8)) // 1 if root else squares).tolist()
        many = prepared.many(small.ev, [(x,), (x, x)], keys=keys)
        assert [bytes(z) for z in many] == [bytes(prepared(small.ev, x, keys=keys))] * 2


def test_results_can_be_calculated_with(small: World) -> None:
    prepared = bfv.Lookup(scrambled, domain=(8, 8)).prepare(small.ctx)
    x, y = small.encrypt([3, 7]), small.encrypt([5, 0], axis=1)
    z = prepared(small.ev, x, y, keys=small.lookup_keys)
    assert small.decrypt(2 * z - 1).tolist() == [(2 * scrambled(3, 5) - 1) % T, (2 * scrambled(7, 0) - 1) % T]
    assert small.plan.noise_budget > 0


def test_callables_that_take_no_arrays_are_called_point_by_point(small: World) -> None:
    x, y = np.indices((8, 8))
    for f, expected in [
        (lambda x, y: max(x, y), np.maximum(x, y)),
        (lambda x, y: x if x > 2 and y < 3 else 5, np.where((x > 2) & (y < 3), x, 5)),
        (lambda x, y: math.gcd(x, y), np.gcd(x, y)),
        (lambda x, y: len(str(x * y)), np.where(x * y > 9, 2, 1)),
        # Arrays of int64 wrap around, ints do not.
        (lambda x, y: x**40 * y % T, [[pow(a, 40, T) * b % T for b in range(8)] for a in range(8)]),
    ]:
        lookup = bfv.Lookup(f, domain=(8, 8))
        assert "point by point" in repr(lookup)
        assert (small.table(lookup.prepare(small.ctx)) == expected).all()


def test_callables_are_called_with_arrays_and_may_use_their_methods(small: World) -> None:
    x, y = np.indices((8, 8))
    seen: set[type] = set()

    def recorded(x: Numbers, y: Numbers) -> Numbers:
        seen.update((type(x), type(y)))
        return (x + y).clip(0, 9)

    for f in (
        recorded,
        lambda x, y: x.astype(int) // 2 + y.copy(),
        lambda x, y: x[...] * y % T,
        lambda x, y: np.where(x.view() > y, x, y),
        lambda x, y: x.dtype.itemsize * y,
    ):
        lookup = bfv.Lookup(f, domain=(8, 8))
        assert "point by point" not in repr(lookup)
        assert (small.table(lookup.prepare(small.ctx)) == f(x, y)).all()
    assert seen == {np.ndarray}
    with pytest.raises(AttributeError, match=r"'numpy\.ndarray' object has no attribute 'nothing'"):
        bfv.Lookup(lambda x, y: x.nothing(), domain=(8, 8))


def test_numbers_that_are_not_spread_are_refused(small: World) -> None:
    prepared = bfv.Lookup(lambda x, y: x + y, domain=(8, 8)).prepare(small.ctx)
    plan, public = small.plan, small.keys.public
    other = bfv.LookupPlan(small.ctx.parameters, (4, 4))
    spread = plan.spread([3, 5])
    changed = plan.spread([3, 5])
    changed[1] = 4
    with pytest.raises(noren.Error, match="changed after it was spread"):
        small.ctx.encrypt(changed, public)
    good = small.encrypt([3, 5])
    for x in (
        small.ctx.encrypt([3, 5], public),
        small.ctx.encrypt([3, 5], public, repeat=True),
        small.ctx.encrypt(spread[:12], public),
        small.ctx.encrypt(np.array(spread), public),
        small.ctx.encrypt(other.spread([3, 1]), public),
        small.ctx.decrypt(good, small.keys.secret) + good,
    ):
        for pair in ((x, good), (good, x)):
            with pytest.raises(noren.Error, match=r"known to fill [124] slots each, the lookup needs 8"):
                prepared(small.ev, *pair, keys=small.lookup_keys)
    again = bfv.Ciphertext.from_bytes(small.ctx, bytes(good))
    for x, expected in (
        (again, [6, 10]),
        (good * 1 + 1, [7, 11]),
        (small.ctx.encrypt([3], public, repeat=True), [6, 8]),
    ):
        assert small.decrypt(prepared(small.ev, x, again, keys=small.lookup_keys))[:2].tolist() == expected


def negative(x: Numbers, y: Numbers) -> Numbers:
    return x * y - 40


def test_negative_values_are_residues(small: World) -> None:
    x, y = np.indices((8, 8))
    prepared = bfv.Lookup(negative, domain=(8, 8)).prepare(small.ctx)
    assert (small.table(prepared) == negative(x, y) % T).all()


def masked(x: Numbers, y: Numbers) -> Numbers:
    return np.ma.masked_array(x, mask=np.greater(y, x))


@pytest.mark.filterwarnings("error", "ignore::noren.SecurityWarning")
@pytest.mark.parametrize(
    ("f", "defined", "value"),
    [
        (lambda x, y: x // y, lambda x, y: y > 0, lambda x, y: x // np.maximum(y, 1)),
        (lambda x, y: x % (y - 3), lambda x, y: y != 3, lambda x, y: x % np.where(y == 3, 1, y - 3)),
        (lambda x, y: x // np.maximum(y - x, 0), lambda x, y: y > x, lambda x, y: x // np.maximum(y - x, 1)),
        (lambda x, y: np.rint(8 * x / y), lambda x, y: y > 0, lambda x, y: np.rint(8 * x / np.maximum(y, 1))),
        (lambda x, y: np.sqrt(x - y) // 1, lambda x, y: x >= y, lambda x, y: np.sqrt(np.maximum(x - y, 0)) // 1),
        (lambda x, y: None if x == y else x, lambda x, y: x != y, lambda x, y: x),
        (lambda x, y: 8 * x // y if x else 0, lambda x, y: (x == 0) | (y > 0), lambda x, y: 8 * x // np.maximum(y, 1)),
        (masked, lambda x, y: y <= x, lambda x, y: x),
        (lambda x, y: math.comb(x, y) if y else math.inf, lambda x, y: y > 0, np.vectorize(math.comb)),
    ],
    ids=["quotient", "remainder", "half a plane", "floats", "roots", "None", "ints", "masked", "infinity"],
)
def test_values_where_there_are_none(small: World, f: Function, defined: Function, value: Function) -> None:
    x, y = np.indices((8, 8))
    expected = np.where(defined(x, y), value(x, y), 55)
    assert (small.table(bfv.Lookup(f, domain=(8, 8), undefined=55).prepare(small.ctx)) == expected % T).all()
    first = np.argwhere(~defined(x, y))[0]
    with pytest.raises(noren.Error, match=rf"no value at \({first[0]}, {first[1]}\).*undefined=0"):
        bfv.Lookup(f, domain=(8, 8)).prepare(small.ctx)


def test_warnings_that_are_turned_off_are_no_errors(small: World) -> None:
    def quotient(x: Numbers, y: Numbers) -> Numbers:
        with np.errstate(divide="ignore"):
            return np.where(y == 0, 9, np.floor_divide(x, y))

    x, y = np.indices((8, 8))
    prepared = bfv.Lookup(quotient, domain=(8, 8)).prepare(small.ctx)
    assert (small.table(prepared) == np.where(y == 0, 9, x // np.maximum(y, 1))).all()


def test_functions_that_are_refused(small: World, raises_naming: Check, tmp_path: Path) -> None:
    def prepare(f: Function, *domain: Numbers) -> Callable[[], object]:
        return lambda: bfv.Lookup(f, *domain).prepare(small.ctx)

    table = np.zeros((8, 8), dtype=int)
    raises_naming(noren.EncodingError, prepare(lambda x, y: 7 * x * y, (8, 8)), "98 at (2, 7)", "-48 to 96", "97")
    raises_naming(noren.EncodingError, prepare(lambda x, y: -x * y, (8, 8)), "-49 at (7, 7)", "-48 to 96")
    raises_naming(noren.EncodingError, prepare(lambda x: 20 * x, 8), "is 100 at 5,")
    raises_naming(noren.EncodingError, prepare(lambda x, y: x / 2 + y, (8, 8)), "0.5 at (1, 0)", "round")
    raises_naming(noren.EncodingError, prepare(lambda x, y: x * 1e30, (8, 8)), "(1, 0)", "96")
    raises_naming(noren.EncodingError, prepare(np.full((8, 8), 2**64 - 1, dtype=np.uint64)), "(0, 0)", "96")
    raises_naming(noren.Error, prepare(np.where(np.eye(8), np.nan, 1)), "no value at (0, 0)")
    raises_naming(TypeError, prepare(table.astype(complex)), "complex128")
    raises_naming(TypeError, prepare(lambda x, y: "a", (8, 8)), "<U1")
    raises_naming(TypeError, prepare(lambda x, y: x), "domain")
    raises_naming(TypeError, prepare(lambda x: x, (8, 8)), "two numbers", "X of one")
    raises_naming(TypeError, prepare(lambda x, y: x, 8), "one number", "(X, Y) of two")
    raises_naming(TypeError, prepare(lambda x, y: x, (8.0, 8)), "float")
    raises_naming(noren.EncodingError, prepare(lambda x, y: x, (8, 0)), "(8, 0)", "from 1 on")
    raises_naming(noren.EncodingError, prepare(lambda x, y: x, (8, 8, 8)), "(8, 8, 8)", "one or two")
    raises_naming(noren.EncodingError, prepare(table[None]), "(1, 8, 8)", "one or two")
    raises_naming(noren.EncodingError, prepare(np.zeros(())), "()", "one or two")
    raises_naming(noren.EncodingError, prepare(table, (8, 7)), "(8, 8)", "(8, 7)")
    raises_naming(noren.EncodingError, prepare(table, 8), "(8, 8)", "8")
    raises_naming(noren.Error, prepare(np.zeros((98, 2))), "98", "97")
    raises_naming(FileNotFoundError, prepare(tmp_path / "none.npy"), "none.npy")
    bfv.Lookup(table).prepare(small.ctx).save(tmp_path / "prepared")
    raises_naming(noren.EncodingError, prepare(tmp_path / "prepared"), "prepared", ".npy", "PreparedLookup.load")
    # numpy's reader raises whatever Python's tokenizer does: open brackets, open strings, shapes that are none.
    np.save(tmp_path / "table.npy", np.zeros((2, 2), np.uint8))
    data = (tmp_path / "table.npy").read_bytes()
    for old, new in ((b"}", b" "), (b"'shape'", b"'shape "), (b"(2, 2)", b"(2,-2)"), (b"(2, 2)", b"(9, 9)")):
        assert old in data
        (tmp_path / "damaged.npy").write_bytes(data.replace(old, new))
        raises_naming(noren.EncodingError, prepare(tmp_path / "damaged.npy"), "damaged.npy", "save the table again")


def test_what_functions_raise_comes_out(small: World) -> None:
    def f(x: Numbers, y: Numbers) -> Numbers:
        if np.any((x == 1) & (y == 2)):
            raise KeyError("not this one")
        return x * y

    with pytest.raises(KeyError, match="not this one"):
        bfv.Lookup(f, domain=(8, 8)).prepare(small.ctx)


def test_plans_that_are_refused(small: World, raises_naming: Check) -> None:
    plan, ctx = small.plan, small.ctx
    raises_naming(noren.Error, lambda: bfv.LookupPlan(parameters(modulus=95), 8), "plaintext_modulus", "95")
    raises_naming(noren.Error, lambda: bfv.LookupPlan(parameters(limbs=1), (8, 8)), "noise budget")
    raises_naming(noren.Error, lambda: bfv.LookupPlan(ctx.parameters, (8, 98)), "98", "97")
    raises_naming(noren.Error, lambda: bfv.LookupPlan(ctx.parameters, 0), "domain")
    raises_naming(noren.EncodingError, lambda: plan.spread([1, 2, 3]), "found 3", "at most 2")
    raises_naming(noren.Error, lambda: plan.spread([1, 8]), "number 1 is 8", "below 8")
    raises_naming(noren.EncodingError, lambda: plan.spread([1, -1]), "number 1 is -1", "0 or more")
    raises_naming(noren.EncodingError, lambda: plan.spread([[1]]), "(1, 1)")
    raises_naming(ValueError, lambda: plan.spread([1], axis=2), "2")  # type: ignore[arg-type]
    raises_naming(TypeError, lambda: plan.spread([0.5]), "float64")
    raises_naming(noren.EncodingError, lambda: plan.gather(np.zeros(8, dtype=int)), "8", "16")
    plan.check()
    other = bfv.Context(parameters(limbs=13)).keygen()
    raises_naming(noren.ParameterMismatchError, lambda: plan.keygen(other.secret), "plan")
    raises_naming(ValueError, lambda: plan.keygen(small.keys.secret, seed=b"short"), "32 bytes")


def test_lookups_that_are_refused(small: World, raises_naming: Check) -> None:
    prepared = bfv.Lookup(scrambled, domain=(8, 8)).prepare(small.ctx)
    x, keys = small.encrypt([1]), small.lookup_keys
    raises_naming(TypeError, lambda: prepared(small.ev, x, keys=keys), "y below 8")
    raises_naming(TypeError, lambda: prepared.many(small.ev, [(x, x, x)], keys=keys), "3 ciphertexts")
    raises_naming(TypeError, lambda: prepared(small.ev, x, x), "keys")  # type: ignore[call-arg]
    others = bfv.LookupPlan(small.ctx.parameters, (2, 2)).keygen(small.keys.secret)
    raises_naming(noren.MissingKeyError, lambda: prepared(small.ev, x, x, keys=others), "rotation")
    without = small.ctx.evaluator(small.ctx.evaluation_keys(small.keys.secret))
    raises_naming(noren.MissingKeyError, lambda: prepared(without, x, x, keys=keys), "relinearisation")
    tired = x
    while tired.level > 2:
        tired = small.ev.square(tired)
    raises_naming(noren.Error, lambda: prepared(small.ev, tired, x, keys=keys), "noise budget")
    ctx = bfv.Context(parameters(limbs=13))
    ev = ctx.evaluator(ctx.keygen().evaluation)
    foreign = ctx.encrypt([1], ctx.keygen().public)
    raises_naming(noren.ParameterMismatchError, lambda: prepared(small.ev, foreign, x, keys=keys), "ciphertext")
    raises_naming(noren.ParameterMismatchError, lambda: prepared(ev, x, x, keys=keys))


def test_prepared_functions_are_mapped_from_files(small: World, raises_naming: Check, tmp_path: Path) -> None:
    for name, f in {"matrix": scrambled, "line": lambda x, y: x + y}.items():
        path = tmp_path / name
        prepared = bfv.Lookup(f, domain=(8, 8)).prepare(small.ctx)
        prepared.save(path)
        data = path.read_bytes()
        for again in (
            bfv.PreparedLookup.load(small.ctx, path),
            bfv.PreparedLookup.load(small.ctx, str(path), check=False),
        ):
            assert (again.plan, again.line, again.nbytes) == (prepared.plan, prepared.line, prepared.nbytes)
            assert (small.table(again) == small.table(prepared)).all()
            again.save(tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == data
        other = bfv.Context(parameters(limbs=13))
        raises_naming(noren.ParameterMismatchError, lambda path=path, other=other: bfv.PreparedLookup.load(other, path))
        for damaged in (data[:-8], data[:96], data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]):
            (tmp_path / "damaged").write_bytes(damaged)
            raises_naming(noren.WireError, lambda: bfv.PreparedLookup.load(small.ctx, tmp_path / "damaged"))
        (tmp_path / "damaged").write_bytes(data[:-1])
        raises_naming(OSError, lambda: bfv.PreparedLookup.load(small.ctx, tmp_path / "damaged"), "8 bytes")
    raises_naming(FileNotFoundError, lambda: bfv.PreparedLookup.load(small.ctx, tmp_path / "none"), "none")
    raises_naming(OSError, lambda: prepared.save(tmp_path / "none" / "f"), "none")
    small.lookup_keys.save(tmp_path / "keys")
    raises_naming(noren.WireError, lambda: bfv.PreparedLookup.load(small.ctx, tmp_path / "keys"), "lookup keys")


def test_keys_are_all_that_a_server_needs(small: World, raises_naming: Check, tmp_path: Path) -> None:
    path = tmp_path / "lookup.keys"
    small.lookup_keys.save(path)
    x, y = bytes(small.encrypt([2, 7])), bytes(small.encrypt([7, 1], axis=1))
    for keys in [
        bfv.LookupKeys.load(path, min_security=0),
        bfv.LookupKeys.from_bytes(bytes(small.lookup_keys), min_security=0),
        pickle.loads(pickle.dumps(small.lookup_keys)),
    ]:
        assert bytes(keys) == path.read_bytes()
        assert keys.plan == small.plan
        prepared = bfv.Lookup(scrambled, domain=(8, 8)).prepare(keys.context)
        ev = keys.context.evaluator(keys.evaluation)
        operands = (bfv.Ciphertext.from_bytes(keys.context, data) for data in (x, y))
        z = bfv.Ciphertext.from_bytes(small.ctx, bytes(prepared(ev, *operands, keys=keys)))
        assert small.decrypt(z).tolist() == [scrambled(2, 7), scrambled(7, 1)]
    assert bytes(small.plan.keygen(small.keys.secret, seed=SEED)) == path.read_bytes()
    assert bytes(small.plan.keygen(small.keys.secret)) != path.read_bytes()
    raises_naming(noren.WireError, lambda: bfv.LookupKeys.from_bytes(path.read_bytes()[:-1]))
    raises_naming(noren.WireError, lambda: bfv.LookupKeys.from_bytes(bytes(small.keys.secret)), "secret key")


def test_memory_is_known_before_anything_is_made(world: World) -> None:
    plan = world.plan
    prepared = bfv.Lookup(scrambled, domain=plan.domain).prepare(world.ctx)
    assert plan.matrix_bytes == prepared.nbytes
    # The key of the evaluator is among those of the plan.
    evaluation = len(bytes(world.lookup_keys.evaluation))
    assert world.lookup_keys.nbytes < plan.key_bytes < world.lookup_keys.nbytes + 4 * evaluation
    assert plan.memory_bytes(2) > plan.memory_bytes() > plan.matrix_bytes + plan.key_bytes
    assert str(plan.queries) in repr(plan)


def test_plans_and_lookups_pickle(small: World) -> None:
    assert pickle.loads(pickle.dumps(small.plan)) == small.plan
    assert small.plan != bfv.LookupPlan(small.ctx.parameters, (8, 7))
    lookup = pickle.loads(pickle.dumps(bfv.Lookup(scrambled, domain=(8, 8), undefined=1)))
    x, y = np.indices((8, 8))
    assert (small.table(lookup.prepare(small.ctx)) == scrambled(x, y)).all()


def test_progress_grows_to_the_end(small: World) -> None:
    for start in (
        lambda progress: bfv.Lookup(scrambled, domain=(8, 8)).prepare(small.ctx, progress=progress),
        lambda progress: small.plan.keygen(small.keys.secret, progress=progress),
    ):
        heard: list[tuple[int, int]] = []
        start(lambda done, of, heard=heard: heard.append((done, of)))
        assert heard == sorted(set(heard))
        assert heard[-1][0] == heard[-1][1] > 1


class StopError(Exception):
    pass


def slow(asked: list[int]) -> Callable[[Numbers, Numbers], Numbers]:
    """A function that counts how often it is asked, apart from the first times."""

    def f(x: Numbers, y: Numbers) -> Numbers:
        asked.append(1)
        return scrambled(x, y)

    return f


def test_what_progress_raises_ends_the_work(small: World) -> None:
    def stop(done: int, of: int) -> None:
        raise StopError

    asked: list[int] = []
    lookup = bfv.Lookup(slow(asked), domain=(16, 16))
    before = len(asked)
    factors = lookup.plan(small.ctx.parameters).matrix_bytes // (2 * small.ctx.parameters.n)
    with pytest.raises(StopError):
        lookup.prepare(bfv.Context(small.ctx.parameters, threads=1), progress=stop)
    # The rows that rule out lines, and the first factor.
    assert len(asked) - before < factors // 2


def test_interrupts_end_the_work(small: World) -> None:
    def interrupt(done: int, of: int) -> None:
        if done == 1:
            os.kill(os.getpid(), signal.SIGINT)
        # Longer than signals are waited for.
        threading.Event().wait(0.2)

    lookup = bfv.Lookup(scrambled, domain=(16, 16))
    # Processes in the background of a shell start with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            lookup.prepare(bfv.Context(small.ctx.parameters, threads=1), progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_share_a_prepared_function(small: World) -> None:
    prepared = bfv.Lookup(scrambled, domain=(8, 8)).prepare(small.ctx)
    numbers = [(i % 8, 5 * i % 8) for i in range(16)]

    def work(pair: tuple[int, int]) -> int:
        x, y = (small.encrypt([number], axis) for axis, number in enumerate(pair))
        return int(small.decrypt(prepared(small.ev, x, y, keys=small.lookup_keys))[0])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, numbers)) == [scrambled(x, y) for x, y in numbers]


def test_functions_are_prepared_in_several_threads_at_once(small: World) -> None:
    tables = [np.random.default_rng(i).integers(0, T, (8, 8)) for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        prepared = list(pool.map(lambda table: bfv.Lookup(lambda x, y: table[x, y], (8, 8)).prepare(small.ctx), tables))
    for one, table in zip(prepared, tables, strict=True):
        assert (small.table(one) == table).all()


def test_a_rule_is_asked_by_several_threads_at_once() -> None:
    # No value on a diagonal: each such point has coordinates of its own, and each is found and written down.
    def f(x: Numbers, y: Numbers) -> Numbers:
        if np.any(x == y):
            raise ZeroDivisionError
        return x - y

    rule = Rule(f, (1 << 20, 1 << 20))

    def work(start: int) -> bool:
        x = np.arange(start, start + 128)
        return bool((rule.residues(x, x, T, 5) == 5).all())

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(0, 1 << 11, 128)))
    finally:
        sys.setswitchinterval(interval)
