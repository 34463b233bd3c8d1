"""From text to scores: tokens, an index of sparse counts, and retrieval functions on it."""

from structsvm.text.analyzer import Analyzer
from structsvm.text.index import Index
from structsvm.text.postings import Postings

__all__ = ["Analyzer", "Index", "Postings"]
