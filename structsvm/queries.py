"""Rows grouped by query: the one place that numbers queries, finds their rows, and gives them weights."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.arrays import numbers, require_unmasked
from structsvm.exceptions import InputError
from structsvm.types import BoolVector, IntVector, Vector


@frozen(eq=False)
class Queries:
    """The queries that rows belong to, numbered from 0 in order of first appearance. Made by `of`.

    Parameters
    ----------
    ids : query ids, shape (Q,).
    number : number of the query of each row, shape (n,).
    order : row numbers, those of each query together and in the order of the input, shape (n,).
    ptr : where the rows of each query begin in ``order``, shape (Q + 1,).
    together : whether the rows are in this order already.
    """

    ids: NDArray[Any]
    number: IntVector = field(repr=False)
    order: IntVector = field(repr=False)
    ptr: IntVector = field(repr=False)
    together: bool

    @classmethod
    def of(cls, qid: ArrayLike | None, n: int) -> Self:
        """Group rows by query.

        Parameters
        ----------
        qid : query id of each row (integers or strings), shape (n,); rows of a query need not be
            contiguous. None: all rows are of one query, whose id is 0.
        n : number of rows.

        Raises
        ------
        InputError : `qid` is not one id per row, an id is NaN or None, or ids are of kinds that have no order.
        """
        ids, number = _numbered(qid, n)
        order = np.argsort(number, kind="stable")
        ptr = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=len(ids)))]).astype(np.int64)
        return cls(ids, number, order, ptr, bool((np.diff(order) == 1).all()))

    @classmethod
    def of_sizes(cls, sizes: IntVector, ids: ArrayLike | None = None) -> Self:
        """Return queries whose rows are together, given the number of rows of each; ids are 0, 1, ... unless given."""
        known = np.arange(len(sizes))
        number, ptr = np.repeat(known, sizes), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(known if ids is None else np.asarray(ids), number, np.arange(len(number)), ptr, together=True)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.ids)

    @property
    def sizes(self) -> IntVector:
        """Number of rows of each query, shape (Q,)."""
        return np.diff(self.ptr)

    def split(self, rows: Any) -> list[Any]:
        """Return what there is of the rows of each query, a view each where the rows are grouped already."""
        grouped, ptr = self.grouped(rows), self.ptr
        return [grouped[ptr[i] : ptr[i + 1]] for i in range(len(self))]

    def grouped(self, rows: Any) -> Any:
        """Return what there is of each row, query after query; without a copy, where the rows are so already."""
        return rows if self.together else rows[self.order]

    def ungrouped(self, rows: Any) -> Any:
        """Return what `grouped` returned in the order of the input again."""
        if self.together:
            return rows
        back = np.empty_like(rows)
        back[self.order] = rows
        return back

    def rows(self, queries: Sequence[int]) -> IntVector:
        """Return the row numbers of some queries, given by number, query after query."""
        return np.concatenate([self.order[self.ptr[query] : self.ptr[query + 1]] for query in queries])

    def weights(self, sample_weight: ArrayLike | None, used: BoolVector | None = None) -> Vector:
        """Return the weight of each query, shape (Q,); 1 where none are given.

        Parameters
        ----------
        sample_weight : weight of each row, the same for all rows of a query, shape (n,).
        used : which queries count: the weights of others may differ. None: all.

        Raises
        ------
        InputError : when they are not n finite numbers, some above 0 and none below, or differ within a query.
        """
        if sample_weight is None:
            return np.ones(len(self))
        weights = row_weights(sample_weight, len(self.number))[self.order]
        first = weights[self.ptr[:-1]]
        differs = np.repeat(first, self.sizes) != weights
        if used is not None:
            differs &= np.repeat(used, self.sizes)
        if differs.any():
            raise InputError(
                "sample_weight differs within a query. A query is one example and has one weight: "
                "give all its rows the same"
            )
        return first


def row_weights(sample_weight: ArrayLike, n: int, each: str = "row") -> Vector:
    """Return the weights of n rows as float64.

    Parameters
    ----------
    sample_weight : the weights, shape (n,).
    n : number of rows.
    each : what messages call one of them.

    Raises
    ------
    InputError : when they are not n finite numbers, none negative and not all zero.
    """
    weights = numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise InputError(f"sample_weight must hold one weight per {each}, shape ({n},), got shape {weights.shape}")
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        first = int(wrong.argmax())
        raise InputError(
            f"sample_weight must be finite and not negative: {wrong.sum()} of {n} are not, "
            f"the first is {weights[first]:g} at {each} {first}"
        )
    if not weights.any():
        raise InputError(f"sample_weight is zero at every {each}: some must have a weight above 0")
    return weights


def require_labels(y: NDArray[Any], n: int) -> None:
    """Require a label for each of n rows, none of them NaN or infinite.

    Raises
    ------
    InputError : it says how many there are, or names the first that is not finite.
    """
    if len(y) != n:
        raise InputError(f"X has {n} rows but y has {len(y)} labels: one label a row is needed")
    require_finite_labels(y)


def require_finite_labels(y: ArrayLike) -> None:
    """Refuse labels of rows that are NaN or infinite, or None where they are objects."""
    labels = np.asarray(y)
    right = np.isfinite(labels) if labels.dtype.kind == "f" else ~_missing(labels)
    if not right.all():
        raise InputError(f"y contains NaN or infinity: the first is label {int(np.argmin(right))}")


def _numbered(qid: ArrayLike | None, n: int) -> tuple[NDArray[Any], IntVector]:
    """Return the ids of the queries in order of first appearance, and the number of the query of each row."""
    if qid is None:
        return np.zeros(min(n, 1), dtype=np.int64), np.zeros(n, dtype=np.int64)
    require_unmasked(qid, "qid")
    try:
        rows = np.asarray(qid)
    except ValueError as error:  # rows of several lengths
        raise InputError(f"qid must hold one query id per row: {error}") from None
    if rows.shape != (n,):
        raise InputError(
            f"qid must hold one query id per row, shape ({n},); its shape is {rows.shape}{_group_hint(rows, n)}"
        )
    missing = _missing(rows)
    if missing.any():
        raise InputError(
            f"qid must not be NaN or None: {missing.sum()} of {n} are, first row {missing.argmax()}. "
            "Give these rows an id, or leave them out"
        )
    begins = np.ones(n, dtype=np.bool_)
    begins[1:] = rows[1:] != rows[:-1]
    runs = np.flatnonzero(begins)
    try:
        ids, first, inverse = np.unique(rows[runs], return_index=True, return_inverse=True)
    except TypeError as error:
        raise InputError(
            f"qid must be ids of one kind, integers or strings: {error}. Make strings of them, as in "
            "[str(query) for query in qid]"
        ) from None
    appearance = np.argsort(first)
    position = np.empty(len(ids), dtype=np.int64)
    position[appearance] = np.arange(len(ids))
    return ids[appearance], np.repeat(position[inverse], np.diff(runs, append=n))


def _group_hint(rows: NDArray[Any], n: int) -> str:
    if rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer) and rows.sum() == n:
        return "; these look like group sizes: np.repeat(np.arange(len(group)), group) makes ids of them"
    return ""


def _missing(rows: NDArray[Any]) -> BoolVector:
    if rows.dtype.kind == "O":
        return np.array([_is_missing(value) for value in rows.tolist()], dtype=np.bool_)
    return np.asarray(rows != rows)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True
