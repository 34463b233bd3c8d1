"""The seam of the kinds of matrix that rows of features are kept in."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.settings import require_kind
from structsvm.types import IntVector

FLOATS = (np.float64, np.float32)
"""The types of numbers that are read without a copy."""

_MATRIX = "matrix of numbers, with a row of features for each position (or document)"


class Readable(Protocol):
    """Rows of features as `Rows` reads them: a matrix of a class that `register_matrix` was given.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from structsvm.operators import Readable, readable
    >>> def values(X: Readable) -> int:  # of an array, of CSR, or of any other kind that was registered
    ...     rows, features = X.shape
    ...     return rows * features
    >>> values(readable([[1, 2], [3, 4]])), values(readable(csr_array((2, 1000))))
    (4, 2000)
    """

    @property
    def shape(self) -> Any:
        """Number of rows, and of features."""

    @property
    def ndim(self) -> int:
        """2."""


class MatrixKind(ABC):
    """What `Rows` must know of a kind of matrix.

    To add one, write its view with two functions for `register_view`, derive from this, and hand an instance to
    `register_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.operators import BinnedMatrix, MatrixKind, Rows
    >>> class Stages:  # each row has reached a stage: 0 to count − 1
    ...     def __init__(self, stage, count):
    ...         self.stage, self.count = np.asarray(stage), count
    >>> class StagesKind(MatrixKind):  # as indicators of the stages that were reached
    ...     classes = ()  # what it reads is kept as a matrix of another kind
    ...     def read(self, X):
    ...         return BinnedMatrix(X.stage[:, None], [0, X.count - 1]) if isinstance(X, Stages) else None
    ...     def stack(self, blocks):
    ...         return BinnedMatrix.stack(blocks)
    ...     def view(self, X, ptr):
    ...         return Rows(X, ptr).view
    >>> StagesKind().read(Stages([0, 2], count=3)).toarray()
    array([[0., 0.],
           [1., 1.]])
    """

    classes: ClassVar[tuple[type, ...]]
    """Of the matrices that are kept; none, where what is read is kept as a matrix of another kind."""

    finite: ClassVar[bool] = False
    """Whether these classes hold finite numbers only, so that estimators take them as they are."""

    @abstractmethod
    def read(self, X: Any) -> Any:
        """Return features as a matrix of this kind, without a copy where that can be; None if they are of another."""

    @abstractmethod
    def stack(self, blocks: Sequence[Any]) -> Any:
        """Put matrices under one another: some of this kind, others perhaps of kinds that were registered before it."""

    @abstractmethod
    def view(self, X: Any, ptr: IntVector) -> Any:
        """Return the view of rows; where each example's rows begin is in ``ptr``, as in `Operator.ptr`."""

    def require_sound(self, X: Any) -> None:
        """Refuse a matrix of which compiled loops would read what is not there; by default there is none."""
        return

    def stored(self, X: Any) -> int:
        """Return the number of values that are stored: of those that are not 0, where the matrix is sparse."""
        return int(X.size)

    def part(self, X: Any, first: int, last: int) -> Any:
        """Return the rows ``first`` to ``last − 1``, which share the memory of X."""
        return X[first:last]

    def prefers_product(self, X: Any, columns: int) -> bool:
        """Say whether ``X @ w`` is to be preferred to the view's loops, for a w of so many columns."""
        return False


_kinds: list[MatrixKind] = []


@singledispatch
def kind_of(X: Any) -> MatrixKind:
    """Return the kind of a matrix that rows are kept in.

    Raises
    ------
    InputError : when it is of none.
    """
    names = [kind.__name__ for kind in kind_of.registry if kind is not object]
    raise InputError(
        f"rows are kept as {', '.join(names[:-1])} or {names[-1]}, not as {type(X).__name__}: "
        "structsvm.operators.readable makes one of them"
    )


def is_finite(X: Any) -> bool:
    """Say whether X is a matrix of a kind that holds finite numbers only."""
    return any(kind.finite and isinstance(X, kind.classes) for kind in _kinds)


def register_matrix(kind: MatrixKind) -> None:
    """Let `Rows` keep matrices of another kind.

    The kind that was registered last is the first to be asked whether it can read an input.

    Parameters
    ----------
    kind : reads them. It stays registered for as long as the process lives.

    Raises
    ------
    InputError : when it is no `MatrixKind`.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.operators import MatrixKind, Rows, register_matrix
    >>> class Columns:  # features by name
    ...     def __init__(self, **columns):
    ...         self.as_columns = columns
    >>> class ColumnsKind(MatrixKind):
    ...     classes = ()  # what it reads is kept as an array
    ...     def read(self, X):
    ...         return np.stack(list(X.as_columns.values()), axis=1) if hasattr(X, "as_columns") else None
    ...     def stack(self, blocks):
    ...         return np.concatenate(blocks)
    ...     def view(self, X, ptr):
    ...         return Rows(X, ptr).view
    >>> register_matrix(ColumnsKind())
    >>> Rows.of([Columns(bm25=[1.0, 2.0], age=[0.0, 3.0])]).scores(np.array([1.0, 10.0]))
    array([ 1., 32.])
    """
    require_kind("kind", kind, MatrixKind, "a MatrixKind")
    _kinds.append(kind)
    for each in kind.classes:
        kind_of.register(each)(lambda X: kind)


def readable(X: Any) -> Readable:
    """Return features as `Rows` reads them; a copy only of those that are neither float64 nor float32, dense or CSR.

    Parameters
    ----------
    X : matrix, shape (rows, d), of numbers: an array or what NumPy makes one of, any sparse matrix of SciPy, a
        `BinnedMatrix`, or what a registered `MatrixKind` reads.

    Raises
    ------
    InputError : when they are no numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.operators import readable
    >>> X = np.ones((2, 3), dtype=np.float32)
    >>> readable(X) is X
    True
    >>> readable([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    return next(read for kind in reversed(_kinds) if (read := kind.read(X)) is not None)  # type: ignore[no-any-return]


def is_matrix(xs: Any) -> bool:
    """Say whether inputs are one matrix, rather than a list or an array of the matrices of several examples."""
    return hasattr(xs, "shape") and not (isinstance(xs, np.ndarray) and xs.ndim != 2)


def stacked(xs: Sequence[Any]) -> tuple[Readable, list[int]]:
    """Put the rows of several inputs under one another; return them and the number of rows of each.

    Parameters
    ----------
    xs : matrices of shape (rows, d), or vectors of shape (d,), which are one row.

    Raises
    ------
    InputError : when one is no matrix of numbers, they have different numbers of features, or they are of kinds that
        do not go together.
    """
    blocks: list[Any] = [_block(x, i) for i, x in enumerate(xs)]
    if not blocks:
        raise InputError("there are no inputs: one example at least is needed")
    widths = [block.shape[1] for block in blocks]
    other = next((i for i, width in enumerate(widths) if width != widths[0]), None)
    if other is not None:
        raise InputError(
            f"the inputs have different numbers of features: example 0 has {widths[0]}, example {other} has "
            f"{widths[other]}"
        )
    last = max(map(kind_of, blocks), key=_kinds.index, default=_kinds[0])
    return last.stack(blocks), [block.shape[0] for block in blocks]


def _block(x: Any, number: int) -> Any:
    try:
        block: Any = readable(x)
    except (TypeError, ValueError) as error:
        raise InputError(f"the input of example {number} must be a {_MATRIX}: {error}") from None
    if block.ndim < 2:
        block = readable(block.reshape(1, -1))  # a vector of CSR becomes COO
    if block.ndim != 2:
        raise InputError(f"the input of example {number} has shape {block.shape}: it must be a {_MATRIX}")
    return block


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
