"""Readers of TFHE in Python: each with what is done with what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz_api.reading import World, attempt, loaded, saved
from noren import tfhe


def tfhe_params(w: World) -> None:
    params = tfhe.Parameters.from_bytes(w.data)
    _ = (bytes(params), repr(params), params.log2_failure, params.preset)
    tfhe.Context(params, threads=1)


def tfhe_secret(w: World) -> None:
    key = loaded(w, tfhe.SecretKey, min_security=0)
    saved(w, key)
    for name in ("tfhe.fresh", "bool.result", "light.fresh"):
        attempt(w.good.tfhe[name.split(".")[0]][0].decrypt, w.good.objects[name], key)
    attempt(lambda: key.context.encrypt(np.array([True]), key))


def tfhe_server(cls: Any) -> Callable[[World], None]:
    def run(w: World) -> None:
        keys = loaded(w, cls, min_security=0)
        saved(w, keys)
        # Keys of the light set take a second to be made ready.
        if cls is tfhe.ServerKeys:
            use_server(w, keys)

    return run


def use_server(w: World, keys: Any) -> None:
    """Compute with keys of a server."""
    name = w.name.split(".")[0]
    ctx, good, x = w.good.tfhe[name if name in w.good.tfhe else "tfhe"]
    ev = ctx.evaluator(keys)
    ctx.decrypt(ev.bind(x[:1]) & ev.bind(x[1:]), good.secret)


def tfhe_circuit(w: World) -> None:
    keys = loaded(w, tfhe.CircuitKeys, min_security=0)
    saved(w, keys)
    ctx, good, x = w.good.tfhe["tfhe"]
    ev = ctx.evaluator(good.server, keys)
    ctx.decrypt(ev.lookup(np.arange(256, dtype=np.uint8)[::-1], ev.bind(x[:1])), good.secret)


def tfhe_mapped(check: bool) -> Callable[[World], None]:
    return lambda w: use_server(w, tfhe.ExpandedServerKeys.load(w.path, check=check, min_security=0))


def tfhe_array(w: World) -> None:
    name = w.name.split(".")[0]
    ctx, keys, _ = w.good.tfhe[name if name in w.good.tfhe else "tfhe"]
    x = loaded(w, tfhe.EncryptedArray, context=ctx)
    saved(w, x)
    repr(x)
    attempt(lambda: ctx.decrypt(x, keys.secret))
    if f"{name}.evaluator" in w.good.objects and x.size <= 8:
        bound = w.good.objects[f"{name}.evaluator"].bind(x)
        attempt(lambda: ctx.decrypt(bound ^ bound, keys.secret))
        attempt(lambda: saved(w, bound[:1]))
