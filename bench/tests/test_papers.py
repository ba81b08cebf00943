"""docs/papers.md: every cell has a figure or a reason, every command is one that there is."""

import json
import re
import shlex
from collections.abc import Iterator

import pytest
from test_records import record

import docs
import machine
import run
from libraries import ROOT
from pages import papers
from pages.papers import functions, matrices, rns_ckks, trace
from records import Record, Results

PAGE = ROOT / "docs" / "papers.md"
RECORDED: Record = json.loads(docs.RECORDED.read_text())


def found(own: list[Record]) -> papers.Found:
    return papers.Found(Results([]), Results(own), Results([]), RECORDED)


def cells(text: str) -> Iterator[tuple[str, str]]:
    """Return every cell of every table, with its row."""
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|"), line
            # A bar within a cell has a backslash.
            for cell in re.split(r"(?<!\\)\|", line)[1:-1]:
                yield cell.strip(), line


def test_no_cell_of_the_page_is_empty() -> None:
    found_here = list(cells(PAGE.read_text()))
    assert len(found_here) > 500
    for cell, line in found_here:
        assert cell, line


@pytest.mark.parametrize("name", papers.BLOCKS)
def test_a_cell_without_a_figure_says_so(name: str) -> None:
    for cell, line in cells(papers.BLOCKS[name](found([]))):
        assert cell, line
        assert "None" not in cell, line


def test_every_item_of_the_publications_has_a_row() -> None:
    text = PAGE.read_text()
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    # Tables and figures that each has.
    wanted = [(3, 3), (9, 1), (2, 2), (0, 0), (5, 3)]
    for part, (tables, figures) in zip(parts, wanted, strict=True):
        rows = [line.split("|")[1].lower() for line in part.splitlines() if line.startswith("|")]
        for word, count in [("table", tables), ("figure", figures)]:
            known = {
                int(n) for row in rows for group in re.findall(rf"{word}s? ([\d, and to]+)", row) for n in spread(group)
            }
            assert set(range(1, count + 1)) <= known, (word, part.splitlines()[0])


def spread(group: str) -> list[int]:
    """Return the numbers of a list such as `2 and 6` or `1 to 3`."""
    numbers = [int(number) for number in re.findall(r"\d+", group)]
    return list(range(numbers[0], numbers[-1] + 1)) if "to" in group else numbers


def test_commands_of_the_benchmarks_are_accepted() -> None:
    commands = re.findall(r"python bench/run\.py ([^\n`#]*)", PAGE.read_text())
    assert commands
    for command in commands:
        options = run.parser().parse_args(shlex.split(command))
        assert options.suite in run.SUITES


def test_what_the_page_shows_is_measured_by_its_suite() -> None:
    assert run.steps("papers") == []
    assert "papers" in run.THREADS
    suites = [suite for suite, _ in run.OWN["papers"]]
    assert suites.count("cyclotomic") == len(run.SETS)
    assert {"fused", "rns-heaan", "bootstrap", "parallel", "lookup"} <= set(suites)
    # The page takes its records from a file of its own.
    assert not any(path.name.endswith("papers.jsonl") for path in docs.load(machine.RESULTS / "epyc-zen5-2core")[1])


def test_one_pass_is_compared_with_two() -> None:
    common = {"suite": "fused", "library": "noren", "n": 1 << 15, "input_bytes": 11_796_600}
    own = [
        record(**common, op="mul_then_add_rows", limbs=15, modulus_bits=50, median_ns=3000.0),
        record(**common, op="mul_add_rows", limbs=15, modulus_bits=50, median_ns=2000.0),
        record(**common, op="mul_add_rows", limbs=30, modulus_bits=60, prime_bits=30, median_ns=5000.0),
    ]
    row = trace.fused_table(found(own)).splitlines()[-1]
    assert row == "| 2^15 | 15 | 491520 | 11.3 MiB | 3.00 | 2.00 | 1.50 | not measured | 5.00 | 2.50 |"


def test_norms_have_a_share_of_keys_only_where_keys_wait_for_them() -> None:
    common = {"suite": "cyclotomic", "library": "noren", "m": 511, "p": 2, "r": 1, "threads": 1}
    steps = {"keygen": 6e6, "encode_matrix": 1e6, "encrypt": 0.5e6, "matvec": 1e6, "decrypt": 0.5e6}
    own = [record(**common, op=op, entries="elements", median_ns=time, keys=3) for op, time in steps.items()]
    own.append(record(**common, op="context", median_ns=1e6))
    own.append(record(**common, op="norm_fft", median_ns=1e6))
    row = matrices.profile_table(found(own)).splitlines()[2]
    # Six norms of a millisecond beside keys of six.
    assert row == "| (511, 2, 1) | 69.2 | 26.2 | 4.6 | 60.0 | 30.0 | 10.0 | 59.3 | 0 | 50.0 | not measured |"


def test_bootstraps_are_compared_with_those_on_one_thread() -> None:
    common = {**rns_ckks.BASELINE, "op": "bootstrap", "peak_rss_bytes": 1 << 30}
    own = [record(**common, threads=1, median_ns=4e9), record(**common, threads=2, parallel="both", median_ns=2e9)]
    lines = rns_ckks.bootstraps_table(found(own)).splitlines()
    assert lines[8].startswith("| noren, the published set | none | 1 | 4000 | 0.122 | 1.00 | 1.00 GiB |")
    assert lines[11].startswith("| noren, the published set | both | 2 | 2000 | 0.0610 | 2.00 |")


def test_a_key_is_the_part_of_all_keys() -> None:
    common = {**functions.SUITE, "op": "lookup_maeda", "median_ns": 1e9}
    own = [record(**common, key_bytes=16_000_000, rotations=15, products=405)]
    assert functions.one_key(found(own)) == 1_000_000
    assert "| 16.0 MB | 405 | 15 |" in functions.methods_table(found(own))
