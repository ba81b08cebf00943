"""Tracing: arrays that record what numpy does with them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from noren._noren import Error
from noren._noren.compiler import Graph

__all__ = ["TraceError", "Traced", "Tracer"]

_DTYPES: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    "integer": np.dtype(np.int64),
    "real": np.dtype(np.float64),
}
_PACKAGE = str(Path(__file__).parent)
_NUMPY = str(Path(np.__file__).parent)


class TraceError(Error):
    """A function that cannot be traced: it asks for values, or for what numpy has and the compiler does not."""


class Tracer:
    """A graph in the making."""

    def __init__(self) -> None:
        """Begin an empty graph."""
        self.graph = Graph()

    def push(self, operation: object) -> Traced:
        """Append an operation in the form of its JSON."""
        node, shape, element, _, _ = self.graph.push(json.dumps(operation), place())
        return Traced(self, node, tuple(shape), _DTYPES[element])

    def input(self, name: str, shape: Sequence[int], element: str, low: float, high: float) -> Traced:
        """Append an input."""
        return self.push({"input": {"name": name, "shape": list(shape), "element": element, "range": [low, high]}})

    def constant(self, values: object) -> Traced:
        """Append numbers in clear."""
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TraceError(f"{place()}: a constant of type {array.dtype}: use integers, real numbers or truth values")
        element = {"b": "bool", "f": "real"}.get(array.dtype.kind, "integer")
        numbers = array.astype(np.float64).ravel()
        if not np.isfinite(numbers).all():
            raise TraceError(f"{place()}: a constant that is not finite")
        return self.push({"constant": {"shape": list(array.shape), "element": element, "values": numbers.tolist()}})


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array whose values are not known while a function is traced; its shape and type are."""

    __array_priority__ = 1000

    def __init__(self, tracer: Tracer, node: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Name a node of a graph."""
        self.tracer, self.node, self.shape, self.dtype = tracer, node, shape, dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def T(self) -> Traced:  # noqa: N802
        """The array with its axes in reverse order."""
        return self.transpose()

    def unary(self, name: str) -> Traced:
        """Apply an operation to each element."""
        return self.tracer.push({"unary": [name, self.node]})

    def binary(self, name: str, other: Traced) -> Traced:
        """Apply an operation to each pair of elements."""
        return self.tracer.push({"binary": [name, self.node, other.node]})

    def function(self, name: str) -> Traced:
        """Apply a smooth function to each element."""
        return self.tracer.push({"function": {"name": name, "of": self.node}})

    def polynomial(self, coefficients: Sequence[float]) -> Traced:
        """Apply a polynomial, lowest coefficient first, to each element."""
        return self.tracer.push({"polynomial": [self.node, [float(c) for c in coefficients]]})

    def gather(self, positions: NDArray[np.int64]) -> Traced:
        """Take elements by their positions in row-major order, zero for a position of -1."""
        if positions.size == 0:
            raise TraceError(f"{place()}: an array without elements")
        shape, flat = list(positions.shape), positions.ravel().tolist()
        result = self.tracer.push({"gather": {"of": self.node, "shape": shape, "positions": flat}})
        result.dtype = self.dtype
        return result

    def rearranged(self, change: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Traced:
        """Rearrange the elements as a function of numpy rearranges positions."""
        positions = np.arange(self.size, dtype=np.int64).reshape(self.shape)
        return self.gather(np.asarray(change(positions)))

    def reduce(self, name: str, axis: object = None, keepdims: bool = False) -> Traced:
        """Combine all elements along axes."""
        axes = _axes(axis, self.ndim)
        if not axes or self.size == 0:
            return self
        result = self.tracer.push({"reduce": [name, self.node, list(axes)]})
        if keepdims:
            shape = [1 if at in axes else extent for at, extent in enumerate(self.shape)]
            result = result.reshape(shape)
        return result

    def reshape(self, *shape: Any, order: str = "C") -> Traced:
        """Give the elements another shape."""
        extents = shape[0] if len(shape) == 1 else shape
        if order != "C":
            raise TraceError(f"{place()}: reshape in order {order!r}: only 'C' is traced")
        return self.rearranged(lambda positions: positions.reshape(extents))

    def transpose(self, *axes: Any) -> Traced:
        """Permute the axes."""
        return self.rearranged(lambda positions: positions.transpose(*axes))

    def swapaxes(self, first: int, second: int) -> Traced:
        """Exchange two axes."""
        return self.rearranged(lambda positions: positions.swapaxes(first, second))

    def ravel(self) -> Traced:
        """Return the elements as a vector."""
        return self.reshape(-1)

    def flatten(self) -> Traced:
        """Return the elements as a vector."""
        return self.reshape(-1)

    def squeeze(self, axis: Any = None) -> Traced:
        """Drop axes of one element."""
        return self.rearranged(lambda positions: positions.squeeze(axis))

    def copy(self) -> Traced:
        """Return the array: it is immutable."""
        return self

    def astype(self, dtype: DTypeLike) -> Traced:
        """Return the array as one of another type; real numbers cannot become integers."""
        wanted = np.dtype(dtype)
        if wanted.kind in "iu" and self.dtype.kind == "f":
            raise TraceError(f"{place()}: real numbers to {wanted}: encrypted numbers are not rounded")
        if wanted.kind not in "biuf" or (wanted.kind == "b" and self.dtype.kind != "b"):
            raise TraceError(f"{place()}: {self.dtype} to {wanted}: compare with 0 in its place")
        return Traced(self.tracer, self.node, self.shape, wanted)

    def sum(self, axis: object = None, keepdims: bool = False) -> Traced:
        """Add elements along axes."""
        return self.reduce("sum", axis, keepdims)

    def prod(self, axis: object = None, keepdims: bool = False) -> Traced:
        """Multiply elements along axes."""
        return self.reduce("product", axis, keepdims)

    def max(self, axis: object = None, keepdims: bool = False) -> Traced:
        """Return the largest elements along axes."""
        return self.reduce("maximum", axis, keepdims)

    def min(self, axis: object = None, keepdims: bool = False) -> Traced:
        """Return the smallest elements along axes."""
        return self.reduce("minimum", axis, keepdims)

    def mean(self, axis: object = None, keepdims: bool = False) -> Traced:
        """Return the means along axes."""
        result: Traced = np.mean(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]
        return result

    def var(self, axis: object = None, ddof: int = 0) -> Traced:
        """Return the variances along axes."""
        result: Traced = np.var(self, axis=axis, ddof=ddof)  # type: ignore[call-overload]
        return result

    def any(self, axis: object = None) -> Traced:
        """Return whether any element along axes is true."""
        return self.reduce("maximum", axis)

    def all(self, axis: object = None) -> Traced:
        """Return whether all elements along axes are true."""
        return self.reduce("minimum", axis)

    def dot(self, other: Any) -> Traced:
        """Return the product with a vector or matrix."""
        result: Traced = self @ other
        return result

    def clip(self, low: Any = None, high: Any = None) -> Traced:
        """Return the numbers, at least `low` and at most `high`."""
        result = self
        if low is not None:
            result = np.maximum(result, low)
        return result if high is None else np.minimum(result, high)

    def __getattr__(self, name: str) -> Any:
        """Return a method of arrays by the function of the same name."""
        if name.startswith("_") or not hasattr(np.ndarray, name) or not hasattr(np, name):
            raise AttributeError(f"{place()}: encrypted arrays have no attribute {name!r} while a function is traced")
        return partial(getattr(np, name), self)

    def __getitem__(self, index: Any) -> Traced:
        """Take elements by an index that is known."""
        if any(isinstance(part, Traced) for part in (index if isinstance(index, tuple) else (index,))):
            raise TraceError(
                f"{place()}: an encrypted index: select with np.where, or look up with noren.compiler.table"
            )
        return self.rearranged(lambda positions: positions[index])

    def __len__(self) -> int:
        """Return the length of the first axis."""
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Traced]:
        """Iterate over the first axis, whose length is known."""
        return (self[at] for at in range(len(self)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Record a universal function of numpy."""
        from noren._trace_functions import ufunc_of

        return ufunc_of(self.tracer, ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        """Record another function of numpy."""
        from noren._trace_functions import function_of

        return function_of(self.tracer, func, args, kwargs)

    def __array__(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Refuse to become an array of known values."""
        raise TraceError(
            f"{place()}: numpy needs the values of an encrypted array here: keep to functions that are traced, and for "
            "a table write noren.compiler.table(values, x) in place of values[x]"
        )

    def __bool__(self) -> NoReturn:
        """Refuse to decide while values are not known."""
        raise TraceError(
            f"{place()}: the truth value of an encrypted array is not known while a function is traced: in place of "
            "if, while, and, or, not, max, min write np.where(condition, a, b), np.logical_and, np.maximum, np.minimum"
        )

    def __float__(self) -> NoReturn:
        """Refuse to become a number."""
        raise TraceError(f"{place()}: an encrypted value cannot become a Python number: compute with the array itself")

    __int__ = __complex__ = item = tolist = __float__

    def __index__(self) -> NoReturn:
        """Refuse to become an index."""
        raise TraceError(
            f"{place()}: an encrypted value as an index or a count: write noren.compiler.table(values, x) in place of "
            "values[x], and loop over a number that is known"
        )

    def __contains__(self, _value: object) -> NoReturn:
        """Refuse to search."""
        raise TraceError(f"{place()}: a search in an encrypted array: write (x == value).any()")

    def __setitem__(self, _index: object, _value: object) -> NoReturn:
        """Refuse to change."""
        raise TraceError(
            f"{place()}: an assignment to an encrypted array: build a new one with np.where or np.concatenate"
        )

    def __hash__(self) -> int:
        """Return the identity."""
        return id(self)

    def __repr__(self) -> str:
        """Return shape and type."""
        return f"Traced(shape={self.shape}, dtype={self.dtype})"


def place() -> str:
    """Return the file and line of the traced function that runs."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        library = file.startswith((_NUMPY, "<__array_function__")) or (
            file.startswith(_PACKAGE)
            and Path(file).name in ("_trace.py", "_trace_functions.py", "_signature.py", "compiler.py", "advisor.py")
        )
        if not library:
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _axes(axis: object, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axes, ndim)))
