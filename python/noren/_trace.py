"""Tracing: arrays that record what numpy does with them."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from operator import index
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


class Tracer(ABC):
    """A graph in the making, and how functions of numpy become operations of it."""

    def __init__(self, draft: bool = False) -> None:
        """Begin an empty graph; a draft is one whose ranges are those of examples in the end."""
        self.graph = Graph(draft)

    @abstractmethod
    def ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a universal function."""

    @abstractmethod
    def function(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record another function."""

    def push(
        self,
        operation: object,
        numbers: NDArray[np.float64] | None = None,
        blocks: NDArray[np.uint32] | None = None,
    ) -> Traced:
        """Append an operation in the form of its JSON; numbers are a constant or matrix, blocks its places."""
        node, shape, element, low, high = self.graph.push(json.dumps(operation), place(), numbers, blocks)
        return Traced(self, node, tuple(shape), _DTYPES[element], (low, high))

    def input(self, name: str, shape: Sequence[int], element: str, low: float, high: float) -> Traced:
        """Append an input."""
        return self.push({"input": {"name": name, "shape": list(shape), "element": element, "range": [low, high]}})

    def constant(self, values: object) -> Traced:
        """Append numbers in clear."""
        array = known(values)
        element = {"b": "bool", "f": "real"}.get(array.dtype.kind, "integer")
        numbers = array.astype(np.float64).ravel()
        return self.push({"constant": {"shape": list(array.shape), "element": element, "values": []}}, numbers)

    def traced(self, x: Any) -> Traced:
        """Return an array of this tracer: a traced one, or numbers in clear."""
        return x if isinstance(x, Traced) else self.constant(x)


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array whose values are not known while a function is traced; its shape and type are."""

    __array_priority__ = 1000

    def __init__(
        self,
        tracer: Tracer,
        node: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        within: tuple[float, float],
    ) -> None:
        """Name a node of a graph, whose elements lie within two numbers."""
        self.tracer, self.node, self.shape, self.dtype, self.within = tracer, node, shape, dtype, within

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

    def typed(self, dtype: np.dtype[Any]) -> Traced:
        """Return the array under another type of numpy; integers that it does not hold are refused."""
        if dtype == self.dtype:
            return self
        low, high = self.within
        if dtype.kind in "iu" and not (np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max):
            raise TraceError(
                f"{place()}: integers from {low:.0f} to {high:.0f} as {dtype}, in which numpy would wrap them around: "
                "compute with np.int64 in its place, as .astype(np.int64) of the operands does"
            )
        return Traced(self.tracer, self.node, self.shape, dtype, self.within)

    def number(self) -> Traced:
        """Return truth values as the integers 0 and 1, and numbers as they are."""
        return self.binary("add", self.tracer.constant(0)) if self.dtype.kind == "b" else self

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
        return self.tracer.push({"polynomial": [self.node, [float(c) for c in known(coefficients)]]})

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

    def reduce(self, name: str, axis: object = None, keepdims: object = False) -> Traced:
        """Combine all elements along axes."""
        axes = _axes(axis, self.ndim)
        if not axes:
            return self.number() if name in ("sum", "product") else self
        result = self.tracer.push({"reduce": [name, self.node, list(axes)]})
        return result.kept_axes(self.shape, axis) if keepdims else result

    def kept_axes(self, shape: tuple[int, ...], axis: object) -> Traced:
        """Return what was reduced along axes of an array of a shape with these axes, of one element each."""
        axes = _axes(axis, len(shape))
        return self.reshape([1 if at in axes else extent for at, extent in enumerate(shape)])

    def along(self, name: str, axis: Any) -> Traced:
        """Put the elements along an axis in order, or find the place of the largest; None takes the whole array."""
        x, at = self.with_axis(axis)
        return self.tracer.push({name: [x.node, at]})

    def with_axis(self, axis: Any) -> tuple[Traced, int]:
        """Return the array and the position of an axis; None takes the whole array as a vector."""
        x = self.reshape(-1) if axis is None else self
        return x, np.lib.array_utils.normalize_axis_index(-1 if axis is None else index(axis), x.ndim)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Traced:
        """Give the elements another shape."""
        result: Traced = np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)  # type: ignore[call-overload]
        return result

    def transpose(self, *axes: Any) -> Traced:
        """Permute the axes."""
        return self.rearranged(lambda positions: positions.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> Traced:
        """Exchange two axes."""
        return self.rearranged(lambda positions: positions.swapaxes(axis1, axis2))

    def flatten(self, order: str = "C") -> Traced:
        """Return the elements as a vector."""
        return self.reshape(-1, order=order)

    def copy(self, order: str = "C") -> Traced:
        """Return the array: it is immutable."""
        return self

    def astype(
        self, dtype: DTypeLike, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Traced:
        """Return the array as one of another type, of which numpy would change no value."""
        wanted = np.dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):
            raise TraceError(f"{place()}: {self.dtype} to {wanted} is no cast of casting={casting!r}")
        if wanted.kind in "iu" and self.dtype.kind == "f":
            raise TraceError(f"{place()}: real numbers to {wanted}: encrypted numbers are not rounded")
        if wanted.kind not in "biuf" or (wanted.kind == "b" and self.dtype.kind != "b"):
            raise TraceError(f"{place()}: {self.dtype} to {wanted}: compare with 0 in its place")
        if wanted.kind == "f":
            held = 2 ** (np.finfo(wanted).nmant + 1) if self.dtype.kind in "iu" else np.finfo(wanted).max
            if wanted.itemsize < 4 or max(map(abs, self.within)) > held:
                raise TraceError(f"{place()}: {self.dtype} to {wanted}, which would round: use np.float64")
            wanted = np.dtype(np.float64)
        return self if wanted.kind == "b" else self.number().typed(wanted)

    def sort(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Refuse to change."""
        raise TraceError(f"{place()}: x.sort() changes an encrypted array: write y = np.sort(x)")

    def clip(self, *bounds: Any, **options: Any) -> Traced:
        """Return the numbers within two bounds."""
        result: Traced = np.clip(self, *bounds, **options)
        return result

    def __getattr__(self, name: str) -> Any:
        """Return a method of arrays by the function of the same name."""
        if name.startswith("_") or not callable(getattr(np.ndarray, name, None)) or not hasattr(np, name):
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

    def _in_place(self, operator: Callable[[Any, Any], Any], other: Any) -> Any:
        """Record an assignment such as ``x += 1``, which names a new array: traced ones do not change."""
        result = operator(self, other)
        if result is NotImplemented or not self.shape:
            return result
        if result.shape != self.shape or "biuf".index(result.dtype.kind) > "biuf".index(self.dtype.kind):
            raise TraceError(
                f"{place()}: an array of shape {self.shape} and type {self.dtype} cannot become one of shape "
                f"{result.shape} and type {result.dtype} in its place: name a new one, such as y = x + 1"
            )
        return result.typed(self.dtype) if self.dtype.kind in "iu" else result

    def __iadd__(self, other: Any) -> Any:
        return self._in_place(np.add, other)

    def __isub__(self, other: Any) -> Any:
        return self._in_place(np.subtract, other)

    def __imul__(self, other: Any) -> Any:
        return self._in_place(np.multiply, other)

    def __imatmul__(self, other: Any) -> Any:
        return self._in_place(np.matmul, other)

    def __itruediv__(self, other: Any) -> Any:
        return self._in_place(np.true_divide, other)

    def __ifloordiv__(self, other: Any) -> Any:
        return self._in_place(np.floor_divide, other)

    def __imod__(self, other: Any) -> Any:
        return self._in_place(np.remainder, other)

    def __ipow__(self, other: Any) -> Any:
        return self._in_place(np.power, other)

    def __ilshift__(self, other: Any) -> Any:
        return self._in_place(np.left_shift, other)

    def __irshift__(self, other: Any) -> Any:
        return self._in_place(np.right_shift, other)

    def __iand__(self, other: Any) -> Any:
        return self._in_place(np.bitwise_and, other)

    def __ior__(self, other: Any) -> Any:
        return self._in_place(np.bitwise_or, other)

    def __ixor__(self, other: Any) -> Any:
        return self._in_place(np.bitwise_xor, other)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Record a universal function of numpy."""
        return self.tracer.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        """Record another function of numpy."""
        return self.tracer.function(func, args, kwargs)

    def __array__(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Refuse to become an array of known values."""
        raise TraceError(
            f"{place()}: numpy needs the values of an encrypted array here: keep to functions that are traced, and for "
            "a table write noren.compiler.table(values, x) in place of values[x], for an assignment to elements of a "
            "known array np.stack or np.concatenate"
        )

    def __bool__(self) -> NoReturn:
        """Refuse to decide while values are not known."""
        raise TraceError(
            f"{place()}: the truth value of an encrypted array is not known while a function is traced: in place of "
            "if, while, and, or, not, max, min write np.where(condition, a, b), np.logical_and, np.maximum, np.minimum"
        )

    def __float__(self) -> NoReturn:
        """Refuse to become a number."""
        raise TraceError(
            f"{place()}: an encrypted value cannot become a Python number: compute with the array itself, and in place "
            "of an assignment to an element of a known array build the result by np.stack or np.concatenate"
        )

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


def known(values: object) -> NDArray[Any]:
    """Return numbers in clear as an array, all of them finite and held exactly by a float64.

    Raises TraceError for others, and for masked ones.
    """
    array = np.asarray(values)
    if np.ma.is_masked(values):
        raise TraceError(f"{place()}: a masked array with masked values: fill them, such as by values.filled(0)")
    if array.dtype.kind not in "biuf":
        raise TraceError(f"{place()}: a constant of type {array.dtype}: use integers, real numbers or truth values")
    if (inexact := first_inexact(array)) is not None:
        raise TraceError(f"{place()}: the constant {inexact}: integers of at most 2^53 are computed with")
    if not np.isfinite(array).all():
        raise TraceError(f"{place()}: a constant that is not finite")
    return array


def first_inexact(array: NDArray[Any]) -> int | None:
    """Return the first integer of an array that a float64 does not hold exactly."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return None
    large = (array > 2**53) | (array < -(2**53)) if array.dtype.kind == "i" else array > 2**53
    return next((int(x) for x in array[large].ravel() if int(float(int(x))) != int(x)), None)


_NAME: ContextVar[str] = ContextVar("place", default="")


@contextmanager
def named(name: str) -> Iterator[None]:
    """Let a name stand for file and line, where these are not of a function that a user wrote."""
    before = _NAME.set(name)
    try:
        yield
    finally:
        _NAME.reset(before)


def place() -> str:
    """Return the file and line of the traced function that runs, or the name of what runs."""
    if name := _NAME.get():
        return name
    frame = sys._getframe(1)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        own = file.startswith(_PACKAGE) and Path(file).name.startswith(("_trace", "_signature", "compiler", "advisor"))
        library = own or file.startswith((_NUMPY, "<__array_function__"))
        if not library:
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _axes(axis: object, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axes, ndim)))
