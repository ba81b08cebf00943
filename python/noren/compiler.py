"""Functions of numpy, compiled: a client half that encrypts, and a server half that computes.

A function is traced once on the shapes and ranges of its arguments. The compiler chooses scheme and parameters, and
both halves meet in bytes: evaluation keys, encrypted arguments, encrypted results.

>>> import numpy as np
>>> import noren
>>> weights = np.array([0.5, -2.0, 1.0])
>>> f = noren.compile(lambda x: x @ weights + 1.0, noren.Input((4, 3), -1.0, 1.0), precision=1e-3)
>>> f.scheme
'ckks'
>>> table = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
>>> keys = f.client.keygen()  # for the server: nothing in them decrypts
>>> reply = f.server.run(f.client.encrypt(table), keys)
>>> scores = f.client.decrypt(reply)
>>> bool(np.abs(scores - (table @ weights + 1.0)).max() < 1e-3)
True

See ``docs/compiler.md`` for what is traced, layouts and limits.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren import _explain, _files, _signature
from noren._noren import EncodingError, Error, WireError, bgv, bootstrapping, ckks, integers, tfhe
from noren._noren.compiler import Program
from noren._signature import ELEMENTS, graph_of
from noren._trace import Traced, TraceError, first_inexact
from noren._trace_functions import sigmoid as _sigmoid
from noren._trace_functions import table as _table

__all__ = [
    "Client",
    "Compiled",
    "Explanation",
    "Input",
    "Server",
    "TableKeys",
    "TraceError",
    "compile",
    "sigmoid",
    "table",
    "where",
]

Explanation = _explain.Explanation
Input = _signature.Input

_Scheme: TypeAlias = Literal["auto", "ckks", "ckks-bootstrapping", "bgv", "tfhe"]
_Secret: TypeAlias = ckks.SecretKey | integers.SecretKey | tfhe.SecretKey
_ServerKeys: TypeAlias = (
    "ckks.EvaluationKeys | bootstrapping.BootstrapKeys | integers.EvaluationKeys | tfhe.ServerKeys | tfhe.LightKeys"
    " | TableKeys"
)
_Evaluator: TypeAlias = ckks.Evaluator | bgv.Evaluator | tfhe.Evaluator

_TABLE_KEYS = b"noren-table-keys"
_DTYPES = {"bool": np.bool_, "integer": np.int64, "real": np.float64}


def compile(
    function: Callable[..., Any],
    /,
    *examples: Input | ArrayLike,
    ranges: Sequence[tuple[float, float]] | Literal["data"] | None = None,
    scheme: _Scheme = "auto",
    precision: float | None = None,
    dead_zone: float | None = None,
    security: Literal[128, 192, 256] | None = 128,
) -> Compiled:
    """Trace a function of numpy, and compile it.

    examples: an `Input` for each argument, or an array of its shape and type with a pair of `ranges`. A range is
        public: it tells the server what values may occur. ``ranges="data"`` takes the smallest and largest element of
        the arrays.
    scheme: "ckks" for real numbers, "ckks-bootstrapping" for those of functions that need more levels than parameters
        have, "bgv" for sums and products of integers, "tfhe" for integers with comparisons, divisions and tables;
        "auto" chooses.
    precision: the absolute error that results of real numbers may have; None for a thousandth of the largest possible
        result, or of 1.
    dead_zone: real numbers that are closer than this may compare either way; comparisons of real numbers are refused
        without it. np.maximum, np.minimum and np.abs need none.
    security: of keys and ciphertexts in bits; None, in tests, for small rings that keep nothing secret.

    Raises `noren.compiler.TraceError` for what cannot be traced, with file and line, and what to write instead;
    `noren.Error` for operations that the scheme does not have, for ranges for which an operation is not defined, and
    for a precision that is not possible, with the nearest that is.
    """
    graph = graph_of(function, examples, ranges)
    program = Program.compile(graph, scheme=scheme, precision=precision, dead_zone=dead_zone, security=security)
    return Compiled(program, function)


class Compiled:
    """A compiled function: two halves, and what is known of it before it runs. It is public, and holds no key."""

    def __init__(self, program: Program, function: Callable[..., Any] | None = None) -> None:
        """Wrap a program, and the function that it came from."""
        self._program, self._function = program, function
        self._client: Client | None = None
        self._server: Server | None = None

    @property
    def client(self) -> Client:
        """The half that has the secret key."""
        self._client = self._client or Client(self._program)
        return self._client

    @property
    def server(self) -> Server:
        """The half that computes."""
        self._server = self._server or Server(self._program)
        return self._server

    @property
    def scheme(self) -> str:
        """The scheme: "ckks", "ckks-bootstrapping", "bgv" or "tfhe"."""
        return self._program.scheme

    @property
    def precision(self) -> float:
        """The absolute error that results of real numbers may have."""
        return self._program.precision

    @property
    def parameters(self) -> ckks.Parameters | bootstrapping.Parameters | integers.Parameters | tfhe.Parameters:
        """The parameters of the scheme."""
        return self._program.parameters

    def explain(self) -> Explanation:
        """Return what the function does step by step: levels, operations, and predicted error bounds."""
        return Explanation(json.loads(self._program.explain()))

    def simulate(self, *arguments: ArrayLike, bound: bool = False, seed: bytes | None = None) -> Any:
        """Evaluate in the clear, with the noise that the scheme would add; exact schemes add none.

        Returns what `Client.decrypt` would. Raises `noren.Error` for arguments outside of their ranges.
        """
        return _results(self._program, *self._program.simulate(_vectors(self._program, arguments), seed=seed), bound)

    def __call__(self, *arguments: ArrayLike) -> Any:
        """Evaluate the function that was compiled, without encryption."""
        if self._function is None:
            raise TypeError("this compiled function was loaded from a file, which does not hold the function itself")
        return self._function(*map(np.asarray, arguments))

    def __bytes__(self) -> bytes:
        """Return the program, for the other half."""
        return bytes(self._program)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file, as a whole or not at all; an old file is replaced."""
        _files.write(Path(path), bytes(self._program), force=True)

    @staticmethod
    def load(path: str | os.PathLike[str], *, min_security: int = 128) -> Compiled:
        """Read a program from a file.

        Raises `noren.Error` for other files, `noren.InsecureError` for parameters below `min_security` bits.
        """
        return Compiled(_program(path, min_security))

    def __repr__(self) -> str:
        """Return the scheme and the parameters."""
        return f"Compiled(scheme={self.scheme!r}, parameters={self.parameters!r})"


class Client:
    """The half of a compiled function that has the secret key."""

    def __init__(self, program: Program, secret: _Secret | None = None) -> None:
        """Wrap a program and a secret key; `keygen` makes one where there is none."""
        self._program, self._secret = program, secret

    @property
    def secret(self) -> _Secret:
        """The secret key. Raises `noren.Error` before `keygen`."""
        if self._secret is None:
            raise Error("this client has no secret key yet: call keygen, or load one with Client.load")
        return self._secret

    def keygen(self, *, seed: bytes | None = None) -> _ServerKeys:
        """Make a secret key, unless there is one, and return the keys of the server; nothing in them decrypts.

        They are saved with ``keys.save(path)``, or sent as ``bytes(keys)``.

        seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
        """
        parameters, plan = self._program.parameters, self._program.plan
        if isinstance(parameters, tfhe.Parameters):
            if self._secret is not None:
                raise Error("this client has keys already: server keys are made together with the secret key")
            made = tfhe.Context(parameters).keygen(circuit=self._program.needs_circuit_keys, seed=seed)
            self._secret = made.secret
            return made.server if made.circuit is None else TableKeys(made.server, made.circuit)
        if isinstance(parameters, bootstrapping.Parameters):
            with tempfile.TemporaryDirectory() as folder:
                path = self.keygen_file(Path(folder) / "bootstrap.keys", seed=seed)
                return bootstrapping.BootstrapKeys.load(path, min_security=parameters.ckks.security or 0)
        assert plan is not None
        if isinstance(parameters, ckks.Parameters):
            if isinstance(self._secret, ckks.SecretKey):
                return plan.evaluation_keys(self._secret, seed=seed)
            keys = plan.keygen(ckks.Context(parameters), seed=seed)
            self._secret = keys.secret
            return keys.evaluation
        if self._secret is not None:
            raise Error("this client has keys already: evaluation keys are made together with the secret key")
        of_integers = bgv.Context(parameters).keygen(
            rotations=list(plan.rotations), relinearization=plan.relinearization is not None, seed=seed
        )
        self._secret = of_integers.secret
        return of_integers.evaluation

    def keygen_file(
        self, path: str | os.PathLike[str], *, seed: bytes | None = None, progress: Any = None, force: bool = False
    ) -> Path:
        """Make a secret key, unless there is one, and write the keys of a server that bootstraps to a file one by one.

        Those of 128 bits take gigabytes: `keygen` makes them in a temporary file, and reads them all.

        seed: 32 secret bytes from which all keys follow. progress: called with (done, of) after each key. force:
            whether a file that exists is replaced. Raises `noren.Error` for functions without bootstraps.
        """
        parameters, path = self._program.parameters, Path(path)
        if not isinstance(parameters, bootstrapping.Parameters):
            raise Error(
                f'keygen_file is for functions on "ckks-bootstrapping", this one is on {self._program.scheme!r}'
            )
        seeds = (None, None) if seed is None else _split(seed)
        if self._secret is None:
            self._secret = ckks.Context(parameters.ckks).keygen(relinearization=False, seed=seeds[0]).secret
        assert isinstance(self._secret, ckks.SecretKey)
        bootstrapping.BootstrapKeys.generate_file(
            path,
            parameters,
            self._secret,
            rotations_at=self._program.rotations_at,
            seed=seeds[1],
            progress=progress,
            force=force,
        )
        return path

    def encrypt(self, *arguments: ArrayLike, seed: bytes | None = None) -> bytes:
        """Encrypt the arguments of the function.

        Raises `noren.Error` that names the input and the element for values outside of the declared range, and
        `noren.EncodingError` for other shapes.
        """
        return self._program.encrypt(self.secret, _vectors(self._program, arguments), seed=seed)

    def decrypt(self, reply: bytes, *, bound: bool = False) -> Any:
        """Decrypt the results: an array for each output, or the array if there is one.

        With `bound` each array comes with a bound on its absolute error, which fails with a probability of at most
        2^-40; it is 0 for exact schemes. The last digits of real results hold traces of the secret key: they are for
        its owner.

        Raises `noren.RangeError` for results that cannot be trusted, `noren.WireError` for bytes of another function.
        """
        return _results(self._program, *self._program.decrypt(self.secret, reply), bound)

    def save_secret(self, path: str | os.PathLike[str], *, force: bool = False, passphrase: str | None = None) -> None:
        """Write the secret key to a file of mode 0600, encrypted if there is a passphrase."""
        self.secret.save(path, force=force, passphrase=passphrase)

    @staticmethod
    def load(
        program: str | os.PathLike[str],
        secret: str | os.PathLike[str] | None = None,
        *,
        passphrase: str | None = None,
        min_security: int = 128,
    ) -> Client:
        """Read a client from the file of the program and that of its secret key, if there is one."""
        of_program = _program(program, min_security)
        if secret is None:
            return Client(of_program)
        kinds: dict[str, Any] = {
            "ckks": ckks.SecretKey,
            "ckks-bootstrapping": ckks.SecretKey,
            "bgv": integers.SecretKey,
            "tfhe": tfhe.SecretKey,
        }
        key = kinds[of_program.scheme].load(secret, passphrase=passphrase, min_security=min_security)
        return Client(of_program, key)


@dataclass(frozen=True)
class TableKeys:
    """Server keys of TFHE with the circuit keys that tables are looked up with; nothing in them decrypts."""

    server: tfhe.ServerKeys | tfhe.LightKeys
    """The keys of bootstraps."""
    circuit: tfhe.CircuitKeys
    """The keys of circuit bootstrapping."""

    def __bytes__(self) -> bytes:
        """Return both, the first with its length before it."""
        server = bytes(self.server)
        return _TABLE_KEYS + len(server).to_bytes(8, "little") + server + bytes(self.circuit)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write both to one file, as a whole or not at all. Raises FileExistsError without `force`."""
        _files.write(Path(path), bytes(self), force=force)

    @staticmethod
    def from_bytes(data: bytes, *, min_security: int = 128) -> TableKeys:
        """Return the keys of these bytes. Raises `noren.Error` for others."""
        start = len(_TABLE_KEYS) + 8
        if not data.startswith(_TABLE_KEYS):
            raise WireError("these are no keys for tables: Client.keygen makes them")
        end = start + int.from_bytes(data[start - 8 : start], "little")
        server = tfhe.ServerKeys.from_bytes(data[start:end], min_security=min_security)
        return TableKeys(server, tfhe.CircuitKeys.from_bytes(data[end:], min_security=min_security))

    @staticmethod
    def load(path: str | os.PathLike[str], *, min_security: int = 128) -> TableKeys:
        """Return the keys of a file. Raises `noren.Error` for other files."""
        return TableKeys.from_bytes(_files.read(path), min_security=min_security)


class Server:
    """The half of a compiled function that computes; it has no secret."""

    def __init__(self, program: Program) -> None:
        """Wrap a program."""
        self._program = program
        self._last: tuple[Any, _Evaluator] | None = None

    def run(self, request: bytes, keys: _ServerKeys | bytes | str | os.PathLike[str]) -> bytes:
        """Evaluate the function on encrypted arguments: the encrypted results.

        keys: what `Client.keygen` returned, its bytes, or the path of its file. The last keys are remembered.

        Raises `noren.WireError` for arguments of another function, `noren.MissingKeyError` and
        `noren.ParameterMismatchError` for keys of another one.
        """
        if self._last is None or self._last[0] is not keys:
            self._last = (keys, self._evaluator(keys))
        return self._program.run(self._last[1], request)

    def _evaluator(self, keys: Any) -> _Evaluator:
        parameters = self._program.parameters
        if isinstance(parameters, bootstrapping.Parameters):
            bits = parameters.ckks.security or 0
            of_bootstraps = _keys(keys, (bootstrapping.BootstrapKeys,), bits)
            evaluator = of_bootstraps.context.evaluator(of_bootstraps.evaluation)
            return cast(ckks.Evaluator, evaluator.with_bootstrapping(bootstrapping.Bootstrapper(of_bootstraps)))
        bits = parameters.security or 0
        if isinstance(parameters, tfhe.Parameters):
            if self._program.needs_circuit_keys:
                of_tables = _keys(keys, (TableKeys,), bits)
                return tfhe.Context(parameters).evaluator(of_tables.server, of_tables.circuit)
            of_tfhe = _keys(keys, (tfhe.ServerKeys, tfhe.LightKeys), bits)
            return tfhe.Context(parameters).evaluator(of_tfhe)
        if isinstance(parameters, ckks.Parameters):
            return ckks.Context(parameters).evaluator(_keys(keys, (ckks.EvaluationKeys,), bits))
        return bgv.Context(parameters).evaluator(_keys(keys, (integers.EvaluationKeys,), bits))

    @staticmethod
    def load(program: str | os.PathLike[str], *, min_security: int = 128) -> Server:
        """Read a server from the file of the program."""
        return Server(_program(program, min_security))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where a condition holds, else `b`: np.where."""
    return np.where(condition, a, b)


def sigmoid(x: Any) -> Any:
    """Return the logistic function ``1 / (1 + exp(-x))`` of each element, in a traced function or of numbers."""
    if isinstance(x, Traced):
        return _sigmoid(x)
    small = np.exp(-np.abs(np.asarray(x, dtype=np.float64)))
    return np.where(np.asarray(x) < 0, small / (1 + small), 1 / (1 + small))


def table(values: ArrayLike, x: Any, *, first: int = 0) -> Any:
    """Return ``values[x - first]`` for each element of x, which are integers, in a traced function or of numbers."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in ELEMENTS:
        raise EncodingError(f"a table of shape {array.shape} and type {array.dtype}: a vector of numbers is needed")
    if np.ma.is_masked(values):
        raise EncodingError("a table with masked values: fill them, such as by values.filled(0)")
    if isinstance(x, Traced):
        return _table(x, array, index(first))
    # As traced: integers, which do not wrap around in a narrow type.
    return (array.astype(np.int64) if array.dtype.kind in "iu" else array)[np.asarray(x) - first]


def _vectors(program: Program, arguments: Sequence[Any]) -> list[NDArray[np.float64]]:
    inputs, _ = program.signature
    if len(arguments) != len(inputs):
        raise EncodingError(f"{len(arguments)} arguments, the function takes {len(inputs)}")
    vectors = []
    for argument, (name, shape, element, _, _) in zip(arguments, inputs, strict=True):
        array = np.asarray(argument)
        if array.shape != tuple(shape):
            raise EncodingError(f"input {name!r} has shape {array.shape}, {tuple(shape)} was compiled")
        if array.dtype.kind not in ELEMENTS:
            raise EncodingError(f"input {name!r} is of type {array.dtype}, numbers were compiled")
        if np.ma.is_masked(argument):
            raise EncodingError(
                f"input {name!r} has masked values, and what the mask hides would be encrypted: fill them, such as by "
                "x.filled(0)"
            )
        if (inexact := first_inexact(array)) is not None:
            raise EncodingError(f"input {name!r} has the integer {inexact}: integers of at most 2^53 are needed")
        if element != "real" and array.dtype.kind == "f" and (array != np.round(array)).any():
            raise EncodingError(f"input {name!r} has fractions, integers were compiled")
        vectors.append(np.ascontiguousarray(array, dtype=np.float64).ravel())
    return vectors


def _results(program: Program, values: Sequence[NDArray[np.float64]], bounds: Sequence[float], bound: bool) -> Any:
    _, outputs = program.signature
    results: list[Any] = []
    for numbers, error, (shape, element) in zip(values, bounds, outputs, strict=True):
        whole = np.round(numbers) if element != "real" and not program.scheme.startswith("ckks") else numbers
        dtype: Any = np.float64 if program.scheme.startswith("ckks") else _DTYPES[element]
        array = whole.astype(dtype).reshape(shape)
        results.append((array, error) if bound else array)
    return results[0] if len(results) == 1 else tuple(results)


def _keys(keys: Any, kinds: tuple[Any, ...], bits: int) -> Any:
    if isinstance(keys, kinds):
        return keys
    refusal: Exception | None = None
    for kind in kinds:
        try:
            if isinstance(keys, bytes) and hasattr(kind, "from_bytes"):
                return kind.from_bytes(keys, min_security=bits)
            if isinstance(keys, str | os.PathLike):
                return kind.load(keys, min_security=bits)
        except Error as error:
            refusal = refusal or error
    if refusal is not None:
        raise refusal
    raise TypeError(f"keys are what Client.keygen returned, its bytes or a path, not {type(keys).__name__}")


def _split(seed: bytes) -> tuple[bytes, bytes]:
    """Return two secret seeds that follow from one."""
    first, second = (
        hashlib.blake2b(b"noren-compiled-keys", digest_size=32, key=seed, salt=bytes([at])) for at in (1, 2)
    )
    return first.digest(), second.digest()


def _program(path: str | os.PathLike[str], min_security: int) -> Program:
    return Program.from_bytes(_files.read(path), min_security=min_security)
