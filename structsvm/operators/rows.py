"""One score a row: ranking and binary problems."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen

from structsvm.operators.base import Operator
from structsvm.types import Features, IntVector, Vector


@frozen(eq=False)
class Rows(Operator):
    """The rows of a feature matrix: ``A w = X w``.

    Parameters
    ----------
    X : features, shape (rows, d); float64, dense or CSR. Not copied.
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
        xs : a matrix, of which every row is an example; or one array for each example, of
            shape (rows, d), or (d,) for a single row.
        """
        if isinstance(xs, np.ndarray) or sp.issparse(xs):
            return cls.one_each(xs)
        blocks = [np.atleast_2d(np.asarray(x, dtype=np.float64)) for x in xs]
        return cls(np.concatenate(blocks), np.cumsum([0, *map(len, blocks)], dtype=np.int64))

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def scores(self, w: Vector) -> Vector:
        """Return ``X w``."""
        return np.asarray(self.X @ w)

    def combine(self, c: Vector) -> Vector:
        """Return ``X' c``."""
        return np.asarray(c @ self.X if not sp.issparse(self.X) else self.X.T @ c)

    def block(self, start: int, stop: int) -> Self:
        """Return the rows of the examples ``start`` to ``stop − 1``."""
        first, last = self.ptr[start], self.ptr[stop]
        return type(self)(self.X[first:last], self.ptr[start : stop + 1] - first)
