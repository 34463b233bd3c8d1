"""Operators: the linear maps from weights to scores that hold the features.

To add one, derive from `Operator`; `register_view` lets compiled loops read it.
"""

from structsvm.operators.base import Operator
from structsvm.operators.beside import Beside
from structsvm.operators.binned import BinnedMatrix
from structsvm.operators.foreign_views import register_view
from structsvm.operators.intercept import WithIntercept
from structsvm.operators.per_class import PerClass
from structsvm.operators.rows import Rows
from structsvm.operators.shared import Shared
from structsvm.operators.storage import Readable, readable
from structsvm.operators.views import example_combine, example_scores

__all__ = [
    "Beside",
    "BinnedMatrix",
    "Operator",
    "PerClass",
    "Readable",
    "Rows",
    "Shared",
    "WithIntercept",
    "example_combine",
    "example_scores",
    "readable",
    "register_view",
]
