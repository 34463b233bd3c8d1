"""Language models of documents, which are ranked by their Kullback-Leibler divergence from that of the query."""

from abc import abstractmethod

import numpy as np
from attrs import frozen

from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.statistics import DocumentStatistics, TermStatistics
from structsvm.types import Vector


@frozen
class NegativeDivergence(RetrievalFunction):
    """Negative Kullback-Leibler divergence of a smoothed language model of the document from that of the query.

    ``−D(Q‖d) = Σ_t p(t|Q) ln(p(t|d) / p(t|Q))`` over all terms of the query that the collection has, with
    ``p(t|Q) = q/|Q|``. A smoothed model has ``p(t|d) = a(d) p(t|C)`` for terms that the document lacks, and
    ``p(t|C) = cf/|C|``. So the sum is one over common terms and two numbers (Zhai and Lafferty, "A study of smoothing
    methods for language models applied to ad hoc information retrieval", SIGIR 2001):

    ``Σ_t∈d p(t|Q) ln(p(t|d) / (a(d) p(t|C))) + ln a(d) − Σ_t p(t|Q) ln(p(t|Q) / p(t|C))``

    From Lemur (SimpleKLRetMethod). Derive from it, write `unseen`, which is a, and `weights`, the logarithm of the
    first sum.
    """

    @abstractmethod
    def unseen(self, documents: DocumentStatistics) -> Vector:
        """Return ``a(d)`` of each document, above 0, shape (n_documents,)."""

    def document_scores(self, documents: DocumentStatistics) -> Vector:
        """Return ``ln a(d)``."""
        scores: Vector = np.log(self.unseen(documents))
        return scores

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        """Return ``p(t|Q)``."""
        shares: Vector = counts / counts.sum()
        return shares

    def query_score(self, counts: Vector, terms: TermStatistics) -> float:
        """Return the negative divergence of the collection's model from that of the query."""
        shares = counts / counts.sum()
        return -float(shares @ np.log(shares / terms.share))
