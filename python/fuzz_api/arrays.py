"""TFHE arrays beyond single operators: shapes, order, sums of truth values, as numpy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz_api.draw import Rng, chance, one_of
from fuzz_api.program import Call, Item, Verb
from fuzz_api.tfhe import World, costs, quotient
from fuzz_api.verdict import REFUSE
from noren import tfhe


def attempted(work: Any) -> Any:
    """Return what numpy gives, REFUSE where it raises."""
    try:
        return np.asarray(work())
    except (ValueError, IndexError, TypeError):
        return REFUSE


def joined(w: World, rng: Rng, x: Item, y: Item) -> Call:
    name = one_of(rng, "concatenate", "stack")
    axis = int(one_of(rng, 0, 0, -1, 1))
    truth = attempted(lambda: getattr(np, name)([x.truth, y.truth, x.truth], axis))
    if x.truth.dtype != y.truth.dtype:
        truth = REFUSE
    run = lambda: getattr(tfhe, name)([x.value, y.value, x.value], axis)
    return Call(f"tfhe.{name}([x, y, x], {axis})", run, truth)


def moved(w: World, rng: Rng, x: Item) -> Call:
    axes = tuple(int(k) for k in rng.permutation(x.truth.ndim))
    calls: list[tuple[str, Any, Any]] = [
        ("x.T", lambda: x.value.T, x.truth.T),
        ("x.ravel()", lambda: x.value.ravel(), x.truth.ravel()),
        (f"x.transpose{axes}", lambda: x.value.transpose(*axes), x.truth.transpose(*axes)),
        ("x.transpose()", lambda: x.value.transpose(), x.truth.transpose()),
    ]
    text, run, truth = calls[int(rng.integers(len(calls)))]
    return Call(text, run, np.asarray(truth))


def ordered(w: World, rng: Rng, x: Item) -> Call | None:
    if w.bits_only or costs("*", x):
        return None
    if chance(rng, 0.5):
        axis = one_of(rng, -1, 0, None)
        truth = attempted(lambda: np.sort(x.truth, axis))
        return Call(f"ev.sort(x, axis={axis})", lambda: w.ev.sort(x.value, axis), truth)
    axis = one_of(rng, None, 0, -1)
    count = x.truth.size if axis is None else (x.truth.shape or (1,))[axis]
    truth = attempted(lambda: x.truth.argmin(axis).astype(np.min_scalar_type(count - 1)))
    if chance(rng, 0.5):
        return Call(f"x.argmin({axis})", lambda: x.value.argmin(axis), truth)
    return Call(f"ev.argmin(x, {axis})", lambda: w.ev.argmin(x.value, axis), truth)


def absolute(w: World, rng: Rng, x: Item) -> Call | None:
    if x.truth.dtype == np.bool_:
        return None
    with np.errstate(all="ignore"):
        truth = np.asarray(np.abs(x.truth))
    return Call("abs(x)", lambda: abs(x.value), truth)


def both(w: World, rng: Rng, x: Item, y: Item) -> Call | None:
    if x.truth.dtype == np.bool_ or costs("//", x) or costs("//", y):
        return None
    truth: Any = REFUSE
    if x.truth.dtype == y.truth.dtype:
        try:
            np.broadcast_shapes(x.truth.shape, y.truth.shape)
        except ValueError:
            pass
        else:
            truth = [quotient("//", x.truth, y.truth), quotient("%", x.truth, y.truth)]
    return Call("divmod(x, y)", lambda: divmod(x.value, y.value), truth)


def counted(w: World, rng: Rng, x: Item) -> Call | None:
    """Truth values sum to the narrowest unsigned type that holds their number."""
    if x.truth.dtype != np.bool_ or w.bits_only:
        return None
    axis = one_of(rng, None, *range(-x.truth.ndim, x.truth.ndim))
    count = x.truth.size if axis is None else x.truth.shape[axis]
    truth = np.asarray(x.truth.sum(axis)).astype(np.min_scalar_type(count))
    if chance(rng, 0.5):
        return Call(f"x.sum({axis})", lambda: x.value.sum(axis), truth)
    return Call(f"ev.sum(x, {axis})", lambda: w.ev.sum(x.value, axis), truth)


def iterated(w: World, rng: Rng, x: Item) -> Call | None:
    if x.truth.ndim == 0:
        return None
    return Call("list(x)", lambda: list(x.value), [np.asarray(row) for row in x.truth])


ONE, TWO = ("ciphertext",), ("ciphertext",) * 2
VERBS: list[Verb] = [
    Verb("joined", joined, TWO, 0.6),
    Verb("moved", moved, ONE, 0.5),
    Verb("ordered", ordered, ONE, 0.6),
    Verb("absolute", absolute, ONE, 0.4),
    Verb("divmod", both, TWO, 0.4),
    Verb("counted", counted, ONE, 0.5),
    Verb("iterated", iterated, ONE, 0.3),
]
