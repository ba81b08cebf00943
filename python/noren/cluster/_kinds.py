"""Kinds of keys that a cluster takes: how each is expanded into a file that is mapped, and what evaluates with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren import bfv, bootstrapping, ckks, tfhe


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
        _written(tfhe.ServerKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluators
    ),
    "light keys with TFHE parameters": KeyKind(
        _written(tfhe.LightKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluators
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
)
"""The classes of keys of these kinds."""
