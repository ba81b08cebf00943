"""Reading, checking and merging records, and the tables that are made of them."""

import json

import pytest

import records
import run
from records import GarbageError, Record, Results


def record(**fields: object) -> Record:
    """Return a record with some fields of its own."""
    names = ["n", "limbs", "special", "dnum", "slots", "threads", "reps", "peak_rss_bytes"]
    made: Record = dict.fromkeys(["suite", "op", "library", "version", "security", "isa", "note"], "x")
    made |= dict.fromkeys(names, 1) | {"log_qp": 50.0, "median_ns": 2000.0, "mad_ns": 1.0}
    return made | fields


def test_records_are_read_line_by_line() -> None:
    text = json.dumps(record(op="add")) + "\n\n" + json.dumps(record(op="mul")) + "\n"
    assert [found["op"] for found in records.parse(text)] == ["add", "mul"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a hundred times faster", "no JSON"),
        ("[1, 2]", "no record"),
        ('{"op": "add"}', "a record without suite"),
        (json.dumps(record(n="many")), "n is 'many'"),
        (json.dumps(record(reps=True)), "reps is True"),
        (json.dumps(record(median_ns=-1.0)), "median_ns is -1.0"),
        (json.dumps(record(median_ns=float("nan"))), "median_ns is nan"),
    ],
)
def test_garbage_is_refused(line: str, reason: str) -> None:
    with pytest.raises(GarbageError, match=reason.replace("[", r"\[")):
        records.parse(line)


def test_rounds_are_merged_to_medians_and_the_highest_memory() -> None:
    rounds = [record(median_ns=time, peak_rss_bytes=memory) for time, memory in [(30, 7), (10, 9), (20, 8)]]
    (merged,) = records.merge([*rounds, record(op="mul", median_ns=5)])[:1]
    assert (merged["median_ns"], merged["peak_rss_bytes"]) == (20, 9)


def test_a_result_that_was_wrong_once_has_no_time() -> None:
    results = Results([record(median_ns=10), record(median_ns=None, mad_ns=None)])
    assert results.time(op="x") is None


def test_only_one_record_can_be_asked_for() -> None:
    results = Results([record(threads=1), record(threads=2)])
    assert results.time(threads=2) == 2000
    assert results.one(threads=3) is None
    with pytest.raises(LookupError):
        results.one(op="x")


def test_numbers_have_three_digits() -> None:
    shown = [records.number(value) for value in [0.01234, 1.0, 12.3456, 123.456, 12345.6]]
    assert shown == ["0.0123", "1.00", "12.3", "123", "12346"]
    assert [records.size(count) for count in [512, 96 << 20, 7 << 30]] == ["512 B", "96.0 MiB", "7.00 GiB"]
    assert records.number(None) == records.times(None) == records.size(None) == ""


def test_ratios_above_one_mean_that_noren_is_faster() -> None:
    made = [record(library="noren", n=64, op="add"), record(library="other", n=64, op="add", median_ns=6000.0)]
    header, _, row = run.overview(made).splitlines()
    assert header.endswith("| noren us | other us | other / noren |")
    assert row == "| 2^6 | 1 + 1 | 1 | add | 2.00 | 6.00 | 3.00 |"


def test_peers_without_a_time_leave_their_cells_empty() -> None:
    made = [record(library="noren"), record(library="other", median_ns=None, mad_ns=None)]
    assert run.overview(made).splitlines()[-1].endswith("| 2.00 |  |  |")


def test_precision_over_rounds_is_the_least() -> None:
    (merged,) = records.merge([record(worst_bits=21.0, rms_bits=24.0), record(worst_bits=20.5, rms_bits=24.5)])
    assert (merged["worst_bits"], merged["rms_bits"]) == (20.5, 24.0)


def test_bootstraps_of_all_sets_are_compared_by_their_messages() -> None:
    fields = {"suite": "bootstrap", "op": "bootstrap", "mode": "complex"}
    made = [record(**fields, library="noren", limbs=29), record(**fields, library="other", limbs=25, median_ns=8000.0)]
    row = run.overview(made).splitlines()[2]
    assert row.endswith("| 1 | bootstrap, mode complex | 2.00 | 8.00 | 4.00 |")
