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


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are those of Linux")
@pytest.mark.parametrize(("code", "refusals", "last"), [(CKKS, 4, "[0.5]"), (TFHE, 2, "[3]")], ids=["ckks", "tfhe"])
def test_memory_that_cannot_be_had_is_an_error_with_its_bytes(code: str, refusals: int, last: str) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED + code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    *numbers, result = done.stdout.split("\n")[:-1]
    assert len(numbers) == refusals
    assert all(int(number) >= 1 << 20 for number in numbers)
    assert result == last
