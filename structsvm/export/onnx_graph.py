"""ONNX: a graph from features to scores, both float64."""

from pathlib import Path
from typing import Any

import numpy as np

from structsvm.exceptions import NotInstalledError
from structsvm.export.base import Form, Format
from structsvm.normalisation import EPSILON, ByQuery, QueryUnit

_OPSET = 18
_IR_VERSION = 9
"""Those of 2023, which onnxruntime reads from 1.15 on."""


class ONNXGraph(Format):
    """A graph with the input ``features``, shape (rows, d), and the output ``scores``, shape (rows,).

    Where features are normalised by query, the rows of an input are those of one query.
    """

    by_query = True

    def write(self, form: Form, path: Path, model_name: str) -> None:
        """See `Format.write`."""
        try:
            from onnx import TensorProto, checker, helper
        except ImportError as error:
            raise NotInstalledError("export to ONNX needs onnx: pip install 'structural-svm[onnx]'.") from error
        graph = _Nodes(helper)
        rows = "features" if form.by_query is None else graph.normalised("features", form.by_query)
        product = graph.add("MatMul", rows, graph.constant(form.weights))
        graph.add("Add", product, graph.constant(np.array(form.constant)), out="scores")
        double = TensorProto.DOUBLE
        made = helper.make_graph(
            graph.nodes,
            "structsvm",
            [helper.make_tensor_value_info("features", double, ["rows", len(form.weights)])],
            [helper.make_tensor_value_info("scores", double, ["rows"])],
            graph.constants,
        )
        model = helper.make_model(
            made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="structsvm"
        )
        if form.names is not None:
            helper.set_model_props(model, {"feature_names": "\n".join(form.names)})
        checker.check_model(model)
        path.write_bytes(model.SerializeToString(deterministic=True))


class _Nodes:
    """The nodes and constants of a graph, each named by its number.

    Parameters
    ----------
    helper : of the package onnx.
    """

    def __init__(self, helper: Any) -> None:
        self._helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, array: Any) -> str:
        """Add numbers, and return what they are called."""
        from onnx import numpy_helper

        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, operator: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Add an operator, and return what its output is called."""
        name = f"value{len(self.nodes)}" if out is None else out
        self.nodes.append(self._helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def normalised(self, X: str, by_query: ByQuery) -> str:
        """Add a normalisation of the rows of one query; see `ByQuery`."""
        axis, one = self.constant(np.array([0])), self.constant(np.array(1.0))
        if isinstance(by_query, QueryUnit):
            shift = self.add("ReduceMin", X, axis)
            divisor = self.add("Sub", self.add("ReduceMax", X, axis), shift)
            least = self.constant(np.array(0.0))
        else:
            shift = self.add("ReduceMean", X, axis)
            off = self.add("Sub", X, shift)
            divisor = self.add("Sqrt", self.add("ReduceMean", self.add("Mul", off, off), axis))
            rows = self.add("Cast", self.add("Shape", X, start=0, end=1), to=self._double)
            rounding = self.add("Mul", rows, self.constant(np.array(EPSILON)))
            least = self.add("Mul", rounding, self.add("Abs", shift))
        divisor = self.add("Where", self.add("Greater", divisor, least), divisor, one)
        return self.add("Div", self.add("Sub", X, shift) if by_query.centred else X, divisor)

    @property
    def _double(self) -> int:
        from onnx import TensorProto

        return int(TensorProto.DOUBLE)
