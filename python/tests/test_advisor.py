"""Advice in Python: choices, devices, limits and mistakes."""

from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import noren
from noren import advisor


def advise(computation: str, **options: object) -> advisor.Advice:
    """Return advice for the reference machine, so that nothing is measured."""
    return advisor.advise(computation, machine=advisor.REFERENCE, threads=1, **options)  # type: ignore[arg-type]


def test_the_best_comes_first_and_all_others_say_why() -> None:
    advice = advise("inner-product", count=16, integer=4)
    schemes = [scheme for scheme, _ in groupby(candidate.scheme for candidate in advice)]
    assert schemes == ["bgv", "bfv", "tfhe", "bfv-lookups"]
    assert all(a.server_seconds <= b.server_seconds for a, b in pairwise(advice))
    assert (advice[0].accuracy, advice[0].log2_failure) == (None, None)
    assert all((candidate.log2_failure or 0) < -100 for candidate in advice if candidate.scheme == "tfhe")
    for candidate in advice:
        assert sum(part.seconds for part in candidate.parts) == pytest.approx(candidate.server_seconds)
    assert len({candidate.scheme for candidate in advice}) + len(advice.rejections) == 7
    text = str(advice)
    assert "times as long as BGV" in text
    assert "not ckks: " in text


def test_other_libraries_stand_below_with_the_ratio_that_they_rest_on() -> None:
    advice = advise("inner-product", count=16, integer=4)
    assert {candidate.library for candidate in advice} == {"noren"}
    assert [peer.library for peer in advice.peers if peer.scheme == "bfv"] == ["lattigo", "tenseal", "openfhe"]
    ours = {candidate.scheme: candidate for candidate in reversed(advice)}
    for peer in advice.peers:
        assert peer.server_seconds == pytest.approx(ours[peer.scheme].server_seconds * peer.ratio.ratio)
        assert peer.ratio.rows > 0
        assert peer.ratio.date in peer.reasons[0]
    assert "bgv by lattigo" in str(advice)


def test_real_numbers_have_an_error_within_what_is_asked() -> None:
    for bits in (10, 20, 24):
        best = advise("product", count=100, real=bits)[0]
        assert best.scheme == "ckks"
        assert (best.accuracy or 1) <= 2.0**-bits


def test_every_device_has_a_price_and_slower_ones_a_higher() -> None:
    devices = noren.advisor.devices()
    assert [device.name for device in devices if device.measured] == ["server"]
    prices = [advise("compare", integer=8, client=device.name, objective="server")[0] for device in devices]
    times = [price.keys_seconds + price.encrypt_seconds for price in prices]
    assert times == sorted(times)
    assert len({price.server_seconds for price in prices}) == 1


def test_a_weak_client_makes_light_keys_or_leaves_them_to_another_device() -> None:
    for bits in (8, 16):
        advice = advise("compare", integer=bits, client="pi-zero")
        assert advice[0].parameters.startswith("set 2_2_LIGHT")
        ways = {candidate.parameters.split(",")[0]: candidate for candidate in advice if not candidate.helper_seconds}
        light, whole = ways["set 2_2_LIGHT"], ways["set 2_2"]
        assert light.key_bytes < whole.key_bytes / 10
        assert light.keys_seconds < whole.keys_seconds / 3
        assert light.server_seconds > whole.server_seconds
        helped = [candidate for candidate in advice if candidate.helper_seconds]
        assert helped
        assert all(candidate.keys_seconds < light.keys_seconds for candidate in helped)


def test_gates_are_of_bits_or_products() -> None:
    one = advise("table", inputs=2, integer=1)
    assert one[0].scheme == "bgv"
    assert next(candidate for candidate in one if candidate.scheme == "tfhe").parameters.startswith("set BOOL")
    bulk = advise("table", inputs=2, integer=1, instances=32768)[0]
    assert bulk.scheme == "bgv"
    assert bulk.server_seconds < 0.01


def test_workloads_have_a_modulus() -> None:
    best = advise("squarings", degree=10, modulus=65537, instances=32768)[0]
    assert best.scheme == "bgv"
    assert "t = 65537" in best.parameters
    # A power of two has no slots: a larger modulus holds exact results; TFHE has digits.
    advice = advise("product", count=2, modulus=2**16)
    assert {"bgv", "tfhe"} <= {candidate.scheme for candidate in advice}
    for options in ({"real": 10, "modulus": 7}, {"integer": 8, "modulus": 1}, {"integer": 8, "modulus": 2**61}):
        with pytest.raises(noren.Error, match="modulus"):
            advise("product", count=3, **options)


def test_deep_squarings_say_which_values_they_are_for() -> None:
    advice = advise("squarings", degree=10, real=20, instances=32768)
    assert [candidate.scheme for candidate in advice] == ["ckks"]
    assert (advice[0].accuracy or 1) <= 2.0**-20
    assert advise("squarings", degree=4, real=20)[0].excluded == 0
    deeper = advise("squarings", degree=16, real=20, instances=1000)
    assert {candidate.scheme for candidate in deeper} == {"ckks"}
    assert all(0 < candidate.excluded < 0.01 for candidate in deeper)


def test_limits_and_mistakes_are_errors_that_say_what_is_possible() -> None:
    with pytest.raises(noren.Error, match="nearest is CKKS"):
        advise("product", count=100, real=20, server_seconds=1e-6)
    with pytest.raises(noren.Error, match="pi-zero"):
        advise("compare", integer=8, client="abacus")
    with pytest.raises(TypeError, match="needs count"):
        advise("product", real=20)
    with pytest.raises(TypeError, match="real=BITS"):
        advise("product", count=3)
    with pytest.raises(TypeError, match="real=BITS"):
        advise("product", count=3, real=20, integer=8)
    with pytest.raises(ValueError, match="inner-product"):
        advise("quotient", integer=8)
    with pytest.raises(noren.Error, match="dead_zone"):
        advise("compare", real=10)


def test_files_of_costs_are_read_and_foreign_ones_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    with pytest.raises(noren.Error, match="noren calibrate"):
        advisor.advise("compare", integer=8, machine=wrong)
    with pytest.raises(OSError, match=r"none\.json"):
        advisor.advise("compare", integer=8, machine=tmp_path / "none.json")
    with pytest.raises(FileExistsError, match="force=True"):
        advisor.calibrate(wrong)
    assert wrong.read_text() == "{}"


@pytest.mark.parametrize(
    ("computation", "options"),
    [
        ("inner-product", {"count": 20, "real": 16}),
        ("product", {"count": 3, "real": 16}),
        ("product", {"count": 3, "integer": 4}),
        ("sum", {"count": 100, "integer": 8}),
        ("squarings", {"degree": 2, "real": 12}),
        ("polynomial", {"degree": 3, "real": 12}),
        ("matrix", {"rows": 4, "columns": 5, "real": 12}),
        ("sum", {"count": 1000, "real": 20}),
    ],
)
def test_scripts_run_and_give_what_numpy_gives(
    computation: str, options: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert difference_of(advise(computation, **options)[0], capsys) <= 2.0 ** -options.get("real", 99)


def difference_of(candidate: advisor.Candidate, capsys: pytest.CaptureFixture[str]) -> float:
    """Run the script of a candidate, and return the largest difference from numpy."""
    exec(compile(candidate.script, candidate.scheme, "exec"), {})
    label, number = capsys.readouterr().out.splitlines()[-1].split(": ")
    assert label == "largest difference"
    return float(number)


@pytest.mark.parametrize(
    ("computation", "options"),
    [
        ("table", {"integer": 3}),
        ("table", {"integer": 7}),
        ("table", {"inputs": 2, "integer": 3}),
        ("compare", {"integer": 3}),
        ("product", {"count": 3, "modulus": 65537}),
        ("sum", {"count": 5, "modulus": 1000}),
        ("inner-product", {"count": 3, "modulus": 65537}),
        ("matrix", {"rows": 2, "columns": 3, "modulus": 65537}),
        ("polynomial", {"degree": 15, "modulus": 65537}),
        ("squarings", {"degree": 3, "modulus": 65537}),
    ],
)
def test_scripts_of_many_instances_give_exact_results(
    computation: str, options: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    candidates = {candidate.scheme: candidate for candidate in advise(computation, instances=8192, **options)}
    exact = [candidates[scheme] for scheme in ("bgv", "bfv") if scheme in candidates]
    assert exact
    for candidate in exact:
        assert difference_of(candidate, capsys) == 0


def test_scripts_of_comparisons_compile_a_function() -> None:
    script = advise("compare", integer=8)[0].script
    assert 'scheme="tfhe"' in script
    compile(script, "compare", "exec")
    assert 'scheme="bfv-lookups"' in advise("table", inputs=2, integer=15)[0].script
    with pytest.raises(noren.Error, match=r"53 bits of an input works: .*at most 2\^53"):
        advise("sum", count=2, integer=60)


def test_advice_compiles() -> None:
    advice = advise("squarings", degree=3, modulus=65537, instances=3)
    function = advice.compile()
    assert function.scheme == advice[0].scheme == "bgv"
    x = np.array([[3], [65536], [40000]])
    keys = function.client.keygen()
    reply = function.server.run(function.client.encrypt(x), keys)
    assert function.client.decrypt(reply).tolist() == [[pow(int(n), 8, 65537)] for n in x[:, 0]]
    assert advice.compile("bfv").scheme == "bfv"
    with pytest.raises(noren.Error, match="integers: round and scale"):
        advise("sum", count=10, real=10).compile("tfhe")


def test_functions_have_advice_with_the_schemes_that_compile_them() -> None:
    def function(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        return x * y + x

    examples = (noren.Input((50,), 0, 9), noren.Input((50,), 0, 9))
    advice = advisor.advise(function, *examples, machine=advisor.REFERENCE, threads=1)
    assert [candidate.scheme for candidate in advice] == ["bgv", "bfv", "bfv-lookups", "tfhe", "tfhe"]
    assert advice.workload == {"inputs": [[50], [50]], "outputs": [[50]]}
    assert advice[0].script == ""
    assert advice[3].server_seconds > 10 * advice[0].server_seconds > 0
    assert all(min(candidate.key_bytes, candidate.server_memory) > 0 for candidate in advice)
    assert "exact" in dict(advice.rejections)["ckks"]
    assert advice.compile().scheme == noren.compile(function, *examples).scheme == advice[0].scheme
    with pytest.raises(noren.Error, match=r"ckks is none of the schemes of this advice, bgv, .*exact"):
        advice.compile("ckks")


def test_every_candidate_is_what_runs() -> None:
    advice = advisor.advise(lambda x: x + 3, noren.Input(3, 0, 9), machine=advisor.REFERENCE, security=None)
    for candidate in advice:
        assert candidate.runs == 1
        assert candidate.compiled.scheme == candidate.scheme
        assert candidate.parameters in str(candidate.compiled.explain())
        keys = candidate.compiled.client.keygen()
        reply = candidate.compiled.server.run(candidate.compiled.client.encrypt([1, 0, 9]), keys)
        assert candidate.compiled.client.decrypt(reply).tolist() == candidate.compiled([1, 0, 9]).tolist() == [4, 3, 12]
    # Both ways of keys of TFHE, and of a workload one run of many.
    secure = advisor.advise(lambda x: x > 3, noren.Input(3, 0, 9), machine=advisor.REFERENCE)
    sets = [str(each.compiled.parameters) for each in secure if each.scheme == "tfhe"]
    assert len(set(sets)) == len(sets) > 1
    many = advise("compare", integer=8, instances=100_000)
    assert all(each.runs >= 1 and each.compiled.scheme == each.scheme for each in many)

    real = advisor.advise(np.tanh, noren.Input(8, -1.0, 1.0), machine=advisor.REFERENCE, precision=1e-4)
    assert [candidate.scheme for candidate in real] == ["ckks"]
    assert 0 < (real[0].accuracy or 1) <= 1e-4
    rejected = {rejection.scheme for rejection in real.rejections}
    assert rejected == {"ckks-bootstrapping", "ckks-switching", "bgv", "bfv", "bfv-lookups", "tfhe"}


def test_functions_beside_numbers_of_workloads_are_refused() -> None:
    with pytest.raises(TypeError, match="count beside a function"):
        advisor.advise(np.tanh, noren.Input(8, -1.0, 1.0), count=3)
    with pytest.raises(TypeError, match="1 examples beside 'product'"):
        advisor.advise("product", noren.Input(8, -1.0, 1.0), count=3, real=20)
    with pytest.raises(noren.Error, match="nearest is CKKS"):
        advisor.advise(np.tanh, noren.Input(8, -1.0, 1.0), machine=advisor.REFERENCE, server_seconds=1e-9)
