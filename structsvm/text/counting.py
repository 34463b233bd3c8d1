"""Count terms of documents as they arrive, in a few bytes per posting."""

from array import array
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.foundation.types import IntVector
from structsvm.text.analyzer import Analyzer, term_of_token, tokens
from structsvm.text.postings import Postings, Strings

BLOCK = 2**21
"""Tokens per block; a document is never split."""

_STOPPED = -1


class Counting:
    """Counts the terms of documents, for each field and for all together, in blocks of 5 to 9 bytes per posting."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._numbers = _Numbers(analyzer)
        self._fields: dict[str, int] = {}
        self._n_documents = 0
        self._tokens = array("i")
        # Document, field and number of tokens of each text.
        self._pieces = array("i"), array("i"), array("q")
        self._blocks: dict[int, list[_Block]] = {}
        self._whole: list[_Block] = []
        self._lengths: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]] = []

    def add(self, fields: Mapping[str, str]) -> None:
        documents, numbers, sizes = self._pieces
        for name, text in fields.items():
            words = tokens(text)
            self._tokens.extend(map(self._numbers.__getitem__, words))
            documents.append(self._n_documents)
            numbers.append(self._fields.setdefault(name, len(self._fields)))
            sizes.append(len(words))
        self._n_documents += 1
        if len(self._tokens) >= BLOCK or len(sizes) >= BLOCK:
            self._count()

    def finish(self) -> tuple[dict[str, Postings], Postings]:
        """Return the counts by field name, sorted by name, and of all fields together."""
        self._count()
        terms = self._numbers.terms
        order = np.array(sorted(range(len(terms)), key=terms.__getitem__), dtype=np.int64)
        if len(self._fields) == 1:
            [name] = self._fields
            self._blocks.clear()
            whole = self._postings(self._whole, order, None)
            return {name: whole}, whole
        fields = {
            name: self._postings(self._blocks.pop(number, []), order, number)
            for name, number in sorted(self._fields.items())
        }
        return fields, self._postings(self._whole, order, None)

    def _count(self) -> None:
        """Count the tokens read since the last block."""
        documents, fields, sizes = (np.array(piece) for piece in self._pieces)
        numbers = np.frombuffer(self._tokens, dtype=np.intc) if self._tokens else np.zeros(0, dtype=np.intc)
        unstopped = numbers != _STOPPED
        piece = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[unstopped]
        numbers = numbers[unstopped]
        lengths = np.bincount(piece, minlength=len(sizes)).astype(np.int32)
        self._lengths.append((documents.astype(np.int32), fields.astype(np.int32), lengths))
        self._tokens, self._pieces = array("i"), (array("i"), array("i"), array("q"))
        if len(numbers) == 0:
            return
        document, field = documents[piece], fields[piece]
        there = np.unique(field).tolist()
        whole = _Block.of(numbers, document)
        self._whole.append(whole)
        for number in there:
            of_field = field == number
            block = whole if len(there) == 1 else _Block.of(numbers[of_field], document[of_field])
            self._blocks.setdefault(number, []).append(block)

    def _postings(self, blocks: "list[_Block]", order: IntVector, field: int | None) -> Postings:
        """Merge the postings of blocks, and empty the list."""
        terms = self._numbers.terms
        frequency = np.zeros(len(terms), dtype=np.int64)
        for block in blocks:
            frequency[block.terms] += block.sizes
        order = order[frequency[order] > 0]
        ptr = np.zeros(len(order) + 1, dtype=np.int64)
        np.cumsum(frequency[order], out=ptr[1:])
        following = np.zeros(len(terms), dtype=np.int64)
        following[order] = ptr[:-1]
        documents = np.empty(ptr[-1], dtype=np.int32)
        most = max((block.counts.dtype.itemsize for block in blocks), default=1)
        counts = np.empty(ptr[-1], dtype=f"u{most}")
        blocks.reverse()
        while blocks:
            block = blocks.pop()
            starts = np.cumsum(block.sizes, dtype=np.int64) - block.sizes
            place = np.repeat(following[block.terms] - starts, block.sizes)
            place += np.arange(len(place))
            documents[place] = block.documents
            counts[place] = block.counts
            following[block.terms] += block.sizes
        packed = Strings.of(terms[number] for number in order.tolist())
        return Postings(packed, ptr, documents, counts, self._lengths_of(field))

    def _lengths_of(self, field: int | None) -> NDArray[np.int32]:
        totals = np.zeros(self._n_documents, dtype=np.int64)
        for documents, fields, lengths in self._lengths:
            of_field = slice(None) if field is None else fields == field
            np.add.at(totals, documents[of_field], lengths[of_field])
        return totals.astype(np.int32)


class _Numbers(dict[str, int]):
    """Term number by token; new terms are numbered in order of appearance."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self.terms: list[str] = []
        self._term = term_of_token(analyzer)
        self._number: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        term = self._term(token)
        number = _STOPPED
        if term:
            number = self._number.setdefault(term, len(self.terms))
            if number == len(self.terms):
                self.terms.append(term)
        self[token] = number
        return number


@frozen(eq=False)
class _Block:
    """Postings of documents by term, then by document; ``sizes`` has the number of documents of each term."""

    terms: NDArray[np.int32]
    sizes: NDArray[np.int32]
    documents: NDArray[np.int32]
    counts: NDArray[Any]

    @classmethod
    def of(cls, terms: NDArray[np.int32], documents: NDArray[np.int32]) -> Self:
        """Count tokens from the term and document number of each, sorted."""
        first = int(documents[0])
        bits = int(documents[-1] - first).bit_length()
        keys = (terms.astype(np.int64) << bits) | (documents - first)
        keys.sort()
        starts = _changes(keys)
        counts = np.diff(starts, append=len(keys))
        keys = keys[starts]
        postings = (first + (keys & ((1 << bits) - 1))).astype(np.int32)
        keys >>= bits
        starts = _changes(keys)
        sizes = np.diff(starts, append=len(keys)).astype(np.int32)
        smallest = np.min_scalar_type(int(counts.max(initial=0)))
        return cls(keys[starts].astype(np.int32), sizes, postings, counts.astype(smallest))


def _changes(keys: IntVector) -> IntVector:
    """Return the starts of runs of equal numbers."""
    return np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
