"""Two systems compared query by query: their difference, how sure it is, and whether it can be chance.

`paired_tests` makes all tests, `compare` Wilcoxon's alone; `holm` and `bonferroni` correct p-values of several
comparisons. Each test is in a file of its own and takes differences that are free of rounding
(`structsvm.significance.differences`).
"""

from structsvm.significance.comparison import Comparison, PairedTests, compare, paired_tests
from structsvm.significance.corrections import bonferroni, holm

__all__ = ["Comparison", "PairedTests", "bonferroni", "compare", "holm", "paired_tests"]
