"""Running libraries beside each other: options, missing peers, failing peers, wrong results."""

import json
import sys
from pathlib import Path

import pytest
from test_records import record

import machine
import run
from libraries import FailedError, Library, libraries


def program(folder: Path, name: str, body: str, ours: bool = False) -> Library:
    """Return a library whose program is a line of Python."""
    path = folder / f"{name}.py"
    path.write_text(body)
    return Library(name, [sys.executable, path], frozenset({"ckks"}), ours=ours)


def printing(**fields: object) -> str:
    return f"print({json.dumps(record(**fields))!r})"


def test_the_steps_of_a_suite_are_its_degrees() -> None:
    assert run.steps("kernels", None, None)[0] == ["--log-n", "6"]
    assert run.steps("ckks", None, None)[-1] == ["--log-n", "15", "--shape", "seal"]
    assert run.steps("ckks", [14], None) == [["--log-n", "14"]]
    assert run.steps("trace", None, [5]) == [["--special", "5", "--level", level] for level in "149"]
    assert len(run.steps("client", None, None)) == 4
    assert run.steps("chain", scheme=["bgv"], depth=[2, 4]) == [["--scheme", "bgv", "--depth", d] for d in "24"]
    assert len(run.steps("chain")) == 15
    assert len(run.steps("product")) == 24
    [first, *_] = run.steps("inner-product", scheme=["tfhe"], count=[100])
    assert first == ["--scheme", "tfhe", "--way", "paper", "--count", "100"]
    assert run.steps("matvec") == [[]]
    assert run.steps("cyclotomic")[0] == ["--set", "511:2:1"]
    assert run.steps("lookup")[0] == ["--log-n", "15", "--method", "fast"]
    assert run.steps("switching") == [["--preset", "n16", "--log-slots", bits] for bits in ["4", "15"]]
    assert run.steps("weak-client")[0] == ["--preset", "n16", "--part", "own"]
    modes = [step[step.index("--mode") + 1] for step in run.steps("bootstrap", None, None)]
    assert modes == ["complex", "real"]
    threads, *levels = run.steps("parallel", [13], None)
    assert threads == ["--figure", "threads", "--log-n", "13"]
    assert ",".join(step[3] for step in levels) == ",".join(map(str, range(1, 33)))


def test_arguments_are_lists_of_numbers() -> None:
    options = run.parser().parse_args(["--suite", "trace", "--threads", "1,2", "--special", "1,10"])
    assert (options.threads, options.special, options.log_n) == ([1, 2], [1, 10], None)
    with pytest.raises(SystemExit):
        run.parser().parse_args(["--suite", "everything"])


def test_every_suite_has_ours_and_a_peer() -> None:
    for suite in run.SUITES:
        found = libraries(suite)
        assert found[0].name == "noren"
        # No peer shares out its loops in three ways, looks up functions of two numbers, or has light keys beside CKKS;
        # docs/papers.md measures ours alone.
        assert suite in {"parallel", "lookup", "weak-client", "papers"} or any(not library.ours for library in found)


def test_what_only_ours_has_is_measured_by_it_alone() -> None:
    words = [(word, *options[:2]) for word, options in run.OWN["bootstrap"]]
    presets = [("bootstrap", "--preset", name) for name in ["n15", "n16-small", "n16-precise"]]
    assert words == [*presets, ("rns-heaan",)]
    assert all("noren" in [library.name for library in libraries(word) if library.ours] for word, *_ in words)


def test_other_sets_of_ours_have_rows_of_their_own() -> None:
    common = {"suite": "bootstrap", "op": "bootstrap", "mode": "complex", "n": 1 << 16}
    sets = [("noren", "n16", 1e6), ("peer", "theirs", 5e6), ("noren", "n16-small", 5e5)]
    made = [record(**common, library=library, set=name, median_ns=time) for library, name, time in sets]
    lines = run.overview(made).splitlines()[2:]
    assert [line.split(" | ")[3:] for line in lines] == [
        ["bootstrap, mode complex", "1000", "5000", "5.00 |"],
        ["bootstrap, n16-small, mode complex", "500", "", " |"],
    ]


def test_numbers_of_values_have_rows_of_their_own() -> None:
    common = {"suite": "switching", "op": "down", "n": 1 << 16}
    sets = [("noren", "n16", 16, 1e6), ("noren", "n16", 1 << 15, 5e6), ("openfhe", "STD128", 16, 3e6)]
    made = [
        record(**common, library=library, set=name, values=values, slots=values, median_ns=time)
        for library, name, values, time in sets
    ]
    lines = run.overview(made).splitlines()[2:]
    assert [line.split(" | ")[3:] for line in lines] == [
        ["down, values 16", "1000", "3000", "3.00 |"],
        ["down, values 32768", "5000", "", " |"],
    ]


def test_libraries_can_be_left_out() -> None:
    options = run.parser().parse_args(["--suite", "bootstrap", "--without", "lattigo (dense)", "--without", "openfhe"])
    names = [library.name for library in run.chosen("bootstrap", options)]
    assert names == ["noren", "lattigo"]


def test_programs_get_the_options_of_a_step(tmp_path: Path) -> None:
    body = f"import json, sys; print(json.dumps({record()!r} | {{'note': ' '.join(sys.argv[1:])}}))"
    options = ["--log-n", "14", "--threads", "1"]
    assert program(tmp_path, "peer", body).run("ckks", options)[0]["note"] == "--suite ckks --log-n 14 --threads 1"
    assert program(tmp_path, "ours", body, ours=True).run("ckks", options)[0]["note"].startswith("bench ckks --json")


def test_missing_and_failing_programs_are_named_and_left_out(tmp_path: Path) -> None:
    found = [
        program(tmp_path, "noren", printing(library="noren"), ours=True),
        Library("absent", [tmp_path / "absent"], frozenset({"ckks"})),
        program(tmp_path, "broken", "import sys; sys.exit('no memory')"),
        program(tmp_path, "garbage", "print('fast')"),
        program(tmp_path, "good", printing(library="good")),
    ]
    said: list[str] = []
    part = tmp_path / "part"
    made, right = run.measure(
        "ckks", [["--log-n", "14"], ["--log-n", "15"]], [], 2, found, said.append, lambda new: run.append(part, new)
    )
    assert right
    assert [json.loads(line) for line in part.read_text().splitlines()] == made
    assert [r["library"] for r in made] == ["noren", "good"] * 4
    for name, reason in [("absent", "not installed"), ("broken", "no memory"), ("garbage", "garbage")]:
        lines = [line for line in said if line.startswith("left out") and name in line]
        assert len(lines) == 1
        assert reason in lines[0]


@pytest.mark.parametrize(
    ("quick", "expected"), [(False, ["noren", "peer", "noren"] * 2), (True, ["noren", "peer", "noren"])]
)
def test_ours_bootstraps_again_after_every_peer_unless_it_is_quick(
    tmp_path: Path, quick: bool, expected: list[str]
) -> None:
    found = [
        program(tmp_path, "noren", printing(library="noren"), ours=True),
        program(tmp_path, "peer", printing(library="peer")),
        program(tmp_path, "silent", ""),
    ]
    each = [["--mode", "complex"], ["--mode", "real"]]
    made, right = run.measure("bootstrap", each, [], 1, found, lambda line: None, lambda new: None, quick)
    assert right
    assert [r["library"] for r in made] == expected


def test_our_wrong_results_fail_the_run(tmp_path: Path) -> None:
    body = printing(library="noren", median_ns=None, mad_ns=None) + "; import sys; sys.exit(1)"
    said: list[str] = []
    ours = [program(tmp_path, "noren", body, ours=True)]
    _, right = run.measure("ckks", [[]], [], 1, ours, said.append, lambda new: None)
    assert not right
    assert any("wrong result: noren" in line for line in said)


def test_our_own_failure_fails_the_run(tmp_path: Path) -> None:
    broken = program(tmp_path, "noren", "import sys; sys.exit('no such table')", ours=True)
    with pytest.raises(FailedError, match="no such table"):
        broken.run("ckks", [])
    _, right = run.measure("ckks", [[]], [], 1, [broken], lambda line: None, lambda new: None)
    assert not right


def test_machines_of_one_kind_share_a_folder(tmp_path: Path) -> None:
    description = machine.describe()
    new = machine.host(description, tmp_path)
    assert new == new.lower()
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "machine.json").write_text(json.dumps(description))
    assert machine.host(description, tmp_path) == "known"
    assert machine.host({**description, "model": "another"}, tmp_path) != "known"
