"""Read dense matrices: NumPy arrays or memory maps of float64 or float32."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from structsvm.features.operators.matrix import FLOATS, MatrixKind, read_only
from structsvm.features.operators.views import register_view
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.products import dot
from structsvm.foundation.frames import is_frame, read_frame
from structsvm.foundation.memory import require_memory
from structsvm.foundation.types import IntVector, Matrix


class DenseView(NamedTuple):
    """Rows of a dense matrix, float64 or float32."""

    ptr: IntVector
    X: Matrix


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    first = view.ptr[i]
    for row in range(len(out)):
        out[row] = dot(view.X[first + row], w)


def _add(view: Any, i: Any, c: Any, out: Any) -> None:
    first, last = view.ptr[i], len(c) - 1
    waiting = 0
    p = q = r = s = first
    a_p = a_q = a_r = a_s = 0.0
    for row in range(len(c)):
        if c[row] != 0.0:
            waiting += 1
            p, q, r, s = q, r, s, first + row
            a_p, a_q, a_r, a_s = a_q, a_r, a_s, c[row]
        # Combine four rows per pass, so that `out` is read and written once for four rows.
        if waiting == 4 or (row == last and waiting > 0):
            row_p, row_q, row_r, row_s = view.X[p], view.X[q], view.X[r], view.X[s]
            for k in range(len(out)):
                out[k] = out[k] + a_p * row_p[k] + a_q * row_q[k] + a_r * row_r[k] + a_s * row_s[k]
            waiting = 0
            a_p = a_q = a_r = a_s = 0.0


class Dense(MatrixKind):
    """Kind of NumPy arrays; it converts inputs that no other kind reads."""

    classes = (np.ndarray,)

    def read(self, X: Any) -> Any:
        if type(X) in (np.ndarray, np.memmap) and X.dtype in FLOATS:
            return X
        return read_frame(X)[0] if is_frame(X) else numbers(X, "X")

    def stack(self, blocks: Sequence[Any]) -> Any:
        require_memory(8.0 * sum(block.size for block in blocks), "all inputs as float64", "pass fewer of them")
        return np.concatenate(blocks, dtype=np.float64)

    def view(self, X: Any, ptr: IntVector) -> DenseView:
        return DenseView(ptr, read_only(X))

    def has_gram(self, X: Any) -> bool:
        return True

    def prefers_product(self, X: Any, columns: int) -> bool:
        """Prefer BLAS for float64 and several columns; for one column it gives equal rows different scores."""
        return bool(X.dtype == np.float64 and columns > 1)


def _gram(view: Any, i: Any, room: Any) -> int:
    first, rows = view.ptr[i], view.ptr[i + 1] - view.ptr[i]
    for row in range(rows):
        for other in range(row + 1):
            inner = 0.0
            for k in range(view.X.shape[1]):
                inner += np.float64(view.X[first + row, k]) * view.X[first + other, k]
            room[row * rows + other] += inner
            if other < row:
                room[other * rows + row] += inner
    return int(rows * rows)


register_view(DenseView, _scores, _add, _gram)
