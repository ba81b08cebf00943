"""Keys that grow: for a secret that there is, merged, cut to a level; and what errors say to do."""

import pickle
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pytest
from conftest import SEED, World

import noren
from noren import bfv, bgv, bootstrapping, ckks, programs

# Of either scheme.
Integers: TypeAlias = Any
INTEGERS = bgv.Parameters(10, 65537, [36] * 4, [48] * 2, security=None)


@pytest.fixture
def grown(ctx: ckks.Context) -> tuple[ckks.Keys, ckks.Evaluator]:
    """Keys that were made for products alone, with an evaluator that has learnt to rotate."""
    keys = ctx.keygen()
    more = ctx.evaluation_keys(keys.secret, rotations=[5, -3], conjugation=True)
    return keys, ctx.evaluator(keys.evaluation | more)


def test_keys_for_a_secret_that_there_is(world: World, grown: tuple[ckks.Keys, ckks.Evaluator]) -> None:
    keys, ev = grown
    a = world.values() + 1j * world.values()
    x = world.ctx.encrypt(a, keys.public, slots=8)
    for found, expected in [
        (ev.rotate(x, 5), np.roll(a, -5)),
        (ev.rotate(ev.square(x), -3), np.roll(a * a, 3)),
        (ev.conjugate(x), a.conj()),
    ]:
        assert found.error_bound < 1e-6
        assert np.abs(world.ctx.decrypt(found, keys.secret, complex=True) - expected).max() <= found.error_bound


def test_sets_say_what_is_in_them(ctx: ckks.Context, keys: ckks.Keys) -> None:
    few = ctx.evaluation_keys(keys.secret, rotations=[1], rotations_at={4: 1}, level=2)
    more = ctx.evaluation_keys(keys.secret, rotations=[4, -7], conjugation=True, relinearization=True)
    assert (few.rotations, few.has_relinearization, few.has_conjugation, len(few)) == ({1: 2, 4: 1}, False, False, 2)
    both = few | more
    assert both.rotations == {-7: 3, 1: 2, 4: 3} == (more | few).rotations
    assert both.has_relinearization
    assert both.has_conjugation
    assert len(both) == 5
    # Residues of 8 bytes of all primes, special ones included, for the two halves of each digit.
    assert more.nbytes == 4 * 2 * 1024 * 8 * 6 * ctx.parameters.dnum
    assert both.nbytes > more.nbytes > 0
    assert 0 < keys.secret.nbytes < keys.public.nbytes
    text = repr(both)
    for part in ("n=1024", "keys=5", "products", "conjugation", "[-7, 1, 4]", "MB" if both.nbytes >= 1e6 else "kB"):
        assert part in text
    assert "keys=0" in repr(ctx.evaluation_keys(keys.secret))
    html = both._repr_html_()
    for part in ("<table>", "EvaluationKeys", "<td>5</td>", "[-7, 1, 4]", "size"):
        assert part in html
    again = pickle.loads(pickle.dumps(both))
    assert again.rotations == both.rotations
    assert bytes(again) == bytes(both)


def test_keys_are_cut_to_a_level(world: World) -> None:
    ctx, keys = world.ctx, world.keys
    full = ctx.evaluation_keys(keys.secret, rotations=[1], relinearization=True, seed=SEED)
    low = ctx.evaluation_keys(keys.secret, rotations=[1], relinearization=True, level=1, seed=SEED)
    cut = full.at_level(1)
    assert bytes(cut) == bytes(low)
    assert cut.rotations == {1: 1}
    assert cut.nbytes == low.nbytes < full.nbytes
    ev = ctx.evaluator(cut)
    a = world.values()
    x = ev.at_level(ctx.encrypt(a, keys.public, slots=8), 1)
    world.check(ev.rotate(ev.square(x), 1), np.roll(a * a, -1), most=1e-5)
    assert (cut | full).rotations == {1: 3}
    assert bytes(cut | full) == bytes(full)
    assert bytes(cut.at_level(3)) == bytes(cut)
    with pytest.raises(noren.LevelError):
        full.at_level(4)


def test_errors_name_the_call_that_makes_the_keys(world: World) -> None:
    ctx, secret = world.ctx, world.keys.secret
    ev = ctx.evaluator(ctx.evaluation_keys(secret, rotations_at={1: 1}))
    a = world.values(ctx.slots)
    x = ctx.encrypt(a, world.keys.public)
    of_sum = [r for r in ckks.rotations_of_sum(16) if r not in (1, 3, 9)]
    calls: list[tuple[Callable[[ckks.Evaluator], ckks.Ciphertext], str]] = [
        (lambda ev: ev.rotate(x, 3), "rotations=[3]"),
        (lambda ev: ev.rotate(x, 1), "rotations=[1], level=3"),
        (lambda ev: ev.rotate_many(x, [3, 9])[1], "rotations=[9]"),
        (lambda ev: ev.sum(x, 16), f"rotations={of_sum}"),
        (lambda ev: ev.square(x), "relinearization=True"),
        (lambda ev: ev.conjugate(x), "conjugation=True"),
    ]
    for call, arguments in calls:
        with pytest.raises(noren.MissingKeyError) as caught:
            call(ev)
        match = re.search(r"`more = (context\.evaluation_keys\(secret, (.*?)\))`", str(caught.value))
        assert match is not None, caught.value
        assert match.group(2) == arguments
        # What the message says is done, to the letter.
        ev = ev.with_keys(eval(match.group(1), {"context": ctx, "secret": secret}))
        assert np.isfinite(call(ev).error_bound)
    world.check(ev.rotate(x, 3), np.roll(a, -3))


def test_the_named_call_is_enough_where_keys_serve_lower_levels(world: World) -> None:
    ctx, secret = world.ctx, world.keys.secret
    x = ctx.encrypt(world.values(ctx.slots), world.keys.public)
    matrix = np.eye(4) + np.eye(4, k=1) + np.eye(4, k=3)
    y = ctx.encrypt(world.values(4), world.keys.public)
    rotations = sorted({*ckks.rotations_of_sum(16), *ckks.rotations_of_matrix(matrix)})
    calls: list[Callable[[ckks.Evaluator], ckks.Ciphertext]] = [
        lambda ev: ev.sum(x, 16),
        lambda ev: ev.rotate_many(x, [1, 3, 5])[0],
        lambda ev: ev.matvec(matrix, y),
        lambda ev: ev.square(x),
        lambda ev: ev.conjugate(x),
    ]
    # Some keys are missing, some are for lower levels, or all are for lower levels.
    for low in (rotations[::2], rotations):
        for call in calls:
            more = ctx.evaluation_keys(
                secret, rotations_at=dict.fromkeys(low, 1), relinearization=True, conjugation=True, level=1
            )
            ev = ctx.evaluator(more)
            with pytest.raises(noren.MissingKeyError) as caught:
                call(ev)
            match = re.search(r"`more = (context\.evaluation_keys\(secret, .*?\))`", str(caught.value))
            assert match is not None, caught.value
            ev = ev.with_keys(eval(match.group(1), {"context": ctx, "secret": secret}))
            assert np.isfinite(call(ev).error_bound)


@pytest.mark.parametrize("scheme", [bgv, bfv], ids=["bgv", "bfv"])
def test_keys_of_integers_grow(scheme: ModuleType) -> None:
    ctx: Integers = scheme.Context(INTEGERS)
    keys = ctx.keygen(relinearization=False)
    values = np.arange(ctx.parameters.n)
    rows = values.reshape(2, -1)
    x = ctx.encrypt(values, keys.public)
    ev = ctx.evaluator(keys.evaluation)
    heard: list[tuple[int, int]] = []
    calls: list[tuple[Callable[[Integers], Integers], str]] = [
        (lambda ev: ev.rotate(x, 3), "rotations=[3]"),
        (lambda ev: ev.swap_rows(x), "swap=True"),
        (lambda ev: ev.square(x), "relinearization=True"),
    ]
    for call, arguments in calls:
        with pytest.raises(noren.MissingKeyError, match=re.escape(f"context.evaluation_keys(secret, {arguments})")):
            call(ev)
    more = ctx.evaluation_keys(
        keys.secret, rotations=[3], swap=True, relinearization=True, progress=lambda *step: heard.append(step)
    )
    assert heard == [(1, 3), (2, 3), (3, 3)]
    ev = ev.with_keys(more)
    for found, expected in [
        (ev.rotate(x, 3), np.roll(rows, -3, axis=1)),
        (ev.swap_rows(x), rows[::-1]),
        (ev.square(x), rows * rows % 65537),
    ]:
        assert (ctx.decrypt(found, keys.secret).reshape(2, -1) == expected).all()
    assert (more.rotations, more.has_swap, more.has_relinearization, len(more)) == ({3: 4}, True, True, 3)
    cut = more.at_limbs(2)
    assert cut.rotations == {3: 2}
    assert cut.nbytes < more.nbytes
    with pytest.raises(noren.MissingKeyError, match=re.escape("rotations=[3], limbs=4")):
        ctx.evaluator(cut).rotate(x, 3)
    with pytest.raises(noren.Error):
        more.at_limbs(5)


def test_keys_of_another_program_are_added(world: World) -> None:
    table = world.values(12).reshape(4, 3)
    mean, products = (programs.Program(name) for name in ("mean", "inner-product"))
    plans = [program.plan(4, 3, slots=world.ctx.slots, max_abs=1.0) for program in (mean, products)]
    keys = plans[0].keygen(world.ctx)
    encrypted = programs.encrypt_table(table, keys.secret, max_abs=1.0)
    ev = world.ctx.evaluator(keys.evaluation)
    with pytest.raises(noren.MissingKeyError, match=r"evaluation_keys\(secret, rotations="):
        programs.run(ev, products, encrypted)
    ev = ev.with_keys(plans[1].evaluation_keys(keys.secret))
    for program, expected in [(mean, table.mean(axis=0)), (products, table.T @ table)]:
        result = programs.decrypt_table(programs.run(ev, program, encrypted), keys.secret)
        assert np.allclose(result.values, expected, atol=1e-3)


def test_sets_of_other_parameters_are_refused(ctx: ckks.Context, keys: ckks.Keys, other: ckks.Context) -> None:
    foreign = other.keygen()
    with pytest.raises(noren.ParameterMismatchError):
        keys.evaluation | foreign.evaluation
    with pytest.raises(noren.ParameterMismatchError):
        ctx.evaluation_keys(foreign.secret, rotations=[1])
    with pytest.raises(TypeError):
        keys.evaluation | keys.secret  # type: ignore[operator]


def test_bootstrapping_keys_say_what_they_take() -> None:
    params = bootstrapping.Parameters("toy")
    secret = ckks.Context(params.ckks).keygen(relinearization=False).secret
    keys = bootstrapping.BootstrapKeys.generate(params, secret)
    # A plan counts keys as for the most limbs of their kind.
    assert 0.9 * params.plan().key_bytes < keys.nbytes <= params.plan().key_bytes
    assert "MB" in repr(keys)
    # What a program rotates by is added to them.
    more = keys.context.evaluation_keys(secret, rotations=[77], level=params.output_level)
    boot = bootstrapping.Bootstrapper(keys)
    ev = keys.context.evaluator(keys.evaluation).with_bootstrapping(boot).with_keys(more)
    x = keys.context.encrypt(np.arange(8) / 8, secret, slots=8, level=params.output_level)
    found = keys.context.decrypt(ev.rotate(x, 77), secret)
    assert np.abs(found - np.roll(np.arange(8) / 8, -77)).max() < 1e-6
