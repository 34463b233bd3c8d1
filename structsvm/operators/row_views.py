"""What compiled loops read of rows: one type a kind of matrix, and two functions for each.

``row_scores(view, first, w, out)`` writes the scores of as many rows as ``out`` has, from row
``first`` on; ``row_combine(view, first, c, out)`` writes the combination of as many rows as ``c``
has. numba picks the code by the type of the view. Sums are float64 whatever the storage.
"""

from typing import Any, NamedTuple

import numba
from numba.extending import overload

from structsvm.compute.compilation import compiled
from structsvm.operators.lookup import combine_binned, score_binned
from structsvm.types import IntVector, Matrix, Vector


class DenseView(NamedTuple):
    """Rows of a dense matrix, float64 or float32."""

    ptr: IntVector
    X: Matrix


class SparseView(NamedTuple):
    """Rows of a CSR matrix."""

    ptr: IntVector
    data: Vector
    indices: Any
    indptr: Any


class BinnedView(NamedTuple):
    """Rows of a `BinnedMatrix`."""

    ptr: IntVector
    codes: Any
    offsets: IntVector


ROW_VIEWS = (DenseView, SparseView, BinnedView)


def kind(view: Any) -> type | None:
    """Return the class of a view of which numba knows the type."""
    return view.instance_class if isinstance(view, numba.types.BaseNamedTuple) else None


def row_scores(view: Any, first: int, w: Vector, out: Vector) -> None:
    """Write ``X w`` of the rows from ``first`` on."""
    raise NotImplementedError


def row_combine(view: Any, first: int, c: Vector, out: Vector) -> None:
    """Write ``X' c`` of the rows from ``first`` on."""
    raise NotImplementedError


def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for k in range(len(b)):
        total += a[k] * b[k]
    return total


dot = compiled(_dot, reorder=True)


@overload(row_scores)
def _row_scores(view: Any, first: Any, w: Any, out: Any) -> Any:
    if kind(view) is DenseView:

        def scores(view: Any, first: Any, w: Any, out: Any) -> Any:
            for row in range(len(out)):
                out[row] = dot(view.X[first + row], w)

        return scores
    if kind(view) is SparseView:

        def scores(view: Any, first: Any, w: Any, out: Any) -> Any:
            for row in range(len(out)):
                total = 0.0
                for k in range(view.indptr[first + row], view.indptr[first + row + 1]):
                    total += view.data[k] * w[view.indices[k]]
                out[row] = total

        return scores
    if kind(view) is BinnedView:

        def scores(view: Any, first: Any, w: Any, out: Any) -> Any:
            score_binned(view.codes[first : first + len(out)], view.offsets, w, out)

        return scores
    return None


@overload(row_combine)
def _row_combine(view: Any, first: Any, c: Any, out: Any) -> Any:
    if kind(view) is DenseView:

        def combine(view: Any, first: Any, c: Any, out: Any) -> Any:
            out[:] = 0.0
            for row in range(len(c)):
                factor = c[row]
                if factor != 0.0:
                    features = view.X[first + row]
                    for k in range(len(out)):
                        out[k] += factor * features[k]

        return combine
    if kind(view) is SparseView:

        def combine(view: Any, first: Any, c: Any, out: Any) -> Any:
            out[:] = 0.0
            for row in range(len(c)):
                factor = c[row]
                if factor != 0.0:
                    for k in range(view.indptr[first + row], view.indptr[first + row + 1]):
                        out[view.indices[k]] += factor * view.data[k]

        return combine
    if kind(view) is BinnedView:

        def combine(view: Any, first: Any, c: Any, out: Any) -> Any:
            combine_binned(view.codes[first : first + len(c)], view.offsets, c, out)

        return combine
    return None


def _write_scores(view: Any, first: int, w: Vector, out: Vector) -> None:
    row_scores(view, first, w, out)


def _write_combination(view: Any, first: int, c: Vector, out: Vector) -> None:
    row_combine(view, first, c, out)


write_scores = compiled(_write_scores)
write_combination = compiled(_write_combination)
