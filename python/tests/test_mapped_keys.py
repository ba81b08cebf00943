"""Keys as they lie in memory: files that processes map and share."""

import os
import pickle
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import World

import noren
from noren import bfv, bgv, bootstrapping, ckks, programs, tfhe

SEED = bytes(range(32))


@pytest.fixture(scope="module")
def lookup_keys() -> tuple[bfv.LookupKeys, bfv.SecretKey]:
    plan = bfv.LookupPlan(bfv.Parameters.for_lookups(log_n=9, security=None), domain=(16, 16))
    secret = bfv.Context(plan.parameters).keygen(seed=SEED).secret
    return plan.keygen(secret, seed=SEED), secret


@pytest.fixture(scope="module")
def boot_keys() -> bootstrapping.BootstrapKeys:
    params = bootstrapping.Parameters("toy")
    secret = ckks.Context(params.ckks).keygen(seed=SEED).secret
    return bootstrapping.BootstrapKeys.generate(params, secret, seed=SEED)


@pytest.fixture
def every_key(
    world: World, lookup_keys: tuple[bfv.LookupKeys, bfv.SecretKey], boot_keys: bootstrapping.BootstrapKeys
) -> dict[str, Any]:
    """Keys of every class that has an expanded form."""
    return {
        "ckks": world.keys.evaluation,
        "integers": lookup_keys[0].context.keygen(rotations=[1]).evaluation,
        "lookup": lookup_keys[0],
        "bootstrapping": boot_keys,
    }


def test_mapped_keys_are_the_keys(every_key: dict[str, Any], tmp_path: Path) -> None:
    for name, keys in every_key.items():
        path, compact = tmp_path / name, tmp_path / "compact"
        keys.save(path, expanded=True)
        with pytest.raises(FileExistsError, match="force=True"):
            keys.save(path, expanded=True)
        keys.save(path, expanded=True, force=True)
        first = path.read_bytes()
        for check in (True, False):
            mapped = type(keys).load(path, check=check, min_security=0)
            assert bytes(mapped) == bytes(keys)
            assert (mapped.nbytes, mapped.owner) == (keys.nbytes, keys.owner)
        mapped.save(compact, force=True)
        assert compact.read_bytes() == bytes(keys)
        # A file is replaced under its name: what is mapped stays what it was.
        mapped.save(path, expanded=True, force=True)
        assert path.read_bytes() == first
        assert bytes(mapped) == bytes(keys)
        if name != "bootstrapping":
            assert bytes(pickle.loads(pickle.dumps(mapped))) == bytes(keys)
        with pytest.raises(noren.InsecureError):
            type(keys).load(path)


def test_bootstrapping_keys_are_expanded_from_file_to_file(
    boot_keys: bootstrapping.BootstrapKeys, tmp_path: Path
) -> None:
    source, path, other = (tmp_path / name for name in ("source", "path", "other"))
    boot_keys.save(source)
    with pytest.raises(noren.InsecureError):
        bootstrapping.BootstrapKeys.expand(source, path)
    assert not path.exists()
    heard: list[tuple[int, int]] = []
    expand = partial(bootstrapping.BootstrapKeys.expand, min_security=0)
    assert expand(source, path, progress=lambda done, of: heard.append((done, of))) == path.stat().st_size
    assert heard[-1][0] == heard[-1][1] == len(heard)
    with pytest.raises(FileExistsError, match="force=True"):
        expand(source, path)
    expand(source, path, force=True)
    boot_keys.save(other, expanded=True)
    assert path.read_bytes() == other.read_bytes()
    with pytest.raises(noren.WireError):
        expand(path, other, force=True)


def test_results_with_mapped_keys_are_the_same(
    world: World, lookup_keys: tuple[bfv.LookupKeys, bfv.SecretKey], tmp_path: Path
) -> None:
    world.keys.evaluation.save(tmp_path / "ckks", expanded=True)
    mapped = ckks.EvaluationKeys.load(tmp_path / "ckks", min_security=0)
    x = world.encrypt([1.0, 2.0, 3.0])
    results = [[ev.mul(x, x), ev.rotate(x, 1)] for ev in map(world.ctx.evaluator, (world.keys.evaluation, mapped))]
    assert [bytes(y) for y in results[0]] == [bytes(y) for y in results[1]]

    keys, secret = lookup_keys
    ctx = keys.context
    keys.save(tmp_path / "lookup", expanded=True)
    found = bfv.LookupKeys.load(tmp_path / "lookup", min_security=0)
    matrix = bfv.Lookup(lambda x, y: (x * x + 3 * y) % 97, domain=(16, 16)).prepare(ctx)
    line = bfv.Lookup(lambda x, y: x + y, domain=(16, 16)).prepare(ctx)
    operands = [
        ctx.encrypt(keys.plan.spread([3, 5], axis=axis), secret, seed=SEED[axis:] + SEED[:axis]) for axis in (0, 1)
    ]
    for function in (matrix, line):
        a, b = (bytes(function(ctx.evaluator(k.evaluation), *operands, keys=k)) for k in (keys, found))
        assert a == b


@pytest.mark.parametrize("scheme", [bfv, bgv])
def test_results_of_mapped_keys_that_change_are_refused(scheme: ModuleType, world: World, tmp_path: Path) -> None:
    ctx = scheme.Context(scheme.Parameters(log_n=8, plaintext_modulus=7681, log_q=[45] * 3, log_p=[45], security=None))
    keys = ctx.keygen(rotations=[1, 2])
    keys.evaluation.save(tmp_path / "integers", expanded=True)
    world.keys.evaluation.save(tmp_path / "ckks", expanded=True)
    mapped = scheme.EvaluationKeys.load(tmp_path / "integers", min_security=0)
    reals = ckks.EvaluationKeys.load(tmp_path / "ckks", min_security=0)
    x, ev = ctx.encrypt([1, 2, 3], keys.public), ctx.evaluator(mapped)
    y, real = world.encrypt([1.0, 2.0]), world.ctx.evaluator(reals)
    calls: list[Callable[[], object]] = [
        lambda: ev.mul(x, x),
        lambda: ev.rotate(x, 1),
        lambda: bytes(mapped),
        lambda: pickle.dumps(mapped),
        lambda: mapped.save(tmp_path / "again"),
        lambda: mapped.save(tmp_path / "again", expanded=True),
        lambda: real.mul(y, y),
        lambda: real.rotate(y, 1),
    ]
    for call in calls[:4] + calls[6:]:
        call()
    # Times of files have a resolution of some milliseconds.
    time.sleep(0.02)
    for name in ("integers", "ckks"):
        os.truncate(tmp_path / name, 4096)
    for call in calls:
        with pytest.raises(noren.WireError, match="changed"):
            call()
    assert not (tmp_path / "again").exists()


def test_damaged_files_of_mapped_keys_are_refused(every_key: dict[str, Any], tmp_path: Path) -> None:
    for name, keys in every_key.items():
        keys.save(tmp_path / name, expanded=True)
    for name, keys in every_key.items():
        whole = (tmp_path / name).read_bytes()
        at = len(whole) - 4096
        flipped = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        for count, damaged in enumerate((whole[:at], whole[:95], flipped, whole + bytes(64))):
            path = tmp_path / f"{name}-{count}"
            path.write_bytes(damaged)
            with pytest.raises((noren.WireError, OSError)):
                type(keys).load(path, min_security=0)
        # Only the digest finds a residue that stays below its prime.
        path = tmp_path / f"{name}-2"
        type(keys).load(path, check=False, min_security=0)
        for other in every_key.keys() - {name}:
            with pytest.raises(noren.WireError):
                type(keys).load(tmp_path / other, min_security=0)
        with pytest.raises(noren.WireError):
            type(keys).from_bytes(whole, min_security=0)


@pytest.mark.skipif(platform.system() != "Linux", reason="reads /proc")
def test_mapped_keys_take_no_memory_of_the_process(tmp_path: Path) -> None:
    def anonymous() -> int:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) << 10

    ctx = ckks.Context(ckks.Parameters(log_n=13, log_q=[50, 40, 40], log_p=[50], log_scale=40, security=None))
    keys = ctx.keygen(rotations=range(1, 24)).evaluation
    size = keys.nbytes
    assert size > 20 << 20
    keys.save(tmp_path / "keys", expanded=True)
    assert (tmp_path / "keys").stat().st_size == pytest.approx(size, rel=0.01)
    # The context is made and forgotten once before it is measured.
    ckks.EvaluationKeys.load(tmp_path / "keys", min_security=0)
    before = anonymous()
    mapped = [ckks.EvaluationKeys.load(tmp_path / "keys", min_security=0) for _ in range(2)]
    assert anonymous() - before < size / 4
    assert all(len(found) == len(keys) for found in mapped)


def test_owners_tell_whose_keys_and_ciphertexts_are(
    world: World, lookup_keys: tuple[bfv.LookupKeys, bfv.SecretKey]
) -> None:
    table = programs.encrypt_table([[1.0], [2.0]], world.keys.public)
    mine = world.keys
    own = {thing.owner for thing in (mine.secret, mine.public, mine.evaluation, world.encrypt([1.0]), table)}
    keys, secret = lookup_keys
    of_lookup = {thing.owner for thing in (keys, secret, keys.evaluation, keys.context.encrypt([1], secret))}
    bits = tfhe.Context(tfhe.Parameters("TOY_2_2"))
    made = bits.keygen(circuit=True)
    assert made.circuit is not None
    array = bits.encrypt(np.array([True]), made.secret)
    of_bits = {thing.owner for thing in (made.secret, made.server, made.circuit, array)}
    other = world.ctx.keygen().public
    assert other.owner[:8] in repr(other)
    owners = [*own, *of_lookup, *of_bits, other.owner]
    assert len(owners) == len(set(owners)) == 4
    assert all(len(owner) == 32 and int(owner, 16) >= 0 for owner in owners)
