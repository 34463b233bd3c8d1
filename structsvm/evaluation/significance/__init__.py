"""Comparison of two systems query by query: difference, confidence interval and significance tests.

A test has its own file, and an entry in `structsvm.evaluation.significance.paired.TESTS`.
"""

from structsvm.evaluation.significance.corrections import holm
from structsvm.evaluation.significance.paired import PairedTests, paired_tests

__all__ = ["PairedTests", "holm", "paired_tests"]
