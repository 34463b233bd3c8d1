"""Runs measured by judgments, and compared with a baseline by tests of significance."""

from structsvm.evaluation.baseline import ComparedRun, RunComparison, compare_lists, compare_runs
from structsvm.evaluation.runs import rank_run

__all__ = ["ComparedRun", "RunComparison", "compare_lists", "compare_runs", "rank_run"]
