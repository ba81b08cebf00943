# Types of `noren.compiler`; see the beginning of `__init__.pyi`.

from collections.abc import Sequence
from pathlib import Path
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from noren._noren import _Security, bgv, bootstrapping, ckks, integers, tfhe
from noren._noren.programs import Plan

def advise_function(
    graph: Graph,
    *,
    precision: float | None,
    dead_zone: float | None,
    security: _Security,
    objective: str,
    client: str | None,
    machine: Path | None,
    threads: int | None,
    limits: tuple[int | None, int | None, float | None, float | None],
) -> str: ...

@final
class Graph:
    def __new__(cls) -> Self: ...
    def push(self, operation: str, place: str) -> tuple[int, list[int], str, float, float]: ...
    def finish(self, outputs: Sequence[int]) -> None: ...

@final
class Program:
    @staticmethod
    def compile(
        graph: Graph,
        *,
        scheme: str = "auto",
        precision: float | None = None,
        dead_zone: float | None = None,
        security: _Security = 128,
    ) -> Program: ...
    @staticmethod
    def from_bytes(data: bytes, *, min_security: int = 128) -> Program: ...
    @property
    def scheme(self) -> str: ...
    @property
    def precision(self) -> float: ...
    @property
    def needs_circuit_keys(self) -> bool: ...
    @property
    def parameters(self) -> ckks.Parameters | bootstrapping.Parameters | integers.Parameters | tfhe.Parameters: ...
    @property
    def rotations_at(self) -> dict[int, int]: ...
    @property
    def plan(self) -> Plan | None: ...
    @property
    def graph(self) -> str: ...
    @property
    def signature(
        self,
    ) -> tuple[list[tuple[str, list[int], str, float, float]], list[tuple[list[int], str]]]: ...
    def explain(self) -> str: ...
    def encrypt(
        self,
        key: ckks.SecretKey | integers.SecretKey | tfhe.SecretKey,
        inputs: Sequence[NDArray[np.float64]],
        *,
        seed: bytes | None = None,
    ) -> bytes: ...
    def run(self, evaluator: ckks.Evaluator | bgv.Evaluator | tfhe.Evaluator, inputs: bytes) -> bytes: ...
    def decrypt(
        self, key: ckks.SecretKey | integers.SecretKey | tfhe.SecretKey, outputs: bytes
    ) -> tuple[list[NDArray[np.float64]], list[float]]: ...
    def simulate(
        self, inputs: Sequence[NDArray[np.float64]], *, seed: bytes | None = None
    ) -> tuple[list[NDArray[np.float64]], list[float]]: ...
    def __bytes__(self) -> bytes: ...
