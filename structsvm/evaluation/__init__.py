"""Evaluate runs by judgments, compare them with a baseline, and measure the importance of features."""

from typing import TYPE_CHECKING

from structsvm.evaluation.baseline import RunComparison, compare_runs
from structsvm.evaluation.planning import queries_needed, smallest_difference, spread_of_differences
from structsvm.evaluation.runs import rank_run
from structsvm.evaluation.significance.intervals import mean_interval
from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.evaluation.importance import FeatureImportance, query_permutation_importance

__all__ = [
    "FeatureImportance",
    "RunComparison",
    "compare_runs",
    "mean_interval",
    "queries_needed",
    "query_permutation_importance",
    "rank_run",
    "smallest_difference",
    "spread_of_differences",
]

# Importances need scikit-learn, whose import would make a short evaluation longer.
__getattr__, __dir__ = lazy.exports(
    __name__, {"structsvm.evaluation.importance": ["FeatureImportance", "query_permutation_importance"]}
)
