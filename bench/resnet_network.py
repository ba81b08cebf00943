"""ResNet-20 as a graph of ONNX: a batch normalisation behind each sum, and squares as activation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

STAGES = ((16, 1), (32, 2), (64, 2))
"""Channels, and the stride of the first convolution."""
BLOCKS = 3
SHIFT, FACTOR, MEAN, EPSILON = 2.0, 0.125, 0.25, 1e-3
"""The activation is ``FACTOR * (y + SHIFT)**2 - MEAN``: y^2 / 8 + y / 2 + 1 / 4, near max(y, 0) within [-3, 3]."""


def network(weights: Mapping[str, Any]) -> Any:
    """Return the graph with the arrays that `train.py` writes."""
    graph = _Graph(weights)
    rows = graph.layer(graph.convolution("image", "w0"), "b0")
    for stage, (_, stride) in enumerate(STAGES):
        for block in range(BLOCKS):
            key, step = f"{stage}{block}", stride if block == 0 else 1
            inner = graph.layer(graph.convolution(rows, f"w{key}a", step), f"b{key}a")
            kept = graph.convolution(rows, f"s{key}", step) if f"s{key}" in weights else rows
            total = graph.node("Add", graph.convolution(inner, f"w{key}b"), kept, name=f"sum{key}")
            rows = graph.layer(total, f"b{key}b")
    means = graph.node("Flatten", graph.node("GlobalAveragePool", rows, name="pool"), name="means")
    graph.node("Gemm", means, graph.constant("fc", weights["fc"]), graph.constant("fb", weights["fb"]), name="scores")
    graph.node("Softmax", "scores", name="shares")
    given = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 32, 32])
    found = helper.make_tensor_value_info("shares", TensorProto.FLOAT, ["n", len(weights["fb"])])
    made = helper.make_graph(graph.nodes, "resnet20", [given], [found], graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class _Graph:
    def __init__(self, weights: Mapping[str, Any]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, values: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=np.float32), name))
        return name

    def node(self, operator: str, *inputs: str, name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def convolution(self, of: str, name: str, stride: int = 1) -> str:
        kernel = self.weights[name].transpose(3, 2, 0, 1)
        options = {"strides": [stride] * 2, "pads": [kernel.shape[2] // 2] * 4}
        return self.node("Conv", of, self.constant(name, kernel), name=f"of_{name}", **options)

    def layer(self, of: str, name: str) -> str:
        known = [self.constant(name + part, self.weights[name + part]) for part in "gsmv"]
        same = self.node("BatchNormalization", of, *known, name=f"normal_{name}", epsilon=EPSILON)
        moved = self.node("Add", same, self.constant(f"{name}_shift", SHIFT), name=f"moved_{name}")
        root = self.node("Mul", moved, self.constant(f"{name}_root", np.sqrt(FACTOR)), name=f"root_{name}")
        square = self.node("Mul", root, root, name=f"square_{name}")
        return self.node("Sub", square, self.constant(f"{name}_mean", MEAN), name=f"active_{name}")
