"""Structural SVMs with certificates.

A `Ranker` optimises the measure you report; a `StructuralSVM` learns outputs of any kind with
a loss of your own; both tell how far from optimal the result can still be.
"""

from structsvm.estimators import Ranker, StructuralSVM
from structsvm.problem import Problem, most_violated
from structsvm.result import Result, Status

__all__ = ["Problem", "Ranker", "Result", "Status", "StructuralSVM", "most_violated"]
