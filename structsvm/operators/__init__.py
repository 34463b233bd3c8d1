"""Operators: the linear maps from weights to scores that hold the features."""

from structsvm.operators.base import Operator
from structsvm.operators.beside import Beside
from structsvm.operators.intercept import WithIntercept
from structsvm.operators.per_class import PerClass
from structsvm.operators.rows import Rows, readable
from structsvm.operators.shared import Shared

__all__ = ["Beside", "Operator", "PerClass", "Rows", "Shared", "WithIntercept", "readable"]
