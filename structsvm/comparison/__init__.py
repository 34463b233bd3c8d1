"""Comparisons of solvers and QP backends: every combination on one problem, side by side.

`compare` runs them one after the other and returns a `Comparison`, a plain table of `Row`;
`gap_against_time` draws it.
"""

from typing import TYPE_CHECKING

from structsvm import lazy

if TYPE_CHECKING:
    from structsvm.comparison.combinations import Combination
    from structsvm.comparison.plot import gap_against_time
    from structsvm.comparison.running import Progress, compare
    from structsvm.comparison.table import Comparison, Row

__all__ = ["Combination", "Comparison", "Progress", "Row", "compare", "gap_against_time"]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.comparison.combinations": ["Combination"],
        "structsvm.comparison.plot": ["gap_against_time"],
        "structsvm.comparison.running": ["Progress", "compare"],
        "structsvm.comparison.table": ["Comparison", "Row"],
    },
)
