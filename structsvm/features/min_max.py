"""Per-query min-max."""

import numpy as np

from structsvm.features.per_query import PerQuery
from structsvm.types import IntVector, Vector


class QueryMinMax(PerQuery):
    """Per-query min-max: the scores of each function go from 0 to 1 within each query.

    ``(f(d) − min) / (max − min)`` over the documents of the query that f retrieved: the normalisation
    of SVM-acc4 in Yue, Finley, Radlinski and Joachims (SIGIR 2007), section 5.2.1. Where all of them
    have the same score it is 0, as with scikit-learn's ``MinMaxScaler``. NaN stays NaN.
    """

    def _replaced(self, scores: Vector, query: IntVector) -> Vector:
        low, high = np.full(query.max() + 1, np.inf), np.full(query.max() + 1, -np.inf)
        np.minimum.at(low, query, scores)
        np.maximum.at(high, query, scores)
        low, high = low[query], high[query]
        # Halves, since the difference of two large numbers may be infinite.
        spread = 0.5 * high - 0.5 * low
        return np.asarray((0.5 * scores - 0.5 * low) / np.where(spread > 0.0, spread, 1.0))
