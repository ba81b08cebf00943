"""Results of CKKS are within their bounds, or refused: moduli, intervals, complex numbers."""

from typing import Literal

import numpy as np
import pytest

import noren
from noren import ckks


class World:
    def __init__(self, *primes: int) -> None:
        self.params = ckks.Parameters(10, [*primes], [50, 50], security=None)
        self.ctx = ckks.Context(self.params)
        self.keys = self.ctx.keygen(conjugation=True, seed=bytes(32))
        self.ev = self.ctx.evaluator(self.keys.evaluation)

    def encrypt(self, values: object, within: float | tuple[float, float] | None = None) -> ckks.Ciphertext:
        values = np.asarray(values)
        x = self.ctx.encrypt(values, self.keys.public, slots=len(values), within=within)
        assert isinstance(x, ckks.Ciphertext)
        return self.ev.bind(x)


@pytest.fixture(scope="module")
def world() -> World:
    return World(45, 40, 40, 40, 40)


def test_what_may_have_left_its_modulus_is_refused_unless_asked_for() -> None:
    world = World(45, 40, 40)
    x = world.encrypt([8.0, -8.0])
    y = world.ev.square(world.ev.square(x))
    assert y.error_bound == np.inf
    with pytest.raises(noren.RangeError, match=r"4096.*modulus of level 0.*with_magnitude.*allow_unbounded=True"):
        world.ctx.decrypt(y, world.keys.secret)
    assert world.ctx.decrypt(y, world.keys.secret, allow_unbounded=True).shape == (2,)
    # It stays so, however small it becomes.
    small = world.ev.mul_no_rescale(y, y)
    with pytest.raises(noren.RangeError):
        world.ctx.decrypt(small, world.keys.secret)


def test_polynomials_on_an_interval_know_their_arguments(world: World) -> None:
    values = np.array([-1.5, 2.0, 0.25, 0.0])
    coefficients = [0.5, -1.0, 3.0, 2.0]
    with pytest.raises(noren.RangeError, match=r"\[-4, 4\].*\[-2, 2\].*with_range"):
        world.ev.polynomial(2 * world.encrypt(values), coefficients, basis="chebyshev", interval=(-2, 2))
    expected = np.polynomial.chebyshev.chebval(values / 2, coefficients)
    for x in [world.encrypt(values).with_range(-2, 2), world.encrypt(values, within=(-2, 2))]:
        assert x.range == (-2, 2)
        y = world.ev.polynomial(x, coefficients, basis="chebyshev", interval=(-2, 2))
        assert np.abs(world.ctx.decrypt(y, world.keys.secret) - expected).max() <= y.error_bound < 1e-5
    with pytest.raises(noren.Error, match="interval"):
        world.encrypt(values, within=(0, 2))
    with pytest.raises(ValueError, match="low"):
        world.encrypt(values).with_range(2, 1)


@pytest.mark.parametrize("basis", ["power", "chebyshev"])
def test_complex_messages_through_polynomials_are_within_their_bounds(basis: Literal["power", "chebyshev"]) -> None:
    # Chebyshev polynomials of degree 7 reach 239 on the unit circle: level 0 holds up to 512.
    world = World(50, 40, 40, 40)
    z = np.exp(1j * np.linspace(0, 2 * np.pi, 64, endpoint=False))
    rng = np.random.default_rng(1)
    for degree in (2, 5, 7):
        coefficients = rng.uniform(-1, 1, degree + 1)
        value = np.polynomial.chebyshev.chebval if basis == "chebyshev" else np.polynomial.polynomial.polyval
        y = world.ev.polynomial(world.encrypt(z), coefficients, basis=basis)
        found = world.ctx.decrypt(y, world.keys.secret, complex=True)
        assert np.abs(found - value(z, coefficients)).max() <= y.error_bound < 1e-2


def test_imaginary_parts_are_dropped_only_when_asked_for(world: World) -> None:
    z = world.encrypt([0.5 + 0.25j, -1j])
    assert z.range is None
    for x in (z, world.ev.mul_i(world.encrypt([0.5, 1.0])), world.encrypt([0.5, 1.0]) * 1j, z + 1):
        with pytest.raises(noren.RangeError, match="complex=True"):
            world.ctx.decrypt(x, world.keys.secret)
        assert world.ctx.decrypt(x, world.keys.secret, complex=True).dtype == np.complex128
        assert world.ctx.decrypt(x, world.keys.secret, complex=False).dtype == np.float64
    plain = world.ctx.encode([1j], slots=1)
    with pytest.raises(noren.RangeError, match="the plaintext"):
        world.ctx.decode(plain)
    assert np.abs(world.ctx.decode(plain, complex=False)).max() < 1e-6
