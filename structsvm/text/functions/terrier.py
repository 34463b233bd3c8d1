"""TF_IDF, as Terrier has it."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import positive, within
from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.statistics import Occurrences
from structsvm.text.functions.term_frequency import saturated
from structsvm.types import Vector


@frozen
class TerrierTFIDF(RetrievalFunction):
    """Robertson's tf times an idf to base 2 that is never below 0.

    ``Σ_t q · log2(N/df + 1) · k1 tf/(tf + k1 (1 − b + b |d|/avg))``. From Terrier (TF_IDF), with its defaults.

    Parameters
    ----------
    k1 : what slows saturation, above 0.
    b : how much lengths count, from 0 to 1.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import TerrierTFIDF
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, TerrierTFIDF()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [0.939, 0.667]
    """

    k1: float = field(default=1.2, validator=positive)
    b: float = field(default=0.75, validator=within(0.0, 1.0))

    def weights(self, found: Occurrences) -> Vector:
        """Return the idf times ``k1`` times the saturated tf."""
        idf: Vector = np.log2(found.collection.n_documents / found.df + 1.0)
        return idf * self.k1 * saturated(found, self.k1, self.b)
