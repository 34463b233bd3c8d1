"""Retrieval functions that multiply a term frequency by an inverse document frequency: BM25, TFIDF and cosine."""

from abc import abstractmethod

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import positive, within
from structsvm.foundation.types import Vector
from structsvm.text.functions.base import Occurrences, RetrievalFunction, TermStatistics
from structsvm.text.postings import Postings


@frozen
class _SaturatedTF(RetrievalFunction):
    """``Σ_t q · idf · tf/(tf + k1 (1 − b + b |d|/avg))``, where idf may include a constant factor.

    From Robertson and Walker, "Some simple effective approximations to the 2-Poisson model", SIGIR 1994. ``k1`` is the
    tf at which the last factor of a document of average length is 1/2; ``b`` is the strength of length normalization.
    """

    k1: float = field(default=1.2, validator=positive)
    b: float = field(default=0.75, validator=within(0.0, 1.0))

    @abstractmethod
    def idf(self, terms: TermStatistics) -> Vector:
        """Return the weight of each term, shape (n,)."""

    def weights(self, hits: Occurrences) -> Vector:
        relative = hits.length / hits.collection.average_length
        return self.idf(hits.terms) * (hits.tf / (hits.tf + self.k1 * (1.0 - self.b + self.b * relative)))


@frozen
class BM25(_SaturatedTF):
    """BM25 of Lucene (BM25Similarity) with its defaults: the idf is ``ln(1 + (N − df + 0.5)/(df + 0.5))``, above 0."""

    def idf(self, terms: TermStatistics) -> Vector:
        return np.log1p((terms.collection.n_documents - terms.df + 0.5) / (terms.df + 0.5))


@frozen
class Okapi(_SaturatedTF):
    """BM25 of Lemur: the idf is ``ln((N − df + 0.5)/(df + 0.5))``, below 0 for terms of most documents.

    Factors are ``(k1 + 1)`` and, for q, ``(k3 + 1) q/(k3 + q)``. From OkapiRetMethod with its defaults; Robertson,
    Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3".
    """

    k3: float = field(default=7.0, validator=positive)

    def idf(self, terms: TermStatistics) -> Vector:
        """Return the weight of Robertson and Sparck Jones (JASIS 1976) without relevance information."""
        return np.log((terms.collection.n_documents - terms.df + 0.5) / (terms.df + 0.5))

    def weights(self, hits: Occurrences) -> Vector:
        return (self.k1 + 1.0) * super().weights(hits)

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        return (self.k3 + 1.0) * counts / (self.k3 + counts)


@frozen
class TerrierTFIDF(_SaturatedTF):
    """TF_IDF of Terrier with its defaults: the idf is ``k1 log2(N/df + 1)``."""

    def idf(self, terms: TermStatistics) -> Vector:
        return np.asarray(np.log2(terms.collection.n_documents / terms.df + 1.0) * self.k1)


@frozen
class TFIDF(_SaturatedTF):
    """TFIDF of Lemur (TFIDFRetMethod) with its defaults: idf² instead of idf, and ``q/(q + k)`` instead of q."""

    k1: float = field(default=1.0, validator=positive)
    b: float = field(default=0.5, validator=within(0.0, 1.0))
    k: float = field(default=1.0, validator=positive)

    def idf(self, terms: TermStatistics) -> Vector:
        return np.asarray(_lemur_idf(terms) ** 2)

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        return counts / (counts + self.k)


@frozen
class Cosine(RetrievalFunction):
    """Cosine of q·idf and tf·idf over all terms, ``Σ_t q·tf·idf² / (‖q‖ ‖d‖)``, of Lemur (CosSimRetMethod)."""

    def of_documents(self, collection: Postings) -> Vector:
        """Return the norm of each document; 1 if it is 0, as in Lemur."""
        idf = np.repeat(_lemur_idf(TermStatistics.of(collection)), collection.document_frequency)
        squares = np.square(collection.counts * idf)
        norms = np.sqrt(np.bincount(collection.documents, squares, minlength=collection.n_documents))
        return np.where(norms > 0.0, norms, 1.0)

    def weights(self, hits: Occurrences) -> Vector:
        return hits.tf * _lemur_idf(hits.terms) / hits.document

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        weights = counts * _lemur_idf(terms)
        return weights / np.linalg.norm(weights)


def _lemur_idf(terms: TermStatistics) -> Vector:
    """Return ``ln((N + 1) / (df + 0.5))``."""
    return np.log((terms.collection.n_documents + 1.0) / (terms.df + 0.5))
