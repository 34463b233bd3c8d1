"""Select the non-empty columns of sparse features: weights of empty columns do not affect scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import evolve

from structsvm.exceptions import InputError
from structsvm.features.operators.base import Operator
from structsvm.features.operators.composed import WithIntercept
from structsvm.features.operators.matrix import is_matrix, readable
from structsvm.features.operators.rows import Rows
from structsvm.foundation.frames import with_masks, without_masks
from structsvm.foundation.types import IntVector

_WIDE = 1000
"""Number of columns up to which selection is not worthwhile."""


def occupied(xs: Any) -> IntVector | None:
    """Return the columns with an entry, ascending; None unless most of more than 1000 sparse columns are empty."""
    blocks = _sparse_blocks(xs)
    if not blocks:
        return None
    width, stored = blocks[0].shape[1], sum(len(block.indices) for block in blocks)
    # `stacked` reports different widths.
    if width <= _WIDE or any(block.shape[1] != width for block in blocks):
        return None
    if stored < width:
        columns = np.unique(np.concatenate([block.indices for block in blocks]))
    else:
        seen = np.zeros(width, dtype=np.bool_)
        for block in blocks:
            seen[block.indices] = True
        columns = np.flatnonzero(seen)
    few = 0 < 2 * len(columns) < width
    return columns.astype(np.int64) if few else None


def narrowed(xs: Any, columns: IntVector | None) -> Any:
    """Return only these columns of a matrix, or of each of a list, as CSR that shares values; unchanged if None."""
    if columns is None:
        return xs
    if is_matrix(xs):
        return _narrowed(xs, columns)
    xs, masks = without_masks(xs)
    return with_masks([_narrowed(x, columns) for x in xs], masks)


def rows_of(operator: Operator) -> Any:
    """Return the dense or CSR features of rows, without the constant feature; reject other features."""
    inner = operator.rows if isinstance(operator, WithIntercept) else operator
    X: Any = inner.X if isinstance(inner, Rows) else inner
    if not isinstance(X, np.ndarray) and not sp.issparse(X):
        raise InputError(f"features cannot be left out of a {type(X).__name__}: give dense or sparse features")
    return X


def columns_of_operator(operator: Operator, columns: IntVector) -> Operator:
    """Return an operator on some features of rows, dense or CSR, with the constant feature if there is one."""
    if isinstance(operator, WithIntercept):
        return evolve(operator, rows=columns_of_operator(operator.rows, columns))
    X = rows_of(operator)
    return Rows(
        np.ascontiguousarray(X[:, columns]) if isinstance(X, np.ndarray) else _narrowed(X, columns), operator.ptr
    )


def _narrowed(x: Any, columns: IntVector) -> Any:
    rows: Any = readable(x)
    X: Any = rows.tocsr() if hasattr(rows, "tocsr") else sp.csr_array(np.atleast_2d(rows))
    place = np.searchsorted(columns, X.indices)
    present = columns[np.minimum(place, len(columns) - 1)] == X.indices
    data, indptr = X.data, X.indptr
    if not present.all():
        if not np.isfinite(data).all():
            raise InputError("X contains NaN or infinity: correct the features or leave the rows out")
        data, place = data[present], place[present]
        indptr = np.concatenate([[0], np.cumsum(present)])[indptr]
    index = X.indices.dtype
    return sp.csr_array((data, place.astype(index), indptr.astype(index)), shape=(X.shape[0], len(columns)))


def _sparse_blocks(xs: Any) -> Sequence[Any]:
    """Return the features as CSR matrices, one per input matrix; empty if some input is not sparse."""
    if sp.issparse(xs):
        return [readable(xs)]
    xs, _ = without_masks(xs)
    if isinstance(xs, list | tuple) and all(map(sp.issparse, xs)) and all(x.ndim == 2 for x in xs):
        return [readable(x) for x in xs]
    return []
