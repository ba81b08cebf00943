"""Files: which are replaced, and what is read as one."""

import os
import socket
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import World, saved_at_once

from noren import bfv, bootstrapping, ckks, programs, tfhe


@pytest.fixture(scope="module")
def lookup_keys() -> bfv.LookupKeys:
    plan = bfv.LookupPlan(bfv.Parameters.for_lookups(log_n=9, security=None), domain=(16, 16))
    return plan.keygen(bfv.Context(plan.parameters).keygen().secret)


@pytest.fixture(scope="module")
def tfhe_keys() -> tfhe.Keys:
    return tfhe.Context(tfhe.Parameters("TOY_2_2")).keygen(circuit=True)


@pytest.fixture
def every_key(world: World, lookup_keys: bfv.LookupKeys, tfhe_keys: tfhe.Keys) -> dict[str, Any]:
    """A key of every class."""
    integers = lookup_keys.context.keygen()
    return {
        "ckks secret": world.keys.secret,
        "ckks public": world.keys.public,
        "ckks evaluation": world.keys.evaluation,
        "integer secret": integers.secret,
        "integer public": integers.public,
        "integer evaluation": integers.evaluation,
        "lookup": lookup_keys,
        "tfhe secret": tfhe_keys.secret,
        "tfhe server": tfhe_keys.server,
        "tfhe circuit": tfhe_keys.circuit,
    }


def test_keys_replace_no_file_unless_they_are_forced_to(every_key: dict[str, Any], tmp_path: Path) -> None:
    for name, key in every_key.items():
        path = tmp_path / name
        path.write_bytes(b"dear")
        with pytest.raises(FileExistsError, match="force=True") as caught:
            key.save(path)
        assert Path(caught.value.filename) == path
        assert path.read_bytes() == b"dear"
        key.save(path, force=True)
        assert path.read_bytes() == bytes(key)
        with pytest.raises(TypeError):
            key.save(path, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(every_key)


def test_secret_keys_are_for_their_owner_whatever_was_there(every_key: dict[str, Any], tmp_path: Path) -> None:
    for name in (name for name in every_key if name.endswith("secret")):
        path = tmp_path / name
        path.write_bytes(b"old")
        path.chmod(0o666)
        every_key[name].save(path, force=True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_of_threads_that_save_at_once_one_succeeds(world: World, tmp_path: Path) -> None:
    for path in (tmp_path / str(turn) for turn in range(10)):
        won = saved_at_once([partial(world.keys.secret.save, path)] * 4)
        assert len(won) == 1


def test_large_key_files_replace_nothing_unless_they_are_forced_to(tfhe_keys: tfhe.Keys, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_bytes(b"dear")
    with pytest.raises(FileExistsError, match="force=True"):
        tfhe.ExpandedServerKeys.write(path, tfhe_keys.server)
    params = bootstrapping.Parameters("toy")
    secret = ckks.Context(params.ckks).keygen().secret
    with pytest.raises(FileExistsError, match="force=True"):
        bootstrapping.BootstrapKeys.generate_file(path, params, secret)
    assert path.read_bytes() == b"dear"
    assert tfhe.ExpandedServerKeys.write(path, tfhe_keys.server, force=True) == path.stat().st_size
    assert bootstrapping.BootstrapKeys.generate_file(path, params, secret, force=True) == path.stat().st_size
    boot_keys = bootstrapping.BootstrapKeys.load(path, min_security=0)
    with pytest.raises(FileExistsError, match="force=True"):
        boot_keys.save(path)
    boot_keys.save(path, force=True)


def test_results_replace_those_of_before(world: World, tmp_path: Path) -> None:
    x = world.encrypt([1.0, 2.0])
    table = programs.encrypt_table([[1.0], [2.0]], world.keys.public)
    array = tfhe.Context(tfhe.Parameters("TOY_2_2"))
    for thing in (x, table, array.encrypt(np.array([True]), array.keygen().secret)):
        path = tmp_path / "result"
        path.write_bytes(b"old")
        thing.save(path)
        assert path.stat().st_size > 100
    world.ctx.save(path, [x, x])


def test_what_is_no_regular_file_is_refused_by_its_type(
    world: World, lookup_keys: bfv.LookupKeys, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "directory").mkdir()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    ctx, tfhe_ctx = lookup_keys.context, tfhe.Context(tfhe.Parameters("TOY_2_2"))
    readers: list[Callable[[Path], object]] = [
        ckks.SecretKey.load,
        ckks.PublicKey.load,
        ckks.EvaluationKeys.load,
        bfv.SecretKey.load,
        bfv.LookupKeys.load,
        tfhe.SecretKey.load,
        tfhe.ServerKeys.load,
        tfhe.ExpandedServerKeys.load,
        bootstrapping.BootstrapKeys.load,
        world.ctx.load,
        ctx.load,
        lambda path: ckks.Ciphertext.load(world.ctx, path),
        lambda path: bfv.Ciphertext.load(ctx, path),
        lambda path: programs.EncryptedTable.load(world.ctx, path),
        lambda path: tfhe.EncryptedArray.load(tfhe_ctx, path),
        lambda path: bfv.PreparedLookup.load(ctx, path),
        bfv.Lookup,
    ]
    for name, found in (("fifo", "FIFO"), ("zero", "device"), ("directory", "a directory"), ("socket", "a socket")):
        for read in readers:
            with pytest.raises(OSError, match=found):
                read(tmp_path / name)
    listener.close()
