"""Make features from the scores of base functions, by scikit-learn transformers.

A matrix of scores has a row for each document and a column for each base function (a retrieval function, or a
submitted run); NaN means that the function did not retrieve the document. `Thresholds` turns scores into
indicators, in a `BinnedMatrix`. `QueryMinMax`, `QueryPercentiles` and `ReciprocalRanks` make the scores of
different queries comparable, and keep NaN; `FillMissing` replaces it.
"""

from typing import TYPE_CHECKING

from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.features.operators import BinnedMatrix
    from structsvm.features.per_query import FillMissing, QueryMinMax, QueryPercentiles, ReciprocalRanks
    from structsvm.features.thresholds import Thresholds

__all__ = ["BinnedMatrix", "FillMissing", "QueryMinMax", "QueryPercentiles", "ReciprocalRanks", "Thresholds"]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.features.operators": ["BinnedMatrix"],
        "structsvm.features.per_query": ["FillMissing", "QueryMinMax", "QueryPercentiles", "ReciprocalRanks"],
        "structsvm.features.thresholds": ["Thresholds"],
    },
)
