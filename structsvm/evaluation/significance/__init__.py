"""Comparison of two systems query by query: difference, confidence interval and significance tests."""

from structsvm.evaluation.significance.paired import PairedTests, holm, paired_tests

__all__ = ["PairedTests", "holm", "paired_tests"]
