"""The data of an experiment: queries with their pools of documents, scored by base functions."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.arrays import numbers
from structsvm.data import Pool
from structsvm.exceptions import InputError
from structsvm.queries import Queries
from structsvm.settings import repeated
from structsvm.storage.records import digest
from structsvm.types import BoolVector, IntVector, Matrix


@frozen(eq=False)
class Collection:
    """Queries, their documents, and the scores that base functions give them.

    The rows of a query are together, and in the tie order: of documents with one score, that in the
    earlier row is ranked ahead. Make one with `from_arrays`, or of a pool of TREC runs with `of_pool`.

    Parameters
    ----------
    X : score of each document by each base function, shape (rows, F); NaN where it was not retrieved.
    relevant : whether each document is, shape (rows,).
    queries : the queries, whose ids are strings.
    functions : names of the base functions.
    judged : number of documents judged relevant for each query, shape (Q,), at least those in the rows.
    left_out : queries that cannot take part, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols.experiment import Collection
    >>> X = [[3.0, 0.1], [1.0, 0.9], [np.nan, 0.5], [2.0, 0.7], [1.0, 0.2]]
    >>> y, qid = [1, 0, 0, 1, 0], ["q1", "q1", "q2", "q2", "q3"]
    >>> collection = Collection.from_arrays(X, y, qid, functions=["bm25", "lm"], judged={"q1": 1, "q2": 3, "q3": 2})
    >>> collection.ids, collection.judged.tolist()
    (('q1', 'q2'), [1, 3])
    >>> collection.left_out
    {'q3': 'no document in its pool is relevant'}
    """

    X: Matrix = field(repr=False)
    relevant: BoolVector = field(repr=False)
    queries: Queries = field(repr=False)
    functions: tuple[str, ...]
    judged: IntVector = field(repr=False)
    left_out: dict[str, str] = field(factory=dict)

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        functions: Sequence[str] | None = None,
        doc_ids: ArrayLike | None = None,
        judged: Mapping[Any, int] | None = None,
        left_out: Mapping[str, str] | None = None,
    ) -> Self:
        """Make a collection from arrays.

        Parameters
        ----------
        X : score of each document by each base function, larger is better, shape (rows, F); NaN where
            the function did not retrieve the document.
        y : labels, shape (rows,); relevant above 0.
        qid : query of each row, shape (rows,); rows of a query need not be together.
        functions : names of the base functions; None: "f1", "f2", ...
        doc_ids : document ids, shape (rows,): documents of one score are ranked by id, descending, as
            in trec_eval. None: they keep the order of the rows.
        judged : number of documents judged relevant for each query, in the rows or not: the
            denominators of trec_eval. None: those in the rows.
        left_out : further queries that cannot take part, and why.

        Raises
        ------
        InputError : when the arrays do not fit each other, scores are infinite, or no query has a
            relevant document.
        """
        scores, labels = numbers(X, "X"), numbers(y, "y")
        names = _names(functions, scores)
        if labels.shape != (len(scores),):
            raise InputError(f"X has {len(scores)} rows but y has shape {labels.shape}: one label a row is needed")
        if np.isinf(scores).any():
            row, column = np.argwhere(np.isinf(scores))[0]
            raise InputError(
                f"X must not be infinite: row {row} of {names[column]} is. NaN marks what is not retrieved"
            )
        if not np.isfinite(labels).all():
            raise InputError(f"y must be finite: row {int(np.argmin(np.isfinite(labels)))} is not")
        queries = Queries.of(qid, len(labels))
        found = np.bincount(queries.number, labels > 0, len(queries.ids))
        ids = [str(each) for each in queries.ids.tolist()]
        known = {ids[k]: "no document in its pool is relevant" for k in np.flatnonzero(found == 0)}
        if len(known) == len(ids):
            raise InputError("no query has a relevant document (a label above 0): there is nothing to learn or measure")
        order = _tie_order(queries.number, doc_ids)
        order = order[found[queries.number[order]] > 0]
        counts = found if judged is None else np.array([judged[each] for each in queries.ids.tolist()])
        if (counts < found).any():
            k = int(np.argmax(counts < found))
            raise InputError(f"query {ids[k]} has {found[k]:.0f} relevant documents, but only {counts[k]} judged so")
        return cls(
            X=np.ascontiguousarray(scores[order]),
            relevant=labels[order] > 0,
            queries=Queries.of_sizes(queries.sizes[found > 0], np.array(ids)[found > 0]),
            functions=names,
            judged=counts[found > 0].astype(np.int64),
            left_out=dict(left_out or {}) | known,
        )

    @classmethod
    def of_pool(cls, pool: Pool) -> Self:
        """Make a collection from a pool of TREC runs."""
        return cls.from_arrays(  # without document ids: the rows of a pool are in the tie order of trec_eval
            pool.X,
            pool.y,
            pool.qid,
            functions=pool.run_names,
            judged=pool.relevant_judged,
            left_out=pool.left_out,
        )

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.queries)

    @property
    def ids(self) -> tuple[str, ...]:
        """Query ids."""
        return tuple(self.queries.ids.tolist())

    @property
    def ptr(self) -> IntVector:
        """Where the rows of each query begin, shape (Q + 1,)."""
        return self.queries.ptr

    def fingerprint(self) -> str:
        """Return a hash of all that results depend on."""
        arrays = (np.ascontiguousarray(array).data for array in (self.X, self.relevant, self.ptr, self.judged))
        return digest([*arrays, "\0".join([*self.ids, "", *self.functions]).encode()])


def _names(functions: Sequence[str] | None, X: NDArray[Any]) -> tuple[str, ...]:
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"X must be a matrix with a column for each base function; its shape is {X.shape}")
    names = tuple(functions) if functions is not None else tuple(f"f{k + 1}" for k in range(X.shape[1]))
    if len(names) != X.shape[1]:
        raise InputError(f"X has {X.shape[1]} columns, but there are {len(names)} names of base functions")
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"two base functions are called {twice!r}: give each a name of its own")
    return names


def _tie_order(number: IntVector, doc_ids: ArrayLike | None) -> IntVector:
    """Return the rows query after query, and by descending document id within each where there are ids."""
    rows = np.arange(len(number))
    if doc_ids is not None:
        names = np.asarray(doc_ids)
        if names.shape != number.shape:
            raise InputError(f"doc_ids must hold one document id per row, shape {number.shape}; it is {names.shape}")
        rows = np.argsort(names, kind="stable")[::-1]
    return rows[np.argsort(number[rows], kind="stable")]
