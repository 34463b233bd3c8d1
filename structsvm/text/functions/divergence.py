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

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.text import Index
    >>> from structsvm.text.functions import NegativeDivergence
    >>> class TwoStage(NegativeDivergence):  # Zhai and Lafferty (SIGIR 2002), with mu = 10 and lambda = 0.4
    ...     def unseen(self, documents):
    ...         return 0.6 * 10 / (documents.length + 10) + 0.4
    ...
    ...     def weights(self, found):  # p(t|d) = 0.6 (tf + 10 p(t|C)) / (|d| + 10) + 0.4 p(t|C)
    ...         return np.log1p(0.6 * found.tf / (found.length + 10) / (self.unseen(found) * found.terms.share))
    >>> index = Index.build([("a", {"text": "a wing and a wing"}), ("b", {"text": "one wing"})])
    >>> TwoStage().bind(index.whole).scores({"wing": 1}).round(3)
    array([-0.255, -0.322])
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
