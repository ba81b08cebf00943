"""Which scheme, which parameters, at which price.

>>> import numpy as np
>>> from noren import advisor
>>> advice = advisor.advise("inner-product", count=100, real=20, machine=advisor.REFERENCE)
>>> best = advice[0]
>>> best.scheme, best.accuracy < 2**-20
('ckks', True)
>>> sorted(rejection.scheme for rejection in advice.rejections)[:2]
['bfv', 'bfv-lookups']

What is advised runs, on arrays with a row for each instance:

>>> function = advice.compile()
>>> x, y = np.full((1, 100), 0.5), np.full((1, 100), 0.5)
>>> function.scheme, abs(function.simulate(x, y)[0] - 25) < 2**-20
('ckks', True)

Functions of numpy are asked about with what `noren.compile` takes:

>>> import noren
>>> f = lambda x, y: x * y + x
>>> advice = advisor.advise(f, noren.Input(8, 0, 9), noren.Input(8, 0, 9), machine=advisor.REFERENCE)
>>> [candidate.scheme for candidate in advice]
['bgv', 'tfhe']

Times are predictions, from costs that this machine is measured with at the first use, in a few seconds (`calibrate`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, SupportsIndex, overload

from numpy.typing import ArrayLike

from noren._noren import EncodingError, Error
from noren._noren import advisor as _advisor
from noren._noren import compiler as _compiler
from noren._quantities import size, time
from noren._signature import Input, graph_of
from noren.compiler import Compiled

__all__ = [
    "REFERENCE",
    "Advice",
    "Candidate",
    "Device",
    "Part",
    "PeerEstimate",
    "Ratio",
    "Rejection",
    "advise",
    "calibrate",
    "devices",
]

REFERENCE: Literal["reference"] = "reference"
"""A server with two cores of Zen 4 and AVX-512, in place of a file of costs."""


@dataclass(frozen=True)
class Part:
    """A part of the server's time."""

    name: str
    """The operation, in words."""
    count: float
    """How often it is done."""
    seconds: float
    """The seconds of all of them."""


class Rejection(NamedTuple):
    """A scheme that does not do a workload."""

    scheme: str
    """The scheme."""
    reason: str
    """Why, and what would be possible."""


class Device(NamedTuple):
    """A device that a client may be."""

    name: str
    """The name, as `advise` takes it."""
    description: str
    """The device, in words."""
    measured: bool
    """Whether its costs were measured; those of others follow from a model."""


@dataclass(frozen=True)
class Candidate:
    """A scheme with parameters that does a workload, and its price. Times in seconds, sizes in bytes."""

    scheme: str
    """The scheme: ckks, ckks-bootstrapping, ckks-switching, bgv, bfv, bfv-lookups or tfhe."""
    library: str
    """The library."""
    parameters: str
    """The parameters, in words."""
    accuracy: float | None
    """A bound on the error of results, about; None where they are exact."""
    excluded: float
    """How far below 1 the absolute values of inputs stay that the accuracy is of; 0 for all values."""
    log2_failure: float | None
    """The base-two logarithm of the probability that any result is wrong; None where none was counted."""
    keys_seconds: float
    """The client's time for all keys, once."""
    helper_seconds: float
    """The time of a stronger device of the client's owner that makes the keys from two seeds, with the costs of the
    server on one thread; 0 where the client makes its keys itself."""
    encrypt_seconds: float
    """The client's time to encode and encrypt the inputs."""
    decrypt_seconds: float
    """The client's time to decrypt and decode the results."""
    prepare_seconds: float
    """The server's time for what does not depend on the inputs, once."""
    server_seconds: float
    """The server's time."""
    key_bytes: int
    """The keys that the client sends, once."""
    input_bytes: int
    """The encrypted inputs."""
    result_bytes: int
    """The encrypted results."""
    client_memory: int
    """The most memory of the client."""
    server_memory: int
    """The most memory of the server."""
    parts: tuple[Part, ...]
    """What the server's time consists of."""
    reasons: tuple[str, ...]
    """What speaks for it and against it."""
    script: str
    """A Python script that compiles the workload for this scheme, does it once on random values, and compares the
    result with numpy; empty for a function."""
    compiled: Compiled = field(repr=False, compare=False)
    """What runs, with these parameters: the function, or the workload of as many instances as one run has."""
    runs: int
    """How many runs do all instances."""


@dataclass(frozen=True)
class Ratio:
    """The median of ratios peer / noren over operations that both did in one run."""

    threads: int
    """The number of threads."""
    ratio: float
    """The median."""
    least: float
    """The least ratio."""
    most: float
    """The greatest ratio."""
    rows: int
    """The number of operations."""
    what: str
    """The operations, in words."""
    machine: str
    """The machine."""
    isa: str
    """The instruction set of noren's kernels."""
    date: str
    """The day, as year, month and day."""
    records: str
    """The file below ``bench/results``."""


@dataclass(frozen=True)
class PeerEstimate:
    """What another library would take: the times of noren's candidate of this scheme times measured ratios."""

    scheme: str
    """The scheme."""
    library: str
    """The library."""
    version: str
    """The version that was measured."""
    server_seconds: float
    """The server's time."""
    keys_seconds: float | None
    """The client's time for the keys that it sends; None where it was not measured."""
    encrypt_seconds: float | None
    """The client's time to encode and encrypt the inputs; None where it was not measured."""
    decrypt_seconds: float | None
    """The client's time to decrypt and decode the results; None where it was not measured."""
    ratio: Ratio
    """What the server's time rests on."""
    reasons: tuple[str, ...]
    """The ratios and what they are of, in words."""


@dataclass(frozen=True)
class Advice(Sequence[Candidate]):
    """The ways to do a workload, the best first; `rejections` says why other schemes do not do it."""

    workload: dict[str, Any]
    """The workload, as ``noren advise --workload`` reads it from a file; of a function its shapes."""
    client: str
    """The processor of the client."""
    server: str
    """The processor of the server."""
    threads: int
    """The threads of the server."""
    candidates: tuple[Candidate, ...]
    """What can be done."""
    peers: tuple[PeerEstimate, ...]
    """What other libraries would take with the same schemes, the shortest time of the server first."""
    rejections: tuple[Rejection, ...]
    """What cannot be, and why."""

    def compile(self, scheme: str | None = None) -> Compiled:
        """Return the workload as a compiled function, whose `client` and `server` do it.

        Inputs are arrays with a row for each instance, below 1 where a candidate excludes values near it. Entries of
        matrices and coefficients of polynomials are all equal, and tables are of a function that stands for any: to
        put in your own, compile a function of numpy.

        Of advice for a function it is the function, as the candidate has it.

        scheme: that of a candidate; the first of them that compiles it for None.

        Raises Error if none compiles it, with the reason of each.
        """
        if "computation" not in self.workload:
            for each in self:
                if scheme in (None, each.scheme):
                    return each.compiled
            reasons = {rejection.scheme: rejection.reason for rejection in self.rejections}
            needed = ", ".join(dict.fromkeys(each.scheme for each in self))
            raise Error(f"{scheme} is none of the schemes of this advice, {needed}: {reasons.get(str(scheme), '')}")
        candidates = [(each.scheme, each.excluded) for each in self if scheme in (None, each.scheme)]
        candidates = candidates or [(str(scheme), 0.0)]
        return Compiled(_compiler.Program.of_workload(json.dumps(self.workload), candidates=candidates))

    def __len__(self) -> int:
        """Return how many candidates there are."""
        return len(self.candidates)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        """Return a candidate, the best for 0."""
        return self.candidates[index]

    def __iter__(self) -> Iterator[Candidate]:
        """Iterate over the candidates, the best first."""
        return iter(self.candidates)

    def __str__(self) -> str:
        """Return the advice as a table, with reasons."""
        head = ("scheme", "server", "client", "keys", "memory")
        rows = [
            (
                candidate.scheme,
                time(candidate.server_seconds),
                time(candidate.keys_seconds + candidate.encrypt_seconds + candidate.decrypt_seconds),
                size(candidate.key_bytes),
                size(candidate.server_memory),
            )
            for candidate in self
        ]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [head, *rows]
        ]
        lines += [f"{candidate.scheme}: {'; '.join(candidate.reasons)}" for candidate in self]
        lines += [
            f"{peer.scheme} by {peer.library} {peer.version}: server {time(peer.server_seconds)}, "
            f"by measured ratios: {'; '.join(peer.reasons)}"
            for peer in self.peers
        ]
        lines += [f"not {rejection.scheme}: {rejection.reason}" for rejection in self.rejections]
        return "\n".join(lines)


def advise(
    computation: str | Callable[..., Any],
    /,
    *examples: Input | ArrayLike,
    ranges: Sequence[tuple[float, float]] | Literal["data"] | None = None,
    precision: float | None = None,
    security: Literal[128, 192, 256] | None = 128,
    count: int | None = None,
    degree: int | None = None,
    rows: int | None = None,
    columns: int | None = None,
    inputs: int = 1,
    real: float | None = None,
    integer: int | None = None,
    result_bits: int | None = None,
    instances: int = 1,
    dead_zone: float | None = None,
    modulus: int | None = None,
    objective: Literal["auto", "server", "latency", "once"] = "auto",
    client: str | None = None,
    machine: str | PathLike[str] | None = None,
    threads: int | None = None,
    server_memory: int | None = None,
    client_memory: int | None = None,
    server_seconds: float | None = None,
    client_seconds: float | None = None,
) -> Advice:
    """Return the ways to do a workload, ordered by what is to be short, with prices and reasons.

    computation: ``product``, ``sum`` or ``inner-product`` (of ``count`` values, or vectors of this length),
        ``squarings`` (``degree`` in a row) or ``polynomial`` (of ``degree``) of a value, ``matrix`` (``rows`` times
        ``columns``, in clear, times an encrypted vector), ``compare`` (is one value less than another), ``table`` (any
        function of ``inputs``, 1 or 2). Or a function of numpy, such as `noren.compile` takes, with `examples`,
        `ranges`, `precision`, `dead_zone` and `security` as there: of one run, each scheme that evaluates it, compiled.
    real: values are real numbers in [-1, 1], and results have an error of at most ``2**-real``.
    integer: values are unsigned integers of this many bits, and results exact.
    result_bits: bits of integer results; fewer than the largest result has means modulo a power of two. As many as it
        has for None.
    modulus: for sums and products of integers, the number that results are modulo, whatever their size; `integer` is
        the bits of ``modulus - 1`` unless it is given.
    instances: how often it is done, on other values, all at once.
    dead_zone: for comparisons of real numbers, the distance within which either answer is right.
    objective: what is to be short: the server's time, the time from inputs to results (``latency``), or all of both
        parties' time once; ``auto`` is ``once`` where the client is a slower device than the server, and else
        ``server``.
    client: the client's device, a name of `devices`; this machine for None.
    machine: a file of `calibrate` with the costs of the server, or `REFERENCE`; this machine for None.
    threads: the server's threads; all for None.
    server_memory, client_memory: the most memory in bytes; that of the machines for None.
    server_seconds, client_seconds: the longest that a party may take.

    Raises Error for what no scheme can be asked for, and if no scheme does it within the limits: the message names the
    nearest that is possible.
    """
    numbers = {"count": count, "degree": degree, "rows": rows, "columns": columns, "real": real, "integer": integer}
    numbers["modulus"] = modulus
    limits = (server_memory, client_memory, server_seconds, client_seconds)
    path = None if machine is None else Path(machine)
    if not isinstance(computation, str):
        if given := [name for name, value in numbers.items() if value is not None]:
            raise TypeError(f"{', '.join(given)} beside a function: its examples say all of that")
        return _advice(
            _advisor.advise_function(
                graph_of(computation, examples, ranges, reals=precision is not None or dead_zone is not None),
                precision=precision,
                dead_zone=dead_zone,
                security=security,
                objective=objective,
                client=client,
                machine=path,
                threads=threads,
                limits=limits,
            ),
            computation,
        )
    if examples:
        raise TypeError(f"{len(examples)} examples beside {computation!r}: they are for functions of numpy")
    count, degree = _whole("count", count), _whole("degree", degree)
    rows, columns = _whole("rows", rows), _whole("columns", columns)
    modulus = _whole("modulus", modulus)
    integer, result_bits = _whole("integer", integer, 32), _whole("result_bits", result_bits, 32)
    workload: dict[str, Any] = {
        "computation": _computation(computation, count, degree, rows, columns, _whole("inputs", inputs)),
        "values": _values(real, integer, result_bits, modulus),
        "instances": _whole("instances", instances),
        "objective": objective,
        "dead_zone": dead_zone,
        "modulus": modulus,
    }
    return _advice(
        _advisor.advise_workload(
            json.dumps(workload),
            client=client,
            machine=path,
            threads=threads,
            server_memory=server_memory,
            client_memory=client_memory,
            server_seconds=server_seconds,
            client_seconds=client_seconds,
        )
    )


def calibrate(path: str | PathLike[str] | None = None, *, threads: int | None = None, force: bool = False) -> Path:
    """Measure this machine in a few seconds, write its costs to a file, and return the path.

    path: the file; the one that `advise` finds by itself for None.
    threads: the number of threads that is measured beside one; all for None.
    force: whether a file of this name that exists is replaced.

    Raises FileExistsError without `force`, OSError, and Error where the environment names no place for the file.
    """
    return _advisor.calibrate_to(None if path is None else Path(path), threads=threads, force=force)


def devices() -> list[Device]:
    """Return the devices that a client may be, from the fastest to the slowest."""
    return [Device(*device) for device in _advisor.devices()]


def _advice(
    found: tuple[str, list[tuple[_compiler.Program, int]]], function: Callable[..., Any] | None = None
) -> Advice:
    """Return advice from its JSON, and the programs of its candidates."""
    report = json.loads(found[0])
    compiled = [(Compiled(program, function), runs) for program, runs in found[1]]
    return Advice(
        workload=report["workload"],
        client=report["client"],
        server=report["server"],
        threads=report["threads"],
        candidates=tuple(map(_candidate, report["candidates"], compiled)),
        peers=tuple(map(_peer, report["peers"])),
        rejections=tuple(Rejection(**rejection) for rejection in report["rejections"]),
    )


def _whole(name: str, number: SupportsIndex | None, bits: int = 64) -> int | None:
    """Return a number as JSON has it; raise EncodingError for one that `bits` bits do not hold."""
    if number is None:
        return None
    if not 0 <= index(number) < 2**bits:
        raise EncodingError(f"{name} is {number}, a whole number from 0 to 2^{bits} - 1 is needed")
    return index(number)


def _computation(
    name: str, count: int | None, degree: int | None, rows: int | None, columns: int | None, inputs: int | None
) -> str | dict[str, Any]:
    """Return a computation as JSON has it."""
    fields: dict[str, dict[str, Any]] = {
        "product": {"count": count},
        "sum": {"count": count},
        "inner-product": {"length": count},
        "squarings": {"depth": degree},
        "polynomial": {"degree": degree},
        "matrix": {"rows": rows, "columns": columns},
        "table": {"inputs": inputs},
    }
    if name == "compare":
        return name
    if name not in fields:
        raise ValueError(f"no computation {name!r}: one of {', '.join([*fields, 'compare'])}")
    given = {"length": "count", "depth": "degree"}
    missing = [given.get(field, field) for field, value in fields[name].items() if value is None]
    if missing:
        raise TypeError(f"{name} needs {' and '.join(missing)}")
    return {name: fields[name]}


def _values(real: float | None, integer: int | None, result_bits: int | None, modulus: int | None) -> dict[str, Any]:
    """Return the kind of values as JSON has it."""
    if integer is None and real is None and modulus is not None:
        integer = max(1, (modulus - 1).bit_length())
    if (real is None) == (integer is None):
        raise TypeError("give real=BITS for real numbers, or integer=BITS or modulus=T for integers")
    if real is not None:
        return {"real": {"bits": float(real)}}
    return {"integer": {"bits": integer, "result_bits": result_bits}}


def _candidate(row: dict[str, Any], compiled: tuple[Compiled, int]) -> Candidate:
    """Return a candidate from its JSON, and what runs."""
    price = dict(row["price"])
    parts = tuple(Part(**part) for part in price.pop("parts"))
    accuracy = row["accuracy"] if isinstance(row["accuracy"], dict) else {}
    return Candidate(
        scheme=row["scheme"],
        library=row["library"],
        parameters=row["parameters"],
        accuracy=accuracy.get("within"),
        excluded=row["excluded"],
        log2_failure=accuracy.get("exact-but-for"),
        parts=parts,
        reasons=tuple(row["reasons"]),
        script=row["script"],
        compiled=compiled[0],
        runs=compiled[1],
        **price,
    )


def _peer(row: dict[str, Any]) -> PeerEstimate:
    """Return the estimate of another library from its JSON."""
    return PeerEstimate(**row | {"ratio": Ratio(**row["ratio"]), "reasons": tuple(row["reasons"])})
