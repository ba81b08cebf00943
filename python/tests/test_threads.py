import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from conftest import World

from noren import ckks


def test_threads_share_an_evaluator(world: World) -> None:
    rows = world.rng.uniform(-1, 1, (16, 8))

    def work(row: np.ndarray) -> ckks.Ciphertext:
        x = world.encrypt(row)
        return world.ev.rotate(x * x, 1) + 1

    with ThreadPoolExecutor(4) as pool:
        for row, y in zip(rows, pool.map(work, rows), strict=True):
            world.check(y, np.roll(row**2, -1) + 1)


def test_long_work_lets_other_threads_run() -> None:
    # Large enough that keys take far longer than the interpreter lets one thread run (5 ms).
    ctx = ckks.Context(ckks.Parameters(14, [50, 40, 40, 40], [50, 50], security=None), threads=1)
    ctx.keygen()
    done, started = threading.Event(), threading.Event()
    spans: list[tuple[float, float]] = []

    def work() -> None:
        started.set()
        start = time.perf_counter()
        ctx.keygen(rotations=range(1, 9))
        spans.append((start, time.perf_counter()))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    ticks = []
    while not done.is_set():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    thread.join()
    start, end = spans[0]
    # Had the interpreter been held, this thread would have seen no moment in the middle of the work.
    middle = [tick for tick in ticks if start + (end - start) / 4 < tick < end - (end - start) / 4]
    assert middle
