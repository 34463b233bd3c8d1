"""Operators: the linear maps from weights to scores that hold the features.

To add one, derive from `Operator`; `register_view` lets compiled loops read it. To add a kind of matrix for
`Rows`, derive from `MatrixKind` and register it below.
"""

from structsvm.operators.base import Operator
from structsvm.operators.beside import Beside
from structsvm.operators.binned import Binned, BinnedMatrix
from structsvm.operators.dense import Dense
from structsvm.operators.intercept import WithIntercept
from structsvm.operators.matrix import MatrixKind, Readable, readable, register_matrix
from structsvm.operators.occupied import narrowed, occupied
from structsvm.operators.per_class import PerClass
from structsvm.operators.rows import Rows
from structsvm.operators.shared import Shared
from structsvm.operators.sparse import Sparse
from structsvm.operators.views import example_combine, example_scores, register_view

__all__ = [
    "Beside",
    "BinnedMatrix",
    "MatrixKind",
    "Operator",
    "PerClass",
    "Readable",
    "Rows",
    "Shared",
    "WithIntercept",
    "example_combine",
    "example_scores",
    "narrowed",
    "occupied",
    "readable",
    "register_matrix",
    "register_view",
]

for _kind in (Dense(), Sparse(), Binned()):  # Dense first: it reads what no other does
    register_matrix(_kind)
