"""Operators: the linear maps from weights to scores that hold the features."""

from structsvm.operators.base import Operator
from structsvm.operators.binned import BinnedMatrix
from structsvm.operators.intercept import WithIntercept
from structsvm.operators.per_class import PerClass
from structsvm.operators.rows import Rows
from structsvm.operators.shared import Shared
from structsvm.operators.storage import Readable, readable

__all__ = ["BinnedMatrix", "Operator", "PerClass", "Readable", "Rows", "Shared", "WithIntercept", "readable"]
