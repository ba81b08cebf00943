"""What a cluster knows of schemes, in two tables: kinds of keys that it takes, with how each is expanded into a file,
which is mapped, and what evaluates with it; and classes of objects that travel in items and results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren import _files, bfv, bgv, bootstrapping, ckks, programs, switching, tfhe
from noren._noren.compiler import Program, ServerKeys


@dataclass(frozen=True)
class KeyKind:
    """A kind of keys."""

    expand: Callable[[Path, Path, int], object]
    """Expands a file into another, whose keys lie as in memory. The number is `min_security`."""
    map: Callable[[Path, bool, int], Any]
    """The keys of an expanded file, where they lie; whether its digest is compared, and `min_security`."""
    evaluators: Callable[[Any, str | None], Callable[[], Any]]
    """What makes the object that a program evaluates with; the scheme, or the mode, that the cluster was given. Each
    task has its own: an evaluator counts the bootstraps that it did."""
    choices: tuple[str, ...] = ()
    """What `scheme` may be; the first is the default if it is None."""
    served_expanded: bool = True
    """Whether the server of a compiled function takes them expanded, where they lie; if not, as they travel."""
    suffix: str = "mapped"
    """Of the names of expanded files."""


def _mapped(keys: Any) -> Callable[[Path, bool, int], Any]:
    """Return how keys of a class are mapped."""
    return lambda path, check, security: keys.load(path, check=check, min_security=security)


def _saved(keys: Any) -> Callable[[Path, Path, int], object]:
    """Return how keys of a class are expanded that save themselves."""
    return lambda source, to, security: keys.load(source, min_security=security).save(to, force=True, expanded=True)


def _written(keys: Any) -> Callable[[Path, Path, int], object]:
    """Return how keys of TFHE are expanded."""
    return lambda source, to, security: tfhe.ExpandedServerKeys.write(
        to, keys.load(source, min_security=security), force=True
    )


def _copied(source: Path, to: Path, _: int) -> None:
    """Copy keys as they travel."""
    _files.write(to, _files.read(source), force=True)


def _own_evaluators(keys: Any, _: str | None) -> Callable[[], Any]:
    context = keys.context
    return lambda: context.evaluator(keys)


def _integer_evaluators(keys: bfv.EvaluationKeys, scheme: str | None) -> Callable[[], Any]:
    context: Any = getattr(keys, f"{scheme or 'bfv'}_context")
    return lambda: context.evaluator(keys)


def _bootstrapping_evaluators(keys: bootstrapping.BootstrapKeys, mode: str | None) -> Callable[[], Any]:
    bootstrapper = bootstrapping.Bootstrapper(keys, mode="complex" if mode == "complex" else "real")
    evaluator = keys.context.evaluator(keys.evaluation)
    return lambda: evaluator.with_bootstrapping(bootstrapper)


KINDS = {
    "evaluation keys with CKKS parameters": KeyKind(
        _saved(ckks.EvaluationKeys), _mapped(ckks.EvaluationKeys), _own_evaluators
    ),
    "bootstrapping keys": KeyKind(
        lambda source, to, security: bootstrapping.BootstrapKeys.expand(source, to, force=True, min_security=security),
        _mapped(bootstrapping.BootstrapKeys),
        _bootstrapping_evaluators,
        ("real", "complex"),
    ),
    "evaluation keys with integer parameters": KeyKind(
        _saved(bfv.EvaluationKeys), _mapped(bfv.EvaluationKeys), _integer_evaluators, ("bfv", "bgv")
    ),
    "lookup keys": KeyKind(_saved(bfv.LookupKeys), _mapped(bfv.LookupKeys), lambda keys, _: lambda: keys),
    "bootstrapping keys with TFHE parameters": KeyKind(
        _written(tfhe.ServerKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluators, served_expanded=False
    ),
    "light keys with TFHE parameters": KeyKind(
        _written(tfhe.LightKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluators, served_expanded=False
    ),
}
"""By the name that files give the kind, as `noren inspect` shows it."""

TRAVELLING = (
    ckks.EvaluationKeys,
    bfv.EvaluationKeys,
    bfv.LookupKeys,
    bootstrapping.BootstrapKeys,
    tfhe.ServerKeys,
    tfhe.LightKeys,
    ServerKeys,
)
"""The classes of keys of these kinds, and of those of compiled functions."""

OF_FUNCTIONS = "server keys of a compiled function"
"""The kind of keys of several objects, which serve nothing else."""


def kind_of_function(name: str, function: bytes) -> KeyKind:
    """Return how keys, of a kind of this name, serve a compiled function with these bytes: its server evaluates."""

    def opened(path: Path, _: bool, security: int) -> tuple[Program, ServerKeys]:
        # The digest of a file is always compared.
        program = Program.from_bytes(function, min_security=security)
        return program, program.load_server_keys(path)

    def evaluators(found: tuple[Program, ServerKeys], _: str | None) -> Callable[[], Any]:
        program, keys = found
        server = program.server(keys)
        return lambda: server

    if name != OF_FUNCTIONS and KINDS[name].served_expanded:
        return KeyKind(KINDS[name].expand, opened, evaluators)
    return KeyKind(_copied, opened, evaluators, suffix="served")


READERS: dict[str, tuple[type, Callable[..., Any]]] = {
    f"{kind.__module__}.{kind.__qualname__}": (kind, getattr(kind, name))
    for name, kinds in {
        "from_bytes": (ckks.Parameters, bgv.Parameters, tfhe.Parameters),
        "from_json": (programs.Program,),
        "_unpickle": (
            *(ckks.Context, ckks.Ciphertext, ckks.Plaintext, ckks.PublicKey, ckks.EvaluationKeys),
            *(bfv.Context, bfv.Ciphertext, bgv.Context, bgv.Ciphertext, bgv.PublicKey, bgv.EvaluationKeys),
            *(ckks.ReencryptionKey, bgv.ReencryptionKey, ckks.ReceiverKey, bgv.ReceiverKey),
            *(bgv.SlotMatrix, bfv.LookupKeys, programs.EncryptedTable, switching.SwitchingKeys),
            *(tfhe.Context, tfhe.EncryptedArray, tfhe.ServerKeys, tfhe.LightKeys, tfhe.CircuitKeys),
        ),
    }.items()
    for kind in kinds
}
"""The classes of noren that travel, and what reads each from its parts. None of them changes once it is made."""
NAMES = {kind: name for name, (kind, _) in READERS.items()}
PARAMETERS = {NAMES[kind] for kind in (ckks.Parameters, bgv.Parameters, tfhe.Parameters)}
