"""Write LETOR's data format."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.data.pairs import as_ids, as_topics, number_topics, require_words, whole_numbers
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import as_path, checked_names
from structsvm.foundation.storage.files import replacing
from structsvm.foundation.types import BoolVector, IntVector

_NUMBERS_AT_ONCE = 2**17
_PLACE = "a LETOR file"


@frozen(eq=False)
class LetorText:
    """Documents checked for LETOR's format, made by `of`; ``topics`` maps query ids to topics that are not numbers."""

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
        """Check the arguments of `write_letor`."""
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
            raise InputError(f"X must have a row per document and at least one document and feature: {what}")
        infinite = ~np.isfinite(labels)
        if infinite.any():
            raise InputError(f"y must be finite: label {int(infinite.argmax())} is {labels[infinite.argmax()]}")
        if ids is not None:
            require_words("the document id", dict.fromkeys(ids.tolist()), _PLACE)
        require_words("the topic", topics.values(), _PLACE)
        names = None if feature_names is None else checked_names("feature_names", feature_names, d)
        require_words("the name of a feature", names or (), _PLACE)
        return cls(features, labels, queries, ids, names, topics)

    def rows(self, mask: BoolVector) -> "LetorText":
        queries = self.queries[mask]
        remaining = set(np.unique(queries).tolist())
        return LetorText(
            self.X[mask],
            self.y[mask],
            queries,
            None if self.doc_ids is None else self.doc_ids[mask],
            self.feature_names,
            {query: topic for query, topic in self.topics.items() if query in remaining},
        )

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces of some thousand lines."""
        yield "".join(f"# feature {k} = {name}\n" for k, name in enumerate(self.feature_names or (), start=1))
        yield "".join(f"# query {query} = {topic}\n" for query, topic in self.topics.items())
        n, d = self.X.shape
        ends = ["\n"] * n if self.doc_ids is None else [f" #docid = {name}\n" for name in self.doc_ids.tolist()]
        # Whole labels are written as integers, 1.0 as 1.
        labels = [int(label) if label.is_integer() else label for label in self.y.tolist()]
        starts = [f"{label!r} qid:{query}" for label, query in zip(labels, self.queries.tolist(), strict=True)]
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
    """Write documents atomically, in LETOR's format, which `load_letor` reads.

    Numbers have as many digits as an exact round trip needs. Rows of a dense matrix are written with all features, rows
    of a sparse matrix with the stored ones.

    Parameters
    ----------
    path : the file, which is replaced if it exists.
    X : features, shape (n, d), dense or sparse.
    y : labels, shape (n,).
    qid : query id of each row, shape (n,). The format allows only whole numbers: if any id is not one, all are numbered
        from 1 in order of appearance, and comments at the head give the ids, ``# query 1 = MB01``.
    doc_ids : document ids without blanks, shape (n,), written as a comment, ``#docid = <id>``.
    feature_names : a distinct name without blanks for each column, written as comments at the head,
        ``# feature 3 = title.L3``.

    Examples
    --------
    >>> from structsvm.data import load_letor
    >>> write_letor("one.txt", [[0.5, 2.0]], [1], [7], ["d1"], feature_names=["tf", "idf"])
    >>> load_letor("one.txt").feature_names
    ('tf', 'idf')
    """
    text = LetorText.of(X, y, qid, doc_ids, feature_names)
    with replacing(as_path("path", path)) as file:
        file.writelines(text.pieces())


def _as_features(X: Any) -> Any:
    """Return features as float64, CSR or dense; raise InputError if a number is not finite."""
    features: Any = X
    if sp.issparse(X):
        features = features.tocsr().astype(np.float64)
        if not features.has_sorted_indices:
            features = features.sorted_indices()
        values = features.data
    else:
        features = values = numbers(X, "X")
    if features.ndim != 2:
        raise InputError(f"X must be a matrix, a row per document and a column per feature, got shape {np.shape(X)}")
    if not np.isfinite(values).all():
        raise InputError("X contains NaN or infinity, which LETOR files cannot contain: replace these values")
    return features


def _number(qid: ArrayLike) -> tuple[IntVector, dict[int, str]]:
    """Return query ids as numbers, and their topics unless topics are numbers."""
    names, number = number_topics(as_topics(qid))
    whole = whole_numbers(names)
    if whole is not None:
        return np.array(whole, dtype=np.int64)[number], {}
    return number + 1, dict(enumerate(names, start=1))


def _dense_lines(X: NDArray[np.float64]) -> list[str]:
    form = " ".join(f"{k}:%r" for k in range(1, X.shape[1] + 1))
    return [form % tuple(row) for row in X.tolist()]


def _sparse_lines(X: Any) -> Iterator[str]:
    """Yield the stored features of each row, and always the last feature, so that the number of columns survives."""
    d = X.shape[1]
    ptr, columns, values = X.indptr.tolist(), (X.indices + 1).tolist(), X.data.tolist()
    for start, end in pairwise(ptr):
        cells = [f"{column}:{value!r}" for column, value in zip(columns[start:end], values[start:end], strict=True)]
        if start == end or columns[end - 1] != d:
            cells.append(f"{d}:0.0")
        yield " ".join(cells)
