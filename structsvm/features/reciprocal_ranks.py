"""Reciprocal ranks."""

import numpy as np

from structsvm.features.counting import count_higher
from structsvm.features.per_query import PerQuery
from structsvm.types import IntVector, Vector


class ReciprocalRanks(PerQuery):
    """Reciprocal ranks: 1 divided by the rank of the document among those of its query, best score first.

    The rank is one plus the number of documents with a higher score, so that equal scores have equal
    ranks, whatever the order of the rows (where a measure has to break ties, a feature has not).
    It belongs to the percentile: ``rank = n − n · percentile + 1``. NaN stays NaN.
    """

    def _replaced(self, scores: Vector, query: IntVector) -> Vector:
        return np.asarray(1.0 / (1 + count_higher(scores, query).higher))
