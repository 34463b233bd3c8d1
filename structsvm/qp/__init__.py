"""Quadratic programmes of the cutting-plane solvers, and the backends that solve them."""

from structsvm.qp.active_set import ActiveSet
from structsvm.qp.base import DualQP, QPBackend, QPSolution

__all__ = ["ActiveSet", "DualQP", "QPBackend", "QPSolution"]
