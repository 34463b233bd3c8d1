"""Sparse matrices of SciPy's that are passed in: sound ones become CSR, others are refused."""

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.arrays import numbers, require_unmasked
from structsvm.exceptions import InputError, TooLargeError

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_PLACES = (np.dtype(np.int64), np.dtype(np.int32))


def as_csr(X: Any) -> Any:
    """Return a sparse matrix as CSR of float64 or float32, without a copy if it is that and sound.

    SciPy checks arrays when it makes a matrix of them, and not when somebody replaces them later: loops would then read
    and write beyond them. Entries may be in any order, and several at one place: these count as their sum.

    Raises
    ------
    InputError : when an entry lies outside the matrix, its arrays do not fit each other, or its values are not numbers.
    TooLargeError : when memory cannot hold it as CSR.
    """
    if X.ndim > 2:
        raise InputError(f"X must be a matrix, got a {type(X).__name__} of shape {X.shape}: pass one of two dimensions")
    try:
        return _SOUND[X.format](X)
    except MemoryError:
        raise TooLargeError(
            f"a {type(X).__name__} of shape {X.shape} as CSR takes more memory than there is: leave out empty rows"
        ) from None
    except InputError:
        raise
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        why = error if isinstance(error, ValueError) else "one of its arrays is missing, or is something else"
        raise InputError(f"X is a {type(X).__name__} that is damaged: {why}. Make it again from its entries") from None


def _compressed(X: Any) -> Any:
    """Return CSR of a CSR or CSC matrix."""
    data = _values(X.data)
    indices, indptr = _integers("indices", X.indices), _integers("indptr", X.indptr)
    major, minor = _extents(X)[::-1] if X.format == "csc" else _extents(X)
    _require_ends(indptr, major, min(len(indices), len(data)))
    _require_within("indices", indices[: indptr[-1]], minor)
    if not (data is X.data and indices is X.indices and indptr is X.indptr):
        X = type(X)((data, indices, indptr), shape=X.shape)
    return _csr(X)


def _blocks(X: Any) -> Any:
    """Return CSR of a BSR matrix."""
    data, (height, width) = X.data, X.blocksize
    indices, indptr = _integers("indices", X.indices), _integers("indptr", X.indptr)
    rows, columns = _extents(X)
    _require_ends(indptr, rows // height, min(len(indices), len(data)))
    _require_within("indices", indices[: indptr[-1]], columns // width)
    values = _values(data.reshape(-1)).reshape(data.shape)
    return _csr(type(X)((values, indices, indptr), shape=X.shape))


def _coordinates(X: Any) -> Any:
    data = _values(X.data)
    coords = tuple(_integers(f"coords[{axis}]", places) for axis, places in enumerate(X.coords))
    if len(coords) != X.ndim:
        raise ValueError(f"it has {len(coords)} arrays of places, and {X.ndim} dimensions")
    for axis, places in enumerate(coords):
        if len(places) != len(data):
            raise ValueError(f"it has {len(data)} values and {len(places)} places for them")
        _require_within(f"coords[{axis}]", places, X.shape[axis])
    return _csr(type(X)((data, coords), shape=X.shape))


def _diagonals(X: Any) -> Any:
    offsets, data = _integers("offsets", X.offsets), X.data
    if data.ndim != 2 or len(data) != len(offsets):
        raise ValueError(f"it has {len(offsets)} offsets for data of shape {data.shape}")
    values = _values(data.reshape(-1)).reshape(data.shape)
    return _csr(type(X)((values, offsets), shape=X.shape))


def _lists(X: Any) -> Any:
    """Return CSR of a LIL matrix, whose rows are lists of columns and lists of values."""
    rows, data = list(X.rows), list(X.data)
    counts = [len(row) for row in rows]
    if counts != [len(row) for row in data] or len(counts) != _extents(X)[0]:
        raise ValueError("it has rows with more columns than values, or fewer")
    return _made(X, np.cumsum([0, *counts]), list(chain(*rows)), list(chain(*data)))


def _keys(X: Any) -> Any:
    """Return CSR of a DOK matrix, a dictionary of values by place."""
    import scipy.sparse as sp

    entries = dict(X.items())
    places = list(zip(*entries, strict=True)) if X.ndim == 2 else [list(entries)]
    coords = tuple(_integers(f"coords[{axis}]", each or np.zeros(0, int)) for axis, each in enumerate(places))
    values = _values(list(entries.values()))
    return _coordinates(sp.coo_array((values, coords), shape=X.shape)) if entries else sp.csr_array(X.shape)


def _made(X: Any, indptr: Any, indices: list[Any], values: list[Any]) -> Any:
    import scipy.sparse as sp

    columns = _integers("indices", indices or np.zeros(0, np.int64))
    _require_within("indices", columns, _extents(X)[1])
    return _csr(sp.csr_array((_values(values), columns, indptr), shape=X.shape))


_SOUND = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _blocks,
    "coo": _coordinates,
    "dia": _diagonals,
    "lil": _lists,
    "dok": _keys,
}


def _csr(X: Any) -> Any:
    import scipy.sparse as sp

    return sp.csr_array(X)


def _extents(X: Any) -> tuple[int, int]:
    rows, columns = X.shape if X.ndim == 2 else (1, *X.shape)
    return rows, columns


def _values(given: Any) -> NDArray[Any]:
    """Return stored values as a vector of float64 or float32; a masked array and what are not numbers are refused."""
    if isinstance(given, np.ndarray) and not isinstance(given, np.ma.MaskedArray):
        values = given
    else:
        require_unmasked(given, "X")
        values = np.asarray(given)
    if values.ndim != 1:
        raise ValueError(f"data must be a vector, got shape {values.shape}")
    return values if values.dtype in _FLOATS else numbers(values, "the entries of X")


def _integers(name: str, given: Any) -> NDArray[Any]:
    """Return places as a vector of int64 or int32."""
    masked = isinstance(given, np.ma.MaskedArray)
    places = given if isinstance(given, np.ndarray) and not masked else np.asarray(given)
    if masked or places.ndim != 1 or places.dtype.kind not in "iu":
        found = "a masked array" if masked else f"{places.dtype} of shape {places.shape}"
        raise ValueError(f"{name} must be a vector of integers, got {found}")
    if places.dtype in _PLACES:
        return places
    if places.dtype.kind == "u" and len(places) and places.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} has {places.max()}, which is beyond any place")
    return places.astype(np.int64)


def _require_ends(indptr: Any, major: int, stored: int) -> None:
    if len(indptr) != major + 1:
        raise ValueError(f"indptr must be {major + 1} integers, got {indptr.dtype} of shape {indptr.shape}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        wrong = int(np.argmax(indptr[1:] < indptr[:-1])) + 1 if indptr[0] == 0 else 0
        raise ValueError(f"indptr must begin with 0 and never fall, and indptr[{wrong}] is {indptr[wrong]}")
    if indptr[-1] > stored:
        raise ValueError(f"indptr ends with {indptr[-1]}, beyond the {stored} entries that are stored")


def _require_within(name: str, places: Any, extent: int) -> None:
    # Read as unsigned, a negative number is a very large one, so that a single look for the largest is enough.
    if len(places) and places.view(f"u{places.itemsize}").max() >= extent:
        wrong = int(np.argmax((places < 0) | (places >= extent)))
        raise ValueError(f"{name}[{wrong}] is {places[wrong]}, and must be from 0 to {extent - 1}")
