"""Vectors and features that grow while files are read, in place if the operating system allows it."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from structsvm.data.letor.block import BlockRows
from structsvm.foundation.memory import require_memory
from structsvm.foundation.types import Features

if TYPE_CHECKING:
    import scipy.sparse as sp

_LARGEST_INT32 = np.iinfo(np.int32).max
_AT_ONCE = 2**20
"""Numbers of a dense matrix filled per step."""

_SPARE = 2**28
"""Largest number of bytes allocated in advance."""


class Growing:
    """A vector that grows and shrinks at its end."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._held: NDArray[Any] = np.empty(0, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def all(self) -> NDArray[Any]:
        """The numbers; the view is invalid after the next change."""
        return self._held[: self._size]

    def extend(self, part: NDArray[Any]) -> None:
        self.more(len(part))[:] = part

    def more(self, count: int) -> NDArray[Any]:
        """Append zeros and return a view of them."""
        size = self._size + count
        if size > len(self._held):
            spare = min(size // 8, _SPARE // self._held.itemsize)
            self._held.resize(size + spare, refcheck=False)
        self._size, start = size, self._size
        return self._held[start:size]

    def pop(self, start: int) -> NDArray[Any]:
        """Remove and return the numbers from ``start`` on."""
        taken = self._held[start : self._size].copy()
        self._held.resize(start, refcheck=False)
        self._size = start
        return taken

    def release(self) -> NDArray[Any]:
        """Return the numbers and give their memory to the caller."""
        self._held.resize(self._size, refcheck=False)
        return self._held


class GrowingFeatures:
    """Rows of features: CSR or dense as ``sparse`` says, or dense while that costs little more memory than CSR."""

    def __init__(self, dtype: DTypeLike, sparse: bool | None, n_features: int | None) -> None:
        self.rows = self.stored = 0
        self._dtype, self._sparse = np.dtype(dtype), sparse
        self._columns = n_features or 0
        self._is_dense = not sparse
        self._dense = Growing(dtype)
        self._ends, self._indices, self._values = Growing(np.int64), Growing(np.int32), Growing(dtype)

    def append(self, part: BlockRows) -> None:
        count = len(part.ends)
        if self._is_dense:
            self._prepare(self.rows + count, self.stored + len(part.values), part.width)
        if self._is_dense:
            X = self._dense.more(count * self._columns).reshape(count, self._columns)
            _fill(X, part.values, part.indices, np.concatenate([[0], part.ends]))
        else:
            self._extend(part.ends, part.indices, part.values)
        self.rows += count
        self.stored += len(part.values)

    def bytes(self, width: int) -> tuple[int, int]:
        """Return the bytes that the features take as CSR, and as dense rows of ``width``."""
        return self._bytes(self.rows, self.stored, width)

    def release(self, width: int, *, sparse: bool) -> Features:
        """Return the rows with ``width`` columns and give their memory to the caller."""
        if self._is_dense and (sparse or width > self._columns):
            self._compress()
        if self._is_dense:
            return self._dense.release().reshape(self.rows, width)
        return self._csr(width) if sparse else self._as_dense(width)

    def _bytes(self, rows: int, stored: int, width: int) -> tuple[int, int]:
        index = 4 if max(stored, width) <= _LARGEST_INT32 else 8
        return stored * (self._dtype.itemsize + index) + (rows + 1) * index, rows * width * self._dtype.itemsize

    def _prepare(self, rows: int, stored: int, width: int) -> None:
        """Change to CSR if that is smaller, or if a block has more columns than the blocks before it."""
        if not self.rows:
            self._columns = max(self._columns, width)
        compressed, dense = self._bytes(rows, stored, max(self._columns, width))
        if width > self._columns or (self._sparse is None and 2 * compressed < dense):
            self._compress()
        else:
            self._require(rows, self._columns)

    def _require(self, rows: int, columns: int) -> None:
        require_memory(
            self._dtype.itemsize * rows * columns - self._dense.all.nbytes,
            f"{rows:,} dense rows of {columns:,} features",
            "use sparse=True",
        )

    def _compress(self) -> None:
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
        """Fill a matrix from the last row backwards, and free CSR memory meanwhile so that both never coexist."""
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
    """Fill rows of zeros; avoid loading SciPy if there are few of them."""
    if len(values) == X.size:
        X.ravel()[:] = values
    elif X.size < _AT_ONCE // 2:
        X[np.repeat(np.arange(len(X)), np.diff(indptr)), indices] = values
    else:
        import scipy.sparse as sp

        sp.csr_array((values, indices, indptr), shape=X.shape).toarray(out=X)
