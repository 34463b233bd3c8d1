"""Pairs of a topic and a document, as numbers whose order is the one of TREC's tools."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.types import IntVector


class Pairs(NamedTuple):
    """Pairs of a topic and a document.

    Parameters
    ----------
    topics : the topics: by number if all are numbers, else as strings.
    doc_ids : the documents, by id, descending, shape (m,).
    key : of each pair, ``position of the topic * m + position of the document``, shape (n,).
    """

    topics: tuple[str, ...]
    doc_ids: NDArray[np.str_]
    key: IntVector

    @property
    def topic(self) -> IntVector:
        """Position in `topics` of the topic of each pair, shape (n,)."""
        return self.key // len(self.doc_ids)

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
    document, documents = pd.factorize(doc_ids, sort=True)
    ordered = sort_topics(topics)
    position = {each: k for k, each in enumerate(ordered)}
    place = np.array([position[each] for each in topics], dtype=np.int64)
    m = len(documents)
    return Pairs(ordered, documents[::-1].astype(np.str_), place[topic] * m + (m - 1 - document))


def sort_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Sort topics by number if all are numbers, else as strings."""
    names = sorted(topics)
    if all(name.isdecimal() for name in names):
        names.sort(key=int)
    return tuple(names)


def as_ids(ids: ArrayLike, name: str) -> NDArray[np.object_]:
    """Return ids as a vector of str; numbers become their text.

    Raises
    ------
    InputError : it is not a vector; the message calls it `name`.
    """
    values = np.asarray(ids)
    if values.ndim != 1:
        raise InputError(f"{name} must hold one id per row; its shape is {values.shape}")
    text = np.empty(len(values), dtype=object)
    text[:] = [str(each) for each in values.tolist()]
    return text
