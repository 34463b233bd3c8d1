"""Solvers: algorithms that minimize a problem and certify the result.

To add a solver, derive from `Solver` and let a `SolverState` manage bounds, clocks and history.
"""

from typing import TYPE_CHECKING

from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.result import CutSet
    from structsvm.solvers.auto import Auto
    from structsvm.solvers.base import CuttingPlane, Solver
    from structsvm.solvers.checkpoint import Checkpoint, CheckpointWriter
    from structsvm.solvers.convex_concave import descend
    from structsvm.solvers.frank_wolfe import FrankWolfe
    from structsvm.solvers.n_slack import NSlack
    from structsvm.solvers.one_slack import OneSlack
    from structsvm.solvers.state import SolverState

__all__ = [
    "Auto",
    "Checkpoint",
    "CheckpointWriter",
    "CutSet",
    "CuttingPlane",
    "FrankWolfe",
    "NSlack",
    "OneSlack",
    "Solver",
    "SolverState",
    "descend",
]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.result": ["CutSet"],
        "structsvm.solvers.auto": ["Auto"],
        "structsvm.solvers.base": ["CuttingPlane", "Solver"],
        "structsvm.solvers.checkpoint": ["Checkpoint", "CheckpointWriter"],
        "structsvm.solvers.convex_concave": ["descend"],
        "structsvm.solvers.frank_wolfe": ["FrankWolfe"],
        "structsvm.solvers.n_slack": ["NSlack"],
        "structsvm.solvers.one_slack": ["OneSlack"],
        "structsvm.solvers.state": ["SolverState"],
    },
)
