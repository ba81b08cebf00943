"""Complex numbers and Fourier transforms are traced as numpy defines them, in two parts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noren
from noren import Input, compiler

Function = Callable[[Any], Any]
KERNEL = np.array([1.0 + 2j, -0.5j, 0.25, 1j])


def parts(z: Any) -> Any:
    return np.stack([z.real, z.imag])


@pytest.mark.parametrize(
    ("shape", "function"),
    [
        ((8,), lambda x: parts(np.fft.fft(x))),
        ((8,), lambda x: parts(np.fft.rfft(x, norm="ortho"))),
        ((7,), lambda x: parts(np.fft.rfft(x, n=5))),
        ((3, 4), lambda x: parts(np.fft.ifft(x, axis=0))),
        ((4, 5), lambda x: parts(np.fft.fft(np.fft.fft(x, axis=0), n=8))),
        ((6,), lambda x: np.fft.irfft(np.fft.rfft(x) * np.array([1.0, 0.5, 0.25, 0.0]))),
        ((8,), lambda x: np.fft.irfft(np.fft.rfft(x)[:4], n=8)),
        ((8,), lambda x: np.abs(np.fft.rfft(x)) ** 2),
        ((8,), lambda x: (np.fft.rfft(x) * np.fft.rfft(x).conj()).real),
        ((4,), lambda x: parts(np.fft.fft(x) * KERNEL + 1)),
        ((4,), lambda x: parts(2 - (x + 1j) / 4)),
        ((4,), lambda x: parts(-((x - KERNEL) ** 2))),
        ((4,), lambda x: parts(x[0] + np.conjugate(x * KERNEL))),
        ((4,), lambda x: parts(x + 1j * np.array([True, False, True, True]))),
        ((2, 3), lambda x: parts((x * (1 + 1j)).T.reshape(2, 3)[1])),
        ((2, 3), lambda x: parts(np.roll(np.fft.fft(x), 1, axis=1).sum(axis=0))),
        ((4,), lambda x: np.real(np.mean(x * KERNEL)) + np.imag(np.cumsum(x * KERNEL))),
    ],
)
def test_a_function_of_complex_numbers_is_that_of_numpy(shape: tuple[int, ...], function: Function) -> None:
    x = np.random.default_rng(5).uniform(-1, 1, shape)
    f = noren.compile(function, Input(shape, -1.0, 1.0), precision=1e-3, security=None)
    found, bound = f.simulate(x, bound=True)
    wanted = function(x)
    assert found.shape == np.shape(wanted)
    assert np.abs(found - wanted).max() <= bound <= 1e-3


def test_a_spectrum_is_computed_without_roots() -> None:
    f = noren.compile(lambda x: np.abs(np.fft.rfft(x)) ** 2, Input(16, -1.0, 1.0), precision=1e-2, security=None)
    assert not any(step["operation"] == "sqrt" for step in f.explain().steps)
    x = np.random.default_rng(6).uniform(-1, 1, 16)
    keys = f.client.keygen()
    found, bound = f.client.decrypt(f.server.run(f.client.encrypt(x), keys), bound=True)
    assert np.abs(found - np.abs(np.fft.rfft(x)) ** 2).max() <= bound <= 1e-2


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (np.fft.rfft, "return z.real and z.imag"),
        (lambda x: np.angle(np.fft.rfft(x)), "angle of complex numbers"),
        (lambda x: np.exp(x * 1j), "np.exp of complex numbers"),
        (lambda x: np.add(x, 1j, dtype=np.complex64), "dtype="),
        (lambda x: np.fft.fft2(x.reshape(2, 4)), "fft2 is not traced"),
        (lambda x: np.fft.rfft(x, norm="none"), "norm"),  # type: ignore[arg-type]
        (lambda x: np.fft.rfft(x, n=0), "n"),
        (lambda x: np.stack([x, np.fft.fft(x)]), "complex numbers"),
        (lambda x: np.fft.fft(x).sort(), "no attribute 'sort'"),
    ],
)
def test_functions_of_complex_numbers_that_are_not_traced_are_refused(function: Function, words: str) -> None:
    with pytest.raises((compiler.TraceError, AttributeError, ValueError), match=words):
        noren.compile(function, Input(8, -1.0, 1.0), security=None)
