"""ONNX: a graph from features to scores, both float64."""

from pathlib import Path
from typing import Any

import numpy as np

from structsvm.features.scaling.scalings import QueryScaling
from structsvm.foundation.extras import needed
from structsvm.models import LinearModel
from structsvm.models.export.base import Format

_OPSET = 18
_IR_VERSION = 9
"""Versions of 2023, which onnxruntime reads from 1.15 on."""


class ONNXGraph(Format):
    """A graph from ``features``, shape (rows, d), of one query if normalised by query, to ``scores``, shape (rows,)."""

    by_query = True

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        with needed("export to ONNX needs onnx", "onnx"):
            from onnx import TensorProto, checker, helper
        graph = _Nodes(helper)
        rows = graph.scaled("features", model.scaling) if isinstance(model.scaling, QueryScaling) else "features"
        product = graph.add("MatMul", rows, graph.constant(model.coef))
        graph.add("Add", product, graph.constant(np.array(model.intercept)), out="scores")
        double = TensorProto.DOUBLE
        made = helper.make_graph(
            graph.nodes,
            "structsvm",
            [helper.make_tensor_value_info("features", double, ["rows", len(model.coef)])],
            [helper.make_tensor_value_info("scores", double, ["rows"])],
            graph.constants,
        )
        proto = helper.make_model(
            made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="structsvm"
        )
        if model.feature_names is not None:
            helper.set_model_props(proto, {"feature_names": "\n".join(model.feature_names)})
        checker.check_model(proto)
        path.write_bytes(proto.SerializeToString(deterministic=True))


class _Nodes:
    """The nodes and constants of a graph, named by their numbers; ``helper`` is the module ``onnx.helper``."""

    def __init__(self, helper: Any) -> None:
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

    def scaled(self, X: str, scaling: QueryScaling) -> str:
        """Add a scaling of the rows of one query, with the arithmetic of `structsvm.features.scaling.by_query`."""
        axis, half, one = self.constant(np.array([0])), self.constant(np.array(0.5)), self.constant(np.array(1.0))
        halves = self.add("Mul", X, half)
        low = self.add("ReduceMin", halves, axis)
        spread = self._unless_zero(self.add("Sub", self.add("ReduceMax", halves, axis), low), half)
        unit = self.add("Div", self.add("Sub", halves, low), spread)
        if scaling.name == "query-min-max":
            return unit if scaling.centred else self.add("Div", halves, spread)
        off = self.add("Sub", unit, self.add("ReduceMean", unit, axis))
        squares = self.add("ReduceMean", self.add("Mul", off, off), axis)
        deviation = self._unless_zero(self.add("Sqrt", squares), one)
        if scaling.centred:
            return self.add("Div", off, deviation)
        return self.add("Div", halves, self.add("Mul", spread, deviation))

    def _unless_zero(self, divisor: str, other: str) -> str:
        above = self.add("Greater", divisor, self.constant(np.array(0.0)))
        return self.add("Where", above, divisor, other)
