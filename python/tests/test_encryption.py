import numpy as np
import pytest
from conftest import SEED, World
from numpy.typing import DTypeLike

import noren
from noren import ckks


def test_one_vector_gives_one_ciphertext(world: World) -> None:
    values = world.values(world.ctx.slots)
    x = world.encrypt(values, slots=world.ctx.slots)
    assert isinstance(x, ckks.Ciphertext)
    assert (x.slots, x.level, x.scale, x.magnitude) == (512, 3, 2.0**40, 1.0)
    world.check(x, values)


def test_two_dimensions_give_a_list_and_come_back(world: World) -> None:
    values = world.rng.uniform(-1, 1, (3, 8))
    xs = world.ctx.encrypt(values, world.keys.public, slots=8)
    assert [x.slots for x in xs] == [8, 8, 8]
    found = world.ctx.decrypt(xs, world.keys.secret)
    assert found.shape == (3, 8)
    assert found.dtype == np.float64
    assert np.abs(found - values).max() < xs[0].error_bound
    assert world.ctx.encrypt(np.zeros((0, 8)), world.keys.public) == []


def test_complex_numbers(world: World) -> None:
    values = world.values() + 1j * world.values()
    x = world.encrypt(values)
    world.check(x, values)
    assert world.ctx.decrypt(x, world.keys.secret, complex=True).dtype == np.complex128
    assert np.abs(world.ctx.decrypt(x, world.keys.secret, complex=False) - values.real).max() < x.error_bound


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool", "complex64", ">f8"])
def test_every_dtype_of_numbers(world: World, dtype: DTypeLike) -> None:
    values = np.array([0, 1, 1, 0, 1, 0, 0, 1]).astype(dtype)
    world.check(world.encrypt(values), values.astype(complex if values.dtype.kind == "c" else float))


def test_strided_arrays(world: World) -> None:
    values = world.rng.uniform(-1, 1, (8, 6))
    world.check(world.encrypt(values[::-1, 3]), values[::-1, 3])
    xs = world.ctx.encrypt(values.T[::2], world.keys.public, slots=8)
    world.check(xs[1], values[:, 2])


def test_fewer_values_than_slots_are_followed_by_zeros(world: World) -> None:
    x = world.encrypt([0.5, -0.5])
    world.check(x, [0.5, -0.5])
    world.check(x.with_length(8), [0.5, -0.5, 0, 0, 0, 0, 0, 0])


def test_symmetric_ciphertexts_are_more_exact_and_half_as_long(world: World) -> None:
    values = world.values(512)
    public = world.ctx.encrypt(values, world.keys.public)
    secret = world.ctx.encrypt(values, world.keys.secret)
    world.check(secret, values)
    assert secret.error_bound < public.error_bound / 8
    assert len(bytes(secret)) < 0.55 * len(bytes(public))


def test_a_seed_gives_the_same_bytes_and_chance_does_not(world: World) -> None:
    seeded = [bytes(world.ctx.encrypt([1.0], world.keys.public, seed=SEED)) for _ in range(2)]
    drawn = [bytes(world.ctx.encrypt([1.0], world.keys.public)) for _ in range(2)]
    assert seeded[0] == seeded[1]
    assert len({*seeded, *drawn}) == 3
    assert bytes(world.ctx.keygen(seed=SEED).secret) == bytes(world.keys.secret)
    assert bytes(world.ctx.keygen().secret) != bytes(world.keys.secret)


def test_threads_do_not_change_bytes(world: World) -> None:
    one = ckks.Context(world.ctx.parameters, threads=1)
    assert bytes(one.keygen(seed=SEED).public) == bytes(world.keys.public)
    for parallel in ["coefficient", "modulus", "both"]:
        two = ckks.Context(world.ctx.parameters, threads=2, parallel=parallel)
        assert bytes(two.keygen(seed=SEED).public) == bytes(world.keys.public)


def test_lower_levels(world: World) -> None:
    values = world.values()
    x = world.ctx.encrypt(values, world.keys.public, slots=8, level=1)
    assert x.level == 1
    world.check(x, values)


def test_encoding_comes_back(world: World) -> None:
    values = world.values() + 1j * world.values()
    plaintext = world.ctx.encode(values, slots=8, level=2)
    assert (plaintext.slots, plaintext.level) == (8, 2)
    found = world.ctx.decode(plaintext, complex=True)
    assert np.abs(found - values).max() <= plaintext.error_bound < 1e-9
    with pytest.raises(noren.RangeError, match="complex=True"):
        world.ctx.decode(plaintext)
    assert world.ctx.decode(plaintext, complex=False).dtype == np.float64


def test_released_numbers_are_rounded(world: World) -> None:
    values = world.values()
    x = world.encrypt(values)
    releases = ckks.Releases()
    bits = releases.bits(x.error_bound, len(values))
    found = world.ctx.decrypt_for_release(x, world.keys.secret, bits=bits, releases=releases)
    assert (found * 2.0**bits == np.round(found * 2.0**bits)).all()
    # Noise and rounding of the release, and the error of the encryption.
    assert np.abs(found - values).max() <= 1.5 * 2.0**-bits + x.error_bound
    with pytest.raises(noren.Error, match=f"at most {bits}: the error bound is"):
        world.ctx.decrypt_for_release(x, world.keys.secret, bits=bits + 1)


def test_releases_are_planned_and_counted(world: World) -> None:
    xs = [world.encrypt(world.values()) for _ in range(3)]
    releases = ckks.Releases(2, statistical_security=20)
    assert (releases.planned, releases.made, releases.statistical_security) == (2, 0, 20)
    bits = releases.bits(xs[0].error_bound, 8)
    assert releases.error_bound(bits, 8) >= xs[0].error_bound > releases.error_bound(bits + 1, 8)
    for x in (*xs[:2], *xs[:2]):
        first = world.ctx.decrypt_for_release(x, world.keys.secret, bits=bits - 10, releases=releases)
        # The same numbers again, so that no mean of them has less noise.
        assert (world.ctx.decrypt_for_release(x, world.keys.secret, bits=bits - 10) == first).all()
    assert repr(releases) == "Releases(2 of 2 made, 20 bits of statistical security)"
    with pytest.raises(noren.Error, match="no more than the 2 that were planned"):
        world.ctx.decrypt_for_release(xs[2], world.keys.secret, bits=bits, releases=releases)
    # Twenty bits of statistical security are half as many of precision.
    assert ckks.Releases(2, statistical_security=40).bits(xs[0].error_bound, 8) == bits - 10
    for planned, security in ((0, 40), (1, 0), (1, 81)):
        with pytest.raises(noren.Error):
            ckks.Releases(planned, statistical_security=security)
