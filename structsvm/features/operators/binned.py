"""Indicators of thresholds as one small integer a document and function, which looks up a sum of weights."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import ArrayLike, DTypeLike, NDArray

from structsvm.exceptions import InputError
from structsvm.features.operators.matrix import MatrixKind, read_only
from structsvm.features.operators.views import register_view
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.settings import as_list, require_kind
from structsvm.foundation.types import IntVector, Vector


@frozen(eq=False, repr=False, init=False)
class BinnedMatrix:
    """Indicators ``1[f(d) >= k]`` of all functions f and thresholds k ∈ K_f, stored as one count per function.

    The features of Yue, Finley, Radlinski and Joachims (SIGIR 2007), section 4.2. A function's thresholds ascend, so a
    document satisfies the first few of them, and the matrix stores only how many. With 17 functions of 50 thresholds a
    document takes 17 bytes, a row of float64 6800.

    Functions of the package accept it as a feature matrix of ``len(codes)`` rows and ``offsets[-1]`` columns. Select
    rows as of an array: ``X[rows]``. `numpy.asarray` expands the matrix to float64 at each call.

    Parameters
    ----------
    codes : number of thresholds of each function that a document satisfies, shape (rows, F), integers. Stored as uint8
        if no function has more than 255 thresholds, else as uint16; not copied if they have this type in C order.
        Compiled loops rely on the checks made here, so do not change the array.
    offsets : first column of each function, shape (F + 1,), from 0: function f has the thresholds ``offsets[f]`` to
        ``offsets[f + 1] − 1``; it may have none.

    Examples
    --------
    >>> X = BinnedMatrix([[2, 0], [1, 3]], offsets=[0, 2, 5])  # two functions, of two thresholds and of three
    >>> X.toarray().astype(int)
    array([[1, 1, 0, 0, 0],
           [1, 0, 1, 1, 1]])
    >>> X[1:].tocsr().nnz
    4
    """

    codes: NDArray[np.unsignedinteger[Any]]
    offsets: IntVector

    def __init__(self, codes: ArrayLike, offsets: ArrayLike) -> None:
        edges = _checked_offsets(offsets)
        self.__attrs_init__(read_only(_checked_codes(codes, edges)), read_only(edges))

    @classmethod
    def stack(cls, parts: Sequence["BinnedMatrix"]) -> "BinnedMatrix":
        """Stack matrices on top of each other; raise InputError if the list is empty or thresholds differ."""
        listed: list[BinnedMatrix] = as_list("parts", parts, "a list of BinnedMatrix")
        if not listed:
            raise InputError("the list of matrices is empty: pass at least one")
        for number, part in enumerate(listed):
            require_kind(f"parts[{number}]", part, BinnedMatrix, "a BinnedMatrix")
        first, *others = listed
        if not others:
            return first
        if any(not np.array_equal(first.offsets, other.offsets) for other in others):
            raise InputError("the matrices have different thresholds: make all of them with one fitted Thresholds")
        return first._with(np.concatenate([part.codes for part in listed]))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of indicators."""
        return len(self.codes), int(self.offsets[-1])

    @property
    def ndim(self) -> int:
        """2."""
        return 2

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.codes.nbytes + self.offsets.nbytes

    def toarray(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return the expanded matrix of zeros and ones, shape (rows, columns)."""
        out = np.empty(self.shape, dtype)
        for f, (start, stop) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            out[:, start:stop] = self.codes[:, f, None] > np.arange(stop - start)
        return out

    def tocsr(self) -> sp.csr_array:
        """Return a float64 CSR array; it needs at least 12 bytes for each entry of 1."""
        count = self.codes.ravel().astype(np.int64)
        end = np.cumsum(count)
        total = int(end[-1]) if len(end) else 0
        indptr = np.concatenate([[0], np.cumsum(self.codes.sum(axis=1, dtype=np.int64))])
        first = np.tile(self.offsets[:-1], len(self)) - (end - count)
        indices = np.repeat(first, count) + np.arange(total)
        index = np.int32 if max(total, self.shape[1]) <= np.iinfo(np.int32).max else np.int64
        return sp.csr_array((np.ones(total), indices.astype(index), indptr.astype(index)), self.shape)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> "BinnedMatrix":
        if isinstance(rows, tuple):
            rows, *columns = rows
            if not all(
                column is Ellipsis or (isinstance(column, slice) and column == slice(None)) for column in columns
            ):
                raise IndexError("columns of a BinnedMatrix cannot be selected: use its tocsr() or toarray()")
        codes = self.codes[rows]
        if codes.ndim == 1:
            codes = codes[None]
        if codes.ndim != 2:
            raise IndexError("rows of a BinnedMatrix are selected by a slice, a number, a mask or a vector of numbers")
        return self._with(np.ascontiguousarray(codes))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a BinnedMatrix cannot be an array without a copy")
        return self.toarray(np.float64 if dtype is None else dtype)

    def __repr__(self) -> str:
        return f"BinnedMatrix({self.shape[0]} x {self.shape[1]}, {self.codes.shape[1]} functions, {self.codes.dtype})"

    def _with(self, codes: Any) -> Self:
        """Return a matrix of codes that are known to be valid."""
        made = type(self).__new__(type(self))
        made.__attrs_init__(read_only(codes), self.offsets)
        return made


def _checked_offsets(offsets: ArrayLike) -> IntVector:
    given = np.asarray(offsets)
    if (
        given.ndim != 1
        or len(given) == 0
        or given.dtype.kind not in "iu"
        or given[0] != 0
        or (given[1:] < given[:-1]).any()
    ):
        raise InputError(
            "offsets must be a vector of integers that begins with 0 and does not descend: the first column of each "
            f"function, then the number of columns; got {given!r}"
        )
    return np.ascontiguousarray(given, dtype=np.int64)


def _checked_codes(codes: ArrayLike, offsets: IntVector) -> NDArray[np.unsignedinteger[Any]]:
    thresholds = np.diff(offsets)
    try:
        given = np.asarray(codes)
    except ValueError:
        raise InputError("codes must be a matrix of integers; its rows have different lengths") from None
    if given.ndim != 2 or given.shape[1] != len(thresholds) or given.dtype.kind not in "iu":
        raise InputError(
            f"codes must be integers of shape (rows, {len(thresholds)}), a column for each function in offsets; "
            f"they are {given.dtype} of shape {given.shape}"
        )
    largest = int(thresholds.max(initial=0))
    if largest > np.iinfo(np.uint16).max:
        raise InputError(f"a function has {largest} thresholds; at most {np.iinfo(np.uint16).max} can be counted")
    wrong = (given.max(axis=0, initial=0) > thresholds) | (given.min(axis=0, initial=0) < 0)
    if wrong.any():
        f = int(wrong.argmax())
        raise InputError(
            f"codes of function {f} are beyond 0 to {thresholds[f]}, the number of its thresholds: "
            f"they are {given[:, f].min()} to {given[:, f].max()}"
        )
    return np.ascontiguousarray(given, dtype=np.uint8 if largest <= np.iinfo(np.uint8).max else np.uint16)


@compiled
def _table_starts(offsets: IntVector) -> Any:
    """Return the place of each function's code 0 in the table; unsigned indices skip the test for negatives."""
    starts = np.empty(len(offsets) - 1, np.uint64)
    for f in range(len(starts)):
        starts[f] = offsets[f] + f
    return starts


@compiled
def _prefix_sums(offsets: IntVector, w: Vector) -> Vector:
    """Return the sums of the first 0, 1, 2, ... weights of each function, concatenated."""
    table = np.empty(len(w) + len(offsets) - 1)
    for f in range(len(offsets) - 1):
        total = 0.0
        table[offsets[f] + f] = total
        for k in range(offsets[f], offsets[f + 1]):
            total += w[k]
            table[k + f + 1] = total
    return table


@compiled
def _score_codes(codes: Any, offsets: IntVector, w: Vector, out: Vector) -> None:
    """Write the score of each row of codes; four rows at a time keep four sums in flight."""
    table, starts = _prefix_sums(offsets, w), _table_starts(offsets)
    rows, functions = codes.shape
    in_fours = rows - rows % 4
    for row in range(0, in_fours, 4):
        a = b = c = d = 0.0
        for f in range(functions):
            start = starts[f]
            a += table[start + codes[row, f]]
            b += table[start + codes[row + 1, f]]
            c += table[start + codes[row + 2, f]]
            d += table[start + codes[row + 3, f]]
        out[row], out[row + 1], out[row + 2], out[row + 3] = a, b, c, d
    for row in range(in_fours, rows):
        a = 0.0
        for f in range(functions):
            a += table[starts[f] + codes[row, f]]
        out[row] = a


@compiled
def _combine_codes(codes: Any, offsets: IntVector, c: Vector, out: Vector) -> None:
    """Write the sum of the coefficients of the rows that satisfy each threshold."""
    starts = _table_starts(offsets)
    rows, functions = codes.shape
    sums = np.zeros(len(out) + functions)
    for row in range(rows):
        coefficient = c[row]
        if coefficient != 0.0:
            for f in range(functions):
                sums[starts[f] + codes[row, f]] += coefficient
    for f in range(functions):
        total = 0.0
        for k in range(offsets[f + 1] - 1, offsets[f] - 1, -1):
            total += sums[k + f + 1]
            out[k] = total


class BinnedView(NamedTuple):
    """Rows of a `BinnedMatrix`."""

    ptr: IntVector
    codes: Any
    offsets: IntVector


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    first = view.ptr[i]
    _score_codes(view.codes[first : first + len(out)], view.offsets, w, out)


def _combine(view: Any, i: Any, c: Any, out: Any) -> None:
    first = view.ptr[i]
    _combine_codes(view.codes[first : first + len(c)], view.offsets, c, out)


class Binned(MatrixKind):
    """Kind of `BinnedMatrix`."""

    classes = (BinnedMatrix,)
    finite = True

    def read(self, X: Any) -> Any:
        return X if isinstance(X, BinnedMatrix) else None

    def stack(self, blocks: Sequence[Any]) -> BinnedMatrix:
        binned = sum(isinstance(block, BinnedMatrix) for block in blocks)
        if binned < len(blocks):
            raise InputError(f"{binned} of {len(blocks)} inputs are BinnedMatrix objects: convert all inputs, or none")
        return BinnedMatrix.stack(blocks)

    def view(self, X: Any, ptr: IntVector) -> BinnedView:
        """Return codes and offsets as read-only arrays, also after unpickling, so that loops compile for one type."""
        return BinnedView(ptr, read_only(X.codes), read_only(X.offsets))

    def stored(self, X: Any) -> int:
        return int(X.codes.size)


register_view(BinnedView, _scores, _combine)
