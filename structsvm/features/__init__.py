"""Features made of the scores of base functions, as scikit-learn transformers.

A matrix of scores has a document a row and a base function (a retrieval function, a submitted run) a
column; NaN is a document that the function did not retrieve. `Thresholds` makes indicators of it, in a
`BinnedMatrix`. `QueryMinMax`, `QueryPercentiles` and `ReciprocalRanks` make the scores of different
queries comparable, and keep NaN; `FillMissing` replaces it.
"""

from structsvm.features.per_query import FillMissing, QueryMinMax, QueryPercentiles, ReciprocalRanks
from structsvm.features.thresholds import Thresholds
from structsvm.operators import BinnedMatrix

__all__ = ["BinnedMatrix", "FillMissing", "QueryMinMax", "QueryPercentiles", "ReciprocalRanks", "Thresholds"]
