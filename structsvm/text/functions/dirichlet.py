"""The language model with a Dirichlet prior, as Lemur has it."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import positive
from structsvm.text.functions.divergence import NegativeDivergence
from structsvm.text.functions.statistics import DocumentStatistics, Occurrences
from structsvm.types import Vector


@frozen
class Dirichlet(NegativeDivergence):
    """Negative divergence from the query of a language model with a Dirichlet prior.

    ``p(t|d) = (tf + mu p(t|C)) / (|d| + mu)``, so ``a(d) = mu / (|d| + mu)``. From Lemur (DirichletPriorDocModel), with
    its default.

    Parameters
    ----------
    mu : weight of the collection's model, in tokens, above 0.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import Dirichlet
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, Dirichlet()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.509, -0.511]
    """

    mu: float = field(default=1000.0, validator=positive)

    def weights(self, found: Occurrences) -> Vector:
        """Return ``ln(1 + tf / (mu p(t|C)))``."""
        return np.log1p(found.tf / (self.mu * found.terms.share))

    def unseen(self, documents: DocumentStatistics) -> Vector:
        """Return ``mu / (|d| + mu)``."""
        return self.mu / (documents.length + self.mu)
