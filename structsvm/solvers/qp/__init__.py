"""Quadratic programs of the cutting-plane solvers, and the backends that solve them.

`ActiveSet` is written for these programs; `CVXOPT`, `OSQP` and `HiGHS` wrap external solvers, and `QPSolvers`
the solvers of qpsolvers; they are imported at their first use. To add a backend, derive from `GeneralBackend`.
"""

from structsvm.solvers.qp.active_set import ActiveSet
from structsvm.solvers.qp.base import DualQP, QPBackend, QPSolution
from structsvm.solvers.qp.cvxopt import CVXOPT
from structsvm.solvers.qp.general import Attempt, GeneralBackend, scales
from structsvm.solvers.qp.highs import HiGHS
from structsvm.solvers.qp.osqp import OSQP
from structsvm.solvers.qp.qpsolvers import QPSolvers
from structsvm.solvers.qp.recorder import Recorder, load_programs

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
    "QPSolvers",
    "Recorder",
    "load_programs",
    "scales",
]
