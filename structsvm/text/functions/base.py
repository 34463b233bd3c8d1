"""Interface of retrieval functions: a weight for each occurrence of a term, summed over the terms of a query."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.foundation.settings import is_number
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.text.postings import Postings


@frozen(eq=False)
class TermStatistics:
    """Statistics of terms in a collection.

    Parameters
    ----------
    df : number of documents with each term, at least 1, shape (n,).
    cf : occurrences of each term in the collection, at least df, shape (n,).
    collection : the collection, with ``n_documents``, ``n_tokens`` (``|C|``) and ``average_length``.

    Examples
    --------
    >>> from structsvm.text import Index
    >>> index = Index.build([("a", {"text": "wing flow wing"}), ("b", {"text": "heat wing"})])
    >>> terms = TermStatistics.of(index.whole)
    >>> dict(zip(index.whole.terms, terms.share.round(3).tolist(), strict=True))
    {'flow': 0.2, 'heat': 0.2, 'wing': 0.6}
    """

    df: Vector
    cf: Vector
    collection: Postings

    @classmethod
    def of(cls, collection: Postings, terms: IntVector | slice = slice(None)) -> Self:
        """Return the statistics of the terms with these numbers, by default of all."""
        df, cf = collection.document_frequency[terms], collection.collection_frequency[terms]
        return cls(df.astype(np.float64), cf.astype(np.float64), collection)

    @property
    def share(self) -> Vector:
        """Share of each term in all tokens, ``cf / |C|``: the language model of the collection."""
        return self.cf / self.collection.n_tokens


@frozen(eq=False)
class Occurrences:
    """Postings, each of a term and a document with that term; arrays have shape (n,).

    They may be all postings of one term or any selection, so a weight must depend on its own posting only.

    Parameters
    ----------
    tf : occurrences of the term in the document, at least 1.
    length : tokens of the document, ``|d|``, at least tf.
    document : result of `RetrievalFunction.of_documents` for the document; NaN, shape (1,), if that is None.
    terms : statistics of the postings' terms: shape (1,) if all have the same term, else shape (n,).

    Examples
    --------
    >>> from structsvm.registry import retrieval_functions
    >>> from structsvm.text import Index
    >>> from structsvm.text.functions import TermStatistics
    >>> index = Index.build([("a", {"text": "wing flow wing"}), ("b", {"text": "heat"}), ("c", {"text": "heat"})])
    >>> wing = TermStatistics.of(index.whole, np.array([index.whole.find("wing")]))
    >>> found = Occurrences(tf=np.array([2.0]), length=np.array([3.0]), document=np.array([np.nan]), terms=wing)
    >>> retrieval_functions.create("okapi").weights(found).round(3)
    array([0.573])
    """

    tf: Vector
    length: Vector
    document: Vector
    terms: TermStatistics

    @property
    def df(self) -> Vector:
        """Number of documents with the term."""
        return self.terms.df

    @property
    def cf(self) -> Vector:
        """Occurrences of the term in the collection."""
        return self.terms.cf

    @property
    def collection(self) -> Postings:
        """The collection, with its ``n_documents``, ``n_tokens`` and ``average_length``."""
        return self.terms.collection


@frozen
class RetrievalFunction(ABC):
    """Base class of functions that score documents for a query by their common terms.

    The score of document d for query Q is ``Σ_t u(t, Q) · w(t, d) + a(d) + c(Q)``, over the terms t that both share.
    Derive a frozen attrs class with the settings as fields, and implement `weights`, which is w. By default u is the
    number of times that the query has the term, and a and c are 0; override `query_weights`, `document_scores` and
    `query_score` to change them. Documents that share no term with the query are not retrieved.

    Examples
    --------
    >>> from attrs import frozen
    >>> from structsvm.text import Index, Retriever
    >>> @frozen
    ... class LogIDF(RetrievalFunction):
    ...     def weights(self, hits):
    ...         return np.log1p(hits.tf) * np.log(hits.collection.n_documents / hits.df)
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, LogIDF()).retrieve({"1": "a wing"}).scores.round(3)
    array([0.445, 0.281])
    """

    @abstractmethod
    def weights(self, hits: Occurrences) -> Vector:
        """Return ``w(t, d)`` of postings, shape (n,), finite; the arrays of the postings are read-only."""

    def query_weights(self, counts: Vector, terms: TermStatistics) -> Vector:
        """Return ``u(t, Q)`` of each term of a query in the collection, shape (n,): the counts, unless overridden."""
        return counts

    def of_documents(self, collection: Postings) -> Vector | None:
        """Return a further statistic of each document that `weights` needs, shape (n_documents,), or None."""
        return None

    def document_scores(self, collection: Postings) -> Vector | None:
        """Return ``a(d)`` of each document, shape (n_documents,); None: 0 for all."""
        return None

    def query_score(self, counts: Vector, terms: TermStatistics) -> float:
        """Return ``c(Q)``, which is added to all scores: 0, unless overridden. See `query_weights`."""
        return 0.0

    def bind(self, postings: Postings) -> "Scorer":
        """Return a scorer of the documents of a collection, or of one of its fields."""
        return Scorer(self, postings)


class Scorer:
    """Scores of the documents of a collection or field.

    The weights of a term are computed when a query first contains it.
    """

    def __init__(self, function: RetrievalFunction, postings: Postings) -> None:
        self.function = function
        self.postings = postings
        self._lengths = postings.lengths.astype(np.float64)
        self._of_documents = self._checked(function.of_documents(postings), "of_documents")
        self._added = self._checked(function.document_scores(postings), "document_scores")
        # The array takes memory only in the parts that are filled.
        self._weights: Vector = np.empty(len(postings.documents))
        self._weighted = np.zeros(len(postings.terms), dtype=np.bool_)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.function!r}, {self.postings!r})"

    def scores(self, query: Mapping[str, float]) -> Vector:
        """Return the score of every document for the counts of a query's terms, shape (n_documents,)."""
        return self.scores_and_matches(query)[0]

    def scores_and_matches(self, query: Mapping[str, float]) -> tuple[Vector, BoolVector]:
        """Return the score of every document, and whether it has a term of the query; see `scores`."""
        numbered = self._numbered(query)
        sums, matches = np.zeros(self.postings.n_documents), np.zeros(self.postings.n_documents, dtype=np.bool_)
        if not numbered:
            return sums, matches
        terms = np.array(list(numbered), dtype=np.int64)
        counts = np.array(list(numbered.values()), dtype=np.float64)
        statistics = TermStatistics.of(self.postings, terms)
        weights = np.broadcast_to(self.function.query_weights(counts, statistics), terms.shape)
        score = float(self.function.query_score(counts, statistics))
        if not (np.isfinite(weights).all() and np.isfinite(score)):
            raise InputError(f"{self.function!r} gives the query {dict(query)!r} a weight or score that is not finite")
        for term, weight in zip(numbered, weights.tolist(), strict=True):
            where = slice(int(self.postings.ptr[term]), int(self.postings.ptr[term + 1]))
            if not self._weighted[term]:
                self._weights[where] = self.weigh(term, where)
                self._weighted[term] = True
            documents = self.postings.documents[where]
            sums[documents] += weight * self._weights[where]
            matches[documents] = True
        return (sums + self._added if len(self._added) else sums) + score, matches

    def _numbered(self, query: Mapping[str, float]) -> dict[int, float]:
        """Return the number of occurrences of each term in the query, by term number, ascending."""
        numbered = {}
        for term, count in query.items():
            if not is_number(count, above=0.0):
                raise InputError(f"the count of each term of a query must be a number above 0: {term!r} has {count!r}")
            number = self.postings.find(term)
            if number is not None:
                numbered[number] = float(count)
        return dict(sorted(numbered.items()))

    def weigh(self, term: int, where: slice) -> Vector:
        """Return the weights of some postings of a term."""
        documents = self.postings.documents[where]
        statistic = self._of_documents[documents] if len(self._of_documents) else np.full(1, np.nan)
        hits = Occurrences(
            self.postings.counts[where].astype(np.float64),
            self._lengths[documents],
            statistic,
            TermStatistics.of(self.postings, np.array([term])),
        )
        for array in (hits.tf, hits.length, hits.document):
            array.flags.writeable = False
        weights = np.asarray(self.function.weights(hits), dtype=np.float64)
        if weights.shape not in {(), (1,), documents.shape} or not np.isfinite(weights).all():
            raise InputError(
                f"{self.function!r} must give each of the {len(documents)} documents with the term "
                f"{self.postings.terms[term]!r} a finite weight, but returned {_described(weights)}: run "
                "structsvm.testing.check_retrieval to find the reason"
            )
        return np.broadcast_to(weights, documents.shape)

    def _checked(self, numbers: Any, what: str) -> Vector:
        """Return one finite number per document, or an empty array for None."""
        if numbers is None:
            return np.zeros(0)
        values = np.asarray(numbers, dtype=np.float64)
        if values.shape != (self.postings.n_documents,) or not np.isfinite(values).all():
            raise InputError(
                f"{what} of {self.function!r} must return None or a finite number for each of "
                f"{self.postings.n_documents} documents, but returned {_described(values)}"
            )
        return values


def _described(values: Vector) -> str:
    if np.isfinite(values).all():
        return f"numbers of shape {values.shape}"
    return f"{values[~np.isfinite(values)].flat[0]} among them"
