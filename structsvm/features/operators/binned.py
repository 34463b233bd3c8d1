"""Store indicators of thresholds as one small integer per document and function."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import DTypeLike, NDArray

from structsvm.features.operators.coded import CodedKind, CodedMatrix, score_codes, sum_codes
from structsvm.features.operators.views import register_view
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector, Vector


@frozen(eq=False, repr=False, init=False)
class BinnedMatrix(CodedMatrix):
    """Indicators ``1[f(d) >= k]`` of all functions f and thresholds k ∈ K_f, stored as one count per function.

    They are the features of Yue, Finley, Radlinski and Joachims (SIGIR 2007), section 4.2. A function's thresholds
    ascend, so a document satisfies the first few of them, and the matrix stores only their number. With 17 functions
    and 50 thresholds for each, a document takes 17 bytes; a row of float64 would take 6800.

    Functions of the package accept it as a feature matrix of ``len(codes)`` rows and ``offsets[-1]`` columns. Select
    rows as from an array: ``X[rows]``. `numpy.asarray` expands the matrix to float64 at each call.

    Parameters
    ----------
    codes : number of thresholds of each function that a document satisfies, shape (rows, F), integers. Stored as uint8
        if no function has more than 255 thresholds, else as uint16; not copied if they have this type in C order.
        Compiled loops rely on the checks made here, so do not change the array.
    offsets : first column of each function, shape (F + 1,), from 0: function f has the thresholds ``offsets[f]`` to
        ``offsets[f + 1] − 1``, possibly no thresholds.

    Examples
    --------
    >>> X = BinnedMatrix([[2, 0], [1, 3]], offsets=[0, 2, 5])  # two functions, of two thresholds and of three
    >>> X.toarray().astype(int)
    array([[1, 1, 0, 0, 0],
           [1, 0, 1, 1, 1]])
    >>> X[1:].tocsr().nnz
    4
    """

    _block = "function"
    _columns = "thresholds"
    _codes_beyond = 1
    _same = "make all of them with one fitted Thresholds"

    def toarray(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        out = np.empty(self.shape, dtype)
        for f, (start, stop) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            out[:, start:stop] = self.codes[:, f, None] > np.arange(stop - start)
        return out

    def tocsr(self) -> sp.csr_array:
        count = self.codes.ravel().astype(np.int64)
        end = np.cumsum(count)
        total = int(end[-1]) if len(end) else 0
        indptr = np.concatenate([[0], np.cumsum(self.codes.sum(axis=1, dtype=np.int64))])
        first = np.tile(self.offsets[:-1], len(self)) - (end - count)
        indices = np.repeat(first, count) + np.arange(total)
        index = np.int32 if max(total, self.shape[1]) <= np.iinfo(np.int32).max else np.int64
        return sp.csr_array((np.ones(total), indices.astype(index), indptr.astype(index)), self.shape)


@compiled
def _table_starts(offsets: IntVector) -> Any:
    """Return the place of each function's code 0 in the table."""
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


class BinnedView(NamedTuple):
    """Rows of a `BinnedMatrix`."""

    ptr: IntVector
    codes: Any
    offsets: IntVector


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    first = view.ptr[i]
    table = _prefix_sums(view.offsets, w)
    score_codes(view.codes[first : first + len(out)], _table_starts(view.offsets), table, out)


def _add(view: Any, i: Any, c: Any, out: Any) -> None:
    first, offsets = view.ptr[i], view.offsets
    sums = np.zeros(len(out) + len(offsets) - 1)
    sum_codes(view.codes[first : first + len(c)], _table_starts(offsets), c, sums)
    # A document has a threshold's indicator if it satisfies at least as many thresholds.
    for f in range(len(offsets) - 1):
        total = 0.0
        for k in range(offsets[f + 1] - 1, offsets[f] - 1, -1):
            total += sums[k + f + 1]
            out[k] += total


class Binned(CodedKind):
    """Kind of `BinnedMatrix`."""

    classes = (BinnedMatrix,)
    _view = BinnedView


register_view(BinnedView, _scores, _add)
