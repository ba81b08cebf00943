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

import json
import os
from collections.abc import Callable, Sequence
from operator import index
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren import _explain, _files, _signature
from noren._keyholder import KeyHolder, opened
from noren._noren import EncodingError, bootstrapping, ckks, integers, switching, tfhe
from noren._noren.compiler import Graph, Program, Running, SecretKey, ServerKeys
from noren._signature import ELEMENTS, graph_of
from noren._trace import Traced, TraceError, first_inexact
from noren._trace_functions import sigmoid as _sigmoid
from noren._trace_functions import table as _table
from noren._trace_statistics import top as _top

__all__ = [
    "Client",
    "Compiled",
    "Explanation",
    "Input",
    "Running",
    "SecretKey",
    "Server",
    "ServerKeys",
    "TraceError",
    "compile",
    "sigmoid",
    "table",
    "top",
    "where",
]

Explanation = _explain.Explanation
Input = _signature.Input

_Scheme: TypeAlias = Literal[
    "auto", "ckks", "ckks-bootstrapping", "ckks-switching", "bgv", "bfv", "bfv-lookups", "tfhe"
]
_DTYPES: dict[str, Any] = {"bool": np.bool_, "integer": np.int64}


def compile(
    function: Callable[..., Any],
    /,
    *examples: Input | ArrayLike,
    ranges: Sequence[tuple[float, float]] | Literal["data"] | None = None,
    calibrate: float | None = None,
    bounded: bool = True,
    scheme: _Scheme = "auto",
    precision: float | None = None,
    dead_zone: float | None = None,
    security: Literal[128, 192, 256] | None = 128,
    machine: str | os.PathLike[str] | None = None,
    unlimited: bool = False,
) -> Compiled:
    """Trace a function of numpy, and compile it.

    examples: an `Input` for each argument, or an array of its shape and type with a pair of `ranges`. A range is
        public: it tells the server what values may occur. ``ranges="data"`` takes the smallest and largest element of
        the arrays.
    calibrate: take the ranges of intermediate results and of results from the examples, which are arrays then, widened
        by this many times their width at both ends, where what follows from the ranges of the arguments is much wider.
        Decryption checks them: rows that left one raise `noren.RangeError`, or are flagged. None computes all ranges
        from those of the arguments, which nothing leaves.
    bounded: whether bounds on errors are followed from the arguments to the results. Over many steps they grow beyond
        any use, and such a function is refused; False follows them from one calibrated intermediate result to the next
        alone. Then `precision` is that of the last steps, bounds of results are infinite, and their errors are those
        that `Compiled.simulate` shows.
    scheme: "ckks" for real numbers, "ckks-bootstrapping" for those of functions that need more levels than parameters
        have, "ckks-switching" for the same with comparisons that TFHE decides, "bgv" and "bfv" for sums and products
        of integers, "bfv-lookups" for any functions of one or two integers and sums of these, "tfhe" for integers with
        comparisons, divisions and tables; "auto" chooses.
    precision: the absolute error that results of real numbers may have; None for a thousandth of the largest possible
        result, or of 1.
    dead_zone: real numbers that are closer than this may compare either way; comparisons of real numbers are refused
        without it. np.maximum, np.minimum and np.abs need none. "ckks-switching" names the smallest that it has.
    security: of keys and ciphertexts in bits; None, in tests, for small rings that keep nothing secret.
    machine: a file of `noren.advisor.calibrate` with the costs of the server, or `noren.advisor.REFERENCE`; this
        machine for None.
    unlimited: whether plans may need more memory than the machine has, or more than an hour.

    Raises `noren.compiler.TraceError` for what cannot be traced, with file and line, and what to write instead;
    `noren.Error` for operations that the scheme does not have, for ranges for which an operation is not defined,
    for a precision that is not possible, with the nearest that is; and for plans that are predicted to go beyond the
    machine.
    """
    if calibrate is None and not bounded:
        raise EncodingError("bounded=False is for functions with calibrate=")
    reals = precision is not None or dead_zone is not None
    graph = graph_of(function, examples, ranges, reals, draft=calibrate is not None)
    if calibrate is not None:
        if any(isinstance(example, Input) for example in examples):
            raise EncodingError("calibrate= takes ranges from examples: arrays are needed in place of noren.Input")
        graph = calibrated(graph, examples, calibrate, bounded)
    program = Program.compile(
        graph,
        scheme=scheme,
        precision=precision,
        dead_zone=dead_zone,
        security=security,
        machine=machine,
        unlimited=unlimited,
    )
    return Compiled(program, function, machine)


class Compiled:
    """A compiled function: two halves, and what is known of it before it runs. It is public, and holds no key."""

    def __init__(
        self,
        program: Program,
        function: Callable[..., Any] | None = None,
        machine: str | os.PathLike[str] | None = None,
    ) -> None:
        """Wrap a program, the function that it came from, and the file of the server's machine."""
        self._program, self._function, self._machine = program, function, machine
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
        """The scheme: "ckks", "ckks-bootstrapping", "ckks-switching", "bgv", "bfv", "bfv-lookups" or "tfhe"."""
        return self._program.scheme

    @property
    def precision(self) -> float:
        """The absolute error that results of real numbers may have."""
        return self._program.precision

    @property
    def parameters(
        self,
    ) -> ckks.Parameters | bootstrapping.Parameters | switching.Parameters | integers.Parameters | tfhe.Parameters:
        """The parameters of the scheme."""
        return self._program.parameters

    def explain(self) -> Explanation:
        """Return what the function does step by step: levels, operations, and predicted error bounds."""
        return Explanation(json.loads(self._program.explain(machine=self._machine)))

    def simulate(
        self, *arguments: ArrayLike, bound: bool = False, flags: bool = False, seed: bytes | None = None
    ) -> Any:
        """Evaluate in the clear, with the noise that the scheme would add; exact schemes add none.

        Returns what `Client.decrypt` would. Raises `noren.Error` for arguments outside of their ranges.
        """
        vectors = _vectors(self._program, arguments)
        found = self._program.simulate(vectors, seed=seed, flags=flags)
        return _results(self._program, *found, bound=bound, flags=flags)

    def __call__(self, *arguments: ArrayLike) -> Any:
        """Evaluate the function that was compiled, without encryption."""
        if self._function is None:
            raise TypeError("this compiled function was loaded from a file, which does not hold the function itself")
        return self._function(*map(np.asarray, arguments))

    def __bytes__(self) -> bytes:
        """Return the program, for the other half."""
        return bytes(self._program)

    def with_interface(self, interface: str) -> Compiled:
        """Return the same function, whose file says in JSON how arguments become inputs, and results an answer."""
        return Compiled(self._program.with_interface(interface), self._function, self._machine)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file, as a whole or not at all; an old file is replaced."""
        _files.write(Path(path), bytes(self._program), force=True)

    @staticmethod
    def load(path: str | os.PathLike[str], *, min_security: int = 128) -> Compiled:
        """Read a program from a file.

        Raises `noren.Error` for other files, `noren.InsecureError` for parameters below `min_security` bits.
        """
        return Compiled(read_program(path, min_security))

    def __repr__(self) -> str:
        """Return the scheme and the parameters."""
        return f"Compiled(scheme={self.scheme!r}, parameters={self.parameters!r})"


class Client(KeyHolder):
    """The half of a compiled function that has the secret key."""

    def __init__(self, program: Program, secret: SecretKey | None = None) -> None:
        """Wrap a program and a secret key; `keygen` makes one where there is none."""
        super().__init__(program, secret)
        self._program = program

    def keygen_file(
        self, path: str | os.PathLike[str], *, seed: bytes | None = None, progress: Any = None, force: bool = False
    ) -> Path:
        """Make a secret key, unless there is one, and write the keys of the server to a file while they are made.

        Those of bootstraps of 128 bits take gigabytes: `keygen` holds all of them, this holds one at a time.

        seed: 32 secret bytes from which all keys follow. progress: called with (done, of) after each key. force:
            whether a file that exists is replaced.
        """
        path, secret = Path(path), self._made(seed)
        self._program.write_server_keys(secret, path, seed=seed, progress=progress, force=force)
        return path

    def encrypt(self, *arguments: ArrayLike | None, seed: bytes | None = None) -> bytes:
        """Encrypt the arguments of the function; None stands for those that another request has.

        So an argument that serves many runs, such as a table, is encrypted and sent once:
        ``server.run([table, query], keys)`` takes ``table = client.encrypt(T, None)`` and
        ``query = client.encrypt(None, q)``.

        Raises `noren.Error` that names the input and the element for values outside of the declared range, and
        `noren.EncodingError` for other shapes.
        """
        return self._program.encrypt(self.secret, _given(self._program, arguments), seed=seed)

    def decrypt(self, reply: bytes, *, bound: bool = False, flags: bool = False) -> Any:
        """Decrypt the results: an array for each output, or the array if there is one.

        With `bound` each array comes with a bound on its absolute error, which fails with a probability of at most
        2^-40; it is 0 for exact schemes. The last digits of real results hold traces of the secret key: they are for
        its owner.

        With `flags` it is followed by an array that is true for each row of the arguments whose intermediate results
        left the ranges of `compile(..., calibrate=)`, and for those that share ciphertexts with it: their results may
        be anything. The array has one element where results do not follow row by row.

        Raises `noren.RangeError` for results that cannot be trusted, and without `flags` for such rows;
        `noren.WireError` for bytes of another function.
        """
        found = self._program.decrypt(self.secret, reply, flags=flags)
        return _results(self._program, *found, bound=bound, flags=flags)

    @staticmethod
    def load(
        program: str | os.PathLike[str],
        secret: str | os.PathLike[str] | None = None,
        *,
        passphrase: str | None = None,
        min_security: int = 128,
    ) -> Client:
        """Read a client from the file of the program and that of its secret key, if there is one."""
        client = Client(read_program(program, min_security))
        if secret is not None:
            client.load_secret(secret, passphrase=passphrase)
        return client


class Server:
    """The half of a compiled function that computes; it has no secret."""

    def __init__(self, program: Program) -> None:
        """Wrap a program."""
        self._program = program
        self._last: tuple[Any, Running] | None = None

    def run(self, request: bytes | Sequence[bytes], keys: ServerKeys | bytes | str | os.PathLike[str]) -> bytes:
        """Evaluate the function on encrypted arguments: the encrypted results.

        request: what `Client.encrypt` returned; several of it where each has some of the arguments.
        keys: what `Client.keygen` returned, its bytes, or the path of its file. The last keys are remembered, those of
        a file as long as it is the same file.

        Raises `noren.WireError` for arguments of another function, `noren.MissingKeyError` and
        `noren.ParameterMismatchError` for keys of another one.
        """
        source = _file(keys) if isinstance(keys, str | os.PathLike) else keys
        last = self._last[0] if self._last else None
        if self._last is None or not (last is source or (isinstance(source, tuple) and last == source)):
            # Memory for the keys of one client is enough.
            self._last = None
            self._last = (source, self._program.server(opened(self._program, keys)))
        return self._last[1].run(request)

    @staticmethod
    def load(program: str | os.PathLike[str], *, min_security: int = 128) -> Server:
        """Read a server from the file of the program."""
        return Server(read_program(program, min_security))


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


def top(x: Any, k: int, *, axis: int | None = -1) -> Any:
    """Return a mask of the k largest elements along an axis, in a traced function or of numbers; None takes all as one.

    True for elements that are no smaller than the last of the k largest: for more than k where others equal it. Of
    encrypted real numbers the mask is 1 for these, and 0 for those that are smaller by `dead_zone` of `compile`; in
    between it is any number from 0 to 1. The k smallest are ``top(-x, k)``.

    Raises `noren.EncodingError` for k that are not from 1 to the number of elements, and for NaN.
    """
    k = index(k)
    if isinstance(x, Traced):
        return _top(x, k, axis)
    array = np.asarray(x)
    extent = array.size if axis is None else array.shape[axis]
    if not 1 <= k <= extent:
        raise EncodingError(f"the {k} largest of {extent} numbers: 1 to {extent} of them are taken")
    if array.dtype.kind not in ELEMENTS or (array.dtype.kind == "f" and np.isnan(array).any()):
        raise EncodingError("the largest of what has no order: give numbers, without NaN")
    return array >= np.partition(array, -k, axis=axis).take([extent - k], axis=-1 if axis is None else axis)


def calibrated(graph: Graph, examples: Sequence[Any], margin: float, bounded: bool = True) -> Graph:
    """Return a graph with ranges of intermediate results from examples of its arguments, of one request or several."""
    vectors = [np.ascontiguousarray(example, dtype=np.float64).ravel() for example in examples]
    return graph.calibrated(vectors, margin, bounded)


def _vectors(program: Program, arguments: Sequence[Any]) -> list[NDArray[np.float64]]:
    """Return arguments as vectors; all are needed."""
    vectors = _given(program, arguments)
    for vector, (name, *_) in zip(vectors, program.signature[0], strict=True):
        if vector is None:
            raise EncodingError(f"input {name!r} is None: an array is needed")
    return [vector for vector in vectors if vector is not None]


def _given(program: Program, arguments: Sequence[Any]) -> list[NDArray[np.float64] | None]:
    """Return arguments as vectors, None for those that are None."""
    inputs, _ = program.signature
    if len(arguments) != len(inputs):
        raise EncodingError(f"{len(arguments)} arguments, the function takes {len(inputs)}")
    vectors: list[NDArray[np.float64] | None] = []
    for argument, (name, shape, element, _, _) in zip(arguments, inputs, strict=True):
        if argument is None:
            vectors.append(None)
            continue
        array = np.asarray(argument)
        if array.shape != tuple(shape):
            raise EncodingError(f"input {name!r} has shape {array.shape}, {tuple(shape)} was compiled")
        if array.dtype.kind not in ELEMENTS:
            raise EncodingError(f"input {name!r} is of type {array.dtype}, numbers were compiled")
        check_numbers(f"input {name!r}", argument)
        if element != "real" and array.dtype.kind == "f" and (array != np.round(array)).any():
            raise EncodingError(f"input {name!r} has fractions, integers were compiled")
        vectors.append(np.ascontiguousarray(array, dtype=np.float64).ravel())
    return vectors


def check_numbers(what: str, values: Any) -> None:
    """Refuse values that would not be encrypted as they are: masked ones, and integers that float64 does not hold."""
    if np.ma.is_masked(values):
        raise EncodingError(
            f"{what} has masked values, and what the mask hides would be encrypted: fill them, such as by x.filled(0)"
        )
    array = np.asarray(values)
    if array.dtype.kind in ELEMENTS and (inexact := first_inexact(array)) is not None:
        raise EncodingError(f"{what} has the integer {inexact}: integers of at most 2^53 are needed")


def _results(
    program: Program,
    values: Sequence[NDArray[np.float64]],
    bounds: Sequence[float],
    flagged: Sequence[bool],
    *,
    bound: bool,
    flags: bool,
) -> Any:
    _, outputs = program.signature
    results: list[Any] = []
    for numbers, error, (shape, element) in zip(values, bounds, outputs, strict=True):
        # Exact results are integers; the others are real numbers, whatever numpy would give.
        exact = program.exact and element != "real"
        array = np.round(numbers).astype(_DTYPES[element]).reshape(shape) if exact else numbers.reshape(shape)
        results.append((array, error) if bound else array)
    all_results = results[0] if len(results) == 1 else tuple(results)
    return (all_results, np.array(flagged)) if flags else all_results


def _file(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """What tells a file from any other, and from what it was before."""
    status = Path(path).stat()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def read_program(path: str | os.PathLike[str], min_security: int) -> Program:
    """Read the program of a file, unless its parameters promise fewer bits of security."""
    return Program.from_bytes(_files.read(path), min_security=min_security)
