"""Retrieval functions that score the query under the smoothed language model of each document."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import positive, within
from structsvm.foundation.types import Vector
from structsvm.text.functions.base import Occurrences, RetrievalFunction, TermStatistics
from structsvm.text.postings import Postings


@frozen
class _LanguageModel(RetrievalFunction):
    """``Σ_t p(t|Q) ln p(t|d)``, minus ``Σ_t p(t|Q) ln p(t|Q)`` unless ``is_likelihood``, with ``p(t|Q) = q/|Q|``.

    A term that d lacks has ``p(t|d) = a(d) p(t|C)``, with ``p(t|C) = cf/|C|`` (Zhai and Lafferty, SIGIR 2001). A
    subclass implements ``a(d)`` as `unseen`, and ``ln(p(t|d) / (a(d) p(t|C)))`` for the terms of d as `weights`.
    """

    is_likelihood: ClassVar[bool] = False

    @abstractmethod
    def unseen(self, collection: Postings) -> Vector:
        """Return ``a(d)`` of each document, above 0, shape (n_documents,)."""

    def document_scores(self, collection: Postings) -> Vector:
        return np.log(self.unseen(collection))

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        shares: Vector = counts / counts.sum()
        return shares

    def query_score(self, counts: Vector, terms: TermStatistics) -> float:
        if self.is_likelihood:
            return float(counts @ np.log(terms.share) / counts.sum())
        shares = counts / counts.sum()
        return -float(shares @ np.log(shares / terms.share))


@frozen
class Dirichlet(_LanguageModel):
    """Dirichlet prior, ``p(t|d) = (tf + mu p(t|C)) / (|d| + mu)``; from Lemur (DirichletPriorDocModel), with its mu."""

    mu: float = field(default=1000.0, validator=positive)

    def weights(self, hits: Occurrences) -> Vector:
        return np.log1p(hits.tf / (self.mu * hits.terms.share))

    def unseen(self, collection: Postings) -> Vector:
        return self.mu / (collection.lengths.astype(np.float64) + self.mu)


@frozen
class JelinekMercer(_LanguageModel):
    """Interpolation, ``p(t|d) = (1 − weight) tf/|d| + weight p(t|C)``; Lemur's lambda (JelinekMercerDocModel)."""

    weight: float = field(default=0.5, validator=within(0.0, 1.0, ends=False))

    def weights(self, hits: Occurrences) -> Vector:
        return np.log1p((1.0 - self.weight) / self.weight * hits.tf / hits.length / hits.terms.share)

    def unseen(self, collection: Postings) -> Vector:
        return np.full(collection.n_documents, self.weight)


@frozen
class AbsoluteDiscount(_LanguageModel):
    """Absolute discounting, ``p(t|d) = max(tf − delta, 0)/|d| + a(d) p(t|C)`` with ``a(d) = delta u/|d|``.

    u is the number of distinct terms of the document. From Lemur (AbsoluteDiscountDocModel), with its default. An empty
    document, which is not retrieved, has ``a(d) = 1``.
    """

    delta: float = field(default=0.7, validator=within(0.0, 1.0, ends=False))

    def of_documents(self, collection: Postings) -> Vector:
        """Return the number of distinct terms of each document."""
        return np.bincount(collection.documents, minlength=collection.n_documents).astype(np.float64)

    def weights(self, hits: Occurrences) -> Vector:
        return np.log1p((hits.tf - self.delta) / (self.delta * hits.document * hits.terms.share))

    def unseen(self, collection: Postings) -> Vector:
        length, discounted = collection.lengths, self.delta * self.of_documents(collection)
        return np.divide(discounted, length, out=np.ones(len(length)), where=length > 0)


@frozen
class IndriDirichlet(Dirichlet):
    """Dirichlet prior with the score and the default of Indri."""

    is_likelihood: ClassVar[bool] = True

    mu: float = field(default=2500.0, validator=positive)


@frozen
class IndriJelinekMercer(JelinekMercer):
    """Interpolation with the score and the default of Indri, collectionLambda."""

    is_likelihood: ClassVar[bool] = True

    weight: float = field(default=0.4, validator=within(0.0, 1.0, ends=False))
