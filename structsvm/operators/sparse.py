"""Sparse matrices: SciPy's, as CSR of float64 or float32."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structsvm.arrays import require_real
from structsvm.exceptions import InputError
from structsvm.operators.matrix import FLOATS, MatrixKind
from structsvm.operators.views import register_view
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


def _require_sound(X: Any) -> None:
    """Refuse a sparse matrix whose entries lie outside of it: SciPy checks that when it makes one, and not afterwards.

    Entries may be in any order, and several at one place: these are added up.

    Raises
    ------
    ValueError : it says what is wrong.
    """
    if X.format in ("csr", "csc", "bsr"):
        block = X.blocksize if X.format == "bsr" else (1, 1)
        extents = X.shape if X.ndim == 2 else (1, *X.shape)
        shape = tuple(extent // size for extent, size in zip(extents, block, strict=True))
        major, minor = shape[::-1] if X.format == "csc" else shape
        _require_ends(X.indptr, major, min(len(X.indices), len(X.data)))
        _require_within("indices", X.indices[: X.indptr[-1]], minor)
    elif X.format == "coo":
        for axis, places in enumerate(X.coords):
            if len(places) != len(X.data):
                raise ValueError(f"it has {len(X.data)} values and {len(places)} places for them")
            _require_within(f"coords[{axis}]", places, X.shape[axis])
    elif X.format == "dia" and (X.data.ndim != 2 or len(X.data) != len(X.offsets)):
        raise ValueError(f"it has {len(X.offsets)} offsets for data of shape {X.data.shape}")
    elif X.format == "lil" and list(map(len, X.rows)) != list(map(len, X.data)):
        raise ValueError("it has rows with more columns than values, or fewer")


def _damaged(X: Any, error: ValueError) -> InputError:
    return InputError(f"X is a {type(X).__name__} that is damaged: {error}. Make it again from its entries")


def _require_ends(indptr: Any, major: int, stored: int) -> None:
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != major + 1:
        raise ValueError(f"indptr must be {major + 1} integers, got {indptr.dtype} of shape {indptr.shape}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        wrong = int(np.argmax(indptr[1:] < indptr[:-1])) + 1 if indptr[0] == 0 else 0
        raise ValueError(f"indptr must begin with 0 and never fall, and indptr[{wrong}] is {indptr[wrong]}")
    if indptr[-1] > stored:
        raise ValueError(f"indptr ends with {indptr[-1]}, beyond the {stored} entries that are stored")


def _require_within(name: str, places: Any, extent: int) -> None:
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a vector of integers, got {places.dtype} of shape {places.shape}")
    # Read as unsigned, a negative number is a very large one, so that a single look for the largest is enough.
    if len(places) and places.view(f"u{places.itemsize}").max() >= extent:
        wrong = int(np.argmax((places < 0) | (places >= extent)))
        raise ValueError(f"{name}[{wrong}] is {places[wrong]}, and must be from 0 to {extent - 1}")


class Sparse(MatrixKind):
    """CSR matrices and arrays; other sparse formats are made one."""

    classes = (sp.csr_array, sp.csr_matrix)

    def read(self, X: Any) -> Any:
        """Return a CSR array of float64 or float32."""
        if not sp.issparse(X):
            return None
        given: Any = X
        require_real(given, "X")
        self.require_sound(given)
        try:
            rows = sp.csr_array(given)
        except ValueError as error:
            raise _damaged(X, error) from None
        if given.format in ("lil", "dok"):  # their entries are looked at once they are in arrays
            self.require_sound(rows)
        return rows if rows.dtype in FLOATS else rows.astype(np.float64)

    def require_sound(self, X: Any) -> None:
        """Refuse a matrix whose column numbers or row ends lie outside."""
        try:
            _require_sound(X)
        except ValueError as error:
            raise _damaged(X, error) from None

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
