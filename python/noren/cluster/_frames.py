"""Tables and columns of pandas as arrays, and back; where pandas is not installed, there are none."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from noren.cluster._errors import KindError, ResultError

TEXTS = ("str", "string")
"""The types of columns of texts, which are lists here."""


def parts_of_frame(x: Any) -> tuple[Any, ...] | None:
    """Return a table or a column as arrays and lists; None for everything else.

    Raises `KindError` for columns that are no arrays, and indices of several levels.
    """
    pandas: Any = sys.modules.get("pandas")
    if pandas is None:
        return None
    if type(x) is pandas.DataFrame:
        columns = [_column(x.iloc[:, i], f"column {label!r}") for i, label in enumerate(x.columns)]
        return ("frame", _index(x.columns), columns, _index(x.index), dict(x.attrs))
    if type(x) is pandas.Series:
        return ("column", x.name, _column(x, f"column {x.name!r}"), _index(x.index), dict(x.attrs))
    return None


def frame_of(parts: tuple[Any, ...]) -> Any:
    """Return the table or column of parts.

    Raises `ResultError` where pandas is not installed; what pandas raises for parts that are none.
    """
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise ResultError("a result is a table of pandas, which is not installed here: return arrays") from error
    found: Any
    kind, labels, data, index, attrs = parts
    rows = _index_of(pandas, index)
    if kind == "column":
        found = pandas.Series(_values_of(pandas, data), index=rows, name=labels)
    elif kind == "frame":
        found = pandas.DataFrame(
            {i: pandas.Series(_values_of(pandas, each), index=rows) for i, each in enumerate(data)}
        )
        found.index = rows
        found.columns = _index_of(pandas, labels)
    else:
        raise ResultError(f"{kind!r} is no table of pandas")
    found.attrs.update(attrs)
    return found


def _column(x: Any, what: str) -> tuple[str, Any]:
    """Return what a column holds: its type, and an array, or a list of texts or of objects."""
    if isinstance(x.dtype, np.dtype):
        return ("objects", x.tolist()) if x.dtype.hasobject else ("array", x.to_numpy())
    if str(x.dtype) in TEXTS:
        return str(x.dtype), [each if isinstance(each, str) else None for each in x]
    raise KindError(
        f"{what} of a table has the type {x.dtype}: tables travel as arrays and texts; convert it, as by `.to_numpy()`"
    )


def _values_of(pandas: Any, column: tuple[str, Any]) -> Any:
    kind, values = column
    if kind == "array" and isinstance(values, np.ndarray):
        return values
    if kind in (*TEXTS, "objects") and type(values) is list:
        return pandas.array(values, dtype=kind) if kind in TEXTS else np.array([*values, None], dtype=object)[:-1]
    raise ResultError(f"{kind!r} is no type of a column")


def _index(x: Any) -> tuple[Any, Any]:
    """Return the name of an index, and its labels."""
    pandas: Any = sys.modules["pandas"]
    if isinstance(x, pandas.MultiIndex):
        raise KindError("a table has an index of several levels: use `reset_index()`, so that they are columns")
    if isinstance(x, pandas.RangeIndex):
        return x.name, range(x.start, x.stop, x.step)
    return x.name, _column(x, "the index")


def _index_of(pandas: Any, part: tuple[Any, Any]) -> Any:
    name, labels = part
    if type(labels) is range:
        return pandas.RangeIndex(labels, name=name)
    return pandas.Index(_values_of(pandas, labels), name=name)
