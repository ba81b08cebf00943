"""Kinds of keys that a cluster takes: how each is expanded into a file that is mapped, and what evaluates with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren import bfv, bootstrapping, ckks, tfhe
from noren.cluster._digest import CONTAINER, HEADER
from noren.cluster._errors import ClusterError


@dataclass(frozen=True)
class KeyKind:
    """A kind of keys."""

    name: str
    expand: Callable[[Path, Path, int], object]
    """Expands a file into another, whose keys lie as in memory. The number is `min_security`."""
    map: Callable[[Path, bool, int], Any]
    """The keys of an expanded file, where they lie; whether its digest is compared, and `min_security`."""
    evaluator: Callable[[Any, str | None], Any]
    """The object that a program evaluates with; the scheme, or the mode, that the cluster was given."""
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


def _own_evaluator(keys: Any, _: str | None) -> Any:
    return keys.context.evaluator(keys)


def _bootstrapping_evaluator(keys: bootstrapping.BootstrapKeys, mode: str | None) -> ckks.Evaluator:
    bootstrapper = bootstrapping.Bootstrapper(keys, mode="complex" if mode == "complex" else "real")
    return keys.context.evaluator(keys.evaluation).with_bootstrapping(bootstrapper)


KINDS = {
    0x0107: KeyKind(
        "evaluation keys of CKKS", _saved(ckks.EvaluationKeys), _mapped(ckks.EvaluationKeys), _own_evaluator
    ),
    0x0302: KeyKind(
        "bootstrapping keys",
        lambda source, to, security: bootstrapping.BootstrapKeys.expand(source, to, force=True, min_security=security),
        _mapped(bootstrapping.BootstrapKeys),
        _bootstrapping_evaluator,
        ("real", "complex"),
    ),
    0x0407: KeyKind(
        "evaluation keys of integers",
        _saved(bfv.EvaluationKeys),
        _mapped(bfv.EvaluationKeys),
        lambda keys, scheme: getattr(keys, f"{scheme or 'bfv'}_context").evaluator(keys),
        ("bfv", "bgv"),
    ),
    0x0502: KeyKind("lookup keys", _saved(bfv.LookupKeys), _mapped(bfv.LookupKeys), lambda keys, _: keys),
    0x0605: KeyKind("server keys of TFHE", _written(tfhe.ServerKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluator),
    0x060B: KeyKind("light keys of TFHE", _written(tfhe.LightKeys), _mapped(tfhe.ExpandedServerKeys), _own_evaluator),
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
