"""Read sparse matrices of SciPy, stored as CSR of float64 or float32."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structsvm.exceptions import InputError
from structsvm.features.operators.matrix import MatrixKind
from structsvm.features.operators.views import register_view
from structsvm.foundation.sparse import as_csr
from structsvm.foundation.types import IntVector, Vector


class SparseView(NamedTuple):
    """Rows of a CSR matrix."""

    ptr: IntVector
    data: Vector
    indices: Any
    indptr: Any


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    first = view.ptr[i]
    for row in range(len(out)):
        total = 0.0
        for k in range(view.indptr[first + row], view.indptr[first + row + 1]):
            total += view.data[k] * w[view.indices[k]]
        out[row] = total


def _add(view: Any, i: Any, c: Any, out: Any) -> None:
    first = view.ptr[i]
    for row in range(len(c)):
        factor = c[row]
        if factor != 0.0:
            for k in range(view.indptr[first + row], view.indptr[first + row + 1]):
                out[view.indices[k]] += factor * view.data[k]


class Sparse(MatrixKind):
    """Kind of CSR matrices and arrays; it converts other sparse formats."""

    classes = (sp.csr_array, sp.csr_matrix)

    def read(self, X: Any) -> Any:
        return as_csr(X) if sp.issparse(X) else None

    def require_sound(self, X: Any) -> None:
        """Reject a matrix with column or row pointers out of range, or with a number type that loops cannot read."""
        sound = as_csr(X)
        for name in ("data", "indices", "indptr"):
            if getattr(sound, name).dtype != getattr(X, name).dtype:
                raise InputError(
                    f"the {name} of a {type(X).__name__} are {getattr(X, name).dtype}, which compiled loops cannot "
                    "read: convert the matrix by structsvm.features.operators.readable"
                )

    def stack(self, blocks: Sequence[Any]) -> Any:
        return sp.csr_array(sp.vstack(blocks))

    def view(self, X: Any, ptr: IntVector) -> SparseView:
        return SparseView(ptr, X.data, X.indices, X.indptr)

    def part(self, X: Any, first: int, last: int) -> sp.csr_array:
        """Return the rows ``first`` to ``last − 1``; both slicing and building a CSR matrix from views would copy."""
        entries = slice(X.indptr[first], X.indptr[last])
        rows = sp.csr_array((last - first, X.shape[1]), dtype=X.dtype)
        rows.data, rows.indices = X.data[entries], X.indices[entries]
        rows.indptr = X.indptr[first : last + 1] - X.indptr[first]
        return rows

    def has_gram(self, X: Any) -> bool:
        """Return True if columns ascend in each row, so that two rows are read side by side."""
        return bool(X.has_canonical_format)

    def prefers_product(self, X: Any, columns: int) -> bool:
        """Prefer SciPy's product for float64; it would sum float32 in float32."""
        return bool(X.dtype == np.float64)


def _gram(view: Any, i: Any, room: Any) -> int:
    first, rows = view.ptr[i], view.ptr[i + 1] - view.ptr[i]
    for row in range(rows):
        begin, end = view.indptr[first + row], view.indptr[first + row + 1]
        for other in range(row + 1):
            k, stop, inner = view.indptr[first + other], view.indptr[first + other + 1], 0.0
            for e in range(begin, end):
                while k < stop and view.indices[k] < view.indices[e]:
                    k += 1
                if k < stop and view.indices[k] == view.indices[e]:
                    inner += np.float64(view.data[e]) * view.data[k]
            room[row * rows + other] += inner
            if other < row:
                room[other * rows + row] += inner
    return int(rows * rows)


register_view(SparseView, _scores, _add, _gram)
