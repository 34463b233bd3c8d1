"""Write ONNX: a graph from features to scores, both float64."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.features.scaling.scalings import QueryScaling
from structsvm.foundation.extras import needed
from structsvm.foundation.types import IntVector, Vector
from structsvm.models import LinearModel, TrainedModel
from structsvm.models.export.base import Format
from structsvm.models.leaves import ZERO, LeafModel, Trees
from structsvm.models.network import NetworkModel, layers

_OPSET = 18
_ML_OPSET = 3
_IR_VERSION = 9
"""Versions of 2023, which onnxruntime reads from 1.15 on."""

_ML = "ai.onnx.ml"


class ONNXGraph(Format):
    """A graph from ``features``, shape (rows, d), of one query if normalized by query, to ``scores``, shape (rows,)."""

    by_query = True
    fills = True
    named = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        graph, X = _Nodes(), "features"
        if model.fill is not None:
            X = graph.instead(X, graph.add("IsNaN", X), model.fill)
        graph.weighed(X, model, out="scores")
        graph.write(path, model)

    def write_trees(self, model: LeafModel, path: Path, model_name: str) -> None:
        """Write the graph; features of trees may be NaN."""
        graph, linear = _Nodes(), model.linear
        values = graph.add("Gather", graph.constant(model.values), graph.leaves("features", model))
        last = graph.constant(np.array([1]))
        scores = graph.add("ReduceSum", values, last, keepdims=0, out="scores" if linear is None else None)
        if linear is not None:
            filled = graph.instead("features", graph.add("IsNaN", "features"), 0.0)
            graph.add("Add", scores, graph.weighed(filled, linear), out="scores")
        graph.write(path, model)

    def write_network(self, model: NetworkModel, path: Path, model_name: str) -> None:
        graph = _Nodes()
        units, biases, outputs = layers(model.weights, model.n_features, model.hidden)
        centered = graph.add("Sub", "features", graph.constant(model.scaling.mean))
        z = graph.add("Div", centered, graph.constant(model.scaling.deviation))
        weighed = graph.add("MatMul", z, graph.constant(units.T))
        hidden = graph.add("Tanh", graph.add("Add", weighed, graph.constant(biases)))
        graph.add("MatMul", hidden, graph.constant(outputs), out="scores")
        graph.write(path, model)


class _Nodes:
    """The nodes and constants of a graph, named by their numbers."""

    def __init__(self) -> None:
        with needed("export to ONNX needs onnx", "onnx"):
            from onnx import helper
        self._helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, array: Any) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, operator: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Add an operator and return the name of its output."""
        name = f"value{len(self.nodes)}" if out is None else out
        self.nodes.append(self._helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def write(self, path: Path, model: TrainedModel) -> None:
        """Write the graph from ``features`` to ``scores``, with the names of the features of the model."""
        from onnx import TensorProto, checker

        helper, double = self._helper, TensorProto.DOUBLE
        graph = helper.make_graph(
            self.nodes,
            "structsvm",
            [helper.make_tensor_value_info("features", double, ["rows", model.n_features])],
            [helper.make_tensor_value_info("scores", double, ["rows"])],
            self.constants,
        )
        domains = {"": _OPSET, **({_ML: _ML_OPSET} if any(node.domain for node in self.nodes) else {})}
        proto = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(domain, version) for domain, version in domains.items()],
            ir_version=_IR_VERSION,
            producer_name="structsvm",
        )
        if model.feature_names is not None:
            helper.set_model_props(proto, {"feature_names": "\n".join(model.feature_names)})
        checker.check_model(proto)
        path.write_bytes(proto.SerializeToString(deterministic=True))

    def weighed(self, X: str, model: LinearModel, out: str | None = None) -> str:
        """Add a weighted sum of features, and return its name."""
        rows = self.scaled(X, model.scaling) if isinstance(model.scaling, QueryScaling) else X
        product = self.add("MatMul", rows, self.constant(model.coef))
        return self.add("Add", product, self.constant(np.array(model.intercept)), out=out)

    def leaves(self, X: str, model: LeafModel) -> str:
        """Add the search of leaves, and return the name of their numbers, shape (rows, trees).

        The operator has outputs of float32, so they are numbers of leaves within their trees instead of values.
        """
        from onnx import TensorProto, numpy_helper

        trees = model.trees.double
        feature, apart = trees.feature, trees.zeros_apart
        if apart.any():
            small = self.add("LessOrEqual", self.add("Abs", X), self.constant(np.array(ZERO)))
            X = self.add("Concat", X, self.instead(X, small, np.nan), axis=1)
            feature = feature + model.n_features * apart
        splits = np.diff(trees.splits)
        numbers = np.arange(len(splits))
        nodes = _Columns(trees)
        leaf = self.add(
            "TreeEnsembleRegressor",
            X,
            domain=_ML,
            n_targets=len(splits),
            nodes_treeids=np.repeat(numbers, 2 * splits + 1).tolist(),
            nodes_nodeids=nodes.number.tolist(),
            nodes_modes=np.where(nodes.inner, "BRANCH_LEQ", "LEAF").tolist(),
            nodes_featureids=nodes.of(feature).tolist(),
            nodes_values_as_tensor=numpy_helper.from_array(nodes.of(trees.threshold)),
            nodes_truenodeids=nodes.of(nodes.child(trees.left)).tolist(),
            nodes_falsenodeids=nodes.of(nodes.child(trees.right)).tolist(),
            nodes_missing_value_tracks_true=nodes.of(trees.missing_left.astype(np.int64)).tolist(),
            target_treeids=np.repeat(numbers, splits + 1).tolist(),
            target_nodeids=nodes.number[~nodes.inner].tolist(),
            target_ids=np.repeat(numbers, splits + 1).tolist(),
            target_weights_as_tensor=numpy_helper.from_array(nodes.leaf.astype(np.float64)),
        )
        within = self.add("Cast", leaf, to=TensorProto.INT64)
        return self.add("Add", within, self.constant(trees.offsets[:-1]))

    def instead(self, X: str, where: str, value: float | Vector) -> str:
        """Add a constant that replaces some values, and return the name of the result."""
        return self.add("Where", where, self.constant(np.array(value)), X)

    def scaled(self, X: str, scaling: QueryScaling) -> str:
        """Add a scaling of the rows of one query, with the arithmetic of `structsvm.features.scaling.scalings`."""
        axis, half, one = self.constant(np.array([0])), self.constant(np.array(0.5)), self.constant(np.array(1.0))
        halves = self.add("Mul", X, half)
        low = self.add("ReduceMin", halves, axis)
        spread = self._unless_zero(self.add("Sub", self.add("ReduceMax", halves, axis), low), half)
        unit = self.add("Div", self.add("Sub", halves, low), spread)
        if scaling.name == "query-min-max":
            return unit if scaling.centered else self.add("Div", halves, spread)
        off = self.add("Sub", unit, self.add("ReduceMean", unit, axis))
        squares = self.add("ReduceMean", self.add("Mul", off, off), axis)
        deviation = self._unless_zero(self.add("Sqrt", squares), one)
        if scaling.centered:
            return self.add("Div", off, deviation)
        return self.add("Div", halves, self.add("Mul", spread, deviation))

    def _unless_zero(self, divisor: str, other: str) -> str:
        above = self.add("Greater", divisor, self.constant(np.array(0.0)))
        return self.add("Where", above, divisor, other)


class _Columns:
    """Nodes of trees in ONNX's order: of each tree first its splits, then its leaves, numbered from 0."""

    def __init__(self, trees: Trees) -> None:
        splits = np.diff(trees.splits)
        self.number = np.concatenate([np.arange(2 * count + 1) for count in splits.tolist()])
        self.inner = self.number < np.repeat(splits, 2 * splits + 1)
        self.leaf = np.concatenate([np.arange(count + 1) for count in splits.tolist()])
        """Number of each leaf within its tree."""
        self._tree = trees.tree_of_split()
        self._first, self._splits = trees.splits[self._tree], splits[self._tree]

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of splits, with 0 for leaves."""
        out = np.zeros(len(self.number), values.dtype)
        out[self.inner] = values
        return out

    def child(self, child: IntVector) -> IntVector:
        """Return the number of a child of each split within its tree."""
        return np.where(child >= 0, child - self._first, self._splits - 1 - child)
