"""Problems that solvers minimize: a loss and an operator combined into the objective."""

from structsvm.problem.concave import ramp
from structsvm.problem.fingerprint import fingerprint
from structsvm.problem.problem import Problem
from structsvm.problem.violated import most_violated

__all__ = ["Problem", "fingerprint", "most_violated", "ramp"]
