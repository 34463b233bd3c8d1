"""The language model with linear interpolation, as Lemur has it."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import inside
from structsvm.text.functions.divergence import NegativeDivergence
from structsvm.text.functions.statistics import DocumentStatistics, Occurrences
from structsvm.types import Vector


@frozen
class JelinekMercer(NegativeDivergence):
    """Negative divergence from the query of a language model that is interpolated with that of the collection.

    ``p(t|d) = (1 − weight) tf/|d| + weight p(t|C)``, so ``a(d) = weight``. From Lemur (JelinekMercerDocModel), with its
    default; the weight is called lambda there.

    Parameters
    ----------
    weight : weight of the collection's model, between 0 and 1.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import JelinekMercer
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, JelinekMercer()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.223, -0.598]
    """

    weight: float = field(default=0.5, validator=inside(0.0, 1.0))

    def weights(self, found: Occurrences) -> Vector:
        """Return ``ln(1 + (1 − weight) tf / (|d| weight p(t|C)))``."""
        return np.log1p((1.0 - self.weight) / self.weight * found.tf / found.length / found.terms.share)

    def unseen(self, documents: DocumentStatistics) -> Vector:
        """Return the weight."""
        return np.full(len(documents.length), self.weight)
