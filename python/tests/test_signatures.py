"""Signed files: what a server or a stranger changes is seen."""

import os
import stat
from pathlib import Path

import pytest
from conftest import World

import noren


@pytest.fixture
def key() -> noren.SigningKey:
    return noren.SigningKey.generate()


@pytest.fixture
def result(world: World, tmp_path: Path) -> Path:
    """A ciphertext in a file."""
    path = tmp_path / "mean.ct"
    world.encrypt(world.values()).save(path)
    return path


def test_a_signed_file_is_verified_until_it_changes(key: noren.SigningKey, result: Path) -> None:
    place = noren.sign(result, key)
    assert place == result.with_name("mean.ct.minisig")
    assert "\tfile:mean.ct\thashed\tkind:CKKS ciphertext" in noren.verify(result, key.signer)
    data = result.read_bytes()
    for changed in (data[:-1] + bytes([data[-1] ^ 1]), data[:-1], data + b"x", b""):
        result.write_bytes(changed)
        with pytest.raises(noren.SignatureError, match="signature is not right"):
            noren.verify(result, key.signer)
    result.write_bytes(data)
    noren.verify(result, key.signer)


def test_signatures_of_others_are_refused(key: noren.SigningKey, result: Path, tmp_path: Path) -> None:
    with pytest.raises(noren.SignatureError, match="no signature"):
        noren.verify(result, key.signer)
    place = noren.sign(result, noren.SigningKey.generate())
    with pytest.raises(noren.SignatureError, match="signed by key"):
        noren.verify(result, key.signer)
    with pytest.raises(FileExistsError):
        noren.sign(result, key)
    noren.sign(result, key, force=True)
    other = tmp_path / "other.ct"
    result.rename(other)
    place.rename(tmp_path / "other.ct.minisig")
    with pytest.raises(noren.SignatureError, match=r"\"mean\.ct\""):
        noren.verify(other, key.signer)
    noren.verify(other, key.signer, any_name=True)
    place = tmp_path / "other.ct.minisig"
    place.write_bytes(b"x" * 100_000)
    with pytest.raises(OSError, match="100000 bytes"):
        noren.verify(other, key.signer)
    place.write_bytes(b"not a signature\n")
    with pytest.raises(noren.WireError):
        noren.verify(other, key.signer)
    if hasattr(os, "mkfifo"):
        place.unlink()
        os.mkfifo(place)
        with pytest.raises(OSError, match="FIFO"):
            noren.verify(other, key.signer)
    with pytest.raises(FileNotFoundError):
        noren.verify(tmp_path / "missing", key.signer)


def test_a_signature_says_what_a_file_is_for(key: noren.SigningKey, world: World, result: Path) -> None:
    noren.sign(result, key)
    owner = world.keys.public.owner
    assert noren.verify(result, key.signer).endswith(f"\tkind:CKKS ciphertext\towner:{owner}")
    noren.verify(result, key.signer, kind="CKKS ciphertext", owner=owner)
    with pytest.raises(noren.SignatureError, match="another kind: found CKKS ciphertext, needed: encrypted table"):
        noren.verify(result, key.signer, kind="encrypted table")
    with pytest.raises(noren.SignatureError, match=f"another owner: found {owner}"):
        noren.verify(result, key.signer, owner="0" * 32)
    with pytest.raises(ValueError, match="needed one of parameters"):
        noren.verify(result, key.signer, kind="table")
    with pytest.raises(ValueError, match="32 hexadecimal digits"):
        noren.verify(result, key.signer, owner=owner[:8])
    # Parameters belong to nobody, and a secret key to itself.
    parameters = result.with_name("some.params")
    parameters.write_bytes(bytes(world.keys.secret.parameters))
    noren.sign(parameters, key)
    assert noren.verify(parameters, key.signer, owner=owner).endswith("\towner:none")
    secret = result.with_name("secret.key")
    world.keys.secret.save(secret)
    noren.sign(secret, key)
    assert noren.verify(secret, key.signer, owner=owner).endswith(f"\towner:{owner}")
    with pytest.raises(noren.SignatureError, match="another owner"):
        noren.verify(secret, key.signer, owner="0" * 32)


def test_keys_of_signers_are_files(key: noren.SigningKey, result: Path, tmp_path: Path) -> None:
    path, public = tmp_path / "signing.key", tmp_path / "signing.pub"
    key.save(path, passphrase="of the signer")
    key.signer.save(public)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(noren.WireError, match="pass passphrase="):
        noren.SigningKey.load(path)
    with pytest.raises(noren.WireError, match="passphrase is wrong"):
        noren.SigningKey.load(path, passphrase="of another")
    loaded = noren.SigningKey.load(path, passphrase="of the signer")
    with pytest.raises(FileExistsError):
        key.save(path)
    noren.sign(result, loaded)
    signer = noren.Signer.load(public)
    assert signer == key.signer == loaded.signer != noren.SigningKey.generate().signer
    noren.verify(result, signer)
    assert str(signer) in public.read_text()
    with pytest.raises(noren.WireError):
        noren.Signer.load(path)
    with pytest.raises(noren.WireError):
        noren.SigningKey.load(public)
    with pytest.raises(TypeError):
        hash(signer)
