"""Secret keys are pickled on purpose, or not at all."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from noren._noren import ckks, integers, tfhe

_Holder = TypeVar(
    "_Holder",
    bound=ckks.SecretKey | ckks.Keys | integers.SecretKey | integers.Keys | tfhe.SecretKey | tfhe.Keys,
)

_HOLDERS = (ckks.SecretKey, ckks.Keys, integers.SecretKey, integers.Keys, tfhe.SecretKey, tfhe.Keys)


class PicklableSecret(Generic[_Holder]):
    """A secret key, or keys with one among them, that may be pickled.

    By itself, `pickle.dumps(secret)` raises TypeError. A process that gets the pickle can decrypt, and so can whoever
    reads it on its way or in a file. What comes out of the pickle is such an object again, and its `value` is the key.

    >>> import noren
    >>> from multiprocessing import Pool
    >>> shared = noren.PicklableSecret(keys)  # doctest: +SKIP
    >>> with Pool(2) as pool:  # doctest: +SKIP
    ...     results = pool.starmap(decrypt, [(shared, x) for x in ciphertexts])  # decrypt uses shared.value.secret
    """

    __slots__ = ("_value",)

    def __init__(self, value: _Holder) -> None:
        if not isinstance(value, _HOLDERS):
            raise TypeError(f"PicklableSecret holds a secret key or the keys of one owner, not {type(value).__name__}")
        self._value: _Holder = value

    @property
    def value(self) -> _Holder:
        """The key, or the keys."""
        return self._value

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        holder: Any = self._value
        make, parts = holder._reduce_with_secret()
        shown = tuple(PicklableSecret(part) if isinstance(part, _HOLDERS) else part for part in parts)
        return _unpickle, (make, shown)

    def __repr__(self) -> str:
        return f"PicklableSecret({self._value!r})"


def _unpickle(make: Callable[..., Any], parts: tuple[Any, ...]) -> PicklableSecret[Any]:
    return PicklableSecret(make(*(part.value if isinstance(part, PicklableSecret) else part for part in parts)))
