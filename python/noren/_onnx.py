"""Graphs of ONNX: they are read, checked before anything else, and run on rows in clear and on encrypted rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from noren._affine import Affine
from noren._answers import Array
from noren._grid import Grid
from noren._noren import EncodingError, Error
from noren._onnx_operators import FLOATS, OPERATORS, Node
from noren._onnx_values import Folded, Structure
from noren._trace import named

OLDEST, NEWEST = 7, 28
"""Versions of the operators: earlier ones broadcast by other rules, and later ones are not known."""
_CHOICES = frozenset(("ArgMax", "ArgMin", "LogSoftmax", "Softmax"))
_LAST = _CHOICES | {"Sigmoid"}
_AFTER = _LAST.union(
    ("Add", "ArrayFeatureExtractor", "Cast", "Concat", "Dropout", "Flatten", "Gather", "Identity", "Mul", "Reshape"),
    ("Slice", "Squeeze", "Sub", "Transpose", "Unsqueeze", "ZipMap"),
)
"""What the owner does after decryption, from the first function of `_LAST` on."""
_MOST_NAMED = 5
_ROWS = 5
"""Rows that a graph is checked with, together and one alone."""


@dataclass(frozen=True)
class Network:
    """A graph: what is computed of encrypted rows, and what their owner makes of the scores."""

    row_shape: tuple[int, ...]
    """The shape of a row."""
    input: str
    outputs: tuple[str, ...]
    score: str
    """The value that is decrypted."""
    body: tuple[Node, ...]
    """The nodes before it."""
    tail: tuple[Node, ...]
    """The nodes behind it, which are done in clear."""
    constants: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    """The shapes of values of a row, where nodes of the tail ask for them."""
    score_shape: tuple[int, ...] = ()
    """The shape of the scores of a row."""

    @property
    def chooses(self) -> bool:
        """Whether answers follow from which score is the largest."""
        return any(node.operator in _LAST for node in self.tail)

    def scores(self, before: Affine, rows: Any) -> Any:
        """Return the scores of rows, in clear or encrypted, whose images under a map are what the graph is of."""
        if isinstance(rows, np.ndarray):
            images = before.of(rows).reshape(len(rows), *self.row_shape)
            return self._run(self.body, {self.input: images})[self.score].reshape(len(rows), -1)
        return self.folded(before, rows)

    def folded(self, before: Affine, rows: Any) -> Any:
        """Return the scores of rows, with a matrix for all that is affine between two functions that are not."""
        grid = Grid.compact(self.row_shape)
        padded = Grid.padded(self.row_shape)
        if not grid.space and padded is not None:
            # The owner of the rows brings them there.
            places = padded.placed(np.arange(1.0, grid.size + 1)).astype(np.int64) - 1
            if isinstance(rows, np.ndarray):
                rows = np.where(places < 0, 0.0, rows[:, places])
            else:
                first = grid.size * np.arange(len(rows))[:, np.newaxis]
                rows = rows.gather(np.where(places < 0, -1, first + places))
            grid = padded

        def images(each: Array) -> Array:
            return np.asarray(before.of(each[:, grid.addresses])).reshape(len(each), *self.row_shape)

        def linear() -> Structure | None:
            positions = grid.addresses
            return (positions, before.scale) if before.scale.ndim == 1 else None

        given = Folded(rows, images, self.row_shape, grid, linear)
        result = self._run(self.body, {self.input: given})[self.score]
        with named(str(self.body[-1])):
            return result.dense

    def answers(self, scores: Array) -> Any:
        """Return the output of the graph from the scores of rows; a tuple of several."""
        count = len(scores)
        values = {name: np.broadcast_to(0.0, (count, *shape)) for name, shape in self.shapes.items()}
        found = self._run(self.tail, {**values, self.score: scores.reshape(count, *self.score_shape)})
        answers = tuple(found[name] for name in self.outputs)
        return answers[0] if len(answers) == 1 else answers

    def predict(self, rows: Any) -> Any:
        """Return the output of the graph in clear, as a runtime does."""
        array = np.asarray(rows, dtype=float).reshape(-1, prod(self.row_shape))
        return self.answers(self.scores(Affine.identity(array.shape[1]), array))

    def _run(self, nodes: Sequence[Node], values: Mapping[str, Any]) -> dict[str, Any]:
        found = {**self.constants, **values}
        for node in nodes:
            found.update(_applied(node, found))
        return found


def _applied(node: Node, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of a node by their names."""
    try:
        with named(str(node)):
            result = OPERATORS[node.operator].apply(node, *(values[name] if name else None for name in node.inputs))
    except Error:
        raise
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
        raise EncodingError(f"{node} is not taken as it is: {error}") from error
    return dict(zip(node.outputs, result if isinstance(result, tuple) else (result,), strict=False))


def read(model: Any) -> Network:
    """Read a graph from the path of a file, or from what `onnx.load` returns.

    Raises `noren.EncodingError` for what is not taken, with the node and what is taken.
    """
    try:
        import onnx
        import onnx.checker
    except ModuleNotFoundError:
        raise EncodingError("graphs of ONNX are read by the package onnx: pip install onnx") from None
    try:
        proto = onnx.load(os.fspath(model)) if isinstance(model, str | os.PathLike) else model
        onnx.checker.check_model(proto)
    except OSError:
        raise
    except Exception as error:
        raise EncodingError(f"this is no graph of ONNX that can be read: {error}") from error
    return _network(onnx, proto)


def _network(onnx: Any, proto: Any) -> Network:
    graph = proto.graph
    opset = next((own.version for own in proto.opset_import if own.domain in ("", "ai.onnx")), NEWEST)
    if not OLDEST <= opset <= NEWEST:
        raise EncodingError(f"opset {opset}: {OLDEST} to {NEWEST} are taken; onnx.version_converter gives others")
    constants = {each.name: _numbers(onnx.numpy_helper.to_array(each)) for each in graph.initializer}
    name, shape, single = _input(graph, constants)
    outputs = tuple(each.name for each in graph.output)
    nodes = _needed([_node(onnx, node, opset, single) for node in graph.node], outputs, {name})
    unknown = sorted({f"{node}" for node in nodes if node.operator not in OPERATORS})
    if unknown:
        more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
        raise EncodingError(f"{', '.join(unknown[:_MOST_NAMED])}{more}: {', '.join(OPERATORS)} are taken")
    nodes, constants, encrypted = _folded_constants(nodes, constants, name)
    tail = _tail(nodes, encrypted, outputs)
    score = _score(tail, encrypted, outputs)
    made = {output for node in tail for output in node.outputs}
    body = _needed([node for node in nodes if not made & set(node.outputs)], [score], {name})
    for node in body:
        _check(node)
    if not any(any(node.rows) and node.operator != "Shape" for node in body):
        raise EncodingError("the graph computes nothing of encrypted rows before its last functions")
    tail = _needed(nodes, outputs, encrypted - made)
    asked = {node.inputs[0] for node in tail if node.operator == "Shape"} & (encrypted - made)
    network = Network(shape, name, outputs, score, tuple(body), tuple(tail), constants, {})
    return _checked(network, asked)


def _numbers(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _node(onnx: Any, node: Any, opset: int, single: bool) -> Node:
    attributes = {}
    for each in node.attribute:
        value = onnx.helper.get_attribute_value(each)
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        elif isinstance(value, onnx.TensorProto):
            value = _numbers(onnx.numpy_helper.to_array(value))
        attributes[each.name] = value
    known = node.domain in ("", "ai.onnx", "ai.onnx.ml")
    operator = node.op_type if known else f"{node.domain}.{node.op_type}"
    # Of several outputs those that nothing asks for have no name.
    return Node(
        operator,
        node.name or next(filter(None, node.output), ""),
        tuple(node.input),
        tuple(node.output),
        attributes,
        opset,
        single=single,
    )


def _input(graph: Any, constants: Mapping[str, Any]) -> tuple[str, tuple[int, ...], bool]:
    """Return the name of the one input, the shape of its rows, and whether the graph is one of a single row."""
    inputs = [each for each in graph.input if each.name not in constants]
    if len(inputs) != 1:
        raise EncodingError(
            f"the inputs {', '.join(each.name for each in inputs)}: one is taken, and the others as constants"
        )
    (given,) = inputs
    kind = given.type.tensor_type
    if kind.elem_type not in FLOATS:
        raise EncodingError(f"input {given.name!r} is no tensor of floats: one of float, float16 or double is taken")
    extents = [axis.dim_value if axis.HasField("dim_value") else None for axis in kind.shape.dim]
    if len(extents) < 2 or not all(extents[1:]):
        named = [axis.dim_param or axis.dim_value or "?" for axis in kind.shape.dim]
        raise EncodingError(
            f"input {given.name!r} has the shape {named}: one axis or more behind that of rows, of known extents, are "
            "taken; export the graph with a dynamic first axis alone"
        )
    if extents[0] not in (None, 1):
        raise EncodingError(
            f"input {given.name!r} is of {extents[0]} rows: a dynamic first axis, or one of a single row, is taken"
        )
    return given.name, tuple(int(extent) for extent in extents[1:] if extent), extents[0] == 1


def _needed(nodes: Sequence[Node], goals: Iterable[str], given: set[str]) -> list[Node]:
    """Return the nodes that lead to values, up to those that are given."""
    wanted, found = set(goals) - given, []
    for node in reversed(nodes):
        if wanted & set(node.outputs):
            found.append(node)
            wanted |= set(filter(None, node.inputs)) - given
    return found[::-1]


def _folded_constants(
    nodes: Sequence[Node], constants: Mapping[str, Any], name: str
) -> tuple[list[Node], dict[str, Any], set[str]]:
    """Compute what does not depend on the input; return the other nodes, and the values that follow from rows."""
    known, rows, left = dict(constants), {name}, []
    for node in nodes:
        if all(each in known or not each for each in node.inputs):
            known.update(_applied(replace(node, rows=(False,) * len(node.inputs)), known))
            continue
        marked = replace(node, rows=tuple(each in rows for each in node.inputs))
        left.append(marked)
        # A shape is known.
        if any(marked.rows) and node.operator != "Shape":
            rows |= set(filter(None, node.outputs))
    return left, known, rows


def _descendants(nodes: Sequence[Node], first: Sequence[Node]) -> list[Node]:
    made = {output for node in first for output in node.outputs}
    found = []
    for node in nodes:
        if node in first or made & set(node.inputs):
            found.append(node)
            made |= set(node.outputs)
    return found


def _tail(nodes: Sequence[Node], rows: set[str], outputs: Sequence[str]) -> list[Node]:
    """Return the nodes from the first softmax or the like on, which follow from one value."""
    starts = [node for node in nodes if node.operator in _CHOICES and any(node.rows)]
    for start in starts:
        for node in _descendants(nodes, [start]):
            if node.operator not in _AFTER:
                raise EncodingError(f"{start} is taken at the end of a graph: {node} follows it")
    possible = [node for node in nodes if node.operator == "Sigmoid" and any(node.rows)]
    last = [node for node in possible if all(each.operator in _AFTER for each in _descendants(nodes, [node]))]
    both = _descendants(nodes, starts + last)
    return both if len(_frontier(both, rows, outputs)) == 1 else _descendants(nodes, starts)


def _frontier(tail: Sequence[Node], rows: set[str], outputs: Sequence[str]) -> set[str]:
    """Return the values of rows that nodes of the tail, and outputs, are of."""
    made = {output for node in tail for output in node.outputs}
    asked = {name for node in tail for name, own in zip(node.inputs, node.rows, strict=True) if own}
    return ((asked | set(outputs)) & rows) - made


def _score(tail: Sequence[Node], rows: set[str], outputs: Sequence[str]) -> str:
    known = [name for name in outputs if name not in rows]
    if known:
        raise EncodingError(f"the output {known[0]!r} does not depend on the input")
    found = sorted(_frontier(tail, rows, outputs))
    if len(found) != 1:
        raise EncodingError(
            f"the outputs {', '.join(outputs)} follow from the values {', '.join(found)}: one is decrypted, of which "
            "softmax, argmax and the like are taken; cut the graph, such as by onnx.utils.Extractor"
        )
    return found[0]


def _check(node: Node) -> None:
    """Refuse what operators do not take of encrypted rows."""
    operator = OPERATORS[node.operator]
    own = [place for place, rows in enumerate(node.rows) if rows]
    places = range(len(node.rows)) if operator.places is None else operator.places
    wrong = [place for place in own if place not in places]
    if wrong:
        raise EncodingError(
            f"{node}: input {wrong[0]} is encrypted, known numbers are taken there"
            if places
            else f"{node} of encrypted rows is not taken"
        )
    if len([place for place in own if place in operator.apart]) > 1:
        raise EncodingError(f"{node} of two encrypted values: one of them must be known")
    if own and node.operator == "Cast" and node.attributes["to"] not in FLOATS:
        raise EncodingError(f"{node} of encrypted rows to no floats: float, float16 and double are taken")


def _checked(network: Network, asked: set[str]) -> Network:
    """Return a graph with shapes, in which each row has results of its own: those of several, and of one alone."""
    rows = np.random.default_rng(0).uniform(0.25, 1.0, (_ROWS, *network.row_shape))
    used = {*network.outputs, network.score, *(name for node in (*network.body, *network.tail) for name in node.inputs)}
    several, one = ({**network.constants, network.input: own} for own in (rows, rows[:1]))
    with np.errstate(all="ignore"):
        for node in network.body:
            for values in (several, one):
                values.update(_applied(node, values))
            if any(node.rows) and node.operator != "Shape":
                for name in used & set(node.outputs):
                    if name not in several:
                        raise EncodingError(f"{node}: the output {name!r} is not taken")
                    if not _by_rows(several[name], one[name]):
                        raise EncodingError(
                            f"{node} combines rows, or moves their axis: the first axis is that of rows"
                        )
        shapes = {name: several[name].shape[1:] for name in asked}
        complete = replace(network, shapes=shapes, score_shape=several[network.score].shape[1:])
        answers = [
            complete.answers(values[network.score].reshape(len(own), -1))
            for values, own in ((several, rows), (one, rows[:1]))
        ]
    for name, first, second in zip(
        network.outputs, *(a if isinstance(a, tuple) else (a,) for a in answers), strict=True
    ):
        if not _by_rows(first, second):
            raise EncodingError(f"the output {name!r} has not one result for each row: the first axis is that of rows")
    return complete


def _by_rows(several: Any, one: Any) -> bool:
    """Return whether results of several rows, and of the first alone, are equal there."""
    if np.ndim(several) == 0 or several.shape[1:] != one.shape[1:] or (len(several), len(one)) != (_ROWS, 1):
        return False
    if several.dtype.kind != "f":
        return bool((several[:1] == one).all())
    return bool(np.allclose(several[:1], one, rtol=1e-6, atol=1e-9, equal_nan=True))
