"""Indexes: the counts of a collection, field by field."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError, UnknownNameError, quoted
from structsvm.settings import require_kind
from structsvm.text.analyzer import Analyzer
from structsvm.text.counting import Counting
from structsvm.text.index_files import read, write
from structsvm.text.postings import Postings
from structsvm.text.strings import Strings

WHOLE = "whole"
"""What all fields of a document together are called, among the names of fields."""


@frozen(eq=False, repr=False)
class Index:
    """An index of a collection: how often each term is in each document, field by field.

    Parameters
    ----------
    analyzer : makes terms of documents and of queries.
    doc_ids : ids of the documents, in the order of the collection, n_documents of them; ``doc_ids[numbers]`` is an
        array of texts.
    fields : the counts of each field by name, in the order of names.
    whole : the counts of all fields together: the same object where there is one field only.

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
        """Index documents, which are read once and need not be in memory.

        Parameters
        ----------
        documents : of each its ``id`` and its ``fields``, texts by name, as of `structsvm.data.read_documents`; or a
            pair of these.
        analyzer : makes terms. None: ``Analyzer()``, which stems and drops stop words.

        Raises
        ------
        InputError : there are no documents, or none with a term, or two have the same id.
        """
        if analyzer is None:
            analyzer = Analyzer()
        require_kind("analyzer", analyzer, Analyzer, "an Analyzer")
        counting, ids = Counting(analyzer), _Ids()
        for document in _iterated(documents):
            name, texts = _parts(document)
            ids.add(name)
            counting.add(texts)
        doc_ids = ids.different()
        fields, whole = counting.finish()
        if not whole.n_terms:
            raise InputError(
                f"none of the {len(doc_ids):,} documents has a term: see whether the collection was read in its "
                "format, and whether the stop words are those of its language"
            )
        return cls(analyzer, doc_ids, fields, whole)

    @property
    def empty_documents(self) -> int:
        """Number of documents without a term."""
        return int(np.count_nonzero(self.whole.lengths == 0))

    @property
    def parts(self) -> dict[str, Postings]:
        """The counts of each field by name, and those of all fields together as ``"whole"``, unless a field has it."""
        return {WHOLE: self.whole, **self.fields}

    def part(self, name: str) -> Postings:
        """Return the counts of a field, or those of all fields together; see `parts`.

        Raises
        ------
        UnknownNameError : there is no such field.
        """
        require_kind("a field", name, str, "a name")
        if name not in self.parts:
            raise UnknownNameError("field of the index", name, self.parts)
        return self.parts[name]

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the index to a folder, whole or not at all.

        Parameters
        ----------
        folder : one that is not there yet, is empty, or holds an index and nothing else: that is replaced.

        Raises
        ------
        InputError : the folder holds something else, or cannot be written.
        """
        write(folder, self.analyzer, self.doc_ids, self.fields, self.whole)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Load an index, whose arrays stay in their files.

        All files are compared with what was written.

        Parameters
        ----------
        folder : that of the index.

        Raises
        ------
        InputError : there is no such folder.
        DataFormatError : it holds no index, or a damaged one, or one of a newer version.
        """
        return cls(*read(folder))

    def __repr__(self) -> str:
        return f"Index{repr(self.whole).removeprefix('Postings')}"


class _Ids:
    """The ids of documents as they come."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._ends = array("q", [0])

    def add(self, name: str) -> None:
        try:
            self._content += name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InputError(f"the id {quoted(name)} of a document has half a character in it: remove it") from None
        self._ends.append(len(self._content))

    def different(self) -> Strings:
        """Return them all.

        Raises
        ------
        InputError : there are none, or two are the same.
        """
        from xxhash import xxh3_64_intdigest

        ids = Strings(np.frombuffer(bytes(self._content), dtype=np.uint8), np.array(self._ends, dtype=np.int64))
        if not len(ids):
            raise InputError("there are no documents")
        view = memoryview(self._content)
        ends = self._ends
        digests = np.fromiter((xxh3_64_intdigest(view[ends[k] : ends[k + 1]]) for k in range(len(ids))), np.uint64)
        order = np.argsort(digests, kind="stable")
        for at in np.flatnonzero(digests[order[1:]] == digests[order[:-1]]).tolist():
            first, second = order[at], order[at + 1]
            if ids[first] == ids[second]:
                raise InputError(
                    f"documents {first + 1:,} and {second + 1:,} have the same id, {quoted(ids[first])}: each needs "
                    "its own"
                )
        return ids


def _iterated(documents: Any) -> Iterator[Any]:
    try:
        if not isinstance(documents, str | bytes | Mapping):
            return iter(documents)
    except TypeError:
        pass
    raise InputError(f"documents must be documents, or pairs of an id and texts by name, got {documents!r:.80}")


def _parts(document: Any) -> tuple[str, Mapping[str, str]]:
    """Return the id of a document and its texts by name."""
    try:
        name, texts = (document.id, document.fields) if hasattr(document, "fields") else document
        if isinstance(name, str) and all(isinstance(part, str) for pair in texts.items() for part in pair):
            return name, texts
    except (AttributeError, TypeError, ValueError):
        pass
    raise InputError(f"a document must be an id and texts by the names of their fields, got {document!r:.80}")
