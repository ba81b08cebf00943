"""The nearest of known records, and its diagnosis: a client with a key of CKKS alone asks, and learns both.

The server has records of patients with their diagnoses, and gets an encrypted one. It computes all squared distances
in CKKS and finds the smallest by a tournament, whose comparisons are bootstraps of TFHE; number and diagnosis of the
record that wins are carried along. The client has a seed and the secret key that follows from it. A stronger device of
the same owner has the same seed, and makes all other keys.

Run it with ``python examples/7_nearest.py``: preset n16, 128-bit security, about a minute and 5 GB of memory. With
``--preset toy`` it does the same in a small ring without security, in seconds. It needs scikit-learn for its data.
"""

import argparse
import resource
import secrets
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from noren import bootstrapping, ckks, switching, tfhe

try:
    from sklearn.datasets import load_breast_cancer
except ModuleNotFoundError:
    raise SystemExit("this example takes its data from scikit-learn: pip install scikit-learn") from None

Array = NDArray[np.float64]

# Records that are known, half of them of each diagnosis: one slot each.
RECORDS = 64
# Standardised numbers beyond so many deviations are cut off; what is left is scaled to [-1, 1].
CLIP = 1.5
DIAGNOSES = ["malignant", "benign"]
SEED_BYTES = 32


@dataclass(frozen=True)
class Keys:
    """What the stronger device makes for the server: files, and the keys of TFHE."""

    bootstrapping: Path
    switching: Path
    tfhe: bytes


@dataclass(frozen=True)
class Answer:
    """What the server found: distance, number and diagnosis of a record, encrypted, and how sure they are."""

    sent: list[bytes]
    dead_zone: float
    failure: float


def matrix(known: Array) -> Array:
    """The squared distances of x to all records, as a product with (x, |x|^2), but for their own squares."""
    return np.column_stack([-2.0 * known, np.ones(len(known))])


def strong_device(directory: Path, params: switching.Parameters, seed: bytes, known: Array) -> Keys:
    """Make all keys that the server needs, from the seed that both devices of the owner have."""
    keys = ckks.Context(params.bootstrapping.ckks).keygen(relinearization=False, seed=seed)
    samples = tfhe.Context(params.tfhe).keygen()
    boot, switch = directory / "bootstrap.keys", directory / "switch.keys"
    rotations = {*ckks.rotations_of_matrix(matrix(known), slots=len(known)), *steps(len(known))}
    bootstrapping.BootstrapKeys.generate_file(boot, params.bootstrapping, keys.secret, rotations=sorted(rotations))
    switching.SwitchingKeys.generate(params, keys.secret, samples.secret).save(switch)
    return Keys(boot, switch, bytes(samples.server))


def steps(count: int) -> list[int]:
    """How far the other one of a pair is, in each round of a tournament."""
    return [count >> i for i in range(1, count.bit_length())]


class Server:
    """Holds records with their diagnoses, keys without secrets, and answers queries."""

    def __init__(self, keys: Keys, known: Array, diagnoses: NDArray[np.int64], min_security: int) -> None:
        """Read the keys; those of parameters below `min_security` bits are refused."""
        loaded = bootstrapping.BootstrapKeys.load(keys.bootstrapping, min_security=min_security)
        bootstrapper = bootstrapping.Bootstrapper(loaded)
        between = switching.SwitchingKeys.load(keys.switching, min_security=min_security)
        samples = tfhe.ServerKeys.from_bytes(keys.tfhe, min_security=min_security)
        # Three bootstraps for each comparison: the dead zone is tens of times smaller.
        self.switch = switching.Switch(bootstrapper, samples, between, steps=3)
        self.context = loaded.context
        self.evaluator = self.context.evaluator(loaded.evaluation).with_bootstrapping(bootstrapper)
        self.known, self.diagnoses = known, diagnoses
        # The numbers of a query are in [-1, 1], so that this is known of every distance.
        self.largest = float(((1 + np.abs(known)) ** 2).sum(axis=1).max())

    def nearest(self, query: bytes) -> Answer:
        """Find the nearest record; the server sees neither the query nor which one it is."""
        ev, switch = self.evaluator, self.switch
        x = ev.bind(ckks.Ciphertext.from_bytes(self.context, query))
        distance = (matrix(self.known) @ x + (self.known**2).sum(axis=1)).with_range(0.0, self.largest)
        # What is carried along: plain in the first round.
        carried: list[ckks.Ciphertext | Array] = [np.arange(float(len(self.known))), self.diagnoses.astype(float)]
        dead_zone, failure = 0.0, 0.0
        for step in steps(len(self.known)):
            if ev.levels_left(distance) == 0:
                distance = ev.bootstrap(distance)
            other = ev.rotate(distance, step)
            decision = switch.less(distance.with_length(step), other.with_length(step))
            # No slot after these is looked at again.
            wins = ev.bind(decision.result.with_length(len(self.known)))
            distance = switch.where(wins, distance, other).with_range(0.0, self.largest)
            carried = [self.winner(wins, y, step) for y in carried]
            dead_zone += decision.dead_zone
            failure += 2**decision.log2_failure
        return Answer([bytes(y) for y in (distance, *carried) if isinstance(y, ckks.Ciphertext)], dead_zone, failure)

    def winner(self, wins: ckks.Ciphertext, y: ckks.Ciphertext | Array, step: int) -> ckks.Ciphertext:
        """What belongs to the one that wins, out of what belongs to each."""
        if not isinstance(y, ckks.Ciphertext):
            return self.switch.where(wins, y, np.roll(y, -step)).with_range(0.0, float(y.max()))
        if self.evaluator.levels_left(y) == 0:
            y = self.evaluator.bootstrap(y)
        return self.switch.where(wins, y, self.evaluator.rotate(y, step)).with_range(0.0, y.magnitude)


def records(seed: int) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Return records that are known with their diagnoses, and others to ask about; all numbers are in [-1, 1]."""
    data = load_breast_cancer()
    order = np.random.default_rng(seed).permutation(len(data.target))
    numbers, labels = data.data[order], data.target[order]
    chosen = np.concatenate([np.flatnonzero(labels == label)[: RECORDS // 2] for label in range(len(DIAGNOSES))])
    others = np.setdiff1d(np.arange(len(labels)), chosen)
    mean, deviation = numbers[chosen].mean(axis=0), numbers[chosen].std(axis=0)
    standard = np.clip((numbers - mean) / deviation, -CLIP, CLIP) / CLIP
    return standard[chosen], labels[chosen], standard[others], labels[others]


def main() -> None:
    """Play all three: make seed and keys, encrypt, send, find, decrypt, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--preset", default="n16", choices=["n16", "toy"], help="parameters (default: n16)")
    parser.add_argument("--queries", type=int, default=4, help="how many records are asked about (default: 4)")
    options = parser.parse_args()
    toy = options.preset == "toy"

    known, diagnoses, others, labels = records(seed=1)
    params = switching.Parameters(options.preset, "TOY_SWITCH" if toy else "2_2", log_slots=RECORDS.bit_length() - 1)
    security, plan = params.bootstrapping.ckks.security, params.bootstrapping.plan()
    print(f"preset          {options.preset}: N = {params.bootstrapping.n}, {params.slots} slots, "
          f"{f'{security}-bit security' if security else 'no security'}")  # fmt: skip
    print(f"plan            {plan.memory_bytes / 2**30:.2f} GiB in memory, {plan.disk_bytes / 2**30:.2f} on disk")
    print(f"records         {len(known)} known to the server, {known.shape[1]} numbers each", flush=True)

    with tempfile.TemporaryDirectory() as directory:
        plan.check(directory)
        start = time.perf_counter()
        seed = secrets.token_bytes(SEED_BYTES)
        context = ckks.Context(params.bootstrapping.ckks)
        secret = context.keygen(relinearization=False, seed=seed).secret
        print(f"client          {time.perf_counter() - start:.2f} s for its key", flush=True)
        start = time.perf_counter()
        keys = strong_device(Path(directory), params, seed, known)
        size = keys.bootstrapping.stat().st_size + keys.switching.stat().st_size + len(keys.tfhe)
        print(
            f"strong device   {time.perf_counter() - start:.1f} s for all other keys, {size / 1e9:.2f} GB", flush=True
        )
        start = time.perf_counter()
        server = Server(keys, known, diagnoses, 0 if toy else 128)
        print(f"server is ready {time.perf_counter() - start:.1f} s", flush=True)

    # One level for the distances, and those of the way to samples.
    level = params.bootstrapping.input_level + 1
    wrong, right = [], 0
    asked = list(zip(others, labels, strict=True))[: options.queries]
    for number, (query, label) in enumerate(asked, 1):
        start = time.perf_counter()
        extended, within = np.append(query, query @ query), (-1.0, float(len(query)))
        sent = bytes(context.encrypt(extended, secret, slots=RECORDS, level=level, within=within))
        encryption = time.perf_counter() - start
        start = time.perf_counter()
        answer = server.nearest(sent)
        seconds = time.perf_counter() - start

        results = [ckks.Ciphertext.from_bytes(context, y) for y in answer.sent]
        bounds = [y.error_bound for y in results]
        distance, index, diagnosis = (float(context.decrypt(y, secret)[0]) for y in results)
        found, diagnosed = round(index), round(diagnosis)
        expected = ((known - query) ** 2).sum(axis=1)
        right += diagnosed == label
        print(
            f"query {number:<2}        {DIAGNOSES[diagnosed]}, as record {found} at {distance:.4f}; in the clear "
            f"{expected.argmin()} at {expected.min():.4f}. Encrypted in {1000 * encryption:.0f} ms, "
            f"{len(sent) / 1e6:.2f} MB, answered in {seconds:.1f} s; errors below {max(bounds):.0e}",
            flush=True,
        )
        as_stated = (
            abs(distance - expected[found]) <= bounds[0],
            abs(index - found) <= bounds[1],
            abs(diagnosis - diagnoses[found]) <= bounds[2],
            expected[found] - expected.min() <= answer.dead_zone,
        )
        if not all(as_stated):
            wrong.append(number)
    print(f"diagnoses       {right} of {len(asked)} are those of the patients")
    print(f"dead zone       no record is nearer by more than {answer.dead_zone:.3f}, of distances up to "
          f"{server.largest:.0f}, but with probability 2^{np.log2(answer.failure):.0f}")  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"peak memory     {peak / 2**30:.2f} GiB, client, strong device and server in one process")
    if wrong:
        raise SystemExit(f"the answers to queries {wrong} are not those in the clear")


if __name__ == "__main__":
    main()
