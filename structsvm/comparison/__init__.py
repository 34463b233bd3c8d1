"""Comparisons of solvers and QP backends: every combination on one problem, side by side.

`compare` runs them one after the other and returns a `Comparison`, a plain table of `Row`;
`gap_against_time` draws it.
"""

from structsvm.comparison.combinations import Combination
from structsvm.comparison.plot import gap_against_time
from structsvm.comparison.running import Progress, compare
from structsvm.comparison.table import Comparison, Row

__all__ = ["Combination", "Comparison", "Progress", "Row", "compare", "gap_against_time"]
