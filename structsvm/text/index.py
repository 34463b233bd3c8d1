"""Indexes: term counts of a collection by field."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.data.pairs import as_ids
from structsvm.exceptions import InputError, UnknownNameError, brief, quoted
from structsvm.foundation.settings import require_kind
from structsvm.foundation.tables.table import Column, Table
from structsvm.foundation.types import IntVector
from structsvm.text.analyzer import Analyzer
from structsvm.text.counting import Counting
from structsvm.text.index_file import read_index, write_index
from structsvm.text.postings import Postings, Strings

WHOLE = "whole"
"""Name of all fields of a document together."""


@frozen(eq=False, repr=False)
class Index:
    """Term counts of each document of a collection, by field.

    Parameters
    ----------
    analyzer : analyzer of documents and queries.
    doc_ids : ids of the n_documents documents, in the order of the collection; ``doc_ids[numbers]`` is an
        array of texts.
    fields : the counts of each field, sorted by name.
    whole : the counts of all fields together; the same object as the field if there is only one.

    Examples
    --------
    >>> index = Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> index
    Index(2 documents, 2 terms, 3 postings)
    >>> index.whole.document_frequency[index.whole.find("wing")]
    np.int64(2)
    """

    analyzer: Analyzer
    doc_ids: Strings
    fields: Mapping[str, Postings]
    whole: Postings

    @classmethod
    def build(cls, documents: Iterable[Any], analyzer: Analyzer | None = None) -> Self:
        """Index documents; they are read once and need not fit in memory.

        Parameters
        ----------
        documents : objects with ``id`` and ``fields``, texts by name, as from `structsvm.data.read_documents`; or pairs
            of id and fields.
        analyzer : None: ``Analyzer()``, which stems and drops stop words.
        """
        if analyzer is None:
            analyzer = Analyzer()
        require_kind("analyzer", analyzer, Analyzer, "an Analyzer")
        counting, ids = Counting(analyzer), list[str]()
        for document in _iterated(documents):
            name, texts = _parts(document)
            ids.append(name)
            counting.add(texts)
        doc_ids = _different(ids)
        fields, whole = counting.finish()
        if not whole.n_terms:
            raise InputError(
                f"no document of {len(doc_ids):,} has a term: check the format of the collection, and the language of "
                "the stop words"
            )
        return cls(analyzer, doc_ids, fields, whole)

    @cached_property
    def sorted_ids(self) -> tuple[NDArray[np.str_], IntVector]:
        """The document ids in ascending order, and the document number of each id, shape (n_documents,)."""
        ids = np.asarray(self.doc_ids)
        numbers = np.argsort(ids, kind="stable")
        return ids[numbers], numbers

    def numbers_of(self, doc_ids: ArrayLike) -> IntVector:
        """Return the number of the document of each id, -1 for ids that are not in the index, shape (n,)."""
        wanted = as_ids(doc_ids, "doc_ids")
        ids, numbers = self.sorted_ids
        place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return np.where(ids[place] == wanted, numbers[place], -1)

    @property
    def empty_documents(self) -> int:
        """Number of documents without a term."""
        return int(np.count_nonzero(self.whole.lengths == 0))

    def table(self) -> Table:
        """Return the numbers of documents, terms, tokens and postings of each field, and of all fields together.

        Examples
        --------
        >>> print(Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], Analyzer("porter")).table())
        field   documents   terms   tokens   postings
        ─────────────────────────────────────────────
        text            2       2        3          3
        <BLANKLINE>
        """
        fields = {**self.fields, **({"all fields": self.whole} if len(self.fields) > 1 else {})}
        records = tuple(
            {
                "field": name,
                "documents": int(np.count_nonzero(postings.lengths)),
                "terms": postings.n_terms,
                "tokens": postings.n_tokens,
                "postings": postings.n_postings,
            }
            for name, postings in fields.items()
        )
        amounts = (Column.number(name, name) for name in ("documents", "terms", "tokens", "postings"))
        return Table("", (Column.text("field", "field"), *amounts), (records,))

    @property
    def parts(self) -> dict[str, Postings]:
        """Counts of each field by name, and of all fields together as ``"whole"``, unless a field has that name."""
        return {WHOLE: self.whole, **self.fields}

    def part(self, name: str) -> Postings:
        """Return the counts of a field or of all fields, see `parts`; raise UnknownNameError for other names."""
        require_kind("a field", name, str, "a name")
        if name not in self.parts:
            raise UnknownNameError("index field", name, self.parts)
        return self.parts[name]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file atomically; raise InputError if the file cannot be written or is not an index."""
        write_index(path, self.analyzer, self.doc_ids, self.fields, self.whole)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Verify a whole index file, and map its arrays to memory; raise DataFormatError if it is damaged."""
        return cls(*read_index(path))

    def __repr__(self) -> str:
        return f"Index{repr(self.whole).removeprefix('Postings')}"


def _different(ids: list[str]) -> Strings:
    """Return packed ids; raise InputError for an empty collection, two equal ids, or an id that is not text."""
    if not ids:
        raise InputError("there are no documents: pass at least one")
    first: dict[str, int] = {}
    for number, name in enumerate(ids, start=1):
        if first.setdefault(name, number) != number:
            raise InputError(
                f"documents {first[name]:,} and {number:,} have the same id, {quoted(name)}: give each document "
                "its own id"
            )
    try:
        return Strings.of(ids)
    except UnicodeEncodeError as error:
        name = quoted(str(error.object))
        raise InputError(f"the id {name} of a document contains half a character: remove it") from None


def _iterated(documents: Any) -> Iterator[Any]:
    try:
        if not isinstance(documents, str | bytes | Mapping):
            return iter(documents)
    except TypeError:
        pass
    raise InputError(f"documents must be documents, or pairs of an id and texts by name, got {brief(documents)}")


def _parts(document: Any) -> tuple[str, Mapping[str, str]]:
    """Return the id of a document and its texts by name."""
    try:
        name, texts = (document.id, document.fields) if hasattr(document, "fields") else document
        if isinstance(name, str) and all(isinstance(part, str) for pair in texts.items() for part in pair):
            return name, texts
    except (AttributeError, TypeError, ValueError):
        pass
    raise InputError(f"a document must be an id and texts by the names of their fields, got {brief(document)}")
