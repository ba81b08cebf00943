"""Arguments of compiled functions, their ranges and their files: what is refused says what is needed."""

import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import saved_at_once

import noren
from noren import Input, _files, compiler


def identity(x: Any) -> Any:
    return x + 1


@pytest.mark.parametrize(
    ("example", "ranges", "error", "words"),
    [
        (Input(3, float("nan"), 1.0), None, noren.RangeError, "'x' has a range with an end nan: give finite"),
        (Input(3, 0.0, float("inf")), None, noren.RangeError, "an end inf: give finite"),
        (Input(3, 2.0, 1.0), None, noren.RangeError, r"\[2, 1\]: give its lower end first"),
        (Input(3, 0, 2**53 + 1), None, noren.RangeError, "9007199254740993: integers up to 2"),
        (Input((-1,), 0.0, 1.0), None, noren.EncodingError, r"shape \(-1,\): give each axis one element"),
        (Input((2, 0), 0.0, 1.0), None, noren.EncodingError, r"shape \(2, 0\)"),
        (Input("3", 0.0, 1.0), None, noren.EncodingError, "a tuple of whole numbers"),  # type: ignore[arg-type]
        (np.zeros(0), "data", noren.EncodingError, r"argument 0 has the shape \(0,\), without an element"),
        (np.zeros(3), "date", noren.EncodingError, "ranges='date': give a pair"),
        (np.zeros(3), [3], noren.EncodingError, r"argument 0 is 3: a pair \(low, high\)"),
        (np.zeros(3), np.zeros((2, 2)), noren.EncodingError, "2 ranges for 1 arguments"),
        (np.ma.array([1, 2], mask=[False, True]), "data", noren.EncodingError, "masked values: fill them"),
    ],
)
def test_ranges_and_shapes_that_cannot_be_are_named(
    example: Any, ranges: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        noren.compile(identity, example, ranges=ranges, security=None)


def test_ranges_are_pairs_or_an_array_of_them() -> None:
    for ranges in ([(0.0, 1.0)], np.array([[0.0, 1.0]])):
        f = noren.compile(identity, np.zeros(3), ranges=ranges, security=None)  # type: ignore[arg-type]
        with pytest.raises(noren.Error, match="declared range"):
            f.simulate([0, 0, 1.5])


def test_numbers_between_whole_ones_are_real_where_they_may_have_errors() -> None:
    whole = Input(3, 0, 9)
    for options in ({"precision": 1e-2}, {"dead_zone": 0.5}):
        f = noren.compile(lambda x: x * x, whole, **options, security=None)  # type: ignore[arg-type]
        assert f.scheme == "ckks"
        assert np.abs(f.simulate([0.5, 3, 9]) - np.array([0.25, 9, 81])).max() <= f.precision
    assert noren.compile(lambda x: x * x, whole, security=None).scheme in ("bgv", "bfv")
    integers = noren.compile(lambda x: x * x, Input(3, 0, 9, dtype=int), precision=1e-2, security=None)
    assert integers.scheme in ("bgv", "bfv")


def test_means_and_medians_of_integers_are_exact() -> None:
    x = np.array([7, 255, 0, 31, 12, 90])
    for function in (np.mean, lambda x: np.median(x[:4]), lambda x: 1 - x[:5].mean(keepdims=True) / 4):
        f = noren.compile(function, Input(6, 0, 255), security=None)
        assert f.scheme in ("bgv", "bfv", "tfhe")
        keys = f.client.keygen()
        for found, bound in (
            f.client.decrypt(f.server.run(f.client.encrypt(x), keys), bound=True),
            f.simulate(x, bound=True),
        ):
            assert np.abs(found - function(x)).max() <= bound <= 1e-12


def test_arguments_that_would_be_encrypted_otherwise_are_refused() -> None:
    f = noren.compile(lambda x: np.where(x > 0, 1, 0), Input(2, 0, 2**53), security=None)
    f.client.keygen(seed=bytes(32))
    with pytest.raises(noren.EncodingError, match="'x' has the integer 9007199254740993"):
        f.client.encrypt([0, 2**53 + 1])
    with pytest.raises(noren.EncodingError, match="what the mask hides"):
        f.client.encrypt(np.ma.array([1, 2], mask=[False, True]))
    assert f.client.encrypt(np.ma.array([1, 2])) != f.client.encrypt(np.array([2**53, 0]))
    tables: list[Any] = [np.ma.array([1, 2], mask=[False, True]), [0.5, "a"]]
    for values in tables:
        with pytest.raises(noren.EncodingError, match="a table"):
            compiler.table(values, np.array([0]))


READERS: list[Callable[[Path], Any]] = [
    compiler.Compiled.load,
    compiler.Client.load,
    compiler.Server.load,
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_files_are_regular(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "directory").mkdir()
    for read in READERS:
        for name, found in (("fifo", "FIFO"), ("zero", "a device"), ("directory", "a directory")):
            with pytest.raises(OSError, match=found):
                read(tmp_path / name)
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "missing")


def no_links(_path: Path, _target: Path) -> None:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("links", [True, False])
def test_files_replace_nothing_unless_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    path = tmp_path / "keys"
    _files.write(path, b"first", force=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError, match="force=True"):
        _files.write(path, b"second", force=False)
    assert path.read_bytes() == b"first"
    _files.write(path, b"third", force=True)
    assert path.read_bytes() == b"third"
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(FileExistsError, match="force=True"):
        _files.write(tmp_path / "link", b"fourth", force=False)
    assert (tmp_path / "link").is_symlink()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["keys", "link"]


@pytest.mark.parametrize("links", [True, False])
def test_of_files_written_at_once_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    for turn in range(10):
        path = tmp_path / str(turn)
        won = saved_at_once([partial(_files.write, path, bytes([at]) * 1000, force=False) for at in range(4)])
        assert len(won) == 1
        assert path.read_bytes() == bytes(won) * 1000
    assert len(list(tmp_path.iterdir())) == 10


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space"):
        _files.write(tmp_path / "file", b"data", force=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scheme", ["ckks", "bgv", "bfv"])
def test_arguments_that_stay_at_the_server_are_encrypted_once(scheme: Any) -> None:
    T, q = np.arange(24).reshape(6, 4) % 7, np.array([1, 0, 3, 2])  # noqa: N806
    element = float if scheme == "ckks" else int
    examples = (noren.Input(T.shape, 0, 6, element), noren.Input(q.shape, 0, 3, element))
    compiled = noren.compile(lambda T, q: T @ q, *examples, scheme=scheme, security=None)  # noqa: N803
    client, server, keys = compiled.client, compiled.server, compiled.client.keygen()
    table = client.encrypt(T, None)
    for query in (q, q[::-1]):
        found = client.decrypt(server.run([table, client.encrypt(None, query)], keys))
        assert np.abs(found - T @ query).max() < 0.1
    assert np.abs(client.decrypt(server.run(client.encrypt(T, q), keys)) - T @ q).max() < 0.1
    with pytest.raises(noren.Error, match=r"none for .q."):
        server.run(table, keys)
    with pytest.raises(noren.Error, match="one in two requests"):
        server.run([table, table, client.encrypt(None, q)], keys)
    with pytest.raises(noren.Error, match="given"):
        client.encrypt(None, None)
    with pytest.raises(noren.Error, match="input 'q' is None"):
        compiled.simulate(T, None)  # type: ignore[arg-type]
