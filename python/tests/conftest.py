"""One small world for all tests: a ring without security, its keys, and a check against error bounds."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from noren import ckks

pytest.register_assert_rewrite("cluster_world")

# Choices do not depend on costs that were measured on this machine, nor do tests write any.
os.environ["NOREN_MACHINE"] = os.devnull

SEED = bytes(range(32))
ROTATIONS = (1, -2, 3)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A file runs in one process, and all that use Ray in the same one: their clusters are on one machine."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            file = item.path.stem
            item.add_marker(pytest.mark.xdist_group("cluster" if "cluster" in file else file))


def saved_at_once(saves: Sequence[Callable[[], object]]) -> list[int]:
    """Save by threads that begin together; returns which have met no file that exists."""
    start = threading.Barrier(len(saves))
    won: list[int] = []

    def save(at: int) -> None:
        start.wait()
        try:
            saves[at]()
            won.append(at)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=save, args=(at,)) for at in range(len(saves))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return won


@dataclass(frozen=True)
class World:
    """A context with keys and an evaluator."""

    ctx: ckks.Context
    keys: ckks.Keys
    ev: ckks.Evaluator
    rng: np.random.Generator

    def values(self, slots: int = 8) -> NDArray[np.float64]:
        """Numbers in [-1, 1]."""
        return self.rng.uniform(-1, 1, slots)

    def encrypt(self, values: ArrayLike, slots: int = 8) -> ckks.Ciphertext:
        """Encrypt one vector, for operators."""
        x: ckks.Ciphertext = self.ctx.encrypt(values, self.keys.public, slots=slots)
        return self.ev.bind(x)

    def check(self, x: ckks.Ciphertext, expected: ArrayLike, most: float = 1e-6) -> None:
        """Decrypt, and compare within the error bound, which itself is at most `most`."""
        expected = np.asarray(expected)
        found: NDArray[Any] = self.ctx.decrypt(x, self.keys.secret, complex=True)
        if not np.iscomplexobj(expected):
            found = self.ctx.decrypt(x, self.keys.secret)
        assert found.shape == expected.shape
        assert 0 < x.error_bound < most
        assert np.abs(found - expected).max() <= x.error_bound


def small_parameters(log_scale: int = 40) -> ckks.Parameters:
    """Three levels in a ring of degree 1024, which is not secure."""
    return ckks.Parameters(10, [50, 40, 40, log_scale], [50, 50], security=None)


@pytest.fixture(scope="session")
def ctx() -> ckks.Context:
    return ckks.Context(small_parameters())


@pytest.fixture(scope="session")
def keys(ctx: ckks.Context) -> ckks.Keys:
    matrices = (np.ones((5, 8)), np.eye(8)[::-1])
    rotations = {*ROTATIONS, *ckks.rotations_of_sum(6), *(r for m in matrices for r in ckks.rotations_of_matrix(m))}
    return ctx.keygen(rotations=rotations, conjugation=True, seed=SEED)


@pytest.fixture
def world(ctx: ckks.Context, keys: ckks.Keys) -> World:
    return World(ctx, keys, ctx.evaluator(keys.evaluation), np.random.default_rng(1))


@pytest.fixture(scope="session")
def other() -> ckks.Context:
    """A context of other parameters."""
    return ckks.Context(small_parameters(log_scale=41))


@pytest.fixture(scope="session")
def raises_naming() -> Callable[..., None]:
    """Check that a call raises an error that names all of these."""

    def check(kind: type[Exception], call: Callable[[], object], *names: str) -> None:
        with pytest.raises(kind) as caught:
            call()
        for name in names:
            assert name in str(caught.value)

    return check
