"""Operators: linear maps from weights to scores, which store the features.

To add an operator, derive from `Operator`; `register_view` makes it readable for compiled loops. To add a kind of
matrix for `Rows`, derive from `MatrixKind` and register it with `register_matrix`.
"""

# This import registers the views of composed operators, which must happen before loops are compiled.
import structsvm.features.operators.composed  # noqa: F401
from structsvm.features.operators.base import Operator
from structsvm.features.operators.binned import Binned, BinnedMatrix
from structsvm.features.operators.dense import Dense
from structsvm.features.operators.leaves import LeafMatrix, Leaves
from structsvm.features.operators.matrix import MatrixKind, readable, register_matrix
from structsvm.features.operators.rows import Rows
from structsvm.features.operators.sparse import Sparse
from structsvm.features.operators.views import (
    example_add,
    example_gram,
    example_product,
    example_scores,
    register_view,
)

__all__ = [
    "BinnedMatrix",
    "LeafMatrix",
    "MatrixKind",
    "Operator",
    "Rows",
    "example_add",
    "example_gram",
    "example_product",
    "example_scores",
    "readable",
    "register_matrix",
    "register_view",
]

# Kinds are tried from the last to the first; Dense accepts anything that NumPy can convert, so it is tried last.
for _kind in (Dense(), Sparse(), Binned(), Leaves()):
    register_matrix(_kind)
