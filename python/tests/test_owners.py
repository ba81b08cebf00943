"""Keys and ciphertexts of different secret keys never meet: every call refuses them by name."""

import pickle
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import ROTATIONS, World

import noren
from noren import bfv, bgv, bootstrapping, ckks, programs

INTEGERS = bgv.Parameters(10, 65537, [36] * 3, [48] * 2, security=None)
WRONG = noren.KeyMismatchError


@pytest.fixture(scope="module")
def stranger(ctx: ckks.Context) -> ckks.Keys:
    """Keys of another secret, with the same parameters."""
    return ctx.keygen(rotations=ROTATIONS, conjugation=True)


def refused(*calls: Callable[[], object]) -> None:
    for i, call in enumerate(calls):
        with pytest.raises(WRONG, match="belongs to key"):
            raise AssertionError(f"call {i} gave {call()!r}")


def test_the_error_is_one_of_noren() -> None:
    assert issubclass(noren.KeyMismatchError, noren.Error)
    assert not issubclass(noren.KeyMismatchError, noren.ParameterMismatchError)


def test_no_pair_of_secrets_decrypts_for_each_other() -> None:
    ctx = ckks.Context(ckks.Parameters(8, [45, 35], [], security=None))
    keys = [ctx.keygen(relinearization=False) for _ in range(8)]
    for i, own in enumerate(keys):
        for key in (own.public, own.secret):
            x = ctx.encrypt([0.5, -0.25], key)
            for j, other in enumerate(keys):
                if i == j:
                    assert np.abs(ctx.decrypt(x, other.secret)[:2] - [0.5, -0.25]).max() <= x.error_bound
                else:
                    refused(partial(ctx.decrypt, x, other.secret))


def test_ciphertexts_of_another_secret_are_refused(world: World, stranger: ckks.Keys) -> None:
    ctx, ev = world.ctx, world.ev
    x = world.encrypt([1.0, 2.0])
    y: ckks.Ciphertext = ctx.encrypt([1.0, 2.0], stranger.public, slots=8)
    other = ctx.evaluator(stranger.evaluation)
    bound = other.bind(y)
    again = pickle.loads(pickle.dumps(y))
    refused(
        lambda: ctx.decrypt(y, world.keys.secret),
        lambda: ctx.decrypt(x, stranger.secret),
        lambda: ctx.decrypt(again, world.keys.secret),
        lambda: ev.bind(y),
        lambda: ev.bind(again),
        lambda: x + y,
        lambda: x - bound,
        lambda: bound * x,
        lambda: ev.add(y, y),
        lambda: ev.add(y, 1.0),
        lambda: ev.mul(y, 2.0),
        lambda: ev.mul(x, y),
        lambda: ev.square(y),
        lambda: ev.rotate(y, 1),
        lambda: ev.rotate_many(y, [1, 3]),
        lambda: ev.conjugate(y),
        lambda: ev.sum(y, 2),
        lambda: ev.polynomial(y, [0, 1, 2]),
        lambda: ev.dot([x, x], [x, y]),
        lambda: ev.weighted_sum([x, y], [1.0, 1.0]),
        lambda: other.square(x),
        lambda: world.keys.evaluation | stranger.evaluation,
        lambda: ev.with_keys(stranger.evaluation),
    )
    assert np.abs(ctx.decrypt(x + x, world.keys.secret)[:2] - [2.0, 4.0]).max() <= (x + x).error_bound


def test_a_secret_that_is_loaded_again_is_the_same(world: World) -> None:
    ctx, x = world.ctx, world.encrypt([1.0, 2.0])
    again = ckks.SecretKey.from_bytes(bytes(world.keys.secret), min_security=0)
    assert (ctx.decrypt(x, again) == ctx.decrypt(x, world.keys.secret)).all()
    # Keys that are made later, for the secret that was loaded.
    more = ctx.evaluation_keys(again, rotations=[5])
    assert ctx.evaluator(world.keys.evaluation | more).rotate(x, 5).level == x.level


@pytest.mark.parametrize("scheme", [bgv, bfv], ids=["bgv", "bfv"])
def test_integers_of_another_secret_are_refused(scheme: ModuleType) -> None:
    ctx: Any = scheme.Context(INTEGERS)
    own, other = (ctx.keygen(rotations=[1], swap=True) for _ in range(2))
    ev = ctx.evaluator(own.evaluation)
    x, y = (ctx.encrypt([1, 2, 3], keys.public) for keys in (own, other))
    refused(
        lambda: ctx.decrypt(y, own.secret),
        lambda: ctx.decrypt(pickle.loads(pickle.dumps(x)), other.secret),
        lambda: ev.bind(y),
        lambda: ev.add(x, y),
        lambda: ev.sub(y, x),
        lambda: ev.add(y, 1),
        lambda: ev.mul(x, y),
        lambda: ev.mul(y, 3),
        lambda: ev.square(y),
        lambda: ev.rotate(y, 1),
        lambda: ev.swap_rows(y),
        lambda: ev.dot([x, x], [x, y]),
        lambda: own.evaluation | other.evaluation,
    )
    assert list(ctx.decrypt(ev.add(x, x), own.secret)[:3]) == [2, 4, 6]


def test_lookups_with_foreign_keys_are_refused() -> None:
    ctx = bfv.Context(bfv.Parameters(4, 97, [40] * 16, [40] * 2, security=None), threads=1)
    own, other = ctx.keygen(), ctx.keygen()
    plan = bfv.LookupPlan(ctx.parameters, (8, 8))
    ev, keys = ctx.evaluator(own.evaluation), plan.keygen(own.secret)
    prepared = bfv.Lookup(lambda x, y: (x * y + 3) % 97, domain=(8, 8)).prepare(ctx)
    x, y = (ctx.encrypt(plan.spread([3], axis=axis), own.public) for axis in (0, 1))
    z = ctx.encrypt(plan.spread([3], axis=1), other.public)
    refused(
        lambda: prepared(ev, x, y, keys=plan.keygen(other.secret)),
        lambda: prepared(ev, x, z, keys=keys),
        lambda: prepared(ctx.evaluator(other.evaluation), x, y, keys=keys),
    )
    assert plan.gather(ctx.decrypt(prepared(ev, x, y, keys=keys), own.secret))[0] == 12


def test_bootstrapping_with_foreign_keys_is_refused() -> None:
    params = bootstrapping.Parameters("toy")
    ctx = ckks.Context(params.ckks)
    own, other = ctx.keygen(), ctx.keygen()
    bootstrapper = bootstrapping.Bootstrapper(bootstrapping.BootstrapKeys.generate(params, own.secret))
    x = ctx.encrypt(np.zeros(512), other.public, level=params.input_level)
    refused(
        lambda: bootstrapper.bootstrap(x),
        lambda: ctx.evaluator(other.evaluation).with_bootstrapping(bootstrapper),
        lambda: ctx.evaluator(own.evaluation).with_bootstrapping(bootstrapper).bootstrap(x),
    )


def test_tables_of_another_secret_are_refused() -> None:
    ctx = ckks.Context(ckks.Parameters(8, [50, 40, 40], [50], security=None))
    table, program = np.arange(12.0).reshape(4, 3), programs.Program("mean")
    plan = programs.plan([program], rows=4, columns=3, slots=ctx.slots)
    own, other = plan.keygen(ctx), plan.keygen(ctx)
    mine, foreign = (programs.encrypt_table(table, keys.secret) for keys in (own, other))
    ev = ctx.evaluator(own.evaluation)
    refused(
        lambda: programs.run(ev, program, foreign),
        lambda: programs.run(ctx.evaluator(other.evaluation), program, mine),
        lambda: programs.decrypt_table(foreign, own.secret),
        lambda: programs.decrypt_table(programs.run(ev, program, mine), other.secret),
        lambda: programs.decrypt_table(pickle.loads(pickle.dumps(foreign)), own.secret),
    )
