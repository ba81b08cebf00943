"""Complex numbers while a function is traced: two arrays of real ones, and Fourier transforms between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

import numpy as np

from noren._trace import Traced, TraceError, Tracer, place
from noren._trace_linear import along

_LINEAR = frozenset(("sum", "mean", "cumsum", "diff", "trace"))
"""Functions that apply to both parts alike, beside those that rearrange."""

TRANSFORMS = (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)
"""The discrete Fourier transforms of one axis."""

_Parts = tuple[Traced, Traced | None]
"""The real part of a number, and its imaginary part if it is not zero."""


class Complex(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of complex numbers whose parts are traced."""

    __array_priority__ = 1001
    dtype = np.dtype(np.complex128)

    def __init__(self, real: Traced, imag: Traced) -> None:
        """Take two arrays of one shape."""
        self.real, self.imag = real, imag
        self.tracer = real.tracer

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of either part."""
        return self.real.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.real.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.real.size

    @property
    def T(self) -> Complex:  # noqa: N802
        """The array with its axes in reverse order."""
        return Complex(self.real.T, self.imag.T)

    def conj(self) -> Complex:
        """Return the complex conjugates."""
        result: Complex = np.conjugate(self)  # type: ignore[assignment]
        return result

    conjugate = conj

    def reshape(self, *shape: Any) -> Complex:
        """Give the elements another shape."""
        return Complex(self.real.reshape(*shape), self.imag.reshape(*shape))

    def __getitem__(self, index: Any) -> Complex:
        """Take elements by an index that is known."""
        return Complex(self.real[index], self.imag[index])

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return len(self.real)

    def __iter__(self) -> Iterator[Complex]:
        """Iterate over the first axis."""
        return (self[at] for at in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        """Return a method of arrays by the function of the same name."""
        if name not in _LINEAR:
            raise AttributeError(f"{place()}: encrypted complex numbers have no attribute {name!r}")
        return partial(getattr(np, name), self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Record a universal function of numpy."""
        return self.tracer.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        """Record another function of numpy."""
        return self.tracer.function(func, args, kwargs)

    def __array__(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Refuse to become an array of known values."""
        raise TraceError(f"{place()}: numpy needs the values of encrypted complex numbers: compute with real and imag")

    def __hash__(self) -> int:
        """Return the identity."""
        return id(self)


def is_complex(x: Any) -> bool:
    """Return whether an operand is an array of complex numbers, encrypted or known."""
    return isinstance(x, Complex) or (not isinstance(x, Traced) and np.iscomplexobj(x))


def ufunc(tracer: Tracer, name: str, inputs: tuple[Any, ...], dtype: Any) -> Any:
    """Record a universal function of complex numbers."""
    if dtype is not None:
        raise TraceError(f"{place()}: np.{name} of complex numbers with dtype= is not traced: leave it out")
    if name == "divide" and not isinstance(inputs[1], Traced | Complex):
        name, inputs = "multiply", (inputs[0], 1 / np.asarray(inputs[1]))
    if name == "power" and np.ndim(inputs[1]) == 0 and inputs[1] == 2:
        name, inputs = "square", inputs[:1]
    if name not in _UFUNCS:
        raise TraceError(
            f"{place()}: np.{name} of complex numbers is not traced; these functions are: {', '.join(sorted(_UFUNCS))}"
        )
    return _UFUNCS[name](*(_parts(tracer, x) for x in inputs))


def function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], rearranging: frozenset[str]) -> Any:
    """Record another function, of whose arguments the first is an array of complex numbers."""
    name, x = func.__name__, args[0] if args else None
    if isinstance(x, Complex) and func.__module__ == "numpy":
        if name in ("real", "imag"):
            return getattr(x, name)
        if name in _LINEAR or name in rearranging:
            return Complex(func(x.real, *args[1:], **kwargs), func(x.imag, *args[1:], **kwargs))
    raise TraceError(f"{place()}: np.{name} of complex numbers is not traced: apply it to their real and imag")


def transform(of: Callable[..., Any]) -> Callable[..., Any]:
    """Return what records a discrete Fourier transform of numpy along an axis."""

    def transform_of(_tracer: Tracer, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        # Parts of a result are sums over the parts of the array: transforms are linear over the real numbers.
        parts = [(a.real, 1), (a.imag, 1j)] if isinstance(a, Complex) else [(a, 1)]

        def part(take: Callable[[Any], Any]) -> Traced:
            terms = [along(x, axis, partial(_image, of, unity, n, norm, take)) for x, unity in parts]
            return terms[0] if len(terms) == 1 else terms[0].binary("add", terms[1])

        extent = a.shape[np.lib.array_utils.normalize_axis_index(axis, a.ndim)]
        if not np.iscomplexobj(of(np.zeros(extent), n)):
            return part(np.asarray)
        return Complex(part(np.real), part(np.imag))

    return transform_of


def _image(of: Callable[..., Any], unity: complex, n: Any, norm: Any, take: Callable[[Any], Any], unit: Any) -> Any:
    """Return a part of the transform of a multiple of a vector."""
    return take(of(unity * unit, n, norm=norm))


def _parts(tracer: Tracer, x: Any) -> _Parts:
    """Return the real part, and the imaginary part of what has one."""
    if isinstance(x, Complex):
        return x.real, x.imag
    if not is_complex(x):
        return tracer.traced(x).number(), None
    return tracer.constant(np.real(x)), tracer.constant(np.imag(x))


def _sum(name: str) -> Callable[[_Parts, _Parts], Complex]:
    """Return what records a sum or a difference."""

    def sum_of(x: _Parts, y: _Parts) -> Complex:
        real: Any = x[0].binary(name, y[0])
        parts = [part for part in (x[1], y[1]) if part is not None]
        imag: Any = parts[0].binary(name, parts[1]) if len(parts) == 2 else parts[0]
        if x[1] is None and name == "sub":
            imag = -imag
        spread: Any = imag if imag.shape == real.shape else np.broadcast_to(imag, real.shape)
        return Complex(real, spread)

    return sum_of


def _product(x: _Parts, y: _Parts) -> Complex:
    """Record `(a + b i) (c + d i) = (a c - b d) + (a d + b c) i`."""
    a, b, c, d = *x, *y
    real = a.binary("mul", c)
    cross = [left.binary("mul", right) for left, right in ((a, d), (c, b)) if right is not None]
    if b is None or d is None:
        return Complex(real, cross[0])
    return Complex(real.binary("sub", b.binary("mul", d)), cross[0].binary("add", cross[1]))


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": _sum("add"),
    "subtract": _sum("sub"),
    "multiply": _product,
    "square": lambda x: _product(x, x),
    "negative": lambda x: Complex(x[0].unary("neg"), x[1].unary("neg")),
    "positive": lambda x: Complex(*x),
    "conjugate": lambda x: Complex(x[0], x[1].unary("neg")),
    "absolute": lambda x: np.hypot(*x),
}
