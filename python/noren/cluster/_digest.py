"""Digests of programs and of inputs: equal digests have equal results.

A digest may differ where the results would be equal, as with another version of Python; then work is done again. It
must not be equal where results would differ, so that what cannot be seen into is refused.
"""

from __future__ import annotations

import contextlib
import copyreg
import dis
import hashlib
import importlib
import importlib.metadata
import pickle
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from noren._noren import __version__
from noren.cluster._errors import ClusterError

CONTAINER = b"\x89NOREN\r\n"
"""How files of noren begin."""
HEADER = 96
"""Bytes of a container before its table of contents, its digest among them."""
BLOCK = 1 << 20
WITHOUT_PATHS, WITH_PATHS = b"\0", b"\1"
"""The first byte of an item."""


def digest_of(*parts: bytes) -> str:
    """Return the SHA-256 of parts, each with its length before it."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


def digest_of_file(path: Path) -> bytes:
    """Return what the contents of a file follow from: of a container its header, which has a digest; else the SHA-256.

    That the contents of a container are those of its header is checked when it is read.
    """
    with path.open("rb") as file:
        header = file.read(HEADER)
        if header.startswith(CONTAINER) and len(header) == HEADER:
            return header
        state = hashlib.sha256(header)
        while block := file.read(BLOCK):
            state.update(block)
    return state.digest()


def packed(item: object) -> bytes:
    """Return an item as bytes, which `unpacked` reads; of a path they have the digest of the file's contents too."""
    out = BytesIO(WITHOUT_PATHS)
    out.seek(1)
    packer = _Packer(out)
    packer.dump(item)
    if packer.has_paths:
        out.seek(0)
        out.write(WITH_PATHS)
    return out.getvalue()


def unpacked(data: Any) -> Any:
    """Return the item of `packed`, which is copied once where it has no paths."""
    contents = memoryview(data)
    if contents[:1] == WITHOUT_PATHS:
        return pickle.loads(contents[1:])
    return _Unpacker(BytesIO(contents[1:])).load()


class _Packer(pickle.Pickler):
    def __init__(self, out: BytesIO) -> None:
        super().__init__(out, protocol=5)
        self.has_paths = False

    def persistent_id(self, obj: object) -> tuple[str, bytes] | None:
        if not isinstance(obj, Path):
            return None
        self.has_paths = True
        return str(obj), digest_of_file(obj)


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, pid: tuple[str, bytes]) -> Path:
        return Path(pid[0])


class Program(NamedTuple):
    """What a callable depends on."""

    digest: str
    modules: frozenset[str]
    """The modules that are not installed, so that other machines do not have them."""


def inspected(program: Callable[..., Any], version: object = None) -> Program:
    """Return what a callable depends on: its code, what it captures, and the functions and modules that it names.

    Of modules that are installed its digest has the version, of others the source; of a `Path` the contents of the
    file. `version` is what the caller adds.

    Raises `ClusterError` for a value whose contents cannot be seen.
    """
    seen = _Walk()
    seen.value(program)
    seen.value(version)
    digest = digest_of(sys.version.encode(), __version__.encode(), b"".join(seen.parts))
    return Program(digest, frozenset(seen.modules - {"__main__"}))


class _Walk:
    """The bytes that a value follows from, part by part."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.modules: set[str] = set()
        # Values that are walked through are kept, so that none of another identity is taken for one of them.
        self._seen: dict[int, tuple[int, object]] = {}

    def value(self, x: object) -> None:
        if x is None or isinstance(x, bool | int | float | complex | str | bytes):
            self._add(type(x).__name__, repr(x).encode())
            return
        # Whether equal values that do not change are one object may differ between processes.
        if not isinstance(x, tuple | frozenset | CodeType | Path):
            if id(x) in self._seen:
                self._add("again", str(self._seen[id(x)][0]))
                return
            self._seen[id(x)] = (len(self._seen), x)
        match x:
            case tuple() | list():
                self._add(type(x).__name__, str(len(x)).encode())
                for each in x:
                    self.value(each)
            case dict():
                self._add("dict", str(len(x)).encode())
                for key, each in x.items():
                    self.value(key)
                    self.value(each)
            case set() | frozenset():
                # The order of a set is that of its hashes, which differ between processes.
                self._add(type(x).__name__, str(len(x)))
                for each in sorted(x, key=repr):
                    self.value(each)
            case np.ndarray() if x.dtype != object:
                contents = np.ascontiguousarray(x)
                self._add("array", f"{x.dtype.str} {x.shape}".encode(), hashlib.sha256(contents.data).digest())
            case Path():
                self._add("file", digest_of_file(x) if x.is_file() else str(x))
            case CodeType():
                self._code(x)
            case FunctionType():
                self._function(x)
            case MethodType():
                self.value(x.__func__)
                self.value(x.__self__)
            case partial():
                self.value((x.func, x.args, x.keywords))
            case ModuleType():
                self._module(x)
            case BuiltinFunctionType():
                self._named(x, x.__module__, x.__qualname__)
            case type():
                self._class(x)
            case _:
                self._object(x)

    def _add(self, *parts: str | bytes) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode()
            self.parts += [len(data).to_bytes(8, "little"), data]

    def _code(self, code: CodeType) -> None:
        self._add("code", code.co_code, repr((code.co_argcount, code.co_kwonlyargcount, code.co_flags)))
        self._add(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)), code.co_exceptiontable)
        for constant in code.co_consts:
            self.value(constant)

    def _function(self, function: FunctionType) -> None:
        if _is_installed(function.__module__) and _is_named(function):
            self._named(function, function.__module__, function.__qualname__)
            return
        if not _is_installed(function.__module__):
            self.modules.add(function.__module__)
        self._add("function", function.__qualname__)
        self.value(function.__code__)
        self.value((function.__defaults__, function.__kwdefaults__))
        self.value(function.__dict__)
        for cell in function.__closure__ or ():
            # A cell without contents is one whose name has no value yet.
            with contextlib.suppress(ValueError):
                self.value(cell.cell_contents)
        for name in sorted(_names(function.__code__)):
            if name in function.__globals__:
                self._add("global", name)
                self.value(function.__globals__[name])
        for name in sorted(_imports(function.__code__)):
            self._add("import", name)
            # What cannot be imported here, only workers have, or nobody: its name is all that is known.
            with contextlib.suppress(ImportError):
                self.value(importlib.import_module(name))

    def _class(self, cls: type) -> None:
        if _is_installed(cls.__module__) and _is_named(cls):
            self._named(cls, cls.__module__, cls.__qualname__)
            return
        if not _is_installed(cls.__module__):
            self.modules.add(cls.__module__)
        self._add("class", cls.__qualname__)
        for base in cls.__bases__:
            self.value(base)
        for name, member in sorted(vars(cls).items()):
            inner = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(inner, FunctionType) or (not name.startswith("__") and _is_plain(inner)):
                self._add(name)
                self.value(inner)

    def _module(self, module: ModuleType) -> None:
        name, file = module.__name__, getattr(module, "__file__", None)
        if _is_installed(name) or file is None:
            self._named(module, name, "")
            return
        self.modules.add(name)
        sources = sorted(Path(file).parent.rglob("*.py")) if hasattr(module, "__path__") else [Path(file)]
        for source in sources:
            self._add("source", name, source.name, hashlib.sha256(source.read_bytes()).digest())
        # The modules that it has functions, classes and values from.
        for _, x in sorted(vars(module).items()):
            origin = x if isinstance(x, ModuleType) else sys.modules.get(getattr(x, "__module__", None) or "")
            if origin is not None and origin is not module and not _is_installed(origin.__name__):
                self.value(origin)

    def _named(self, x: object, module: str | None, name: str) -> None:
        top = (module or "builtins").partition(".")[0]
        self._add("named", module or "", name, str(_version(top)))
        owner = getattr(x, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType):
            self.value(owner)

    def _object(self, x: object) -> None:
        """Walk through what an object is pickled from: its class, and the arguments and state that make it again."""
        self.value(type(x))
        try:
            reduce = copyreg.dispatch_table.get(type(x))
            state = x.__reduce_ex__(4) if reduce is None else reduce(x)
            if isinstance(state, str):
                self._global(x, state)
                return
        except Exception as error:
            raise ClusterError(
                f"the program holds {type(x).__qualname__}, whose contents cannot be told from others' ({error}): "
                "make it inside of the program, or pass it as an item"
            ) from error
        self.value(tuple(_listed(part) for part in state))

    def _global(self, x: Any, name: str) -> None:
        """Add what is pickled as a name: what it wraps, or what its module has under that name."""
        wrapped = getattr(x, "__wrapped__", None)
        if wrapped is not None:
            self.value(wrapped)
            return
        # Looks through all modules if it does not say which one it is of.
        module = sys.modules[getattr(x, "__module__", None) or pickle.whichmodule(x, name)]  # type: ignore[attr-defined]
        if getattr(module, name.rpartition(".")[2], None) is not x:
            raise ClusterError(f"{module.__name__} has another {name}")
        if _is_installed(module.__name__):
            self._named(x, module.__name__, name)
        else:
            self._module(module)


def _listed(part: object) -> object:
    """Return a part of a reduced object, of which the iterators of lists and dicts are consumed."""
    return list(part) if isinstance(part, Iterator) else part


def _is_plain(x: object) -> bool:
    return x is None or isinstance(x, bool | int | float | complex | str | bytes | tuple | np.ndarray)


def _names(code: CodeType) -> set[str]:
    """Return all names that code and the code within it use."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


def _imports(code: CodeType) -> set[str]:
    """Return all modules that code and the code within it import while they run."""
    found = {each.argval for each in dis.get_instructions(code) if each.opname == "IMPORT_NAME" and each.argval}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _imports(constant)
    return found


def _is_named(x: FunctionType | type) -> bool:
    """Return whether a function or class is what its module has under its name: what was made by a call is not."""
    found: object = sys.modules.get(x.__module__)
    for name in x.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is x


@cache
def _is_installed(name: str | None) -> bool:
    """Return whether a module changes only with its version: it is built in, of Python, or installed."""
    module = sys.modules.get((name or "builtins").partition(".")[0])
    file = getattr(module, "__file__", None)
    if module is None or name == "__main__":
        return False
    if file is None or name == "noren" or str(name).startswith("noren."):
        return True
    if {"site-packages", "dist-packages"} & set(Path(file).parts):
        return True
    roots = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")]
    return any(Path(file).is_relative_to(root) for root in roots)


@cache
def _version(top: str) -> str:
    """Return the version of an installed module."""
    if top == "noren":
        return __version__
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(top), "__version__", ""))
