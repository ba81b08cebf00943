# Types of `noren.compiler`; see the beginning of `__init__.pyi`.

from collections.abc import Sequence
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from noren._noren import _Security, bgv, ckks, integers, tfhe
from noren._noren.programs import Plan

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
    def parameters(self) -> ckks.Parameters | integers.Parameters | tfhe.Parameters: ...
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
