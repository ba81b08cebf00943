"""Convolutions on encrypted rows: their matrices by blocks, the places of images in slots, and small networks."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse  # type: ignore[import-untyped]

import noren
from noren import _onnx_operators, ml
from noren._blocks import Blocks, monomial
from noren._grid import Grid
from noren._onnx_operators import OPERATORS, Node
from noren._onnx_values import Folded, folded
from noren.compiler import Input

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

RNG = np.random.default_rng(11)


def dense(blocks: Blocks) -> Any:
    row, column, value = blocks.entries()
    matrix = np.zeros((blocks.rows, blocks.columns))
    np.add.at(matrix, (row, column), value)
    return matrix


# Shape, weights and attributes.
CONVOLUTIONS: dict[str, tuple[Any, ...]] = {
    "padded": ((3, 8, 8), (4, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    "of stride 2": ((3, 8, 8), (8, 3, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "wider than its image": ((2, 4, 4), (3, 2, 5, 5), {"pads": [2, 2, 2, 2]}),
    "of other strides and dilations": (
        (2, 9, 7),
        (3, 2, 2, 3),
        {"pads": [1, 0, 2, 1], "strides": [2, 3], "dilations": [3, 1]},
    ),
    "in groups": ((6, 5, 6), (4, 3, 2, 2), {"group": 2}),
    "of each channel": ((4, 6, 6), (8, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
    "of one pixel": ((3, 1, 1), (2, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    "to one pixel": ((3, 4, 4), (2, 3, 4, 4), {}),
    "of signals": ((3, 16), (4, 3, 5), {"pads": [2, 2], "strides": [2]}),
    "of volumes": ((2, 4, 3, 2), (3, 2, 2, 2, 2), {"strides": [2, 1, 1]}),
    "without weights": ((2, 4, 4), (3, 2, 3, 3), {"zero": True}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_matrices_by_blocks_are_those_of_convolutions(name: str) -> None:
    shape, extents, attributes = CONVOLUTIONS[name]
    weights = RNG.normal(size=extents) * (0 if attributes.pop("zero", False) else 1)
    node = Node("Conv", "a convolution", ("x", "w"), ("y",), attributes, 13, (True, False))
    grid = Grid.padded(shape)
    assert grid is not None
    assert len(np.unique(grid.addresses)) == np.prod(shape)
    base = RNG.normal(size=(3, grid.size))
    found = OPERATORS["Conv"].apply(node, folded(base, grid), weights)
    assert isinstance(found, Folded)
    assert isinstance(found.structure, Blocks)
    expected = _onnx_operators._conv(node, base[:, grid.addresses].reshape(3, *shape), weights).reshape(3, -1)
    assert np.allclose(base @ dense(found.structure), expected)
    for own in (found.own, found.without_gaps()):
        image = found.at(own)
        assert np.allclose(image[:, own.addresses], expected)
        rest = np.setdiff1d(np.arange(own.size), own.addresses)
        assert not image[:, rest].any()


def test_channels_fill_the_gaps_that_strides_leave() -> None:
    grid = Grid.on((4, 2, 2), (4, 4))
    assert grid is not None
    assert grid.size == 16
    image = np.empty(16, dtype=int)
    image[grid.addresses] = np.arange(16)
    assert image.reshape(4, 4).tolist() == [[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]
    assert Grid.on((4, 2, 2), (4,)) is None
    assert Grid.on((1, 8), (4,)) is None


def test_blocks_are_composed_scaled_and_moved() -> None:
    first = Blocks(6, 4, (((2, 2, 1),), ()), np.array([[0, 1, 2], [0, 0, 0], [1, 5, 3]]), np.array([2.0, -1.0, 3.0]))
    second = monomial(np.array([3, -1, 0, 0, 2]), np.array([1.0, 2.0, 3.0, 0.0, -1.0]), 4)
    assert first.count == 5
    assert np.allclose(dense(first.then(second)), dense(first) @ dense(second))
    by = np.arange(1.0, 7.0)
    assert np.allclose(dense(first.scaled(0, by)), by[:, np.newaxis] * dense(first))
    assert np.allclose(dense(first.scaled(1, by[:4])), dense(first) * by[:4])
    places = np.array([4, 0, 2, 5, 1, 3])
    moved = np.zeros((6, 4))
    moved[places] = dense(first)
    assert np.allclose(dense(first.moved((6, places), None)), moved)
    assert np.allclose(dense(first.plus(first)), 2 * dense(first))
    assert first.diagonals(4) == len({(c - r) % 4 for r, c in zip(*np.nonzero(dense(first)), strict=True)})


def network(channels: int, side: int, zero: bool = False) -> Any:
    """A stride, a residual block with batch normalisation, a pool and a dense layer."""
    arrays = {
        "a": RNG.normal(size=(2 * channels, channels, 3, 3)) / 4,
        "b": RNG.normal(size=(2 * channels, 2 * channels, 3, 3)) / 6 * (0 if zero else 1),
        "c": RNG.normal(size=2 * channels) / 4,
        "scale": RNG.uniform(0.5, 1.5, 2 * channels),
        "shift": RNG.normal(size=2 * channels) / 4,
        "mean": RNG.normal(size=2 * channels) / 4,
        "variance": RNG.uniform(0.5, 1.5, 2 * channels),
        "w": RNG.normal(size=(2 * channels * (-(-side // 2) // 2) ** 2, 3)) / 4,
    }
    text = f"""<ir_version: 8, opset_import: ["": 17]>
        network (float[n, {channels}, {side}, {side}] x) => (float[n, 3] y) {{
            first = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, a)
            squares = Mul (first, first)
            second = Conv <pads = [1, 1, 1, 1]> (squares, b, c)
            sums = Add (second, squares)
            same = BatchNormalization (sums, scale, shift, mean, variance)
            powers = Mul (same, same)
            means = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (powers)
            row = Flatten (means)
            y = MatMul (row, w)
        }}"""
    proto = onnx.parser.parse_model(text)
    known = [numpy_helper.from_array(value.astype(np.float32), key) for key, value in arrays.items()]
    proto.graph.initializer.extend(known)
    return proto


@pytest.mark.parametrize(("channels", "side", "rows", "zero"), [(3, 8, 1, False), (2, 7, 3, False), (1, 4, 2, True)])
def test_encrypted_images_have_the_answers_of_onnxruntime(channels: int, side: int, rows: int, zero: bool) -> None:
    proto = network(channels, side, zero)
    images = RNG.uniform(-1, 1, (8, channels, side, side))
    model = ml.compile(proto, images, rows=rows, security=None, precision=2**-8)
    keys = model.client.keygen()
    reply = model.server.run(model.client.encrypt(images[:rows]), keys)
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": images[:rows].astype(np.float32)})
    found = model.client.predict(reply)
    assert np.abs(found - expected).max() <= 2**-7 * np.abs(expected).max()
    assert "sparse matmul" in str(model.explain())


def test_a_large_convolution_takes_the_diagonals_of_its_kernel() -> None:
    # As one matrix of all entries it has 2^26 of them.
    weights = RNG.normal(size=(8, 8, 3, 3)).astype(np.float32) / 9
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    given, found = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 8, 32, 32]) for name in "xy")
    graph = helper.make_graph([node], "graph", [given], [found], [numpy_helper.from_array(weights, "w")])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = ml.compile(proto, RNG.uniform(-1, 1, (2, 8, 32, 32)), rows=1, scheme="ckks", precision=2**-4)
    step = next(step for step in model.explain().steps if step["operation"] == "sparse matmul")
    # In two ciphertexts: four blocks of 36 diagonals each.
    assert step["plain_products"] == 144
    assert step["rotations"] <= 4 * 11


def _decrypted(f: Any, x: Any) -> Any:
    keys = f.client.keygen()
    return f.client.decrypt(f.server.run(f.client.encrypt(x), keys), bound=True)


def test_rows_times_a_sparse_matrix_of_scipy() -> None:
    entries = RNG.normal(size=(40, 30)) * (RNG.uniform(size=(40, 30)) < 0.1)
    entries[:, 7] = 0
    matrix = sparse.csr_array(entries)
    x = RNG.uniform(-1, 1, (5, 40))
    f = noren.compile(lambda x: x @ matrix, Input(x.shape, -1.0, 1.0), security=None, precision=1e-4)
    values, bound = _decrypted(f, x)
    assert np.abs(values - x @ matrix).max() <= bound <= 1e-4
    row = noren.compile(lambda x: x[0] @ matrix, Input(x.shape, -1.0, 1.0), security=None, precision=1e-4)
    assert np.allclose(row(x), x[0] @ matrix)
    whole = noren.compile(lambda x: x @ (matrix > 0).astype(int), Input(x.shape, 0, 3), scheme="bgv", security=None)
    numbers = RNG.integers(0, 4, x.shape)
    assert (whole(numbers) == numbers @ (matrix > 0).astype(int)).all()


def test_functions_of_many_steps_have_no_bound_but_answers() -> None:
    def steps(x: Any) -> Any:
        for _ in range(12):
            x = (x * x) @ (np.eye(4) / 2) + 0.2
        return x

    x = np.array([[0.1, -0.7, 0.9, 0.5]])
    options: dict[str, Any] = {"ranges": [(-3.0, 3.0)], "security": None, "scheme": "ckks-bootstrapping"}
    f = noren.compile(steps, x, calibrate=0.5, bounded=False, precision=0.1, **options)
    values, bound = _decrypted(f, x)
    assert bound == np.inf
    assert np.abs(values - f.simulate(x)).max() < 0.2
    with pytest.raises(noren.EncodingError, match="calibrate="):
        noren.compile(steps, x, bounded=False, **options)
