"""Store the vectors of cuts, as dense rows with room for more or as sparse rows."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from structsvm.foundation.types import IntVector, Matrix, Vector


class DenseRows:
    """Rows of a dense matrix with room for more."""

    def __init__(self, places: int, d: int) -> None:
        self._G, self._size = np.empty((places, d)), 0

    @property
    def all(self) -> Matrix:
        """The rows."""
        return self._G[: self._size]

    def first(self, size: int) -> Matrix:
        """Return the first rows."""
        return self._G[:size]

    def write(self, start: int, G: Matrix) -> None:
        """Write rows from ``start`` on."""
        self._size = start + len(G)
        self._G[start : self._size] = G

    def keep(self, rows: IntVector) -> None:
        """Move these rows to the front."""
        self._G[: len(rows)] = self._G[rows]
        self._size = len(rows)

    def reserve(self, places: int, size: int) -> None:
        """Make room for this many rows; the first ``size`` rows stay."""
        grown = np.empty((places, self._G.shape[1]))
        grown[:size] = self._G[:size]
        self._G = grown

    def numbers(self, places: int) -> int:
        """Return the number of values that this many rows store."""
        return places * self._G.shape[1]

    def products(self, start: int) -> Matrix:
        """Return the inner products of the rows from ``start`` on with all rows."""
        return self.all[start:] @ self.all.T

    def combined(self, weights: Vector) -> Vector:
        """Return the weighted sum of the rows."""
        G, some = self.first(len(weights)), np.flatnonzero(weights)
        # Many rows take longer to copy than to multiply by 0.
        return weights @ G if 2 * len(some) > len(weights) else weights[some] @ G[some]

    def wide(self, combination: Vector) -> Vector:
        """Return a weighted sum of the rows as a vector of all columns."""
        return combination

    def means(self, weights: Vector, rows: IntVector, starts: IntVector, total: Vector) -> Matrix:
        """Return weighted sums of rows, divided by ``total``; a sum begins at each of the ``starts``."""
        return np.asarray(np.add.reduceat(weights[:, None] * self._G[rows], starts, axis=0) / total[:, None])


class SparseRows:
    """Rows of a sparse matrix, of which only non-zero values take memory.

    Combinations of rows are dense vectors over the ``columns`` with a value, in the order of their first appearance.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._columns = np.zeros(0, dtype=np.int64)
        self._G: Any = sp.csr_array((0, 0))

    def first(self, size: int) -> Any:
        """Return the first rows."""
        G = self._G[:size]
        return sp.csr_array((G.data, self._columns[G.indices], G.indptr), shape=(size, self._d))

    def write(self, start: int, G: Any) -> None:
        """Write rows from ``start`` on."""
        G = sp.csr_array(G)
        self._columns = np.concatenate((self._columns, np.setdiff1d(G.indices, self._columns)))
        order = np.argsort(self._columns)
        places = order[np.searchsorted(self._columns, G.indices, sorter=order)]
        k = len(self._columns)
        old, new = self._G[:start], sp.csr_array((G.data, places, G.indptr), shape=(G.shape[0], k))
        self._G = sp.vstack([sp.csr_array((old.data, old.indices, old.indptr), shape=(start, k)), new], format="csr")

    def keep(self, rows: IntVector) -> None:
        """Keep only these rows."""
        self._G = self._G[rows]

    def reserve(self, places: int, size: int) -> None:
        """Rows need no room in advance."""

    def numbers(self, places: int) -> int:
        """Return the number of values and indices of this many rows that are as long as the present ones."""
        return 2 * places * -(-int(self._G.nnz) // max(1, int(self._G.shape[0])))

    def products(self, start: int) -> Matrix:
        """Return the inner products of the rows from ``start`` on with all rows."""
        return np.asarray((self._G[start:] @ self._G.T).toarray())

    def combined(self, weights: Vector) -> Vector:
        """Return the weighted sum of the rows, over the columns with a value."""
        return np.asarray(weights @ self._G)

    def wide(self, combination: Vector) -> Vector:
        """Return a weighted sum of the rows as a vector of all columns."""
        w = np.zeros(self._d)
        w[self._columns[: len(combination)]] = combination
        return w

    def means(self, weights: Vector, rows: IntVector, starts: IntVector, total: Vector) -> Any:
        """Return weighted sums of rows, divided by ``total``; a sum begins at each of the ``starts``."""
        ptr, G = np.append(starts, len(rows)), self.first(self._G.shape[0])
        sums = sp.csr_array((weights, rows, ptr), shape=(len(starts), G.shape[0])) @ G
        sums.data /= np.repeat(total, np.diff(sums.indptr))
        return sums
