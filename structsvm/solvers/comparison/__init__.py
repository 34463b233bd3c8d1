"""Compare solvers and QP backends: run every combination on one problem, side by side."""

from typing import TYPE_CHECKING

from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.solvers.comparison.comparing import compare
    from structsvm.solvers.comparison.table import Comparison

__all__ = ["Comparison", "compare"]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.solvers.comparison.comparing": ["compare"],
        "structsvm.solvers.comparison.table": ["Comparison"],
    },
)
