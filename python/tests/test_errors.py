from collections.abc import Callable

import numpy as np
import pytest
from conftest import World

import noren
from noren import ckks

Check = Callable[..., None]


def test_every_error_is_a_noren_error_and_a_value_error() -> None:
    families = [getattr(noren, name) for name in noren.__all__ if name.endswith("Error")]
    assert len(families) == 11
    for family in families:
        assert issubclass(family, noren.Error)
        assert issubclass(family, ValueError)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), complex(0, float("-inf"))])
def test_numbers_that_are_not_finite(world: World, raises_naming: Check, value: complex) -> None:
    x = world.encrypt(world.values())
    raises_naming(noren.EncodingError, lambda: world.encrypt([0, value]), "value 1")
    for call in (world.ev.add, world.ev.mul):
        raises_naming(noren.EncodingError, lambda call=call: call(x, value))
        raises_naming(noren.EncodingError, lambda call=call: call(x, [0, 0, value, *[0] * 5]), "value 2")
    if isinstance(value, float):
        raises_naming(noren.EncodingError, lambda: world.ev.polynomial(x, [1, value]))
        raises_naming(noren.EncodingError, lambda: world.ev.weighted_sum([x], [value]))


def test_numbers_that_are_too_large_or_too_many(world: World, raises_naming: Check) -> None:
    raises_naming(noren.EncodingError, lambda: world.encrypt([0, 1e30]), "value 1", "2^40")
    raises_naming(noren.EncodingError, lambda: world.encrypt(np.zeros(9)), "9", "8")
    raises_naming(noren.EncodingError, lambda: world.encrypt(np.zeros((2, 9))), "9", "8")
    raises_naming(noren.EncodingError, lambda: world.encrypt([1], slots=12), "12", "power of two")
    raises_naming(noren.EncodingError, lambda: world.encrypt([1], slots=1024), "1024", "512")


def test_wrong_shapes_and_dtypes(world: World, raises_naming: Check) -> None:
    x = world.encrypt(world.values())
    raises_naming(noren.EncodingError, lambda: world.encrypt(np.zeros((2, 2, 2))), "(2, 2, 2)")
    raises_naming(noren.EncodingError, lambda: world.encrypt(1.0), "()")
    raises_naming(noren.EncodingError, lambda: world.ctx.encode(np.zeros((2, 2))), "(2, 2)")
    raises_naming(noren.EncodingError, lambda: world.ev.mul(x, np.zeros((2, 2))), "(2, 2)")
    raises_naming(noren.EncodingError, lambda: world.ev.matvec(np.zeros(8), x), "(8,)", "2 dimensions")
    raises_naming(noren.EncodingError, lambda: world.ev.matvec(np.zeros((0, 8)), x), "matrix")
    raises_naming(noren.EncodingError, lambda: world.ev.matvec(np.ones((9, 16)), x), "16")
    raises_naming(TypeError, lambda: world.encrypt(["a"]), "<U1")
    raises_naming(TypeError, lambda: world.encrypt(np.array([None])), "object")
    raises_naming(TypeError, lambda: world.ev.polynomial(x, [1j]), "complex")
    raises_naming(TypeError, lambda: world.ctx.encrypt([1], world.keys.evaluation), "EvaluationKeys")  # type: ignore[call-overload]
    raises_naming(TypeError, lambda: world.ctx.decrypt(x, world.keys.public))  # type: ignore[call-overload]
    raises_naming(TypeError, lambda: world.ctx.decrypt([1.0], world.keys.secret))  # type: ignore[list-item]
    raises_naming(ValueError, lambda: world.ctx.encrypt([1], world.keys.public, seed=b"short"), "32 bytes", "5")


def test_operands_of_different_slots(world: World, raises_naming: Check) -> None:
    x, y = world.encrypt([1.0]), world.encrypt([1.0], slots=16)
    raises_naming(noren.EncodingError, lambda: x + y, "slots", "8", "16")
    raises_naming(noren.EncodingError, lambda: x * y, "slots")
    raises_naming(noren.EncodingError, lambda: x + world.ctx.encode([1.0], slots=16), "slots")


def test_levels_that_are_used_up(world: World, raises_naming: Check) -> None:
    bottom = world.ctx.encrypt([0.5], world.keys.public, slots=8, level=0)
    raises_naming(noren.LevelError, lambda: world.ev.square(bottom), "1", "0")
    raises_naming(noren.LevelError, lambda: world.ev.mul(bottom, [1.5]))
    raises_naming(noren.LevelError, lambda: world.ev.rescale(bottom))
    raises_naming(noren.LevelError, lambda: world.ev.at_level(bottom, 1))
    raises_naming(noren.LevelError, lambda: world.ev.polynomial(world.encrypt([0.5]), np.ones(17)), "5", "3")
    raises_naming(noren.LevelError, lambda: world.ctx.encrypt([1], world.keys.public, level=4), "4", "3")
    raises_naming(noren.LevelError, lambda: world.ctx.encode([1], level=4), "4", "3")
    raises_naming(noren.LevelError, lambda: world.ctx.keygen(level=4), "4", "3")
    high, low = world.ctx.encode([1.0], slots=8, level=3), world.ctx.encrypt([1], world.keys.public, slots=8, level=1)
    raises_naming(noren.LevelError, lambda: world.ev.add(low, high), "1", "3")


def test_levels_below_zero_are_refused(world: World, raises_naming: Check) -> None:
    x = world.encrypt([0.5])
    calls: list[Callable[[], object]] = [
        lambda: world.ctx.encrypt([1], world.keys.public, level=-1),
        lambda: world.ctx.encode([1], level=-1),
        lambda: world.ctx.keygen(level=-1),
        lambda: world.ctx.evaluation_keys(world.keys.secret, level=-1),
        lambda: world.ctx.parameters.scale(-1),
        lambda: world.keys.evaluation.at_level(-1),
        lambda: world.ev.at_level(x, -1),
        lambda: world.ev.drop_level(x, -1),
    ]
    for call in calls:
        raises_naming(noren.LevelError, call, "level is -1", "from 0", "max_level")


def test_sizes_in_messages_are_short(world: World) -> None:
    x = world.encrypt([0.5])
    calls: list[Callable[[], object]] = [
        lambda: world.encrypt([1e300]),
        lambda: world.encrypt([1e30]),
        lambda: x * 1e300,
        lambda: x + 1e300,
        lambda: world.ctx.encrypt([1], world.keys.public, within=1e300 * 1e300),
        lambda: world.ctx.encrypt([2.0], world.keys.public, within=(0, 1e-300)),
        lambda: world.ev.polynomial(world.ctx.encrypt([1], world.keys.public, within=1e300), [0, 1], basis="chebyshev"),
        lambda: ckks.Parameters.for_requirements(depth=1, precision_bits=10, max_abs=1e300),
        lambda: ckks.Parameters.for_requirements(depth=1, precision_bits=1e300),
        lambda: world.ctx.decrypt(world.ctx.encrypt([1], world.keys.public, within=1e300), world.keys.secret),
    ]
    for call in calls:
        with pytest.raises(noren.Error) as caught:
            call()
        assert "0000000" not in str(caught.value), caught.value
        assert len(str(caught.value)) < 400, caught.value


def test_scales_that_print_alike_are_told_apart(world: World) -> None:
    x = world.encrypt([0.5])
    y = world.ev.mul_no_rescale(x, x)
    with pytest.raises(noren.ScaleError, match=r"2\^40.* and 2\^80"):
        world.ev.add(x, y)
    # A product that was rescaled by hand, beside the canonical scale of its level.
    z = world.ev.drop_level(x, 2)
    with pytest.raises(noren.ScaleError, match=r"differ by a factor of 1 [+-] \d\.\de-\d+"):
        world.ev.add(z, world.ev.at_level(x, 2))


def test_what_is_known_is_explained(world: World) -> None:
    x = world.ctx.encrypt([0.5, -1.5, 3], world.keys.public, slots=16, repeat=True)
    text = world.ev.bind(x).explain()
    for part in ["3 values", "16 of up to 512, which repeat after 4", "real, from -3 to 3"]:
        assert part in text, text
    assert "complex" in world.ev.mul_i(x).explain()
    within = world.ctx.encrypt([0.5], world.keys.public, slots=16, within=(0, 1)).explain()
    assert "1 value\n" in within
    assert "real, from 0 to 1" in within
    assert "repeat" not in within


def test_missing_keys_are_named(world: World, raises_naming: Check) -> None:
    x = world.encrypt(world.values(world.ctx.slots), slots=world.ctx.slots)
    raises_naming(noren.MissingKeyError, lambda: world.ev.rotate(x, 77), "rotation by 77")
    raises_naming(noren.MissingKeyError, lambda: world.ev.rotate_many(x, [1, 78]), "rotation by 78")
    none = world.ctx.evaluator(world.ctx.evaluation_keys(world.keys.secret))
    raises_naming(noren.MissingKeyError, lambda: none.square(x), "relinearisation")
    raises_naming(noren.MissingKeyError, lambda: none.conjugate(x), "conjugation")
    low = world.ctx.evaluator(
        world.ctx.evaluation_keys(world.keys.secret, rotations_at={1: 0}, level=1, relinearization=True)
    )
    raises_naming(noren.MissingKeyError, lambda: low.square(x), "relinearisation", "level 1", "level 3")
    raises_naming(noren.MissingKeyError, lambda: low.rotate(x, 1), "rotation by 1")


def test_other_parameters_are_refused_everywhere(world: World, other: ckks.Context, raises_naming: Check) -> None:
    keys = other.keygen()
    foreign = other.encrypt([1.0], keys.public, slots=8)
    x, ev, ctx = world.encrypt([1.0]), world.ev, world.ctx
    wrong = noren.ParameterMismatchError
    raises_naming(wrong, lambda: ctx.evaluator(keys.evaluation), "evaluation keys")
    raises_naming(wrong, lambda: ctx.encrypt([1.0], keys.public), "public key")
    raises_naming(wrong, lambda: ctx.encrypt([1.0], keys.secret), "secret key")
    raises_naming(wrong, lambda: ctx.decrypt(x, keys.secret), "secret key")
    raises_naming(wrong, lambda: ctx.decrypt(foreign, world.keys.secret), "ciphertext")
    raises_naming(wrong, lambda: ctx.decode(other.encode([1.0])), "plaintext")
    raises_naming(wrong, lambda: ev.bind(foreign), "ciphertext")
    raises_naming(wrong, lambda: x + foreign, "ciphertext")
    raises_naming(wrong, lambda: x * other.encode([1.0], slots=8), "plaintext")
    raises_naming(wrong, lambda: ckks.Ciphertext.from_bytes(ctx, bytes(foreign)))
    raises_naming(wrong, lambda: ckks.Plaintext.from_bytes(ctx, bytes(other.encode([1.0]))))


def test_no_threads_are_refused(world: World) -> None:
    with pytest.raises(noren.Error, match="thread"):
        ckks.Context(world.ctx.parameters, threads=0)
    with pytest.raises(ValueError, match="coefficient, modulus or both"):
        ckks.Context(world.ctx.parameters, parallel="limbs")
