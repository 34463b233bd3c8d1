"""The columns of sparse features that have an entry: all others have weight 0 at the optimum, and need no place."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structsvm.operators.matrix import is_matrix, readable
from structsvm.types import IntVector

_WIDE = 1000
"""Columns below which there is nothing to gain."""


def occupied(xs: Any) -> IntVector | None:
    """Return the numbers of the columns that have an entry, ascending; None where all are best kept.

    They are kept unless features are sparse, in more than 1000 columns, and more than half of these are empty.

    Parameters
    ----------
    xs : a matrix, or several, one an example, in a list or an array.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from structsvm.operators import occupied
    >>> occupied(csr_array(([1.0, 2.0], ([0, 1], [5, 90_000])), shape=(2, 100_000)))
    array([    5, 90000])
    >>> occupied([[1.0, 0.0], [2.0, 0.0]]) is None  # dense features stay as they are
    True
    """
    blocks = _sparse_blocks(xs)
    if not blocks:
        return None
    width, stored = blocks[0].shape[1], sum(len(block.indices) for block in blocks)
    if width <= _WIDE or any(block.shape[1] != width for block in blocks):  # which is told elsewhere
        return None
    if stored < width:
        columns = np.unique(np.concatenate([block.indices for block in blocks]))
    else:
        seen = np.zeros(width, dtype=np.bool_)
        for block in blocks:
            for start in range(0, len(block.indices), width):  # where many are occupied, the first entries show it
                seen[block.indices[start : start + width]] = True
                if 2 * np.count_nonzero(seen) >= width:
                    return None
        columns = np.flatnonzero(seen)
    few = 0 < 2 * len(columns) < width
    return columns.astype(np.int64) if few else None


def narrowed(xs: Any, columns: IntVector | None) -> Any:
    """Return features with these columns only, as CSR whose values are shared; as they are, where that is None.

    Entries in other columns are left out. Other features than sparse ones are made so.

    Parameters
    ----------
    xs : a matrix, shape (rows, d), or several, one an example, in a list.
    columns : their numbers, ascending, shape (k,), as `occupied` returns them.

    Returns
    -------
    A matrix, shape (rows, k), or a list of such.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from structsvm.operators import narrowed, occupied
    >>> X = csr_array(([1.0, 2.0], ([0, 1], [5, 90_000])), shape=(2, 100_000))
    >>> columns = occupied(X)
    >>> columns, narrowed(X, columns).toarray()
    (array([    5, 90000]), array([[1., 0.],
           [0., 2.]]))
    >>> new = csr_array(([3.0, 4.0], ([0, 0], [5, 6])), shape=(1, 100_000))
    >>> narrowed(new, columns).toarray()  # what was not learned from is left out
    array([[3., 0.]])
    """
    if columns is None:
        return xs
    return _narrowed(xs, columns) if is_matrix(xs) else [_narrowed(x, columns) for x in xs]


def _narrowed(x: Any, columns: IntVector) -> Any:
    rows: Any = readable(x)
    X: Any = rows.tocsr() if hasattr(rows, "tocsr") else sp.csr_array(np.atleast_2d(rows))
    place = np.searchsorted(columns, X.indices)
    known = columns[np.minimum(place, len(columns) - 1)] == X.indices
    data, indptr = X.data, X.indptr
    if not known.all():
        data, place = data[known], place[known]
        indptr = np.concatenate([[0], np.cumsum(known)])[indptr]
    index = X.indices.dtype
    return sp.csr_array((data, place.astype(index), indptr.astype(index)), shape=(X.shape[0], len(columns)))


def _sparse_blocks(xs: Any) -> Sequence[Any]:
    """Return the sparse matrices of several examples, or of all, as CSR; none, where some are not sparse."""
    if sp.issparse(xs):
        return [readable(xs)]
    if isinstance(xs, list | tuple) and all(map(sp.issparse, xs)):
        return [readable(x) for x in xs]
    return []
