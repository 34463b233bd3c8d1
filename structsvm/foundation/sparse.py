"""Validate SciPy sparse matrices and convert them to CSR."""

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError, TooLargeError
from structsvm.foundation.arrays import FLOATS, numbers, require_unmasked

_PLACES = (np.dtype(np.int64), np.dtype(np.int32))


def as_csr(X: Any) -> Any:
    """Return a sparse matrix as CSR of float64 or float32; reject damaged ones, which loops would read out of range."""
    if X.ndim > 2:
        raise InputError(f"X must be a matrix, got a {type(X).__name__} of shape {X.shape}: pass one of two dimensions")
    import scipy.sparse as sp

    try:
        return sp.csr_array(_SOUND[X.format](X))
    except MemoryError:
        raise TooLargeError(
            f"a {type(X).__name__} of shape {X.shape} as CSR needs more memory than is available: leave out empty rows"
        ) from None
    except InputError:
        raise
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        why = error if isinstance(error, ValueError) else "one of its arrays is missing or has the wrong type"
        raise InputError(f"X is a {type(X).__name__} that is damaged: {why}. Make it again from its entries") from None


def _compressed(X: Any) -> Any:
    """Check a CSR, CSC or BSR matrix."""
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    data, indices, indptr = _values(X.data), _integers("indices", X.indices), _integers("indptr", X.indptr)
    rows, columns = X.shape if X.ndim == 2 else (1, *X.shape)
    major, minor = (columns, rows) if X.format == "csc" else (rows // height, columns // width)
    if len(indptr) != major + 1:
        raise ValueError(f"indptr must be {major + 1} integers, got {indptr.dtype} of shape {indptr.shape}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        wrong = int(np.argmax(indptr[1:] < indptr[:-1])) + 1 if indptr[0] == 0 else 0
        raise ValueError(f"indptr must begin with 0 and never fall, but indptr[{wrong}] is {indptr[wrong]}")
    if indptr[-1] > min(len(indices), len(data)):
        raise ValueError(f"indptr ends with {indptr[-1]}, beyond the {min(len(indices), len(data))} stored entries")
    places = indices[: indptr[-1]]
    # As unsigned, a negative number is very large, so checking the maximum is enough.
    if len(places) and places.view(f"u{places.itemsize}").max() >= minor:
        wrong = int(np.argmax((places < 0) | (places >= minor)))
        raise ValueError(f"indices[{wrong}] is {places[wrong]}; it must be from 0 to {minor - 1}")
    if data is X.data and indices is X.indices and indptr is X.indptr:
        return X
    return type(X)((data, indices, indptr), shape=X.shape)


def _coordinates(X: Any) -> Any:
    coords = tuple(_integers(f"coords[{axis}]", places) for axis, places in enumerate(X.coords))
    return type(X)((_values(X.data), coords), shape=X.shape)


def _diagonals(X: Any) -> Any:
    return type(X)((_values(X.data), _integers("offsets", X.offsets)), shape=X.shape)


def _lists(X: Any) -> Any:
    """Return a LIL matrix, lists of columns and values by row, as COO."""
    rows, data = list(X.rows), list(X.data)
    counts = [len(row) for row in rows]
    if counts != [len(row) for row in data]:
        raise ValueError("it has rows with more columns than values, or fewer")
    return _of_entries(X, np.repeat(np.arange(len(rows)), counts), list(chain(*rows)), list(chain(*data)))


def _keys(X: Any) -> Any:
    """Return a DOK matrix, a dictionary of values by place, as COO."""
    entries = dict(X.items())
    places = list(zip(*entries, strict=True)) if X.ndim == 2 else [np.zeros(len(entries), int), list(entries)]
    rows, columns = places or ([], [])
    return _of_entries(X, rows, columns, list(entries.values()))


def _of_entries(X: Any, rows: Any, columns: Any, values: list[Any]) -> Any:
    import scipy.sparse as sp

    shape = X.shape if X.ndim == 2 else (1, *X.shape)
    if not values:
        return sp.coo_array(shape)
    return sp.coo_array((_values(values), (_integers("rows", rows), _integers("indices", columns))), shape=shape)


_SOUND = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _compressed,
    "coo": _coordinates,
    "dia": _diagonals,
    "lil": _lists,
    "dok": _keys,
}


def _values(array: Any) -> NDArray[Any]:
    """Return stored values as float64 or float32; reject masked arrays and values that are not numbers."""
    require_unmasked(array, "X")
    values = np.asarray(array)
    return values if values.dtype in FLOATS else numbers(values, "the entries of X")


def _integers(name: str, array: Any) -> NDArray[Any]:
    """Return indices as a vector of int64 or int32."""
    places = np.asarray(array)
    if isinstance(array, np.ma.MaskedArray) or places.ndim != 1 or places.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a vector of integers, got {places.dtype} of shape {places.shape}")
    if places.dtype in _PLACES:
        return places
    if places.dtype.kind == "u" and len(places) and places.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} contains {places.max()}, which is larger than any index")
    return places.astype(np.int64)
