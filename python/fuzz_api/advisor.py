"""Advice on random workloads and functions: within the limits, in order, and refusals that name what works.

What candidates promise is compared with what was asked, and with one another; what a refusal names is asked in turn.
"""

from __future__ import annotations

import math
import re
import time
from typing import Any

import numpy as np

import noren
from fuzz_api.draw import Rng, chance, one_of
from fuzz_api.program import Call, Verb
from fuzz_api.tool import crowd
from fuzz_api.verdict import REFUSE, Finding
from noren import advisor

SCHEMES = {"ckks", "ckks-bootstrapping", "bgv", "bfv", "bfv-lookups", "tfhe", "ckks-switching"}
PATIENCE = 20.0
"""Seconds after which advice takes too long."""
DEVICES = (None, None, *(device.name for device in advisor.devices()))
# How a refusal names the numbers of a workload, and the options that they are.
NUMBERS = {
    "instances": ("instances",),
    "values": ("count",),
    "values in a vector": ("count",),
    "squarings": ("degree",),
    "as the degree": ("degree",),
    "rows and columns": ("rows", "columns"),
    "bits of an input": ("integer",),
}


class World:
    """A client and the reference server."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.parties: dict[str, Any] = {"client": one_of(rng, *DEVICES), "threads": one_of(rng, 1, 2, None)}
        self.parties["machine"] = advisor.REFERENCE
        self.text = [f"parties = {self.parties}"]

    def advise(self, computation: str, options: dict[str, Any]) -> advisor.Advice:
        """Return advice, which takes no more time than one waits for."""
        start = time.monotonic()
        try:
            return advisor.advise(computation, **options, **self.parties)
        finally:
            seconds = time.monotonic() - start
            if seconds > PATIENCE * crowd():
                raise Finding("slow", f"{computation} {options}: {seconds:.0f} s")

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        raise AssertionError("advice is no item")


def up_to(rng: Rng, bits: float) -> int:
    """Return a whole number from 1 on, its logarithm uniform."""
    return int(2.0 ** rng.uniform(0, bits))


def values(rng: Rng, *, exact: bool) -> dict[str, Any]:
    """Draw what the values are."""
    if not exact:
        return {"real": float(one_of(rng, rng.uniform(1, 60), rng.integers(1, 40), rng.uniform(0, 2)))}
    bits = int(one_of(rng, up_to(rng, 3.2), up_to(rng, 4), up_to(rng, 6)))
    return {"integer": bits} | ({"result_bits": up_to(rng, 6)} if chance(rng, 0.3) else {})


def modulus(rng: Rng) -> dict[str, Any]:
    """Draw a modulus of results: some prime, some a power of two, some neither."""
    return {"modulus": int(one_of(rng, 2, 3, 257, 65537, 2**16, 786433, 2**60, 1 + up_to(rng, 59), up_to(rng, 20) + 1))}


def workload(rng: Rng) -> tuple[str, dict[str, Any]]:
    """Draw a computation with its options."""
    size = up_to(rng, float(one_of(rng, 3, 6, 10, 14, 24)))
    exact = chance(rng, 0.5)
    computation, options = one_of(
        rng,
        ("product", {"count": size}),
        ("sum", {"count": size}),
        ("inner-product", {"count": size}),
        ("squarings", {"degree": min(size, up_to(rng, 12))}),
        ("polynomial", {"degree": size}),
        ("matrix", {"rows": min(size, 2**12), "columns": up_to(rng, float(one_of(rng, 4, 8, 12)))}),
        ("compare", {}),
        ("table", {"inputs": int(one_of(rng, 1, 2))}),
    )
    arithmetic = computation not in ("compare", "table")
    options |= modulus(rng) if exact and arithmetic and chance(rng, 0.3) else values(rng, exact=exact)
    if computation == "compare" and not exact and chance(rng, 0.9):
        options["dead_zone"] = 2.0 ** rng.uniform(-20, 0)
    if chance(rng, 0.5):
        options["instances"] = up_to(rng, float(one_of(rng, 4, 16, 24)))
    if chance(rng, 0.7):
        options["objective"] = one_of(rng, "auto", "server", "latency", "once")
    return computation, options


def limits(rng: Rng) -> dict[str, Any]:
    """Draw limits, most of them near what computations take."""
    found: dict[str, Any] = {}
    for party in ("server", "client"):
        if chance(rng, 0.3):
            found[f"{party}_memory"] = int(2.0 ** rng.uniform(20, 38))
        if chance(rng, 0.3):
            found[f"{party}_seconds"] = float(10.0 ** rng.uniform(-4, 4))
    return found


def client_seconds(candidate: advisor.Candidate) -> float:
    return candidate.keys_seconds + candidate.encrypt_seconds + candidate.decrypt_seconds


def goal(candidate: advisor.Candidate, objective: str) -> float:
    """Return the seconds that are to be short."""
    if objective == "server":
        return candidate.server_seconds
    if objective == "latency":
        return candidate.encrypt_seconds + candidate.server_seconds + candidate.decrypt_seconds
    own = client_seconds(candidate) + candidate.helper_seconds
    return own + candidate.prepare_seconds + candidate.server_seconds


def taken(candidate: advisor.Candidate) -> dict[str, float]:
    """Return what limits are compared with, by their names."""
    return {
        "server_memory": candidate.server_memory,
        "client_memory": candidate.client_memory,
        "server_seconds": candidate.server_seconds,
        "client_seconds": client_seconds(candidate),
    }


def check_candidate(candidate: advisor.Candidate, options: dict[str, Any]) -> None:
    """Refuse a candidate that is not what was asked for."""
    for name, value in taken(candidate).items():
        if not (math.isfinite(value) and value >= 0):
            raise Finding("wrong", f"{candidate.scheme}: {name} is {value}")
        if value > options.get(name, math.inf):
            raise Finding("wrong", f"{candidate.scheme}: {name} is {value}, at most {options[name]} is asked for")
    if not math.isclose(sum(part.seconds for part in candidate.parts), candidate.server_seconds, rel_tol=1e-9):
        raise Finding("wrong", f"{candidate.scheme}: parts {candidate.parts} of {candidate.server_seconds} s")
    if min(candidate.input_bytes, candidate.result_bytes) <= 0 or candidate.key_bytes < 0:
        raise Finding("wrong", f"{candidate.scheme}: nothing is sent: {candidate.parameters}")
    if candidate.log2_failure is not None and candidate.log2_failure > -40:
        raise Finding("wrong", f"{candidate.scheme}: fails once in 2^{-candidate.log2_failure}")
    if "real" in options:
        # What switches is right outside its dead zone.
        error = candidate.accuracy if candidate.accuracy is not None else 0.0
        if error > 2.0 ** -options["real"] and "dead_zone" not in options:
            raise Finding("wrong", f"{candidate.scheme}: error {error}, asked for {options['real']} bits")
    elif "integer" in options and (candidate.accuracy is not None or candidate.excluded):
        raise Finding("wrong", f"{candidate.scheme}: integers with an error of {candidate.accuracy}")
    compile(candidate.script, candidate.scheme, "exec")


def check_advice(w: World, advice: advisor.Advice, options: dict[str, Any]) -> None:
    """Refuse advice that does not say of every scheme what it is worth, or that is out of order."""
    named = {candidate.scheme for candidate in advice}, {rejection.scheme for rejection in advice.rejections}
    if named[0] & named[1] or (named[0] | named[1]) != SCHEMES or not all(text for _, text in advice.rejections):
        raise Finding("wrong", f"candidates of {named[0]}, rejections of {named[1]}")
    for candidate in advice:
        check_candidate(candidate, options)
    objective = options.get("objective", "auto")
    if objective == "auto" and w.parties["client"] is None:
        objective = "server"
    if objective != "auto":
        # Another device is asked for last.
        order = [goal(candidate, objective) + 60.0 * (candidate.helper_seconds > 0) for candidate in advice]
        if order != sorted(order):
            raise Finding("wrong", f"not in the order of {objective}: {order}")
        check_worse(advice, objective)
    for peer in advice.peers:
        if peer.scheme not in named[0] or not peer.server_seconds >= 0:
            raise Finding("wrong", f"{peer.library} stands for {peer.scheme} with {peer.server_seconds} s")
    str(advice)


def check_worse(advice: advisor.Advice, objective: str) -> None:
    """Refuse a candidate that another of its scheme is as good as in everything, and better in something."""
    for one in advice:
        for other in advice:
            if other is one or other.scheme != one.scheme:
                continue
            pairs = [
                (goal(other, objective), goal(one, objective)),
                (client_seconds(other), client_seconds(one)),
                (other.helper_seconds, one.helper_seconds),
                (other.server_memory, one.server_memory),
                (other.client_memory, one.client_memory),
                (
                    other.key_bytes + other.input_bytes + other.result_bytes,
                    one.key_bytes + one.input_bytes + one.result_bytes,
                ),
                (other.excluded > 0, one.excluded > 0),
            ]
            if all(a <= b for a, b in pairs):
                raise Finding("worse", f"{one.scheme}: {one.parameters} beside {other.parameters}: {pairs}")


def remedies(message: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the options that a refusal says work, each as a whole."""
    found = re.search(r"; ((?:(?!; ).)*?) works(?::|$)", message)
    return [remedy(text, options) for text in found[1].split(", or ")] if found else []


def remedy(text: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that one of these texts stands for."""
    if named := re.fullmatch(r"a limit of (.*)", text):
        changed: dict[str, Any] = {}
        for part in named[1].split(" and "):
            number, name = part.split(" ", 1)
            changed[name.removeprefix("MiB of ")] = int(number) << 20 if name.startswith("MiB") else float(number)
        return options | changed
    if named := re.fullmatch(r"a (?:precision of ([\d.]+) bits|dead_zone of (\S+))", text):
        return options | ({"real": float(named[1])} if named[1] else {"dead_zone": float(named[2])})
    if named := re.fullmatch(r"(\d+) (.*)", text):
        return options | {name: min(options.get(name, 1 << 62), int(named[1])) for name in NUMBERS[named[2]]}
    raise Finding("wrong", f"a refusal names {text!r}")


def asked(w: World, rng: Rng) -> Call:
    """Any workload, and what its refusal names."""
    computation, options = workload(rng)
    options |= limits(rng)

    def run() -> advisor.Advice:
        try:
            return w.advise(computation, options)
        except noren.Error as error:
            for changed in remedies(str(error), options):
                try:
                    check_advice(w, w.advise(computation, changed), changed)
                except noren.Error as again:
                    raise Finding("remedy", f"{options}: {error}\n{changed} is refused: {again}") from None
            raise

    def check(found: advisor.Advice, _: object) -> float:
        check_advice(w, found, options)
        return 0.0

    return Call(f"advise({computation!r}, **{options})", run, None, check=check)


def tight(w: World, rng: Rng) -> Call:
    """Limits that one of the candidates just keeps."""
    computation, options = workload(rng)
    place, bounds = rng.random(), [chance(rng, 0.7) for _ in range(4)]

    def run() -> tuple[advisor.Advice, dict[str, Any]]:
        free = w.advise(computation, options)
        chosen = free[int(place * len(free))]
        pairs = zip(taken(chosen).items(), bounds, strict=True)
        bounded = options | {name: limit for (name, limit), bound in pairs if bound and limit > 0}
        try:
            return w.advise(computation, bounded), bounded
        except noren.Error as error:
            raise Finding("refused", f"{bounded}, which {chosen.parameters} keeps: {error}") from None

    def check(found: tuple[advisor.Advice, dict[str, Any]], _: object) -> float:
        check_advice(w, *found)
        return 0.0

    return Call(f"advise({computation!r}, **{options}), within what a candidate takes", run, None, check=check)


FUNCTIONS: tuple[tuple[str, Any, int], ...] = (
    ("x * y + x", lambda x, y: x * y + x, 2),
    ("x.sum()", lambda x: x.sum(), 1),
    ("(x - x.mean()) ** 2", lambda x: (x - x.mean()) ** 2, 1),
    ("np.tanh(x)", np.tanh, 1),
    ("np.where(x > y, x, y)", lambda x, y: np.where(x > y, x, y), 2),
    ("np.maximum(x, 3)", lambda x: np.maximum(x, 3), 1),
    ("x // 3", lambda x: x // 3, 1),
    ("x @ y", lambda x, y: x @ y, 2),
)


def function(w: World, rng: Rng) -> Call:
    """A function of numpy: what is advised is compiled."""
    text, f, arity = FUNCTIONS[int(rng.integers(len(FUNCTIONS)))]
    count, high = up_to(rng, 8), up_to(rng, 8)
    low: float = one_of(rng, 0, -high)
    real = chance(rng, 0.5)
    example = noren.Input(count, float(low), float(high) + 0.5) if real else noren.Input(count, low, high)
    options: dict[str, Any] = {}
    if real:
        options = {"precision": 2.0 ** rng.uniform(-24, 0), "dead_zone": 2.0 ** rng.uniform(-12, 0)}
    named = limits(rng)
    examples, place = (example,) * arity, rng.random()

    def run() -> advisor.Advice:
        advice = advisor.advise(f, *examples, **options, **named, **w.parties)
        chosen = advice[int(place * len(advice))]
        program = noren.compile(f, *examples, scheme=chosen.scheme, **options)  # type: ignore[arg-type]
        if program.scheme != chosen.scheme:
            raise Finding("wrong", f"{chosen.scheme} was compiled as {program.scheme}")
        return advice

    def check(found: advisor.Advice, _: object) -> float:
        for candidate in found:
            check_candidate(candidate, named | ({"real": -math.log2(options["precision"])} if real else {}))
        return 0.0

    return Call(f"advise({text}, {example} x {arity}, **{options | named})", run, None, check=check)


def mistaken(w: World, rng: Rng) -> Call:
    """Workloads that there are not."""
    computation, options = workload(rng)
    wrong: dict[str, Any] = one_of(
        rng,
        {"instances": int(one_of(rng, 0, -1, 2**24 + 1, 2**64, 2**70))},
        {"threads": -1},
        {"server_seconds": one_of(rng, 0.0, -1.0, math.nan, math.inf)},
        {"client_memory": one_of(rng, -1, 2**64)},
        {"objective": "cheapest"},
        {"client": "abacus"},
        {"real": 10.0, "integer": 8},
        {"modulus": one_of(rng, 0, 1, 2**60 + 1, -7), "integer": 8, "real": None},
        {"real": one_of(rng, 0.0, -3.0, math.nan, math.inf), "integer": None, "modulus": None},
        {"real": None, "modulus": None, "integer": one_of(rng, 0, 65, 2**32, -1)},
        {"count": 0, "degree": 0, "rows": 0, "inputs": 3},
    )
    if "count" in wrong and computation == "compare":
        computation, options = "sum", options | {"count": 0}
    given = w.parties | options | wrong
    return Call(f"advise({computation!r}, **{given})", lambda: advisor.advise(computation, **given), REFUSE)


VERBS = [
    Verb("asked", asked, weight=4.0),
    Verb("tight", tight, weight=1.5),
    Verb("function", function, weight=0.7),
    Verb("mistaken", mistaken, weight=0.7, mistake=True),
]
