"""Secret keys under a passphrase: what is on the disk, who opens it, and what is refused."""

import stat
from pathlib import Path

import pytest

import noren
from noren import bfv, ckks, tfhe

RIGHT = "correct horse battery staple"
AGE = b"age-encryption.org/v1\n-> scrypt "


def test_a_key_under_a_passphrase_is_opened_by_it_alone(keys: ckks.Keys, tmp_path: Path) -> None:
    path, clear = tmp_path / "secret.key", bytes(keys.secret)
    keys.secret.save(path, passphrase=RIGHT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    data = path.read_bytes()
    assert data.startswith(AGE)
    parts = (clear[i : i + 16] for i in range(len(clear) - 15))
    assert not any(part in data for part in parts if len(set(part)) > 1)
    assert bytes(ckks.SecretKey.load(path, passphrase=RIGHT, min_security=0)) == clear
    with pytest.raises(noren.WireError, match="pass passphrase="):
        ckks.SecretKey.load(path, min_security=0)
    with pytest.raises(noren.WireError, match="passphrase is wrong"):
        ckks.SecretKey.load(path, passphrase="correct horse", min_security=0)
    with pytest.raises(noren.WireError, match="found secret key with CKKS parameters"):
        tfhe.SecretKey.load(path, passphrase=RIGHT, min_security=0)
    with pytest.raises(noren.WireError):
        ckks.PublicKey.load(path, min_security=0)
    with pytest.raises(FileExistsError, match="force=True"):
        keys.secret.save(path, passphrase=RIGHT)
    for damaged in (data[:-1], data[:40], data + b"x", data.replace(b" 18\n", b" 40\n", 1)):
        path.write_bytes(damaged)
        with pytest.raises(noren.WireError):
            ckks.SecretKey.load(path, passphrase=RIGHT, min_security=0)
    assert [found.name for found in tmp_path.iterdir()] == ["secret.key"]


def test_a_passphrase_is_optional_and_not_empty(keys: ckks.Keys, tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    with pytest.raises(noren.WireError, match="passphrase is empty"):
        keys.secret.save(path, passphrase="")
    assert not path.exists()
    keys.secret.save(path)
    assert path.read_bytes() == bytes(keys.secret)
    for passphrase in (None, RIGHT):
        loaded = ckks.SecretKey.load(path, passphrase=passphrase, min_security=0)
        assert bytes(loaded) == bytes(keys.secret)
    with pytest.raises(TypeError):
        keys.public.save(path, passphrase=RIGHT)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        ckks.SecretKey.load(path, passphrase=b"bytes")  # type: ignore[arg-type]


def test_keys_of_other_schemes_take_passphrases_too(tmp_path: Path) -> None:
    integers = bfv.Context(bfv.Parameters(8, 257, [36] * 2, [36], security=None)).keygen().secret
    truths = tfhe.Context(tfhe.Parameters("TOY_BOOL")).keygen().secret
    for key in (integers, truths):
        path = tmp_path / type(key).__module__
        key.save(path, passphrase=RIGHT)
        assert path.read_bytes().startswith(AGE)
        assert bytes(type(key).load(path, passphrase=RIGHT, min_security=0)) == bytes(key)
