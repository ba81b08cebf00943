# Types of `noren.ckks`; see the beginning of `__init__.pyi`.

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self, SupportsIndex, TypeAlias, final, overload, type_check_only

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren._noren import (
    _Ciphertext,
    _Context,
    _EvaluationKeys,
    _Evaluator,
    _Key,
    _Keys,
    _Parameters,
    _Progress,
    _SecretKey,
    _Security,
)
from noren._noren.bootstrapping import Bootstrapper
from noren._noren.switching import Switch

@final
class Parameters(_Parameters[Parameters]):
    def __new__(
        cls,
        log_n: int,
        log_q: Sequence[int],
        log_p: Sequence[int] = (),
        log_scale: int | None = None,
        *,
        dnum: int = 0,
        secret: str | int | None = None,
        security: _Security = 128,
        restarts: Mapping[int, int] | None = None,
    ) -> Self: ...
    @staticmethod
    def for_requirements(
        *, depth: int, precision_bits: float, max_abs: float = 1.0, slots: int = 1, security: _Security = 128
    ) -> Parameters: ...
    @property
    def n(self) -> int: ...
    @property
    def slots(self) -> int: ...
    @property
    def max_level(self) -> int: ...
    @property
    def log_scale(self) -> int: ...
    @property
    def log_qp(self) -> float: ...
    @property
    def q(self) -> list[int]: ...
    @property
    def p(self) -> list[int]: ...
    @property
    def dnum(self) -> int: ...
    @property
    def restarts(self) -> dict[int, int]: ...
    def scale(self, level: int) -> float: ...
    def _repr_html_(self) -> str: ...

@final
class Context(_Context[Parameters, EvaluationKeys, Ciphertext, Evaluator]):
    def __new__(cls, parameters: Parameters, *, threads: int | None = None, parallel: str | None = None) -> Self: ...
    @property
    def parallel(self) -> str: ...
    @property
    def slots(self) -> int: ...
    def keygen(
        self,
        *,
        rotations: Iterable[SupportsIndex] = (),
        conjugation: bool = False,
        relinearization: bool = True,
        level: int | None = None,
        rotations_at: Mapping[int, int] | None = None,
        seed: bytes | None = None,
        progress: _Progress | None = None,
    ) -> Keys: ...
    def evaluation_keys(
        self,
        secret: SecretKey,
        *,
        rotations: Iterable[SupportsIndex] = (),
        conjugation: bool = False,
        relinearization: bool = False,
        level: int | None = None,
        rotations_at: Mapping[int, int] | None = None,
        seed: bytes | None = None,
        progress: _Progress | None = None,
    ) -> EvaluationKeys: ...
    def steps_of_sum(self, count: int, *, level: int | None = None, key_memory: int = 268435456) -> int: ...
    def encode(
        self, values: ArrayLike, *, slots: int | None = None, level: int | None = None, repeat: bool = False
    ) -> Plaintext: ...
    @overload
    def decode(self, plaintext: Plaintext, *, complex: Literal[False] | None = None) -> NDArray[np.float64]: ...
    @overload
    def decode(self, plaintext: Plaintext, *, complex: Literal[True]) -> NDArray[np.complex128]: ...
    # Rows of an array of two dimensions become a list; the type of an array does not tell its dimensions.
    @overload
    def encrypt(
        self,
        values: Sequence[complex],
        key: PublicKey | SecretKey,
        *,
        slots: int | None = None,
        level: int | None = None,
        repeat: bool = False,
        seed: bytes | None = None,
        within: float | tuple[float, float] | None = None,
    ) -> Ciphertext: ...
    @overload
    def encrypt(
        self,
        values: Sequence[Sequence[complex]],
        key: PublicKey | SecretKey,
        *,
        slots: int | None = None,
        level: int | None = None,
        repeat: bool = False,
        seed: bytes | None = None,
        within: float | tuple[float, float] | None = None,
    ) -> list[Ciphertext]: ...
    @overload
    def encrypt(
        self,
        values: ArrayLike,
        key: PublicKey | SecretKey,
        *,
        slots: int | None = None,
        level: int | None = None,
        repeat: bool = False,
        seed: bytes | None = None,
        within: float | tuple[float, float] | None = None,
    ) -> Any: ...
    @overload
    def decrypt(
        self,
        ciphertext: Ciphertext | Sequence[Ciphertext],
        key: SecretKey,
        *,
        complex: Literal[False] | None = None,
        allow_unbounded: bool = False,
    ) -> NDArray[np.float64]: ...
    @overload
    def decrypt(
        self,
        ciphertext: Ciphertext | Sequence[Ciphertext],
        key: SecretKey,
        *,
        complex: Literal[True],
        allow_unbounded: bool = False,
    ) -> NDArray[np.complex128]: ...
    def decrypt_for_release(
        self, ciphertext: Ciphertext, key: SecretKey, *, bits: int, releases: Releases | None = None
    ) -> NDArray[np.float64]: ...
    def reencryption_key(
        self, old: SecretKey, new: SecretKey | ReceiverKey, *, seed: bytes | None = None
    ) -> ReencryptionKey: ...
    def receiver_key(self, secret: SecretKey, *, seed: bytes | None = None) -> ReceiverKey: ...
    @overload
    def reencrypt(
        self,
        x: Ciphertext,
        key: ReencryptionKey,
        *,
        flood: bool = True,
        results: int = 65536,
        distance: int = 64,
        seed: bytes | None = None,
    ) -> Ciphertext: ...
    @overload
    def reencrypt(
        self,
        x: Sequence[Ciphertext],
        key: ReencryptionKey,
        *,
        flood: bool = True,
        results: int = 65536,
        distance: int = 64,
        seed: bytes | None = None,
    ) -> list[Ciphertext]: ...

@final
class Keys(_Keys[SecretKey, PublicKey, EvaluationKeys]): ...

@type_check_only
class _OfContext:
    @property
    def context(self) -> Context: ...

@final
class SecretKey(_OfContext, _SecretKey[Parameters]): ...

@final
class PublicKey(_OfContext, _Key[Parameters]): ...

@final
class ReceiverKey(_OfContext, _Key[Parameters]): ...

@final
class ReencryptionKey(_OfContext, _Key[Parameters]):
    @property
    def source(self) -> str: ...
    @property
    def for_another_owner(self) -> bool: ...

@final
class EvaluationKeys(_OfContext, _EvaluationKeys[Parameters]):
    @property
    def has_conjugation(self) -> bool: ...
    def at_level(self, level: int) -> EvaluationKeys: ...

@final
class Plaintext:
    @property
    def context(self) -> Context: ...
    @property
    def level(self) -> int: ...
    @property
    def shape(self) -> tuple[int]: ...
    @property
    def slots(self) -> int: ...
    @property
    def scale(self) -> float: ...
    @property
    def error_bound(self) -> float: ...
    @property
    def parameters(self) -> Parameters: ...
    @staticmethod
    def from_bytes(context: Context, data: bytes) -> Plaintext: ...
    def __bytes__(self) -> bytes: ...

_Operand: TypeAlias = Ciphertext | Plaintext | ArrayLike

@final
class Ciphertext(_Ciphertext[Ciphertext, Parameters, Context, _Operand, _Operand]):
    @property
    def scale(self) -> float: ...
    @property
    def error_bound(self) -> float: ...
    @property
    def magnitude(self) -> float: ...
    @property
    def range(self) -> tuple[float, float] | None: ...
    def mean(self) -> Ciphertext: ...
    def with_magnitude(self, magnitude: float) -> Ciphertext: ...
    def with_range(self, low: float, high: float) -> Ciphertext: ...
    def with_error_bound(self, bound: float) -> Ciphertext: ...
    def __truediv__(self, other: ArrayLike, /) -> Ciphertext: ...
    def __lt__(self, other: _Operand, /) -> Ciphertext: ...  # type: ignore[override]
    def __gt__(self, other: _Operand, /) -> Ciphertext: ...  # type: ignore[override]
    def __array_function__(self, func: Any, _types: Any, args: Any, kwargs: Any) -> Ciphertext: ...  # type: ignore[override]
    def to_bytes(self, *, packed: bool = True) -> bytes: ...

@final
class Evaluator(_Evaluator[Context, EvaluationKeys, Ciphertext, _Operand]):
    def mul_i(self, x: Ciphertext) -> Ciphertext: ...
    def mul_no_rescale(self, x: Ciphertext, y: Ciphertext) -> Ciphertext: ...
    def rescale(self, x: Ciphertext) -> Ciphertext: ...
    def at_level(self, x: Ciphertext, level: int) -> Ciphertext: ...
    def drop_level(self, x: Ciphertext, level: int) -> Ciphertext: ...
    def align(self, x: Ciphertext, y: Ciphertext) -> tuple[Ciphertext, Ciphertext]: ...
    def conjugate(self, x: Ciphertext) -> Ciphertext: ...
    def weighted_sum(self, xs: Sequence[Ciphertext], weights: ArrayLike, *, constant: float = 0.0) -> Ciphertext: ...
    def polynomial(
        self,
        x: Ciphertext,
        coefficients: ArrayLike,
        *,
        basis: Literal["power", "chebyshev"] = "power",
        interval: tuple[float, float] | None = None,
    ) -> Ciphertext: ...
    def with_bootstrapping(self, bootstrapper: Bootstrapper, *, failure_budget: float | None = None) -> Evaluator: ...
    def with_switching(self, switch: Switch) -> Evaluator: ...
    def sign(self, x: Ciphertext) -> Ciphertext: ...
    def less(self, x: Ciphertext, y: _Operand) -> Ciphertext: ...
    def maximum(self, x: Ciphertext, y: _Operand) -> Ciphertext: ...
    def minimum(self, x: Ciphertext, y: _Operand) -> Ciphertext: ...
    def relu(self, x: Ciphertext) -> Ciphertext: ...
    def where(self, condition: Ciphertext, x: _Operand, y: _Operand) -> Ciphertext: ...
    def mean(self, x: Ciphertext) -> Ciphertext: ...
    def bootstrap(self, x: Ciphertext) -> Ciphertext: ...
    def levels_left(self, x: Ciphertext) -> int: ...
    @property
    def bootstraps(self) -> int: ...
    @property
    def log2_failure(self) -> float: ...

@final
class Releases:
    def __new__(cls, planned: int = 1, *, statistical_security: int = 40) -> Self: ...
    @property
    def planned(self) -> int: ...
    @property
    def made(self) -> int: ...
    @property
    def statistical_security(self) -> int: ...
    def bits(self, error_bound: float, values: int = 1) -> int: ...
    def error_bound(self, bits: int, values: int = 1) -> float: ...
