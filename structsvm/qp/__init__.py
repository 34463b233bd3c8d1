"""Quadratic programmes of the cutting-plane solvers, and the backends that solve them.

`ActiveSet` is built for them; `CVXOPT`, `OSQP` and `HiGHS` wrap solvers from outside, each
imported when it first solves. To add one, derive from `GeneralBackend`.
"""

from structsvm.qp.active_set import ActiveSet
from structsvm.qp.base import DualQP, QPBackend, QPSolution
from structsvm.qp.cvxopt import CVXOPT
from structsvm.qp.general import Attempt, GeneralBackend, scales
from structsvm.qp.highs import HiGHS
from structsvm.qp.osqp import OSQP

__all__ = [
    "CVXOPT",
    "OSQP",
    "ActiveSet",
    "Attempt",
    "DualQP",
    "GeneralBackend",
    "HiGHS",
    "QPBackend",
    "QPSolution",
    "scales",
]
