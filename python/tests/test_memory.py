"""Memory that cannot be had raises MemoryError with the number of bytes, and everything works afterwards."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

LIMITED = """
import re, resource
import numpy as np
import noren
from noren import bfv, ckks, tfhe

def used():
    for line in open("/proc/self/status"):
        if line.startswith("VmSize:"):
            return int(line.split()[1]) << 10

def refused(room, call):
    resource.setrlimit(resource.RLIMIT_AS, (used() + room, resource.RLIM_INFINITY))
    try:
        call()
    except MemoryError as error:
        print(re.fullmatch(r"(\\d+) bytes of memory .*", str(error)).group(1))
    else:
        raise AssertionError("nothing was refused")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

"""

CKKS = """
params = ckks.Parameters(log_n=14, log_q=[50] + [40] * 9, log_p=[50] * 2, log_scale=40, security=None)
large = ckks.Parameters(log_n=16, log_q=[50] + [40] * 19, log_p=[50] * 2, log_scale=40, security=None)
refused(20 << 20, lambda: ckks.Context(large, threads=1).keygen(relinearization=False))
ctx = ckks.Context(params, threads=1)
for room in (40, 90, 150):
    refused(room << 20, lambda: ctx.keygen(relinearization=True, rotations=range(1, 40)))
small = ckks.Parameters(log_n=12, log_q=[50, 40], log_p=[50], log_scale=40, security=None)
keys = ckks.Context(small, threads=1).keygen()
ctx = keys.secret.context
print(ctx.decrypt(ctx.encrypt([0.5], keys.public), keys.secret).round(3).tolist())
"""

TFHE = """
ctx = tfhe.Context(tfhe.Parameters("2_2"), threads=1)
refused(30 << 20, lambda: ctx.keygen())
keys = ctx.keygen()
refused(60 << 20, lambda: ctx.evaluator(keys.server))
x = ctx.encrypt(np.array([3], np.uint8), keys.secret)
print(ctx.decrypt(x, keys.secret).tolist())
"""


# Calls that size by their input, with what they are given before the limit, and the room in MiB that they get.
SIZED = """
from noren import programs
params = ckks.Parameters(log_n=12, log_q=[50, 40, 40], log_p=[50], log_scale=40, security=None)
ctx = ckks.Context(params, threads=1)
keys = ctx.keygen(rotations=[1])
ev = ctx.evaluator(keys.evaluation)
x = ctx.encrypt([0.5, 0.25], keys.public)
ints = bfv.Parameters(12, 65537, [50] * 3, [50], security=None)
whole = bfv.Context(ints, threads=1)
whole_keys = whole.keygen()
tiny = tfhe.Context(tfhe.Parameters("TOY_2_2"), threads=1)
tiny_keys = tiny.keygen()
mean = programs.Program("mean")
plan = programs.plan([mean], rows=10, columns=2, slots=ctx.slots)
tall = np.ones((50_000, 2))
square = np.ones((2000, 2000))
long = np.ones(6_000_000)
rows = np.ones((3000, 8))
table = np.ones((400_000, 8))
letters = np.ones(6_000_000, np.uint8)
encrypted = programs.encrypt_table(np.ones((20_000, 64)), keys.secret)
calls = {
    "a tall matrix": lambda: tall @ x,
    "the rotations of a matrix": lambda: noren.ckks.rotations_of_matrix(tall),
    "a dense matrix": lambda: noren.ckks.rotations_of_matrix(square),
    "a long vector": lambda: ctx.encrypt(long, keys.public),
    "many rows": lambda: ctx.encrypt(rows, keys.public),
    "many rows of integers": lambda: whole.encrypt(rows.astype(np.int8), whole_keys.public),
    "a long vector of integers": lambda: whole.encrypt(letters, whole_keys.public),
    "a table": lambda: programs.encrypt_table(table, keys.secret),
    "a decrypted table": lambda: programs.decrypt_table(encrypted, keys.secret),
    "elements of TFHE": lambda: tiny.encrypt(letters, tiny_keys.secret),
    "pairs of columns": lambda: programs.Program("inner-product").plan(4, 4096, slots=4096),
    "bytes of a table": lambda: bytes(encrypted),
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are those of Linux")
def test_calls_that_size_by_their_input_ask_for_memory_first() -> None:
    # Every call under several limits, each in a child of its own: none ends by a signal, and the tightest refuses.
    code = """
import os, sys
for name, call in calls.items():
    refusals = 0
    for room in (20, 28, 40, 60, 90):
        pid = os.fork()
        if pid == 0:
            resource.setrlimit(resource.RLIMIT_AS, (used() + (room << 20), resource.RLIM_INFINITY))
            try:
                call()
            except MemoryError:
                os._exit(3)
            except (noren.Error, KeyboardInterrupt):
                os._exit(0)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        assert os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, 3), (name, room, status)
        refusals += os.WEXITSTATUS(status) == 3
    print(name, refusals, flush=True)
"""
    done = subprocess.run([sys.executable, "-c", LIMITED + SIZED + code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == 12
    assert [line for line in lines if line.endswith(" 0")] == []


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are those of Linux")
@pytest.mark.parametrize(("code", "refusals", "last"), [(CKKS, 4, "[0.5]"), (TFHE, 2, "[3]")], ids=["ckks", "tfhe"])
def test_memory_that_cannot_be_had_is_an_error_with_its_bytes(code: str, refusals: int, last: str) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED + code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    *numbers, result = done.stdout.split("\n")[:-1]
    assert len(numbers) == refusals
    assert all(int(number) >= 1 << 20 for number in numbers)
    assert result == last
