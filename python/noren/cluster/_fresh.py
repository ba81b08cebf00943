"""What a process has beside the program of a task: the same for each task, whichever process runs it."""

from __future__ import annotations

import contextlib
import decimal
import os
import random
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def as_before(seed: str) -> Iterator[None]:
    """Seed the generators of `random` and of `numpy.random`, and put back what a program may set for the process: the
    environment, the working directory, how numpy and `decimal` compute and print, and which warnings are shown.

    seed: a digest in hexadecimal, which follows from the task: its numbers are the same wherever and whenever it runs,
    and no other task has them. They hide nothing: keys and noise are drawn from the system (`noren`).
    """
    random.seed(int(seed, 16))
    np.random.seed(np.frombuffer(bytes.fromhex(seed), dtype="<u4"))
    environment, directory = dict(os.environ), os.getcwd()  # noqa: PTH109
    try:
        with np.errstate(), np.printoptions(), decimal.localcontext(), warnings.catch_warnings():
            yield
    finally:
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        with contextlib.suppress(OSError):
            if os.getcwd() != directory:  # noqa: PTH109
                os.chdir(directory)
