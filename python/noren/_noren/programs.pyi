# Types of `noren.programs`; see the beginning of `__init__.pyi`.

from collections.abc import Mapping, Sequence
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren._noren import _Path, _Progress
from noren._noren.ckks import Context, EvaluationKeys, Evaluator, Keys, Parameters, PublicKey, Releases, SecretKey

@final
class Program:
    def __new__(cls, name: str, /, **model: object) -> Self: ...
    @staticmethod
    def from_json(name: str, json: str | None = None) -> Program: ...
    @property
    def name(self) -> str: ...
    def plan(
        self,
        rows: int,
        columns: int,
        *,
        slots: int,
        column_names: Sequence[str] | None = None,
        max_abs: ArrayLike | Mapping[str, float] | None = None,
        unproven_interval: bool = False,
    ) -> Plan: ...
    def run(
        self, evaluator: Evaluator, table: EncryptedTable, *, progress: _Progress | None = None
    ) -> EncryptedTable: ...

@final
class Plan:
    @property
    def depth(self) -> int: ...
    @property
    def rotations(self) -> dict[int, int]: ...
    @property
    def relinearization(self) -> int | None: ...
    @property
    def counts(self) -> dict[str, int]: ...
    def keygen(
        self,
        context: Context,
        *,
        level: int | None = None,
        seed: bytes | None = None,
        progress: _Progress | None = None,
    ) -> Keys: ...
    def evaluation_keys(
        self,
        secret: SecretKey,
        *,
        level: int | None = None,
        seed: bytes | None = None,
        progress: _Progress | None = None,
    ) -> EvaluationKeys: ...
    def __or__(self, other: Plan, /) -> Plan: ...
    def __eq__(self, other: object, /) -> bool: ...

def choose_parameters(
    programs: Sequence[Program],
    rows: int,
    columns: int,
    *,
    precision_bits: float,
    column_names: Sequence[str] | None = None,
    max_abs: ArrayLike | Mapping[str, float] | None = None,
    unproven_interval: bool = False,
) -> Parameters: ...

@final
class EncryptedTable:
    @property
    def ciphertexts(self) -> int: ...
    @property
    def level(self) -> int: ...
    @property
    def slots(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def owner(self) -> str: ...
    @property
    def parameters(self) -> Parameters: ...
    @staticmethod
    def from_bytes(context: Context, data: bytes) -> EncryptedTable: ...
    @staticmethod
    def load(context: Context, path: _Path) -> EncryptedTable: ...
    def save(self, path: _Path) -> None: ...
    def __bytes__(self) -> bytes: ...

def encrypt_table(
    values: ArrayLike,
    key: PublicKey | SecretKey,
    *,
    column_names: Sequence[str] | None = None,
    row_names: Sequence[str] | None = None,
    max_abs: ArrayLike | Mapping[str, float] | None = None,
    level: int | None = None,
    seed: bytes | None = None,
) -> EncryptedTable: ...
def decrypt_table(
    table: EncryptedTable,
    key: SecretKey,
    *,
    release_bits: int | None = None,
    releases: Releases | None = None,
    allow_unbounded: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str], list[str], list[tuple[int, int]]]: ...
