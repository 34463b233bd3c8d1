"""One score a row: ranking and binary problems."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.operators.base import Operator
from structsvm.operators.views import DenseView, SparseView, add_combined, write_scores
from structsvm.parallel import in_blocks
from structsvm.types import Features, IntVector, Vector


@frozen(eq=False)
class Rows(Operator):
    """The rows of a feature matrix: ``A w = X w``.

    Parameters
    ----------
    X : features, shape (rows, d), not copied: float64 or float32, dense (a memory map, too) or CSR.
    ptr : int64, shape (n + 1,); example i owns the rows ``ptr[i]`` to ``ptr[i + 1] − 1``.
    """

    X: Features = field(repr=False)
    ptr: IntVector = field(repr=False)

    @classmethod
    def one_each(cls, X: Features) -> Self:
        """Make every row an example of its own."""
        return cls(X, np.arange(X.shape[0] + 1, dtype=np.int64))

    @classmethod
    def of(cls, xs: Features | Sequence[Any]) -> Self:
        """Make rows of the inputs of a list of examples.

        Parameters
        ----------
        xs : a matrix, of which every row is an example; or one matrix for each example, of
            shape (rows, d), or (d,) for a single row: a list, or an array of them.

        Raises
        ------
        InputError : when the inputs have different numbers of features.
        """
        if isinstance(xs, np.ndarray) and xs.ndim != 2:
            xs = list(xs)
        if isinstance(xs, np.ndarray) or sp.issparse(xs):
            return cls.one_each(readable(xs))
        blocks: list[Any] = [x if sp.issparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64)) for x in xs]
        widths = sorted({block.shape[1] for block in blocks})
        if len(widths) > 1:
            raise InputError(f"the inputs have different numbers of features: {', '.join(map(str, widths))}")
        X = _stacked(blocks)
        return cls(X, np.cumsum([0, *(block.shape[0] for block in blocks)], dtype=np.int64))

    @property
    def stored(self) -> int:
        """Number of entries: of those that are not 0, where the matrix is sparse."""
        return int(self.X.size if isinstance(self.X, np.ndarray) else self.X.nnz)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def view(self) -> DenseView | SparseView:
        """The matrix."""
        if isinstance(self.X, np.ndarray):
            return DenseView(self.ptr, self.X)
        return SparseView(self.ptr, self.X.data, self.X.indices, self.X.indptr)

    def scores(self, w: Vector) -> Vector:
        """Return ``X w``, summed in float64 whatever the storage; w may be a matrix, of K columns of weights."""
        if not self._needs_loops:
            return np.asarray(self.X @ w)
        if w.ndim == 2:
            return np.stack([self.scores(np.ascontiguousarray(column)) for column in w.T], axis=1)
        out = np.empty(self.X.shape[0])
        in_blocks(lambda start, stop: write_scores(self.view, start, stop, w, out), self.ptr)
        return out

    def combine(self, c: Vector) -> Vector:
        """Return ``X' c``, summed in float64 whatever the storage; c may be a matrix, of K columns of coefficients."""
        if not self._needs_loops:
            return np.asarray(self.X.T @ c)
        if c.ndim == 2:
            return np.stack([self.combine(np.ascontiguousarray(column)) for column in c.T], axis=1)

        def part(start: int, stop: int) -> Vector:
            out = np.zeros(self.d)
            add_combined(self.view, start, stop, c, out)
            return out

        return np.asarray(np.sum(in_blocks(part, self.ptr), axis=0))

    @property
    def _needs_loops(self) -> bool:
        """Whether BLAS would copy the matrix to float64, or sum in float32."""
        return bool(self.X.dtype != np.float64)

    def block(self, start: int, stop: int) -> Self:
        """Return the rows of the examples ``start`` to ``stop − 1``."""
        first, last = self.ptr[start], self.ptr[stop]
        return type(self)(_part(self.X, first, last), self.ptr[start : stop + 1] - first)


def readable(X: Features) -> Features:
    """Return features as `Rows` reads them; a copy only of those that are neither float64 nor float32, dense or CSR."""
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)


def _stacked(blocks: list[Any]) -> Features:
    if any(sp.issparse(block) for block in blocks):
        return sp.csr_array(sp.vstack(blocks))
    return np.concatenate(blocks)


def _part(X: Features, first: int, last: int) -> Features:
    """Return rows of X that share its memory; slicing a CSR matrix, or making one of views, would copy."""
    if isinstance(X, np.ndarray):
        return X[first:last]
    entries = slice(X.indptr[first], X.indptr[last])
    part = sp.csr_array((last - first, X.shape[1]), dtype=X.dtype)
    part.data, part.indices = X.data[entries], X.indices[entries]
    part.indptr = X.indptr[first : last + 1] - X.indptr[first]
    return part
