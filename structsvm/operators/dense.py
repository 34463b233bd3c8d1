"""Dense matrices: NumPy arrays of float64 or float32, memory maps too."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from structsvm.arrays import numbers
from structsvm.compute.compilation import compiled
from structsvm.operators.matrix import FLOATS, MatrixKind, read_only
from structsvm.operators.views import register_view
from structsvm.types import IntVector, Matrix


class DenseView(NamedTuple):
    """Rows of a dense matrix, float64 or float32."""

    ptr: IntVector
    X: Matrix


def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for k in range(len(b)):
        total += a[k] * b[k]
    return total


dot = compiled(_dot, reorder=True)
"""``(a, b)``: their inner product in float64; for so few numbers, calling BLAS takes longer."""


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    first = view.ptr[i]
    for row in range(len(out)):
        out[row] = dot(view.X[first + row], w)


@compiled
def _next_used(c: Any, row: int) -> int:
    """Return the first place from one on whose coefficient is not 0; ``len(c)`` or more where there is none."""
    while row < len(c) and c[row] == 0.0:
        row += 1
    return row


def _combine(view: Any, i: Any, c: Any, out: Any) -> None:
    first, n = view.ptr[i], len(c)
    out[:] = 0.0
    p = _next_used(c, 0)
    while p < n:  # four rows at a time, so that out is read and written once for all of them
        q = _next_used(c, p + 1)
        r = _next_used(c, q + 1)
        s = _next_used(c, r + 1)
        a, b = c[p], c[q] if q < n else 0.0
        d, e = c[r] if r < n else 0.0, c[s] if s < n else 0.0
        row_p, row_q = view.X[first + p], view.X[first + (q if q < n else p)]
        row_r, row_s = view.X[first + (r if r < n else p)], view.X[first + (s if s < n else p)]
        for k in range(len(out)):
            out[k] = out[k] + a * row_p[k] + b * row_q[k] + d * row_r[k] + e * row_s[k]
        p = _next_used(c, s + 1)


class Dense(MatrixKind):
    """NumPy arrays; what no other kind reads is made one."""

    classes = (np.ndarray,)

    def read(self, X: Any) -> Any:
        """Return an array of float64 or float32."""
        return X if type(X) in (np.ndarray, np.memmap) and X.dtype in FLOATS else numbers(X, "X")

    def stack(self, blocks: Sequence[Any]) -> Any:
        """Put arrays under one another, as float64."""
        return np.concatenate(blocks, dtype=np.float64)

    def view(self, X: Any, ptr: IntVector) -> DenseView:
        """Return the array and where examples begin."""
        return DenseView(ptr, read_only(X))

    def prefers_product(self, X: Any, columns: int) -> bool:
        """Prefer BLAS for float64 and several columns.

        For one column it takes twice the time of our loops, and gives rows that are equal scores that are not: it sums
        those at the ends of a block in another order. It would sum float32 in float32.
        """
        return bool(X.dtype == np.float64 and columns > 1)


register_view(DenseView, _scores, _combine)
