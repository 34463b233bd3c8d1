"""Two systems compared query by query: their difference, how sure it is, and whether it can be chance.

`paired_tests` makes all tests, `signed_rank_test` Wilcoxon's alone; `holm` and `bonferroni` correct p-values of several
comparisons. Each test is in a file of its own and takes differences that are free of rounding
(`structsvm.significance.differences`).
"""

from structsvm.significance.corrections import bonferroni, holm
from structsvm.significance.paired import PairedTests, paired_tests
from structsvm.significance.wilcoxon import SignedRankTest, signed_rank_test

__all__ = ["PairedTests", "SignedRankTest", "bonferroni", "holm", "paired_tests", "signed_rank_test"]
