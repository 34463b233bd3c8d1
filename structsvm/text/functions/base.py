"""What a retrieval function is: a weight for each occurrence of a term, summed over the terms of a query."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.settings import is_number
from structsvm.text.accumulation import DENSE
from structsvm.text.functions.statistics import DocumentStatistics, Occurrences, TermStatistics
from structsvm.text.postings import Postings
from structsvm.types import BoolVector, IntVector, Matrix, Vector

_AT_ONCE = 1 << 14
"""Postings that are weighed at a time, so that what is computed on the way stays in the processor's cache."""


@frozen
class RetrievalFunction(ABC):
    """Scores documents for a query by the terms that they have in common.

    ``score(Q, d) = Σ_t u(t, Q) · w(t, d) + a(d) + c(Q)``, over the terms t that query and document share. Derive from
    it as a frozen attrs class with the settings as its fields, and write `weights`, which is w; u is the number of
    times that the query has the term, a and c are 0, unless `query_weights`, `document_scores` and `query_score` say
    otherwise.

    Documents that have no term of the query are not retrieved. A term that no document has counts for nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from attrs import frozen
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import RetrievalFunction
    >>> @frozen
    ... class LogIDF(RetrievalFunction):
    ...     def weights(self, found):
    ...         return np.log1p(found.tf) * np.log(found.collection.n_documents / found.df)
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, LogIDF()).retrieve({"1": "a wing"}).scores.round(3)
    array([0.445, 0.281])
    """

    @abstractmethod
    def weights(self, found: Occurrences) -> Vector:
        """Return ``w(t, d)`` of postings, shape (n,), finite.

        Parameters
        ----------
        found : the postings; their arrays cannot be written to.
        """

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        """Return ``u(t, Q)`` of each term of a query, shape (n,): the counts, unless overridden.

        Parameters
        ----------
        counts : how often the query has each, above 0, shape (n,); n is at least 1.
        terms : the terms, those that the collection has, shape (n,).
        """
        return counts

    def of_documents(self, documents: DocumentStatistics) -> Vector | None:
        """Return what `weights` is to know of each document beside its length, shape (n_documents,); None: nothing."""
        return None

    def document_scores(self, documents: DocumentStatistics) -> Vector | None:
        """Return ``a(d)`` of each document, shape (n_documents,); None: 0 for all."""
        return None

    def query_score(self, counts: Vector, terms: TermStatistics) -> float:
        """Return ``c(Q)``, which is added to all scores: 0, unless overridden. See `query_weights`."""
        return 0.0

    def bind(self, postings: Postings) -> "Scorer":
        """Return what scores the documents of a collection.

        Parameters
        ----------
        postings : the collection, or one field of it.
        """
        return Scorer(self, postings)


class BoundQuery(NamedTuple):
    """A query as a collection knows it.

    Parameters
    ----------
    terms : numbers of its terms in the collection, in descending order of `most`, shape (m,).
    weights : ``u(t, Q)`` of each, shape (m,).
    most : the most that each adds to the score of a document, at least 0, shape (m,).
    score : ``c(Q)``.
    size : the largest absolute value that the sum of a score's parts can have, but for ``a(d)``.
    """

    terms: IntVector
    weights: Vector
    most: Vector
    score: float
    size: float


class Scorer:
    """Scores the documents of a collection by a retrieval function. Made by `RetrievalFunction.bind`.

    What depends on the documents alone is computed once; the weights of a term's postings when a query first has the
    term, and kept: 8 bytes a posting; if at least a quarter of the documents have the term, 8 bytes a document.

    Parameters
    ----------
    function : the function.
    postings : the collection, or one field of it.

    Attributes
    ----------
    weights : ``w(t, d)`` of each posting, shape (n_postings,), of those whose terms a query had and are not dense.
    dense : ``w(t, d)`` of each document, NaN where it does not have the term, of dense terms that a query had, shape
        (n_dense, n_documents); see `structsvm.text.accumulation`.
    added : ``a(d)`` of each document, shape (n_documents,); or (0,), where that is 0 for all.

    Examples
    --------
    >>> from structsvm.text import Index
    >>> from structsvm.text.functions import Okapi
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none", "d": "nothing", "e": "no more"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> scorer = Okapi().bind(index.whole)
    >>> scorer.scores({"wing": 1, "one": 1}).round(2), scorer.retrieved({"wing": 1, "one": 1})
    (array([0.39, 0.26, 0.  , 0.  , 0.  ]), array([ True,  True, False, False, False]))
    """

    def __init__(self, function: RetrievalFunction, postings: Postings) -> None:
        self.function = function
        self.postings = postings
        self._documents = DocumentStatistics.of(postings)
        self._of_documents = self._checked(function.of_documents(self._documents), "of_documents")
        self.added = self._checked(function.document_scores(self._documents), "document_scores")
        self.weights: Vector = np.empty(len(postings.documents))  # takes memory where it is filled
        self._dense = np.flatnonzero(DENSE * postings.document_frequency >= postings.n_documents)
        self.dense: Matrix = np.empty((len(self._dense), postings.n_documents))  # so does this
        self._range = np.full((2, len(postings.terms)), np.nan)  # the least and the largest weight of a term

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.function!r}, {self.postings!r})"

    def scores(self, query: Mapping[str, float]) -> Vector:
        """Return the score of every document, shape (n_documents,).

        A document without a term of the query, which is not retrieved, has ``a(d) + c(Q)``. All have 0 where the
        collection has no term of the query.

        Parameters
        ----------
        query : how often the query has each term.

        Raises
        ------
        InputError : a number is none above 0, or the function returns what it must not.
        """
        bound = self.bound_query(query)
        sums = np.zeros(self.postings.n_documents)
        if len(bound.terms) == 0:
            return sums
        ptr = self.postings.ptr
        for term, weight in zip(bound.terms.tolist(), bound.weights.tolist(), strict=True):
            where = slice(ptr[term], ptr[term + 1])
            documents = self.postings.documents[where]
            [row] = self.rows(np.array([term]))
            sums[documents] += weight * (self.weights[where] if row < 0 else self.dense[row, documents])
        return (sums + self.added if len(self.added) else sums) + bound.score

    def rows(self, terms: IntVector) -> IntVector:
        """Return the row of each term in `dense`, -1 for those that are not there, shape (n,)."""
        if len(self._dense) == 0:
            return np.full(len(terms), -1)
        row = np.minimum(np.searchsorted(self._dense, terms), len(self._dense) - 1)
        return np.where(self._dense[row] == terms, row, -1)

    def retrieved(self, query: Mapping[str, float]) -> BoolVector:
        """Return which documents have a term of the query, shape (n_documents,). See `scores`."""
        found = np.zeros(self.postings.n_documents, dtype=np.bool_)
        for term in self._numbered(query):
            found[self.postings.documents[self.postings.ptr[term] : self.postings.ptr[term + 1]]] = True
        return found

    def bound_query(self, query: Mapping[str, float]) -> BoundQuery:
        """Return a query as the collection knows it, and see that the weights of its terms are there. See `scores`."""
        numbered = self._numbered(query)
        terms = np.array(list(numbered), dtype=np.int64)
        if len(terms) == 0:
            return BoundQuery(terms, np.zeros(0), np.zeros(0), 0.0, 0.0)
        counts = np.array(list(numbered.values()), dtype=np.float64)
        statistics = self._terms(terms)
        weights = np.broadcast_to(self.function.query_weights(counts, statistics), terms.shape)
        score = float(self.function.query_score(counts, statistics))
        if not (np.isfinite(weights).all() and np.isfinite(score)):
            raise InputError(f"{self.function!r} gives the query {dict(query)!r} a weight or score that is not finite")
        for term in terms[np.isnan(self._range[0, terms])].tolist():
            self._fill(term)
        extremes = weights * self._range[:, terms]
        most = extremes.max(axis=0, initial=0.0)
        size = float(np.abs(extremes).max(axis=0).sum()) + abs(score)
        order = np.argsort(-most, kind="stable")
        return BoundQuery(terms[order], weights[order], most[order], score, size)

    def _numbered(self, query: Mapping[str, float]) -> dict[int, float]:
        """Return how often the query has each term of the collection, by number, ascending."""
        found = {}
        for term, count in query.items():
            if not is_number(count, above=0.0):
                raise InputError(
                    f"a query must say how often it has each term, a number above 0: {term!r} has {count!r}"
                )
            number = self.postings.find(term)
            if number is not None:
                found[number] = float(count)
        return dict(sorted(found.items()))

    def _terms(self, terms: IntVector) -> TermStatistics:
        df, cf = self.postings.document_frequency[terms], self.postings.collection_frequency[terms]
        return TermStatistics(df.astype(np.float64), cf.astype(np.float64), self._documents.collection)

    def _fill(self, term: int) -> None:
        begin, end = int(self.postings.ptr[term]), int(self.postings.ptr[term + 1])
        [row] = self.rows(np.array([term]))
        if row >= 0:
            self.dense[row] = np.nan
        least, most = np.inf, -np.inf
        for first in range(begin, end, _AT_ONCE):
            where = slice(first, min(first + _AT_ONCE, end))
            weights = self.weigh(term, where)
            if row < 0:
                self.weights[where] = weights
            else:
                self.dense[row, self.postings.documents[where]] = weights
            least, most = min(least, weights.min()), max(most, weights.max())
        self._range[:, term] = least, most

    def weigh(self, term: int, where: slice) -> Vector:
        """Return the weights of some postings of a term."""
        documents = self.postings.documents[where]
        known = self._of_documents[documents] if len(self._of_documents) else np.full(1, np.nan)
        found = Occurrences(
            self.postings.counts[where].astype(np.float64),
            self._documents.length[documents],
            known,
            self._terms(np.array([term])),
        )
        for array in (found.tf, found.length, found.document):
            array.flags.writeable = False
        weights = np.asarray(self.function.weights(found), dtype=np.float64)
        if weights.shape not in {(), (1,), documents.shape} or not np.isfinite(weights).all():
            raise InputError(
                f"{self.function!r} must give each of the {len(documents)} documents with the term "
                f"{self.postings.terms[term]!r} a finite weight, and gives {_described(weights)}: "
                "structsvm.testing.check_retrieval finds out why"
            )
        return np.broadcast_to(weights, documents.shape)

    def _checked(self, numbers: Any, what: str) -> Vector:
        """Return a number for each document, or none where there are none."""
        if numbers is None:
            return np.zeros(0)
        values = np.asarray(numbers, dtype=np.float64)
        if values.shape != (self.postings.n_documents,) or not np.isfinite(values).all():
            raise InputError(
                f"{what} of {self.function!r} must return None or a finite number for each of "
                f"{self.postings.n_documents} documents, and returns {_described(values)}"
            )
        return values


def _described(values: Vector) -> str:
    if np.isfinite(values).all():
        return f"numbers of shape {values.shape}"
    return f"{values[~np.isfinite(values)].flat[0]} among them"
