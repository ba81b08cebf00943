"""Arguments of functions that are compiled, and the graphs that tracing gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from noren._noren import EncodingError, RangeError
from noren._noren.compiler import Graph
from noren._trace import Traced, TraceError
from noren._trace_complex import Complex
from noren._trace_functions import NumpyTracer, flattened

Ranges: TypeAlias = Sequence[tuple[float, float]] | Literal["data"] | None
"""What `noren.compile` takes as ranges."""

ELEMENTS = {"b": "bool", "i": "integer", "u": "integer", "f": "real"}
"""The names of element types, by the kinds of numpy."""


@dataclass(frozen=True)
class Input:
    """An argument of a function: its shape, and the range of its elements, which is public.

    Numbers whose `low` and `high` are whole numbers of Python are integers, unless `dtype` says otherwise, or what they
    are for is compiled with a precision or a dead zone, which only real numbers have; truth values need ``dtype=bool``.
    """

    shape: int | tuple[int, ...] = ()
    """The shape; () for a number."""
    low: float = 0.0
    """The lowest value that any element may have."""
    high: float = 1.0
    """The highest value."""
    dtype: Any = None
    """The type: float, int or bool, or one of numpy."""
    name: str = ""
    """The name, for messages."""

    @property
    def element(self) -> str:
        """The kind of the elements: "real", "integer" or "bool"."""
        if self.dtype is None:
            whole = isinstance(self.low, int) and isinstance(self.high, int) and not isinstance(self.high, bool)
            return "integer" if whole else "real"
        kind = np.dtype(self.dtype).kind
        if kind not in ELEMENTS:
            raise EncodingError(f"dtype {np.dtype(self.dtype)}: real numbers, integers and truth values are compiled")
        return ELEMENTS[kind]


def graph_of(
    function: Callable[..., Any], examples: Sequence[Any], ranges: Ranges, reals: bool, draft: bool = False
) -> Graph:
    """Trace a function on the shapes and ranges of its arguments, which are real numbers where nothing else is said.

    draft: whether the graph is calibrated later, so that ranges of intermediate results may be anything.
    """
    inputs = _inputs(examples, ranges)
    tracer = NumpyTracer(draft)
    names = _names(function, len(inputs))
    arguments = []
    for spec, own_name in zip(inputs, names, strict=True):
        name = spec.name or own_name
        low, high = _range(name, spec.low, spec.high)
        element = "real" if reals and spec.dtype is None else spec.element
        arguments.append(tracer.input(name, _shape(name, spec.shape), element, low, high))
    found, _ = flattened(_called(function, arguments))
    if any(isinstance(output, Complex) for output in found):
        raise TraceError("an output of complex numbers: return z.real and z.imag in its place")
    outputs = [output if isinstance(output, Traced) else tracer.constant(output) for output in found]
    for output, value in zip(outputs, found, strict=True):
        if not isinstance(value, Traced):
            raise TraceError(f"output {output!r} does not depend on an input: compute it without encryption")
    tracer.graph.finish([output.node for output in outputs])
    return tracer.graph


def _called(function: Callable[..., Any], arguments: Sequence[Traced]) -> Any:
    """Return what a function returns for traced arrays."""
    try:
        result = function(*arguments)
    except (TypeError, ValueError) as error:
        # numpy's own error hides why an element of a known array cannot be an encrypted value.
        if isinstance(error.__cause__, TraceError):
            raise error.__cause__ from None
        raise
    if result is None or isinstance(result, dict | set):
        found = "None" if result is None else f"a {type(result).__name__}"
        raise TraceError(f"the function returns {found}: let it return an array, or a tuple of arrays")
    return result


def _inputs(examples: Sequence[Any], ranges: Ranges) -> list[Input]:
    data = isinstance(ranges, str)
    if data and ranges != "data":
        raise EncodingError(f'ranges={ranges!r}: give a pair (low, high) for each argument, or "data"')
    if ranges is not None and not data and len(ranges) != len(examples):
        raise EncodingError(f"{len(ranges)} ranges for {len(examples)} arguments: give a pair (low, high) for each")
    inputs: list[Input] = []
    for at, example in enumerate(examples):
        if isinstance(example, Input):
            inputs.append(example)
            continue
        array = np.asarray(example)
        if array.dtype.kind not in ELEMENTS:
            raise EncodingError(
                f"argument {at} is of type {array.dtype}: real numbers, integers and truth values are compiled"
            )
        if np.ma.is_masked(example):
            raise EncodingError(f"argument {at} has masked values: fill them, such as by x.filled(0)")
        if array.size == 0:
            raise EncodingError(f"argument {at} has the shape {array.shape}, without an element: nothing is encrypted")
        if array.dtype.kind == "b":
            low, high = 0.0, 1.0
        elif ranges is None:
            raise RangeError(
                f"argument {at} has no range: give noren.Input(shape, low, high), or ranges=[(low, high), ...], which "
                'are public; ranges="data" takes the smallest and largest element of the examples'
            )
        else:
            low, high = (array.min(), array.max()) if data else _pair(at, ranges[at])
        inputs.append(Input(array.shape, low, high, dtype=array.dtype))
    if not inputs:
        raise EncodingError("a function without arguments: nothing is encrypted")
    return inputs


def _names(function: Callable[..., Any], count: int) -> list[str]:
    code = getattr(function, "__code__", None)
    names = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    return [names[at] if at < len(names) else f"argument {at}" for at in range(count)]


def _shape(name: str, shape: int | tuple[int, ...]) -> tuple[int, ...]:
    try:
        extents = tuple(map(index, (shape,) if isinstance(shape, SupportsIndex) else shape))
    except TypeError:
        raise EncodingError(f"input {name!r} has the shape {shape!r}: a tuple of whole numbers is needed") from None
    if any(extent < 1 for extent in extents):
        raise EncodingError(f"input {name!r} has the shape {extents}: give each axis one element or more")
    return extents


def _pair(at: int, pair: Any) -> tuple[Any, Any]:
    if np.shape(pair) != (2,):
        raise EncodingError(f"the range of argument {at} is {pair!r}: a pair (low, high) is needed")
    low, high = pair
    return low, high


def _range(name: str, *ends: Any) -> tuple[float, float]:
    """Return the ends of a range as numbers that a float64 holds, in order."""
    for end in ends:
        try:
            number = float(end)
        except (TypeError, ValueError, OverflowError):
            raise RangeError(
                f"input {name!r} has a range with an end {end!r}: give two numbers between which all elements lie"
            ) from None
        if not np.isfinite(number):
            raise RangeError(
                f"input {name!r} has a range with an end {end}: give finite numbers between which all elements lie"
            )
        if isinstance(end, int | np.integer) and int(number) != int(end):
            raise RangeError(f"input {name!r} has a range with an end {end}: integers up to 2^53 are computed with")
    low, high = map(float, ends)
    if low > high:
        raise RangeError(f"input {name!r} has the range [{low:g}, {high:g}]: give its lower end first")
    return low, high
