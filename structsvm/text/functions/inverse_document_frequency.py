"""How rare a term is: the logarithms of retrieval functions that are called idf."""

import numpy as np

from structsvm.text.functions.statistics import TermStatistics
from structsvm.types import Vector


def lemur_idf(terms: TermStatistics) -> Vector:
    """Return ``ln((N + 1) / (df + 0.5))``, as Lemur's TFIDFRetMethod and CosSimRetMethod have it."""
    return np.log((terms.collection.n_documents + 1.0) / (terms.df + 0.5))


def robertson_idf(terms: TermStatistics) -> Vector:
    """Return ``ln((N − df + 0.5) / (df + 0.5))``: below 0 for a term that more than half of the documents have.

    The weight of Robertson and Sparck Jones (JASIS 1976) without relevance information.
    """
    return np.log((terms.collection.n_documents - terms.df + 0.5) / (terms.df + 0.5))
