"""TFIDF, as Lemur has it."""

from attrs import field, frozen

from structsvm.settings import positive, within
from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.inverse_document_frequency import lemur_idf
from structsvm.text.functions.statistics import Occurrences, TermStatistics
from structsvm.text.functions.term_frequency import saturated
from structsvm.types import Vector


@frozen
class TFIDF(RetrievalFunction):
    """Product of tf · idf of query and document, where the tf of both saturate.

    ``Σ_t q/(q + k) · idf² · tf/(tf + k1 (1 − b + b |d|/avg))`` with ``idf = ln((N + 1) / (df + 0.5))``. From Lemur
    (TFIDFRetMethod), with its defaults: k1 = 1 and b = 0.5, and k = 1 for the query.

    Parameters
    ----------
    k1 : what slows saturation in documents, above 0.
    b : how much lengths count, from 0 to 1.
    k : what slows saturation in queries, above 0.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import TFIDF
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, TFIDF()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [0.071, 0.053]
    """

    k1: float = field(default=1.0, validator=positive)
    b: float = field(default=0.5, validator=within(0.0, 1.0))
    k: float = field(default=1.0, validator=positive)

    def weights(self, found: Occurrences) -> Vector:
        """Return ``idf²`` times the saturated tf."""
        return lemur_idf(found.terms) ** 2 * saturated(found, self.k1, self.b)

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        """Return ``q / (q + k)``."""
        return counts / (counts + self.k)
