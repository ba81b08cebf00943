"""Kinds of keys that a cluster takes: how each is expanded into a file that is mapped, and what evaluates with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren import bfv, bootstrapping, ckks, tfhe
from noren.cluster._errors import ClusterError
from noren.cluster._hash import CONTAINER, HEADER


@dataclass(frozen=True)
class KeyKind:
    """A kind of keys."""

    name: str
    expand: Callable[[Path, Path, int], object]
    """Expands a file into another, whose keys lie as in memory. The number is `min_security`."""
    map: Callable[[Path, bool, int], Any]
    """The keys of an expanded file, where they lie; whether its digest is compared, and `min_security`."""
    evaluators: Callable[[Any, str | None], Callable[[], Any]]
    """What makes the object that a program evaluates with; the scheme, or the mode, that the cluster was given. Each
    task has its own: an evaluator counts the bootstraps that it did."""
    choices: tuple[str, ...] = ()
    """What `scheme` may be; the first is the default if it is None."""


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
    0x0107: KeyKind(
        "evaluation keys of CKKS", _saved(ckks.EvaluationKeys), _mapped(ckks.EvaluationKeys), _own_evaluators
    ),
    0x0302: KeyKind(
        "bootstrapping keys",
        lambda source, to, security: bootstrapping.BootstrapKeys.expand(source, to, force=True, min_security=security),
        _mapped(bootstrapping.BootstrapKeys),
        _bootstrapping_evaluators,
        ("real", "complex"),
    ),
    0x0407: KeyKind(
        "evaluation keys of integers",
        _saved(bfv.EvaluationKeys),
        _mapped(bfv.EvaluationKeys),
        _integer_evaluators,
        ("bfv", "bgv"),
    ),
    0x0502: KeyKind("lookup keys", _saved(bfv.LookupKeys), _mapped(bfv.LookupKeys), lambda keys, _: lambda: keys),
    0x0605: KeyKind(
        "server keys of TFHE", _written(tfhe.ServerKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluators
    ),
    0x060B: KeyKind("light keys of TFHE", _written(tfhe.LightKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluators),
}
"""By the number of the kind in a file."""

TRAVELLING = (
    ckks.EvaluationKeys,
    bfv.EvaluationKeys,
    bfv.LookupKeys,
    bootstrapping.BootstrapKeys,
    tfhe.ServerKeys,
    tfhe.LightKeys,
)
"""The classes of keys of these kinds."""


def kind_of(header: bytes, what: str) -> KeyKind:
    """Return the kind of keys that a header of a file names.

    Raises `ClusterError` for what is no file of keys, and for expanded keys, which are for the machine that made them.
    """
    if len(header) != HEADER or not header.startswith(CONTAINER):
        raise ClusterError(f"{what} is no file of noren: give evaluation keys, or a file that holds them")
    code = int.from_bytes(header[10:12], "little")
    if code not in KINDS:
        names = ", ".join(kind.name for kind in KINDS.values())
        raise ClusterError(
            f"{what} holds an object of kind {code:#06x}, needed are keys that travel and do not decrypt: {names}"
        )
    return KINDS[code]
