"""Indexes: term counts of a collection by field, and their files of mapped arrays."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.data.pairs import as_ids
from structsvm.exceptions import DataFormatError, InputError, UnknownNameError, brief, quoted
from structsvm.foundation.settings import as_path, require_kind
from structsvm.foundation.storage.archives import Damage
from structsvm.foundation.storage.artefacts import INDEX
from structsvm.foundation.storage.files import errors_reading
from structsvm.foundation.storage.mapped import read_header, read_mapped, write_mapped
from structsvm.foundation.tables.table import Column, Table
from structsvm.foundation.types import IntVector
from structsvm.text.analyzer import STOP_LISTS, Analyzer, named_stop_words
from structsvm.text.counting import Counting
from structsvm.text.postings import Postings, Strings

WHOLE = "whole"
"""Name of all fields of a document together."""


@frozen(eq=False, repr=False)
class Index:
    """Term counts of each document of a collection, by field.

    Parameters
    ----------
    analyzer : analyzer of documents and queries.
    doc_ids : ids of the documents, in the order of the collection; ``doc_ids[numbers]`` is an array of texts.
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
        """Return the document number of each id, -1 for ids that are not in the index, shape (n,)."""
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
        """Return one of `parts` by its name; raise UnknownNameError for other names."""
        require_kind("a field", name, str, "a name")
        if name not in self.parts:
            raise UnknownNameError("index field", name, self.parts)
        return self.parts[name]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file atomically; raise InputError if the file cannot be written or is not an index."""
        write_index(path, self.analyzer, self.doc_ids, self.fields, self.whole)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Verify an index file, and map its arrays into memory; raise DataFormatError if it is damaged."""
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


FORMAT = 1

_WHOLE = "whole"
_IDS = "ids"
_TYPES: Mapping[str, tuple[str, ...]] = {
    "ptr": ("<i8",),
    "text": ("|u1",),
    "terms.ptr": ("<i8",),
    "terms.text": ("|u1",),
    "documents": ("<i4",),
    "counts": ("|u1", "<u2", "<u4"),
    "lengths": ("<i4",),
}
"""Valid types of arrays, by the last part of their name."""
_AT_ONCE = 2**16
"""Postings verified per step, so that they fit in the processor's cache."""


def write_index(
    path: Any,
    analyzer: Analyzer,
    doc_ids: Strings,
    fields: Mapping[str, Postings],
    whole: Postings,
    *,
    makes_folders: bool = False,
) -> None:
    """Write an index from its parts, see `Index.save`; if ``makes_folders``, to a folder that need not exist."""
    owners = {name: _WHOLE if fields[name] is whole else f"field{number}" for number, name in enumerate(fields)}
    about = {
        "format": FORMAT,
        "written_by": version("structural-svm"),
        "stemmer": analyzer.stemmer,
        "stop_list": analyzer.stop_words if isinstance(analyzer.stop_words, str) else None,
        # The words of a list may change in later versions.
        "stop_words": sorted(analyzer.stopped),
        "fields": owners,
    }
    arrays: dict[str, NDArray[Any]] = {f"{_IDS}.text": doc_ids.content, f"{_IDS}.ptr": doc_ids.ptr}
    for owner, postings in {_WHOLE: whole, **{owner: fields[name] for name, owner in owners.items()}}.items():
        terms = postings.terms if isinstance(postings.terms, Strings) else Strings.of(postings.terms)
        arrays |= {f"{owner}.terms.text": terms.content, f"{owner}.terms.ptr": terms.ptr}
        arrays |= {f"{owner}.{part}": getattr(postings, part) for part in ("ptr", "documents", "counts", "lengths")}
    for name, array in arrays.items():
        if array.dtype.str not in _types(name):
            arrays[name] = array.astype(_types(name)[-1])
    write_mapped(as_path("path", path), INDEX, about, arrays, makes_folders=makes_folders)


def require_regular(path: Path) -> None:
    """Raise InputError unless a path leads to a regular file, which an index is."""
    with errors_reading(path):
        exists, is_folder, is_regular = path.exists(), path.is_dir(), path.is_file()
    if not exists:
        raise InputError(f"there is no index {path}: make it with structsvm index or Index.save")
    if is_folder:
        raise InputError(f"{path} is a folder: name the file of an index")
    if not is_regular:
        raise InputError(f"{path} is a pipe or a device, but an index is mapped to memory: name a regular file")


def read_index(path: Any) -> tuple[Analyzer, Strings, dict[str, Postings], Postings]:
    """Return the parts of an index, see `Index.load`."""
    file = as_path("path", path)
    require_regular(file)
    with _naming(file), file.open("rb") as opened:
        about = _header(opened)["about"]
        arrays = read_mapped(opened, INDEX)
        for array in arrays.values():
            array.flags.writeable = False
        ids = _texts(arrays, _IDS, "")
        data = {owner: _postings(arrays, owner, len(ids)) for owner in {_WHOLE, *about["fields"].values()}}
        return _analyzer(about), ids, {name: data[owner] for name, owner in about["fields"].items()}, data[_WHOLE]


def content_digest(path: Path) -> str:
    """Return a digest of the analyzer and the arrays of an index; it ignores the version that wrote them."""
    with _naming(path), path.open("rb") as opened:
        header = _header(opened)
        content = {**header, "about": {**header["about"], "written_by": None}}
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn errors about a file into DataFormatError or InputError."""
    with errors_reading(path):
        try:
            yield
        except Damage as error:
            raise DataFormatError(path, None, f"it {error}. Index the collection again") from None
        except (DataFormatError, OSError):
            raise
        # NumPy raises many kinds of errors for invalid types and shapes.
        except Exception as error:
            problem = f"it is damaged ({type(error).__name__}: {error}). Index the collection again"
            raise DataFormatError(path, None, problem) from None


def _header(file: Any) -> dict[str, Any]:
    header = read_header(file, INDEX)
    about = header["about"]
    if about["format"] != FORMAT:
        raise Damage(f"was written by another version of structural-svm (format {about['format']}, not {FORMAT})")
    return header


def _types(name: str) -> tuple[str, ...]:
    return _TYPES[name.partition(".")[2]]


def _analyzer(about: Mapping[str, Any]) -> Analyzer:
    """Return the analyzer, with the stored words if the list of that name has changed since."""
    name, words = about["stop_list"], tuple(about["stop_words"])
    same = name in STOP_LISTS and sorted(named_stop_words(str(name))) == list(words)
    return Analyzer(about["stemmer"], name if same else words)


def _array(arrays: Mapping[str, NDArray[Any]], owner: str, part: str) -> NDArray[Any]:
    name = f"{owner}.{part}"
    if name not in arrays:
        raise Damage(f"is damaged: {name!r} is missing")
    array = arrays[name]
    if array.ndim != 1 or array.dtype.str not in _types(name):
        raise Damage(f"is damaged: {name!r} has type {array.dtype} and shape {array.shape}")
    return array


def _ptr(arrays: Mapping[str, NDArray[Any]], owner: str, part: str, length: int, least: int) -> IntVector:
    """Return the offsets of lists in ``length`` places; each list must have at least ``least``."""
    ptr = _array(arrays, owner, part)
    if not len(ptr) or ptr[0] != 0 or ptr[-1] != length or np.diff(ptr).min(initial=least) < least:
        raise Damage(f"is damaged: the offsets '{owner}.{part}' do not fit the lists")
    return ptr


def _texts(arrays: Mapping[str, NDArray[Any]], owner: str, prefix: str) -> Strings:
    content = _array(arrays, owner, f"{prefix}text")
    return Strings(content, _ptr(arrays, owner, f"{prefix}ptr", len(content), 0))


def _postings(arrays: Mapping[str, NDArray[Any]], owner: str, n_documents: int) -> Postings:
    documents, counts, lengths = (_array(arrays, owner, part) for part in ("documents", "counts", "lengths"))
    terms = _texts(arrays, owner, "terms.")
    ptr = _ptr(arrays, owner, "ptr", len(documents), 1)
    if len(ptr) != len(terms) + 1 or len(counts) != len(documents) or len(lengths) != n_documents:
        raise Damage(f"is damaged: the arrays of {owner} belong to different collections")
    if lengths.min(initial=0) < 0 or not _are_lists(documents, ptr, n_documents):
        raise Damage(f"is damaged: {owner} has documents that the collection does not have")
    if counts.min(initial=1) < 1 or counts.sum(dtype=np.int64) != lengths.sum(dtype=np.int64):
        raise Damage(f"is damaged: the counts of {owner} do not add up to the lengths of its documents")
    return Postings(terms, ptr, documents, counts, lengths)


def _are_lists(documents: NDArray[np.int32], ptr: IntVector, n_documents: int) -> bool:
    """Return whether documents are in range and ascend in each list, because compiled loops rely on it."""
    for first in range(0, len(documents), _AT_ONCE):
        part = documents[max(first - 1, 0) : first + _AT_ONCE]
        # Negative numbers are larger than any valid one as uint32.
        if part.view(np.uint32).max() >= n_documents:
            return False
        begins = np.flatnonzero(part[1:] <= part[:-1]) + max(first, 1)
        if not np.array_equal(ptr[np.searchsorted(ptr, begins)], begins):
            return False
    return True
