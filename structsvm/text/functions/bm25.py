"""BM25, and its variant in Lemur's Okapi."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import positive, within
from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.statistics import Occurrences, TermStatistics
from structsvm.text.functions.term_frequency import saturated
from structsvm.types import Vector


@frozen
class BM25(RetrievalFunction):
    """BM25 with an idf that is never below 0: the default.

    ``Σ_t q · ln(1 + (N − df + 0.5)/(df + 0.5)) · tf/(tf + k1 (1 − b + b |d|/avg))``. From Lucene (BM25Similarity,
    without the factor k1 + 1 since version 8), with its defaults; Anserini's are 0.9 and 0.4. Lengths are exact here,
    and rounded to one byte there.

    Parameters
    ----------
    k1 : what slows saturation, above 0.
    b : how much lengths count, from 0 to 1.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import BM25
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "nothing"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, BM25()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [0.278, 0.197]
    """

    k1: float = field(default=1.2, validator=positive)
    b: float = field(default=0.75, validator=within(0.0, 1.0))

    def weights(self, found: Occurrences) -> Vector:
        """Return the idf times the saturated tf."""
        return self._idf(found.terms) * saturated(found, self.k1, self.b)

    def _idf(self, terms: TermStatistics) -> Vector:
        return np.log1p((terms.collection.n_documents - terms.df + 0.5) / (terms.df + 0.5))


@frozen
class Okapi(BM25):
    """BM25 with Robertson's and Sparck Jones's weight, which is below 0 for terms in more than half of the documents.

    ``Σ_t ln((N − df + 0.5)/(df + 0.5)) · (k1 + 1) tf/(tf + k1 (1 − b + b |d|/avg)) · (k3 + 1) q/(k3 + q)``. From Lemur
    (OkapiRetMethod), with its defaults; Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3".
    Terrier's BM25 has k3 = 8 and logarithms to base 2, which do not change the ranking.

    Parameters
    ----------
    k1 : what slows saturation in documents, above 0.
    b : how much lengths count, from 0 to 1.
    k3 : what slows saturation in queries, above 0.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import Okapi
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "nothing"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, Okapi()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.472, -0.665]
    """

    k3: float = field(default=7.0, validator=positive)

    def weights(self, found: Occurrences) -> Vector:
        """Return the idf times ``k1 + 1`` times the saturated tf."""
        return (self.k1 + 1.0) * super().weights(found)

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        """Return ``(k3 + 1) q / (k3 + q)``."""
        return (self.k3 + 1.0) * counts / (self.k3 + counts)

    def _idf(self, terms: TermStatistics) -> Vector:
        """Return the weight of Robertson and Sparck Jones (JASIS 1976) without relevance information."""
        return np.log((terms.collection.n_documents - terms.df + 0.5) / (terms.df + 0.5))
