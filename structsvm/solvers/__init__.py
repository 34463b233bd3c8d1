"""Solvers: algorithms that minimise a problem and certify the result."""

from structsvm.solvers.auto import Auto
from structsvm.solvers.base import CuttingPlane, Solver
from structsvm.solvers.frank_wolfe import FrankWolfe
from structsvm.solvers.n_slack import NSlack
from structsvm.solvers.one_slack import OneSlack

__all__ = ["Auto", "CuttingPlane", "FrankWolfe", "NSlack", "OneSlack", "Solver"]
