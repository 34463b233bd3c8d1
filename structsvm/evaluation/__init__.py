"""Evaluate runs by judgments, and compare them with a baseline."""

from structsvm.evaluation.baseline import RunComparison, compare_runs
from structsvm.evaluation.planning import queries_needed, smallest_difference, spread_of_differences
from structsvm.evaluation.runs import rank_run
from structsvm.evaluation.significance.intervals import mean_interval

__all__ = [
    "RunComparison",
    "compare_runs",
    "mean_interval",
    "queries_needed",
    "rank_run",
    "smallest_difference",
    "spread_of_differences",
]
