"""Sparse counts of terms in documents."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from structsvm.types import IntVector


@define(eq=False, repr=False, frozen=True, slots=False)
class Postings:
    """The documents that each term is in, and how often: term after term.

    Parameters
    ----------
    terms : the terms, sorted by their characters' numbers in Unicode, shape (n_terms,).
    ptr : postings ``ptr[t]:ptr[t + 1]`` are those of term t, at least one, shape (n_terms + 1,).
    documents : number of the document of each posting, ascending in a term, shape (n_postings,).
    counts : how often the term is in the document, at least once, shape (n_postings,); of the smallest unsigned type
        that has room for all, so products of them are taken after ``astype``.
    lengths : tokens of each document that are no stop words, shape (n_documents,).

    Examples
    --------
    >>> from structsvm.text import Index
    >>> postings = Index.build([("a", {"text": "a wing and a wing"}), ("b", {"text": "one wing"})]).whole
    >>> term = postings.find("wing")
    >>> where = slice(postings.ptr[term], postings.ptr[term + 1])
    >>> postings.documents[where].tolist(), postings.counts[where].tolist()
    ([0, 1], [2, 1])
    >>> postings.document_frequency[term], postings.collection_frequency[term], postings.average_length
    (np.int64(2), np.int64(3), 2.0)
    """

    terms: Sequence[str]
    ptr: IntVector
    documents: NDArray[np.int32]
    counts: NDArray[Any]
    lengths: NDArray[np.int32]

    @property
    def n_documents(self) -> int:
        """Number of documents, those without a term too."""
        return len(self.lengths)

    @property
    def n_terms(self) -> int:
        """Number of different terms."""
        return len(self.terms)

    @property
    def n_postings(self) -> int:
        """Number of pairs of a term and a document that has it."""
        return len(self.documents)

    @cached_property
    def n_tokens(self) -> int:
        """Sum of the lengths of all documents."""
        return int(self.lengths.sum(dtype=np.int64))

    @property
    def average_length(self) -> float:
        """Tokens a document."""
        return self.n_tokens / self.n_documents

    @cached_property
    def document_frequency(self) -> IntVector:
        """Number of documents that each term is in, shape (n_terms,)."""
        return np.diff(self.ptr)

    @cached_property
    def collection_frequency(self) -> IntVector:
        """How often each term is in the collection, shape (n_terms,)."""
        if not self.n_terms:
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(self.counts, self.ptr[:-1], dtype=np.int64)

    def find(self, term: str) -> int | None:
        """Return the number of a term; None where no document has it."""
        if term not in self._found:
            at = bisect_left(self.terms, term)
            if at == self.n_terms or self.terms[at] != term:
                return None
            self._found[term] = at
        return self._found[term]

    @cached_property
    def _found(self) -> dict[str, int]:
        """The numbers of terms that were looked for."""
        return {}

    def __repr__(self) -> str:
        return f"Postings({self.n_documents:,} documents, {self.n_terms:,} terms, {self.n_postings:,} postings)"
