"""The kinds of matrix that rows are kept in, and what `Rows` must know of each."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from structsvm.exceptions import InputError
from structsvm.operators.binned import BinnedMatrix, read_only
from structsvm.operators.row_views import BinnedView, DenseView, SparseView
from structsvm.types import Features, IntVector

Readable: TypeAlias = Features | BinnedMatrix
"""Rows of features as `Rows` reads them."""

_FLOATS = (np.float64, np.float32)
_MATRIX = "matrix of numbers, with a row of features for each position (or document)"


@singledispatch
def readable(X: Any) -> Readable:
    """Return features as `Rows` reads them; a copy only of those that are neither float64 nor float32, dense or CSR."""
    dense: Any = np.asarray(X)
    return dense if dense.dtype in _FLOATS else dense.astype(np.float64)  # type: ignore[no-any-return]


@readable.register(sp.sparray)
@readable.register(sp.spmatrix)
def _(X: Any) -> Readable:
    rows = sp.csr_array(X)
    return rows if rows.dtype in _FLOATS else rows.astype(np.float64)


@readable.register
def _(X: BinnedMatrix) -> Readable:
    return X


def stacked(xs: Sequence[Any]) -> tuple[Readable, list[int]]:
    """Put the rows of several inputs under one another; return them and the number of rows of each.

    Parameters
    ----------
    xs : matrices of shape (rows, d), or vectors of shape (d,), which are one row.

    Raises
    ------
    InputError : when one is no matrix of numbers, they have different numbers of features, or only some are
        a `BinnedMatrix`.
    """
    blocks: list[Any] = [_as_block(x, i) for i, x in enumerate(xs)]
    widths = [block.shape[1] for block in blocks]
    other = next((i for i, width in enumerate(widths) if width != widths[0]), None)
    if other is not None:
        raise InputError(
            f"the inputs have different numbers of features: example 0 has {widths[0]}, example {other} has "
            f"{widths[other]}"
        )
    binned = sum(isinstance(block, BinnedMatrix) for block in blocks)
    if 0 < binned < len(blocks):
        raise InputError(f"{binned} of {len(blocks)} inputs are a BinnedMatrix: make all of them one, or none")
    if binned:
        X: Readable = BinnedMatrix.stack(blocks)
    elif any(sp.issparse(block) for block in blocks):
        X = sp.csr_array(sp.vstack(blocks))
    else:
        X = np.concatenate(blocks)
    return X, [block.shape[0] for block in blocks]


def _as_block(x: Any, number: int) -> Any:
    if isinstance(x, BinnedMatrix) or sp.issparse(x):
        return x
    try:
        block = np.atleast_2d(np.asarray(x, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"the input of example {number} is no {_MATRIX}: {error}") from None
    if block.ndim != 2:
        raise InputError(f"the input of example {number} has shape {block.shape}: it must be a {_MATRIX}")
    return block


@singledispatch
def view_of(X: Any, ptr: IntVector) -> Any:
    """Return what compiled loops read of rows."""
    raise InputError(f"rows are kept as a NumPy array, a CSR matrix or a BinnedMatrix, not as {type(X).__name__}")


@view_of.register
def _(X: np.ndarray, ptr: IntVector) -> DenseView:
    return DenseView(ptr, X)


@view_of.register(sp.csr_array)
@view_of.register(sp.csr_matrix)
def _(X: Any, ptr: IntVector) -> SparseView:
    return SparseView(ptr, X.data, X.indices, X.indptr)


@view_of.register
def _(X: BinnedMatrix, ptr: IntVector) -> BinnedView:
    return BinnedView(ptr, read_only(X.codes), read_only(X.offsets))  # so too after pickling: one type to compile for


@singledispatch
def stored(X: Any) -> int:
    """Return the number of values that are stored: of those that are not 0, where the matrix is sparse."""
    return int(X.size)


@stored.register
def _(X: BinnedMatrix) -> int:
    return X.codes.size


@singledispatch
def part(X: Any, first: int, last: int) -> Any:
    """Return the rows ``first`` to ``last − 1``, which share the memory of X."""
    return X[first:last]


@part.register(sp.csr_array)
@part.register(sp.csr_matrix)
def _(X: Any, first: int, last: int) -> sp.csr_array:
    """Slicing a CSR matrix, or making one of views, would copy."""
    entries = slice(X.indptr[first], X.indptr[last])
    rows = sp.csr_array((last - first, X.shape[1]), dtype=X.dtype)
    rows.data, rows.indices = X.data[entries], X.indices[entries]
    rows.indptr = X.indptr[first : last + 1] - X.indptr[first]
    return rows


@singledispatch
def multiplies(X: Any, columns: int) -> bool:
    """Say whether ``X @ w`` is to be preferred to our own loops, for a w of so many columns.

    For one column BLAS takes twice their time, and gives rows that are equal scores that are not: it sums those at
    the ends of a block in another order. It would sum float32 in float32.
    """
    return bool(X.dtype == np.float64 and columns > 1)


@multiplies.register(sp.csr_array)
@multiplies.register(sp.csr_matrix)
def _(X: Any, columns: int) -> bool:
    return bool(X.dtype == np.float64)


@multiplies.register
def _(X: BinnedMatrix, columns: int) -> bool:
    return False
