"""From text to scores: tokens, an index of sparse counts, retrieval functions on it, and retrieval."""

from structsvm.text.analyzer import Analyzer
from structsvm.text.functions import RetrievalFunction
from structsvm.text.index import Index
from structsvm.text.postings import Postings
from structsvm.text.retrieval import Retriever, retrieve

__all__ = ["Analyzer", "Index", "Postings", "RetrievalFunction", "Retriever", "retrieve"]
