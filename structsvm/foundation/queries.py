"""Group rows by query: the only place that numbers queries, finds their rows, and weights them."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers, require_unmasked
from structsvm.foundation.types import BoolVector, IntVector, Vector


@frozen(eq=False)
class Queries:
    """The queries of rows, from 0 in order of appearance: query q has the rows ``order[ptr[q]:ptr[q + 1]]``."""

    ids: NDArray[Any]
    number: IntVector = field(repr=False)
    order: IntVector = field(repr=False)
    ptr: IntVector = field(repr=False)
    together: bool

    @classmethod
    def of(cls, qid: ArrayLike | None, n: int) -> Self:
        """Group n rows by query id; None: all rows belong to one query with id 0. Reject invalid ids."""
        ids, number = _numbered(qid, n)
        order = np.argsort(number, kind="stable")
        ptr = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=len(ids)))]).astype(np.int64)
        return cls(ids, number, order, ptr, bool((np.diff(order) == 1).all()))

    @classmethod
    def of_sizes(cls, sizes: IntVector, ids: ArrayLike | None = None) -> Self:
        """Return queries with contiguous rows, from the number of rows of each; ids are 0, 1, ... by default."""
        positions = np.arange(len(sizes))
        number, ptr = np.repeat(positions, sizes), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(positions if ids is None else np.asarray(ids), number, np.arange(len(number)), ptr, together=True)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.ids)

    @property
    def sizes(self) -> IntVector:
        """Number of rows of each query, shape (Q,)."""
        return np.diff(self.ptr)

    def sorted_by(self, *keys: NDArray[Any]) -> Self:
        """Return the same groups, queries by id and the rows of each query by the keys, the first key foremost."""
        by_id = np.argsort(self.ids, kind="stable")
        number = np.argsort(by_id)[self.number]
        order = np.lexsort((*reversed(keys), number))
        ptr = np.append(0, np.cumsum(self.sizes[by_id]))
        return type(self)(self.ids[by_id], number, order, ptr, bool((np.diff(order) == 1).all()))

    def split(self, rows: Any) -> list[Any]:
        """Return the rows of each query, as views if the rows are grouped already."""
        grouped, ptr = self.grouped(rows), self.ptr
        return [grouped[ptr[i] : ptr[i + 1]] for i in range(len(self))]

    def grouped(self, rows: Any) -> Any:
        """Return rows grouped by query, without a copy if they are grouped already."""
        return rows if self.together else rows[self.order]

    def ungrouped(self, rows: Any) -> Any:
        """Return grouped rows in input order."""
        if self.together:
            return rows
        back = np.empty_like(rows)
        back[self.order] = rows
        return back

    def rows(self, queries: Sequence[int]) -> IntVector:
        """Return the row numbers of some queries, given by number, in that order."""
        return np.concatenate([self.order[self.ptr[query] : self.ptr[query + 1]] for query in queries])

    def weights(self, sample_weight: ArrayLike | None, used: BoolVector | None = None) -> Vector:
        """Return the weight of each query, shape (Q,), 1 by default; reject weights that differ within a used query."""
        if sample_weight is None:
            return np.ones(len(self))
        weights = row_weights(sample_weight, len(self.number))[self.order]
        first = weights[self.ptr[:-1]]
        differs = np.repeat(first, self.sizes) != weights
        if used is not None:
            differs &= np.repeat(used, self.sizes)
        if differs.any():
            place = int(differs.argmax())
            start = self.ptr[np.searchsorted(self.ptr, place, side="right") - 1]
            rows = " and ".join(f"row {self.order[k]} has {weights[k]:.6g}" for k in (start, place))
            raise InputError(f"sample_weight differs within a query: {rows}. Give all rows of a query the same weight")
        return first


def row_weights(sample_weight: ArrayLike, n: int, unit: str = "row") -> Vector:
    """Return n finite, non-negative, not all zero weights as float64; ``unit`` is the word for one in messages."""
    weights = numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise InputError(f"sample_weight must be one weight per {unit}, shape ({n},), got shape {weights.shape}")
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        first = int(wrong.argmax())
        raise InputError(
            f"sample_weight must be finite and not negative: {wrong.sum()} of {n} are not, "
            f"the first is {weights[first]:g} at {unit} {first}"
        )
    if not weights.any():
        raise InputError(f"sample_weight is zero at every {unit}: some weights must be above 0")
    return weights


def require_labels(y: NDArray[Any], n: int) -> None:
    """Require n labels that are neither NaN nor infinite."""
    if len(y) != n:
        raise InputError(f"X has {n} rows, but y has {len(y)} labels: pass one label per row")
    require_finite_labels(y)


def require_finite_labels(y: ArrayLike) -> None:
    """Reject labels that are NaN, infinite or None."""
    labels = np.asarray(y)
    right = np.isfinite(labels) if labels.dtype.kind == "f" else ~missing_rows(labels)
    if not right.all():
        raise InputError(f"y contains NaN or infinity, first in row {int(np.argmin(right))}: leave the row out")


def _numbered(qid: ArrayLike | None, n: int) -> tuple[NDArray[Any], IntVector]:
    """Return the query ids in order of first appearance, and the query number of each row."""
    if qid is None:
        return np.zeros(min(n, 1), dtype=np.int64), np.zeros(n, dtype=np.int64)
    require_unmasked(qid, "qid")
    try:
        rows = np.asarray(qid)
    # NumPy raises ValueError if rows differ in length.
    except ValueError as error:
        raise InputError(f"qid must be one query id per row: {error}") from None
    if rows.shape != (n,):
        raise InputError(
            f"qid must be one query id per row, shape ({n},), got shape {rows.shape}{_group_hint(rows, n)}"
        )
    missing = missing_rows(rows)
    if missing.any():
        raise InputError(
            f"qid must not be NaN or None: {missing.sum()} of {n} are, first in row {missing.argmax()}. Give them an "
            "id, or leave them out"
        )
    begins = np.ones(n, dtype=np.bool_)
    begins[1:] = rows[1:] != rows[:-1]
    runs = np.flatnonzero(begins)
    try:
        ids, first, inverse = np.unique(rows[runs], return_index=True, return_inverse=True)
    except TypeError as error:
        raise InputError(
            f"qid must be all integers or all strings: {error}. Convert it, as in [str(query) for query in qid]"
        ) from None
    appearance = np.argsort(first)
    position = np.empty(len(ids), dtype=np.int64)
    position[appearance] = np.arange(len(ids))
    return ids[appearance], np.repeat(position[inverse], np.diff(runs, append=n))


def _group_hint(rows: NDArray[Any], n: int) -> str:
    if rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer) and rows.sum() == n:
        return "; these look like group sizes: np.repeat(np.arange(len(group)), group) converts them to ids"
    return ""


def missing_rows(rows: NDArray[Any]) -> BoolVector:
    """Return the mask of values that are None, NaN or NA, shape (n,)."""
    if rows.dtype.kind == "O":
        return np.array([_is_missing(value) for value in rows.tolist()], dtype=np.bool_)
    return np.asarray(rows != rows)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    # Comparisons with pandas.NA and with arrays have no truth value.
    except (TypeError, ValueError):
        return True
