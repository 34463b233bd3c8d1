"""Retrieval functions, which score documents for a query by their common terms.

To write a function, derive from `RetrievalFunction`. The built-in functions are in
`structsvm.registry.retrieval_functions`.
"""

from structsvm.text.functions.base import Occurrences, RetrievalFunction, TermStatistics

__all__ = ["Occurrences", "RetrievalFunction", "TermStatistics"]
