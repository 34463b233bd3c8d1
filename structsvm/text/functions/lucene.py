"""BM25, as Lucene and Anserini have it."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import positive, within
from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.statistics import Occurrences
from structsvm.text.functions.term_frequency import saturated
from structsvm.types import Vector


@frozen
class LuceneBM25(RetrievalFunction):
    """BM25 with an idf that is never below 0.

    ``Σ_t q · ln(1 + (N − df + 0.5)/(df + 0.5)) · tf/(tf + k1 (1 − b + b |d|/avg))``. From Lucene (BM25Similarity,
    without the factor k1 + 1 since version 8), with Anserini's defaults; Lucene's are 1.2 and 0.75. Lengths are exact
    here, and rounded to one byte there.

    Parameters
    ----------
    k1 : what slows saturation, above 0.
    b : how much lengths count, from 0 to 1.

    Examples
    --------
    >>> from structsvm.text import Analyzer, Index, Retriever
    >>> from structsvm.text.functions import LuceneBM25
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()], Analyzer())
    >>> Retriever(index, LuceneBM25()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [0.292, 0.26]
    """

    k1: float = field(default=0.9, validator=positive)
    b: float = field(default=0.4, validator=within(0.0, 1.0))

    def weights(self, found: Occurrences) -> Vector:
        """Return the idf times the saturated tf."""
        N = found.collection.n_documents
        return np.log1p((N - found.df + 0.5) / (found.df + 0.5)) * saturated(found, self.k1, self.b)
