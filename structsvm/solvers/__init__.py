"""Solvers: algorithms that minimise a problem and certify the result.

To add one, derive from `Solver` and let a `SolverState` keep the bounds, the clocks and the history.
"""

from structsvm.solvers.auto import Auto
from structsvm.solvers.base import CuttingPlane, Solver
from structsvm.solvers.checkpoint import Checkpoint, CheckpointLike, CheckpointPath, Keeper
from structsvm.solvers.convex_concave import Descent, Round, descend
from structsvm.solvers.frank_wolfe import FrankWolfe
from structsvm.solvers.n_slack import NSlack
from structsvm.solvers.one_slack import OneSlack
from structsvm.solvers.state import Callback, SolverState

__all__ = [
    "Auto",
    "Callback",
    "Checkpoint",
    "CheckpointLike",
    "CheckpointPath",
    "CuttingPlane",
    "Descent",
    "FrankWolfe",
    "Keeper",
    "NSlack",
    "OneSlack",
    "Round",
    "Solver",
    "SolverState",
    "descend",
]
