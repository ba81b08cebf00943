"""ResNet-20 on encrypted images: what it takes, and how often answers are right, in clear and with simulated noise.

``python bench/resnet_train.py weights.npz`` first, then ``python bench/resnet_run.py weights.npz``. With ``--server``
keys are made (gigabytes), and a server in a process of its own answers a request twice. ``--images N`` are simulated.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from noren import RangeError, ml
from noren.compiler import Server
from resnet_images import images
from resnet_network import network

EXAMPLES, EXAMPLES_SEED, TESTS_SEED = 64, 3, 2


def main() -> None:
    """Compile, simulate, and measure a server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument("--calibrate", type=float, default=0.5)
    parser.add_argument("--server", action="store_true")
    parser.add_argument("--answer", nargs=4, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        _answer(*given.answer)
        return
    graph = network(dict(np.load(given.weights)))
    start = time.perf_counter()
    model = ml.compile(
        graph,
        images(EXAMPLES, EXAMPLES_SEED)[0],
        rows=1,
        precision=2**-4,
        margin=0.1,
        calibrate=given.calibrate,
        bounded=False,
        scheme="ckks-bootstrapping",
    )
    print(f"compiled in {time.perf_counter() - start:.1f} s, {_memory():.2f} GB")
    print("\n".join(str(model.explain()).splitlines()[:6]))
    rows, kinds = images(given.images, TESTS_SEED)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    (clear,) = session.run(None, {"image": rows.astype(np.float32)})
    right, same, outside = (clear.argmax(axis=1) == kinds).sum(), [], 0
    for row, kind, shares in zip(rows, kinds, clear, strict=True):
        try:
            found = model.predict(row[np.newaxis])
        except RangeError:
            outside += 1
            continue
        same.append((found.argmax() == kind, found.argmax() == shares.argmax(), np.abs(found - shares).max()))
    print(
        f"{right} of {len(rows)} are right in clear; with noise {sum(own[0] for own in same)}, {outside} left a range,"
    )
    print(f"{sum(own[1] for own in same)} as in clear, shares within {max(own[2] for own in same):.1e}", flush=True)
    if given.server:
        _serve(model, given.weights, rows, clear)


def _serve(model: ml.Model, weights: Path, rows: Any, clear: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        program, keys, request, reply = (Path(name) / part for part in ("program", "keys", "request", "reply"))
        model.save(program)
        start = time.perf_counter()
        model.client.keygen_file(keys)
        print(f"keys in {time.perf_counter() - start:.1f} s, {keys.stat().st_size / 1e9:.2f} GB, {_memory():.2f} GB")
        request.write_bytes(model.client.encrypt(rows[:1]))
        sizes = f"program {program.stat().st_size / 1e6:.1f} MB, request {request.stat().st_size / 1e6:.1f} MB"
        arguments = [sys.executable, __file__, str(weights), "--answer", *map(str, (program, keys, request, reply))]
        subprocess.run(arguments, check=True)
        print(f"{sizes}, reply {reply.stat().st_size / 1e6:.1f} MB")
        shares = model.client.predict(reply.read_bytes(), rows=1)
        print(f"largest difference of shares from clear: {np.abs(shares - clear[:1]).max():.1e}")


def _answer(program: Path, keys: Path, request: Path, reply: Path) -> None:
    server = Server.load(program)
    for run in ("first", "later"):
        start, before = time.perf_counter(), time.process_time()
        reply.write_bytes(server.run(request.read_bytes(), keys))
        passed, work = time.perf_counter() - start, time.process_time() - before
        print(f"server, {run}: {passed:.1f} s, {work:.1f} s of all threads, {_memory():.2f} GB", flush=True)


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
