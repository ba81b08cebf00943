"""Programs as they travel to workers, with a digest: equal digests have equal results.

The digest follows from what `cloudpickle` makes of a program, in an order that does not depend on the process. It may
differ where results would be equal, as with another version of Python; then work is done again. What cannot be seen
into is refused, and so are generators of random numbers, which would give each task the same numbers.

A worker makes the program anew for each task, so that none sees what another did to a list, an array, a class or a
module that the program holds. What cannot change is made once: objects of noren that travel, and arrays that cannot be
written to.
"""

from __future__ import annotations

import contextlib
import copyreg
import dis
import hashlib
import importlib.metadata
import importlib.util
import itertools
import pickle
import random
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from ray import cloudpickle

from noren._noren import __version__
from noren._secret import PicklableSecret
from noren.cluster._errors import ClusterError
from noren.cluster._hash import digest_of, digest_of_file
from noren.cluster._kinds import NAMES
from noren.cluster._reader import Reader
from noren.cluster._values import NoClasses
from noren.cluster._writer import Writer

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
GENERATORS = (random.Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState)
TRACKED = {"_make_skeleton_class", "_make_skeleton_enum"}
"""What cloudpickle makes classes by, each once in a process, by a number that it got where it was pickled."""


_LOCK = threading.RLock()
"""Of the registry of modules that are pickled by their contents, which is the process's."""


class Program(NamedTuple):
    """A program as it travels."""

    digest: str
    pickled: bytes
    constants: bytes
    """What cannot change, as a value of noren.cluster: all tasks of a process share it."""
    classes: tuple[type, ...]
    """The dataclasses that the program names, which its results may have."""


def pickled_program(program: Callable[..., Any], version: object = None) -> Program:
    """Return a program with all that it needs and that workers do not have, and the digest of that.

    Functions, classes and modules that are not installed travel with it, and so does what they name; of installed ones
    the digest has the version, of a `Path` the contents of the file. `version` is what the caller adds.

    Raises `ClusterError` for a value whose contents cannot be seen, or that cannot travel, for generators of random
    numbers, and for secret keys.
    """
    with _walk() as walk:
        walk.value((program, version))
        out = BytesIO()
        pickler = _Pickler(out)
        pickler.dump(program)  # type: ignore[no-untyped-call]
        constants = Writer(NoClasses()).packed(pickler.constants)
        digest = digest_of(sys.version.encode(), __version__.encode(), b"".join(walk.parts))
        return Program(digest, out.getvalue(), constants, tuple(walk.dataclasses))


def parts_of_class(kind: type) -> bytes:
    """Return what a class follows from: its names, and its code as that of a program.

    Raises `ClusterError` as `pickled_program` does.
    """
    with _walk() as walk:
        walk.value((kind.__module__, kind.__qualname__, kind))
        return b"".join(walk.parts)


def pickled_classes(classes: Sequence[tuple[bytes, type]]) -> bytes:
    """Return classes by their digests, which `Loader` makes again.

    Raises `ClusterError` as `pickled_program` does.
    """
    if not classes:
        return b""
    with _walk() as walk:
        walk.value(tuple(kind for _, kind in classes))
        pickled: bytes = cloudpickle.dumps(list(classes))  # type: ignore[no-untyped-call]
        return pickled


def constants_of(data: bytes) -> list[Any]:
    """Return what programs share, from `Program.constants`; its arrays cannot be written to."""
    found: list[Any] = Reader(data, NoClasses(), frozen=True).value()
    return found


class Loader:
    """Makes a program, and classes, for one task: nothing that can change is that of another task."""

    _numbers = itertools.count()

    def __init__(self) -> None:
        """Take a number that no other has."""
        self._number = next(self._numbers)

    def load(self, pickled: bytes, constants: Sequence[Any] = ()) -> Any:
        """Return what was pickled; a class is the same in all that is loaded here."""
        return _Unpickler(pickled, constants, self._number).load()


class _Pickler(cloudpickle.CloudPickler):  # type: ignore[misc,unused-ignore]
    """Pickles a program, and keeps apart what cannot change."""

    def __init__(self, out: BytesIO) -> None:
        super().__init__(out)  # type: ignore[no-untyped-call]
        self.constants: list[Any] = []
        self._numbers: dict[int, int] = {}

    def persistent_id(self, x: Any) -> int | None:
        array = type(x) is np.ndarray and not x.flags.writeable and not x.dtype.hasobject and bool(x.dtype.itemsize)
        if not array and type(x) not in NAMES:
            return None
        if id(x) not in self._numbers:
            self._numbers[id(x)] = len(self.constants)
            self.constants.append(x)
        return self._numbers[id(x)]


class _Unpickler(pickle.Unpickler):
    def __init__(self, pickled: bytes, constants: Sequence[Any], number: int) -> None:
        super().__init__(BytesIO(pickled))
        self._constants, self._number = constants, number

    def persistent_load(self, pid: int) -> Any:
        return self._constants[pid]

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return partial(self._made, found) if name in TRACKED and "cloudpickle" in module else found

    def _made(self, make: Callable[..., Any], *arguments: Any) -> Any:
        """Make a class under a number of this task, so that it is not that of another one."""
        *first, tracked, extra = arguments
        return make(*first, None if tracked is None else f"{tracked} {self._number}", extra)


@contextlib.contextmanager
def _walk() -> Iterator[_Walk]:
    """Give a walk, within which what it met can be pickled."""
    with _LOCK:
        walk = _Walk()
        try:
            yield walk
        except ClusterError:
            raise
        except Exception as error:
            raise ClusterError(
                f"the program cannot be sent to workers ({type(error).__name__}: {error}): make inside of it what "
                "cannot travel, or pass that as an item"
            ) from error
        finally:
            walk.release()


class _Walk:
    """The bytes that a value follows from, part by part."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.dataclasses: list[type] = []
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
        walk._registered, walk.dataclasses = self._registered, self.dataclasses
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
        if isinstance(x, type) and is_dataclass(x) and x not in self.dataclasses:
            self.dataclasses.append(x)
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
        if isinstance(x, GENERATORS):
            raise ClusterError(
                f"the program holds the generator of random numbers {type(x).__qualname__}, and each task would draw "
                "the same numbers from it: make one inside of the program from what the item says, such as "
                "`np.random.default_rng([seed, i])`"
            )
        if isinstance(x, PicklableSecret):
            raise ClusterError(
                "the program holds a secret key, and each node could decrypt: workers evaluate, and no more"
            )
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
