"""The differential fuzzer: a short run with fixed seeds, and that it finds what is wrong."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz_api.program import run_case, shrink
from fuzz_api.runner import Worker, show_finding
from fuzz_api.schemes import SCHEMES, SELFTESTS
from fuzz_api.worker import encoded

# Cases of each family: about ten seconds in all.
SHORT = {
    "ckks": 300,
    "ckks128": 3,
    "integers": 200,
    "coefficients": 60,
    "tfhe": 30,
    "tables": 25,
    "lookups": 12,
    "bootstrapping": 8,
    "compiler": 25,
    "questions": 12,
    "models": 6,
    "retrieval": 8,
    "signatures": 8,
    "tool": 3,
    "advisor": 2,
    "cluster": 40,
}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


@pytest.mark.parametrize("scheme", [name for name in SHORT if name in SCHEMES])
def test_random_programs_are_right_or_refused(worker: Worker, scheme: str) -> None:
    right = 0
    for seed in range(SHORT[scheme]):
        report = worker.run(f"{scheme}:{seed}")
        assert report["finding"] is None, show_finding(report)
        right += sum(report["right"].values())
    assert right >= SHORT[scheme]


@pytest.mark.parametrize(
    "name", [name for name in SELFTESTS if name.split("-")[1] in ("wrong", "accepted", "exception")]
)
def test_what_is_wrong_is_found_and_cut_down(name: str) -> None:
    scheme = SCHEMES[name]
    reports = [run_case(scheme, seed) for seed in range(20)]
    found = next(report for report in reports if report.finding is not None)
    assert found.finding is not None
    assert found.finding[0] == name.split("-")[1]
    seed = int(found.case.split(":")[1])
    shorter = shrink(scheme, seed, found)
    assert shorter.finding == found.finding
    # Only the chain of calls that the failing one needs is left.
    taken = {one[0] for step in shorter.steps for one in step[2]}
    assert all(step[0] in taken for step in shorter.steps[:-1])
    assert f"--case {name}:{seed}" in show_finding(encoded(shorter, 0.0))


def test_errors_without_words_are_findings() -> None:
    found = [run_case(SCHEMES["selftest-silent"], seed).finding for seed in range(20)]
    assert any(one is not None and "without a message" in one[1] for one in found)


@pytest.mark.parametrize("kind", ["crash", "hang"])
def test_crashes_and_hangs_are_told_by_their_seed(kind: str) -> None:
    worker = Worker()
    try:
        for seed in range(20):
            report = worker.run(f"selftest-{kind}:{seed}")
            if report["finding"] is not None:
                break
        assert report["finding"][0] == kind
        assert report["case"] == f"selftest-{kind}:{seed}"
        # The next case has a process of its own.
        assert worker.run("selftest-wrong:0")["case"] == "selftest-wrong:0"
    finally:
        worker.stop()


def test_a_case_runs_again_from_its_name() -> None:
    command = [sys.executable, "-m", "fuzz_api", "--case", "ckks:3"]
    found = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    assert "params = ckks.Parameters" in found.stdout
