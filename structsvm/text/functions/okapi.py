"""Okapi's BM25, as Lemur has it."""

from attrs import field, frozen

from structsvm.settings import positive, within
from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.inverse_document_frequency import robertson_idf
from structsvm.text.functions.statistics import Occurrences, TermStatistics
from structsvm.text.functions.term_frequency import saturated
from structsvm.types import Vector


@frozen
class Okapi(RetrievalFunction):
    """BM25 with Robertson's and Sparck Jones's weight, which is below 0 for terms in more than half of the documents.

    ``Σ_t ln((N − df + 0.5)/(df + 0.5)) · (k1 + 1) tf/(tf + k1 (1 − b + b |d|/avg)) · (k3 + 1) q/(k3 + q)``. From Lemur
    (OkapiRetMethod), with its defaults; Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3".

    Parameters
    ----------
    k1 : what slows saturation in documents, above 0.
    b : how much lengths count, from 0 to 1.
    k3 : what slows saturation in queries, above 0.

    Examples
    --------
    >>> from structsvm.text import Analyzer, Index, Retriever
    >>> from structsvm.text.functions import Okapi
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()], Analyzer())
    >>> Retriever(index, Okapi()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.564, -0.569]
    """

    k1: float = field(default=1.2, validator=positive)
    b: float = field(default=0.75, validator=within(0.0, 1.0))
    k3: float = field(default=7.0, validator=positive)

    def weights(self, found: Occurrences) -> Vector:
        """Return the idf times ``k1 + 1`` times the saturated tf."""
        return robertson_idf(found.terms) * (self.k1 + 1.0) * saturated(found, self.k1, self.b)

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        """Return ``(k3 + 1) q / (k3 + q)``."""
        return (self.k3 + 1.0) * counts / (self.k3 + counts)
