"""BM25 and TF_IDF, as Terrier has them: logarithms to base 2."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import positive, within
from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.okapi import Okapi
from structsvm.text.functions.statistics import Occurrences
from structsvm.text.functions.term_frequency import saturated
from structsvm.types import Vector


@frozen
class TerrierBM25(Okapi):
    """BM25 with logarithms to base 2.

    ``Σ_t log2((N − df + 0.5)/(df + 0.5)) · (k1 + 1) tf/(tf + k1 (1 − b + b |d|/avg)) · (k3 + 1) q/(k3 + q)``. From
    Terrier (BM25), with its defaults: as `Okapi`, but for the base and k3.

    Parameters
    ----------
    k1 : what slows saturation in documents, above 0.
    b : how much lengths count, from 0 to 1.
    k3 : what slows saturation in queries, above 0.

    Examples
    --------
    >>> from structsvm.text import Analyzer, Index, Retriever
    >>> from structsvm.text.functions import TerrierBM25
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()], Analyzer())
    >>> Retriever(index, TerrierBM25()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.813, -0.821]
    """

    k3: float = field(default=8.0, validator=positive)

    def weights(self, found: Occurrences) -> Vector:
        """Return the idf to base 2 times ``k1 + 1`` times the saturated tf."""
        weights: Vector = super().weights(found) / np.log(2.0)
        return weights


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
    >>> from structsvm.text import Analyzer, Index, Retriever
    >>> from structsvm.text.functions import TerrierTFIDF
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()], Analyzer())
    >>> Retriever(index, TerrierTFIDF()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [0.803, 0.796]
    """

    k1: float = field(default=1.2, validator=positive)
    b: float = field(default=0.75, validator=within(0.0, 1.0))

    def weights(self, found: Occurrences) -> Vector:
        """Return the idf times ``k1`` times the saturated tf."""
        idf: Vector = np.log2(found.collection.n_documents / found.df + 1.0)
        return idf * self.k1 * saturated(found, self.k1, self.b)
