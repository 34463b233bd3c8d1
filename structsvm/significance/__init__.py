"""Two systems compared query by query: differences, how sure they are, and tests of whether they are chance.

All take values of the two systems for the same queries, or their differences. Differences that are the same but for
rounding are made the same first: see `structsvm.significance.differences`.
"""

from structsvm.significance.bootstrap import bootstrap_interval
from structsvm.significance.comparison import Comparison, PairedTests, compare, paired_tests
from structsvm.significance.corrections import bonferroni, holm
from structsvm.significance.differences import differences
from structsvm.significance.randomisation import randomisation_p
from structsvm.significance.student import mean_interval, student_p
from structsvm.significance.wilcoxon import wilcoxon_p

__all__ = [
    "Comparison",
    "PairedTests",
    "bonferroni",
    "bootstrap_interval",
    "compare",
    "differences",
    "holm",
    "mean_interval",
    "paired_tests",
    "randomisation_p",
    "student_p",
    "wilcoxon_p",
]
