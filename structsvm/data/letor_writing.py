"""The writer of LETOR's format."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.arrays import numbers
from structsvm.data.pairs import as_ids
from structsvm.data.words import require_words
from structsvm.exceptions import InputError
from structsvm.settings import as_list, as_path, repeated, require_kind
from structsvm.storage.files import replacing
from structsvm.types import BoolVector, IntVector

_NUMBERS_AT_ONCE = 2**17
_LARGEST = 2**63
_PLACE = "a LETOR file"


@frozen(eq=False)
class LetorText:
    """Documents as LETOR's format has them, checked and ready to be written. Made by `of`.

    Parameters
    ----------
    X : features, shape (n, d), float64, dense or CSR.
    y : labels, shape (n,).
    queries : query id of each row, whole numbers of 64 bits, shape (n,).
    doc_ids : document id of each row, shape (n,); None without.
    feature_names : names of the columns; none of them has a blank. None without.
    topics : what the query ids stand for, where topics are not numbers themselves.
    """

    X: Any
    y: NDArray[np.float64]
    queries: IntVector
    doc_ids: NDArray[np.str_] | None
    feature_names: tuple[str, ...] | None
    topics: dict[int, str]

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        doc_ids: ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> "LetorText":
        """Check what is to be written; see `write_letor`."""
        features, labels = _as_features(X), numbers(y, "y")
        n, d = features.shape
        queries, topics = _number(qid)
        ids = None if doc_ids is None else as_ids(doc_ids, "doc_ids")
        lengths = {"labels": labels.shape, "query ids": queries.shape}
        if ids is not None:
            lengths["document ids"] = ids.shape
        wrong = next((f"{shape} {what}" for what, shape in lengths.items() if shape != (n,)), None)
        if wrong or not n or not d:
            what = f"its shape is {features.shape}" + (f", but there are {wrong}" if wrong else "")
            raise InputError(f"X must have a row for each document, a document and a feature at least: {what}")
        infinite = ~np.isfinite(labels)
        if infinite.any():
            raise InputError(f"y must be finite: label {int(infinite.argmax())} is {labels[infinite.argmax()]}")
        if ids is not None:
            require_words("the document id", dict.fromkeys(ids.tolist()), _PLACE)
        require_words("the topic", topics.values(), _PLACE)
        return cls(features, labels, queries, ids, _as_names(feature_names, d), topics)

    def rows(self, chosen: BoolVector) -> "LetorText":
        """Return some of the rows."""
        queries = self.queries[chosen]
        kept = set(np.unique(queries).tolist())
        return LetorText(
            self.X[chosen],
            self.y[chosen],
            queries,
            None if self.doc_ids is None else self.doc_ids[chosen],
            self.feature_names,
            {query: topic for query, topic in self.topics.items() if query in kept},
        )

    def pieces(self) -> Iterator[str]:
        """Return the text in pieces of some thousand lines."""
        yield "".join(f"# feature {k} = {name}\n" for k, name in enumerate(self.feature_names or (), start=1))
        yield "".join(f"# query {query} = {topic}\n" for query, topic in self.topics.items())
        n, d = self.X.shape
        ends = _ends(self.doc_ids, n)
        starts = [f"{label!r} qid:{query}" for label, query in zip(_plain(self.y), self.queries.tolist(), strict=True)]
        at_once = max(1, _NUMBERS_AT_ONCE // d)
        lines = _sparse_lines if sp.issparse(self.X) else _dense_lines
        for first in range(0, n, at_once):
            piece = slice(first, first + at_once)
            yield "".join(
                f"{start} {values}{end}"
                for start, values, end in zip(starts[piece], lines(self.X[piece]), ends[piece], strict=True)
            )


def write_letor(
    path: str | PathLike[str],
    X: Any,
    y: ArrayLike,
    qid: ArrayLike,
    doc_ids: ArrayLike | None = None,
    *,
    feature_names: Iterable[str] | None = None,
) -> None:
    """Write documents in LETOR's format, which `load_letor` reads. The file is written whole or not at all.

    A number has as many digits as it takes to be read back as it is. A row of a dense matrix is written
    with all its features, one of a sparse matrix with those that are stored. Names of features are
    comments at the head of the file, ``# feature 3 = title.L3``; other programs pass them over.

    Parameters
    ----------
    path : the file, which is replaced if it exists.
    X : features, shape (n, d), dense or sparse.
    y : labels, shape (n,).
    qid : query id of each row, shape (n,). The format has whole numbers only: if one is not, all are
        numbered from 1 in order of appearance, and comments at the head say so, ``# query 1 = MB01``.
    doc_ids : document ids, shape (n,), written as a comment, ``#docid = <id>``.
    feature_names : a name for each column.

    Raises
    ------
    InputError : lengths differ, there are no rows, a number is not finite; an id or a name is empty or has a
        blank, tab, line end or NUL in it; two features have the same name; or the file cannot be written.

    Examples
    --------
    >>> from structsvm.data import load_feature_names, load_letor, write_letor
    >>> write_letor("one.txt", [[0.5, 2.0]], [1], [7], ["d1"], feature_names=["tf", "idf"])
    >>> load_letor("one.txt", doc_ids=True)
    RankingData(1 queries, 1 documents, 2 features, dense)
    >>> load_feature_names("one.txt")
    ('tf', 'idf')
    """
    text = LetorText.of(X, y, qid, doc_ids, feature_names)
    with replacing(as_path("path", path)) as file:
        file.writelines(text.pieces())


def _as_features(X: Any) -> Any:
    """Return features as a CSR or dense matrix of float64 whose numbers are all finite."""
    features: Any = X
    if sp.issparse(X):
        features = features.tocsr().astype(np.float64)
        if not features.has_sorted_indices:
            features = features.sorted_indices()
        values = features.data
    else:
        features = values = numbers(X, "X")
    if features.ndim != 2:
        raise InputError(
            f"X must be a matrix, with a document a row and a feature a column; its shape is {np.shape(X)}"
        )
    if not np.isfinite(values).all():
        raise InputError("X contains NaN or infinity, which no LETOR file has: replace them")
    return features


def _number(qid: ArrayLike) -> tuple[IntVector, dict[int, str]]:
    """Return query ids as numbers, and what they stand for if they are not the topics' own."""
    topics = as_ids(qid, "qid")
    order = list(dict.fromkeys(topics.tolist()))
    if all(_is_number(topic) for topic in order):
        return np.array([int(topic) for topic in topics], dtype=np.int64), {}
    number = {topic: k for k, topic in enumerate(order, start=1)}
    return np.array([number[topic] for topic in topics], dtype=np.int64), {k: topic for topic, k in number.items()}


def _is_number(topic: str) -> bool:
    """Say whether a topic is written as Python writes a whole number of 64 bits, so that it is read back as it is."""
    return (
        len(topic) < 21
        and re.fullmatch(r"-?[0-9]+", topic) is not None
        and (str(int(topic)) == topic and -_LARGEST <= int(topic) < _LARGEST)
    )


def _as_names(names: Iterable[str] | None, d: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    require_kind("feature_names", names, Iterable, "a list of names, one a feature")
    if isinstance(names, str):
        raise InputError(f"feature_names must be a list of names, one a feature, got the text {names!r}")
    listed = as_list("feature_names", names, "a list of names, one a feature")
    require_words("the name of a feature", listed, _PLACE)
    if len(listed) != d:
        raise InputError(f"feature_names has {len(listed)} names, but X has {d} features")
    twice = repeated(listed)
    if twice is not None:
        raise InputError(f"two features are named {twice!r}: a name stands for one feature")
    return tuple(listed)


def _plain(y: NDArray[np.float64]) -> Sequence[float | int]:
    """Return labels, those that are whole as integers: 1 and not 1.0."""
    return [int(label) if label.is_integer() else label for label in y.tolist()]


def _ends(doc_ids: NDArray[np.str_] | None, n: int) -> list[str]:
    return ["\n"] * n if doc_ids is None else [f" #docid = {name}\n" for name in doc_ids.tolist()]


def _dense_lines(X: NDArray[np.float64]) -> list[str]:
    form = " ".join(f"{k}:%r" for k in range(1, X.shape[1] + 1))
    return [form % tuple(row) for row in X.tolist()]


def _sparse_lines(X: Any) -> Iterator[str]:
    """Return the features that are stored, and the last one with every row, so that the number of columns is kept."""
    d = X.shape[1]
    ptr, columns, values = X.indptr.tolist(), (X.indices + 1).tolist(), X.data.tolist()
    for start, end in pairwise(ptr):
        cells = [f"{column}:{value!r}" for column, value in zip(columns[start:end], values[start:end], strict=True)]
        if start == end or columns[end - 1] != d:
            cells.append(f"{d}:0.0")
        yield " ".join(cells)
