# What BGV and BFV have in common; see the beginning of `__init__.pyi`.

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, NoReturn, Self, SupportsIndex, TypeVar, final, overload, type_check_only

import numpy as np
from numpy.typing import ArrayLike, NDArray

import noren._noren as shared
from noren._noren import _Progress, _Security, bfv, bgv

_Own = TypeVar("_Own")
_Context_ = TypeVar("_Context_")
_Ciphertext_ = TypeVar("_Ciphertext_")
_Evaluator_ = TypeVar("_Evaluator_")
_Other_ = TypeVar("_Other_")

@final
class Parameters(shared._Parameters[Parameters]):
    def __new__(
        cls,
        log_n: int | None = None,
        plaintext_modulus: int | None = None,
        log_q: Sequence[int] = (),
        log_p: Sequence[int] = (),
        *,
        m: int | None = None,
        p: int | None = None,
        r: int = 1,
        dnum: int = 0,
        secret: str | int | None = None,
        security: _Security = 128,
    ) -> Self: ...
    @staticmethod
    def for_requirements(
        *,
        depth: int,
        plaintext_modulus: int = 65537,
        slots: int = 1,
        terms: int = 1,
        sum: int = 1,
        plain_products: int = 0,
        slot_degree: int | None = None,
        security: _Security = 128,
        scheme: Literal["bfv", "bgv"] = "bfv",
        parties: int = 1,
        results: int = 1,
        distance: int = 64,
    ) -> Parameters: ...
    @staticmethod
    def for_lookups(*, log_n: int = 15, security: _Security = 128) -> Parameters: ...
    @property
    def m(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def slots(self) -> int: ...
    @property
    def slot_degree(self) -> int: ...
    @property
    def dimensions(self) -> list[tuple[int, bool]]: ...
    @property
    def plaintext_modulus(self) -> int: ...
    @property
    def has_slots(self) -> bool: ...
    @property
    def max_limbs(self) -> int: ...
    @property
    def log_qp(self) -> float: ...
    def _repr_html_(self) -> str: ...

@final
class Keys(shared._Keys[SecretKey, PublicKey, EvaluationKeys]): ...

@type_check_only
class _OfBoth:
    @property
    def bfv_context(self) -> bfv.Context: ...
    @property
    def bgv_context(self) -> bgv.Context: ...

@final
class SecretKey(_OfBoth, shared._SecretKey[Parameters]): ...

@final
class PublicKey(_OfBoth, shared._Key[Parameters]): ...

@final
class EvaluationKeys(_OfBoth, shared._EvaluationKeys[Parameters]):
    @property
    def has_swap(self) -> bool: ...
    def at_limbs(self, limbs: int) -> EvaluationKeys: ...

@final
class ReceiverKey(_OfBoth, shared._Key[Parameters]): ...

@final
class ReencryptionKey(_OfBoth, shared._Key[Parameters]):
    @property
    def source(self) -> str: ...
    @property
    def for_another_owner(self) -> bool: ...

@final
class SlotMatrix:
    def __new__(cls, context: bgv.Context | bfv.Context, entries: ArrayLike, *, limbs: int | None = None) -> Self: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def automorphisms(self) -> list[int]: ...
    @property
    def factors(self) -> int: ...
    @property
    def limbs(self) -> int: ...
    @property
    def parameters(self) -> Parameters: ...
    def __bytes__(self) -> bytes: ...
    @staticmethod
    def from_bytes(context: bgv.Context | bfv.Context, data: bytes) -> SlotMatrix: ...
    def save(self, path: shared._Path, *, prepared: bool = False) -> None: ...
    @staticmethod
    def load(context: bgv.Context | bfv.Context, path: shared._Path) -> SlotMatrix: ...

# The context of BGV or BFV; `_Other_` is the ciphertext of the other one.
@type_check_only
class _Context(
    shared._Context[Parameters, EvaluationKeys, _Ciphertext_, _Evaluator_], Generic[_Ciphertext_, _Evaluator_, _Other_]
):
    def __new__(cls, parameters: Parameters, *, threads: int | None = None) -> Self: ...
    def keygen(
        self,
        *,
        rotations: Iterable[SupportsIndex] = (),
        swap: bool = False,
        relinearization: bool = True,
        automorphisms: Iterable[SupportsIndex] = (),
        limbs: int | None = None,
        seed: bytes | None = None,
        progress: _Progress | None = None,
    ) -> Keys: ...
    def evaluation_keys(
        self,
        secret: SecretKey,
        *,
        rotations: Iterable[SupportsIndex] = (),
        swap: bool = False,
        relinearization: bool = False,
        automorphisms: Iterable[SupportsIndex] = (),
        limbs: int | None = None,
        rotations_at: Mapping[int, int] | None = None,
        seed: bytes | None = None,
        progress: _Progress | None = None,
    ) -> EvaluationKeys: ...
    def rotation_along(self, steps: Iterable[SupportsIndex]) -> list[int]: ...
    def automorphisms_of_rotations(self, keys: Literal["full", "baby-giant", "minimal"]) -> list[int]: ...
    def frobenius_exponent(self, i: int) -> int: ...
    def automorphisms_of_matrices(self, *, maps: bool = False) -> list[int]: ...
    @property
    def slot_modulus(self) -> NDArray[np.int64]: ...
    # Rows of an array of two dimensions become a list; the type of an array does not tell its dimensions.
    @overload
    def encrypt(
        self,
        values: Sequence[int],
        key: PublicKey | SecretKey,
        *,
        coefficients: bool = False,
        elements: bool = False,
        repeat: bool = False,
        seed: bytes | None = None,
    ) -> _Ciphertext_: ...
    @overload
    def encrypt(
        self,
        values: Sequence[Sequence[int]],
        key: PublicKey | SecretKey,
        *,
        coefficients: bool = False,
        elements: bool = False,
        repeat: bool = False,
        seed: bytes | None = None,
    ) -> list[_Ciphertext_]: ...
    @overload
    def encrypt(
        self,
        values: ArrayLike,
        key: PublicKey | SecretKey,
        *,
        coefficients: bool = False,
        elements: bool = False,
        repeat: bool = False,
        seed: bytes | None = None,
    ) -> Any: ...
    def decrypt(
        self,
        x: _Ciphertext_ | Sequence[_Ciphertext_],
        key: SecretKey,
        *,
        signed: bool = False,
        coefficients: bool = False,
        elements: bool = False,
    ) -> NDArray[np.int64]: ...
    def convert(self, x: _Other_) -> _Ciphertext_: ...
    def reencryption_key(
        self, old: SecretKey, new: SecretKey | ReceiverKey, *, seed: bytes | None = None
    ) -> ReencryptionKey: ...
    def receiver_key(self, secret: SecretKey, *, seed: bytes | None = None) -> ReceiverKey: ...
    @overload
    def reencrypt(
        self,
        x: _Ciphertext_,
        key: ReencryptionKey,
        *,
        flood: bool = True,
        results: int = 65536,
        distance: int = 64,
        seed: bytes | None = None,
    ) -> _Ciphertext_: ...
    @overload
    def reencrypt(
        self,
        x: Sequence[_Ciphertext_],
        key: ReencryptionKey,
        *,
        flood: bool = True,
        results: int = 65536,
        distance: int = 64,
        seed: bytes | None = None,
    ) -> list[_Ciphertext_]: ...

@type_check_only
class _Ciphertext(shared._Ciphertext[_Own, Parameters, _Context_, _Own | ArrayLike, ArrayLike]):
    @property
    def limbs(self) -> int: ...
    @property
    def noise_budget(self) -> float: ...
    def __truediv__(self, other: object, /) -> NoReturn: ...
    def __rmatmul__(self, matrix: SlotMatrix | ArrayLike, /) -> Self: ...

@type_check_only
class _Evaluator(shared._Evaluator[_Context_, EvaluationKeys, _Ciphertext_, _Ciphertext_ | ArrayLike]):
    def mod_switch(self, x: _Ciphertext_, limbs: int) -> _Ciphertext_: ...
    def swap_rows(self, x: _Ciphertext_) -> _Ciphertext_: ...
    def rotate_along(self, x: _Ciphertext_, steps: Iterable[SupportsIndex]) -> _Ciphertext_: ...
    def frobenius(self, x: _Ciphertext_, i: int = 1) -> _Ciphertext_: ...
    def matvec(self, matrix: SlotMatrix | ArrayLike, x: _Ciphertext_) -> _Ciphertext_: ...
    def weighted_sum(self, xs: Sequence[_Ciphertext_], weights: ArrayLike, *, constant: int = 0) -> _Ciphertext_: ...
    def polynomial(self, x: _Ciphertext_, coefficients: ArrayLike) -> _Ciphertext_: ...
