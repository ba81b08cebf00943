"""The command-line tool, as the package installs it, and its files in Python."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from noren import bfv, ckks, programs


def tool(
    *arguments: str | Path, environment: dict[str, str] | None = None, directory: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the tool; its modules are not looked for in the directory."""
    entry = "import sys; sys.path[:] = filter(None, sys.path); from noren._tool import main; sys.exit(main())"
    command = [sys.executable, "-c", entry, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=directory)


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["info"], 0), (["nothing"], 2), ([], 2)])
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert tool(*arguments).returncode == code


def test_files_of_the_tool_and_of_python_are_the_same(tmp_path: Path) -> None:
    table = np.random.default_rng(4).uniform(-9, 9, (10, 3))
    np.save(tmp_path / "table.npy", table)
    keys = tmp_path / "keys"
    done = tool("keygen", "--out", keys, "--program", "mean", "--rows", "10", "--columns", "3")
    assert done.returncode == 0, done.stderr
    done = tool("encrypt", "--key", keys / "public.key", tmp_path / "table.npy", "-o", tmp_path / "table.ct")
    assert done.returncode == 0, done.stderr

    evaluation = ckks.EvaluationKeys.load(keys / "eval.keys")
    assert evaluation.parameters.security == 128
    encrypted = programs.EncryptedTable.load(evaluation.context, tmp_path / "table.ct")
    mean = programs.run(evaluation.context.evaluator(evaluation), programs.Program("mean"), encrypted)
    mean.save(tmp_path / "mean.ct")

    done = tool("decrypt", "--key", keys / "secret.key", tmp_path / "mean.ct", "-o", tmp_path / "mean.npy")
    assert done.returncode == 0, done.stderr
    secret = ckks.SecretKey.load(keys / "secret.key")
    matrix = programs.decrypt_table(mean, secret)
    assert (np.load(tmp_path / "mean.npy") == matrix.values).all()
    assert (np.abs(matrix.values[0] - table.mean(axis=0)) <= matrix.errors[0]).all()


def test_the_demonstration_runs_in_the_interpreter_of_the_package(tmp_path: Path) -> None:
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho substitute-python3-ran >&2\nexit 7\n")
    other.chmod(0o755)
    (tmp_path / "file").touch()
    environment = {key: value for key, value in os.environ.items() if key != "NOREN_PYTHON"}
    environment["PATH"] = f"{tmp_path}{os.pathsep}{environment['PATH']}"
    # A directory inside a file: the demonstration starts, and stops at once.
    done = tool("demo", "--out", tmp_path / "file" / "out", environment=environment)
    assert done.returncode == 1
    assert "Not a directory" in done.stderr
    assert "choose another directory with --out" in done.stderr
    assert "substitute-python3-ran" not in done.stderr
    done = tool("demo", environment={**environment, "NOREN_PYTHON": str(other)})
    assert done.returncode == 1
    assert "substitute-python3-ran" in done.stderr


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    (block,) = [block for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) if "patients.csv" in block]
    script = f'set -e\nnoren() {{ "{sys.executable}" -m noren._tool "$@"; }}\n{block}'
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = np.array([[54, 131], [61, 142], [47, 118]])
    mean = np.genfromtxt(tmp_path / "mean.csv", delimiter=",", skip_header=1)[1:]
    covariance = np.genfromtxt(tmp_path / "covariance.csv", delimiter=",", skip_header=1)[:, 1:]
    assert np.abs(mean - table.mean(axis=0)).max() < 1e-3
    assert np.abs(covariance - np.cov(table, rowvar=False)).max() < 0.2


def test_verbs_that_start_themselves_find_the_package_from_anywhere(tmp_path: Path) -> None:
    # Modules of the current directory are not taken for those of the package and of Python.
    for name in ("noren", "signal"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the current directory')\n")
    for extra in ([], ["--threads", "1,2", "--part", "own"]):
        suite = ["measure", "weak-client", "--preset", "toy", "--seconds", "0.01", "--json", *extra]
        done = tool(*suite, directory=tmp_path)
        assert done.returncode == 0, done.stderr
        records = [json.loads(line) for line in done.stdout.splitlines()]
        assert {record["library"] for record in records} == {"noren"}
        assert {record["threads"] for record in records} == ({1, 2} if extra else {1})


def test_the_package_runs_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "noren", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "noren")


def test_advice_is_given_for_the_machine_that_comes_with_noren() -> None:
    done = tool("advise", "inner-product", "--count", "100", "--real", "20", "--machine", "reference", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["candidates"][0]
    assert (found["library"], found["parameters"].split()[0]) == ("noren", "N")


def on_terminal(*arguments: str | Path, directory: Path) -> tuple[int, str]:
    """Run the tool on a terminal; return its exit code and what the terminal shows."""
    command = [sys.executable, "-c", "from noren._tool import main; raise SystemExit(main())", *map(str, arguments)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=directory) as process:
        os.close(theirs)
        shown = b""
        # The other end is closed when the process ends: Linux tells that by an error.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 4096):
                shown += piece
        os.close(ours)
        code = process.wait()
    return code, shown.decode().replace("\r\n", "\n")


def test_a_terminal_shows_decrypted_numbers_with_their_error(tmp_path: Path) -> None:
    table = np.arange(150.0).reshape(50, 3) / 8
    np.savetxt(tmp_path / "table.csv", table, delimiter=",", header="age,bmi,b\x1b[31mp", comments="")
    keys = ["keygen", "--out", "keys", "--program", "mean", "--rows", "50", "--columns", "3"]
    assert tool(*keys, directory=tmp_path).returncode == 0
    assert tool("encrypt", "--key", "keys/public.key", "table.csv", "-o", "t.ct", directory=tmp_path).returncode == 0
    decrypt = ("decrypt", "--key", "keys/secret.key", "t.ct", "--quiet")
    code, shown = on_terminal(*decrypt, directory=tmp_path)
    assert code == 0, shown
    lines = shown.splitlines()
    assert lines[0].split() == ["age", "bmi", r"b\u{1b}[31mp"]
    found = np.array([[float(number) for number in line.split()] for line in lines[1:41]])
    bound = float(shown.split("every number is within ")[1].split()[0])
    assert (np.abs(found - table[:40]) <= bound).all()
    assert bound < 1e-3
    assert lines[41] == "and 10 more rows: -o FILE writes all"
    assert "for the owner of the key only" in shown
    assert "\x1b[31m" not in shown
    # Nowhere else: a log, or a pipe that nobody asked for, gets no number.
    done = tool(*decrypt, directory=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "-o FILE" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys", "t.ct", "table.csv"]


# What floating point makes whole numbers of.
ROUNDED = ("0.99999999999999999999", "9007199254740992.5", "4503599627370496.25", "1e-400")


def whole_texts(rng: np.random.Generator) -> Iterator[str]:
    """Yield texts of numbers: near powers of two, with points, exponents, signs and zeros, and any digits."""
    for power in (8, 32, 53, 54, 63, 64):
        for off in (-1, 0, 1):
            yield from (str(2**power + off), str(-(2**power) + off))
    yield from (*ROUNDED, "90071992547409930e-1")
    yield from ("-0", "-0.0", "0e9", "1e22", "+7", ".5e1", "5.", "1E2", "1e400", "nan", "inf", "0x10", "1_0", "7 7")
    for _ in range(40):
        digits = "".join(str(rng.integers(10)) if rng.random() < 0.6 else "0" for _ in range(rng.integers(1, 24)))
        at = int(rng.integers(len(digits) + 1))
        point = f"{digits[:at]}.{digits[at:]}" if rng.random() < 0.5 else digits
        exponent = f"e{rng.integers(-12, 12)}" if rng.random() < 0.5 else ""
        yield rng.choice(["", "-", "+"]) + point + exponent


def fraction(text: str) -> Fraction | None:
    """Return the number of a text, if it is a finite one."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return None
    return Fraction(Decimal(text))


# Each takes a run of the tool.
MOST_REFUSED = 8
INTEGERS = {"int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1), "int8": (-128, 127), "modulo": (0, 0)}


@pytest.mark.parametrize("element", INTEGERS)
def test_texts_are_whole_numbers_exactly_or_refused(tmp_path: Path, element: str) -> None:
    low, high = INTEGERS[element]
    weak = ("--min-security", "none")
    if element == "modulo":
        prime = 1125899906842273
        high, low = prime - 1, -(prime // 2)
        parameters = bfv.Parameters(4, prime, [50] * 4, [50], security=None)
        (tmp_path / "p.params").write_bytes(bytes(parameters))
        keys = ["keygen", "--out", "keys", "--integers", "p.params", *weak]
        encrypt = ["encrypt", "--key", "keys/public.key", *weak]
    else:
        keys = ["keygen", "--out", "keys", "--tfhe", "TOY_2_2", *weak]
        encrypt = ["encrypt", "--key", "keys/secret.key", "--type", element, *weak]
    done = tool(*keys, directory=tmp_path)
    assert done.returncode == 0, done.stderr
    taken: list[str] = []
    refused = 0
    for text in dict.fromkeys(whole_texts(np.random.default_rng(11))):
        value = fraction(text)
        is_plain = re.fullmatch(r"[+-]?\d+", text) is not None
        if value is not None and value.denominator == 1 and low <= value <= high and (is_plain or abs(value) <= 2**53):
            taken.append(text)
        elif refused < MOST_REFUSED or text in ROUNDED:
            refused += 1
            (tmp_path / "t.csv").write_text(f"a\n{text}\n")
            done = tool(*encrypt, "t.csv", "-o", "t.ct", directory=tmp_path)
            assert (done.returncode, (tmp_path / "t.ct").exists()) == (1, False), f"{text} is taken"
    (tmp_path / "t.csv").write_text("a\n" + "".join(f"{text}\n" for text in taken))
    done = tool(*encrypt, "t.csv", "-o", "t.ct", directory=tmp_path)
    assert done.returncode == 0, done.stderr
    decrypt = ("decrypt", "--key", "keys/secret.key", "t.ct", *weak)
    for name in ("out.csv", "out.npy"):
        done = tool(*decrypt, "-o", name, directory=tmp_path)
        assert done.returncode == 0, done.stderr
    needed = [int(Fraction(Decimal(text))) for text in taken]
    found = [int(line) for line in (tmp_path / "out.csv").read_text().split()[1:]]
    if element == "modulo":
        needed = [number % prime for number in needed]
    assert found == needed
    assert [int(number) for number in np.load(tmp_path / "out.npy").ravel()] == needed
    # And back from the file of numpy.
    if element != "modulo":
        done = tool(*encrypt, "out.npy", "-o", "again.ct", directory=tmp_path)
        assert done.returncode == 0, done.stderr
        done = tool("decrypt", "--key", "keys/secret.key", "again.ct", *weak, "-o", "again.csv", directory=tmp_path)
        again = [int(line) for line in (tmp_path / "again.csv").read_text().split()[1:]]
        assert again == needed


def test_texts_that_floating_point_rounds_stay_within_the_stated_error(tmp_path: Path) -> None:
    # The scale with the smallest error at which sums fit the first prime: rounding to 53 bits must be within it.
    parameters = ckks.Parameters(6, [50, 50], [50], log_scale=47, security=None)
    (tmp_path / "p.params").write_bytes(bytes(parameters))
    weak = ("--min-security", "none")
    keys = ["keygen", "--out", "keys", "--program", "sum", "--rows", "1", "--columns", "1", "--params", "p.params"]
    done = tool(*keys, *weak, directory=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in ("9007199254740993", "0.1", "0.99999999999999999999", "1234567.1234567891234567", "-36028797018963971"):
        (tmp_path / "t.csv").write_text(f"a\n{text}\n")
        done = tool("encrypt", "--key", "keys/secret.key", "t.csv", "-o", "t.ct", "--force", *weak, directory=tmp_path)
        assert done.returncode == 0, done.stderr
        decrypt = ("decrypt", "--key", "keys/secret.key", "t.ct", "-o", "o.csv", "--digits", "full", "--force", *weak)
        done = tool(*decrypt, "--json", directory=tmp_path)
        assert done.returncode == 0, done.stderr
        bound = Fraction(json.loads(done.stdout)["error_bound"])
        found = Fraction(float((tmp_path / "o.csv").read_text().split()[1]))
        true = Fraction(Decimal(text))
        # Rounding the text takes less than the bound, and so does all together.
        assert abs(Fraction(float(text)) - true) < bound / 2
        assert abs(found - true) <= bound
