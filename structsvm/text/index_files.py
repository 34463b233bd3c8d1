"""The folder of an index: arrays, each in a file that is mapped to memory, and what is said of them in JSON.

Nothing is unpickled, and nothing is believed: sizes, types and all bytes are compared with what was written whenever an
index is loaded.
"""

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from attrs import evolve, frozen
from numpy.lib import format as npy
from numpy.typing import NDArray

from structsvm.exceptions import DataFormatError, InputError
from structsvm.settings import as_path
from structsvm.storage.archives import parse_json
from structsvm.storage.files import check_folder_writable, replacing_folder
from structsvm.storage.records import as_json, from_json
from structsvm.storage.temporary import remove_leftovers
from structsvm.text.analyzer import Analyzer
from structsvm.text.postings import Postings
from structsvm.text.stop_words import STOP_LISTS, named_stop_words
from structsvm.text.strings import Strings
from structsvm.types import IntVector

DESCRIPTION = "index.json"
KIND = "index of a collection"
FORMAT = 1

_WHOLE = "whole"
_IDS = "ids"
_SUFFIX = ".npy"
_TYPES: Mapping[str, tuple[str, ...]] = {
    "ptr": ("<i8",),
    "text": ("|u1",),
    "terms.ptr": ("<i8",),
    "terms.text": ("|u1",),
    "documents": ("<i4",),
    "counts": ("|u1", "<u2", "<u4"),
    "lengths": ("<i4",),
}
"""The types that arrays may have, by the part of their name after that of what they belong to."""
_OF_TEXTS = "text", "ptr"
_OF_COUNTS = ("terms.text", "terms.ptr", "ptr", "documents", "counts", "lengths")
_AT_ONCE = 2**16
"""Postings that are looked at together, so that they stay in the processor's cache."""
_LARGEST_DESCRIPTION = 2**24
_AGAIN = "Index the collection again"


@frozen
class Stored:
    """What is said of an array, which is a vector.

    Parameters
    ----------
    dtype : type of the numbers, as NumPy writes it.
    length : how many they are.
    xxh3 : digest of its file, of 128 bits, as ``xxhsum -H2`` computes it.
    """

    dtype: str
    length: int
    xxh3: str


@frozen
class IndexDescription:
    """What is said of an index.

    Parameters
    ----------
    kind, format : tell it from other files, and from those of other versions.
    written_by : version of the package that wrote it.
    stemmer, stop_list, stop_words : of the analyzer; the words are there whatever the list of that name is now.
    fields : where the counts of each field are, by name.
    arrays : what is said of each array by name, which is that of its file without ``.npy``.
    sha256 : digest of this description without it.
    """

    kind: str
    format: int
    written_by: str
    stemmer: str | None
    stop_list: str | None
    stop_words: list[str]
    fields: dict[str, str]
    arrays: dict[str, Stored]
    sha256: str = ""

    def digest(self) -> str:
        """Return its digest."""
        return sha256(as_json(evolve(self, sha256="")).encode()).hexdigest()


class _Damage(Exception):
    """What is in the folder cannot be read; the message goes behind its name."""


def require_replaceable(folder: Path) -> None:
    """Require a place for an index: nothing, an empty folder, or an index with nothing else beside it.

    Raises
    ------
    InputError : when it is another one, or cannot be written.
    """
    check_folder_writable(folder)
    if not folder.is_dir():
        return
    try:
        there = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror or error}") from None
    ours = {DESCRIPTION}
    if DESCRIPTION in there:
        try:
            found = parse_json(_text_of(folder))
        except (_Damage, ValueError):
            found = None
        if isinstance(found, dict) and found.get("kind") == KIND and isinstance(found.get("arrays"), dict):
            ours |= {f"{name}{_SUFFIX}" for name in found["arrays"]}
        else:
            ours = set()
    other = next((name for name in there if name not in ours), None)
    if other is not None:
        raise InputError(
            f"{folder} holds {other!r}, which is no part of an index: choose another folder; an index alone, or an "
            "empty folder, would be replaced"
        )


def write(folder: Any, analyzer: Analyzer, doc_ids: Strings, counts: Mapping[str, Postings], whole: Postings) -> None:
    """Write an index, made of these; see `Index.save`."""
    path = as_path("folder", folder)
    require_replaceable(path)
    fields = {
        name: _WHOLE if field is whole else f"field{number}" for number, (name, field) in enumerate(counts.items())
    }
    parts = {_WHOLE: whole, **{place: counts[name] for name, place in fields.items()}}
    arrays = dict(_arrays(doc_ids, parts))
    description = IndexDescription(
        kind=KIND,
        format=FORMAT,
        written_by=version("structural-svm"),
        stemmer=analyzer.stemmer,
        stop_list=analyzer.stop_words if isinstance(analyzer.stop_words, str) else None,
        stop_words=sorted(analyzer.stopped),
        fields=fields,
        arrays={
            name: Stored(array.dtype.str, len(array), _digest(_head(array), array)) for name, array in arrays.items()
        },
    )
    with replacing_folder(path) as made:
        for name, array in arrays.items():
            write_array(made / f"{name}{_SUFFIX}", array)
        text = as_json(evolve(description, sha256=description.digest()))
        (made / DESCRIPTION).write_text(f"{text}\n", encoding="utf-8")


def content_digest(folder: Path) -> str:
    """Return a digest of an index: of its analyzer and its arrays, wherever it is, and whichever version wrote it.

    Raises
    ------
    InputError : the folder cannot be read.
    DataFormatError : it holds no index.
    """
    with _refusing(folder):
        return evolve(_described(folder), written_by="").digest()


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array as `numpy.save` does, which does not say what is wrong where the disk is full."""
    with path.open("wb") as file:
        file.write(_head(array))
        file.write(array.data)


def _head(array: NDArray[Any]) -> bytes:
    """Return the first bytes of the file of an array."""
    head = BytesIO()
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(array))
    return head.getvalue()


def _digest(head: bytes, array: NDArray[Any]) -> str:
    """Return the digest of the file of an array."""
    state = xxhash.xxh3_128(head)
    state.update(array.view(np.uint8).data)
    return state.hexdigest()


def folder_size(folder: Path) -> int:
    """Return the number of bytes that an index takes."""
    return sum(path.stat().st_size for path in folder.iterdir())


def read(folder: Any) -> tuple[Analyzer, Strings, dict[str, Postings], Postings]:
    """Return what an index is made of; see `Index.load`."""
    path = as_path("folder", folder)
    if not path.exists():
        remove_leftovers(Path(os.path.realpath(path)))
    if not path.is_dir():
        said = "is a file: name the folder of an index" if path.exists() else "does not exist"
        raise InputError(f"there is no index in {path}: it {said}")
    with _refusing(path):
        return _read(path)


@contextmanager
def _refusing(folder: Path) -> Iterator[None]:
    """Turn what is raised on a folder that is no index, or cannot be read, into errors of ours."""
    try:
        yield
    except _Damage as error:
        raise DataFormatError(folder, None, str(error)) from None
    except OSError as error:
        raise InputError(f"cannot read {error.filename or folder}: {error.strerror or error}") from None


def _arrays(doc_ids: Strings, parts: Mapping[str, Postings]) -> Iterator[tuple[str, NDArray[Any]]]:
    yield from _named(_IDS, _OF_TEXTS, doc_ids.content, doc_ids.ptr)
    for name, made in parts.items():
        terms = made.terms if isinstance(made.terms, Strings) else Strings.of(made.terms)
        arrays = terms.content, terms.ptr, made.ptr, made.documents, made.counts, made.lengths
        yield from _named(name, _OF_COUNTS, *arrays)


def _named(owner: str, names: tuple[str, ...], *arrays: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, array in zip(names, arrays, strict=True):
        kinds = [np.dtype(kind) for kind in _TYPES[name]]
        dtype = array.dtype if array.dtype in kinds else kinds[-1]
        yield f"{owner}.{name}", np.ascontiguousarray(array, dtype=dtype)


def _text_of(folder: Path) -> str:
    path = folder / DESCRIPTION
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_DESCRIPTION + 1)
        if len(content) > _LARGEST_DESCRIPTION:
            raise ValueError
        return content.decode()
    except FileNotFoundError:
        raise _Damage(f"it is no index: it has no {DESCRIPTION}. structsvm index makes one of a collection") from None
    except IsADirectoryError:
        raise _Damage(f"it is no index: its {DESCRIPTION} is a folder") from None
    except ValueError:
        raise _Damage(f"it is no index, or it is damaged: its {DESCRIPTION} is no text of ours") from None


def _described(folder: Path) -> IndexDescription:
    try:
        text = _text_of(folder)
        found = parse_json(text)
        if not isinstance(found, dict) or found.get("kind") != KIND:
            raise _Damage(f"it is no index: its {DESCRIPTION} is of something else")
        if isinstance(found.get("format"), int) and found["format"] > FORMAT:
            raise _Damage("it was written by a newer version of structural-svm: upgrade, or index the collection again")
        description = from_json(text, IndexDescription)
    except ValueError as error:
        raise _Damage(f"it is damaged: {DESCRIPTION} cannot be read ({error}). {_AGAIN}") from None
    if description.digest() != description.sha256:
        raise _Damage(f"it is damaged: {DESCRIPTION} is not what was written. {_AGAIN}")
    return description


def _read(folder: Path) -> tuple[Analyzer, Strings, dict[str, Postings], Postings]:
    description = _described(folder)
    arrays = {name: _mapped(folder, name, stored) for name, stored in description.arrays.items()}
    try:
        ids = _texts(arrays, _IDS, "text", "ptr")
        made = {name: _postings(arrays, name, len(ids)) for name in {_WHOLE, *description.fields.values()}}
        fields = {name: made[place] for name, place in description.fields.items()}
        analyzer = _analyzer(description)
    except KeyError as error:
        raise _Damage(f"it is damaged: {DESCRIPTION} says nothing of {error}. {_AGAIN}") from None
    except InputError as error:
        raise _Damage(f"it is damaged: {error}. {_AGAIN}") from None
    return analyzer, ids, fields, made[_WHOLE]


def _analyzer(description: IndexDescription) -> Analyzer:
    """Return the analyzer: with the words of then, where the list of that name has others now."""
    name, words = description.stop_list, tuple(description.stop_words)
    same = name in STOP_LISTS and sorted(named_stop_words(str(name))) == list(words)
    return Analyzer(description.stemmer, name if same else words)


def _mapped(folder: Path, name: str, stored: Stored) -> NDArray[Any]:
    """Return an array that stays in its file, which is the one that was written."""
    if name in ("", ".", "..") or Path(name).name != name:
        raise _Damage(f"it is damaged: {name!r} is not the name of an array. {_AGAIN}")
    path = folder / f"{name}{_SUFFIX}"
    try:
        with warnings.catch_warnings(action="ignore"), path.open("rb") as file:
            if npy.read_magic(file) != (1, 0):
                raise ValueError
            shape, _, dtype = npy.read_array_header_1_0(file)
            begin = file.tell()
            if shape != (stored.length,) or dtype.str != stored.dtype:
                raise _Damage(
                    f"it is damaged: {path.name} has {dtype} of shape {shape}, and {stored.dtype} of shape "
                    f"({stored.length},) was written. {_AGAIN}"
                )
            size = os.fstat(file.fileno()).st_size
            if size != begin + stored.length * dtype.itemsize:
                raise _Damage(f"it is damaged: {path.name} is not of the size that was written. {_AGAIN}")
            array = (
                np.asarray(np.memmap(file, dtype=dtype, mode="r", offset=begin, shape=shape))
                if stored.length
                else np.empty(0, dtype=dtype)
            )
            file.seek(0)
            if _digest(file.read(begin), array) != stored.xxh3:
                raise _Damage(f"it is damaged: {path.name} is not what was written. {_AGAIN}")
            return array
    except FileNotFoundError:
        raise _Damage(f"it is damaged: {path.name} is missing. {_AGAIN}") from None
    except (PermissionError, _Damage):
        raise
    except Exception:  # NumPy's, of bytes that are no array, are of many kinds
        raise _Damage(f"it is damaged: {path.name} is no array. {_AGAIN}") from None


def _of_type(arrays: Mapping[str, NDArray[Any]], owner: str, part: str) -> NDArray[Any]:
    array = arrays[f"{owner}.{part}"]
    if array.dtype.str not in _TYPES[part]:
        raise _Damage(f"it is damaged: {owner}.{part}{_SUFFIX} has numbers of type {array.dtype}. {_AGAIN}")
    return array


def _ptr(arrays: Mapping[str, NDArray[Any]], owner: str, part: str, length: int, least: int) -> IntVector:
    """Return where each text or list of postings begins; all of them have at least ``least`` places of ``length``."""
    ptr = _of_type(arrays, owner, part)
    if not len(ptr) or ptr[0] != 0 or ptr[-1] != length or np.diff(ptr).min(initial=least) < least:
        raise _Damage(f"it is damaged: {owner}.{part}{_SUFFIX} does not part what it should. {_AGAIN}")
    return ptr


def _texts(arrays: Mapping[str, NDArray[Any]], owner: str, text: str, ptr: str) -> Strings:
    content = _of_type(arrays, owner, text)
    return Strings(content, _ptr(arrays, owner, ptr, len(content), 0))


def _postings(arrays: Mapping[str, NDArray[Any]], owner: str, n_documents: int) -> Postings:
    documents, counts, lengths = (_of_type(arrays, owner, part) for part in ("documents", "counts", "lengths"))
    terms = _texts(arrays, owner, "terms.text", "terms.ptr")
    ptr = _ptr(arrays, owner, "ptr", len(documents), 1)
    if len(ptr) != len(terms) + 1 or len(counts) != len(documents) or len(lengths) != n_documents:
        raise _Damage(f"it is damaged: the arrays of {owner} are not of one collection. {_AGAIN}")
    if lengths.min(initial=0) < 0 or not _are_lists(documents, ptr, n_documents):
        raise _Damage(f"it is damaged: {owner} has documents that the collection does not have. {_AGAIN}")
    if counts.min(initial=1) < 1 or counts.sum(dtype=np.int64) != lengths.sum(dtype=np.int64):
        raise _Damage(f"it is damaged: the counts of {owner} are not those of its documents. {_AGAIN}")
    return Postings(terms, ptr, documents, counts, lengths)


def _are_lists(documents: NDArray[np.int32], ptr: IntVector, n_documents: int) -> bool:
    """Say whether documents are in range, and ascend in each list: compiled loops rely on it."""
    for first in range(0, len(documents), _AT_ONCE):
        part = documents[max(first - 1, 0) : first + _AT_ONCE]
        if part.view(np.uint32).max() >= n_documents:  # as those below 0 are, too
            return False
        begins = np.flatnonzero(part[1:] <= part[:-1]) + max(first, 1)
        if not np.array_equal(ptr[np.searchsorted(ptr, begins)], begins):
            return False
    return True
