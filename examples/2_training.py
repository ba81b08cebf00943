"""Training under encryption: a logistic regression on clinical records that the server never sees.

The client encrypts its records once. The server does gradient descent on them, and bootstraps the weights when their
levels run out. Weights stay encrypted until the client reads them.

Run it with ``python examples/2_training.py``: preset n16, 128-bit security, about a minute, 7 GB of memory and 2
GB of files. With ``--preset toy`` a part of the records is trained on in a small ring without security, in seconds. It
needs scikit-learn for its data, and matplotlib for ``--plot``.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from noren import bootstrapping, ckks

try:
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
except ModuleNotFoundError:
    raise SystemExit("this example takes its data from scikit-learn: pip install scikit-learn") from None

Array = NDArray[np.float64]

RATE = 0.5
# Standardised numbers beyond CLIP deviations are cut off, so that no record has a score outside the interval.
CLIP = 3.0
# Records are encrypted as multiples of this, so that no slot is above 1.
UNIT = 4.0
# The logistic function is replaced by a polynomial on [-INTERVAL, INTERVAL].
INTERVAL = 12.0
DEGREE = 7


def log_loss(signed: Array, weights: Array) -> float:
    """Mean logistic loss; each row of `signed` is a record times its label, +1 or -1."""
    return float(np.logaddexp(0.0, -signed @ weights).mean())


def accuracy(signed: Array, weights: Array) -> float:
    """Part of the records on the right side."""
    return float((signed @ weights > 0).mean())


def sigmoid_coefficients(scale: float) -> Array:
    """`scale` times 1 / (1 + exp(t)), as a Chebyshev series in t / INTERVAL."""
    return np.polynomial.chebyshev.chebinterpolate(lambda u: scale / (1 + np.exp(INTERVAL * u)), DEGREE)


@dataclass(frozen=True)
class Layout:
    """Slot r * columns + c holds column c of record r; both numbers are powers of two."""

    rows: int
    columns: int

    def rotations(self) -> list[int]:
        """Rotations that the server needs keys for."""
        sums = (self.columns, 1), (self.columns, -1), (self.rows, self.columns)
        return sorted({r for count, stride in sums for r in ckks.rotations_of_sum(count, stride=stride)})


class Server:
    """Holds the file of bootstrapping keys and encrypted records, and no secret."""

    def __init__(self, keys: Path, layout: Layout, count: int, min_security: int) -> None:
        """Read the keys, for `count` records; those of parameters below `min_security` bits are refused."""
        loaded = bootstrapping.BootstrapKeys.load(keys, min_security=min_security)
        bootstrapper = bootstrapping.Bootstrapper(loaded, mode="real")
        self.context = loaded.context
        self.evaluator = loaded.context.evaluator(loaded.evaluation).with_bootstrapping(bootstrapper)
        self.layout = layout
        # The step of gradient descent goes into the coefficients, and all other factors into the mask.
        self.coefficients = sigmoid_coefficients(RATE * UNIT / count)
        self.mask = np.tile(np.eye(layout.columns)[0] * UNIT / INTERVAL, layout.rows)

    def step(self, records: ckks.Ciphertext, weights: ckks.Ciphertext) -> ckks.Ciphertext:
        """One epoch, weights + RATE * mean(sigmoid(-score) * record): 6 levels.

        All rows of `weights` hold the same.
        """
        ev, columns = self.evaluator, self.layout.columns
        # Column 0 holds the score of its record; the others hold sums over two records, and are masked.
        scores = ev.sum(records * weights, columns) * self.mask
        # Numbers are cut off so that no score leaves the interval; bounds of sums cannot know that.
        scores = ev.sum(scores, columns, stride=-1).with_magnitude(1.0)
        forces = ev.polynomial(scores, self.coefficients, basis="chebyshev")
        gradient = ev.sum(forces * records, self.layout.rows, stride=columns)
        # Sums of bounds know nothing of the mean; what the server knows of its model is said here.
        return (weights + gradient.with_magnitude(1.0)).with_magnitude(1.0)

    def train(self, sent: bytes, epochs: int) -> list[bytes]:
        """The encrypted weights after each epoch, from zero on."""
        ev = self.evaluator
        records = ckks.Ciphertext.from_bytes(self.context, sent)
        weights = (records - records).with_magnitude(0.0)
        errors = weights.error_bound
        replies = []
        for epoch in range(1, epochs + 1):
            start, before = time.perf_counter(), ev.bootstraps
            # With this rate, a step of gradient descent brings any two weights nearer to each other: it adds its own
            # error to those before, and does not enlarge them. Bounds of single operations cannot know that.
            weights = self.step(records, weights.with_error_bound(0.0))
            errors += weights.error_bound
            weights = weights.with_error_bound(errors)
            seconds = time.perf_counter() - start
            print(
                f"  server  epoch {epoch:2}: {seconds:6.2f} s, {ev.bootstraps - before} bootstraps, "
                f"{ev.levels_left(weights)} levels left",
                flush=True,
            )
            replies.append(bytes(weights))
        return replies


def load(features: int, count: int) -> tuple[Array, Array, Array, Array]:
    """Signed records to train on and to test with, and their numbers as scikit-learn takes them."""
    data = load_breast_cancer()
    order = np.random.default_rng(1).permutation(len(data.target))
    numbers, labels = data.data[order, :features], 2.0 * data.target[order] - 1
    split = min(count, len(labels) * 3 // 4)
    mean, deviation = numbers[:split].mean(axis=0), numbers[:split].std(axis=0)
    standard = np.clip((numbers - mean) / deviation, -CLIP, CLIP)
    signed = np.column_stack([standard, np.ones(len(labels))]) * labels[:, None]
    return signed[:split], signed[split:], standard, labels


def train_in_clear(signed: Array, epochs: int) -> list[Array]:
    """The same arithmetic on numbers."""
    coefficients = sigmoid_coefficients(RATE / len(signed))
    weights, all_weights = np.zeros(signed.shape[1]), []
    for _ in range(epochs):
        scores = signed @ weights / INTERVAL
        assert np.abs(scores).max() <= 1, "a score has left the interval of the polynomial"
        weights = weights + np.polynomial.chebyshev.chebval(scores, coefficients) @ signed
        all_weights.append(weights)
    return all_weights


def plot(path: Path, epochs: Sequence[int], clear: Sequence[float], encrypted: Sequence[float]) -> None:
    """Save the loss after each epoch."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), constrained_layout=True)
    axes.plot(epochs, clear, color="tab:grey", linewidth=4, alpha=0.5, label="in the clear")
    axes.plot(epochs, encrypted, "o-", color="tab:blue", label="encrypted")
    axes.set(xlabel="epoch", ylabel="loss on the training records", ylim=(0, None))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
    figure.savefig(path, dpi=130)


def main() -> None:
    """Play the client: make keys, encrypt, send, receive, decrypt, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--preset", default="n16", choices=bootstrapping.PRESETS, help="parameters (default: n16)")
    parser.add_argument("--epochs", type=int, help="how many epochs (default: 16, for toy 3)")
    parser.add_argument("--plot", type=Path, help="save a plot of the loss")
    options = parser.parse_args()
    epochs = options.epochs or (3 if options.preset == "toy" else 16)

    params = bootstrapping.Parameters(options.preset)
    plan = params.plan()
    columns = 8 if options.preset == "toy" else 32
    layout = Layout(params.slots // columns, columns)
    train, test, standard, labels = load(min(30, columns - 1), layout.rows)
    security = params.ckks.security
    print(f"preset              {options.preset}: N = {params.n}, {params.slots} slots, {params.levels_left} levels, "
          f"{f'{security}-bit security' if security else 'no security'}")  # fmt: skip
    print(f"plan                {plan.memory_bytes / 2**30:.2f} GiB in memory, {plan.disk_bytes / 2**30:.2f} on disk")
    print(f"records             {len(train)} to train on, {len(test)} to test, {train.shape[1]} weights")

    with tempfile.TemporaryDirectory() as directory:
        plan.check(directory)
        path, start = Path(directory) / "bootstrap.keys", time.perf_counter()
        context = ckks.Context(params.ckks)
        keys = context.keygen(relinearization=False)
        size = bootstrapping.BootstrapKeys.generate_file(path, params, keys.secret, rotations=layout.rotations())
        packed = np.zeros((layout.rows, layout.columns))
        packed[: train.shape[0], : train.shape[1]] = train / UNIT
        sent = bytes(context.encrypt(packed.ravel(), keys.secret, level=params.output_level))
        print(
            f"keys and records    {time.perf_counter() - start:.1f} s, {size / 1e9:.2f} GB and {len(sent) / 1e6:.2f} MB"
        )

        start = time.perf_counter()
        server = Server(path, layout, len(train), 0 if options.preset == "toy" else 128)
        print(f"server is ready     {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        replies = server.train(sent, epochs)
        seconds = time.perf_counter() - start

    ciphertexts = [ckks.Ciphertext.from_bytes(context, reply) for reply in replies]
    found = [context.decrypt(x, keys.secret)[: train.shape[1]] for x in ciphertexts]
    clear = train_in_clear(train, epochs)
    losses = [[log_loss(train, weights) for weights in each] for each in (clear, found)]
    print("\nepoch   loss in the clear   encrypted   accuracy on test records in the clear   encrypted")
    for epoch, (expected, weights) in enumerate(zip(clear, found, strict=True), 1):
        print(f"{epoch:5}   {log_loss(train, expected):17.6f}   {log_loss(train, weights):9.6f}   "
              f"{accuracy(test, expected):37.4f}   {accuracy(test, weights):9.4f}")  # fmt: skip

    regression = LogisticRegression(max_iter=5000).fit(standard[: len(train)], labels[: len(train)])
    reference = regression.score(standard[len(train) :], labels[len(train) :])
    error = max(float(np.abs(x - y).max()) for x, y in zip(found, clear, strict=True))
    same = int(((test @ found[-1] > 0) == (test @ clear[-1] > 0)).sum())
    ev = server.evaluator
    scores = accuracy(test, found[-1]), accuracy(test, clear[-1]), reference
    print("\naccuracy            encrypted {:.4f}, in the clear {:.4f}, scikit-learn {:.4f}".format(*scores))
    print(f"same prediction     {same} of {len(test)} test records")
    print(f"error of weights    {error:.1e}, bound at the end {ciphertexts[-1].error_bound:.1e}")
    print(f"bootstraps          {ev.bootstraps}, all right but with probability 2^{ev.log2_failure:.1f}")
    print(f"training            {seconds:.1f} s, {seconds / epochs:.2f} s an epoch")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"peak memory         {peak / 2**30:.2f} GiB, client and server in one process")
    if options.plot:
        plot(options.plot, range(1, epochs + 1), *losses)
        print(f"plot                {options.plot}")
    if same != len(test) or error > 1e-3:
        raise SystemExit("the encrypted training is not that in the clear")


if __name__ == "__main__":
    main()
