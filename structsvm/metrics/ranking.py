"""Who is ahead of whom: the one place that breaks ties."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.queries import Queries
from structsvm.types import IntVector, Vector


@frozen(eq=False)
class Ranking:
    """The rows of all queries, query after query, best document first.

    Parameters
    ----------
    ids : query ids in order of first appearance, shape (Q,).
    order : row numbers in ranked order, shape (n,).
    query : position in `ids` of the query of each ranked row, ascending, shape (n,).
    rank : rank of each ranked row within its query, from 1, shape (n,).

    Examples
    --------
    >>> from structsvm.metrics import rank_documents
    >>> ranking = rank_documents([1.0, 3.0, 2.0, 5.0], qid=["a", "a", "b", "a"])
    >>> ranking.order.tolist(), ranking.rank.tolist(), ranking.ids[ranking.query].tolist()
    ([3, 1, 0, 2], [1, 2, 3, 1], ['a', 'a', 'a', 'b'])
    """

    ids: NDArray[Any]
    order: IntVector
    query: IntVector
    rank: IntVector


def rank_documents(scores: ArrayLike, qid: ArrayLike | None = None, *, doc_ids: ArrayLike | None = None) -> Ranking:
    """Rank the documents of every query by descending score. This is the tie rule of the package.

    Equal scores keep the order of the input; with `doc_ids`, they are ordered by document id,
    descending, which is the rule of trec_eval. In its version 9 ids compare as strings and scores are
    float32: pass strings, and scores rounded to float32, to have its ties. The rows of
    `structsvm.data.Run` are already in its order.

    Parameters
    ----------
    scores : one number per document, larger is ahead, shape (n,). Infinities are allowed.
    qid : query id of each row, shape (n,); None means one query.
    doc_ids : document id of each row, shape (n,).

    Raises
    ------
    InputError : a score is NaN, there are no rows, or the lengths differ.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.metrics import rank_documents
    >>> ranking = rank_documents(np.array([1.0, 3.0]), np.array([0, 0]))
    >>> type(ranking).__name__
    'Ranking'
    """
    values = as_vector(scores, "scores")
    rows = _tie_order(len(values), doc_ids)
    if qid is None:
        one = np.zeros(len(rows), dtype=np.int64)
        order = rows[np.argsort(-values[rows], kind="stable")]
        return Ranking(ids=np.zeros(1, dtype=np.int64), order=order, query=one, rank=np.arange(1, len(rows) + 1))
    queries = Queries.of(qid, len(values))
    rows = rows[np.argsort(queries.number[rows], kind="stable")]
    start, size = queries.ptr[:-1], queries.sizes
    return Ranking(
        ids=queries.ids,
        order=rows[_sort_descending(values[rows], start, size)],
        query=queries.number[rows],
        rank=np.arange(1, len(rows) + 1) - np.repeat(start, size),
    )


def as_vector(values: ArrayLike, name: str, *, missing: bool = False) -> Vector:
    """Return `values` as a float64 vector with at least one entry, and without NaN unless some may be missing.

    Raises
    ------
    InputError : it is not such a vector; the message calls it `name`.
    """
    vector = numbers(values, name)
    if vector.ndim != 1 or len(vector) == 0:
        raise InputError(f"{name} must be a vector with an entry per document; its shape is {vector.shape}")
    nan = np.isnan(vector)
    if nan.any() and not missing:
        raise InputError(f"{name} must not be NaN: {nan.sum()} of {len(vector)} are, first row {nan.argmax()}")
    return vector


def _tie_order(n: int, doc_ids: ArrayLike | None) -> IntVector:
    """Row numbers in the order that documents of one score shall have."""
    if doc_ids is None:
        return np.arange(n)
    names = np.asarray(doc_ids)
    if names.shape != (n,):
        raise InputError(f"doc_ids must hold one document id per row, shape ({n},); its shape is {names.shape}")
    return np.argsort(names, kind="stable")[::-1]


def _sort_descending(values: Vector, start: IntVector, size: IntVector) -> IntVector:
    """Positions that sort every list ``values[start : start + size]`` in descending order, stably.

    Lists of similar size (up to a factor of two) are sorted together as the rows of one padded table, which
    is ten times faster than one sort of all rows by (list, value).
    """
    order = np.empty(len(values), dtype=np.int64)
    size_class = np.frexp(size)[1]
    for each in np.unique(size_class):
        lists = np.flatnonzero(size_class == each)
        column = np.arange(size[lists].max())
        filled = column < size[lists, None]
        positions = (start[lists, None] + column)[filled]
        table = np.full(filled.shape, np.inf)
        table[filled] = -values[positions]
        ranked = np.argsort(table, axis=1, kind="stable") + start[lists, None]
        order[positions] = ranked[filled]
    return order
