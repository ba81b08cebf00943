"""Types of results, as numpy gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from noren._trace import Traced, TraceError, place


def as_dtype(name: str, result: Traced, dtype: Any) -> Traced:
    """Return a result that is asked for as some type: its own, or integers as float64."""
    if dtype is None or np.dtype(dtype) == result.dtype:
        return result
    if np.dtype(dtype) == np.float64 and result.dtype.kind in "iu":
        return result.astype(np.float64)
    raise TraceError(
        f"{place()}: np.{name} with dtype={np.dtype(dtype)} is not traced, the result is {result.dtype}: leave it out"
    )


def settled(result: Traced, *operands: Any) -> Traced:
    """Return a result under the type that numpy computes it in; integers that would wrap around there are refused."""
    if result.dtype.kind not in "iu":
        return result

    def kind(operand: Any) -> Any:
        if isinstance(operand, Traced):
            return operand.dtype
        return operand if type(operand) in (bool, int, float) else np.asarray(operand).dtype

    dtype = np.result_type(*map(kind, operands))
    return result.typed(np.dtype(np.int8) if dtype.kind == "b" else dtype) if dtype.kind in "biuf" else result


def encrypted(value: Any) -> bool:
    """Return whether an argument is traced, or has a part that is."""
    return isinstance(value, Traced) or (isinstance(value, list | tuple) and any(map(encrypted, value)))
