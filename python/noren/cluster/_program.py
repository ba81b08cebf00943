"""Programs as they travel to workers, with a digest: equal digests have equal results.

The digest follows from what `cloudpickle` makes of a program, in an order that does not depend on the process. It may
differ where results would be equal, as with another version of Python; then work is done again. What cannot be seen
into is refused.
"""

from __future__ import annotations

import contextlib
import copyreg
import dis
import hashlib
import importlib
import importlib.metadata
import importlib.util
import pickle
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from ray import cloudpickle

from noren._noren import __version__
from noren.cluster._digest import digest_of, digest_of_file
from noren.cluster._errors import ClusterError

PLAIN = {bool, int, float, complex, str, bytes, type(None), type(Ellipsis)}
"""Types whose values are told apart by `repr`."""
CHANGELESS = (tuple, frozenset, CodeType, Path)
"""Whether equal values of these are one object may differ between processes."""
OF_LOADING = {"__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__spec__", "__firstlineno__"}
"""Names in modules and classes that say where they were loaded from."""
NOT_OF_FUNCTIONS = {"__doc__", "_cloudpickle_submodules"}
"""Parts of a function that no result depends on, or that follow from others."""


class Program(NamedTuple):
    """A program as it travels."""

    digest: str
    pickled: bytes


def taken(program: Callable[..., Any], version: object = None) -> Program:
    """Return a program with all that it needs and that workers do not have, and the digest of that.

    Functions, classes and modules that are not installed travel with it, and so does what they name; of installed ones
    the digest has the version, of a `Path` the contents of the file. `version` is what the caller adds.

    Raises `ClusterError` for a value whose contents cannot be seen, or that cannot travel.
    """
    walk = _Walk()
    try:
        walk.value((program, version))
        pickled: bytes = cloudpickle.dumps(program)  # type: ignore[no-untyped-call]
    except ClusterError:
        raise
    except Exception as error:
        raise ClusterError(
            f"the program cannot be sent to workers ({type(error).__name__}: {error}): make inside of it what cannot "
            "travel, or pass that as an item"
        ) from error
    finally:
        walk.release()
    return Program(digest_of(sys.version.encode(), __version__.encode(), b"".join(walk.parts)), pickled)


class _Walk:
    """The bytes that a value follows from, part by part."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._pickler = cloudpickle.CloudPickler(BytesIO())  # type: ignore[no-untyped-call]
        self._registered: list[ModuleType] = []
        # Values that are walked through are kept, so that none of another identity is taken for one of them.
        self._seen: dict[int, tuple[int, object]] = {}

    def release(self) -> None:
        """Let modules be pickled as before."""
        for module in self._registered:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]

    def value(self, x: Any) -> None:
        """Add what a value follows from."""
        kind = type(x)
        if kind in PLAIN:
            self._add(kind.__name__, repr(x))
            return
        if not isinstance(x, CHANGELESS):
            if id(x) in self._seen:
                self._add("again", str(self._seen[id(x)][0]))
                return
            self._seen[id(x)] = (len(self._seen), x)
        if kind in (tuple, list):
            self._add(kind.__name__, str(len(x)))
            for each in x:
                self.value(each)
        elif kind is dict:
            self._add("dict", str(len(x)))
            for key, each in x.items():
                self.value(key)
                self.value(each)
        elif kind in (set, frozenset):
            # The order of a set is that of its hashes, which differ between processes.
            self._add(kind.__name__, str(len(x)))
            for each in sorted(x, key=repr):
                self.value(each)
        elif kind is np.ndarray and x.dtype.fields is None and not x.dtype.hasobject:
            self._add("array", f"{x.dtype.str} {x.shape}", hashlib.sha256(x.tobytes()).digest())
        elif isinstance(x, Path):
            self._add("path", str(x.absolute()), digest_of_file(x) if x.is_file() else b"")
        elif isinstance(x, CodeType):
            self._code(x)
        elif isinstance(x, ModuleType):
            self._module(x)
        elif isinstance(x, FunctionType | type):
            self._global(x)
        elif isinstance(x, BuiltinFunctionType):
            self._add("builtin", x.__qualname__)
            # The object of a bound method, or the module.
            self.value(x.__self__ if x.__self__ is not None else sys.modules.get(x.__module__ or ""))
        elif isinstance(x, MethodType):
            self.value((x.__func__, x.__self__))
        else:
            self._object(x)

    def _add(self, *parts: str | bytes) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode()
            self.parts += [len(data).to_bytes(8, "little"), data]

    def _code(self, code: CodeType) -> None:
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._add("code", code.co_code, repr((counts, names)), code.co_exceptiontable)
        for constant in code.co_consts:
            self.value(constant)

    def _module(self, module: ModuleType) -> None:
        """Add an installed module by its version, and all that others hold."""
        name = module.__name__
        if _is_installed(name):
            self._add("installed", name, _version(name))
            return
        self._take_along(name)
        self._add("module", name)
        self.value({key: x for key, x in vars(module).items() if key not in OF_LOADING})

    def _global(self, x: FunctionType | type) -> None:
        """Add a function or class: by its name if it is installed, else by what it is made from."""
        if not _is_installed(x.__module__):
            self._take_along(x.__module__)
        reduced = self._pickler.reducer_override(x)  # type: ignore[no-untyped-call]
        if reduced is NotImplemented:
            self._add("named", x.__module__, x.__qualname__, _version(x.__module__))
        elif isinstance(x, FunctionType):
            attributes, parts = reduced[2]
            self.value((x.__code__, attributes, {k: v for k, v in parts.items() if k not in NOT_OF_FUNCTIONS}))
            for module in _imports(x):
                self.value(module)
        elif len(reduced) == 2:
            # A type of Python's own.
            self.value(reduced[1])
        else:
            # The last but one argument is a number of this process.
            make, arguments, (contents, _) = reduced[:3]
            members = {k: v for k, v in contents.items() if k not in OF_LOADING | {"_abc_impl"}}
            registered = sorted(contents.get("_abc_impl", []), key=lambda cls: (cls.__module__, cls.__qualname__))
            self.value((make.__name__, arguments[:-2], members, registered))

    def _object(self, x: Any) -> None:
        """Add what an object is pickled from: its class, and the arguments and state that make it again."""
        try:
            reduce = self._pickler.dispatch_table.get(type(x)) or copyreg.dispatch_table.get(type(x))
            state = x.__reduce_ex__(4) if reduce is None else reduce(x)
            if isinstance(state, str):
                self._name(x, state)
                return
        except ClusterError:
            raise
        except Exception as error:
            raise ClusterError(
                f"the program holds {type(x).__qualname__}, whose contents cannot be told from others' ({error}): "
                "make it inside of the program, or pass it as an item"
            ) from error
        self.value(type(x))
        self.value(tuple(list(part) if isinstance(part, Iterator) else part for part in state))

    def _name(self, x: Any, name: str) -> None:
        """Add what is pickled as a name: what it wraps, or what its module has under that name."""
        wrapped = getattr(x, "__wrapped__", None)
        if wrapped is not None:
            self.value((type(x), wrapped))
            return
        # Looks through all modules if it does not say which one it is of.
        module = sys.modules[getattr(x, "__module__", None) or pickle.whichmodule(x, name)]  # type: ignore[attr-defined]
        if getattr(module, name.rpartition(".")[2], None) is not x:
            raise ValueError(f"{module.__name__} has another {name}")
        self._add("global", name)
        self.value(module)

    def _take_along(self, name: str) -> None:
        """Have what a module defines pickled by its contents: workers may not have it."""
        module = sys.modules.get(name)
        if module is not None and name != "__main__" and module not in self._registered:
            with contextlib.suppress(ValueError):
                cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
                self._registered.append(module)


def _imports(function: FunctionType) -> list[ModuleType]:
    """Return the modules that a function imports while it runs, of those that can be imported here."""
    package = function.__globals__.get("__package__") or ""
    found = {}
    for code in _codes(function.__code__):
        instructions = list(dis.get_instructions(code))
        for i, each in enumerate(instructions):
            if each.opname != "IMPORT_NAME":
                continue
            level, names = (instruction.argval for instruction in instructions[i - 2 : i])
            # A name of a module may be that of one below it.
            for name in (each.argval, *(f"{each.argval}.{name}".lstrip(".") for name in names or ())):
                with contextlib.suppress(ImportError):
                    whole = importlib.util.resolve_name("." * level + name, package) if level else name
                    found[whole] = importlib.import_module(whole)
    return [found[name] for name in sorted(found)]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Give code, and the code within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@cache
def _is_installed(name: str | None) -> bool:
    """Return whether a module changes only with its version: it is built in, of Python, or installed."""
    top = (name or "builtins").partition(".")[0]
    module = sys.modules.get(top)
    if module is None or top == "__main__":
        return False
    if top == "noren" or top in sys.builtin_module_names:
        return True
    file = getattr(module, "__file__", None)
    # Packages without a file have paths.
    places = [file] if file is not None else list(getattr(module, "__path__", []))
    roots = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")]
    return bool(places or getattr(module.__spec__, "origin", None) == "frozen") and all(
        {"site-packages", "dist-packages"} & set(Path(place).parts)
        or any(Path(place).is_relative_to(root) for root in roots)
        for place in places
    )


@cache
def _version(name: str) -> str:
    """Return the version of an installed module."""
    top = name.partition(".")[0]
    if top == "noren":
        return __version__
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(top), "__version__", ""))
