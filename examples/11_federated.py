"""A network that eight hospitals train together, each on images of its own: only averages of all are opened.

Eight processes have an eighth of the images each, and exchange files alone. They make a joint key, of which any five
open results. In each round a hospital improves the network on its images, and encrypts how the weights changed, times
the number of its images; a coordinator without a secret adds the changes up, and five hospitals open the sum. In the
third round one of them does not answer any more, and the others go on. The network is compared with one that the same
rounds make of numbers in clear.

Run it with ``python examples/11_federated.py``: 128-bit security, some seconds. It needs scikit-learn for its data.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from noren import bfv, federated, owners

try:
    from sklearn.datasets import load_digits
except ModuleNotFoundError:
    raise SystemExit("this example takes its data from scikit-learn: pip install scikit-learn") from None

Array = NDArray[np.float64]
T = TypeVar("T")

NAMES = [f"hospital {at}" for at in range(1, 9)]
ENOUGH = 5
ROUNDS = 6
# Who does not answer any more, and from which round on.
LOST, LAST_ROUND = "hospital 8", 2
HIDDEN = 32
STEPS, RATE = 60, 0.5
# Changes of weights in a round stay within this; larger ones are cut off.
BOUND = 2.0
WAIT = 0.005
PATIENCE = 120.0


def data() -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Images of digits and what they show: those to learn from, and those to try."""
    images, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(5).permutation(len(images))
    images, digits = images[order] / 16, digits[order]
    return images[:1440], digits[:1440], images[1440:], digits[1440:]


def network() -> list[Array]:
    """The weights that all begin with."""
    rng = np.random.default_rng(0)
    return [rng.normal(0, 0.2, (64, HIDDEN)), np.zeros(HIDDEN), rng.normal(0, 0.2, (HIDDEN, 10)), np.zeros(10)]


def scores(weights: list[Array], images: Array) -> tuple[Array, Array]:
    """The hidden layer, and the probabilities of all digits."""
    first, first_bias, second, second_bias = weights
    hidden = np.tanh(images @ first + first_bias)
    exponents = np.exp(hidden @ second + second_bias)
    return hidden, exponents / exponents.sum(axis=1, keepdims=True)


def improved(weights: list[Array], images: Array, digits: NDArray[np.int64]) -> list[Array]:
    """The weights after some steps of gradient descent."""
    wanted = np.eye(10)[digits]
    for _ in range(STEPS):
        hidden, found = scores(weights, images)
        wrong = (found - wanted) / len(images)
        below = wrong @ weights[2].T * (1 - hidden**2)
        gradients = [images.T @ below, below.sum(axis=0), hidden.T @ wrong, wrong.sum(axis=0)]
        weights = [array - RATE * gradient for array, gradient in zip(weights, gradients, strict=True)]
    return weights


def changes(weights: list[Array], images: Array, digits: NDArray[np.int64]) -> list[Array]:
    """How the images of one hospital change the weights."""
    after = improved(weights, images, digits)
    return [np.clip(new - old, -BOUND, BOUND) for new, old in zip(after, weights, strict=True)]


def averages() -> federated.Average:
    """How the changes are encoded: with weights that add up to the number of all images."""
    return federated.Average(network(), parties=len(NAMES), total=len(data()[0]), bits=16, bound=BOUND, rounds=ROUNDS)


def write(path: Path, content: bytes) -> None:
    """Write a file that nobody sees half of."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.rename(path)


def read(path: Path) -> bytes:
    """Wait for a file."""
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"{path.name} did not come")
        time.sleep(WAIT)
    return path.read_bytes()


def write_ciphertexts(path: Path, ciphertexts: list[bfv.Ciphertext]) -> None:
    """Write ciphertexts, each after its length."""
    parts = [bytes(each) for each in ciphertexts]
    write(path, b"".join(len(part).to_bytes(8, "little") + part for part in parts))


def read_ciphertexts(path: Path, context: bfv.Context) -> list[bfv.Ciphertext]:
    """Wait for ciphertexts."""
    rest, found = read(path), []
    while rest:
        length = int.from_bytes(rest[:8], "little")
        found.append(bfv.Ciphertext.from_bytes(context, rest[8 : 8 + length]))
        rest = rest[8 + length :]
    return found


def weights_of(path: Path) -> list[Array]:
    """Wait for the weights of the network."""
    read(path)
    with np.load(path) as arrays:
        return [arrays[name] for name in arrays]


def hospital(at: int, folder: Path) -> None:
    """One hospital: keys, then a change and perhaps a share in each round."""
    images, digits, *_ = data()
    images, digits = images[at :: len(NAMES)], digits[at :: len(NAMES)]
    average, session = averages(), owners.Session.load(folder / "session")
    name = NAMES[at]
    party = owners.Party.create(folder / f"secret of {name}", session, name)
    messages: list[bytes] = []
    for step in owners.Coordinator(session).missing():
        sent = party.next(messages)
        assert sent is not None
        write(folder / f"{step} {name}", sent)
        messages = [read(folder / f"{step} {other}") for other in NAMES]
    party.next(messages)
    public, _ = party.keys()
    for turn in range(ROUNDS):
        if name == LOST and turn == LAST_ROUND:
            return
        weights = weights_of(folder / f"{turn} weights.npz")
        encrypted = average.encrypt(changes(weights, images, digits), public, weight=len(images))
        write_ciphertexts(folder / f"{turn} change {name}", encrypted)
        among: list[str] = json.loads(read(folder / f"{turn} among"))
        if name in among:
            write(folder / f"{turn} share {name}", party.open(read(folder / f"{turn} request"), among))


def coordinate(folder: Path, session: owners.Session, average: federated.Average) -> list[Array]:
    """Add up what comes, and apply what is opened. There is no secret here."""
    sizes = {name: len(data()[0][at :: len(NAMES)]) for at, name in enumerate(NAMES)}
    coordinator = owners.Coordinator(session)
    for step in coordinator.missing():
        coordinator.add(*(read(folder / f"{step} {name}") for name in NAMES))
    _, evaluation = coordinator.keys()
    weights = network()
    for turn in range(ROUNDS):
        part = folder / f"{turn} weights.npz.part"
        with part.open("wb") as file:
            np.savez(file, *weights)
        part.rename(folder / f"{turn} weights.npz")
        there = [name for name in NAMES if name != LOST or turn < LAST_ROUND]
        updates = [read_ciphertexts(folder / f"{turn} change {name}", average.context) for name in there]
        total = average.add(updates, evaluation)
        # Other hospitals open each time.
        among = [there[(turn + at) % len(there)] for at in range(ENOUGH)]
        write(folder / f"{turn} request", session.request(total))
        write(folder / f"{turn} among", json.dumps(among).encode())
        shares = [read(folder / f"{turn} share {name}") for name in among]
        opened = session.opened(total, shares, signed=True, coefficients=True)
        change = average.decode(opened, weight=sum(sizes[name] for name in there))
        weights = [array + each for array, each in zip(weights, change, strict=True)]
    return weights


def in_clear() -> list[Array]:
    """The same rounds without encryption or rounding."""
    images, digits, *_ = data()
    weights = network()
    for turn in range(ROUNDS):
        there = [at for at, name in enumerate(NAMES) if name != LOST or turn < LAST_ROUND]
        parts = [(images[at :: len(NAMES)], digits[at :: len(NAMES)]) for at in there]
        count = sum(len(own) for own, _ in parts)
        for_all = [[array * (len(own) / count) for array in changes(weights, own, shown)] for own, shown in parts]
        weights = [array + sum(each) for array, *each in zip(weights, *for_all, strict=True)]
    return weights


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """Return what it returns, and the seconds that it takes."""
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def main() -> None:
    """Train a network in both ways, and try it."""
    argparse.ArgumentParser(description="A network that eight hospitals train together.").parse_args()
    average = averages()
    session = owners.Session(average.parameters, NAMES, results=average.results, threshold=ENOUGH)
    print(average)
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        session.save(folder / "session")
        hospitals = [spawn.Process(target=hospital, args=(at, folder)) for at in range(len(NAMES))]
        for process in hospitals:
            process.start()
        weights, seconds = timed(lambda: coordinate(folder, session, average))
        for process in hospitals:
            process.join()
            assert process.exitcode == 0
        sizes = {kind: (folder / f"0 {kind}").stat().st_size for kind in ("change hospital 1", "request")}
    expected = in_clear()
    *_, images, digits = data()
    error = max(np.abs(found - wanted).max() for found, wanted in zip(weights, expected, strict=True))
    right = (scores(weights, images)[1].argmax(axis=1) == digits).mean()
    print(f"{ROUNDS} rounds of {len(NAMES)} hospitals, from round {LAST_ROUND + 1} on without one: {seconds:.1f} s")
    change, request = sizes["change hospital 1"] / 1e3, sizes["request"] / 1e3
    print(f"a change takes {change:.0f} kB, what a hospital needs to open the sum {request:.0f} kB")
    print(f"largest difference from the same in clear: {error:.1e}")
    print(f"right about {right:.1%} of {len(images)} images that none of them has")
    # Rounding is below half a step in each round, and training makes little more of it.
    assert error < 1e-2
    assert right > 0.9


if __name__ == "__main__":
    main()
