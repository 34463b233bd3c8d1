"""Pairs of a topic and a document, as numbers whose order is the one of TREC's tools."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.types import IntVector

MOST_CHARACTERS = 1000
"""Characters that an id may have: all ids of a vector take as much memory as the longest."""


class Pairs(NamedTuple):
    """Pairs of a topic and a document.

    Parameters
    ----------
    topics : the topics: by number if all are numbers, else as strings; shape (t,).
    documents : the document ids, descending, shape (m,).
    key : of each pair, ``position of the topic * m + position of the document``, shape (n,).
    """

    topics: NDArray[np.str_]
    documents: NDArray[np.str_]
    key: IntVector

    def topic_of(self, key: IntVector) -> IntVector:
        """Return the position in `topics` of the topic of each key."""
        return key // max(len(self.documents), 1)

    def qid(self, key: IntVector) -> NDArray[np.str_]:
        """Return the topic of each key."""
        return self.topics[self.topic_of(key)]

    def doc_ids(self, key: IntVector) -> NDArray[np.str_]:
        """Return the document id of each key."""
        return self.documents[key % max(len(self.documents), 1)]


def number_pairs(qid: NDArray[np.str_], doc_ids: NDArray[np.str_]) -> Pairs:
    """Number pairs of a topic and a document.

    Parameters
    ----------
    qid, doc_ids : topic and document of each pair, shape (n,).
    """
    names, topic = number_topics(qid)
    ordered = sort_topics(names)
    place = {name: k for k, name in enumerate(ordered)}
    topic_place = np.array([place[name] for name in names], dtype=np.int64)
    _, first, document = np.unique(_hashes(doc_ids), return_index=True, return_inverse=True)
    found = doc_ids[first]
    if (found[document] != doc_ids).any():  # two ids have the same hash
        found, document = np.unique(doc_ids, return_inverse=True)
    descending = np.argsort(found)[::-1]
    document_place = np.empty(len(found), dtype=np.int64)
    document_place[descending] = np.arange(len(found))
    key = topic_place[topic] * len(found) + document_place[document]
    return Pairs(np.array(ordered, dtype=np.str_), found[descending], key)


def number_topics(qid: NDArray[np.str_]) -> tuple[tuple[str, ...], IntVector]:
    """Return the topics in order of first appearance, and the number of the topic of each row, shape (n,)."""
    starts = np.flatnonzero(np.concatenate([[True], qid[1:] != qid[:-1]])[: len(qid)])
    number: dict[str, int] = {}
    numbers = [number.setdefault(name, len(number)) for name in qid[starts].tolist()]
    return tuple(number), np.repeat(np.array(numbers, dtype=np.int64), np.diff(starts, append=len(qid)))


def first_repeated(topic: IntVector, doc_ids: NDArray[np.str_]) -> int | None:
    """Return the first row whose pair an earlier row has too; None if there is none.

    Parameters
    ----------
    topic : number of the topic of each row, shape (n,).
    doc_ids : document of each row, shape (n,).
    """
    hashes = np.sort(_pair_hashes(topic, doc_ids))
    if (hashes[1:] != hashes[:-1]).all():
        return None
    order = np.lexsort((doc_ids, topic))
    same = (topic[order[1:]] == topic[order[:-1]]) & (doc_ids[order[1:]] == doc_ids[order[:-1]])
    return int(order[1:][same].min()) if same.any() else None


class PairIndex:
    """Finds the rows of pairs of a topic and a document, each of which is in one row.

    Attributes
    ----------
    topics : the topics, in order of first appearance.
    topic : number of the topic of each row, shape (m,).
    """

    def __init__(self, qid: NDArray[np.str_], doc_ids: NDArray[np.str_]) -> None:
        self.topics, self.topic = number_topics(qid)
        self._doc_ids = doc_ids
        hashes = _pair_hashes(self.topic, doc_ids)
        self._order = np.argsort(hashes)
        self._hashes = np.append(hashes[self._order], _NO_HASH)
        bits = max(len(doc_ids).bit_length(), 1)
        self._shift = np.uint64(_HASH_BITS - bits)
        buckets = np.arange(2**bits, dtype=np.uint64) << self._shift
        self._first = np.searchsorted(self._hashes, buckets)

    def number(self, qid: NDArray[np.str_]) -> IntVector:
        """Return the number of the topic of each row, -1 for topics that are in no pair."""
        names, numbers = number_topics(qid)
        known = {name: k for k, name in enumerate(self.topics)}
        found: IntVector = np.array([known.get(name, -1) for name in names], dtype=np.int64)[numbers]
        return found

    def rows(self, qid: NDArray[np.str_], doc_ids: NDArray[np.str_]) -> IntVector:
        """Return the row of each pair, -1 for those that are in none, shape (n,)."""
        topic = self.number(qid)
        hashes = _pair_hashes(topic, doc_ids)
        found = np.full(len(doc_ids), -1)
        open_rows = np.flatnonzero(topic >= 0)
        place = self._first[hashes[open_rows] >> self._shift]
        while len(open_rows):
            here, wanted = self._hashes[place], hashes[open_rows]
            equal = np.flatnonzero(here == wanted)
            asked, row = open_rows[equal], self._order[place[equal]]
            same = (self.topic[row] == topic[asked]) & (self._doc_ids[row] == doc_ids[asked])
            found[asked[same]] = row[same]
            further = here <= wanted
            further[equal[same]] = False
            open_rows, place = open_rows[further], place[further] + 1
        return found


_HASH_BITS = 63
_NO_HASH = np.uint64(2**64 - 1)
"""More than any hash."""

_FACTOR, _TOPIC_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)


def _pair_hashes(topic: IntVector, doc_ids: NDArray[np.str_]) -> NDArray[np.uint64]:
    """Return a number below 2**63 of each pair, by which pairs that differ nearly always differ."""
    hashes = _hashes(doc_ids)
    hashes ^= topic.astype(np.uint64) * _TOPIC_FACTOR
    hashes *= _FACTOR
    return hashes >> np.uint64(1)


def _hashes(ids: NDArray[np.str_]) -> NDArray[np.uint64]:
    """Return a number of each id, whatever the width of the vector, by which ids that differ nearly always differ."""
    characters = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), ids.dtype.itemsize // 4)
    if characters.max(initial=0) > 255:
        characters = characters ^ (characters >> np.uint32(8)) ^ (characters >> np.uint32(16))
    words = -(-characters.shape[1] // 8)
    padded = np.zeros((len(ids), 8 * words), np.uint8)
    padded[:, : characters.shape[1]] = characters
    hashes = np.zeros(len(ids), np.uint64)
    for word in reversed(range(words)):  # words of NULs leave 0 as it is
        hashes ^= padded.view(np.uint64)[:, word]
        hashes *= _FACTOR
        hashes ^= hashes >> _HALF
    return hashes


def sort_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Sort topics by number if all are numbers, else as strings."""
    names = sorted(topics)
    if all(name.isascii() and name.isdecimal() for name in names):
        names.sort(key=_magnitude)
    return tuple(names)


def _magnitude(digits: str) -> tuple[int, str]:
    """Return what orders digits by number: `int` takes 4300 of them at most."""
    significant = digits.lstrip("0")
    return len(significant), significant


def as_ids(ids: ArrayLike, name: str) -> NDArray[np.str_]:
    """Return ids as a vector of text; numbers become their text.

    Raises
    ------
    InputError : it is not a vector, it holds records, or an id is longer than 1000 characters; the message calls
        it `name`.
    """
    try:
        values = np.asarray(ids)
    except ValueError:
        raise InputError(f"{name} must hold one id per row, not lists of several lengths") from None
    if values.ndim != 1:
        raise InputError(f"{name} must hold one id per row; its shape is {values.shape}")
    if values.dtype.kind == "V":
        raise InputError(f"{name} must hold one id per row, not records of {values.dtype}: pass one of their fields")
    texts = list(map(str, values.tolist())) if values.dtype.kind == "O" else values.astype(np.str_)
    if isinstance(texts, list) or texts.dtype.itemsize > 4 * MOST_CHARACTERS:
        longest = max(map(len, texts), default=0)
        if longest > MOST_CHARACTERS:
            row = next(row for row, text in enumerate(texts) if len(text) == longest)
            raise InputError(
                f"{name}: the id in row {row} has {longest} characters, {str(texts[row])[:30]!r} and so on; "
                f"an id may have {MOST_CHARACTERS}"
            )
    return np.asarray(texts, dtype=np.str_)
