import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import World

import noren
from noren import ckks

KeyType = type[ckks.SecretKey] | type[ckks.PublicKey] | type[ckks.EvaluationKeys]
KEYS = [("secret", ckks.SecretKey), ("public", ckks.PublicKey), ("evaluation", ckks.EvaluationKeys)]


def test_ciphertexts_come_back_from_bytes(world: World) -> None:
    a = world.values()
    x = world.encrypt(a) * 0.5
    for data in (bytes(x), x.to_bytes(), x.to_bytes(packed=False)):
        back = ckks.Ciphertext.from_bytes(world.ctx, data)
        assert (back.level, back.slots, back.scale, back.magnitude) == (x.level, x.slots, x.scale, x.magnitude)
        assert back.error_bound == x.error_bound
        world.check(back, a / 2)
        assert bytes(back) == bytes(x)
    assert len(x.to_bytes(packed=False)) > len(bytes(x))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_everything_pickles(world: World, protocol: int) -> None:
    a = world.values()
    shared = noren.PicklableSecret(world.keys)
    objects: tuple[Any, ...] = (world.ctx, shared, world.ev, world.encrypt(a))
    ctx, shared, ev, x = pickle.loads(pickle.dumps(objects, protocol))
    keys = shared.value
    y = ctx.encrypt(a, keys.public, slots=8)
    product = ev.bind(x) * y
    assert np.abs(ctx.decrypt(product, keys.secret) - a * a).max() <= product.error_bound
    world.check(product, a * a)


def test_plaintexts_and_keys_pickle_to_the_same_bytes(world: World) -> None:
    for name, _ in KEYS:
        one = getattr(world.keys, name)
        if name == "secret":
            assert bytes(pickle.loads(pickle.dumps(noren.PicklableSecret(one))).value) == bytes(one)
        else:
            assert bytes(pickle.loads(pickle.dumps(one))) == bytes(one)
    plaintext = world.ctx.encode(world.values(), slots=8)
    assert bytes(pickle.loads(pickle.dumps(plaintext))) == bytes(plaintext)
    assert bytes(ckks.Plaintext.from_bytes(world.ctx, bytes(plaintext))) == bytes(plaintext)


@pytest.mark.parametrize(("name", "kind"), KEYS)
def test_keys_come_back_from_bytes_and_files(world: World, tmp_path: Path, name: str, kind: KeyType) -> None:
    key, path = getattr(world.keys, name), tmp_path / "key"
    assert bytes(kind.from_bytes(bytes(key), min_security=0)) == bytes(key)
    key.save(path)
    back = kind.load(path, min_security=0)
    assert bytes(back) == bytes(kind.load(str(path), min_security=0)) == path.read_bytes() == bytes(key)
    assert back.parameters == back.context.parameters == world.ctx.parameters
    if name == "secret":
        assert path.stat().st_mode & 0o777 == 0o600


def test_files_that_are_not_there(world: World, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        ckks.SecretKey.load(tmp_path / "none")
    assert Path(caught.value.filename) == tmp_path / "none"
    with pytest.raises(OSError, match="none"):
        world.keys.public.save(tmp_path / "none" / "key")


def test_bytes_of_another_kind_are_refused(world: World) -> None:
    secret, x = bytes(world.keys.secret), bytes(world.encrypt([1.0]))
    with pytest.raises(noren.WireError, match="secret key"):
        ckks.EvaluationKeys.from_bytes(secret)
    with pytest.raises(noren.WireError, match="secret key"):
        ckks.Ciphertext.from_bytes(world.ctx, secret)
    with pytest.raises(noren.WireError, match="ciphertext"):
        ckks.PublicKey.from_bytes(x)
    with pytest.raises(noren.WireError):
        ckks.Parameters.from_bytes(x)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data + b"\0",
        lambda data: data[:-70] + bytes([data[-70] ^ 1]) + data[-69:],
        lambda data: b"x" + data[1:],
        lambda data: bytes(len(data)),
    ],
    ids=["empty", "a byte less", "half", "a byte more", "a bit flipped", "signature", "zeros"],
)
def test_damaged_bytes_are_refused(world: World, damage: Callable[[bytes], bytes]) -> None:
    x = bytes(world.encrypt([1.0]))
    with pytest.raises(noren.WireError):
        ckks.Ciphertext.from_bytes(world.ctx, damage(x))
    for kind, thing in [
        (ckks.EvaluationKeys, world.keys.evaluation),
        (ckks.SecretKey, world.keys.secret),
        (ckks.Parameters, world.ctx.parameters),
    ]:
        with pytest.raises(noren.WireError):
            kind.from_bytes(damage(bytes(thing)))  # type: ignore[attr-defined, call-overload]
