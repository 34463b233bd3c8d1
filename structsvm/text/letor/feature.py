"""Features of a query and its candidates, and the counts that features are computed from."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define, field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.registry import retrieval_functions
from structsvm.text.postings import Postings


class IndexedField:
    """Counts of a field, and a cache of retrieval functions bound to them."""

    def __init__(self, postings: Postings) -> None:
        self.postings = postings
        self._bound: dict[str, Any] = {}

    def scores(self, function: str, query: Mapping[str, int]) -> Vector:
        """Return the scores of all documents by a retrieval function, shape (n_documents,)."""
        if function not in self._bound:
            self._bound[function] = retrieval_functions.create(function).bind(self.postings)
        scores: Vector = self._bound[function].scores(query)
        return scores


@define(eq=False, slots=False)
class Evidence:
    """A query, and the counts of its terms in one field of the candidate documents.

    The m terms are the distinct terms of the query that occur in the field of any document, sorted.

    Parameters
    ----------
    source : the field.
    query : number of occurrences of each term in the query.
    documents : numbers of the candidates in the index, shape (n,).

    Examples
    --------
    >>> from structsvm.text import Index
    >>> index = Index.build([("a", {"text": "swept wing"}), ("b", {"text": "a wing, a wing"})])
    >>> evidence = Evidence(IndexedField(index.whole), {"wing": 1, "sweep": 1}, index.numbers_of(["b", "a"]))
    >>> evidence.counts, evidence.document_frequency
    (array([[2., 1.]]), array([2.]))
    """

    source: IndexedField
    query: Mapping[str, int]
    documents: IntVector
    _scores: dict[str, Vector] = field(factory=dict, init=False)

    @cached_property
    def terms(self) -> IntVector:
        """Numbers of the terms, shape (m,)."""
        numbers = (self.source.postings.find(term) for term in self.query)
        return np.array(sorted(number for number in numbers if number is not None), dtype=np.int64)

    @cached_property
    def counts(self) -> Matrix:
        """``c(q_i, d)``: occurrences of each term in each candidate, shape (m, n)."""
        postings = self.source.postings
        counts = np.zeros((len(self.terms), len(self.documents)))
        for row, term in zip(counts, self.terms.tolist(), strict=True):
            start, end = int(postings.ptr[term]), int(postings.ptr[term + 1])
            having = postings.documents[start:end]
            place = np.minimum(np.searchsorted(having, self.documents), end - start - 1)
            row[:] = np.where(having[place] == self.documents, postings.counts[start:end][place], 0)
        return counts

    @cached_property
    def rates(self) -> Matrix:
        """``c(q_i, d) / |d|``: share of each term in each candidate, 0 if the candidate is empty, shape (m, n)."""
        lengths = self.source.postings.lengths[self.documents]
        return self.counts / np.maximum(lengths, 1)

    @property
    def n_documents(self) -> int:
        """``|C|``: number of documents of the collection."""
        return self.source.postings.n_documents

    @property
    def document_frequency(self) -> Vector:
        """``df(q_i)``: number of documents with each term, at least 1, shape (m,)."""
        return self.source.postings.document_frequency[self.terms].astype(np.float64)

    @property
    def collection_frequency(self) -> Vector:
        """``c(q_i, C)``: occurrences of each term in the collection, at least 1, shape (m,)."""
        return self.source.postings.collection_frequency[self.terms].astype(np.float64)

    def scores(self, function: str) -> Vector:
        """Return the scores of the candidates by a retrieval function on the field, shape (n,)."""
        if function not in self._scores:
            self._scores[function] = self.source.scores(function, self.query)[self.documents]
        return self._scores[function]


@frozen
class Feature:
    r"""A feature of a query and a document.

    Parameters
    ----------
    name : its name, without blanks; ``L1`` to ``L10`` and ``H1`` to ``H5`` are LETOR's names.
    description : description of the feature, for tables.
    formula : the formula in LaTeX, with :math:`c(q_i, d)`, :math:`|d|`, :math:`c(q_i, C)`, :math:`df(q_i)` and
        :math:`|C|` as in `Evidence`.
    source : publication or program that defines the feature.
    compute : function of the `Evidence` that returns the values of the candidates, shape (n,).

    Examples
    --------
    >>> from structsvm.data import Qrels
    >>> from structsvm.text import Analyzer, Index
    >>> from structsvm.text.letor import letor_features
    >>> def covered(evidence):
    ...     return (evidence.counts > 0).sum(axis=0) / len(evidence.query)
    >>> feature = Feature("covered", "share of the query's terms in the text", r"|q \cap d| / |q|", "our own", covered)
    >>> index = Index.build([("a", {"text": "a swept wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> judged = Qrels.from_grades(["1", "1"], ["a", "b"], [1, 0])
    >>> letor_features(index, {"1": "swept wings"}, judged, features=["L1", feature], normalize=None).X
    array([[1. , 0.5],
           [2. , 1. ]])
    """

    name: str
    description: str
    formula: str
    source: str
    compute: Callable[[Evidence], Vector] = field(repr=False)

    def values(self, evidence: Evidence) -> Vector:
        """Return the values of all candidates, shape (n,); raise InputError unless they are finite numbers."""
        values = numbers(self.compute(evidence), f"the result of feature {self.name}")
        if values.shape != evidence.documents.shape:
            raise InputError(
                f"feature {self.name} must have a number for each of {len(evidence.documents)} candidates; its "
                f"function returns shape {values.shape}"
            )
        wrong = ~np.isfinite(values)
        if wrong.any():
            raise InputError(
                f"feature {self.name} is {values[wrong.argmax()]} for a document with the terms "
                f"{', '.join(sorted(evidence.query))}: its function must give every document a finite score"
            )
        return values
