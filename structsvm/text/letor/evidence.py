"""What an index says of a query and its candidates: all that a feature may look at."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define, field

from structsvm.registry import retrieval_functions
from structsvm.text.postings import Postings
from structsvm.types import IntVector, Matrix, Vector


class IndexedField:
    """The counts of a field, and the retrieval functions that are bound to them, each once.

    Parameters
    ----------
    postings : the counts of the field.
    """

    def __init__(self, postings: Postings) -> None:
        self.postings = postings
        self._bound: dict[str, Any] = {}

    def scores(self, function: str, query: Mapping[str, int]) -> Vector:
        """Return the scores of all documents by the retrieval function of a name, shape (n_documents,)."""
        if function not in self._bound:
            self._bound[function] = retrieval_functions.create(function).bind(self.postings)
        scores: Vector = self._bound[function].scores(query)
        return scores


@define(eq=False, slots=False)
class Evidence:
    r"""A query and the text of its candidates in a field.

    The terms are those of the query that the field of some document has, each once, sorted.

    Parameters
    ----------
    source : the field.
    query : how often each term is in the query.
    documents : numbers of the candidates, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.data import Qrels
    >>> from structsvm.text import Analyzer, Index
    >>> from structsvm.text.letor import Feature, letor_features
    >>> def largest(evidence):
    ...     idf = np.log(evidence.n_documents / evidence.document_frequency)
    ...     return (evidence.counts * idf[:, None]).max(axis=0)
    >>> feature = Feature("largest", "largest tf-idf", r"\max_i c(q_i, d) \log(|C| / df(q_i))", "our own", largest)
    >>> texts = {"a": "swept wing", "b": "wings", "c": "flow"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()], Analyzer("porter"))
    >>> judged = Qrels.from_grades(["1", "1"], ["a", "b"], [1, 0])
    >>> letor_features(index, {"1": "swept wings"}, judged, features=feature, normalise="none").X.ravel().round(2)
    array([0.41, 1.1 ])
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
        """c(q_i, d): how often each term is in each candidate, shape (m, n)."""
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
        """``c(q_i, d) / |d|``: the share of each term in each candidate, 0 in an empty one, shape (m, n)."""
        lengths = self.source.postings.lengths[self.documents]
        return self.counts / np.maximum(lengths, 1)

    @property
    def n_documents(self) -> int:
        """``|C|``: number of documents of the collection."""
        return self.source.postings.n_documents

    @property
    def document_frequency(self) -> Vector:
        """df(q_i): number of documents with each term, at least 1, shape (m,)."""
        return self.source.postings.document_frequency[self.terms].astype(np.float64)

    @property
    def collection_frequency(self) -> Vector:
        """c(q_i, C): how often each term is in the collection, at least 1, shape (m,)."""
        return self.source.postings.collection_frequency[self.terms].astype(np.float64)

    def scores(self, function: str) -> Vector:
        """Return the scores of the candidates by the retrieval function of a name, on the field, shape (n,)."""
        if function not in self._scores:
            self._scores[function] = self.source.scores(function, self.query)[self.documents]
        return self._scores[function]
