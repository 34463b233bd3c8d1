"""Retrieval functions, which score documents for a query by their common terms.

To write a function, derive from `RetrievalFunction`. The built-in functions are in
`structsvm.registry.retrieval_functions`.
"""

from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.statistics import Occurrences, TermStatistics

__all__ = ["Occurrences", "RetrievalFunction", "TermStatistics"]
