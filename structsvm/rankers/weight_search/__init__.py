"""Weight search: Morgan, Greiff and Henderson (2004)."""

from structsvm.rankers.weight_search.estimator import SearchedDirection, WeightSearch

__all__ = ["SearchedDirection", "WeightSearch"]
