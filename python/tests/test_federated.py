"""Averages of updates: exact sums of what was rounded, and what is refused."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_joint_keys import joint

import noren
from noren import federated, owners


def opened(average: federated.Average, folder: Path, updates: list[Any], weights: list[int], **options: Any) -> Any:
    """The average of updates of parties with a joint key, all steps of it."""
    names = [f"party {at}" for at in range(average.parties)]
    session = owners.Session(average.parameters, names, results=average.results, **options)
    parties, public, evaluation = joint(folder, session)
    encrypted = [average.encrypt(x, public, weight=weight) for x, weight in zip(updates, weights, strict=True)]
    total = average.add(encrypted, evaluation)
    among = names[: session.threshold] if session.threshold else None
    openers = parties[: session.threshold] if session.threshold else parties
    shares = [party.open(total, among) for party in openers]
    return average.decode(session.opened(total, shares, signed=True, coefficients=True), weight=sum(weights))


@pytest.mark.parametrize(("bits", "packed"), [(8, 5), (12, 4), (16, 3), (24, 2), (32, 1)])
def test_sums_of_rounded_numbers_are_exact(tmp_path: Path, bits: int, packed: int) -> None:
    shape, bound = (3, 1001), 0.75
    average = federated.Average(np.zeros(shape), parties=2, updates=8, bits=bits, bound=bound, security=None)
    assert average.packed >= packed
    rng = np.random.default_rng(bits)
    updates = rng.uniform(-bound, bound, (8, *shape))
    # The ends of the range, all of one sign, so that sums are largest too.
    updates[:, 0, :2] = [-bound, bound]
    found = opened(average, tmp_path, list(updates), [1] * 8)
    exact = np.rint(updates / average.step).astype(np.int64).sum(axis=0)
    assert (np.rint(found * 8 / average.step) == exact).all()
    assert np.abs(found - updates.mean(axis=0)).max() <= average.step / 2 * (1 + 1e-9)


def test_weights_count_and_shapes_come_back(tmp_path: Path) -> None:
    like = [np.zeros((4, 5)), np.zeros(5), np.zeros(())]
    average = federated.Average(like, parties=3, total=600, bits=16, bound=2.0)
    rng = np.random.default_rng(1)
    updates = [[rng.uniform(-2, 2, each.shape) for each in like] for _ in range(3)]
    weights = [100, 200, 300]
    found = opened(average, tmp_path, updates, weights, threshold=2)
    for at, array in enumerate(found):
        wanted = sum(weight / 600 * update[at] for weight, update in zip(weights, updates, strict=True))
        assert array.shape == like[at].shape
        assert np.abs(array - wanted).max() <= average.step / 2
    assert "packed" not in repr(average)
    assert "26 numbers of 16 bits" in repr(average)


def test_an_update_of_many_ciphertexts_is_put_together(tmp_path: Path) -> None:
    average = federated.Average(np.zeros(20_001), parties=2, bits=12, rounds=3, security=None)
    assert average.results == 3 * -(-20_001 // (average.packed * average.parameters.n)) > 3
    updates = [np.linspace(-1, 1, 20_001), np.linspace(0.5, -0.5, 20_001)]
    found = opened(average, tmp_path, updates, [1, 1])
    assert np.abs(found - np.mean(updates, axis=0)).max() <= average.step / 2


def test_what_cannot_be_is_refused() -> None:
    new: Any = federated.Average
    with pytest.raises(noren.Error, match="no number"):
        new(np.zeros(0), parties=2)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"bits": 1}, "bits"),
        ({"bits": 33}, "bits"),
        ({"bound": 0.0}, "bound"),
        ({"bound": float("nan")}, "bound"),
        ({"rounds": 0}, "rounds"),
        ({"updates": 0}, "updates"),
        ({"updates": 5, "total": 4}, "total"),
        ({"bits": 32, "total": 2**40}, "fewer bits"),
        ({"parties": 1}, "2 or more"),
    ]
    for options, words in cases:
        with pytest.raises(noren.Error, match=words):
            new(np.zeros(3), **{"parties": 2, "security": None, **options})
    with pytest.raises(TypeError):
        new(np.zeros(3), parties=2.5)


def test_without_flower_its_extra_is_named() -> None:
    # None stands for a package that cannot be imported.
    code = "import sys; sys.modules['flwr'] = None; import noren, noren.federated; import noren.flower"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: noren.flower needs Flower" in done.stderr
    assert "pip install 'noren[flower]'" in done.stderr


def test_updates_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    average = federated.Average([np.zeros(3), np.zeros(2)], parties=2, security=None)
    session = owners.Session(average.parameters, ["a", "b"], results=average.results)
    _, public, evaluation = joint(tmp_path, session)
    for update, words in [
        ([np.zeros(3)], "shapes"),
        ([np.zeros(3), np.zeros(3)], "shapes"),
        ([np.zeros(3), np.array([0, np.inf])], "finite"),
        ([np.zeros(3), np.array([0, 1.5])], "clip=True"),
    ]:
        with pytest.raises(noren.EncodingError, match=words):
            average.encrypt(update, public)
    x = average.encrypt([np.zeros(3), np.array([0, 1.5])], public, clip=True)
    for weight in (0, 3):
        with pytest.raises(noren.EncodingError, match="weight"):
            average.encrypt([np.zeros(3), np.zeros(2)], public, weight=weight)
        with pytest.raises(noren.EncodingError, match="weight"):
            average.decode([np.zeros(2)], weight=weight)
    for updates, words in [([], "0 updates"), ([x] * 3, "3 updates"), ([x, [*x, *x]], "ciphertexts")]:
        with pytest.raises(noren.EncodingError, match=words):
            average.add(updates, evaluation)
    with pytest.raises(noren.EncodingError, match="coefficients"):
        average.decode([np.zeros(1)], weight=1)
