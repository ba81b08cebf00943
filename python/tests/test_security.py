"""Parameters that promise too little security: refused from outside, and warned of where they are used."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import small_parameters

import noren
from noren import bfv, bgv, bootstrapping, ckks, tfhe


@pytest.fixture(scope="module")
def weak() -> dict[str, Any]:
    """A key of every class, of small rings."""
    vectors = ckks.Context(small_parameters()).keygen()
    params = bfv.Parameters.for_lookups(log_n=9, security=None)
    integers = bfv.Context(params).keygen()
    single = tfhe.Context(tfhe.Parameters("TOY_2_2")).keygen(circuit=True)
    toy = bootstrapping.Parameters("toy")
    return {
        "ckks secret": vectors.secret,
        "ckks public": vectors.public,
        "ckks evaluation": vectors.evaluation,
        "integer secret": integers.secret,
        "integer public": integers.public,
        "integer evaluation": integers.evaluation,
        "lookup": bfv.LookupPlan(params, domain=(16, 16)).keygen(integers.secret),
        "tfhe secret": single.secret,
        "tfhe server": single.server,
        "tfhe circuit": single.circuit,
        "bootstrapping": bootstrapping.BootstrapKeys.generate(toy, ckks.Context(toy.ckks).keygen().secret),
    }


def test_keys_from_outside_must_promise_security(weak: dict[str, Any], tmp_path: Path) -> None:
    for name, key in weak.items():
        path = tmp_path / name
        key.save(path)
        for read, named in ((type(key).load, path), (type(key).from_bytes, path.read_bytes())):
            for asked in ({}, {"min_security": 128}, {"min_security": 1}):
                with pytest.raises(noren.InsecureError, match="promise no security") as caught:
                    read(named, **asked)
                assert "min_security=0" in str(caught.value)
                assert str(path if isinstance(named, Path) else "the bytes") in str(caught.value)
            with pytest.warns(noren.SecurityWarning, match="no security"):
                again = read(named, min_security=0)
            assert bytes(again) == bytes(key)


def test_expanded_keys_must_promise_security(weak: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "expanded"
    tfhe.ExpandedServerKeys.write(path, weak["tfhe server"])
    with pytest.raises(noren.InsecureError, match="min_security=0"):
        tfhe.ExpandedServerKeys.load(path)
    with pytest.warns(noren.SecurityWarning):
        tfhe.ExpandedServerKeys.load(path, min_security=0)


def test_contexts_and_keys_without_security_are_warned_of(weak: dict[str, Any]) -> None:
    integers = weak["integer secret"].parameters
    makers: list[Callable[[], Any]] = [
        lambda: ckks.Context(small_parameters()),
        lambda: bfv.Context(integers),
        lambda: bgv.Context(integers),
        lambda: tfhe.Context(tfhe.Parameters("TOY_2_2")),
        lambda: ckks.Context(bootstrapping.Parameters("toy").ckks),
    ]
    for make in makers:
        with pytest.warns(noren.SecurityWarning, match="Context: these parameters promise no security") as heard:
            context = make()
        # The line that makes the context is named, so that Python shows each line once.
        assert Path(heard[0].filename).name == "test_security.py"
        with pytest.warns(noren.SecurityWarning, match="keygen"):
            context.keygen()
        with warnings.catch_warnings():
            warnings.simplefilter("error", noren.SecurityWarning)
            with pytest.raises(noren.SecurityWarning):
                make()
    assert issubclass(noren.SecurityWarning, UserWarning)


def test_secure_parameters_are_used_without_a_word(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        keys = ckks.Context(ckks.Parameters(13, [48, 38, 38], [50])).keygen()
        keys.secret.save(tmp_path / "secret.key")
        secret = ckks.SecretKey.load(tmp_path / "secret.key")
    with pytest.raises(noren.InsecureError, match=r"128-bit security, 192 bits are needed.*min_security=128"):
        ckks.SecretKey.load(tmp_path / "secret.key", min_security=192)
    assert bytes(ckks.SecretKey.from_bytes(bytes(secret), min_security=128)) == bytes(keys.secret)


def test_compiled_functions_without_security_warn_where_keys_are_made_and_used() -> None:
    f = noren.compile(lambda x: x + 1, noren.Input(2, 0, 3), security=None)
    with pytest.warns(noren.SecurityWarning, match="keygen"):
        keys = f.client.keygen()
    with pytest.warns(noren.SecurityWarning, match="Server"):
        f.server.run(f.client.encrypt([1, 2]), keys)
