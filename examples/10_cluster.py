"""The nearest of 100,000 encrypted records, on all cores of this machine or of a Ray cluster.

A client encrypts its records and keeps them with a server, which cannot read them: one file for each block of records,
in it one ciphertext for each feature. To find the records nearest to a new one, the client encrypts that too. Workers
of the server read a block each, compute all squared distances in it, and write them; the client decrypts the distances
and takes the smallest. The files need not fit into memory: a worker holds one block, and the client one result.

The server is a process of its own, which this script starts as `--serve`: whoever controls a worker can do there what
the process can, and so it has evaluation keys and ciphertexts alone.

Run it with ``python examples/10_cluster.py``: about half a minute with its keys and files; ``pip install ray`` first.
With ``--rows 1000000 --features 64`` there are 15,680 ciphertexts in 1.3 GB of files. ``--address auto`` joins the Ray
cluster that this machine is part of, whose nodes see the directory ``--directory``.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from noren import ckks
from noren.cluster import Cluster

Array = NDArray[np.float64]

# Records that are asked for.
NEAREST = 5


def parameters() -> ckks.Parameters:
    """One product deep, 128-bit security: 4096 records in a ciphertext."""
    return ckks.Parameters(log_n=13, log_q=[45, 35], log_p=[50])


def records(block: int, rows: int, features: int) -> Array:
    """Return the records of a block: here random numbers, which a client would read from where it has them."""
    return np.random.default_rng([7, block]).normal(0.0, 0.3, (rows, features)).clip(-1, 1)


def encrypt_block(
    ctx: ckks.Context, key: ckks.SecretKey, directory: Path, block: int, rows: int, features: int
) -> Path:
    """Write a block of records, encrypted feature by feature, beside those with as many records."""
    path = directory / str(rows) / f"{block:06}.records"
    path.parent.mkdir(exist_ok=True)
    ctx.save(path, ctx.encrypt(records(block, rows, features).T, key, within=1.0))
    return path


def distances(query: list[ckks.Ciphertext]) -> Callable[[ckks.Evaluator, Path], ckks.Ciphertext]:
    """Return the program of the server: the squared distances of all records of a block to the query."""

    def program(ev: ckks.Evaluator, block: Path) -> ckks.Ciphertext:
        features: list[ckks.Ciphertext] = ev.context.load(block)
        total = ev.square(ev.sub(features[0], query[0]))
        for x, y in zip(features[1:], query[1:], strict=True):
            total = ev.add(total, ev.square(ev.sub(x, y)))
        return total

    return program


def serve(directory: Path, workers: int | None, address: str | None) -> None:
    """Play the server: distances of the records of each block to the query, in a file for each."""
    keys = directory / "evaluation.keys"
    ctx = ckks.EvaluationKeys.load(keys).context
    start = time.perf_counter()
    with Cluster(keys, workers=workers, address=address) as cluster:
        print(f"{cluster!r} with keys on every node: {time.perf_counter() - start:.1f} s", flush=True)
        start = time.perf_counter()
        for query in directory.glob("*/query"):
            blocks = sorted(query.parent.glob("*.records"))
            results = cluster.map(distances(ctx.load(query)), blocks)
            for block, encrypted in zip(blocks, results, strict=True):
                encrypted.save(block.with_suffix(".distances"))
        (directory / "seconds").write_text(str(time.perf_counter() - start))


def main() -> None:
    """Play the client, and start the server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--workers", type=int, help="one thread each [default: one to a core]")
    parser.add_argument("--address", help="of a Ray cluster")
    parser.add_argument("--directory", type=Path, help="for the blocks and the results [default: a temporary one]")
    parser.add_argument("--serve", action="store_true", help="be the server of a directory that a client has prepared")
    options = parser.parse_args()
    if options.serve:
        serve(options.directory, options.workers, options.address)
        return

    with tempfile.TemporaryDirectory() as temporary:
        directory: Path = options.directory or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        ctx = ckks.Context(parameters())
        keys = ctx.keygen()
        keys.evaluation.save(directory / "evaluation.keys", force=True)
        start = time.perf_counter()
        counts = [min(ctx.slots, options.rows - first) for first in range(0, options.rows, ctx.slots)]
        blocks = [
            encrypt_block(ctx, keys.secret, directory, block, count, options.features)
            for block, count in enumerate(counts)
        ]
        size = sum(path.stat().st_size for path in blocks)
        seconds = time.perf_counter() - start
        megabytes = size / 1e6
        print(
            f"{options.rows} records in {len(blocks)} files, {megabytes:.0f} MB: {seconds:.1f} s to encrypt", flush=True
        )

        wanted = np.random.default_rng(1).normal(0.0, 0.3, options.features).clip(-1, 1)
        # In every slot of a ciphertext one feature of the query, beside as many records as a block has.
        for count in set(counts):
            query = ctx.encrypt(np.repeat(wanted[:, None], count, axis=1), keys.secret, within=1.0)
            ctx.save(directory / str(count) / "query", query)
        server = [sys.executable, __file__, "--serve", "--directory", str(directory)]
        server += ["--workers", str(options.workers)] if options.workers else []
        server += ["--address", options.address] if options.address else []
        subprocess.run(server, check=True)

        seconds = float((directory / "seconds").read_text())
        found: list[Array] = []
        bound = 0.0
        for path in blocks:
            encrypted: ckks.Ciphertext = ctx.load(path.with_suffix(".distances"))
            found.append(ctx.decrypt(encrypted, keys.secret))
            bound = max(bound, encrypted.error_bound)
        all_distances = np.concatenate(found)
        nearest = np.argsort(all_distances)[:NEAREST]
        print(f"the nearest records are {nearest.tolist()}: {seconds:.1f} s, {options.rows / seconds:.0f} a second")
        for block, count in enumerate(counts):
            clear = ((records(block, count, options.features) - wanted) ** 2).sum(axis=1)
            errors = np.abs(all_distances[block * ctx.slots :][:count] - clear)
            assert errors.max() <= bound, "distances are within the bound that ciphertexts state"
        print(f"all distances are right within {bound:.1e}")


if __name__ == "__main__":
    main()
