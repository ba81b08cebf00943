"""Compiled functions: twelve of them against numpy, processes of their own, and what is refused."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import Input, compiler

RNG = np.random.default_rng(7)
WEIGHTS = RNG.uniform(-1, 1, 6)
HIDDEN = RNG.uniform(-0.6, 0.6, (5, 4))
LAST = RNG.uniform(-0.6, 0.6, (2, 5))
PRICES = np.array([(7 * at) % 200 for at in range(256)])


def linear(x: Any) -> Any:
    return x @ WEIGHTS + 0.5


def logistic(x: Any) -> Any:
    return compiler.sigmoid(x @ WEIGHTS - 0.25)


def moments(x: Any) -> Any:
    return x.mean(axis=0), x.var(axis=0, ddof=1)


def polynomial(x: Any) -> Any:
    return 1 + x * (0.5 - x * (2 - x * 0.25)) + x**5


def dot(x: Any, y: Any) -> Any:
    return x @ y


def chain(x: Any) -> Any:
    return LAST @ np.tanh(HIDDEN @ x + 0.1)


def product(x: Any) -> Any:
    return x.prod()


def distance(table: Any, record: Any) -> Any:
    return ((table - record) ** 2).sum(axis=1)


def network(x: Any) -> Any:
    return LAST @ np.maximum(HIDDEN @ x + 0.1, 0)


def counting(x: Any, y: Any) -> Any:
    return (x * y).sum(), 3 * x - y


def compared(x: Any, y: Any) -> Any:
    return np.where(x > y, x - y, y), (x == y).sum()


def divided(x: Any) -> Any:
    return compiler.table(PRICES, x) // 8, x % 7


def largest(x: Any) -> Any:
    return x.max(), np.minimum(x, 20)


REAL: list[tuple[Callable[..., Any], list[Input], float]] = [
    (linear, [Input((20, 6), -1.0, 1.0)], 1e-3),
    (logistic, [Input((20, 6), -1.0, 1.0)], 1e-3),
    (moments, [Input((20, 3), -1.0, 1.0)], 1e-3),
    (polynomial, [Input(50, -1.0, 1.0)], 1e-3),
    (dot, [Input(30, -1.0, 1.0), Input(30, -1.0, 1.0)], 1e-3),
    (chain, [Input(4, -1.0, 1.0)], 1e-2),
    (product, [Input(7, 0.5, 1.5)], 1e-2),
    (distance, [Input((9, 4), -1.0, 1.0), Input(4, -1.0, 1.0)], 1e-3),
    (network, [Input(4, -1.0, 1.0)], 5e-2),
]
EXACT: list[tuple[Callable[..., Any], list[Input], tuple[str, ...]]] = [
    (counting, [Input(12, -20, 20), Input(12, 0, 30)], ("bgv", "bfv")),
    (compared, [Input(4, -50, 50), Input(4, -50, 50)], ("bgv", "bfv", "tfhe")),
    (divided, [Input(3, 0, 255)], ("bfv-lookups",)),
    (largest, [Input(4, 0, 60)], ("tfhe",)),
]


def drawn(inputs: list[Input]) -> list[Any]:
    def one(spec: Input) -> Any:
        if spec.element == "integer":
            return RNG.integers(int(spec.low), int(spec.high), spec.shape, endpoint=True)
        return RNG.uniform(spec.low, spec.high, spec.shape)

    return [one(spec) for spec in inputs]


def paired(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) and isinstance(found[0], tuple) else [found]


@pytest.mark.parametrize(("function", "inputs", "precision"), REAL, ids=[case[0].__name__ for case in REAL])
def test_real_functions_are_within_their_bounds(
    function: Callable[..., Any], inputs: list[Input], precision: float
) -> None:
    f = noren.compile(function, *inputs, precision=precision, security=None)
    assert f.scheme == "ckks"
    arguments = drawn(inputs)
    plain = function(*arguments)
    expected = plain if isinstance(plain, tuple) else (plain,)
    keys = f.client.keygen()
    reply = f.server.run(f.client.encrypt(*arguments), keys)
    for results in (f.client.decrypt(reply, bound=True), f.simulate(*arguments, bound=True)):
        for (values, bound), wanted in zip(paired(results), expected, strict=True):
            assert values.shape == np.shape(wanted)
            assert bound <= precision
            assert np.abs(values - wanted).max() <= bound


@pytest.mark.parametrize(("function", "inputs", "schemes"), EXACT, ids=[case[0].__name__ for case in EXACT])
def test_exact_functions_equal_numpy(
    function: Callable[..., Any], inputs: list[Input], schemes: tuple[str, ...]
) -> None:
    f = noren.compile(function, *inputs, security=None)
    assert f.scheme in schemes
    arguments = drawn(inputs)
    keys = f.client.keygen()
    results = f.client.decrypt(f.server.run(f.client.encrypt(*arguments), keys))
    for found, simulated, wanted in zip(results, f.simulate(*arguments), function(*arguments), strict=True):
        assert (found == wanted).all()
        assert (simulated == wanted).all()
        assert found.dtype == np.int64


def test_integers_of_8_bits_have_tables_of_tfhe() -> None:
    f = noren.compile(divided, Input(3, 0, 255), scheme="tfhe", security=None)
    x, keys = np.array([0, 100, 255]), f.client.keygen()
    results = f.client.decrypt(f.server.run(f.client.encrypt(x), keys))
    for found, wanted in zip(results, divided(x), strict=True):
        assert (found == wanted).all()


def dose(weight: Any, age: Any) -> Any:
    per_kilogram = np.where(age < 12, compiler.table(PRICES, weight) // 3, 2 * weight)
    return np.minimum(per_kilogram, 90) - (weight ^ age), (age % 7).sum()


def test_functions_of_two_integers_are_looked_up(tmp_path: Path) -> None:
    inputs = [Input((3, 4), 0, 255), Input(4, 1, 60)]
    noren.compile(dose, *inputs, scheme="bfv-lookups", security=None).save(tmp_path / "f")
    f = compiler.Compiled.load(tmp_path / "f", min_security=0)
    arguments = drawn(inputs)
    f.client.keygen().save(tmp_path / "keys")
    found = f.client.decrypt(f.server.run(f.client.encrypt(*arguments), tmp_path / "keys"), bound=True)
    for (values, bound), simulated, wanted in zip(found, f.simulate(*arguments), dose(*arguments), strict=True):
        assert bound == 0
        assert (values == wanted).all()
        assert (simulated == wanted).all()
    explanation = f.explain()
    assert explanation.slots == 2
    assert explanation.price["parts"][0]["name"] == "squarings of one-hot vectors"
    with pytest.raises(noren.Error, match=r"test_compile.py:.*a function of at most two encrypted numbers.*tfhe"):
        noren.compile(lambda x, y, z: (x * y) // z, *(Input(2, 1, 9),) * 3, scheme="bfv-lookups", security=None)


SERVER = """
import sys
from pathlib import Path
from noren import compiler
server = compiler.Server.load(sys.argv[1], min_security=int(sys.argv[5]))
Path(sys.argv[4]).write_bytes(server.run(Path(sys.argv[3]).read_bytes(), sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("function", "inputs", "security"),
    [
        (linear, [Input((20, 6), -1.0, 1.0)], 128),
        (counting, [Input(12, -20, 20), Input(12, 0, 30)], None),
        (largest, [Input(4, 0, 60)], None),
    ],
    ids=["linear", "counting", "largest"],
)
def test_client_and_server_are_processes_of_their_own(
    tmp_path: Path, function: Callable[..., Any], inputs: list[Input], security: Any
) -> None:
    program, secret, keys, request, reply = (tmp_path / name for name in ("f.noren", "secret", "keys", "in", "out"))
    f = noren.compile(function, *inputs, security=security)
    f.save(program)
    f.client.keygen().save(keys)
    f.client.save_secret(secret)
    assert secret.stat().st_mode & 0o777 == 0o600
    arguments = drawn(inputs)
    request.write_bytes(f.client.encrypt(*arguments))
    bits = security or 0
    command = [sys.executable, "-W", "ignore", "-c", SERVER, *map(str, (program, keys, request, reply, bits))]
    subprocess.run(command, check=True)
    client = compiler.Client.load(program, secret, min_security=bits)
    found = client.decrypt(reply.read_bytes(), bound=True)
    expected = function(*arguments)
    for (values, bound), wanted in zip(
        paired(found), expected if isinstance(expected, tuple) else [expected], strict=True
    ):
        assert np.abs(values - wanted).max() <= bound


def loops(x: Any) -> Any:
    total = 0
    power = np.ones_like(x)
    for at, row in enumerate(x):
        total += (at + 1) * row
    for _ in range(3):
        power = power * x
    rolled = np.roll(power, 1, axis=1)[:, ::-1]
    return total, np.concatenate([rolled, x.T[:1, :2].reshape(1, 2).repeat(2, axis=1)[:, :4]])


def test_loops_unroll_and_elements_are_rearranged() -> None:
    x = RNG.uniform(-1, 1, (3, 4))
    f = noren.compile(loops, Input((3, 4), -1.0, 1.0), precision=1e-3, security=None)
    keys = f.client.keygen()
    reply = f.server.run(f.client.encrypt(x), keys)
    for (values, bound), wanted in zip(f.client.decrypt(reply, bound=True), loops(x), strict=True):
        assert values.shape == wanted.shape
        assert np.abs(values - wanted).max() <= bound


def booleans(x: Any, y: Any) -> Any:
    both = (x > 3) & (y <= 5)
    chosen = np.where(both + (x == 0), x < y, x == y)
    return chosen, np.count_nonzero(both), np.sign(x - y) * abs(y), (x << 2) - (y >> 1)


def test_truth_values_are_computed_with() -> None:
    inputs = [Input(4, 0, 9), Input(4, -8, 9)]
    f = noren.compile(booleans, *inputs, security=None)
    arguments = drawn(inputs)
    keys = f.client.keygen()
    results = f.client.decrypt(f.server.run(f.client.encrypt(*arguments), keys))
    for found, wanted in zip(results, booleans(*arguments), strict=True):
        assert (found == wanted).all()


def test_a_program_of_no_security_is_refused_unless_asked_for(tmp_path: Path) -> None:
    f = noren.compile(linear, Input((20, 6), -1.0, 1.0), security=None)
    f.save(tmp_path / "f")
    with pytest.raises(noren.InsecureError):
        compiler.Compiled.load(tmp_path / "f")
    loaded = compiler.Compiled.load(tmp_path / "f", min_security=0)
    assert bytes(loaded) == bytes(f)
    x = RNG.uniform(-1, 1, (20, 6))
    assert np.abs(loaded.simulate(x) - linear(x)).max() < loaded.precision
    (tmp_path / "g").write_bytes(b"{}")
    with pytest.raises(noren.WireError, match="not those of noren's format"):
        compiler.Compiled.load(tmp_path / "g")


def test_explanations_have_a_table_and_a_plot(tmp_path: Path) -> None:
    f = noren.compile(chain, Input(4, -1.0, 1.0), precision=1e-2, security=None)
    explanation = f.explain()
    text = str(explanation)
    for word in ("mat mul", "test_compile.py", "tanh"):
        assert word in text.replace("matmul", "mat mul")
    assert explanation.bound <= explanation.precision == 1e-2
    assert explanation.levels >= explanation.steps[-1]["level"]
    assert explanation.counts["plain_products"] > 0
    of_integers = noren.compile(largest, Input(4, 0, 60), security=None).explain()
    assert of_integers.bootstraps == of_integers.counts["bootstraps"] > 0
    assert "bootstraps" in str(of_integers)
    assert "rotations" not in str(of_integers).split("\n\n")[1]
    explanation.plot(tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").stat().st_size > 0


def test_explanations_have_a_price_and_the_other_schemes() -> None:
    explanation = noren.compile(linear, Input((20, 6), -1.0, 1.0), security=None).explain()
    price = explanation.price
    assert min(price[f"{name}_seconds"] for name in ("keys", "encrypt", "server", "decrypt")) > 0
    assert sum(part["seconds"] for part in price["parts"]) == pytest.approx(price["server_seconds"])
    names = ["ckks-bootstrapping", "ckks-switching", "bgv", "bfv", "bfv-lookups", "tfhe"]
    assert [other["scheme"] for other in explanation.others] == names
    assert "not bgv: " in str(explanation)
    assert "threads" in explanation.machine
    counted = noren.compile(counting, Input(5, 0, 9), Input(5, 0, 9), security=None).explain()
    others = {other["scheme"]: other for other in counted.others}
    assert others["tfhe"]["server_seconds"] > counted.price["server_seconds"]
    assert "exact" in others["ckks"]["refusal"]
    assert "not tfhe: server " in str(counted)


def test_plans_are_those_for_a_machine_and_within_it_unless_others_are_asked_for(tmp_path: Path) -> None:
    f = noren.compile(linear, Input((20, 6), -1.0, 1.0), security=None, machine=noren.advisor.REFERENCE)
    assert "AMD EPYC 25.17, kernels avx512" in f.explain().machine
    with pytest.raises(OSError, match="none"):
        noren.compile(linear, Input((20, 6), -1.0, 1.0), security=None, machine=tmp_path / "none")

    def quotients(x: Any, y: Any) -> Any:
        return x // (y + 1)

    inputs = [Input(10_000, 0, 2**30), Input(10_000, 0, 2**30)]
    with pytest.raises(noren.Error, match=r"of tfhe, takes .* 3600.000 s are allowed: .*unlimited=True"):
        noren.compile(quotients, *inputs, machine=noren.advisor.REFERENCE)
    allowed = noren.compile(quotients, *inputs, machine=noren.advisor.REFERENCE, unlimited=True)
    assert allowed.explain().price["server_seconds"] > 3600


def test_keys_of_a_file_are_read_again_only_where_the_file_is_another(tmp_path: Path) -> None:
    f = noren.compile(linear, Input((20, 6), -1.0, 1.0), security=None)
    path, x = tmp_path / "keys", RNG.uniform(-1, 1, (20, 6))
    f.client.keygen_file(path)
    request = f.client.encrypt(x)
    first = f.server.run(request, path)
    running = f.server._last
    # Another object of the same path.
    assert f.server.run(request, str(path)) == first
    assert f.server._last is running
    stranger = compiler.Client(f._program)
    stranger.keygen_file(path, force=True)
    with pytest.raises(noren.Error, match="key"):
        f.server.run(request, path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        f.server.run(request, path)


def test_simulation_rounds_constants_as_encryption_does() -> None:
    f = noren.compile(lambda x: x.var(), Input(7, 1000.0, 1010.0), precision=1e-2, scheme="ckks", security=None)
    x = np.linspace(1000, 1010, 7)
    keys = f.client.keygen()
    found, bound = f.client.decrypt(f.server.run(f.client.encrypt(x), keys), bound=True)
    errors = [abs(float(value) - x.var()) for value in (found, f.simulate(x))]
    assert max(errors) <= bound
    assert errors[0] <= 4 * errors[1] + bound / 8


def walk(x: Any, z: Any) -> Any:
    y = x
    for _ in range(6):
        y = (y + x) * z / 2
    return y.sum()


def test_deep_functions_bootstrap_where_levels_run_out(tmp_path: Path) -> None:
    number = Input(8, -1.0, 1.0)
    f = noren.compile(walk, number, number, scheme="ckks-bootstrapping", precision=1e-2, security=None)
    explanation = f.explain()
    assert f.scheme == explanation.scheme == "ckks-bootstrapping"
    assert explanation.levels == 2
    assert explanation.bootstraps == sum(step["bootstraps"] for step in explanation.steps) >= 5
    assert "bootstraps" in str(explanation)
    x, z = RNG.uniform(-1, 1, (2, 8))
    path = f.client.keygen_file(tmp_path / "bootstrap.keys")
    f.save(tmp_path / "f")
    f.client.save_secret(tmp_path / "secret.key")
    client = compiler.Client.load(tmp_path / "f", tmp_path / "secret.key", min_security=0)
    server = compiler.Server.load(tmp_path / "f", min_security=0)
    found, bound = client.decrypt(server.run(client.encrypt(x, z), path), bound=True)
    assert abs(found - walk(x, z)) <= bound <= 1e-2
    assert abs(f.simulate(x, z) - walk(x, z)) <= explanation.bound
    with pytest.raises(FileExistsError):
        f.client.keygen_file(path)


def test_rectified_units_in_layers_run_with_bootstraps_within_their_bound() -> None:
    first, second, last = (RNG.normal(size=shape) / 4 for shape in ((16, 16), (16, 8), (8, 3)))

    def network(x: Any) -> Any:
        return np.maximum(np.maximum(x @ first, 0) @ second, 0) @ last

    rows = RNG.uniform(0, 1, (4, 16))
    for precision in (0.2, 0.05):
        f = noren.compile(
            network, Input((4, 16), 0, 1), scheme="ckks-bootstrapping", precision=precision, security=None
        )
        keys = f.client.keygen()
        found, bound = f.client.decrypt(f.server.run(f.client.encrypt(rows), keys), bound=True)
        assert np.abs(found - network(rows)).max() <= np.max(bound) <= precision


def choose(x: Any, y: Any) -> Any:
    return np.where(x < y, np.abs(x), np.maximum(x * y, -0.5))


def test_comparisons_are_decided_by_switching(tmp_path: Path) -> None:
    number = Input(8, -1.0, 1.0)
    options: Any = {"scheme": "ckks-switching", "precision": 0.2, "security": None}
    f = noren.compile(choose, number, number, dead_zone=0.2, **options)
    x = np.array([0.9, -1.0, 0.3, 1.0, -0.2, 0.0, -0.6, 0.7])
    y = np.array([0.4, -0.5, 0.8, -0.3, 0.6, -1.0, 0.3, 1.0])
    f.save(tmp_path / "f")
    keys = f.client.keygen()
    reply = compiler.Server.load(tmp_path / "f", min_security=0).run(f.client.encrypt(x, y), keys)
    found, bound = f.client.decrypt(reply, bound=True)
    assert np.abs(found - choose(x, y)).max() <= bound <= 0.2
    with pytest.raises(noren.Error, match="the smallest that is possible"):
        noren.compile(choose, number, number, dead_zone=1e-9, **options)


def test_results_of_decisions_are_decided_again_whatever_their_errors() -> None:
    def clamped(x: Any) -> Any:
        return np.minimum(np.abs(x), np.maximum(x, 0.25))

    x = np.array([-0.9])
    f = noren.compile(
        clamped, Input((1,), -1.0, 1.0), scheme="ckks-switching", precision=1.0, dead_zone=0.5, security=None
    )
    keys = f.client.keygen()
    found, bound = f.client.decrypt(f.server.run(f.client.encrypt(x), keys), bound=True)
    assert np.abs(found - clamped(x)).max() <= bound <= 1.0


def ordered(x: Any) -> Any:
    return np.sort(x, axis=0), x.argmax(axis=1), x[:, 0].argmin(), np.argmax(x, axis=0, keepdims=True)


def test_elements_are_sorted_and_the_largest_are_found_by_switching() -> None:
    x = np.array([[0.9, -0.2, 0.3], [-0.6, 0.5, 0.0], [0.4, -1.0, 1.0]])
    f = noren.compile(
        ordered, Input((3, 3), -1.0, 1.0), scheme="ckks-switching", precision=0.75, dead_zone=0.4, security=None
    )
    keys = f.client.keygen()
    reply = f.server.run(f.client.encrypt(x), keys)
    for results in (f.client.decrypt(reply, bound=True), f.simulate(x, bound=True)):
        for (found, bound), expected in zip(results, ordered(x), strict=True):
            assert found.shape == np.shape(expected)
            assert np.abs(found - expected).max() <= bound <= 0.75


def test_vectors_are_added_where_no_level_is_left() -> None:
    steps = np.linspace(-1.0, 1.0, 8)
    f = noren.compile(
        lambda x: x * x * x + steps, Input(8, -1.0, 1.0), scheme="ckks-bootstrapping", precision=1e-2, security=None
    )
    assert f.explain().levels == 2
    x = RNG.uniform(-1, 1, 8)
    keys = f.client.keygen()
    found, bound = f.client.decrypt(f.server.run(f.client.encrypt(x), keys), bound=True)
    assert np.abs(found - (x**3 + steps)).max() <= bound <= 1e-2


def test_results_that_one_ciphertext_does_not_hold_leave_the_ring_as_small_as_the_level_allows() -> None:
    """The level needs a ring of 4096 slots; the table of 32 x 256 distances takes two ciphertexts of it."""
    points = RNG.uniform(-1, 1, (200, 12))

    def distances(x: Any) -> Any:
        return (x * x).sum(axis=1, keepdims=True) - 2 * (x @ points.T) + (points * points).sum(axis=1)

    f = noren.compile(distances, Input((32, 12), -1.0, 1.0), scheme="ckks", precision=1e-2)
    x = RNG.uniform(-1, 1, (32, 12))
    found, bound = f.simulate(x, bound=True)
    assert np.abs(found - distances(x)).max() <= bound <= 1e-2
    assert f.explain().slots == 4096


def branches(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def converts(x: Any) -> Any:
    return x * float(x[0])


def indexes(x: Any) -> Any:
    return PRICES[x]


def sorts(x: Any) -> Any:
    return np.argsort(x)


def sorts_in_place(x: Any) -> Any:
    x.sort()
    return x


def places(x: Any) -> Any:
    return x.argmax()


def rounds(x: Any) -> Any:
    return np.rint(x)


def compares(x: Any) -> Any:
    return np.where(x > 0, x, 0)


def inverts(x: Any) -> Any:
    return 1 / x


def assigns(x: Any) -> Any:
    x[0] = 1
    return x


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (branches, compiler.TraceError, ["test_compile.py:", "np.where"]),
        (converts, compiler.TraceError, ["test_compile.py:", "Python number"]),
        (indexes, compiler.TraceError, ["test_compile.py:", "noren.compiler.table"]),
        (sorts, compiler.TraceError, ["np.argsort is not traced", "reshape"]),
        (sorts_in_place, compiler.TraceError, ["test_compile.py:", "y = np.sort(x)"]),
        (places, noren.Error, ["test_compile.py:", 'scheme="ckks-switching"']),
        (rounds, compiler.TraceError, ["np.rint is not traced", "tanh"]),
        (compares, noren.Error, ["test_compile.py:", "dead_zone"]),
        (inverts, noren.Error, ["test_compile.py:", "must not reach 0"]),
        (assigns, compiler.TraceError, ["test_compile.py:", "np.concatenate"]),
    ],
)
def test_what_cannot_be_compiled_is_named_with_its_place(
    function: Callable[..., Any], error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        noren.compile(function, Input(4, -1.0, 1.0), security=None)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_ranges_are_asked_for_and_kept() -> None:
    with pytest.raises(noren.RangeError, match="has no range"):
        noren.compile(linear, np.zeros((3, 6)))
    data = RNG.uniform(-1, 1, (3, 6))
    f = noren.compile(linear, data, ranges="data", security=None)
    f.client.keygen()
    outside = data.copy()
    outside[0, 5] = 3.5
    with pytest.raises(noren.Error, match=r"element 5 is 3\.5, the declared range"):
        f.client.encrypt(outside)
    with pytest.raises(noren.EncodingError, match=r"\(3, 6\) was compiled"):
        f.client.encrypt(data.T)
    g = noren.compile(linear, data, ranges=[(-2.0, 2.0)], security=None)
    with pytest.raises(noren.WireError, match="another compiled function"):
        g.server.run(f.client.encrypt(data), g.client.keygen())


def test_budgets_that_cannot_be_met_name_the_nearest() -> None:
    with pytest.raises(noren.Error, match="the nearest that is possible is"):
        noren.compile(polynomial, Input(4, -1.0, 1.0), precision=1e-14)


def test_comparisons_of_real_numbers_have_a_dead_zone() -> None:
    f = noren.compile(compares, Input(6, -1.0, 1.0), dead_zone=0.05, precision=1e-2, security=None)
    x = np.array([-1.0, -0.4, -0.06, 0.06, 0.4, 1.0])
    values, bound = f.simulate(x, bound=True)
    assert bound <= 1e-2
    assert np.abs(values - compares(x)).max() <= bound
