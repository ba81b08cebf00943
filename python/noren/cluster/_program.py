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
import importlib.metadata
import importlib.util
import pickle
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from ray import cloudpickle

from noren._noren import __version__
from noren.cluster._digest import digest_of, digest_of_file
from noren.cluster._errors import ClusterError

PLAIN = {bool, int, float, complex, str, bytes, type(None), type(Ellipsis)}
"""Types whose values are told apart by `repr`."""
PATH = type(Path())
CHANGELESS = (tuple, frozenset, CodeType, PATH)
"""Whether equal values of these are one object may differ between processes."""
OF_LOADING = {"__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__spec__"}
OF_LOADING |= {"__firstlineno__", "__static_attributes__"}
"""Names in modules and classes that say where they were loaded from, or that follow from others."""
NOT_OF_FUNCTIONS = {"__doc__", "_cloudpickle_submodules"}
"""Parts of a function that no result depends on, or that follow from others."""


_LOCK = threading.RLock()
"""Of the registry of modules that are pickled by their contents, which is the process's."""


class Program(NamedTuple):
    """A program as it travels."""

    digest: str
    pickled: bytes


def pickled_program(program: Callable[..., Any], version: object = None) -> Program:
    """Return a program with all that it needs and that workers do not have, and the digest of that.

    Functions, classes and modules that are not installed travel with it, and so does what they name; of installed ones
    the digest has the version, of a `Path` the contents of the file. `version` is what the caller adds.

    Raises `ClusterError` for a value whose contents cannot be seen, or that cannot travel.
    """
    with _LOCK:
        return _pickled_program(_Walk(), program, version)


def _pickled_program(walk: _Walk, program: Callable[..., Any], version: object) -> Program:
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
            with contextlib.suppress(ValueError):
                cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]

    def value(self, x: Any) -> None:
        """Add what a value follows from."""
        kind = type(x)
        if kind in PLAIN:
            # Long integers have no decimal digits.
            self._add(kind.__name__, hex(x) if kind is int else repr(x))
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
            self._add(kind.__name__, str(len(x)), *sorted(self._digest(each) for each in x))
        elif kind is np.ndarray and x.dtype.kind in "biufcSUmM" and x.dtype.char not in "gG":
            order = f"{x.flags.c_contiguous} {x.flags.f_contiguous}"
            self._add("array", f"{x.dtype.str} {x.shape} {order}", hashlib.sha256(x.tobytes()).digest())
        elif kind is PATH:
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
            self._add("method")
            self.value((x.__func__, x.__self__))
        elif kind is TypeVar:
            # What it is pickled from has a number of this process.
            self._add("type variable", x.__name__, repr((x.__covariant__, x.__contravariant__)))
            self.value((x.__bound__, x.__constraints__))
        else:
            self._object(x)

    def _digest(self, x: Any) -> bytes:
        """Return the digest of a value that does not depend on what was walked through before."""
        walk = _Walk()
        # Modules are released with those of this walk.
        walk._registered = self._registered
        walk.value(x)
        return hashlib.sha256(b"".join(walk.parts)).digest()

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
        file = getattr(module, "__file__", None)
        if file is not None and not file.endswith(".py"):
            raise ClusterError(
                f"the program names {name}, which is compiled and not installed: install it on all nodes"
            )
        for key, x in vars(module).items():
            if key not in OF_LOADING:
                self._add(key)
                try:
                    self.value(x)
                except ClusterError as error:
                    advice = f"name alone what the program uses (`from {name} import ...`)"
                    raise ClusterError(
                        f"the program names the module {name}, and {name}.{key}: {error}; {advice}"
                    ) from error

    def _global(self, x: FunctionType | type) -> None:
        """Add a function or class: by its name if it is installed, else by what it is made from."""
        if not _is_installed(x.__module__):
            self._take_along(x.__module__)
        reduced = self._pickler.reducer_override(x)  # type: ignore[no-untyped-call]
        if reduced is NotImplemented:
            self._add("named", x.__module__, x.__qualname__, _version(x.__module__))
        elif isinstance(x, FunctionType):
            self._add("function")
            attributes, parts = reduced[2]
            self.value((x.__code__, attributes, {k: v for k, v in parts.items() if k not in NOT_OF_FUNCTIONS}))
            for name in _imports(x):
                if not _is_installed(name):
                    raise ClusterError(
                        f"{x.__qualname__} imports {name} while it runs, which workers do not have: import it at "
                        "the top of its file, so that it travels along"
                    )
                self._add("import", name, _version(name))
        elif len(reduced) == 2:
            self._add("type of Python")
            self.value(reduced[1])
        else:
            # The last but one argument is a number of this process.
            make, arguments, (contents, _) = reduced[:3]
            members = {k: v for k, v in contents.items() if k not in OF_LOADING | {"_abc_impl"}}
            registered = sorted(contents.get("_abc_impl", []), key=lambda cls: (cls.__module__, cls.__qualname__))
            self._add("class")
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
        self._add("object")
        self.value(type(x))
        self.value(tuple(list(part) if isinstance(part, Iterator) else part for part in state))

    def _name(self, x: Any, name: str) -> None:
        """Add what is pickled as a name, which an installed module has."""
        # Looks through all modules if it does not say which one it is of.
        module = sys.modules[getattr(x, "__module__", None) or pickle.whichmodule(x, name)]  # type: ignore[attr-defined]
        if getattr(module, name.rpartition(".")[2], None) is not x:
            raise ValueError(f"{module.__name__} has another {name}")
        if not _is_installed(module.__name__):
            raise ValueError(f"it is pickled as the name {name} of {module.__name__}, which workers do not have")
        self._add("global", name, module.__name__, _version(module.__name__))

    def _take_along(self, name: str) -> None:
        """Have what a module defines pickled by its contents: workers may not have it."""
        module = sys.modules.get(name)
        known: set[str] = cloudpickle.list_registry_pickle_by_value()  # type: ignore[no-untyped-call]
        if module is not None and name != "__main__" and name not in known:
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
            self._registered.append(module)


def _imports(function: FunctionType) -> list[str]:
    """Return the names of the modules that a function imports while it runs."""
    package = function.__globals__.get("__package__") or ""
    found = set()
    for code in _codes(function.__code__):
        instructions = [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]
        for i, each in enumerate(instructions):
            if each.opname == "IMPORT_NAME":
                level = instructions[i - 2].argval
                found.add(f"{package}.{each.argval}" if level else each.argval)
    return sorted(found)


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
    if top == "__main__":
        return False
    if top == "noren" or top in sys.builtin_module_names:
        return True
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return False
    # A package without a file has places.
    places = [spec.origin] if spec.has_location and spec.origin else list(spec.submodule_search_locations or [])
    roots = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")]
    return bool(places or spec.origin == "frozen") and all(
        {"site-packages", "dist-packages"} & set(Path(place).parts)
        or any(Path(place).is_relative_to(root) for root in roots)
        for place in places
    )


@cache
def _version(name: str) -> str:
    """Return the versions of what has installed a module; that of Python is in each digest."""
    top = name.partition(".")[0]
    if top == "noren":
        return __version__
    distributions = sorted(set(importlib.metadata.packages_distributions().get(top, ())))
    return " ".join(f"{each} {importlib.metadata.version(each)}" for each in distributions)
