"""Call the methods that authors of losses write, with errors that name loss, method and example."""

from collections.abc import Callable
from threading import RLock
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from attrs import frozen

from structsvm.exceptions import InputError, StructSVMError, with_article
from structsvm.foundation.types import IntVector, Vector

T = TypeVar("T")

RAISED_AS_IS = (StructSVMError, MemoryError)
"""Errors of a loss's methods that need no further explanation."""


ONE_AT_A_TIME = RLock()
"""Held while a method runs and its result is copied, because losses in several threads may share a buffer."""


def separate(output: Any) -> Any:
    """Return an output that later calls of the method that returned it do not change: arrays and containers copied."""
    if isinstance(output, tuple):
        parts = tuple(map(separate, output))
        return type(output)(*parts) if hasattr(output, "_fields") else parts
    if isinstance(output, list):
        return list(map(separate, output))
    copies: Any = output
    return copies.copy() if isinstance(output, np.ndarray | dict | set | bytearray) or sp.issparse(output) else output


def is_finite_input(x: Any) -> bool:
    """Return False if an input is an array with NaN or infinity, a sparse one, or a list or tuple that contains one."""
    if isinstance(x, list | tuple):
        return all(map(is_finite_input, x))
    values: Any = x
    values = values.data if sp.issparse(x) else values
    if not isinstance(values, np.ndarray | float) or np.asarray(values).dtype.kind != "f":
        return True
    return bool(np.isfinite(values).all())


def coefficients(loss: Any, y_hat: Any, y: Any) -> Vector:
    """Return ``c(ŷ)`` as a new vector, because ``encode`` may return the same array at every call."""
    return np.array(dense(loss.encode(y_hat, y)), dtype=np.float64)


@frozen(eq=False)
class SparseVector:
    """A vector by its entries that may differ from 0: ascending indices and their values."""

    length: int
    index: IntVector
    value: Vector

    @property
    def shape(self) -> tuple[int]:
        """Shape of the vector."""
        return (self.length,)

    @classmethod
    def of_dense(cls, vector: Vector) -> Self:
        """Return a dense vector."""
        index = np.flatnonzero(vector)
        return cls(len(vector), index, vector[index])

    @classmethod
    def of(cls, vector: Any) -> Self:
        """Return a sparse SciPy vector of shape (d,) or (1, d); entries with the same index are added."""
        row = vector.tocsr()
        order = np.argsort(row.indices, kind="stable")
        index, value = row.indices[order], row.data[order].astype(np.float64)
        repeated = index[1:] == index[:-1]
        if repeated.any():
            starts = np.flatnonzero(np.append(True, ~repeated))
            index, value = index[starts], np.add.reduceat(value, starts)
        return cls(row.shape[-1], index, value)


def is_sparse_vector(vector: Any) -> bool:
    """Return True for a sparse SciPy vector of shape (d,) or (1, d)."""
    sparse: Any = vector
    return bool(sp.issparse(vector)) and sparse.shape[:-1] in ((), (1,))


def encoded(loss: Any, y_hat: Any, y: Any) -> Vector | SparseVector:
    """Return ``c(ŷ)`` as `coefficients` does, but without its zeros if ``encode`` returns a sparse vector."""
    code = loss.encode(y_hat, y)
    if is_sparse_vector(code):
        return SparseVector.of(code)
    return np.array(dense(code), dtype=np.float64)


def call_method(loss: Any, method: str, example: int, call: Callable[..., T], *arguments: Any) -> T:
    """Call a method of a loss; wrap unexpected exceptions in an `InputError` that names loss, method and example."""
    try:
        return call(*arguments)
    except RAISED_AS_IS:
        raise
    except Exception as error:
        raise method_failed(loss, method, error, example) from error


def output_of(loss: Any, method: str, example: int, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method of a loss like `call_method`; return an output that later calls do not change."""
    with ONE_AT_A_TIME:
        return separate(call_method(loss, method, example, call, *arguments))


def at_example(example: int, call: Callable[..., T], *arguments: Any) -> T:
    """Call a function for an example; put the example's number in front of the message of an `InputError`."""
    try:
        return call(*arguments)
    except InputError as error:
        raise InputError(f"example {example}: {error}") from None


def method_failed(loss: Any, method: str, error: Exception, example: int | None, more: str = "") -> InputError:
    """Return the error for an exception in a loss's method; ``more`` is another sentence with a trailing blank."""
    said = f"{loss.title}.{method} raised {type(error).__name__}: {str(error).rstrip('.')}. "
    where = "" if example is None else f"It was called for example {example}. "
    return InputError(f"{said}{where}{more}Run {loss.checked_by} on the loss.")


def dense(features: Any) -> Any:
    """Return joint features as the author's method returned them, or as a new array if they are a sparse vector."""
    if isinstance(features, SparseVector):
        array = np.zeros(features.length)
        array[features.index] = features.value
        return array
    if not sp.issparse(features):
        return features
    sparse: Any = features
    array = sparse.toarray()
    return array[0] if array.ndim == 2 and len(array) == 1 else array


def joint_features(loss: Any, example: int, d: int | None, call: Callable[..., Any], *arguments: Any) -> Vector:
    """Call ``joint_feature`` for an example and return a new vector of d finite numbers (any number if d is None)."""
    returned = call_method(loss, "joint_feature", example, call, *arguments)
    try:
        vector = np.array(dense(returned), dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.zeros((0, 0))
    if vector.ndim == 1 and d in (None, len(vector)) and np.isfinite(vector).all():
        return vector
    if vector.ndim != 1:
        what = "None" if returned is None else f"{with_article(type(returned).__name__)} that is not a vector"
    elif np.isfinite(vector).all():
        what = f"{len(vector)} numbers"
    else:
        what = "NaN or infinity"
    raise InputError(
        f"{loss.title}.joint_feature returned {what} for example {example}: it must return a vector of "
        f"{'' if d is None else f'{d} '}finite numbers, of equal length for every x and y. Check this example, or run "
        f"{loss.checked_by} on the loss."
    )


def reads_text(method: Callable[[Any], Any], text: Any) -> bool:
    """Return True if a method of labels accepts text; methods that compare labels with numbers do not."""
    try:
        method(text)
    except TypeError:
        return False
    # The method accepts text, but not this text.
    except Exception:
        return True
    return True
