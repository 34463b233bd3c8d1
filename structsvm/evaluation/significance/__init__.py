"""Comparison of two systems query by query: difference, confidence interval and significance tests."""

from structsvm.evaluation.significance.corrections import holm
from structsvm.evaluation.significance.paired import PairedTests, paired_tests

__all__ = ["PairedTests", "holm", "paired_tests"]
