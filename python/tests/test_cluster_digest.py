"""Digests of programs and of inputs of `noren.cluster`: what changes a result changes them; and files of results."""

import errno
import functools
import importlib
import operator
import re
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

from ray import cloudpickle

from noren import ckks
from noren.cluster import ClusterError, ResultError
from noren.cluster._digest import packed, unpacked
from noren.cluster._hash import digest_of
from noren.cluster._program import _Walk, pickled_program
from noren.cluster._store import ResultStore


def digest_of_program(program: Callable[..., Any], version: object = None) -> str:
    walk = _Walk()
    walk.value((program, version))
    walk.release()
    return digest_of(*walk.parts)


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


def test_attributes_of_functions_count() -> None:
    source = "def f(ev, x): return 1\nf.factor = {}"
    assert digest_of_program(made(source.format(1))) != digest_of_program(made(source.format(2)))
    assert digest_of_program(np.add) != digest_of_program(np.multiply)


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("import functools\n@functools.lru_cache\ndef g(x): return 1\ndef f(ev, x): return g(x)", "cannot be told"),
        (
            "def f(ev, x):\n  import module_of_nobody\n  return module_of_nobody.g(x)",
            "import it at the top of its file",
        ),
        ("import threading\nlock = threading.Lock()\ndef f(ev, x): return lock", "cannot be told from others'"),
    ],
)
def test_what_workers_would_not_have_is_refused(source: str, needed: str) -> None:
    with pytest.raises(ClusterError, match=needed):
        pickled_program(made(source))
    with pytest.raises(ClusterError, match="cannot be told from others'"):
        pickled_program(made("def f(ev, x): return c(x)", c=np.frompyfunc(lambda x: x + 1, 1, 1)))


def test_a_value_of_a_module_that_cannot_travel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("module_with_a_lock")
    module.__dict__["guard"] = threading.Lock()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(ClusterError, match=r"module_with_a_lock.guard: .*from module_with_a_lock import"):
        pickled_program(made("def f(ev, x): return m", m=module))
    assert not cloudpickle.list_registry_pickle_by_value()  # type: ignore[no-untyped-call]


def test_a_program_runs_where_nothing_of_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "import base\nclass C:\n  k = 2\n  def g(self, x): return x * self.k + base.one()"
    )
    (tmp_path / "base.py").write_text("def one(): return 1")
    monkeypatch.syspath_prepend(tmp_path)
    mine = importlib.import_module("mine")
    program = pickled_program(made("def f(ev, x): return m.C().g(x)", m=mine))
    for name in ("mine", "base"):
        sys.modules.pop(name)
    load = "Loader().load(sys.stdin.buffer.read())(None, 20)"
    source = f"import sys; from noren.cluster._program import Loader; print({load})"
    done = subprocess.run(
        [sys.executable, "-c", source], input=program.pickled, capture_output=True, check=True, cwd="/"
    )
    assert done.stdout.strip() == b"41"


def test_equal_contents_of_other_kinds_are_told_apart() -> None:
    x = np.arange(6.0).reshape(2, 3)
    values = [x, np.asfortranarray(x), re.compile("a"), (re.Pattern, (re._compile, ("a", 32)))]  # type: ignore[attr-defined]
    digests = [digest_of_program(made("def f(ev, x): return c", c=c)) for c in [*values, 10**5000, 10**5000 + 1]]
    assert len(set(digests)) == len(digests)


def test_files_count_with_their_contents(tmp_path: Path) -> None:
    data = tmp_path / "data"
    files = []
    for contents in ("one", "two"):
        data.write_text(contents)
        files.append(digest_of_program(made("def f(ev, x): return c", c=data)))
    assert files[0] != files[1]
    directory = digest_of_program(made("def f(ev, x): return c", c=tmp_path))
    assert directory == digest_of_program(made("def f(ev, x): return c", c=tmp_path))


SOURCES = {
    "package/__init__.py": "from package import inner",
    "package/inner.py": "import beside\nfrom other import h, c\nfrom named.space import n\n"
    "def g(x): return h(x), beside.k, c, n",
    "other.py": "def h(x): return 1\nc = 1",
    "beside.py": "k = 1",
    # A package without a file.
    "named/space.py": "def n(x): return 1",
}


def test_modules_of_modules_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    names = ["package", "package.inner", "other", "beside", "named", "named.space"]

    def digest(changed: str | None) -> str:
        for name, source in SOURCES.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(source.replace("1", "2") if name == changed else source)
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        package = importlib.import_module("package")
        found = digest_of_program(made("def f(ev, x): return package.inner.g(x)", package=package))
        for name in names:
            sys.modules.pop(name, None)
        return found

    assert digest(None) == digest(None)
    changed = [digest(name) for name in SOURCES if "1" in SOURCES[name]]
    assert len({digest(None), *changed}) == 1 + len(changed) == 4


def test_values_that_a_module_has_now_count(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("settings_of_a_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    digests = []
    for value in (1, 2, 1):
        module.__dict__["k"] = value
        digests.append(digest_of_program(made("def f(ev, x): return s.k", s=module)))
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("table = [1]", "table = [2]"),
        ("table = {1: {2}}", "table = {1: {3}}"),
        ("class D:\n    k = 1", "class D:\n    k = 2"),
        ("@property\n  def p(self): return 1", "@property\n  def p(self): return 2"),
        ("@staticmethod\n  def p(): return 1", "@staticmethod\n  def p(): return 2"),
    ],
)
def test_members_of_classes_count(one: str, other: str) -> None:
    source = "class C:\n  {}\ndef f(ev, x): return C()"
    assert digest_of_program(made(source.format(one))) == digest_of_program(made(source.format(one)))
    assert digest_of_program(made(source.format(one))) != digest_of_program(made(source.format(other)))


@pytest.mark.parametrize(
    "source",
    [
        "import typing\nclass N(typing.NamedTuple):\n  a: int\n  def __call__(self, ev, x): return {}\nf = N(1)",
        "import enum\nclass E(enum.IntEnum):\n  A = {}\ndef f(ev, x): return E.A",
        "class D(dict):\n  def __missing__(self, key): return {}\nd = D()\ndef f(ev, x): return d[x]",
        "class M(type):\n  def k(cls): return {}\nclass C(metaclass=M): pass\ndef f(ev, x): return C.k()",
        "import dataclasses\n@dataclasses.dataclass\nclass C:\n  a: int = {}\ndef f(ev, x): return C()",
    ],
)
def test_subclasses_count_with_their_contents(source: str) -> None:
    assert digest_of_program(made(source.format(1))) == digest_of_program(made(source.format(1)))
    assert digest_of_program(made(source.format(1))) != digest_of_program(made(source.format(2)))


def test_arrays_count_with_their_fields_and_masks() -> None:
    arrays = [
        np.zeros(2, dtype=[("a", "i4"), ("b", "i4")]),
        np.zeros(2, dtype=[("b", "i4"), ("a", "i4")]),
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array([1, 2], mask=[True, False]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array(["2020-01-02"], dtype="datetime64[D]"),
    ]
    digests = [digest_of_program(made("def f(ev, x): return c", c=c)) for c in arrays]
    assert len(set(digests)) == len(arrays)


def test_digests_are_those_of_another_process() -> None:
    program = "lambda ev, x: (x, {'a', 'b', 'c', 'd'}, np.arange(3), 'e' in {'e', 'f', 'g'}, {print, len}, G)"
    lines = [
        "import numpy as np",
        "import typing",
        "T = typing.TypeVar('T')",
        "class G(typing.Generic[T]): pass",
        "from noren.cluster._program import pickled_program",
        f"print(pickled_program({program}).digest)",
    ]
    source = "\n".join(lines)
    found = {
        subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    }
    assert len(found) == 1


def test_what_cannot_be_seen_into_is_refused() -> None:
    with pytest.raises(ClusterError, match="whose contents cannot be told from others'"):
        digest_of_program(made("def f(ev, x): return c", c=threading.Lock()))
    with pytest.raises(ClusterError, match="cannot be told from others'"):
        pickled_program(made("def f(ev, x): return c", c=threading.Lock()))


def test_items_are_packed_with_the_contents_of_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "item"
    path.write_text("one")
    first = packed((path, [1, 2]))
    assert unpacked(first) == (path, [1, 2])
    path.write_text("two")
    assert packed((path, [1, 2])) != first
    # Elsewhere another file has this name.
    with pytest.raises(ClusterError, match="has other contents here than at the driver"):
        unpacked(first)
    monkeypatch.chdir(tmp_path)
    assert unpacked(packed(Path("item"))) == path
    with pytest.raises(FileNotFoundError):
        packed(tmp_path / "none")


def test_a_mark_whose_writer_ended_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ResultStore(tmp_path / "results")
    store.prepare()
    (store.directory / ".directory").touch()
    monkeypatch.setattr("noren.cluster._store.PATIENCE", 0.0)
    mark = store.mark()
    assert mark.text
    assert mark.is_seen()
    assert store.mark() == mark


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
