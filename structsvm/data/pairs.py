"""Ids of topics and documents, and their pairs as numbers, in the order of TREC's tools."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import require_unmasked
from structsvm.foundation.memory import require_memory
from structsvm.foundation.queries import missing_rows
from structsvm.foundation.settings import require_kind
from structsvm.foundation.types import IntVector

MOST_CHARACTERS = 1000
"""Largest number of characters per id, because every id of a vector takes the memory of the longest."""

_LONGEST_NUMBER = 20
"""Largest number of characters of a 64-bit whole number."""

NO_WORD = re.compile(r"[ \t\r\n\0]")
"""Characters that no id or name in a text file may have; NUL makes a file binary."""

_WHOLE = re.compile(r"-?[0-9]+(\.0+)?")

_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Surrogates that are not text. Python uses the other surrogates for bytes that are not UTF-8, and writes them back."""


class Pairs(NamedTuple):
    """Topics, ascending, m documents, descending, and the ``key`` of pairs: ``topic place * m + document place``."""

    topics: NDArray[np.str_]
    documents: NDArray[np.str_]
    key: IntVector

    def qid(self, key: IntVector) -> NDArray[np.str_]:
        return self.topics[key // max(len(self.documents), 1)]

    def doc_ids(self, key: IntVector) -> NDArray[np.str_]:
        return self.documents[key % max(len(self.documents), 1)]


def number_pairs(qid: NDArray[np.str_], doc_ids: NDArray[np.str_]) -> Pairs:
    """Number pairs of topic and document ids, each of shape (n,)."""
    names, topic = number_topics(qid)
    ordered = sort_topics(names)
    place = {name: k for k, name in enumerate(ordered)}
    topic_place = np.array([place[name] for name in names], dtype=np.int64)
    _, first, document = np.unique(_hashes(doc_ids), return_index=True, return_inverse=True)
    documents = doc_ids[first]
    # Two ids have the same hash.
    if (documents[document] != doc_ids).any():
        documents, document = np.unique(doc_ids, return_inverse=True)
    descending = np.argsort(documents)[::-1]
    document_place = np.empty(len(documents), dtype=np.int64)
    document_place[descending] = np.arange(len(documents))
    key = topic_place[topic] * len(documents) + document_place[document]
    return Pairs(np.array(ordered, dtype=np.str_), documents[descending], key)


def number_topics(qid: NDArray[np.str_]) -> tuple[tuple[str, ...], IntVector]:
    """Return the topics in order of first appearance, and the topic number of each row, shape (n,)."""
    starts = np.flatnonzero(np.concatenate([[True], qid[1:] != qid[:-1]])[: len(qid)])
    number: dict[str, int] = {}
    numbers = [number.setdefault(name, len(number)) for name in qid[starts].tolist()]
    return tuple(number), np.repeat(np.array(numbers, dtype=np.int64), np.diff(starts, append=len(qid)))


def first_repeated(topic: IntVector, doc_ids: NDArray[np.str_]) -> int | None:
    """Return the first row whose pair of topic number and document id occurred before, or None."""
    hashes = np.sort(_pair_hashes(topic, doc_ids))
    if (hashes[1:] != hashes[:-1]).all():
        return None
    order = np.lexsort((doc_ids, topic))
    same = (topic[order[1:]] == topic[order[:-1]]) & (doc_ids[order[1:]] == doc_ids[order[:-1]])
    return int(order[1:][same].min()) if same.any() else None


class PairIndex:
    """Index of the rows of distinct topic-document pairs; ``topics`` are in order of first appearance."""

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
        """Return the topic number of each row, -1 for unknown topics."""
        names, numbers = number_topics(qid)
        positions = {name: k for k, name in enumerate(self.topics)}
        mapped: IntVector = np.array([positions.get(name, -1) for name in names], dtype=np.int64)[numbers]
        return mapped

    def rows(self, qid: NDArray[np.str_], doc_ids: NDArray[np.str_]) -> IntVector:
        """Return the row of each pair, -1 for unknown pairs, shape (n,)."""
        topic = self.number(qid)
        hashes = _pair_hashes(topic, doc_ids)
        matches = np.full(len(doc_ids), -1)
        open_rows = np.flatnonzero(topic >= 0)
        place = self._first[hashes[open_rows] >> self._shift]
        while len(open_rows):
            here, wanted = self._hashes[place], hashes[open_rows]
            equal = np.flatnonzero(here == wanted)
            asked, row = open_rows[equal], self._order[place[equal]]
            same = (self.topic[row] == topic[asked]) & (self._doc_ids[row] == doc_ids[asked])
            matches[asked[same]] = row[same]
            further = here <= wanted
            further[equal[same]] = False
            open_rows, place = open_rows[further], place[further] + 1
        return matches


_HASH_BITS = 63
_NO_HASH = np.uint64(2**64 - 1)
"""Larger than any hash."""

_FACTOR, _TOPIC_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)


def _pair_hashes(topic: IntVector, doc_ids: NDArray[np.str_]) -> NDArray[np.uint64]:
    """Return a hash below 2**63 of each pair; different pairs rarely collide."""
    hashes = _hashes(doc_ids)
    hashes ^= topic.astype(np.uint64) * _TOPIC_FACTOR
    hashes *= _FACTOR
    return hashes >> np.uint64(1)


def _hashes(ids: NDArray[np.str_]) -> NDArray[np.uint64]:
    """Return a hash of each id that does not depend on the width of the vector; different ids rarely collide."""
    characters = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), ids.dtype.itemsize // 4)
    if characters.max(initial=0) > 255:
        characters = characters ^ (characters >> np.uint32(8)) ^ (characters >> np.uint32(16))
    words = -(-characters.shape[1] // 8)
    padded = np.zeros((len(ids), 8 * words), np.uint8)
    padded[:, : characters.shape[1]] = characters
    hashes = np.zeros(len(ids), np.uint64)
    # Words of NUL leave a hash of 0 unchanged, so padding does not matter.
    for word in reversed(range(words)):
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
    """Return a sort key for digits by number, because `int` accepts at most 4300 digits."""
    significant = digits.lstrip("0")
    return len(significant), significant


def as_topics(qid: ArrayLike) -> NDArray[np.str_]:
    """Return query ids as `as_ids`, named as by `whole_names`."""
    texts = as_ids(qid, "qid")
    names, number = number_topics(texts)
    whole = whole_names(names)
    return texts if whole == names else np.array(whole, dtype=np.str_)[number]


def whole_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names without ".0" if all of them are whole numbers; pandas writes integers as 1.0 after a merge."""
    if not all(map(_WHOLE.fullmatch, names)):
        return tuple(names)
    return tuple(name.partition(".")[0] for name in names)


def as_ids(ids: ArrayLike, name: str) -> NDArray[np.str_]:
    """Return ids as a vector of text; raise InputError if one is missing, a fraction or longer than 1000 characters."""
    require_unmasked(ids, name)
    try:
        values = np.asarray(ids)
    except ValueError:
        raise InputError(f"{name} must have one id per row, not lists of several lengths") from None
    if values.ndim != 1:
        raise InputError(f"{name} must have one id per row; its shape is {values.shape}")
    # An id from a number takes 21 characters; an array of one repeated id may have any length.
    size = values.itemsize if values.dtype.kind == "U" else 84
    require_memory(float(size) * len(values), f"The {len(values):,} ids of {name}", "pass one id per row")
    if values.dtype.kind == "V":
        raise InputError(f"{name} must have one id per row, not records of {values.dtype}: pass one of their fields")
    listed: Any = ids
    if values.dtype.kind in "UT" and not isinstance(ids, np.ndarray) and not set(map(type, listed)) <= {str, np.str_}:
        # NumPy has made text of None and NaN.
        values = np.array(list(listed), dtype=object)
    if values.dtype.kind not in "UTSiu" and (missing := missing_rows(values)).any():
        row = int(missing.argmax())
        raise InputError(f"{name}: row {row} has no id but {values[row]}: fill it in, or leave the row out")
    if values.dtype.kind == "f":
        whole = (np.abs(values) < 2.0**53) & (values == np.trunc(values))
        if not whole.all():
            row = int(np.argmin(whole))
            said = "ids must be text or whole numbers, not fractions"
            raise InputError(f"{name}: {said}, got {values[row]} in row {row}")
        values = values.astype(np.int64)
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


def require_words(what: str, words: Iterable[str], file: str) -> None:
    """Raise InputError if a word is empty or has blanks, tabs, line ends or NUL, which ``file`` cannot contain."""
    for word in words:
        require_kind(what, word, str, "text")
        if not word or NO_WORD.search(word):
            raise InputError(f"{what} {word!r} must not be empty or contain a blank, tab, line end or NUL in {file}")
        if _SURROGATE.search(word):
            raise InputError(f"{what} {word!r} must be text in UTF-8 in {file}")


def whole_numbers(names: Iterable[str]) -> list[int] | None:
    """Return names as 64-bit numbers if all of them are in Python's notation, so that they survive a round trip."""
    numbers = []
    for name in names:
        if len(name) > _LONGEST_NUMBER or not (name.isascii() and name.removeprefix("-").isdecimal()):
            return None
        number = int(name)
        if str(number) != name or not -(2**63) <= number < 2**63:
            return None
        numbers.append(number)
    return numbers
