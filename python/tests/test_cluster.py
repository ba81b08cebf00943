"""Jobs of `noren.cluster` on a real local Ray cluster: results, their order, failures, and values of all kinds."""

import dataclasses
import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

from cluster_world import COUNT, MATRIX, SLOTS, VALUES, Owner, added, cubed, on_it, rng

import noren
from fuzz_api.cluster import run_work, work
from fuzz_api.cluster_values import objects
from noren import (
    Input,
    InsecureError,
    KeyMismatchError,
    MissingKeyError,
    ParameterMismatchError,
    WireError,
    bfv,
    bgv,
    bootstrapping,
    ckks,
    compiler,
    programs,
    tfhe,
)
from noren.cluster import Cluster, ClusterError, Failure, JobError, KindError, TaskError

pytest_plugins = ["cluster_world"]


def test_results_come_in_order_with_the_bytes_of_one_process(cluster: Cluster, owner: Owner) -> None:
    told: list[tuple[int, int]] = []
    found: list[Any] = list(cluster.map(cubed, owner.items, progress=lambda done, of: told.append((done, of))))
    here = owner.ctx.evaluator(owner.keys.evaluation)
    assert [bytes(x) for x in found] == [bytes(cubed(here, x)) for x in owner.items]
    errors = np.abs(owner.decrypt(found[5]) - VALUES[5] ** 3)
    assert errors.max() < found[5].error_bound < 1e-4
    assert told[-1] == (COUNT, COUNT)
    assert len(told) == COUNT
    once = cluster.map(cubed, owner.items[:1])
    list(once)
    with pytest.raises(ClusterError, match="were taken before"):
        list(once)


def test_results_come_as_they_are_ready(cluster: Cluster) -> None:
    def sleep(_: object, seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    assert list(cluster.map(sleep, [0.0, 0.0, 0.0])) == [0.0] * 3
    found = list(cluster.map(sleep, [1.0, 0.0, 0.01], ordered=False))
    assert sorted(found) == [(0, 1.0), (1, 0.0), (2, 0.01)]
    assert found[-1] == (0, 1.0)


def test_a_generator_is_not_run_ahead_of_the_window(owner: Owner, directory: Path, cluster: Cluster) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for i in range(40):
            taken += 1
            yield i

    small = on_it(owner.keys.evaluation, directory, window=5)
    for done, value in enumerate(small.map(lambda _, i: i * i, items())):
        assert value == done**2
        # Those in the window, this one, and those that came with it.
        assert taken <= done + 1 + 5


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 24])
def test_a_tree_combines_all_in_order(cluster: Cluster, count: int) -> None:
    joined = cluster.reduce(lambda _, x, y: x + y, [[i] for i in range(count)], fan_in=3)
    assert joined == list(range(count))


def test_a_map_is_reduced_without_passing_through_the_driver(cluster: Cluster, owner: Owner) -> None:
    squares: Any = cluster.map(lambda ev, x: ev.square(x), owner.items)
    total = cluster.reduce(added, squares, fan_in=4)
    assert squares.work().tasks == COUNT
    errors = np.abs(owner.decrypt(total) - (VALUES**2).sum(axis=0))
    assert errors.max() < total.error_bound < 1e-3
    # The shape of the tree is that of the number of items: the bytes are those of another run.
    again = cluster.reduce(added, cluster.map(lambda ev, x: ev.square(x), owner.items), fan_in=4)
    assert bytes(total) == bytes(again)


def test_one_thing_where_several_are_needed_and_masked_matrices_are_refused(cluster: Cluster, owner: Owner) -> None:
    one, matrix = owner.items[0], np.ones((4, 4))
    for call in (
        lambda: cluster.map(lambda _, x: x, one),
        lambda: cluster.map(lambda _, x: x, "items"),
        lambda: cluster.reduce(added, one),
        lambda: cluster.matvec(matrix, one),
    ):
        with pytest.raises(TypeError, match="put it in a list"):
            call()
    with pytest.raises(ClusterError, match=r"filled\(0\)"):
        cluster.matvec(np.ma.MaskedArray(matrix, mask=matrix > 0), [one])


def test_blocks_of_a_matrix_that_is_mapped(cluster: Cluster, owner: Owner, tmp_path: Path) -> None:
    np.save(tmp_path / "matrix.npy", MATRIX)
    matrix = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    x: Any = rng.uniform(-1, 1, MATRIX.shape[1])
    parts = [owner.ctx.encrypt(x[:SLOTS], owner.keys.public), owner.ctx.encrypt(x[SLOTS:], owner.keys.public)]
    product = cluster.matvec(matrix, parts)
    assert len(product) == 2
    values: Any = np.concatenate([owner.decrypt(part) for part in product])
    errors = np.abs(values[: len(MATRIX)] - MATRIX @ x)
    assert errors.max() < max(part.error_bound for part in product) < 1e-4
    with pytest.raises(ClusterError, match=r"shape \(10, 13\), needed are two axes, and 8 columns"):
        cluster.matvec(MATRIX, parts[:1])


def test_paths_of_files_are_items(cluster: Cluster, owner: Owner, tmp_path: Path) -> None:
    paths = []
    for i, x in enumerate(owner.items[:4]):
        paths.append(tmp_path / f"{i}.ct")
        x.save(paths[-1])
    found = list(cluster.map(lambda ev, path: ev.square(ev.context.load(path)), paths))
    np.testing.assert_allclose([owner.decrypt(x) for x in found], VALUES[:4] ** 2, atol=1e-4)
    [failed] = cluster.map(lambda ev, path: ev.context.load(path), [str(tmp_path / "none")], return_failures=True)
    assert isinstance(failed, Failure)
    assert "none" in failed.error


def test_failures_have_their_inputs_and_the_others_come(cluster: Cluster, owner: Owner) -> None:
    def picky(ev: ckks.Evaluator, item: tuple[int, ckks.Ciphertext]) -> Any:
        i, x = item
        if i == 2:
            raise ValueError("the third is not liked")
        return ev.conjugate(x) if i == 5 else x

    items = list(enumerate(owner.items[:8]))
    found: list[Any] = list(cluster.map(picky, items, return_failures=True))
    assert [i for i, x in enumerate(found) if isinstance(x, Failure)] == [2, 5]
    assert found[2].error == "ValueError: the third is not liked"
    assert bytes(found[2].inputs[1]) == bytes(owner.items[2])
    assert "picky" in found[2].traceback
    assert "MissingKeyError" in found[5].error
    with pytest.raises(JobError, match="a step of the reduction"):
        cluster.reduce(lambda _, x, y: x / 0, [1.0, 2.0])
    with pytest.raises(JobError, match=r"2 tasks failed; the first: item 2 .*not liked") as error:
        cluster.reduce(added, cluster.map(picky, items))
    assert [failure.index for failure in error.value.failures] == [2, 5]


def test_results_and_errors_are_in_the_places_of_their_items(cluster: Cluster, owner: Owner) -> None:
    other = owner.ctx.encrypt(VALUES[0], owner.ctx.keygen().public)

    class Of3rdParties(Exception):  # noqa: N818
        pass

    def picky(_: object, item: object) -> object:
        match item:
            case 2:
                raise ValueError("the third is not liked")
            case 5:
                raise Of3rdParties("nor the sixth")
            case 7:
                raise SystemExit(3)
            case 8:
                raise KeyMismatchError("nor the ninth")
        return item

    def items() -> Iterator[object]:
        yield from [0, 1, 2, 3, lambda: 4, 5, other, 7, 8, 9]
        raise KeyError("no more items")

    def taken(results: Iterator[Any]) -> list[Any]:
        """Return what an iterator gives, errors in their places."""
        found: list[Any] = []
        while True:
            try:
                found.append(next(results))
            except StopIteration:
                return found
            except TaskError as error:
                found.append((error.failure.index, type(error.__cause__).__name__, error.failure.error))

    results = iter(cluster.map(picky, [*itertools.islice(items(), 10)]))
    found = taken(results)
    assert [found[i] for i in (0, 1, 3, 9)] == [0, 1, 3, 9]
    assert found[2] == (2, "ValueError", "ValueError: the third is not liked")
    assert found[4][:2] == (4, "KindError")
    assert found[5][:2] == (5, "NoneType"), "an error of an unknown class is a text"
    assert "Of3rdParties: nor the sixth" in found[5][2]
    assert found[6][:2] == (6, "KeyMismatchError")
    assert "give the evaluation keys of the same secret key" in found[6][2]
    assert found[7] == (7, "NoneType", "SystemExit: 3")
    assert found[8][:2] == (8, "KeyMismatchError")
    # In the order in which they end, each with its position.
    unordered = taken(iter(cluster.map(picky, [*itertools.islice(items(), 10)], ordered=False)))
    assert sorted(x[0] for x in unordered) == list(range(10))
    assert sorted(x for x in unordered if len(x) == 2) == [(0, 0), (1, 1), (3, 3), (9, 9)]
    # What the items raise themselves comes after the results of those before it.
    each = iter(cluster.map(picky, items(), return_failures=True))
    assert [next(each) for _ in range(10)][9] == 9
    with pytest.raises(KeyError, match="no more items"):
        next(each)


def test_a_task_that_ends_its_process_is_reported(owner: Owner, directory: Path, cluster: Cluster) -> None:
    def poison(_: object, i: int) -> int:
        if i == 3:
            os.kill(os.getpid(), 9)
        return i

    once = on_it(owner.keys.evaluation, directory, retries=1)
    found = list(once.map(poison, range(6), return_failures=True))
    assert [x for x in found if not isinstance(x, Failure)] == [0, 1, 2, 4, 5]
    assert found[3].inputs == 3
    assert "its process ended each time it was tried" in found[3].error


def test_items_that_cannot_be_sent_are_failures(cluster: Cluster, tmp_path: Path) -> None:
    items = [1, tmp_path / "none", lambda: 0, re.compile("a"), 2]
    found = list(cluster.map(lambda _, x: x, items, return_failures=True))
    assert [found[0], found[4]] == [1, 2]
    errors = [x.error for x in found if isinstance(x, Failure)]
    assert ["FileNotFoundError" in errors[0], "builtins.function" in errors[1], "re.Pattern" in errors[2]] == [True] * 3
    with pytest.raises(JobError, match="1 tasks failed; the first: item 1: FileNotFoundError"):
        cluster.reduce(lambda _, x, y: x, [1, tmp_path / "none", 2])


@dataclasses.dataclass(frozen=True)
class Measure:
    """Of a module of tests, which workers do not have."""

    value: float
    names: tuple[str, ...] = ()


def doubled(_: object, x: Measure) -> Measure:
    return dataclasses.replace(x, value=2 * x.value)


def test_dataclasses_and_tables_of_pandas_are_items_and_results(cluster: Cluster) -> None:
    pandas = pytest.importorskip("pandas")

    @dataclasses.dataclass
    class Inner:
        values: Any

    def counted(_: object, frame: Any) -> list[Any]:
        return [frame.assign(twice=2 * frame["x"]), Inner(frame["x"].to_numpy())]

    assert list(cluster.map(doubled, [Measure(1.0, ("a",)), Measure(2.0)])) == [Measure(2.0, ("a",)), Measure(4.0)]
    table = pandas.DataFrame({"x": [1, 2], "name": ["a", "b"]}, index=[5, 7])
    [[found, inner]] = cluster.map(counted, [table])
    pandas.testing.assert_frame_equal(found, table.assign(twice=[2, 4]))
    assert isinstance(inner, Inner)
    assert inner.values.tolist() == [1, 2]
    # Through a reduction, whose program does not name the class.
    total: Any = cluster.reduce(
        lambda _, x, y: x if x.value > y.value else y, [Measure(1.0), Measure(3.0), Measure(2.0)]
    )
    assert total == Measure(3.0)
    [failed] = cluster.map(lambda _, x: re.compile("a"), [1], return_failures=True)
    assert "re.Pattern does not travel" in failed.error
    with pytest.raises(KindError, match=r"says that it returns .*Pattern.*which does not travel"):
        cluster.map(patterned, [1])


def patterned(_: object, x: int) -> list[re.Pattern[str]]:
    return [re.compile(str(x))]


def test_random_jobs_give_what_each_task_gives_alone(cluster: Cluster) -> None:
    for seed in range(12):
        generator = np.random.default_rng([seed, 46])
        # Objects of other secret keys are failures here.
        cluster._owners |= {each.owner for each in objects() if hasattr(each, "owner")}
        run_work(cluster, work(generator), generator)


def test_too_many_failures_end_a_job(owner: Owner, directory: Path, cluster: Cluster) -> None:
    few = on_it(owner.keys.evaluation, directory, max_failures=2)
    with pytest.raises(JobError, match="tasks failed; the first: item "):
        list(few.map(lambda _, i: i / 0, range(1000), return_failures=True))
    # The errors that are known have their places before that, and so have results: the window has the first four alone.
    narrow = on_it(owner.keys.evaluation, directory, max_failures=2, window=4)
    each = iter(narrow.map(lambda _, i: i if i < 4 else i / 0, range(1000)))
    assert [next(each) for _ in range(4)] == [0, 1, 2, 3]
    for i in range(4, 1000):
        with pytest.raises(JobError) as error:
            next(each)
        if not isinstance(error.value, TaskError):
            break
        assert error.value.failure.index == i
    assert 3 <= len(error.value.failures) < 100
    assert next(each, None) is None


def test_programs_on_tables(cluster: Cluster, directory: Path) -> None:
    table = rng.uniform(0, 1, (40, 3))
    program = programs.Program("mean")
    params = programs.choose_parameters([program], rows=40, columns=3, precision_bits=16)
    ctx = ckks.Context(params)
    keys = programs.plan([program], rows=40, columns=3, slots=ctx.slots).keygen(ctx)
    encrypted = programs.encrypt_table(table, keys.secret)
    real = Cluster(keys.evaluation, directory=directory)
    [found] = real.map(lambda ev, t: programs.run(ev, program, t), [encrypted])
    np.testing.assert_allclose(programs.decrypt_table(found, keys.secret).values[0], table.mean(axis=0), atol=2**-16)


@pytest.mark.parametrize("scheme", [bfv, bgv])
def test_integers_in_both_schemes(cluster: Cluster, directory: Path, scheme: Any) -> None:
    ctx = scheme.Context(scheme.Parameters(5, 193, [50] * 3, [50], security=None))
    keys = ctx.keygen()
    items = [ctx.encrypt(np.arange(4) + i, keys.public) for i in range(3)]
    exact = on_it(keys.evaluation, directory, scheme=scheme.__name__.removeprefix("noren."))
    found = [ctx.decrypt(x, keys.secret)[:4].tolist() for x in exact.map(lambda ev, x: ev.square(x), items)]
    assert found == [((np.arange(4) + i) ** 2).tolist() for i in range(3)]


def test_lookups_bootstraps_and_tfhe_are_tasks(cluster: Cluster, directory: Path, tmp_path: Path) -> None:
    params = bfv.Parameters(5, 193, [50] * 10, [50] * 2, security=None)
    ctx = bfv.Context(params)
    keys = ctx.keygen()
    quotient = bfv.Lookup(lambda x, y: x // y, domain=(8, 8), undefined=0)
    plan = quotient.plan(params)
    prepared = tmp_path / "quotient.lookup"
    quotient.prepare(ctx).save(prepared)

    def divide(keys: bfv.LookupKeys, pair: list[bfv.Ciphertext]) -> bfv.Ciphertext:
        function = bfv.PreparedLookup.load(keys.context, prepared)
        return function(keys.context.evaluator(keys.evaluation), *pair, keys=keys)

    x, y = (ctx.encrypt(plan.spread(numbers), keys.public) for numbers in ([7, 6, 5], [2, 3, 0]))
    looked_up = on_it(plan.keygen(keys.secret), directory)
    [z] = looked_up.map(divide, [[x, y]])
    assert plan.gather(ctx.decrypt(z, keys.secret))[:3].tolist() == [3, 2, 0]

    toy = bootstrapping.Parameters("toy")
    real = ckks.Context(toy.ckks)
    secret = real.keygen(level=toy.output_level)
    boot = on_it(bootstrapping.BootstrapKeys.generate(toy, secret.secret), directory)
    low = real.encrypt([0.5, -0.25], secret.public, slots=2, level=toy.input_level)
    [high] = boot.map(lambda ev, x: ev.bootstrap(x), [low])
    assert high.level == toy.output_level
    np.testing.assert_allclose(real.decrypt(high, secret.secret), [0.5, -0.25], atol=high.error_bound)

    bits = tfhe.Context(tfhe.Parameters("TOY_2_2"))
    own = bits.keygen()
    batches = [bits.encrypt(np.array([i % 4, 1]), own.secret) for i in range(5)]
    both = on_it({"bits": own.server, "vectors": secret.evaluation}, directory)
    sums = list(both.map(lambda evs, batch: (sorted(evs), batch + batch), batches))
    assert [names for names, _ in sums] == [["bits", "vectors"]] * 5
    assert [bits.decrypt(x, own.secret).tolist() for _, x in sums] == [[2 * (i % 4), 2] for i in range(5)]


COMPILED: list[tuple[str, Any, Any]] = [
    ("ckks", lambda x: x * x + 0.5, Input(4, -1.0, 1.0)),
    ("bfv-lookups", lambda x: x // 2, Input(4, 0, 3)),
    # Its keys are two objects.
    ("tfhe", lambda x: compiler.table(np.arange(40) % 7, x), Input(2, 0, 39)),
]


def answer(server: compiler.Running, request: bytes) -> bytes:
    return server.run(request)


@pytest.mark.parametrize(("scheme", "function", "spec"), COMPILED, ids=[x[0] for x in COMPILED])
def test_compiled_functions_are_tasks(
    cluster: Cluster, directory: Path, tmp_path: Path, scheme: str, function: Any, spec: Input
) -> None:
    f = noren.compile(function, spec, scheme=scheme, security=None)  # type: ignore[arg-type]
    other = noren.compile(lambda x: x**8, Input(4, -1.0, 1.0), scheme="ckks", security=None)
    keys, strange = f.client.keygen(), other.client.keygen()
    given = [np.resize([i % 2, 1, 0, 1], spec.shape) for i in range(3)]
    requests = [f.client.encrypt(row) for row in given]
    damaged = bytearray(requests[0])
    damaged[len(damaged) // 2] ^= 1
    stranger = compiler.Client(f._program)
    stranger.keygen()
    faults = [bytes(damaged), b"", other.client.encrypt(np.ones(4)), stranger.encrypt(given[0]), 7]

    served = on_it(keys, directory, function=f)
    found: list[Any] = list(served.map(answer, [*requests, *faults, requests[0]], return_failures=True))
    direct = [f.server.run(request, keys) for request in requests]
    assert [*found[:3], found[-1]] == [*direct, direct[0]]
    for reply, row in zip(found, given, strict=False):
        values, bound = f.client.decrypt(reply, bound=True)
        assert np.abs(values - function(row)).max() <= bound
    assert [(each.index, type(each.cause).__name__) for each in found[3:-1]] == [
        *((3, "WireError"), (4, "WireError"), (5, "WireError"), (6, "KeyMismatchError"), (7, "TypeError")),
    ]

    # From files, and beside other keys.
    file = tmp_path / "server.keys"
    keys.save(file)
    f.save(tmp_path / "function")
    evaluation = ckks.Context(ckks.Parameters(log_n=5, log_q=[50], log_p=[50], security=None)).keygen().evaluation
    named = {"f": file, "ckks": evaluation}
    both = on_it(named, directory, function={"f": tmp_path / "function"}, results=tmp_path / "results")
    for known in (0, 3):
        job = both.map(lambda evs, request: evs["f"].run(request), requests)
        assert list(job) == direct
        assert job.found == known

    # Before anything is sent: keys of another function, parameters that promise too little, damage.
    with pytest.raises(ParameterMismatchError if scheme == "ckks" else WireError, match=r"in use|needed"):
        on_it(strange, directory, function=f)
    with pytest.raises(InsecureError, match="128 bits are needed"):
        Cluster(keys, directory=directory, function=f)
    contents = bytearray(file.read_bytes())
    contents[len(contents) // 2] ^= 1
    file.write_bytes(contents)
    with pytest.raises(WireError, match="digest does not match"):
        on_it(file, tmp_path / "elsewhere", function=f)


def test_compiled_functions_and_keys_that_do_not_fit_are_refused(
    owner: Owner, cluster: Cluster, directory: Path, tmp_path: Path
) -> None:
    f = noren.compile(lambda x: x.sum(), Input(4, -1.0, 1.0), scheme="ckks", security=None)
    keys = f.client.keygen()
    assert isinstance(f.parameters, ckks.Parameters)
    with pytest.raises(MissingKeyError):
        on_it(ckks.Context(f.parameters).keygen().evaluation, directory, function=f)
    with pytest.raises(ClusterError, match="were given without it: name it as function="):
        on_it(keys, directory)
    f.client.save_secret(tmp_path / "secret.key")
    with pytest.raises(ClusterError, match="holds secret key with CKKS parameters, needed are keys that travel"):
        on_it(tmp_path / "secret.key", directory, function=f)
    with pytest.raises(ClusterError, match="a compiled function, which has its own"):
        on_it(keys, directory, function=f, scheme="bgv")
    with pytest.raises(ClusterError, match=r"functions were named for \['g'\], and the keys are \['f'\]"):
        on_it({"f": keys}, directory, function={"g": f})
    with pytest.raises(ClusterError, match="a function is no compiled function"):
        on_it(keys, directory, function=answer)
    with pytest.raises(WireError):
        on_it(owner.keys.evaluation, directory, function=tmp_path / "secret.key")
    secret = f.client.secret
    with pytest.raises(ClusterError, match="the program holds SecretKey"):
        cluster.map(lambda _, x: secret, [0])


def test_ciphertexts_of_another_secret_key_are_refused_before_they_are_sent(cluster: Cluster, owner: Owner) -> None:
    other = owner.ctx.keygen()
    stranger = owner.ctx.encrypt(VALUES[0], other.public)
    with pytest.raises(TaskError, match="give the evaluation keys of the same secret key") as error:
        list(cluster.map(cubed, [stranger]))
    assert isinstance(error.value.__cause__, KeyMismatchError)
