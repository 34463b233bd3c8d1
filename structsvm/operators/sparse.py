"""Sparse matrices: SciPy's, as CSR of float64 or float32."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structsvm.exceptions import InputError
from structsvm.operators.matrix import MatrixKind
from structsvm.operators.views import register_view
from structsvm.sparse import as_csr
from structsvm.types import IntVector, Vector


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


def _combine(view: Any, i: Any, c: Any, out: Any) -> None:
    first = view.ptr[i]
    out[:] = 0.0
    for row in range(len(c)):
        factor = c[row]
        if factor != 0.0:
            for k in range(view.indptr[first + row], view.indptr[first + row + 1]):
                out[view.indices[k]] += factor * view.data[k]


class Sparse(MatrixKind):
    """CSR matrices and arrays; other sparse formats are made one."""

    classes = (sp.csr_array, sp.csr_matrix)

    def read(self, X: Any) -> Any:
        """Return a CSR array of float64 or float32."""
        return as_csr(X) if sp.issparse(X) else None

    def require_sound(self, X: Any) -> None:
        """Refuse a matrix whose column numbers or row ends lie outside, or are of a type that loops do not read."""
        sound = as_csr(X)
        for name in ("data", "indices", "indptr"):
            if getattr(sound, name).dtype != getattr(X, name).dtype:
                raise InputError(
                    f"the {name} of a {type(X).__name__} are {getattr(X, name).dtype}, which loops do not read: "
                    "structsvm.operators.readable makes one that they do"
                )

    def stack(self, blocks: Sequence[Any]) -> Any:
        """Put sparse matrices, and dense ones between them, under one another."""
        return sp.csr_array(sp.vstack(blocks))

    def view(self, X: Any, ptr: IntVector) -> SparseView:
        """Return the arrays of the matrix and where examples begin."""
        return SparseView(ptr, X.data, X.indices, X.indptr)

    def part(self, X: Any, first: int, last: int) -> sp.csr_array:
        """Return the rows ``first`` to ``last − 1``; slicing a CSR matrix, or making one of views, would copy."""
        entries = slice(X.indptr[first], X.indptr[last])
        rows = sp.csr_array((last - first, X.shape[1]), dtype=X.dtype)
        rows.data, rows.indices = X.data[entries], X.indices[entries]
        rows.indptr = X.indptr[first : last + 1] - X.indptr[first]
        return rows

    def prefers_product(self, X: Any, columns: int) -> bool:
        """Prefer SciPy's product for float64; it would sum float32 in float32."""
        return bool(X.dtype == np.float64)


register_view(SparseView, _scores, _combine)
