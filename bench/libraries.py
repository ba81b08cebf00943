"""The libraries that are measured, and how each is run.

Every program takes the options of one step of a suite (`--suite --log-n --shape --special --level --preset --mode
--scheme --depth --way --count --bits --method --workload --batch --set --log-slots --threads --seconds`) and prints
records.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import records
from records import GarbageError, Record

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
TOOL = ROOT / "target" / "release" / "noren-lab"

SCHEMES = frozenset({"ckks", "trace", "client"})


@dataclass(frozen=True)
class Library:
    """A program that measures one library."""

    name: str
    command: Sequence[Path | str]
    suites: frozenset[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    # Suites in which a failing program fails the run.
    ours: bool = False

    def is_installed(self) -> bool:
        """Whether all files of the command are there."""
        return all(part.exists() for part in self.command if isinstance(part, Path))

    def run(self, suite: str, options: Sequence[str]) -> list[Record]:
        """Measure one step; raise FailedError if that fails."""
        # Ours is called `noren-lab bench SUITE --json`, peers `PROGRAM --suite SUITE`.
        words = ["bench", suite, "--json"] if self.ours else ["--suite", suite]
        command = [str(part) for part in [*self.command, *words, *options]]
        environment = {**os.environ, **self.environment}
        try:
            result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        except OSError as error:
            raise FailedError(str(error)) from error
        message = result.stderr.strip()
        try:
            found = records.parse(result.stdout)
        except GarbageError as error:
            raise FailedError(f"prints garbage: {error}; {message[-300:]}") from error
        if result.returncode != 0 and not (self.ours and found):
            raise FailedError(f"exit code {result.returncode}: {message[-300:]}")
        return found


class FailedError(Exception):
    """A program failed, or printed something else than records."""


def libraries(suite: str, tool: Path = TOOL, held: bool = False) -> list[Library]:
    """Return the libraries of a suite, ours first, installed or not; those that are held use no AVX-512."""
    tenseal, tfhe, torus = PEERS / "tenseal", PEERS / "tfhe-ntt", PEERS / "tfhe-fft"
    kernels = frozenset({"kernels"})
    reductions = frozenset({"product", "inner-product"})
    bootstrap = frozenset({"bootstrap"})
    lattigo = PEERS / "lattigo" / "lattigo"
    built = "target-avx2" if held else "target"
    everything = [
        Library(
            "noren",
            [tool],
            SCHEMES
            | kernels
            | bootstrap
            | reductions
            | {"rns-heaan", "parallel", "chain", "matvec", "cyclotomic", "lookup", "tfhe", "switching", "weak-client"}
            | {"fused", "papers"},
            {"NOREN_ISA": "avx2"} if held else {},
            ours=True,
        ),
        # A device without AVX-512.
        Library("noren (AVX2)", [tool], frozenset({"weak-client"}), {"NOREN_ISA": "avx2"}, ours=True),
        # What the trace costs without vector instructions: the other half of the tables of Inoue et al.
        Library("noren (portable)", [tool], frozenset({"trace"}), {"NOREN_ISA": "portable"}, ours=True),
        Library("lattigo", [lattigo], SCHEMES | bootstrap | {"chain", "matvec"}),
        Library(
            "openfhe",
            [PEERS / "openfhe" / "build" / "openfhe"],
            SCHEMES | bootstrap | reductions | {"chain", "tfhe", "switching"},
        ),
        Library("helib", [PEERS / "helib" / "build" / "helib-bench"], frozenset({"cyclotomic"})),
        # Its set with a dense secret, as ours: it needs as much memory again, and minutes.
        Library("lattigo (dense)", [lattigo, "--dense"], bootstrap),
        Library("tenseal", [tenseal / "venv" / "bin" / "python", tenseal / "main.py"], SCHEMES | {"chain"}),
        Library("tfhe-ntt", [tfhe / built / "release" / "bench-tfhe-ntt"], kernels),
        Library("tfhe-fft", [torus / built / "release" / "bench-tfhe-fft"], kernels),
        Library("tfhe-rs", [PEERS / "tfhe-rs" / built / "release" / "bench-tfhe-rs"], reductions | {"tfhe"}),
        Library("tfhe-ntt (AVX2)", [tfhe / "target-avx2" / "release" / "bench-tfhe-ntt"], kernels),
    ]
    # Builds for AVX2 beside those for the processor.
    others = {"noren (AVX2)", "noren (portable)", "tfhe-ntt (AVX2)"} if held else set()
    return [library for library in everything if suite in library.suites and library.name not in others]
