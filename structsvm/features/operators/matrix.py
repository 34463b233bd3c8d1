"""The interface for kinds of matrices that `Rows` can read."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.frames import read_inputs
from structsvm.foundation.settings import require_kind
from structsvm.foundation.types import IntVector

FLOATS = (np.float64, np.float32)
"""Number types that need no conversion."""

_MATRIX = "matrix of numbers, with a row of features for each position (or document)"


class Readable(Protocol):
    """Feature matrix of a class known to `register_matrix`, which `Rows` can read."""

    @property
    def shape(self) -> Any: ...

    @property
    def ndim(self) -> int: ...


class MatrixKind(ABC):
    """Base class of kinds of matrices: how `Rows` reads, stacks and slices them.

    To add a kind, write its view (see `register_view`), derive from this class, and pass an instance to
    `register_matrix`.

    Examples
    --------
    >>> from structsvm.features import BinnedMatrix
    >>> from structsvm.features.operators import Rows
    >>> class Stages:  # each row has reached a stage: 0 to count − 1
    ...     def __init__(self, stage, count):
    ...         self.stage, self.count = np.asarray(stage), count
    >>> class StagesKind(MatrixKind):  # as indicators of the stages that were reached
    ...     classes = ()  # its inputs are stored as a matrix of another kind
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
    """Classes that `Rows` stores as they are; empty if `read` converts to a matrix of another kind."""

    finite: ClassVar[bool] = False
    """True if these classes contain finite numbers only, so that estimators need not check them."""

    @abstractmethod
    def read(self, X: Any) -> Readable | None:
        """Return features as a matrix of this kind, if possible without a copy; None if this kind cannot read them."""

    @abstractmethod
    def stack(self, blocks: Sequence[Any]) -> Any:
        """Stack matrices of this kind and of kinds registered before it."""

    @abstractmethod
    def view(self, X: Any, ptr: IntVector) -> Any:
        """Return the view of X; ``ptr`` contains the first row of each example, as in `Operator.ptr`."""

    def require_sound(self, X: Any) -> None:
        """Raise `InputError` if compiled loops would read outside the matrix; by default accept every matrix."""
        return

    def stored(self, X: Any) -> int:
        """Return the number of stored values; for sparse matrices the number of non-zero entries."""
        return int(X.size)

    def part(self, X: Any, first: int, last: int) -> Any:
        """Return the rows ``first`` to ``last − 1``, which share the memory of X."""
        return X[first:last]

    def has_gram(self, X: Any) -> bool:
        """Return True if the view of X writes the products between an example's rows."""
        return False

    def prefers_product(self, X: Any, columns: int) -> bool:
        """Return True if ``X @ w`` is better than the view's loops for a w with this number of columns."""
        return False


_kinds: list[MatrixKind] = []


@singledispatch
def kind_of(X: Any) -> MatrixKind:
    """Return the kind of a stored matrix; raise `InputError` if its class is not registered."""
    names = [kind.__name__ for kind in kind_of.registry if kind is not object]
    raise InputError(
        f"X must be {', '.join(names[:-1])} or {names[-1]}, got {type(X).__name__}: convert it by "
        "structsvm.features.operators.readable"
    )


def is_finite(X: Any) -> bool:
    """Return True if the kind of X contains finite numbers only."""
    return any(kind.finite and isinstance(X, kind.classes) for kind in _kinds)


def register_matrix(kind: MatrixKind) -> None:
    """Register another kind of matrix for `Rows` until the process ends; the last registered kind is tried first.

    Parameters
    ----------
    kind : the kind, which reads matrices of its classes.

    Examples
    --------
    >>> from structsvm.features.operators import MatrixKind, Rows
    >>> class Columns:  # features by name
    ...     def __init__(self, **columns):
    ...         self.as_columns = columns
    >>> class ColumnsKind(MatrixKind):
    ...     classes = ()  # its inputs are stored as an array
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
    for class_ in kind.classes:
        kind_of.register(class_)(lambda X: kind)


def readable(X: Any) -> Readable:
    """Return features as a matrix that `Rows` reads; float64 and float32, dense or CSR, are not copied.

    Parameters
    ----------
    X : matrix of numbers, shape (rows, d): an array or input that NumPy converts to one, any SciPy sparse matrix, a
        `BinnedMatrix`, or an input of a registered `MatrixKind`.

    Examples
    --------
    >>> readable([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    return next(read for kind in reversed(_kinds) if (read := kind.read(X)) is not None)


def is_matrix(xs: Any) -> bool:
    """Return True if inputs are one matrix, not a list or an array of one matrix per example."""
    return hasattr(xs, "shape") and not (isinstance(xs, np.ndarray) and xs.ndim != 2)


def stacked(xs: Sequence[Any]) -> tuple[Readable, list[int]]:
    """Stack the inputs of several examples, each (rows, d) or (d,); return the matrix and the row counts."""
    xs, _ = read_inputs(xs, place="the input of example {}")
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
        # Reshaping a CSR vector makes a COO matrix, so read the result again.
        block = readable(block.reshape(1, -1))
    if block.ndim != 2:
        raise InputError(f"the input of example {number} has shape {block.shape}: it must be a {_MATRIX}")
    return block


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view
