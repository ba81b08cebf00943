"""Digests of programs and of inputs of `noren.cluster`: what changes a result changes them; and files of results."""

import errno
import functools
import importlib
import operator
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

from noren import ckks
from noren.cluster import ClusterError, ResultError
from noren.cluster._digest import inspected, packed, unpacked
from noren.cluster._store import ResultStore


def digest_of_program(program: Callable[..., Any], version: object = None) -> str:
    return inspected(program, version).digest


def made(source: str, **names: Any) -> Callable[..., Any]:
    """Return `f` of a source, as of a module of its own."""
    module = types.ModuleType("__main__")
    vars(module).update(names)
    exec(source, vars(module))
    found: Callable[..., Any] = vars(module)["f"]
    return found


def test_equal_programs_have_equal_digests() -> None:
    source = "def g(x):\n    return {1, 2, 'a', 'b'}, x\ndef f(ev, x):\n    return g(x)"
    assert digest_of_program(made(source)) == digest_of_program(made(source))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f = lambda ev, x: x + 1", "f = lambda ev, x: x + 2"),
        ("f = lambda ev, x: x + 1", "f = lambda ev, x: x - 1"),
        ("f = lambda ev, x: ev.square(x)", "f = lambda ev, x: ev.negate(x)"),
        ("f = lambda ev, x, y=1: x", "f = lambda ev, x, y=2: x"),
        ("f = lambda ev, x: x if ev else {1: 2}", "f = lambda ev, x: x if ev else {1: 3}"),
        ("def g(): return 1\ndef f(ev, x): return g()", "def g(): return 2\ndef f(ev, x): return g()"),
        ("c = [1, 2]\ndef f(ev, x): return c", "c = [1, 3]\ndef f(ev, x): return c"),
        ("def f(ev, x): return [i for i in x if i > 1]", "def f(ev, x): return [i for i in x if i > 2]"),
        (
            "class C:\n  def g(self): return 1\ndef f(ev, x): return C().g()",
            "class C:\n  def g(self): return 2\ndef f(ev, x): return C().g()",
        ),
        ("def h(n):\n  return lambda ev, x: n\nf = h(1)", "def h(n):\n  return lambda ev, x: n\nf = h(True)"),
        ("def h(n):\n  return lambda ev, x: n\nf = h([1, 2])", "def h(n):\n  return lambda ev, x: n\nf = h((1, 2))"),
    ],
)
def test_other_programs_have_other_digests(one: str, other: str) -> None:
    assert digest_of_program(made(one)) != digest_of_program(made(other))


def test_captured_values_count() -> None:
    source = "def f(ev, x): return c"
    digests = [
        digest_of_program(made(source, c=c))
        for c in (np.zeros(4), np.zeros(5), np.zeros(4, dtype=np.float32), np.ones(4), np.zeros((2, 2)))
    ]
    assert len(set(digests)) == len(digests)
    ctx = ckks.Context(ckks.Parameters(log_n=5, log_q=[50], log_p=[50], security=None))
    keys = ctx.keygen()
    x, y = ctx.encrypt([1.0], keys.public), ctx.encrypt([1.0], keys.public)
    assert digest_of_program(made(source, c=x)) == digest_of_program(made(source, c=x))
    assert digest_of_program(made(source, c=x)) != digest_of_program(made(source, c=y))
    assert digest_of_program(made(source), version=1) != digest_of_program(made(source), version=2)
    assert digest_of_program(functools.partial(pow, 2)) != digest_of_program(functools.partial(pow, 3))
    sets = [digest_of_program(made(source, c=c)) for c in ({"a", "b"}, {"b", "a"}, {"a", "c"})]
    assert sets[0] == sets[1] != sets[2]


def test_what_installed_modules_make_is_told_apart() -> None:
    def text(source: str) -> str:
        names: dict[str, Any] = {}
        # Without a name of a module, as in a document: functions say that they are of `builtins`.
        exec(source, names)
        return digest_of_program(names["f"])

    assert text("f = lambda ev, x: x + 1") != text("f = lambda ev, x: x + 2")
    assert text("f = lambda ev, x: x + 1") == text("f = lambda ev, x: x + 1")
    # Closures of an installed module, which have one name.
    first, second = (np.vectorize(lambda x, n=n: x + n) for n in (1, 2))
    assert digest_of_program(first) != digest_of_program(second)
    assert digest_of_program(operator.itemgetter(1)) != digest_of_program(operator.itemgetter(2))
    assert digest_of_program(functools.lru_cache(max)) == digest_of_program(functools.lru_cache(max))


def test_what_is_pickled_as_a_name_counts_with_its_contents() -> None:
    source = "import functools\n@functools.lru_cache\ndef g(x): return {}\ndef f(ev, x): return g(x)"
    assert digest_of_program(made(source.format(1))) != digest_of_program(made(source.format(2)))
    source = "def f(ev, x): return 1\nf.factor = {}"
    assert digest_of_program(made(source.format(1))) != digest_of_program(made(source.format(2)))
    assert digest_of_program(np.add) != digest_of_program(np.multiply)
    with pytest.raises(ClusterError, match="cannot be told from others'"):
        digest_of_program(made("def f(ev, x): return c(x)", c=np.frompyfunc(lambda x: x + 1, 1, 1)))


def test_the_source_of_a_module_counts_and_the_contents_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source = "def f(ev, x): return helper.g(x)"
    digests = []
    for value in (1, 2):
        (tmp_path / "helper.py").write_text(f"def g(x): return {value}")
        module = types.ModuleType("helper")
        module.__file__ = str(tmp_path / "helper.py")
        monkeypatch.setitem(sys.modules, "helper", module)
        digests.append(digest_of_program(made(source, helper=module)))
    assert digests[0] != digests[1]
    data = tmp_path / "data"
    files = []
    for contents in ("one", "two"):
        data.write_text(contents)
        files.append(digest_of_program(made("def f(ev, x): return c", c=data)))
    assert files[0] != files[1]
    directory = digest_of_program(made("def f(ev, x): return c", c=tmp_path))
    assert directory == digest_of_program(made("def f(ev, x): return c", c=tmp_path))


@pytest.mark.parametrize("program", ["return package.inner.g(x)", "import package.inner as p; return p.g(x)"])
def test_modules_of_modules_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from package import inner")
    (tmp_path / "package" / "inner.py").write_text(
        "import beside\nfrom other import h\ndef g(x): return h(x), beside.k"
    )
    (tmp_path / "other.py").write_text("def h(x): return 1")
    (tmp_path / "beside.py").write_text("k = 1")
    monkeypatch.syspath_prepend(tmp_path)
    names = ["package", "package.inner", "other", "beside"]
    digests = []
    for changed in [None, "package/inner.py", "other.py", "beside.py"]:
        if changed:
            (tmp_path / changed).write_text((tmp_path / changed).read_text() + "\n# changed")
        for name in names:
            monkeypatch.delitem(sys.modules, name, raising=False)
        package = importlib.import_module("package")
        digests.append(digest_of_program(made(f"def f(ev, x): {program}", package=package)))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert len(set(digests)) == len(digests)


def test_digests_are_those_of_another_process() -> None:
    program = "lambda ev, x: (x, {'a', 'b', 'c', 'd'}, np.arange(3), 'e' in {'e', 'f', 'g'})"
    source = f"import numpy as np\nfrom noren.cluster._digest import inspected\nprint(inspected({program}).digest)"
    found = {
        subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    }
    assert len(found) == 1


def test_what_cannot_be_seen_into_is_refused() -> None:
    import threading

    with pytest.raises(ClusterError, match="whose contents cannot be told from others'"):
        digest_of_program(made("def f(ev, x): return c", c=threading.Lock()))


def test_items_are_packed_with_the_contents_of_their_files(tmp_path: Path) -> None:
    path = tmp_path / "item"
    path.write_text("one")
    first = packed((path, [1, 2]))
    assert unpacked(first) == (path, [1, 2])
    path.write_text("two")
    assert packed((path, [1, 2])) != first
    with pytest.raises(FileNotFoundError):
        packed(tmp_path / "none")


def test_a_result_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ResultStore(tmp_path / "results")
    store.prepare()
    digest = "ab" * 32
    assert not store.has(digest)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(
            ResultError, match=r"5 bytes cannot be written to .*No space left on device.*start the job again"
        ):
            store.write(digest, b"value")
    assert not store.has(digest)
    assert not [path for path in store.directory.rglob("*") if path.is_file()]
    store.write(digest, b"value")
    assert store.read(digest) == b"value"
    assert [path.name for path in store.directory.rglob("*") if path.is_file()] == [digest]


@pytest.mark.parametrize("change", ["cut", "grown", "flipped", "emptied"])
def test_a_result_that_was_damaged_is_not_given(tmp_path: Path, change: str) -> None:
    store = ResultStore(tmp_path / "results")
    store.prepare()
    digest = "cd" * 32
    store.write(digest, b"value" * 100)
    path = store.path(digest)
    data = path.read_bytes()
    flipped = bytes([*data[:-1], data[-1] ^ 1])
    path.write_bytes({"cut": data[:-1], "grown": data + b"x", "flipped": flipped, "emptied": b""}[change])
    # A length that is wrong is seen at once, so that the task is run again.
    assert store.has(digest) == (change == "flipped")
    with pytest.raises(ResultError, match="is damaged and was renamed"):
        store.read(digest)
    assert not store.has(digest)
