"""From text to scores: tokens, an index of sparse counts, retrieval functions on it, and retrieval."""

from typing import TYPE_CHECKING

from structsvm import lazy
from structsvm.text.analyzer import STEMMERS, Analyzer
from structsvm.text.index import Index
from structsvm.text.postings import Postings
from structsvm.text.stop_words import STOP_LISTS, read_stop_words
from structsvm.text.strings import Strings
from structsvm.text.tokens import tokens

if TYPE_CHECKING:
    from structsvm.text.functions import RetrievalFunction
    from structsvm.text.retrieval import Retriever, retrieve

__all__ = [
    "STEMMERS",
    "STOP_LISTS",
    "Analyzer",
    "Index",
    "Postings",
    "RetrievalFunction",
    "Retriever",
    "Strings",
    "read_stop_words",
    "retrieve",
    "tokens",
]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {"structsvm.text.functions": ["RetrievalFunction"], "structsvm.text.retrieval": ["Retriever", "retrieve"]},
)
