"""Evaluate runs by judgments, and compare them with a baseline by significance tests."""

from structsvm.evaluation.baseline import RunComparison, compare_runs
from structsvm.evaluation.runs import rank_run

__all__ = ["RunComparison", "compare_runs", "rank_run"]
