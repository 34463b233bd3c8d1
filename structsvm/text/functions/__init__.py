"""Retrieval functions, which score documents for a query by their common terms.

Derive from `RetrievalFunction` to write one. `structsvm.registry.retrieval_functions` has the built-in ones.
"""

from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.statistics import Occurrences, TermStatistics

__all__ = ["Occurrences", "RetrievalFunction", "TermStatistics"]
