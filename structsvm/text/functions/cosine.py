"""Cosine, as Lemur has it."""

import numpy as np
from attrs import frozen

from structsvm.text.functions.base import RetrievalFunction
from structsvm.text.functions.inverse_document_frequency import lemur_idf
from structsvm.text.functions.statistics import DocumentStatistics, Occurrences, TermStatistics
from structsvm.types import Vector


@frozen
class Cosine(RetrievalFunction):
    """Cosine of the angle between query and document, as vectors of tf · idf.

    ``Σ_t q·tf·idf² / (‖q‖ ‖d‖)`` with ``idf = ln((N + 1) / (df + 0.5))``; the norms are those of the vectors of q·idf
    and tf·idf over all terms. From Lemur (CosSimRetMethod), which has no settings for it.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import Cosine
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, Cosine()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [1.0, 0.432]
    """

    def of_documents(self, documents: DocumentStatistics) -> Vector:
        """Return the norm of each document; 1 where it is 0, as in Lemur."""
        norms = documents.norm(lemur_idf(documents.terms))
        return np.where(norms > 0.0, norms, 1.0)

    def weights(self, found: Occurrences) -> Vector:
        """Return ``tf·idf / ‖d‖``."""
        return found.tf * lemur_idf(found.terms) / found.document

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        """Return ``q·idf / ‖q‖``."""
        weights = counts * lemur_idf(terms)
        return weights / np.linalg.norm(weights)
