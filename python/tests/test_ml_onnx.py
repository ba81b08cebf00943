"""Graphs of ONNX: operators beside those of onnxruntime, answers of encrypted rows, and what is refused."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import _onnx, ml
from noren._affine import Affine
from noren._signature import graph_of
from noren.compiler import Input, Server

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper, shape_inference  # noqa: E402

RNG = np.random.default_rng(7)
ROWS = 4


def numbers(*shape: int) -> Any:
    return RNG.normal(size=shape) / np.sqrt(max(1, int(np.prod(shape[1:]))))


def node(operator: str, inputs: str = "x", outputs: str = "y", **attributes: Any) -> Any:
    """A node; a hyphen stands for an input that is left out."""
    names = ["" if name == "-" else name for name in inputs.split()]
    own = outputs.split()
    return helper.make_node(operator, names, own, name=f"the {operator} to {own[0]}", **attributes)


def model(
    nodes: Any,
    shape: tuple[Any, ...],
    constants: dict[str, Any] | None = None,
    opset: int = 13,
    *,
    first: Any = "n",
    extents: Any = None,
    outputs: str = "y",
    types: Any = None,
    kind: int = TensorProto.FLOAT,
) -> Any:
    arrays = {name: np.asarray(value) for name, value in (constants or {}).items()}
    known = [numpy_helper.from_array(a.astype(np.float32) if a.dtype.kind == "f" else a, k) for k, a in arrays.items()]
    given = helper.make_tensor_value_info("x", kind, [first, *shape])
    found = [
        helper.make_tensor_value_info(name, (types or {}).get(name, TensorProto.FLOAT), extents)
        for name in outputs.split()
    ]
    graph = helper.make_graph(nodes if isinstance(nodes, list) else [nodes], "graph", [given], found, known)
    sets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 2)]
    return shape_inference.infer_shapes(helper.make_model(graph, opset_imports=sets, ir_version=8), data_prop=True)


def expected(proto: Any, rows: Any) -> Any:
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": rows.astype(np.float32)})


def examples(shape: tuple[int, ...], rows: int = ROWS) -> Any:
    return RNG.uniform(-1.5, 2.0, (rows, *shape))


IMAGE, SIGNAL, FLAT = (4, 7, 6), (4, 9), (6,)
W, V = numbers(6, 4, 3, 3), numbers(6, 4, 3)
OPERATORS: dict[str, tuple[Any, ...]] = {
    "Gemm": (node("Gemm", "x w b", transB=1, alpha=0.5, beta=2.0), FLAT, {"w": numbers(3, 6), "b": numbers(3)}),
    "Gemm of opset 7": (node("Gemm", "x w b"), FLAT, {"w": numbers(6, 3), "b": numbers(1, 3)}, 7),
    "Gemm without offset": (node("Gemm", "x w"), FLAT, {"w": numbers(6, 3)}, 11),
    "MatMul": (node("MatMul", "x w"), SIGNAL, {"w": numbers(9, 5)}),
    "MatMul from the left": (node("MatMul", "w x"), SIGNAL, {"w": numbers(3, 4)}),
    "Add": (node("Add", "x c"), IMAGE, {"c": numbers(4, 1, 1)}),
    "Sub from a number": (node("Sub", "c x"), SIGNAL, {"c": np.float64(2)}),
    "Mul": (node("Mul", "x c"), SIGNAL, {"c": numbers(1, 4, 1)}),
    "Mul of two": ([node("Neg", "x", "a"), node("Mul", "x a")], SIGNAL),
    "Mul of means": ([node("GlobalAveragePool", "x", "a"), node("Mul", "x a")], IMAGE),
    "Div": (node("Div", "x c"), FLAT, {"c": numbers(6) + 3}),
    "Div by rows": ([node("Exp", "x", "a"), node("Div", "c a")], FLAT, {"c": numbers(6)}),
    "Conv": (node("Conv", "x w b", pads=[1, 0, 2, 1], strides=[2, 1]), IMAGE, {"w": W, "b": numbers(6)}),
    "Conv, dilations": (node("Conv", "x w", dilations=[3, 2]), IMAGE, {"w": W}),
    "Conv, groups": (node("Conv", "x w", group=2, pads=[1, 1, 1, 1]), IMAGE, {"w": numbers(6, 2, 3, 2)}),
    "Conv of each channel": (node("Conv", "x w", group=4), IMAGE, {"w": numbers(8, 1, 3, 3)}, 7),
    "Conv, SAME_UPPER": (node("Conv", "x w", auto_pad="SAME_UPPER", strides=[2, 2]), IMAGE, {"w": numbers(5, 4, 2, 3)}),
    "Conv, SAME_LOWER": (node("Conv", "x w", auto_pad="SAME_LOWER", strides=[1, 2]), IMAGE, {"w": numbers(5, 4, 2, 2)}),
    "Conv, VALID": (node("Conv", "x w", auto_pad="VALID"), IMAGE, {"w": W}),
    "Conv of signals": (node("Conv", "x w", pads=[2, 1], strides=[2], dilations=[2]), SIGNAL, {"w": V}),
    "AveragePool": (node("AveragePool", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]), IMAGE),
    "AveragePool with padding": (
        node("AveragePool", kernel_shape=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1),
        IMAGE,
    ),
    "AveragePool of signals": (node("AveragePool", kernel_shape=[3], auto_pad="SAME_UPPER"), SIGNAL, {}, 11),
    "GlobalAveragePool": (node("GlobalAveragePool"), IMAGE),
    "MaxPool": (node("MaxPool", kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 1, 1]), IMAGE),
    "MaxPool, dilations": (node("MaxPool", kernel_shape=[2, 2], dilations=[2, 3]), IMAGE, {}, 12),
    "MaxPool of signals": (node("MaxPool", kernel_shape=[3], strides=[3]), SIGNAL, {}, 8),
    "BatchNormalization": (
        node("BatchNormalization", "x s b m v", epsilon=1e-3),
        IMAGE,
        {"s": numbers(4), "b": numbers(4), "m": numbers(4), "v": numbers(4) ** 2},
        15,
    ),
    "BatchNormalization of opset 7": (
        node("BatchNormalization", "x s b m v"),
        FLAT,
        {"s": numbers(6), "b": numbers(6), "m": numbers(6), "v": numbers(6) ** 2},
        7,
    ),
    **{
        name: (node(name), SIGNAL)
        for name in ("Relu", "Tanh", "Exp", "Abs", "Neg", "Softplus", "Elu", "HardSigmoid", "LeakyRelu", "Identity")
    },
    "HardSwish": (node("HardSwish"), FLAT, {}, 14),
    "Mish": (node("Mish"), FLAT, {}, 18),
    "Gelu": (node("Gelu", approximate="tanh"), FLAT, {}, 20),
    "Silu": ([node("Sigmoid", "x", "a"), node("Mul", "x a", "b"), node("Neg", "b")], FLAT),
    "PRelu": (node("PRelu", "x s"), IMAGE, {"s": numbers(4, 1, 1)}),
    "Sqrt and Log": (
        [node("Abs", "x", "a"), node("Sqrt", "a", "b"), node("Exp", "b", "c"), node("Log", "c")],
        FLAT,
    ),
    "Reciprocal": ([node("Exp", "x", "a"), node("Reciprocal", "a")], FLAT),
    "Clip of opset 6": (node("Clip", min=-0.5, max=1.0), FLAT, {}, 7),
    "Clip": (node("Clip", "x - c"), FLAT, {"c": np.float64(0.5)}),
    "Pow": (node("Pow", "x c"), FLAT, {"c": np.float64(3)}),
    "Max and Min": ([node("Max", "x c", "a"), node("Min", "a d")], FLAT, {"c": numbers(6), "d": np.float64(0.5)}),
    "Sum and Mean": ([node("Exp", "x", "a"), node("Sum", "x a c", "b"), node("Mean", "b a")], FLAT, {"c": numbers(6)}),
    "Concat": ([node("Exp", "x", "a"), node("Concat", "x a x", axis=1)], SIGNAL),
    "Concat of known rows": (node("Concat", "c x", axis=1), SIGNAL, {"c": numbers(1, 2, 9)}, 13, {"first": 1}),
    "Split": ([node("Split", "x s", "a b", axis=1), node("Sub", "a b")], SIGNAL, {"s": np.array([2, 2])}),
    "Split of opset 7": ([node("Split", "x", "a b", axis=2, split=[3, 6]), node("Relu", "b")], SIGNAL, {}, 7),
    "Flatten": (node("Flatten"), IMAGE),
    "Reshape": (node("Reshape", "x s"), IMAGE, {"s": np.array([0, -1, 7])}),
    "Reshape of one row": (node("Reshape", "x s"), IMAGE, {"s": np.array([1, 28, -1])}, 13, {"first": 1}),
    "Reshape by a shape": (
        [
            node("Shape", "x", "s"),
            node("Gather", "s first", "n", axis=0),
            node("Unsqueeze", "n axes", "m"),
            node("Concat", "m rest", "t", axis=0),
            node("Reshape", "x t"),
        ],
        IMAGE,
        {"first": np.array(0), "axes": np.array([0]), "rest": np.array([-1])},
        13,
        {"extents": ["n", 168]},
    ),
    "Transpose": (node("Transpose", perm=[0, 2, 3, 1]), IMAGE),
    "Unsqueeze and Squeeze": (
        [node("Unsqueeze", "x u", "a"), node("Squeeze", "a s")],
        SIGNAL,
        {"u": np.array([1, -1]), "s": np.array([1])},
    ),
    "Squeeze of opset 11": (
        [node("Unsqueeze", "x", "a", axes=[1, 4]), node("Squeeze", "a", axes=[-1])],
        SIGNAL,
        {},
        11,
    ),
    "Dropout": (node("Dropout", "x r"), FLAT, {"r": np.float64(0.5)}),
    "Dropout of opset 7": (node("Dropout", ratio=0.3), FLAT, {}, 7),
    "Constant": (
        [helper.make_node("Constant", [], ["c"], value_floats=[1.0] * 6), node("Add", "x c")],
        FLAT,
    ),
    "known nodes": (
        [node("Transpose", "w", "a"), node("Exp", "a", "b"), node("MatMul", "x b")],
        FLAT,
        {"w": numbers(3, 6)},
    ),
    "ReduceMean": (node("ReduceMean", axes=[2, 3], keepdims=0), IMAGE),
    "ReduceMean of opset 18": (node("ReduceMean", "x a"), IMAGE, {"a": np.array([-1])}, 18),
    "ReduceSum of opset 11": (node("ReduceSum", axes=[1]), IMAGE, {}, 11),
    "ReduceSum": (node("ReduceSum", "x a", keepdims=0), IMAGE, {"a": np.array([1, 2])}),
    "Slice": (
        node("Slice", "x s e a t"),
        IMAGE,
        {"s": np.array([1, -1]), "e": np.array([9, -99]), "a": np.array([2, 3]), "t": np.array([2, -2])},
    ),
    "Slice of opset 9": (node("Slice", starts=[0, 1], ends=[9, 3], axes=[1, 2]), IMAGE, {}, 9),
    "Gather": (node("Gather", "x i", axis=2), IMAGE, {"i": np.array([[0, -1], [3, 3]])}),
    "Pad": (node("Pad", "x p c"), SIGNAL, {"p": np.array([0, 1, 2, 0, 0, 1]), "c": np.float64(1.5)}),
    "Pad of opset 7": (node("Pad", pads=[0, 0, 1, 0, 0, 2], mode="reflect"), SIGNAL, {}, 7),
    "Pad of axes": (node("Pad", "x p - a"), IMAGE, {"p": np.array([1, 2]), "a": np.array([3])}, 18),
    "Cast": ([node("Cast", "x", "a", to=11), node("Cast", "a", to=1)], FLAT),
    "Expand": (
        [node("Unsqueeze", "x u", "a"), node("Expand", "a s")],
        FLAT,
        {"u": np.array([1]), "s": np.array([1, 3, 6])},
    ),
    "Softmax of opset 11": ([node("Relu", "x", "a"), node("Softmax", "a")], SIGNAL, {}, 11),
    "Softmax": ([node("Relu", "x", "a"), node("Softmax", "a", axis=1)], SIGNAL),
    "LogSoftmax": ([node("Exp", "x", "a"), node("LogSoftmax", "a", "b"), node("Flatten", "b")], SIGNAL),
    "Sigmoid": ([node("Exp", "x", "a"), node("Sigmoid", "a")], SIGNAL),
    "ArgMax": ([node("Exp", "x", "a"), node("ArgMax", "a", "b", axis=1), node("Cast", "b", to=1)], FLAT),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_those_of_onnxruntime(name: str) -> None:
    given: tuple[Any, ...] = OPERATORS[name]
    usual: list[Any] = [{}, 13, {}]
    nodes, shape, constants, opset, options = [*given, *usual[len(given) - 2 :]]
    proto = model(nodes, shape, constants, opset, **options)
    rows = examples(shape)
    # A graph of a single row is of each row.
    requests = rows[:, np.newaxis] if options.get("first") == 1 else [rows]
    wanted = np.concatenate([expected(proto, request)[0] for request in requests])
    network = _onnx.read(proto)
    found = network.predict(rows)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)
    # As it is compiled: with a matrix for what is affine.
    flat = rows.reshape(ROWS, -1)
    scaled = Affine(np.full(flat.shape[1], 2.0), np.full(flat.shape[1], 0.25))
    again = network.answers(network.folded(scaled, (flat - 0.25) / 2))
    np.testing.assert_allclose(again, found, rtol=1e-9, atol=1e-9)
    graph_of(lambda x: network.scores(scaled, x), [Input(flat.shape, -1.0, 1.0, dtype=float)], None, reals=True)


def perceptron(activation: str, last: str = "") -> Any:
    nodes = [
        node("Gemm", "x a b", "c", transB=1),
        node(activation, "c" if activation != "Mul" else "c c", "d"),
        node("Gemm", "d e f", "g" if last else "y"),
        *([node(last, "g", "y")] if last else []),
    ]
    constants = {"a": 2 * numbers(8, 6), "b": numbers(8), "e": numbers(8, 3) * 3, "f": numbers(3)}
    return model(nodes, FLAT, constants)


def convolutional(opset: int = 13) -> Any:
    nodes = [
        node("Conv", "x v b", "c", pads=[1, 1, 1, 1]),
        node("BatchNormalization", "c s b s s", "d"),
        node("Mul", "d d", "e"),
        node("AveragePool", "e", "f", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "f w", "g"),
        node("Mul", "g g", "h"),
        node("Flatten", "h", "i"),
        node("Gemm", "i u", "y"),
    ]
    constants = {"v": 2 * numbers(2, 1, 3, 3), "w": 3 * numbers(4, 2, 2, 2), "u": numbers(16, 10), "b": numbers(2)}
    return model(nodes, (1, 6, 6), {**constants, "s": np.array([0.5, 2.0])}, opset)


@pytest.mark.parametrize("name", ["tanh", "squares", "softmax"])
def test_encrypted_rows_have_the_answers_of_onnxruntime(name: str) -> None:
    protos = {"tanh": perceptron("Tanh"), "squares": convolutional(), "softmax": perceptron("Mul", "Softmax")}
    proto = protos[name]
    shape = (1, 6, 6) if name == "squares" else FLAT
    X = RNG.uniform(0, 1, (40, *shape))
    compiled = ml.compile(proto, X, rows=ROWS, security=None)
    assert compiled.methods == ("predict",)
    assert compiled.agreement.equal == 1.0 or name == "softmax"
    keys = compiled.client.keygen()
    found = compiled.client.predict(compiled.server.run(compiled.client.encrypt(X[:3]), keys), rows=3)
    (wanted,) = expected(proto, X[:3])
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < (0.02 if name == "softmax" else 1e-3) * np.abs(wanted).max()
    assert np.abs(compiled.predict(X[:6]) - expected(proto, X[:6])[0]).max() < 0.02 * np.abs(wanted).max()


def test_several_outputs_of_one_score_are_a_tuple() -> None:
    nodes = [
        node("MatMul", "x w", "a"),
        node("Softmax", "a", "p", axis=-1),
        node("ArgMax", "p", "b", axis=1),
        helper.make_node("ArrayFeatureExtractor", ["classes", "b"], ["c"], domain="ai.onnx.ml"),
        node("Reshape", "c s", "y"),
    ]
    constants = {"w": 5 * numbers(6, 3), "classes": np.array([7, 3, 5]), "s": np.array([-1])}
    proto = model(nodes, FLAT, constants, outputs="y p", types={"y": TensorProto.INT64})
    X = examples(FLAT, 20)
    compiled = ml.compile(proto, X, rows=6, security=None)
    labels, shares = compiled.predict(X)
    clear_labels, clear_shares = expected(proto, X)
    assert (labels == clear_labels).mean() >= 0.9
    assert np.abs(shares - clear_shares).max() < 0.05
    assert 0 <= compiled.agreement.largest_difference < 0.05
    with pytest.raises(noren.EncodingError, match=r"predictions of shape \(20,\), \(20, 3\)"):
        compiled.score(X, clear_labels)


def test_graphs_are_read_from_files_and_rows_are_checked(tmp_path: Path) -> None:
    proto = convolutional()
    onnx.save(proto, tmp_path / "model.onnx")
    X = RNG.uniform(0, 1, (10, 1, 6, 6))
    # A place that is always the same may be what others are.
    X[:, 0, 0, 0] = 0
    compiled = ml.compile(str(tmp_path / "model.onnx"), X, rows=2)
    keys = compiled.client.keygen()
    compiled.save(tmp_path / "model")
    compiled.client.save_secret(tmp_path / "secret")
    loaded = ml.load(tmp_path / "model", tmp_path / "model.onnx")
    assert loaded.agreement == compiled.agreement
    loaded.client.load_secret(tmp_path / "secret")
    rows = RNG.uniform(0, 1, (2, 1, 6, 6))
    found = loaded.client.predict(Server.load(tmp_path / "model").run(loaded.client.encrypt(rows), keys))
    (wanted,) = expected(proto, rows)
    assert np.abs(found - wanted).max() < 1e-3 * np.abs(wanted).max()
    for other in (convolutional(), perceptron("Tanh")):
        with pytest.raises(noren.EncodingError, match="of another model"):
            ml.load(tmp_path / "model", other)
    rows[1, 0, 2, 3] = 50
    with pytest.raises(noren.RangeError, match=r"1 of 2 rows .* row 1 first: feature \(0, 2, 3\) is 50"):
        compiled.client.encrypt(rows)
    rows[1, 0, 2, 3] = np.nan
    for wrong, words in [
        (rows, r"row 1, feature \(0, 2, 3\), is nan"),
        (rows.reshape(2, 36), r"shape \(2, 36\): an array of rows x 1 x 6 x 6 is needed"),
        (np.zeros((2, 1, 6, 5)), r"shape \(2, 1, 6, 5\): an array of rows x 1 x 6 x 6 is needed"),
    ]:
        with pytest.raises(noren.EncodingError, match=words):
            compiled.client.encrypt(wrong)


REFUSED: dict[str, tuple[Any, str]] = {
    "an operator": (lambda: model(node("Erf"), FLAT), r"node 'the Erf to y' \(Erf\): Abs, Add, .* are taken"),
    "of another domain": (
        lambda: model(
            [helper.make_node("LinearClassifier", ["x"], ["z", "y"], coefficients=[1.0] * 6, domain="ai.onnx.ml")], FLAT
        ),
        r"\(LinearClassifier\): Abs",
    ),
    "two inputs": (
        lambda: extended(model(node("Relu"), FLAT), helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", 2])),
        "the inputs x, z: one is taken",
    ),
    "a dynamic axis": (lambda: model(node("Relu"), ("time",)), r"shape \['n', 'time'\]: .* a dynamic first axis alone"),
    "several rows": (
        lambda: model(node("Relu"), FLAT, first=8),
        "of 8 rows: a dynamic first axis, or one of a single row",
    ),
    "integers": (
        lambda: model([node("Cast", "x", "a", to=1), node("Relu", "a")], FLAT, kind=TensorProto.INT64),
        "input 'x' is no tensor of floats",
    ),
    "an old opset": (lambda: model(node("Relu"), FLAT, {}, 6), "opset 6: 7 to"),
    "rows combined": (
        lambda: model(node("ReduceSum", "x a"), FLAT, {"a": np.array([0])}),
        "the ReduceSum.* combines rows",
    ),
    "rows moved": (lambda: model(node("Transpose", perm=[1, 0, 2]), SIGNAL), "the Transpose.* moves their axis"),
    "rows split": (
        lambda: model(node("Reshape", "x s"), FLAT, {"s": np.array([-1, 3])}),
        "the Reshape.* combines rows",
    ),
    "a softmax in the middle": (
        lambda: model([node("Softmax", "x", "a"), node("MatMul", "a w")], FLAT, {"w": numbers(6, 2)}),
        r"the Softmax.* is taken at the end of a graph: node 'the MatMul to y'",
    ),
    "weights that are encrypted": (
        lambda: model(
            [node("Reshape", "x s", "w"), node("Conv", "c w")],
            (3, 3, 3),
            {"s": np.array([0, 3, 3, 3]), "c": numbers(1, 3, 5, 5)},
        ),
        r"the Conv.*: input 1 is encrypted, known numbers are taken",
    ),
    "a product of matrices": (
        lambda: model([node("Transpose", "x", "a", perm=[0, 2, 1]), node("MatMul", "x a")], SIGNAL),
        "the MatMul.* of two encrypted values",
    ),
    "a comparison": (
        lambda: model([node("Equal", "x c", "a"), node("Where", "a x c")], FLAT, {"c": np.float64(0)}),
        r"the Equal.* of encrypted rows is not taken",
    ),
    "two values": (
        lambda: model([node("Tanh", "x", "y"), node("Exp", "x", "z")], FLAT, outputs="y z"),
        "the outputs y, z follow from the values y, z: one is decrypted",
    ),
    "a softmax alone": (lambda: model(node("Softmax"), FLAT), "computes nothing of encrypted rows"),
    "an output that is known": (
        lambda: model([node("Exp", "c", "y"), node("Exp", "x", "z")], FLAT, {"c": numbers(3)}, outputs="z y"),
        "the output 'y' does not depend on the input",
    ),
    "an exact Gelu": (lambda: model(node("Gelu"), FLAT, {}, 20), "the Gelu.*: approximate='none': approximate='tanh'"),
    "a rest of windows": (
        lambda: model(node("MaxPool", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), IMAGE, {}, 12),
        "the MaxPool.*: ceil_mode=1",
    ),
    "gaps in padding": (
        lambda: model(node("MaxPool", kernel_shape=[2], dilations=[2], auto_pad="SAME_UPPER"), SIGNAL, {}, 12),
        "the MaxPool.*: auto_pad with dilations",
    ),
    "windows of too many elements": (
        lambda: model(node("AveragePool", kernel_shape=[10]), SIGNAL),
        r"the AveragePool.*: windows of \(10,\) elements in \(9,\)",
    ),
    "an index of the largest": (
        lambda: model(
            [node("MaxPool", "x", "a i", kernel_shape=[2]), node("Cast", "i", "j", to=1), node("Add", "a j")], SIGNAL
        ),
        "the MaxPool.*: the output 'i' is not taken",
    ),
    "a logarithm of what may be 0": (
        lambda: model([node("Abs", "x", "a"), node("Log", "a")], FLAT),
        r"^node 'the Log to y' \(Log\): log of numbers in \[0, .*: arguments must be above 0",
    ),
    "rows of another shape": (lambda: model(node("Relu"), (7,)), r"rows of shape \(2, 6\): an array of rows x 7"),
    "a file of another kind": (lambda: __file__, "no graph of ONNX"),
}


def extended(proto: Any, given: Any) -> Any:
    proto.graph.input.append(given)
    return proto


@pytest.mark.parametrize("name", REFUSED)
def test_graphs_that_are_not_taken_are_refused_before_anything_else(name: str) -> None:
    make, words = REFUSED[name]
    # What follows from ranges is an error of any function.
    kind = noren.Error if name.startswith("a logarithm") else noren.EncodingError
    with pytest.raises(kind, match=words):
        ml.compile(make(), np.linspace(-1, 1, 12).reshape(2, 6))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "onnx.py").write_text("raise ModuleNotFoundError('none')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom noren import ml; ml.compile('model.onnx', [[1.0]])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "EncodingError" in done.stderr
    assert "pip install onnx" in done.stderr
