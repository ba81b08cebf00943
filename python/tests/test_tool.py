"""The command-line tool, as the package installs it, and its files in Python."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noren import ckks, programs


def tool(*arguments: str | Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "noren._tool", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


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
