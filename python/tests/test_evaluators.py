"""Which evaluator the operators of a ciphertext use that no evaluator made; and what ciphertexts tell of themselves."""

import gc
import multiprocessing
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import noren
from noren import bfv, bgv, ckks, tfhe

# Classes, ciphertexts and values of any of the three schemes.
Scheme: TypeAlias = Any
Ciphertext: TypeAlias = Any
Call: TypeAlias = Callable[[], object]
SCHEMES = [ckks, bgv, bfv]
A, B = np.arange(4), np.array([3, 1, 0, 2])


class Owner:
    """A context with one thread, and keys; in any scheme."""

    def __init__(self, scheme: ModuleType, bits: int = 40) -> None:
        if scheme is ckks:
            params: Scheme = ckks.Parameters(10, [50, bits, bits], [50], security=None)
        else:
            params = bfv.Parameters(10, 65537, [bits] * 4, [48], security=None)
        self.scheme: Scheme = scheme
        self.ctx = self.scheme.Context(params, threads=1)
        self.keys = self.ctx.keygen(relinearization=False)

    def encrypt(self, values: NDArray[np.int64]) -> Ciphertext:
        return self.ctx.encrypt(values, self.keys.public)

    def decrypt(self, x: Ciphertext) -> list[float]:
        values: list[float] = self.ctx.decrypt(x, self.keys.secret)[:4].round(3).tolist()
        return values


@pytest.fixture(params=SCHEMES, ids=["ckks", "bgv", "bfv"])
def owner(request: pytest.FixtureRequest) -> Owner:
    gc.collect()
    return Owner(request.param)


def test_fresh_loaded_and_unpickled_ciphertexts_find_their_evaluator(owner: Owner) -> None:
    x = owner.encrypt(A)
    with pytest.raises(noren.MissingKeyError, match=r"context\.evaluator\(keys\.evaluation\)"):
        x + x
    ev = owner.ctx.evaluator(owner.keys.evaluation)
    loaded = owner.scheme.Ciphertext.from_bytes(owner.ctx, bytes(x))
    for other in (x, loaded, pickle.loads(pickle.dumps(x)), ev.bind(x)):
        assert owner.decrypt(other + other) == (2 * A).tolist()
        assert owner.decrypt(3 * other + 1) == (3 * A + 1).tolist()
        assert owner.decrypt(x + other) == (2 * A).tolist()
    kept = x + x
    del ev, other
    gc.collect()
    # The evaluator of a result lives on with it; Python holds none that would serve others.
    assert owner.decrypt(kept + kept) == (4 * A).tolist()
    with pytest.raises(noren.MissingKeyError):
        x.__neg__()


def test_evaluators_with_different_keys_are_told_apart(owner: Owner) -> None:
    x = owner.encrypt(A)
    one = owner.ctx.evaluator(owner.ctx.evaluation_keys(owner.keys.secret, rotations=[1]))
    two = owner.ctx.evaluator(owner.ctx.evaluation_keys(owner.keys.secret, relinearization=True))
    with pytest.raises(noren.MissingKeyError, match=r"2 evaluators .* ev\.bind\(x\)"):
        x + x
    assert owner.decrypt(two.bind(x) * x) == (A * A).tolist()
    # One with the keys of all is taken.
    both = one.with_keys(two.keys)
    assert owner.decrypt(x * x) == (A * A).tolist()
    # Another with the same keys does the same.
    again = owner.ctx.evaluator(both.keys)
    assert owner.decrypt(x * x) == (A * A).tolist()
    del one, both, again
    gc.collect()
    assert owner.decrypt(x * x) == (A * A).tolist()
    assert two.keys.has_relinearization


def test_evaluators_of_other_contexts(owner: Owner) -> None:
    x = owner.encrypt(A)
    # Of other parameters: not taken.
    other = Owner(owner.scheme, bits=41)
    foreign = other.ctx.evaluator(other.keys.evaluation)
    with pytest.raises(noren.MissingKeyError, match="no evaluator"):
        x + x
    # Of equal parameters and the same key: taken, as that of an unpickled ciphertext.
    twin = owner.scheme.Context(owner.ctx.parameters, threads=1)
    ev = twin.evaluator(pickle.loads(pickle.dumps(owner.keys.evaluation)))
    assert owner.decrypt(x + x) == (2 * A).tolist()
    assert ev.context.parameters != foreign.context.parameters


def test_cells_that_run_again_do_not_mix_keys(owner: Owner) -> None:
    """As a notebook would run: keys, data, evaluator, and the cell of the keys once more."""
    ctx, keys = owner.ctx, owner.keys
    x = ctx.encrypt(A, keys.public)
    ev = ctx.evaluator(keys.evaluation)
    y = x + x
    keys = ctx.keygen(relinearization=False)
    calls: list[Call] = [
        lambda: ctx.decrypt(y, keys.secret),
        lambda: ctx.evaluator(keys.evaluation).add(x, x),
        lambda: x + ctx.encrypt(B, keys.public),
        lambda: ev.keys | keys.evaluation,
        lambda: ev.with_keys(ctx.evaluation_keys(keys.secret, rotations=[1])),
    ]
    for call in calls:
        with pytest.raises(noren.KeyMismatchError):
            call()
    ev = ctx.evaluator(keys.evaluation)
    with pytest.raises(noren.MissingKeyError, match="keygen called again"):
        x + x
    # New data is for the new keys.
    x = ctx.encrypt(A, keys.public)
    assert ctx.decrypt(x + x, keys.secret)[:4].round(3).tolist() == (2 * A).tolist()
    # What the message of a missing key says adds to them, in whatever order.
    ev = ctx.evaluator(ctx.evaluation_keys(keys.secret, rotations=[1]) | keys.evaluation)
    assert ctx.decrypt(ev.rotate(x, 1), keys.secret)[:3].round(3).tolist() == A[1:].tolist()


class Torus:
    """A context of TFHE with keys; no evaluator."""

    def __init__(self, preset: str = "TOY_2_2") -> None:
        self.ctx = tfhe.Context(tfhe.Parameters(preset), threads=1)
        self.keys = self.ctx.keygen(circuit=preset == "TOY_2_2")
        self.values = np.array([1, 7, 250], np.uint8)

    def encrypt(self) -> tfhe.EncryptedArray:
        return self.ctx.encrypt(self.values, self.keys.secret)

    def check(self, x: tfhe.EncryptedArray, expected: NDArray[Any]) -> None:
        np.testing.assert_array_equal(self.ctx.decrypt(x, self.keys.secret), expected)


@pytest.fixture
def torus() -> Torus:
    gc.collect()
    return Torus()


def test_fresh_loaded_and_unpickled_encrypted_arrays_find_their_evaluator(torus: Torus) -> None:
    x, a = torus.encrypt(), torus.values
    calls: list[Call] = [lambda: x + x, lambda: -x, x.sum, lambda: x.astype(np.uint16), lambda: 3 - x]
    for call in calls:
        with pytest.raises(noren.MissingKeyError, match=r"context\.evaluator\(keys\.server\)"):
            call()
    ev = torus.ctx.evaluator(torus.keys.server)
    loaded = tfhe.EncryptedArray.from_bytes(torus.ctx, bytes(x))
    for other in (x, loaded, pickle.loads(pickle.dumps(x)), ev.bind(x), x[:]):
        torus.check(other + other, a + a)
        torus.check(3 * other + 1, 3 * a + np.uint8(1))
        torus.check(other < x, a < a)
        torus.check(other.max(), a.max())
        torus.check(-other, -a)
    kept = x + x
    del ev, other
    gc.collect()
    # The evaluator of a result lives on with it; Python holds none that would serve others.
    torus.check(kept + x, 3 * a)
    with pytest.raises(noren.MissingKeyError):
        x.__neg__()


def test_evaluators_of_tfhe_that_include_others_serve(torus: Torus) -> None:
    x, a = torus.encrypt(), torus.values
    plain = torus.ctx.evaluator(torus.keys.server)
    circuit = torus.ctx.evaluator(torus.keys.server, torus.keys.circuit)
    again = torus.ctx.evaluator(torus.keys.server)
    torus.check(x + x, a + a)
    del circuit
    gc.collect()
    torus.check(x + x, a + a)
    assert plain.context.parameters == again.context.parameters


def test_evaluators_of_tfhe_of_others_do_not_serve(torus: Torus) -> None:
    x, a = torus.encrypt(), torus.values
    bits = Torus("TOY_BOOL")
    foreign = bits.ctx.evaluator(bits.keys.server)
    with pytest.raises(noren.MissingKeyError, match="no evaluator"):
        x + x
    # Of equal parameters and another key.
    other = Torus()
    ev = other.ctx.evaluator(other.keys.server)
    with pytest.raises(noren.MissingKeyError, match="keygen called again"):
        x + x
    # Of equal parameters and the same key: taken.
    twin = tfhe.Context(torus.ctx.parameters, threads=1).evaluator(pickle.loads(pickle.dumps(torus.keys.server)))
    torus.check(x + x, a + a)
    assert len({id(found) for found in (foreign, ev, twin)}) == 3


def double(x: Ciphertext) -> bytes:
    return bytes(x + x)


@pytest.mark.parametrize("scheme", SCHEMES, ids=["ckks", "bgv", "bfv"])
def test_a_forked_process_finds_the_evaluator(scheme: ModuleType) -> None:
    owner = Owner(scheme)
    x = owner.encrypt(A)
    ev = owner.ctx.evaluator(owner.keys.evaluation)
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        found = pool.apply_async(double, (x,)).get(60)
    assert owner.decrypt(owner.scheme.Ciphertext.from_bytes(owner.ctx, found)) == (2 * A).tolist()
    assert ev.context.parameters == owner.ctx.parameters


def test_ciphertexts_say_what_is_known(owner: Owner) -> None:
    x = owner.encrypt(A)
    assert "no evaluator" in x.explain()
    ev = owner.ctx.evaluator(owner.ctx.evaluation_keys(owner.keys.secret, rotations=[1, -2], relinearization=True))
    text = x.explain()
    named = {ckks: ["slots", "scale", "magnitude", "error", "2^-40", "mostly"], bgv: ["modulo 65537", "noise budget"]}
    for part in [*named.get(owner.scheme, named[bgv]), "level", "products", "rotations [-2, 1]", "size"]:
        assert part in text, part
    for line in text.splitlines():
        assert line.split("  ")[0] in x._repr_html_()
    assert x.nbytes == 2 * 1024 * 8 * (3 if owner.scheme is ckks else 4)
    assert "no product" in (ev.at_level(x, 0) if owner.scheme is ckks else ev.mod_switch(x, 1)).explain()
    for thing in (owner.ctx, owner.ctx.parameters, ev.keys, owner.keys.secret, owner.keys.public):
        html = thing._repr_html_()
        assert html.startswith("<table>")
        assert html.endswith("</table>")
        assert "1024" in html
    assert "none" in owner.ctx._repr_html_()
    assert "rotations=[-2, 1]" in repr(ev)


def test_a_bound_that_is_none_is_explained() -> None:
    owner = Owner(ckks)
    ev = owner.ctx.evaluator(owner.keys.evaluation)
    # 2^10 is the most that q_0 holds at a scale of 2^40.
    x = ev.at_level(owner.encrypt(A), 0) * (1 << 20)
    assert "with_magnitude" in x.explain()
