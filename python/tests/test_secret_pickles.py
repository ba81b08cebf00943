"""Secret keys are pickled on purpose, or not at all."""

import copy
import multiprocessing
import pickle
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import noren
from noren import bfv, ckks, tfhe

CKKS = ckks.Parameters(log_n=10, log_q=[50, 40], log_p=[50], log_scale=40, security=None)
BFV = bfv.Parameters(log_n=10, plaintext_modulus=65537, log_q=[36, 36], log_p=[48], security=None)


Owner: TypeAlias = ckks.Keys | bfv.Keys | tfhe.Keys


@pytest.fixture(scope="module", params=["ckks", "bfv", "tfhe"])
def keys(request: pytest.FixtureRequest) -> Owner:
    match request.param:
        case "ckks":
            return ckks.Context(CKKS).keygen()
        case "bfv":
            return bfv.Context(BFV).keygen()
        case _:
            return tfhe.Context(tfhe.Parameters("BOOL_LIGHT")).keygen()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_secrets_are_not_pickled_by_accident(keys: Owner, protocol: int) -> None:
    for thing, hint in ((keys.secret, r"key\.save"), (keys, r"keys\.(public|server)")):
        for inside in (thing, [thing], {"keys": thing}):
            with pytest.raises(TypeError, match=rf"not pickled by accident: .*{hint}.*noren\.PicklableSecret"):
                pickle.dumps(inside, protocol)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_secrets_are_pickled_on_purpose(keys: Owner, protocol: int) -> None:
    again = pickle.loads(pickle.dumps(noren.PicklableSecret(keys.secret), protocol))
    assert isinstance(again, noren.PicklableSecret)
    assert bytes(again.value) == bytes(keys.secret)
    again = pickle.loads(pickle.dumps(noren.PicklableSecret(keys), protocol))
    assert type(again.value) is type(keys)
    assert bytes(again.value.secret) == bytes(keys.secret)
    assert again.value.secret.parameters == keys.secret.parameters
    for name in ("public", "evaluation", "server"):
        if hasattr(keys, name):
            assert bytes(getattr(again.value, name)) == bytes(getattr(keys, name))
    assert repr(noren.PicklableSecret(keys)) == f"PicklableSecret({keys!r})"


def test_copies_of_secrets_are_the_same_object(keys: Owner) -> None:
    for thing in (keys, keys.secret):
        assert copy.copy(thing) is copy.deepcopy(thing) is thing


def test_what_is_no_secret_is_refused(keys: Owner) -> None:
    for other in (b"key", None, CKKS):
        with pytest.raises(TypeError, match="holds a secret key or the keys of one owner, not"):
            noren.PicklableSecret(other)  # type: ignore[type-var]


def decrypted(shared: noren.PicklableSecret[ckks.SecretKey], x: ckks.Ciphertext) -> NDArray[np.float64]:
    return shared.value.context.decrypt(x, shared.value)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools_of_processes_share_secrets_on_purpose(method: str) -> None:
    ctx = ckks.Context(CKKS, threads=1)
    owner = ctx.keygen()
    xs = [ctx.encrypt(np.full(4, value), owner.public) for value in (0.25, -0.5)]
    shared = noren.PicklableSecret(owner.secret)
    with multiprocessing.get_context(method).Pool(2) as pool:
        rows = pool.starmap(decrypted, [(shared, x) for x in xs])
        with pytest.raises(TypeError, match="PicklableSecret"):
            pool.starmap(decrypted, [(owner.secret, x) for x in xs])
    np.testing.assert_allclose(rows, [[0.25] * 4, [-0.5] * 4], atol=1e-6)
