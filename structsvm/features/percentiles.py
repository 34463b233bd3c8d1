"""Per-query percentiles."""

import numpy as np

from structsvm.features.counting import count_higher
from structsvm.features.per_query import PerQuery
from structsvm.types import IntVector, Vector


class QueryPercentiles(PerQuery):
    """Per-query percentiles: the fraction of the documents that are scored at or below this one.

    Of the documents of the query that the function retrieved, this one included: 1 is the top, 1/n
    the bottom of n, and equal scores have equal percentiles. The normalisation of SVM-acc3 in Yue,
    Finley, Radlinski and Joachims (SIGIR 2007), section 5.2.1. NaN stays NaN.
    """

    def _replaced(self, scores: Vector, query: IntVector) -> Vector:
        counts = count_higher(scores, query)
        return np.asarray((counts.all - counts.higher) / counts.all)
