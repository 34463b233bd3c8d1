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

    def repeated(self) -> int | None:
        """Row of a pair that an earlier row has too; None if there is none."""
        _, first = np.unique(self.key, return_index=True)
        if len(first) == len(self.key):
            return None
        is_first = np.zeros(len(self.key), dtype=np.bool_)
        is_first[first] = True
        return int(is_first.argmin())


def number_pairs(qid: NDArray[np.object_], doc_ids: NDArray[np.object_]) -> Pairs:
    """Number pairs of a topic and a document.

    Parameters
    ----------
    qid : topic of each pair, strings, shape (n,).
    doc_ids : document of each pair, strings, shape (n,).
    """
    import pandas as pd

    topic, topics = pd.factorize(qid)
    ordered = sort_topics(topics)
    place = {each: k for k, each in enumerate(ordered)}
    topic_place = np.array([place[each] for each in topics], dtype=np.int64)
    document, found = pd.factorize(doc_ids)
    documents = found.astype(np.str_)
    descending = np.argsort(documents)[::-1]
    document_place = np.empty(len(documents), dtype=np.int64)
    document_place[descending] = np.arange(len(documents))
    key = topic_place[topic] * len(documents) + document_place[document]
    return Pairs(np.array(ordered, dtype=np.str_), documents[descending], key)


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


def as_ids(ids: ArrayLike, name: str) -> NDArray[np.object_]:
    """Return ids as a vector of str; numbers become their text.

    Raises
    ------
    InputError : it is not a vector, it holds records, or an id is longer than 1000 characters; the message calls
        it `name`.
    """
    import pandas as pd

    try:
        values = np.asarray(ids)
    except ValueError:
        raise InputError(f"{name} must hold one id per row, not lists of several lengths") from None
    if values.ndim != 1:
        raise InputError(f"{name} must hold one id per row; its shape is {values.shape}")
    if values.dtype.kind == "V":
        raise InputError(f"{name} must hold one id per row, not records of {values.dtype}: pass one of their fields")
    if values.dtype.kind != "O":
        texts = values.astype(np.str_).astype(object)
    elif pd.api.types.infer_dtype(values, skipna=False) == "string":
        texts = values
    else:
        texts = np.empty(len(values), dtype=object)
        texts[:] = list(map(str, values))
    longest = max(map(len, texts), default=0)
    if longest > MOST_CHARACTERS:
        row = next(row for row, text in enumerate(texts) if len(text) == longest)
        raise InputError(
            f"{name}: the id in row {row} has {longest} characters, {texts[row][:30]!r} and so on; "
            f"an id may have {MOST_CHARACTERS}"
        )
    return texts
