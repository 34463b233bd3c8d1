"""Store the leaves of trees that documents fall into as one small integer per document and tree."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import DTypeLike, NDArray

from structsvm.features.operators.coded import CodedKind, CodedMatrix, score_codes, sum_codes
from structsvm.features.operators.views import register_view
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector


@frozen(eq=False, repr=False, init=False)
class LeafMatrix(CodedMatrix):
    """Indicators of the leaf of each tree that a document falls into, stored as one number per tree.

    With 100 trees, each with up to 256 leaves, a document takes 100 bytes. The weight of a column is the value of a
    leaf, and a score is the sum of the values of a document's leaves.

    Functions of the package accept it as a feature matrix of ``len(codes)`` rows and ``offsets[-1]`` columns. Select
    rows as from an array: ``X[rows]``. `numpy.asarray` expands the matrix to float64 at each call.

    Parameters
    ----------
    codes : leaf of each tree, from 0, shape (rows, T), integers. Stored as uint8 if no tree has more than 256 leaves,
        else as uint16; not copied if they have this type in C order. Compiled loops rely on the checks made here, so
        do not change the array.
    offsets : first column of each tree, shape (T + 1,), from 0: tree t has the leaves ``offsets[t]`` to
        ``offsets[t + 1] − 1``, at least one.

    Examples
    --------
    >>> X = LeafMatrix([[1, 0], [0, 2]], offsets=[0, 2, 5])  # two trees, of two leaves and of three
    >>> X.toarray().astype(int)
    array([[0, 1, 1, 0, 0],
           [1, 0, 0, 0, 1]])
    """

    _block = "tree"
    _columns = "leaves"
    _codes_beyond = 0
    _same = "make all of them with the same trees"

    def toarray(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        out = np.zeros(self.shape, dtype)
        np.put_along_axis(out, self.codes + self.offsets[:-1], 1, axis=1)
        return out

    def tocsr(self) -> sp.csr_array:
        rows, trees = self.codes.shape
        indices = (self.codes + self.offsets[:-1]).ravel()
        index = np.int32 if max(rows * trees, self.shape[1]) <= np.iinfo(np.int32).max else np.int64
        indptr = np.arange(rows + 1, dtype=index) * trees
        return sp.csr_array((np.ones(rows * trees), indices.astype(index), indptr), self.shape)


class LeafView(NamedTuple):
    """Rows of a `LeafMatrix`."""

    ptr: IntVector
    codes: Any
    offsets: IntVector


@compiled
def _starts(offsets: IntVector) -> Any:
    return offsets[:-1].astype(np.uint64)


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    first = view.ptr[i]
    score_codes(view.codes[first : first + len(out)], _starts(view.offsets), w, out)


def _add(view: Any, i: Any, c: Any, out: Any) -> None:
    first = view.ptr[i]
    sum_codes(view.codes[first : first + len(c)], _starts(view.offsets), c, out)


class Leaves(CodedKind):
    """Kind of `LeafMatrix`."""

    classes = (LeafMatrix,)
    _view = LeafView


register_view(LeafView, _scores, _add)
