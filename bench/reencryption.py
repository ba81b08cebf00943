"""Re-encryption for a new key: gigabytes of ciphertext a second on one core, in memory and from files to files.

BFV modulo 65537, 128 bits, ciphertexts of all limbs, encrypted with the public key. Each ring has a process of its own,
so that its peak of memory is that of the ring; results are decrypted and compared.

    python bench/reencryption.py [--log-n 13,14] [--ciphertexts 256] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from machine import memory
from noren import bfv

# Limbs and special primes in bits, with 128 bits of security.
SIZES = {13: ([40] * 4, [50]), 14: ([45] * 7, [50, 50])}


# The tool in a process of its own, which prints the peak of its memory.
TOOL = """
import sys
from machine import memory
from noren._noren import run_tool
code = run_tool(["noren", *sys.argv[1:]], itself=[])
print("peak", memory("VmHWM"))
sys.exit(code)
"""


def measured(log_n: int, count: int) -> dict[str, Any]:
    """Re-encrypt `count` ciphertexts, in memory and in a directory of files."""
    log_q, log_p = SIZES[log_n]
    ctx = bfv.Context(bfv.Parameters(log_n, 65537, log_q, log_p), threads=1)
    old, new = (ctx.keygen(relinearization=False) for _ in range(2))
    start = time.perf_counter()
    key = ctx.reencryption_key(old.secret, new.secret)
    key_seconds = time.perf_counter() - start
    values = np.arange(ctx.parameters.slots) % 65537
    stored = [ctx.encrypt(values, old.public) for _ in range(count)]
    size = len(bytes(stored[0]))
    ctx.reencrypt(stored[0], key)
    start = time.perf_counter()
    made = ctx.reencrypt(stored, key)
    seconds = time.perf_counter() - start
    if not (ctx.decrypt(made[-1], new.secret) == values).all():
        raise SystemExit("a result is wrong")
    peak = memory("VmHWM") / 1e6
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stored").mkdir()
        key.save(folder / "rotation.key")
        for at, ciphertext in enumerate(stored):
            (folder / "stored" / f"{at}.ct").write_bytes(bytes(ciphertext))
        verb = ["reencrypt", "--key", "rotation.key", "stored", "-o", "rotated", "--threads", "1", "--quiet"]
        start = time.perf_counter()
        path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        done = subprocess.run(
            [sys.executable, "-c", TOOL, *verb], cwd=folder, check=True, capture_output=True, text=True, env=path
        )
        of_files = time.perf_counter() - start
        tool = int(done.stdout.split()[-1]) / 1e6
        if ctx.decrypt(ctx.load(folder / "rotated" / "0.ct"), new.secret)[5] != 5:
            raise SystemExit("a file is wrong")
    return {
        "log_n": log_n,
        "limbs": len(log_q),
        "ciphertexts": count,
        "bytes": size,
        "key_bytes": len(bytes(key)),
        "key_seconds": key_seconds,
        "milliseconds": 1e3 * seconds / count,
        "gb_per_second": size * count / seconds / 1e9,
        "files_gb_per_second": size * count / of_files / 1e9,
        "memory_mb": peak,
        "tool_memory_mb": tool,
    }


def main() -> None:
    """Print a line for each ring."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--log-n", default="13,14", help="rings, of degree 2^N")
    parser.add_argument("--ciphertexts", type=int, default=256, help="how many, in a file each")
    parser.add_argument("--json", type=Path, help="where to keep the records")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measured(arguments.one, arguments.ciphertexts)))
        return
    records = []
    for log_n in arguments.log_n.split(","):
        command = [sys.executable, __file__, "--one", log_n, "--ciphertexts", str(arguments.ciphertexts)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        record = json.loads(done.stdout)
        records.append(record)
        print(
            f"n = 2^{log_n}, {record['limbs']} limbs, {record['bytes'] / 1e3:.0f} kB: {record['milliseconds']:.2f} ms,"
            f" {record['gb_per_second']:.3f} GB/s; files {record['files_gb_per_second']:.3f} GB/s;"
            f" key {record['key_bytes'] / 1e6:.1f} MB in {record['key_seconds']:.2f} s;"
            f" peak {record['memory_mb']:.0f} MB, tool {record['tool_memory_mb']:.0f} MB"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
