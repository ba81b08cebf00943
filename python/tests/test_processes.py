"""Processes: children of fork work, pickles keep their threads, and signals end long calls."""

import concurrent.futures
import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import noren
from noren import bfv, bgv, bootstrapping, ckks, tfhe

# Large enough that loops are shared out to threads.
CKKS = ckks.Parameters(13, [50, 40, 40], [50], security=None)
BFV = bfv.Parameters(13, 65537, [40, 40, 40], [48], security=None)
TFHE = tfhe.Parameters("TOY_2_2")
X = np.linspace(-1, 1, 8)
LIMIT = 60
"""Seconds after which a child is taken for one that hangs."""


def ckks_square(threads: int | None) -> Callable[[], float]:
    ctx = ckks.Context(CKKS, threads=threads)
    keys = ctx.keygen(seed=bytes(32))
    ev = ctx.evaluator(keys.evaluation)

    def work() -> float:
        x = ev.bind(ctx.encrypt(X, keys.public, slots=8))
        return float(np.abs(ctx.decrypt(x * x, keys.secret) - X**2).max())

    return work


def bfv_square(threads: int | None) -> Callable[[], float]:
    ctx = bfv.Context(BFV, threads=threads)
    keys = ctx.keygen(seed=bytes(32))
    ev = ctx.evaluator(keys.evaluation)

    def work() -> float:
        x = ev.bind(ctx.encrypt([1, 2, 3], keys.public))
        return float(np.abs(ctx.decrypt(x * x, keys.secret)[:3] - [1, 4, 9]).max())

    return work


def tfhe_sum(threads: int | None) -> Callable[[], float]:
    ctx = tfhe.Context(TFHE, threads=threads)
    keys = ctx.keygen(seed=bytes(32))
    ev = ctx.evaluator(keys.server)
    values = np.arange(8, dtype=np.uint8)

    def work() -> float:
        x = ev.bind(ctx.encrypt(values, keys.secret))
        return float(np.abs(ctx.decrypt(x + x, keys.secret).astype(int) - 2 * values.astype(int)).max())

    return work


WORK = {"ckks": ckks_square, "bfv": bfv_square, "tfhe": tfhe_sum}


def in_child(work: Callable[[], object]) -> int:
    """Run work in a child of os.fork, and return its exit status; a child that hangs is killed."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


@pytest.mark.parametrize("threads", [None, 1, 2])
@pytest.mark.parametrize("scheme", WORK)
def test_children_of_fork_compute(scheme: str, threads: int | None) -> None:
    work = WORK[scheme](threads)
    assert work() < 1e-6  # threads have been used
    assert in_child(lambda: work() < 1e-6 and in_child(lambda: work() < 1e-6) == 0) == 0
    assert work() < 1e-6


def test_a_child_makes_contexts_and_keys() -> None:
    ckks_square(None)()
    assert in_child(lambda: ckks_square(None)() < 1e-6 and ckks_square(2)() < 1e-6) == 0


def test_programs_run_in_children_of_fork() -> None:
    from noren import programs

    mean = programs.Program("mean")
    plan = programs.plan([mean], rows=4, columns=2, slots=4096)
    ctx = ckks.Context(CKKS)
    keys = plan.keygen(ctx, seed=bytes(32))
    ev = ctx.evaluator(keys.evaluation)
    values = np.arange(8.0).reshape(4, 2)
    table = programs.encrypt_table(values, keys.public)

    def work() -> bool:
        found = programs.decrypt_table(programs.run(ev, mean, table), keys.secret).values
        return bool(np.abs(found - values.mean(axis=0)).max() < 1e-4)

    assert work()
    assert in_child(work) == 0


def square(x: ckks.Ciphertext, ev: ckks.Evaluator) -> ckks.Ciphertext:
    return ev.mul(x, x)


def double(x: tfhe.EncryptedArray, keys: tfhe.ServerKeys) -> tfhe.EncryptedArray:
    return x.context.evaluator(keys).bind(x) + x


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_processes_compute(method: str) -> None:
    ckks_square(None)()
    ctx = ckks.Context(CKKS)
    keys = ctx.keygen(seed=bytes(32))
    ev = ctx.evaluator(keys.evaluation)
    cts = [ctx.encrypt(X, keys.public, slots=8) for _ in range(2)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        for y in pool.starmap_async(square, [(x, ev) for x in cts]).get(LIMIT):
            assert np.abs(ctx.decrypt(y, keys.secret) - X**2).max() <= y.error_bound
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context(method)) as executor:
        y = executor.submit(square, cts[0], ev).result(LIMIT)
        assert np.abs(ctx.decrypt(y, keys.secret) - X**2).max() <= y.error_bound


def test_pools_of_forked_processes_compute_on_encrypted_arrays() -> None:
    tfhe_sum(None)()
    ctx = tfhe.Context(TFHE)
    keys = ctx.keygen(seed=bytes(32))
    x = ctx.encrypt(np.arange(4, dtype=np.uint8), keys.secret)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        (y,) = pool.starmap_async(double, [(x, keys.server)]).get(LIMIT)
    assert ctx.decrypt(y, keys.secret).tolist() == [0, 2, 4, 6]


def test_a_child_of_a_fork_during_a_call_is_refused_at_once() -> None:
    ctx = ckks.Context(ckks.Parameters(14, [50, 40, 40, 40], [50, 50], security=None))
    started = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        keys = executor.submit(ctx.keygen, rotations=range(1, 40), progress=lambda *_: started.set())
        started.wait(LIMIT)

        def refused() -> bool:
            try:
                ctx.encode([1.0])
            except noren.Error as error:
                return "fork" in str(error) and "spawn" in str(error)
            return False

        assert in_child(refused) == 0
        keys.result()


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_threads_survive_pickling(threads: int | None) -> None:
    def threads_of(thing: object) -> int:
        found: int = pickle.loads(pickle.dumps(thing)).context.threads
        return found

    def threads_of_secret(keys: ckks.Keys | tfhe.Keys) -> int:
        return pickle.loads(pickle.dumps(noren.PicklableSecret(keys))).value.secret.context.threads  # type: ignore[no-any-return]

    expected = os.cpu_count() if threads is None else threads
    ctx = ckks.Context(CKKS, threads=threads, parallel="modulus")
    keys = ctx.keygen()
    again = pickle.loads(pickle.dumps(ctx))
    assert (ctx.threads, again.threads, again.parallel) == (expected, expected, "modulus")
    x = ctx.encrypt(X, keys.public)
    assert threads_of_secret(keys) == expected
    for thing in (x, ctx.encode(X), keys.public, keys.evaluation, ctx.evaluator(keys.evaluation)):
        assert threads_of(thing) == expected
    for scheme in (bfv, bgv):
        exact = scheme.Context(BFV, threads=threads)
        assert pickle.loads(pickle.dumps(exact)).threads == expected
        assert threads_of(exact.encrypt([1], exact.keygen().public)) == expected
    torus = tfhe.Context(TFHE, threads=threads)
    owned = torus.keygen()
    assert pickle.loads(pickle.dumps(torus)).threads == expected
    assert threads_of_secret(owned) == expected
    for thing in (owned.server, torus.encrypt([True], owned.secret)):
        assert threads_of(thing) == expected


INTERRUPTED = {
    "keys of CKKS": "ckks.Context(ckks.Parameters(14, [50, 40, 40, 40], [50] * 2, security=None), threads={threads})"
    ".keygen(rotations=range(1, 4000))",
    "keys of BFV": "bfv.Context(bfv.Parameters(14, 65537, [50] * 4, [50] * 2, security=None), threads={threads})"
    ".keygen(rotations=range(1, 4000))",
    "products of TFHE": "x * x",
    "compiling": "while True: noren.compile(lambda x: np.log(x), noren.Input(8, 1e-5, 1.0), security=None)",
    "parameters of a wide table": "while True: programs.choose_parameters([covariance], rows=3000, columns=300, "
    "precision_bits=20)",
    "plans of a wide table": "while True: covariance.plan(3000, 300, slots=8192)",
    "fits of a function": "while True: programs.Program('logistic', weights=[1.0], interval=300.0, error=2e-5)"
    ".plan(8, 1, slots=8)",
}


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize("call", INTERRUPTED)
def test_signals_end_long_calls(call: str, threads: int | None) -> None:
    code = f"""
        import resource, signal
        import noren, numpy as np
        from noren import bfv, ckks, programs, tfhe
        covariance = programs.Program("covariance")
        # Ignored where the tests run in the background of a shell; and without it the call would take all memory.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        ctx = tfhe.Context(tfhe.Parameters("TOY_2_2"), threads={threads})
        keys = ctx.keygen()
        x = ctx.evaluator(keys.server).bind(ctx.encrypt(np.zeros(300, np.uint64), keys.secret))
        print("ready", flush=True)
        try:
            {INTERRUPTED[call].format(threads=threads)}
        except KeyboardInterrupt:
            assert ctx.decrypt(x[0] + 1, keys.secret) == 1  # all works as before
            print("interrupted", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 5
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        child.communicate()


def heard_during(call: Callable[[], object]) -> int:
    """Count how often a call asks for signals: one that does not hears of all that came once it is over."""
    heard = 0

    def hear(_signal: int, _frame: object) -> None:
        nonlocal heard
        heard += 1

    before = signal.signal(signal.SIGALRM, hear)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        call()
        during = heard
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return during


def test_signals_are_heard_while_bytes_are_made_and_read(tmp_path: Path) -> None:
    """Ctrl-C, too: calls of some tenths of a second ask for signals 20 times a second."""
    ctx = tfhe.Context(TFHE)
    keys = ctx.keygen()
    ev = ctx.evaluator(keys.server)
    x = ev.bind(ctx.encrypt(np.zeros(1, np.uint64), keys.secret)) + 1
    x = x[np.zeros(1200, int)]  # 0.3 GB
    path = tmp_path / "large"
    data: list[bytes] = []
    assert heard_during(lambda: data.append(bytes(x))) > 1
    assert heard_during(lambda: tfhe.EncryptedArray.from_bytes(ctx, data[0])) > 1
    assert heard_during(lambda: x.save(path)) > 1
    assert heard_during(lambda: tfhe.EncryptedArray.load(ctx, path)) > 1
    assert heard_during(lambda: pickle.dumps(x)) > 1
    vectors = ckks.Context(ckks.Parameters(14, [50] * 8, [50] * 2, security=None))
    large = vectors.keygen(rotations=range(1, 16)).evaluation
    assert heard_during(lambda: bytes(large)) > 1
    assert heard_during(lambda: ckks.EvaluationKeys.from_bytes(bytes(large), min_security=0)) > 1


def test_signals_are_heard_while_keys_of_bootstrapping_are_loaded(tmp_path: Path) -> None:
    params = bootstrapping.Parameters("toy")
    ctx = ckks.Context(params.ckks, threads=1)
    secret = ctx.keygen(level=params.output_level).secret
    path = tmp_path / "keys"
    # Rotations of a program make the file large enough.
    bootstrapping.BootstrapKeys.generate_file(path, params, secret, rotations=range(1, 512))
    assert heard_during(lambda: bootstrapping.BootstrapKeys.load(path, min_security=0)) > 1


def test_progress_of_tfhe_is_heard() -> None:
    ctx = tfhe.Context(TFHE, threads=1)
    keys = ctx.keygen(circuit=True)
    heard: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        heard.append((done, of))

    def stop(done: int, of: int) -> None:
        raise RuntimeError("enough")

    ev = ctx.evaluator(keys.server, keys.circuit, progress=hear)
    x = ev.bind(ctx.encrypt(np.array([3, 1, 2], np.int8), keys.secret))
    calls: list[Callable[[Callable[[int, int], object]], object]] = [
        lambda f: ev.minimum(x, x[0], progress=f),
        lambda f: ev.maximum(x, 2, progress=f),
        lambda f: ev.where(x < 2, x, 0, progress=f),
        lambda f: ev.sum(x, progress=f),
        lambda f: ev.min(x, progress=f),
        lambda f: ev.max(x, 0, progress=f),
        lambda f: ev.argmax(x, progress=f),
        lambda f: ev.argmin(x, progress=f),
        lambda f: ev.sort(x, progress=f),
        lambda f: ev.abs(x, progress=f),
        lambda f: ev.divmod(x, 2, progress=f),
        lambda f: ev.lookup(lambda a: a, x, progress=f),
    ]
    for call in calls:
        heard.clear()
        call(hear)
        assert heard
        assert heard[-1][0] == heard[-1][1]
        with pytest.raises(RuntimeError, match="enough"):
            call(stop)
    assert ctx.decrypt(ev.sort(x), keys.secret).tolist() == [1, 2, 3]


def test_progress_is_heard_and_what_it_raises_ends_the_work() -> None:
    heard: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        heard.append((done, of))

    ctx = ckks.Context(CKKS)
    ctx.keygen(rotations=[1, 2, 3], progress=hear)
    assert heard == sorted(heard)
    assert heard[-1][0] == heard[-1][1] >= 4
    heard.clear()
    torus = tfhe.Context(TFHE)
    keys = torus.keygen(progress=hear)
    assert heard
    assert heard[-1][0] == heard[-1][1]
    heard.clear()
    x = torus.evaluator(keys.server).bind(torus.encrypt(np.arange(4, dtype=np.uint8), keys.secret))
    with noren.progress(hear):
        x * x
    assert heard
    assert heard[-1][0] == heard[-1][1]
    heard.clear()
    x + x
    assert not heard

    def stop(done: int, of: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"), noren.progress(stop):
        x * x
    with pytest.raises(RuntimeError, match="enough"):
        ctx.keygen(rotations=range(1, 100), progress=stop)
