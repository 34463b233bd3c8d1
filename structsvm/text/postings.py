"""Sparse counts of terms in documents, and packed texts."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, overload

import numpy as np
from attrs import define, frozen
from numpy.typing import NDArray

from structsvm.foundation.types import IntVector


@define(eq=False, repr=False, frozen=True, slots=False)
class Postings:
    """The documents and counts of each term, term after term.

    Parameters
    ----------
    terms : the terms, sorted by Unicode code points, shape (n_terms,).
    ptr : term t has the postings ``ptr[t]:ptr[t + 1]``, at least one, shape (n_terms + 1,).
    documents : document number of each posting, ascending within a term, shape (n_postings,).
    counts : occurrences of the term in the document, at least 1, shape (n_postings,), in the smallest unsigned type
        that fits all; convert them with ``astype`` before multiplying.
    lengths : number of tokens of each document, not counting stop words, shape (n_documents,).

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
        """Number of documents, including empty ones."""
        return len(self.lengths)

    @property
    def n_terms(self) -> int:
        """Number of distinct terms."""
        return len(self.terms)

    @property
    def n_postings(self) -> int:
        """Number of pairs of a term and a document with the term."""
        return len(self.documents)

    @cached_property
    def n_tokens(self) -> int:
        """Sum of the lengths of all documents."""
        return int(self.lengths.sum(dtype=np.int64))

    @property
    def average_length(self) -> float:
        """Tokens per document."""
        return self.n_tokens / self.n_documents

    @cached_property
    def document_frequency(self) -> IntVector:
        """Number of documents with each term, shape (n_terms,)."""
        return np.diff(self.ptr)

    @cached_property
    def collection_frequency(self) -> IntVector:
        """Occurrences of each term in the collection, shape (n_terms,)."""
        if not self.n_terms:
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(self.counts, self.ptr[:-1], dtype=np.int64)

    def find(self, term: str) -> int | None:
        """Return the number of a term; None if no document has it."""
        if term not in self._found:
            at = bisect_left(self.terms, term)
            if at == self.n_terms or self.terms[at] != term:
                return None
            self._found[term] = at
        return self._found[term]

    @cached_property
    def _found(self) -> dict[str, int]:
        """Cache of term numbers."""
        return {}

    def __repr__(self) -> str:
        return f"Postings({self.n_documents:,} documents, {self.n_terms:,} terms, {self.n_postings:,} postings)"


@frozen(eq=False, repr=False)
class Strings(Sequence[str]):
    """Texts one after the other in UTF-8, text i in ``content[ptr[i]:ptr[i + 1]]``; indexed like an array of texts."""

    content: NDArray[np.uint8]
    ptr: IntVector

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Pack texts."""
        pieces = [text.encode("utf-8", "surrogateescape") for text in texts]
        ptr = np.zeros(len(pieces) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=ptr[1:])
        return cls(np.frombuffer(b"".join(pieces), dtype=np.uint8), ptr)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int | np.integer):
            at = int(index) + (len(self) if index < 0 else 0)
            if not 0 <= at < len(self):
                raise IndexError(f"there is no text {index} among {len(self)}")
            return _decoded(self.content[self.ptr[at] : self.ptr[at + 1]].tobytes())
        positions = np.arange(len(self))[index]
        content, starts, ends = self.content, self.ptr[positions].tolist(), self.ptr[positions + 1].tolist()
        texts = [_decoded(content[start:end].tobytes()) for start, end in zip(starts, ends, strict=True)]
        return np.array(texts, dtype=np.str_)

    def tolist(self) -> list[str]:
        """Return all texts."""
        content = self.content.tobytes()
        return [_decoded(content[start:end]) for start, end in pairwise(self.ptr.tolist())]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.tolist(), dtype=np.str_ if dtype is None else dtype)

    def __repr__(self) -> str:
        return f"Strings({len(self):,} texts of {len(self.content):,} bytes)"


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
