"""Where a call runs: here, in a child of fork, in another thread, or interrupted by a signal and made once more.

None of it may change a result.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz_api.draw import Rng
from fuzz_api.verdict import Finding, refusal

Run = Callable[[], Any]


class Interrupted(BaseException):
    """What the handler of the signal raises; like KeyboardInterrupt, it is no Exception."""


def circumstance(rng: Rng) -> tuple[str, Callable[[Run], Any]]:
    """Return the name of a circumstance, and what runs a call in it; the name of the usual one is empty."""
    draw = float(rng.random())
    if draw < 0.01:
        return "in a child of fork", in_child
    if draw < 0.02:
        return "in another thread", in_thread
    if draw < 0.05:
        seconds = float(10 ** rng.uniform(-4.5, -1.5))
        return f"interrupted after {seconds:.6f} s, then again", lambda run: after_interrupt(run, seconds)
    return "", lambda run: run()


def in_thread(run: Run) -> Any:
    """Run a call in another thread."""
    found: list[tuple[bool, Any]] = []

    def work() -> None:
        try:
            found.append((True, run()))
        except BaseException as error:
            found.append((False, error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    right, value = found[0]
    if right:
        return value
    raise value


def after_interrupt(run: Run, seconds: float) -> Any:
    """Run a call; a signal that comes before it ends makes it raise, and then it runs once more."""
    armed = [True]

    def interrupt(_number: int, _frame: Any) -> None:
        if armed:
            raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        # A signal may come between any two instructions: before the inner `finally` is done, or where a context manager
        # of numpy is about to restore what it has changed.
        with np.errstate():
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                result = run()
            finally:
                armed.clear()
    except Interrupted:
        pass
    else:
        return result
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, before)
    return run()


def in_child(run: Run) -> Any:
    """Run a call in a child of fork, and bring its result back; what cannot be pickled is made here afterwards."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _answer(run, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if status != 0 or not data:
        raise Finding("crash", f"a child of fork ended with status {status}")
    kind, value = pickle.loads(data)
    if kind == "result":
        return value
    if kind == "unpicklable":
        return run()
    name, message = value
    try:
        result = run()
    except BaseException as error:
        if type(error).__name__ != name:
            raise Finding("process", f"a child of fork raised {name}: {message}; its parent {error!r}") from error
        refusal(error)
        raise
    raise Finding("process", f"a child of fork raised {name}: {message}; its parent returned {result!r}")


def _answer(run: Run, write: int) -> None:
    """Run a call in the child, answer, and end the process."""
    status = 1
    try:
        try:
            result = run()
        except BaseException as error:
            answer = pickle.dumps(("error", (type(error).__name__, str(error))))
        else:
            try:
                answer = pickle.dumps(("result", result))
            except Exception:
                answer = pickle.dumps(("unpicklable", None))
        with os.fdopen(write, "wb") as pipe:
            pipe.write(answer)
        status = 0
    finally:
        os._exit(status)
