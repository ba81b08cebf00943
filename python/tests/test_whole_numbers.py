"""Whole numbers as arguments of every function: what their types do not hold is refused by the number, in plain words.

The functions and their arguments are those of the stubs: one that is added is tried here too.
"""

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import World

import noren
from noren import (
    _noren,
    advisor,
    bfv,
    bgv,
    bootstrapping,
    ckks,
    intersection,
    programs,
    retrieval,
    switching,
    tables,
    tfhe,
)
from noren._noren import compiler

STUBS = Path(_noren.__file__).parent / "_noren"
WHOLE = re.compile(r"\bint\b|SupportsIndex|_Security|Literal\[[^\]]*\d")
# Words of Rust, C and the layer between them.
FOREIGN = re.compile(r"\bC (long|int|ssize)|unsigned|convert|untagged|usize|\b[iu]\d\d\b|variant|argument '|__index__")
HUGE = (-(2**70), 2**70)
LARGE = 2**62
Names = dict[str, Any]


def wrapped(annotation: str, number: int) -> list[Any]:
    """Return the number in the places that an argument of this type has for it."""
    if "Mapping" in annotation:
        return [{number: 0}, {1: number}]
    if "tuple[int, int]" in annotation:
        return [number, (number, 1), (1, number)]
    nested = len(re.findall(r"Sequence\[|Iterable\[", annotation)) if "SupportsIndex |" not in annotation else 0
    value: Any = number
    for _ in range(nested):
        value = [value]
    return [value]


def functions(module: str, node: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a module, or the methods of a class and of those that it is made of."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef):
            yield each
    for base in node.bases if isinstance(node, ast.ClassDef) else ():
        *place, name = ast.unparse(base).partition("[")[0].split(".")
        owner = {"shared": "__init__"}.get(place[0], place[0]) if place else module
        for home in (owner, "__init__"):
            if (home, name) in CLASSES:
                yield from functions(home, CLASSES[home, name])
                break


MODULES = {path.stem: ast.parse(path.read_text()) for path in STUBS.glob("*.pyi")}
CLASSES = {
    (module, node.name): node
    for module, tree in MODULES.items()
    for node in tree.body
    if isinstance(node, ast.ClassDef)
}


def whole_arguments(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yield the names of the arguments that are whole numbers, with their types; `*` is before that of all others."""
    arguments = function.args
    for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg]:
        annotation = ast.unparse(each.annotation) if each is not None and each.annotation is not None else ""
        if (
            each is not None
            and WHOLE.search(annotation)
            and "Callable" not in annotation
            and "_Progress" not in annotation
        ):
            yield ("*" if each is arguments.vararg else "") + each.arg, annotation


def needed(function: ast.FunctionDef) -> list[str]:
    """Return the names of the arguments that have no default."""
    arguments = function.args
    others = [*arguments.posonlyargs, *arguments.args]
    names = [each.arg for each in others[: len(others) - len(arguments.defaults)]]
    names += [
        each.arg for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None
    ]
    return [name for name in names if name not in ("self", "cls")]


def fault(text: str, call: Callable[[], object], number: int) -> str:
    """Return what is wrong with what a call says to a number; with one that is huge it cannot be right."""
    try:
        call()
    except Exception as error:
        message = str(error)
        refused = isinstance(error, (noren.Error, TypeError))
        named = number not in HUGE or (refused and str(number) in message)
        allowed = refused or isinstance(error, (ValueError, OSError, MemoryError))
        if named and allowed and not FOREIGN.search(message):
            return ""
        return f"{text}: {type(error).__name__}: {message}"
    return f"{text} was not refused" if number in HUGE else ""


def faults(name: str, function: ast.FunctionDef, call: Callable[..., object], names: Names) -> Iterator[str]:
    """Call a function with each number in each argument for whole numbers; yield what is wrong, or nothing, of each."""
    for argument, annotation in whole_arguments(function):
        given = {one: names[one] for one in needed(function) if one != argument}
        # The system says how many threads it has.
        for number in (*HUGE, -1, *(() if argument == "threads" else (LARGE,))):
            for value in wrapped(annotation, number):
                if argument.startswith("*"):
                    run = functools.partial(call, value)
                else:
                    run = functools.partial(call, **given, **{argument: value})
                yield fault(f"{name}({argument}={value!r})", run, number)


@pytest.fixture(scope="module")
def things(
    tmp_path_factory: pytest.TempPathFactory, ctx: ckks.Context, keys: ckks.Keys
) -> dict[str, tuple[Any, Names]]:
    """Return an object, or the class, of every class of the stubs, and every module, with arguments by their names."""
    missing = tmp_path_factory.mktemp("none") / "none" / "none"
    common: Names = {"data": b"", "path": missing, "source": missing, "count": 2, "steps": 1, "matrix": np.eye(2)}
    common |= {"length": 1, "level": 0, "limbs": 1, "bits": 2, "error_bound": 1e-3, "depth": 1, "precision_bits": 10}
    common |= {"rows": 2, "columns": 2, "slots": 8, "values": [1], "i": 1, "domain": 4, "numbers": [1], "most": 1}
    common |= {"xs": [], "weights": [], "entries": np.eye(2, dtype=int)}

    x = ctx.evaluator(keys.evaluation).bind(ctx.encrypt([0.5, 0.25], keys.public))
    reals = common | {"parameters": ctx.parameters, "context": ctx, "secret": keys.secret, "key": keys.secret}
    reals |= {"x": x, "ciphertext": x, "log_n": 5, "log_q": [40, 30], "values": [0.5]}
    found: dict[str, tuple[Any, Names]] = {
        "ckks.Parameters": (ctx.parameters, reals),
        "ckks.Context": (ctx, reals),
        "ckks.SecretKey": (keys.secret, reals),
        "ckks.PublicKey": (keys.public, reals),
        "ckks.Context.reencrypt": (ctx, reals | {"key": ctx.reencryption_key(keys.secret, ctx.keygen().secret)}),
        "ckks.ReceiverKey": (ctx.receiver_key(keys.secret), reals),
        "ckks.ReencryptionKey": (_noren.ckks.ReencryptionKey, reals),
        "ckks.EvaluationKeys": (keys.evaluation, reals),
        "ckks.Ciphertext": (x, reals),
        "ckks.Evaluator": (ctx.evaluator(keys.evaluation), reals),
        "ckks.Releases": (ckks.Releases(), reals),
    }

    params = bgv.Parameters(10, 12289, [50] * 10, [50] * 2, security=None)
    for scheme in (bgv, bfv):
        other: Any = scheme.Context(params)
        its = other.keygen()
        ev = other.evaluator(its.evaluation)
        y = ev.bind(other.encrypt([1, 2], its.public))
        whole = common | {"parameters": params, "context": other, "secret": its.secret, "key": its.secret, "x": y}
        name = scheme.__name__.rpartition(".")[2]
        found |= {f"{name}.Context": (other, whole), f"{name}.Ciphertext": (y, whole), f"{name}.Evaluator": (ev, whole)}
        to_another = other.reencryption_key(its.secret, other.keygen().secret)
        found[f"{name}.Context.reencrypt"] = other, whole | {"key": to_another}
    plan = bfv.LookupPlan(params, 4)
    found |= {
        "integers.Parameters": (params, whole),
        "integers.SecretKey": (its.secret, whole),
        "integers.PublicKey": (its.public, whole),
        "integers.ReceiverKey": (other.receiver_key(its.secret), whole),
        "integers.ReencryptionKey": (_noren.integers.ReencryptionKey, whole),
        "integers.EvaluationKeys": (its.evaluation, whole),
        "integers.SlotMatrix": (bgv.SlotMatrix, whole),
        "bfv.LookupPlan": (plan, whole),
        "bfv.LookupKeys": (bfv.LookupKeys, whole),
    }

    bits = tfhe.Context(tfhe.Parameters("TOY_2_2"))
    own = bits.keygen()
    ev = bits.evaluator(own.server)
    z = ev.bind(bits.encrypt(np.array([1, 2], dtype=np.uint8), own.secret))
    arrays = common | {"parameters": bits.parameters, "x": z, "arrays": [z, z], "f": [0] * 256}
    found |= {
        "tfhe.Context": (bits, arrays),
        "tfhe.SecretKey": (own.secret, arrays),
        "tfhe.ServerKeys": (own.server, arrays),
        "tfhe.LightKeys": (tfhe.LightKeys, arrays),
        "tfhe.CircuitKeys": (tfhe.CircuitKeys, arrays),
        "tfhe.ExpandedServerKeys": (tfhe.ExpandedServerKeys, arrays),
        "tfhe.EncryptedArray": (z, arrays),
        "tfhe.Evaluator": (ev, arrays),
        "tfhe": (_noren.tfhe, arrays),
    }

    both = switching.Parameters("toy", "TOY_SWITCH", log_slots=2)
    real, narrow = ckks.Context(both.bootstrapping.ckks), tfhe.Context(both.tfhe)
    secret, digits = real.keygen(), narrow.keygen()
    boot = bootstrapping.Bootstrapper(bootstrapping.BootstrapKeys.generate(both.bootstrapping, secret.secret))
    between = switching.SwitchingKeys.generate(both, secret.secret, digits.secret)
    low = real.encrypt([0.5, 0.25], secret.public, slots=4)
    switched = common | {"x": low, "bootstrapper": boot, "tfhe": digits.server, "keys": between, "f": [0.0, 1.0]}
    switched |= {"parameters": both.bootstrapping, "secret": secret.secret}
    found |= {
        "bootstrapping.Parameters": (both.bootstrapping, switched),
        "bootstrapping.Plan": (both.bootstrapping.plan(), switched),
        "bootstrapping.BootstrapKeys": (bootstrapping.BootstrapKeys, switched),
        "switching.Parameters": (both, switched),
        "switching.SwitchingKeys": (between, switched),
        "switching.Switch": (switching.Switch(boot, digits.server, between), switched),
        "switching": (_noren.switching, switched),
    }

    program = programs.Program("mean")
    table = programs.encrypt_table(np.ones((2, 2)), keys.secret)
    of_tables = reals | {"programs": [program], "table": table, "values": np.ones((2, 2))}
    of_table = _noren.programs.Program("mean")
    found |= {
        "programs.Program": (of_table, of_tables),
        "programs.Plan": (of_table.plan(2, 2, slots=8), of_tables),
        "programs": (_noren.programs, of_tables | {"programs": [of_table]}),
        "compiler.Program": (compiler.Program, common),
        "__init__": (_noren, common),
    }
    return found


# What takes its arguments from functions in Python, which are tried below.
INNER = {
    "advisor.advise_function",
    "advisor.advise_workload",
    "advisor.calibrate_to",
    "compiler.Graph.finish",
    "compiler.Program.compile",
    "intersection.Database.__new__",
    "intersection.Plan.from_bytes",
    "owners.Party.load",
    "owners.Session.__new__",
    "owners.Session.from_bytes",
    "retrieval.Database.__new__",
    "retrieval.Plan.decrypt",
    "retrieval.Plan.encrypt",
    "retrieval.Plan.from_bytes",
    "tables.Query.compile",
    "tables.schema_of",
}


def test_numbers_that_no_type_holds_are_refused_by_the_number(things: dict[str, tuple[Any, Names]]) -> None:
    found: list[str] = []
    for module, tree in MODULES.items():
        owners: list[tuple[str, ast.Module | ast.ClassDef]] = [
            (module, tree),
            *((f"{module}.{name}", node) for (home, name), node in CLASSES.items() if home == module),
        ]
        for owner, node in owners:
            if owner.rpartition(".")[2].startswith("_") and owner != "__init__":
                continue
            for function in functions(module, node):
                name = f"{owner}.{function.name}"
                if name in INNER or not list(whole_arguments(function)):
                    continue
                # Some take a key of another kind than the others of their class.
                thing, names = things.get(name, things[owner])
                if function.name == "__new__":
                    call = thing if inspect.isclass(thing) else type(thing)
                else:
                    call = getattr(thing, function.name)
                found += faults(name, function, call, names)
    assert len(found) > 600
    assert not [text for text in found if text]


ADVICE: list[tuple[str, Names]] = [
    ("sum", {"count": 4, "real": 10}),
    ("squarings", {"degree": 2, "integer": 4, "result_bits": 4}),
    ("matrix", {"rows": 2, "columns": 2, "modulus": 257}),
    ("table", {"inputs": 1, "integer": 4, "instances": 2, "threads": 1}),
    ("compare", {"integer": 4, "server_memory": 2**30, "client_memory": 2**30}),
]


def advised(computation: str, options: Names, option: str, number: int) -> advisor.Advice:
    return noren.advise(computation, **options | {option: number}, machine=advisor.REFERENCE)


def joint_session(*, results: int = 1, distance: int = 64, threshold: int | None = None) -> object:
    parameters = bfv.Parameters(10, 12289, [50] * 4, [50], secret="joint:2", security=None)
    names = ["a", "b"]
    return noren.owners.Session(parameters, names, results=results, distance=distance, threshold=threshold)


def test_functions_in_python_refuse_them_too(tmp_path: Path) -> None:
    calls: list[Callable[[int], object]] = [
        lambda n: advisor.calibrate(tmp_path / "none" / "none", threads=n),
        lambda n: noren.compile(lambda x: x + 1, noren.Input(2, 0, 3), security=n),  # type: ignore[arg-type]
        lambda n: noren.advise(lambda x: x + 1, noren.Input(2, 0, 3), machine=advisor.REFERENCE, security=n),  # type: ignore[arg-type]
        lambda n: noren.advise(lambda x: x + 1, noren.Input(2, 0, 3), machine=advisor.REFERENCE, server_memory=n),
        lambda n: tables.compile("count(*)", {"x": [1]}, rows=n),
        lambda n: tables.compile("count(*)", {"x": tables.Integers(0, 1)}, rows=n),
        lambda n: tables.compile("count(*)", {"x": [1]}, security=n),  # type: ignore[arg-type]
        lambda n: retrieval.Database([b"a"], security=n),  # type: ignore[arg-type]
        lambda n: retrieval.Client(b"", min_security=n),
        lambda n: retrieval.Client(retrieval.Database([b"a"]).description).encrypt([n]),
        lambda n: joint_session(results=n),
        lambda n: joint_session(distance=n),
        lambda n: joint_session(threshold=n),
        lambda n: noren.owners.Session.from_bytes(b"", min_security=n),
        lambda n: noren.owners.Party.load(tmp_path, min_security=n),
        lambda n: intersection.Database(["a"], asked=n),
        lambda n: intersection.Database(["a"], asked=1, distance=n),
        lambda n: intersection.Database(["a"], asked=1, security=n),  # type: ignore[arg-type]
        lambda n: intersection.Client(b"", min_security=n),
        lambda n: bfv.Lookup(lambda x: x, domain=n).plan(bfv.Parameters(10, 12289, [50] * 10, [50] * 2, security=None)),
    ]
    for computation, options in ADVICE:
        calls += [functools.partial(advised, computation, options, option) for option in options if option != "real"]
    for at, call in enumerate(calls):
        for number in (*HUGE, -1):
            assert not fault(f"call {at}", functools.partial(call, number), number)
            with pytest.raises(noren.Error):
                call(number)


def test_whole_numbers_of_all_kinds_are_taken_and_others_are_not(world: World) -> None:
    x = world.encrypt([1.0, 2.0])
    one: Any
    for one in (1, np.int8(1), np.uint64(1), True):
        world.check(world.ev.rotate(x, one), np.array([2.0, *[0.0] * 6, 1.0]))
        assert ckks.rotations_of_sum(4 * one, stride=one) == ckks.rotations_of_sum(4)
    for other in (1.0, np.float64(1), "1", None, [1]):
        with pytest.raises(TypeError):
            world.ev.rotate(x, other)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            ckks.Parameters(5, [other], [40], security=None)  # type: ignore[list-item]
    for long, digits in ((10**1000, "1001"), (-(10**5000), "thousands of")):
        with pytest.raises(noren.EncodingError, match=f"a number of {digits} digits was given, a whole number from 0"):
            ckks.Context(world.ctx.parameters, threads=long)
    with pytest.raises(TypeError, match=r"ternary.*found 2\.5"):
        ckks.Parameters(5, [40], [40], secret=2.5, security=None)  # type: ignore[arg-type]
