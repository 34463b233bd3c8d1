"""The operator with one score per row, for ranking and binary problems."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.features.operators.base import Operator
from structsvm.features.operators.matrix import Readable, is_matrix, kind_of, readable, stacked
from structsvm.features.operators.views import write_all_scores, write_combination
from structsvm.foundation.compute.threads import VALUES_AN_ARGMAX, in_blocks, over_blocks
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import as_list
from structsvm.foundation.types import IntVector, Vector

_VALUES_A_SUM = 8
"""Smallest number of feature values read per number of a block's sum, so that adding up the sums stays cheap."""

_MOST_SUMS = 32
"""Largest number of block sums in memory."""


@frozen(eq=False)
class Rows(Operator):
    """The operator of a feature matrix, with one score per row: ``A w = X w``.

    Parameters
    ----------
    X : features, shape (rows, d), not copied: float64 or float32, dense (also a memory map) or CSR; a `BinnedMatrix`;
        or a matrix of a kind registered with `register_matrix`.
    ptr : int64, shape (n + 1,); example i has the rows ``ptr[i]`` to ``ptr[i + 1] − 1``.

    Examples
    --------
    >>> rows = Rows.one_row_per_example(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> rows.scores(np.array([1.0, 0.0])).tolist()
    [1.0, 3.0]
    """

    X: Readable = field(repr=False)
    ptr: IntVector = field(repr=False)

    def __attrs_post_init__(self) -> None:
        kind_of(self.X).require_sound(self.X)
        if self.X.ndim != 2:
            raise InputError(f"X must be a matrix with one row per score; its shape is {self.X.shape}")
        ptr: Any = self.ptr
        rows = self.X.shape[0]
        if not (isinstance(ptr, np.ndarray) and np.ndim(ptr) == 1 and ptr.dtype.kind in "iu" and len(ptr) > 0):
            raise InputError(f"ptr must be a vector of integers: the first row of each example, and {rows} at the end")
        if ptr[0] != 0 or ptr[-1] != rows or (ptr[1:] < ptr[:-1]).any():
            raise InputError(f"ptr must begin with 0, never fall, and end with {rows}, the number of rows")

    @classmethod
    def one_row_per_example(cls, X: Readable) -> Self:
        """Make every row a separate example."""
        kind_of(X)
        if X.ndim != 2:
            raise InputError(f"X must be a matrix with one row per example; its shape is {X.shape}")
        require_memory(8.0 * X.shape[0], "The row numbers of X", "pass fewer rows")
        return cls(X, np.arange(X.shape[0] + 1, dtype=np.int64))

    @classmethod
    def of(cls, xs: Readable | Sequence[Any]) -> Self:
        """Make rows from the inputs of a list of examples.

        Parameters
        ----------
        xs : a matrix with one example per row; or a list or array of one matrix per example, of shape (rows, d), or
            (d,) for a single row.
        """
        if is_matrix(xs):
            return cls.one_row_per_example(readable(xs))
        X, rows = stacked(as_list("inputs", xs, "a matrix, or a list of them"))
        return cls(X, np.cumsum([0, *rows], dtype=np.int64))

    @property
    def stored(self) -> int:
        return kind_of(self.X).stored(self.X)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def view(self) -> Any:
        return kind_of(self.X).view(self.X, self.ptr)

    @property
    def gram_sizes(self) -> IntVector | None:
        return np.diff(self.ptr) ** 2 if kind_of(self.X).has_gram(self.X) else None

    def scores(self, w: Vector) -> Vector:
        """Return ``X w``, summed in float64 for every storage type; w may be a matrix with K columns of weights.

        With one w, equal rows have equal scores to the last bit, so ties stay ties.
        """
        X: Any = self.X
        if len(w) != X.shape[1]:
            raise InputError(f"rows of {X.shape[1]} features are scored by as many weights, got {len(w)}")
        if kind_of(X).prefers_product(X, 1 if w.ndim == 1 else w.shape[1]):
            return np.asarray(X @ w)
        if w.ndim == 2:
            return np.stack([self.scores(np.ascontiguousarray(column)) for column in w.T], axis=1)
        out = np.empty(X.shape[0])

        def write(bounds: IntVector, counters: IntVector) -> None:
            # Each block is viewed as one example.
            blocks = kind_of(X).view(X, self.ptr[bounds])
            write_all_scores(blocks, counters, w, out)

        over_blocks(write, self.ptr, self._work)
        return out

    def combine(self, c: Vector) -> Vector:
        """Return ``X' c``, summed in float64 for every storage type; c may be a matrix with K columns of coefficients.

        The result does not depend on the number of threads: fixed blocks of rows are summed, then added in their order.
        """
        X: Any = self.X
        if len(c) != X.shape[0]:
            raise InputError(f"{X.shape[0]} rows are combined by as many coefficients, got {len(c)}")
        if kind_of(X).prefers_product(X, 1 if c.ndim == 1 else c.shape[1]):
            return np.asarray(X.T @ c)
        if c.ndim == 2:
            return np.stack([self.combine(np.ascontiguousarray(column)) for column in c.T], axis=1)
        ptr = self.ptr

        def combined(i: int, j: int) -> Vector:
            out = np.empty(self.d)
            write_combination(self._as_one(i, j), 0, c[ptr[i] : ptr[j]], out)
            return out

        most = max(1, min(_MOST_SUMS, self.stored // (_VALUES_A_SUM * max(1, self.d))))
        parts = in_blocks(combined, ptr, self._work, most)
        total = parts[0]
        for part in parts[1:]:
            total += part
        return total

    def _as_one(self, start: int, stop: int) -> Any:
        """Return the view of the rows of the examples ``start`` to ``stop − 1`` as one example."""
        return kind_of(self.X).view(self.X, self.ptr[[start, stop]])

    @property
    def _work(self) -> float:
        """Time per row, in units of `in_blocks`."""
        return self.stored / max(1, int(self.ptr[-1])) / VALUES_AN_ARGMAX

    def block(self, start: int, stop: int) -> Self:
        first, last = self.ptr[start], self.ptr[stop]
        # Skip the checks of the constructor: X and ptr are known to be valid.
        block = type(self).__new__(type(self))
        object.__setattr__(block, "X", kind_of(self.X).part(self.X, first, last))
        object.__setattr__(block, "ptr", self.ptr[start : stop + 1] - first)
        return block
