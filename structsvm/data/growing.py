"""Vectors and features that grow while files are read, in place where the operating system can do so."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from structsvm.data.letor_block import Rows
from structsvm.memory import require_memory
from structsvm.types import Features

if TYPE_CHECKING:
    import scipy.sparse as sp

_LARGEST_INT32 = np.iinfo(np.int32).max
_AT_ONCE = 2**20
"""Numbers of a dense matrix that are filled at a time."""

_SPARE = 2**28
"""Bytes at most that are taken ahead of what is there."""

_MOST_WIDENINGS = 8
"""Times that rows are moved apart to make room for further columns: a file may bring one with each block."""


class Growing:
    """A vector that grows and shrinks at its end."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._held: NDArray[Any] = np.empty(0, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def all(self) -> NDArray[Any]:
        """What it holds; no longer valid when it has changed."""
        return self._held[: self._size]

    def extend(self, part: NDArray[Any]) -> None:
        """Append numbers."""
        self.more(len(part))[:] = part

    def more(self, count: int) -> NDArray[Any]:
        """Append zeros, and return them."""
        size = self._size + count
        if size > len(self._held):
            spare = min(size // 8, _SPARE // self._held.itemsize)
            self._held.resize(size + spare, refcheck=False)
        self._size, start = size, self._size
        return self._held[start:size]

    def pop(self, start: int) -> NDArray[Any]:
        """Take the numbers from a place on away, and return them."""
        taken = self._held[start : self._size].copy()
        self._held.resize(start, refcheck=False)
        self._size = start
        return taken

    def release(self) -> NDArray[Any]:
        """Return what it holds, of which the caller is the owner from now on."""
        self._held.resize(self._size, refcheck=False)
        return self._held


class GrowingFeatures:
    """Rows of features, kept dense while that takes little more memory than what is not 0 alone, and as CSR beyond.

    Parameters
    ----------
    dtype : of the values.
    sparse : True for CSR at once, False for dense rows; None decides by memory, again and again.
    n_features : number of columns, if that is known.

    Attributes
    ----------
    rows, stored : number of rows, and of features in them that are not 0.
    """

    def __init__(self, dtype: DTypeLike, sparse: bool | None, n_features: int | None) -> None:
        self.rows = self.stored = 0
        self._dtype, self._sparse = np.dtype(dtype), sparse
        self._columns, self._widenings = n_features or 0, 0
        self._is_dense = not sparse
        self._dense = Growing(dtype)
        self._ends, self._indices, self._values = Growing(np.int64), Growing(np.int32), Growing(dtype)

    def append(self, part: Rows) -> None:
        """Append rows.

        Raises
        ------
        TooLargeError : there is no memory for dense rows, and CSR was ruled out.
        """
        count = len(part.ends)
        if self._is_dense:
            self._prepare(self.rows + count, self.stored + len(part.values), max(self._columns, part.width))
        if self._is_dense:
            X = self._dense.more(count * self._columns).reshape(count, self._columns)
            _fill(X, part.values, part.indices, np.concatenate([[0], part.ends]))
        else:
            self._extend(part.ends, part.indices, part.values)
        self.rows += count
        self.stored += len(part.values)

    def bytes(self, width: int) -> tuple[int, int]:
        """Return the memory that the features take as CSR, and as dense rows of a width."""
        return self._bytes(self.rows, self.stored, width)

    def release(self, width: int, *, sparse: bool) -> Features:
        """Return the rows with a number of columns, once: their memory goes over to the result.

        Raises
        ------
        TooLargeError : there is no memory for dense rows.
        """
        if sparse:
            if self._is_dense:
                self._compress()
            return self._csr(width)
        if not self._is_dense:
            return self._as_dense(width)
        if width > self._columns:
            self._widen(width)
        return self._dense.release().reshape(self.rows, width)

    def _bytes(self, rows: int, stored: int, width: int) -> tuple[int, int]:
        index = 4 if max(stored, width) <= _LARGEST_INT32 else 8
        return stored * (self._dtype.itemsize + index) + (rows + 1) * index, rows * width * self._dtype.itemsize

    def _prepare(self, rows: int, stored: int, columns: int) -> None:
        """Make the columns as many as are needed, or change to CSR where that is better."""
        compressed, dense = self._bytes(rows, stored, columns)
        if self._sparse is None and (
            2 * compressed < dense or (columns > self._columns and self._widenings == _MOST_WIDENINGS)
        ):
            self._compress()
            return
        self._require(rows, columns)
        if columns > self._columns:
            self._widen(columns)

    def _require(self, rows: int, columns: int) -> None:
        require_memory(
            self._dtype.itemsize * rows * columns - self._dense.all.nbytes,
            f"{rows:,} dense rows of {columns:,} features",
            "sparse=True keeps what is not 0 alone",
        )

    def _widen(self, columns: int) -> None:
        """Move rows apart, the last ones first, so that there is room for further columns."""
        self._require(self.rows, columns)
        before, self._columns = self._columns, columns
        if not self.rows:
            return
        self._widenings += 1
        self._dense.more(self.rows * (columns - before))
        narrow = self._dense.all[: self.rows * before].reshape(self.rows, before)
        wide = self._dense.all.reshape(self.rows, columns)
        for start in reversed(range(0, self.rows, _rows_at_once(columns))):
            part = slice(start, start + _rows_at_once(columns))
            wide[part, :before] = narrow[part].copy()
            wide[part, before:] = 0.0

    def _compress(self) -> None:
        """Change from dense rows to CSR."""
        import scipy.sparse as sp

        self._is_dense = False
        if self.rows:
            rows = self._dense.all.reshape(self.rows, self._columns)
            for start in range(0, self.rows, _rows_at_once(self._columns)):
                part = sp.csr_array(rows[start : start + _rows_at_once(self._columns)])
                self._extend(part.indptr[1:], part.indices, part.data)
        self._dense = Growing(self._dtype)

    def _extend(self, ends: NDArray[Any], indices: NDArray[Any], values: NDArray[Any]) -> None:
        self._ends.extend(ends + len(self._values))
        self._indices.extend(indices)
        self._values.extend(values)

    def _csr(self, width: int) -> "sp.csr_array":
        import scipy.sparse as sp

        index = np.int32 if max(len(self._values), width) <= _LARGEST_INT32 else np.int64
        indptr = np.concatenate([[0], self._ends.release()]).astype(index)
        indices = self._indices.release().astype(index, copy=False)
        return sp.csr_array((self._values.release(), indices, indptr), shape=(self.rows, width))

    def _as_dense(self, width: int) -> NDArray[Any]:
        """Fill a matrix from its last rows, and let go of what it took: both at once are never in memory."""
        self._require(self.rows, width)
        X = np.empty((self.rows, width), dtype=self._dtype)
        indptr = np.concatenate([[0], self._ends.all])
        for start in reversed(range(0, self.rows, _rows_at_once(width))):
            ends = indptr[start : start + _rows_at_once(width) + 1]
            values, indices = self._values.pop(ends[0]), self._indices.pop(ends[0])
            part = X[start : start + _rows_at_once(width)]
            part[:] = 0.0
            _fill(part, values, indices, ends - ends[0])
        return X


def _rows_at_once(columns: int) -> int:
    return max(_AT_ONCE // max(columns, 1), 1)


def _fill(X: NDArray[Any], values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]) -> None:
    """Fill rows of zeros; few of them without SciPy, which takes longer to be loaded than these to be filled."""
    if len(values) == X.size:
        X.ravel()[:] = values
    elif X.size < _AT_ONCE // 2:
        X[np.repeat(np.arange(len(X)), np.diff(indptr)), indices] = values
    else:
        import scipy.sparse as sp

        sp.csr_array((values, indices, indptr), shape=X.shape).toarray(out=X)
