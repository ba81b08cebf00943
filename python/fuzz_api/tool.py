"""The command-line tool on random tables, programs and mistakes; every run is a process of its own."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api import tables
from fuzz_api.draw import Rng, chance, one_of, text_of
from fuzz_api.program import Call, Item, Verb
from fuzz_api.verdict import REFUSE, Finding, in_words_of_the_code
from noren import Error

ROWS, COLUMNS = 12, 3
PROGRAMS = "sum,mean,variance,covariance,inner-product,linear,logistic,polynomial"


# The tool that `make build` makes starts in a tenth of the time of the one that the package installs.
BUILT = Path(__file__).parents[2] / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "noren"
TOOL = [str(BUILT)] if BUILT.exists() else [sys.executable, "-m", "noren._tool"]
PATIENCE = 60.0
"""Seconds after which a run of the tool hangs."""


def tool(*arguments: str | Path) -> str:
    """Run the tool; what it refuses, with exit code 1 or 2 and a message, raises an Error."""
    command = [*TOOL, *map(str, arguments), "--min-security", "none"]
    patience = PATIENCE * crowd()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=patience)
    except subprocess.TimeoutExpired:
        raise Finding("hang", f"{arguments}: no end within {patience:.0f} s") from None
    if done.returncode == 0:
        return done.stdout
    message = refusal(done.stderr)
    if done.returncode not in (1, 2) or not message.startswith("error: "):
        raise Finding("crash", f"{arguments}: exit code {done.returncode}, {done.stderr[-400:]}")
    if in_words_of_the_code(message):
        raise Finding("exception", f"{arguments}: in words of the code: {message}")
    raise Error(message)


def refusal(stderr: str) -> str:
    """The message of an error, in words or as JSON; warnings come before. Nothing where there is none."""
    start = stderr.rfind('{"error":')
    if start >= 0:
        with contextlib.suppress(ValueError):
            return f"error: {json.loads(stderr[start:])['error']}"
    return stderr[stderr.find("error: ") :]


def crowd() -> float:
    """Return how many processes there are for each processor, at least 1: calls of a busy machine may take longer."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@functools.cache
def keyed(number: int) -> Path:
    """Return a directory with keys, which all cases of a process share; it stays until the process ends."""
    folder = tempfile.TemporaryDirectory()
    _FOLDERS.append(folder)
    path = Path(folder.name)
    parameters = path / "some.params"
    sizes = ",".join(["50", *["40"] * 7])
    tool(
        "params", "check", "--log-n", "8", "--log-q", sizes, "--log-p", "50,50", "--security", "none", "-o", parameters
    )
    models = {
        "linear": {"weights": [1.0] * COLUMNS},
        "logistic": {"weights": [1.0] * COLUMNS, "interval": 8, "error": 1e-2},
        "polynomial": {"coefficients": [0.5] * 6},
    }
    options: list[str | Path] = []
    for name, model in models.items():
        (path / f"{name}.json").write_text(json.dumps(model))
        options += ["--model", f"{name}={path / name}.json"]
    options += ["--rows", str(ROWS), "--columns", str(COLUMNS), "--params", parameters, "--seed", f"{number:064x}"]
    tool("keygen", "--out", path / "keys", "--program", PROGRAMS, *options)
    return path / "keys"


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


class World:
    """A directory of files, and the keys of two secrets."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism = 0
        self.keys, self.others = keyed(1), keyed(2)
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.text = [f"# {ROWS} rows, {COLUMNS} columns"]
        self._files = 0

    def path(self, ending: str) -> Path:
        """Return the name of a new file, which no child of fork uses."""
        self._files += 1
        return self.folder / f"{os.getpid()}-{self._files}{ending}"

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        """Decrypt the file with the tool: every column is within the error that is stated for it."""
        found, errors = decrypted(self, value, self.keys)
        return compare(found, errors, truth)


def decrypted(w: World, file: Path, keys: Path, *options: str) -> tuple[Any, Any]:
    """Return the numbers and their stated errors."""
    out = w.path(".npy")
    report = json.loads(tool("decrypt", "--key", keys / "secret.key", file, "-o", out, "--json", *options))
    return np.load(out), np.asarray(report["error_bounds"], np.longdouble)


def compare(found: Any, errors: Any, truth: Any) -> float:
    """Raise a Finding for an entry beyond the error of its column."""
    if found.shape != truth.shape:
        raise Finding("wrong", f"shape {found.shape}, true {truth.shape}")
    error = np.abs(found.astype(np.longdouble) - truth)
    if not (error <= errors).all():
        i, j = np.argwhere(~(error <= errors))[0]
        raise Finding("wrong", f"entry ({i}, {j}) is {found[i, j]}, true {truth[i, j]}, stated error {errors[j]}")
    return float(np.max(error / np.maximum(errors, 1e-300)))


def encrypt(w: World, rng: Rng) -> Call:
    values = rng.uniform(-1, 1, (ROWS, COLUMNS)) * np.array(
        [float(one_of(rng, 1, 10, 1e3, 0.1)) for _ in range(COLUMNS)]
    )
    key = w.keys / one_of(rng, "public.key", "secret.key")
    ending = one_of(rng, ".npy", ".csv")

    def run() -> Path:
        table, out = w.path(ending), w.path(".ct")
        if ending == ".npy":
            np.save(table, values)
        else:
            np.savetxt(table, values, fmt="%.17g", delimiter=",", header="a,b,c", comments="")
        tool("encrypt", "--key", key, table, "-o", out)
        return out

    return Call(f"noren encrypt {text_of(values)}, {ending}", run, values.astype(np.longdouble), "table")


def evaluate(w: World, rng: Rng, table: Item) -> Call:
    name, options, truth = tables.model(rng, table.truth)
    keys = w.keys if chance(rng, 0.8) else w.others
    outside = name == "logistic" and tables.logit(table.truth, options) > options["interval"]
    if keys is w.others or truth is REFUSE:
        truth = REFUSE
    model = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in options.items()}

    def run() -> Path:
        file, out = w.path(".json"), w.path(".ct")
        file.write_text(json.dumps(model))
        given: list[str | Path] = ["--model", file] if model else []
        tool("eval", name, "--keys", keys / "eval.keys", *given, table.value, "-o", out)
        return out

    def check(found: Any, truth: Any) -> float:
        try:
            values, errors = decrypted(w, found, w.keys)
        except Error:
            # A score that left the interval, or a bound that is infinite.
            return 0.0
        if outside:
            raise Finding("accepted", "a score is outside the interval, and the table was decrypted")
        return compare(values, errors, truth)

    whose = "" if keys is w.keys else ", keys of another secret"
    return Call(f"noren eval {name} {model}{whose}", run, truth, check=check)


def foreign(w: World, rng: Rng, table: Item) -> Call:
    """A secret key that is not that of the table."""
    options = one_of(rng, [], ["--unchecked"], ["--release", "4"])
    run = lambda: decrypted(w, table.value, w.others, *options)
    return Call(f"noren decrypt {' '.join(options)} with another secret key", run, REFUSE)


def damaged(w: World, rng: Rng, table: Item) -> Call:
    """A file with a byte changed, or cut."""
    data = bytearray(table.value.read_bytes())
    at = int(rng.integers(len(data)))
    if chance(rng, 0.5):
        data[at] ^= int(rng.integers(1, 256))
    else:
        del data[at:]

    def run() -> Any:
        file = w.path(".ct")
        file.write_bytes(data)
        return decrypted(w, file, w.keys)

    return Call(f"noren decrypt of a file that is damaged at byte {at} of {table.value.stat().st_size}", run, REFUSE)


def mixed(w: World, rng: Rng, table: Item) -> Call:
    """Files of one kind given for another."""
    files = [w.keys / name for name in ("secret.key", "public.key", "eval.keys")] + [table.value]
    secret, evaluation = files[0], files[2]
    out = w.path(".ct")

    def wrong(right: Path) -> Path:
        file: Path = one_of(rng, *[file for file in files if file != right])
        return file

    calls: dict[str, list[Any]] = {
        "decrypt --key": ["decrypt", "--key", wrong(secret), table.value, "-o", w.path(".npy")],
        "decrypt FILE": ["decrypt", "--key", secret, wrong(table.value), "-o", w.path(".npy")],
        "eval --keys": ["eval", "sum", "--keys", wrong(evaluation), table.value, "-o", out],
        "eval FILE": ["eval", "sum", "--keys", evaluation, wrong(table.value), "-o", out],
        "encrypt --key": ["encrypt", "--key", one_of(rng, evaluation, table.value), table.value, "-o", out],
    }
    name = one_of(rng, *calls)
    return Call(f"noren {name} of another kind", lambda: tool(*calls[name]), REFUSE)


VERBS: list[Verb] = [
    Verb("encrypt", encrypt),
    Verb("evaluate", evaluate, ("table",), 4.0),
    Verb("foreign", foreign, ("table",), 0.5, mistake=True),
    Verb("damaged", damaged, ("table",), 0.5, mistake=True),
    Verb("mixed", mixed, ("table",), 0.5, mistake=True),
]
