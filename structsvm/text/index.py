"""Indexes: the counts of a collection, field by field."""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.settings import require_kind
from structsvm.text.analyzer import Analyzer
from structsvm.text.counting import Counting
from structsvm.text.index_files import read, write
from structsvm.text.postings import Postings
from structsvm.text.strings import Strings


@frozen(eq=False, repr=False)
class Index:
    """The counts of a collection.

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
    Index(2 documents, 3 terms, 4 postings)
    >>> index.whole.document_frequency[index.whole.find("wing")]
    np.int64(2)
    """

    analyzer: Analyzer
    doc_ids: Strings
    fields: Mapping[str, Postings]
    whole: Postings

    @classmethod
    def build(cls, documents: Iterable[Any], analyzer: Analyzer, *, fields: Collection[str] | None = None) -> Self:
        """Index documents, which are read once and need not be in memory.

        Parameters
        ----------
        documents : of each its ``id`` and its ``fields``, texts by name; or a pair of these.
        analyzer : makes terms.
        fields : the names of those to index; None: all that there are.

        Raises
        ------
        InputError : there are no documents, or none with a term; two have the same id; no document has a field.
        """
        require_kind("analyzer", analyzer, Analyzer, "an Analyzer")
        chosen = None if fields is None else _names(fields)
        counting = Counting(analyzer)
        ids, others = _Ids(), Counter[str]()
        for document in _iterated(documents):
            name, texts = _parts(document)
            if chosen is not None:
                others.update(texts.keys() - chosen)
                texts = {field: text for field, text in texts.items() if field in chosen}
            ids.add(name)
            counting.add(texts)
        doc_ids = ids.different()
        made, whole = counting.finish()
        for missing in [] if chosen is None else chosen - made.keys():
            there = ", ".join(map(repr, sorted({*others, *made}))) or "none"
            raise InputError(f"no document has a field {missing!r}; their fields: {there}")
        if not whole.n_terms:
            raise InputError(
                f"none of the {len(doc_ids):,} documents has a term: see whether the collection was read in its "
                "format, and whether the stop words are those of its language"
            )
        return cls(analyzer, doc_ids, made, whole)

    @property
    def empty_documents(self) -> int:
        """Number of documents without a term."""
        return int(np.count_nonzero(self.whole.lengths == 0))

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
    def load(cls, folder: str | PathLike[str], *, verify: bool = False) -> Self:
        """Load an index, whose arrays stay in their files and are read as they are needed.

        Parameters
        ----------
        folder : that of the index.
        verify : True reads all of it, to compare it with the digests of what was written. Sizes, types and the order
            of what is small are looked at in any case.

        Raises
        ------
        InputError : there is no such folder.
        DataFormatError : it holds no index, or a damaged one, or one of a newer version.
        """
        return cls(*read(folder, verify=verify))

    def __repr__(self) -> str:
        return f"Index{repr(self.whole).removeprefix('Postings')}"


class _Ids:
    """The ids of documents as they come."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._ends = array("q", [0])

    def add(self, name: str) -> None:
        self._content += name.encode("utf-8", "surrogateescape")
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
                    f"two documents have the id {ids[first]!r}: the {first + 1:,}th and the {second + 1:,}th. Each "
                    "needs its own"
                )
        return ids


def _names(fields: Any) -> frozenset[str]:
    names = [fields] if isinstance(fields, str) else fields
    if not isinstance(names, Iterable) or not (listed := list(names)):
        raise InputError(f"fields must be names of fields, or None for all of them, got {fields!r}")
    for name in listed:
        require_kind("a name of a field", name, str, "text")
    return frozenset(listed)


def _iterated(documents: Any) -> Iterable[Any]:
    if not isinstance(documents, Iterable) or isinstance(documents, str | bytes | Mapping):
        raise InputError(f"documents must be documents, or pairs of an id and texts by name, got {documents!r:.80}")
    return documents


def _parts(document: Any) -> tuple[str, Mapping[str, str]]:
    """Return the id of a document and its texts by name."""
    try:
        name, texts = (document.id, document.fields) if hasattr(document, "fields") else document
        if isinstance(name, str) and all(isinstance(part, str) for pair in texts.items() for part in pair):
            return name, texts
    except (AttributeError, TypeError, ValueError):
        pass
    raise InputError(f"a document must be an id and texts by the names of their fields, got {document!r:.80}")
