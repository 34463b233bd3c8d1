"""How rare a term is: the idf of Lemur's TFIDF and cosine."""

import numpy as np

from structsvm.text.functions.statistics import TermStatistics
from structsvm.types import Vector


def lemur_idf(terms: TermStatistics) -> Vector:
    """Return ``ln((N + 1) / (df + 0.5))``, as Lemur's TFIDFRetMethod and CosSimRetMethod have it."""
    return np.log((terms.collection.n_documents + 1.0) / (terms.df + 0.5))
