"""The language model with absolute discounting, as Lemur has it."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import inside
from structsvm.text.functions.divergence import NegativeDivergence
from structsvm.text.functions.statistics import DocumentStatistics, Occurrences
from structsvm.types import Vector


@frozen
class AbsoluteDiscount(NegativeDivergence):
    """Negative divergence from the query of a language model from whose counts a number is taken off.

    ``p(t|d) = (tf − delta)/|d| + a(d) p(t|C)`` with ``a(d) = delta u/|d|``, u being the number of different terms of
    the document. From Lemur (AbsoluteDiscountDocModel), with its default. A document without terms, which is not
    retrieved, has ``a(d) = 1``.

    Parameters
    ----------
    delta : what is taken off a count, between 0 and 1.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import AbsoluteDiscount
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, AbsoluteDiscount()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.151, -0.562]
    """

    delta: float = field(default=0.7, validator=inside(0.0, 1.0))

    def of_documents(self, documents: DocumentStatistics) -> Vector:
        """Return the number of different terms."""
        return documents.n_different()

    def weights(self, found: Occurrences) -> Vector:
        """Return ``ln(1 + (tf − delta) / (delta u p(t|C)))``."""
        return np.log1p((found.tf - self.delta) / (self.delta * found.document * found.terms.share))

    def unseen(self, documents: DocumentStatistics) -> Vector:
        """Return ``delta u / |d|``."""
        length = documents.length
        return np.divide(self.delta * documents.n_different(), length, out=np.ones_like(length), where=length > 0.0)
