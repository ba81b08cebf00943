"""What the README shows of other libraries."""

from pages import summary
from records import Record, Results


def record(library: str, median_ns: float, **more: object) -> Record:
    """Return a product of CKKS at N = 2^16."""
    made: Record = {"suite": "ckks", "op": "mul_relin_rescale", "library": library, "version": "1", "isa": "avx512"}
    made |= {"n": 1 << 16, "limbs": 24, "special": 8, "dnum": 3, "slots": 1 << 15, "threads": 1, "reps": 3, "note": ""}
    made |= {"security": "128", "log_qp": 1536.0, "median_ns": median_ns, "mad_ns": 1.0, "peak_rss_bytes": 1}
    return made | more


def test_gains_are_those_of_one_thread_and_of_libraries_that_were_measured() -> None:
    made = [record("noren", 10.0), record("noren", 50.0, isa="portable"), record("lattigo", 78.0)]
    results = Results([*made, record("openfhe", 60.0, threads=2), record("tenseal", 20.0, n=1 << 15)])
    assert summary.gains(results) == [("CKKS: multiply, relinearise, rescale", {"lattigo": 7.8})]


def test_what_is_not_measured_has_no_row_and_pictures_say_what_they_show() -> None:
    assert summary.gains(Results([record("lattigo", 78.0)])) == []
    text = summary.block(Results([record("noren", 10.0), record("lattigo", 78.0)]), "Here.")
    assert "Lattigo 7.8" in text
    assert text.endswith("Here.")
