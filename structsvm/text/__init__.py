"""Index texts, retrieve documents, and rank them with trained rankers."""

from typing import TYPE_CHECKING

from structsvm.foundation import lazy
from structsvm.text.analyzer import Analyzer, tokens
from structsvm.text.index import Index
from structsvm.text.postings import Postings

if TYPE_CHECKING:
    from structsvm.text.functions import RetrievalFunction
    from structsvm.text.pipelines.text_ranker import TextRanker
    from structsvm.text.retrieval import Retriever, retrieve

__all__ = [
    "Analyzer",
    "Index",
    "Postings",
    "RetrievalFunction",
    "Retriever",
    "TextRanker",
    "retrieve",
    "tokens",
]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.text.functions": ["RetrievalFunction"],
        "structsvm.text.pipelines.text_ranker": ["TextRanker"],
        "structsvm.text.retrieval": ["Retriever", "retrieve"],
    },
)
