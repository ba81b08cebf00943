"""Re-encryption: what an old key has encrypted decrypts under a new one."""

import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import noren
from noren import bfv, bgv, ckks

SEEDS = [bytes([byte]) * 32 for byte in range(4)]


@pytest.mark.parametrize("scheme", [bfv, bgv], ids=["bfv", "bgv"])
def test_integers_go_to_a_new_key(scheme: ModuleType, tmp_path: Path) -> None:
    ctx = scheme.Context(bfv.Parameters(10, 65537, [40] * 3, [50], security=None))
    old, new = (ctx.keygen(seed=seed) for seed in SEEDS[:2])
    key = ctx.reencryption_key(old.secret, new.secret, seed=SEEDS[2])
    assert (key.source, key.owner) == (old.secret.owner, new.secret.owner)
    x = ctx.encrypt([3, 5, 7], old.public)
    y = ctx.reencrypt(x, key)
    assert y.owner == new.secret.owner
    assert y.noise_budget < x.noise_budget
    assert ctx.decrypt(y, new.secret).tolist() == [3, 5, 7]
    assert ctx.decrypt(ctx.evaluator(new.evaluation).mul(y, y), new.secret).tolist() == [9, 25, 49]
    several = ctx.reencrypt([x, x], key)
    assert ctx.decrypt(several, new.secret).tolist() == [[3, 5, 7]] * 2
    with pytest.raises(noren.Error, match="belongs to key"):
        ctx.decrypt(y, old.secret)
    with pytest.raises(noren.Error, match="belongs to key"):
        ctx.reencrypt(y, key)
    key.save(tmp_path / "rotation.key")
    again = bfv.ReencryptionKey.load(tmp_path / "rotation.key", min_security=0)
    assert bytes(again) == bytes(key) == bytes(pickle.loads(pickle.dumps(key)))


def test_reals_go_to_a_new_key_within_their_bound() -> None:
    ctx = ckks.Context(ckks.Parameters(10, [50, 40, 40], [50], security=None))
    old, new = (ctx.keygen(seed=seed) for seed in SEEDS[:2])
    key = ctx.reencryption_key(old.secret, new.secret)
    values = np.linspace(-1, 1, 100)
    x = ctx.encrypt(values, old.secret)
    y = ctx.reencrypt(x, key)
    assert x.error_bound < y.error_bound < 1e-6
    assert np.abs(ctx.decrypt(y, new.secret) - values).max() < y.error_bound


@pytest.mark.parametrize("scheme", [bfv, bgv], ids=["bfv", "bgv"])
def test_integers_go_to_another_owner_under_a_flood(scheme: ModuleType, tmp_path: Path) -> None:
    ctx = scheme.Context(bfv.Parameters(10, 65537, [45] * 4, [50], security=None))
    giver, receiver = (ctx.keygen(seed=seed) for seed in SEEDS[:2])
    public = ctx.receiver_key(receiver.secret)
    public.save(tmp_path / "receiver.key")
    public = bfv.ReceiverKey.load(tmp_path / "receiver.key", min_security=0)
    key = ctx.reencryption_key(giver.secret, public)
    assert key.for_another_owner
    assert key.owner == public.owner == receiver.secret.owner
    x = ctx.encrypt([3, 5, 7], giver.public)
    y = ctx.reencrypt(x, key, seed=SEEDS[3])
    assert ctx.decrypt(y, receiver.secret).tolist() == [3, 5, 7]
    assert x.noise_budget - y.noise_budget > 64 + 10 + 16
    assert bytes(y) == bytes(ctx.reencrypt(x, key, seed=SEEDS[3])) != bytes(ctx.reencrypt(x, key))
    bare = ctx.reencrypt(x, key, flood=False)
    assert bare.noise_budget > y.noise_budget
    assert ctx.decrypt(ctx.reencrypt([x, x], key), receiver.secret).tolist() == [[3, 5, 7]] * 2
    with pytest.raises(noren.Error, match="a flood"):
        ctx.reencrypt(x, key, distance=128)
    wrongs: list[dict[str, Any]] = [{"distance": 39}, {"distance": 129}, {"results": 0}]
    for wrong in wrongs:
        with pytest.raises(noren.Error, match=r"(1|40) to"):
            ctx.reencrypt(x, key, **wrong)


def test_reals_go_to_another_owner_by_name_alone() -> None:
    ctx = ckks.Context(ckks.Parameters(10, [50, 40, 40], [50], security=None))
    giver, receiver = (ctx.keygen(seed=seed) for seed in SEEDS[:2])
    key = ctx.reencryption_key(giver.secret, ctx.receiver_key(receiver.secret))
    x = ctx.encrypt([0.5, -0.25], giver.public)
    with pytest.raises(noren.Error, match="flood=False"):
        ctx.reencrypt(x, key)
    y = ctx.reencrypt(x, key, flood=False)
    assert np.abs(ctx.decrypt(y, receiver.secret) - [0.5, -0.25]).max() < y.error_bound < 1e-5


def test_keys_without_special_primes_and_of_one_secret_are_refused() -> None:
    ctx = bfv.Context(bfv.Parameters(10, 65537, [40] * 3, [50], security=None))
    keys = ctx.keygen()
    with pytest.raises(noren.Error, match="which is the old one"):
        ctx.reencryption_key(keys.secret, keys.secret)
    plain = bfv.Context(bfv.Parameters(10, 65537, [40] * 3, security=None))
    old, new = (plain.keygen(relinearization=False).secret for _ in range(2))
    with pytest.raises(noren.Error, match="decrypt and encrypt anew"):
        plain.reencryption_key(old, new)
    with pytest.raises(noren.ParameterMismatchError):
        ctx.reencryption_key(keys.secret, new)
