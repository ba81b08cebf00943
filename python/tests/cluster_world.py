"""One client and one local Ray cluster of several worker processes, for the tests of a module; a plugin of pytest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

from noren import ckks
from noren.cluster import Cluster, rotations_of_blocks

COUNT = 24
SLOTS = 8
rng = np.random.default_rng(1)
VALUES = rng.uniform(-1, 1, (COUNT, SLOTS))
MATRIX = rng.uniform(-1, 1, (10, 2 * SLOTS - 3))


class Owner:
    """A client with keys of a small ring."""

    def __init__(self, log_n: int = 10) -> None:
        params = ckks.Parameters(log_n=log_n, log_q=[50, 40, 40], log_p=[50], security=None)
        self.ctx = ckks.Context(params, threads=1)
        rotations = rotations_of_blocks(MATRIX, [SLOTS, SLOTS - 3])
        self.keys = self.ctx.keygen(rotations=rotations)
        self.items = [self.ctx.encrypt(row, self.keys.public) for row in VALUES]

    def decrypt(self, x: ckks.Ciphertext) -> Any:
        return self.ctx.decrypt(x, self.keys.secret)


@pytest.fixture(scope="module")
def owner() -> Owner:
    return Owner()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def cluster(owner: Owner, directory: Path) -> Iterator[Cluster]:
    """A cluster of three workers; other keys use the same processes."""
    with on_it(owner.keys.evaluation, directory, workers=3) as started:
        yield started
    # Clusters of other keys may not be closed yet.
    ray.shutdown()


def on_it(keys: Any, directory: Path, **options: Any) -> Cluster:
    """Return a cluster of these keys on the processes that run."""
    return Cluster(keys, directory=directory, min_security=0, **options)


def cubed(ev: ckks.Evaluator, x: ckks.Ciphertext) -> ckks.Ciphertext:
    return ev.mul(ev.square(x), x)


def added(ev: ckks.Evaluator, x: ckks.Ciphertext, y: ckks.Ciphertext) -> ckks.Ciphertext:
    return ev.add(x, y)
