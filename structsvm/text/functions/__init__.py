"""Retrieval functions: how well a document answers a query, by the terms that they have in common.

Each is a frozen value with a name (`structsvm.registry.retrieval_functions`). `RetrievalFunction.bind` computes what
depends on a collection, and returns what scores its documents.
"""

from structsvm.text.functions.absolute_discount import AbsoluteDiscount
from structsvm.text.functions.base import RetrievalFunction, Scorer
from structsvm.text.functions.bm25 import BM25, Okapi
from structsvm.text.functions.cosine import Cosine
from structsvm.text.functions.dirichlet import Dirichlet
from structsvm.text.functions.divergence import NegativeDivergence
from structsvm.text.functions.jelinek_mercer import JelinekMercer
from structsvm.text.functions.likelihood import IndriDirichlet, IndriJelinekMercer
from structsvm.text.functions.statistics import CollectionStatistics, DocumentStatistics, Occurrences, TermStatistics
from structsvm.text.functions.terrier import TerrierTFIDF
from structsvm.text.functions.tfidf import TFIDF

__all__ = [
    "BM25",
    "TFIDF",
    "AbsoluteDiscount",
    "CollectionStatistics",
    "Cosine",
    "Dirichlet",
    "DocumentStatistics",
    "IndriDirichlet",
    "IndriJelinekMercer",
    "JelinekMercer",
    "NegativeDivergence",
    "Occurrences",
    "Okapi",
    "RetrievalFunction",
    "Scorer",
    "TermStatistics",
    "TerrierTFIDF",
]
