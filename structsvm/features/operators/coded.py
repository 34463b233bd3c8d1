"""Matrices of zeros and ones that are stored as one small integer for each row and block of columns."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import ArrayLike, DTypeLike, NDArray

from structsvm.exceptions import InputError, brief
from structsvm.features.operators.matrix import MatrixKind, read_only
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.settings import as_list, require_kind
from structsvm.foundation.types import IntVector, Vector


@frozen(eq=False, repr=False, init=False)
class CodedMatrix:
    """Base of matrices of zeros and ones with one code per row and block of columns; subclasses define the codes."""

    _block: ClassVar[str]
    """Word for a block of columns."""

    _columns: ClassVar[str]
    """Word for the columns of a block."""

    _codes_beyond: ClassVar[int]
    """Number of codes of a block minus the number of its columns."""

    _same: ClassVar[str]
    """Advice on how to make matrices that can be stacked."""

    codes: NDArray[np.unsignedinteger[Any]]
    offsets: IntVector

    def __init__(self, codes: ArrayLike, offsets: ArrayLike) -> None:
        edges = self._checked_offsets(offsets)
        self.__attrs_init__(read_only(self._checked_codes(codes, edges)), read_only(edges))

    @classmethod
    def stack(cls, parts: Sequence[Self]) -> Self:
        """Stack matrices on top of each other; raise InputError if the list is empty or columns differ."""
        listed: list[Self] = as_list("parts", parts, f"a list of {cls.__name__}")
        if not listed:
            raise InputError("the list of matrices is empty: pass at least one")
        for number, part in enumerate(listed):
            require_kind(f"parts[{number}]", part, cls, f"a {cls.__name__}")
        first, *others = listed
        if not others:
            return first
        if any(not np.array_equal(first.offsets, other.offsets) for other in others):
            raise InputError(f"the matrices have different {cls._columns}: {cls._same}")
        return first._with(np.concatenate([part.codes for part in listed]))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.codes), int(self.offsets[-1])

    @property
    def ndim(self) -> int:
        """Number of dimensions, 2."""
        return 2

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.codes.nbytes + self.offsets.nbytes

    @abstractmethod
    def toarray(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return the expanded matrix of zeros and ones, shape (rows, columns)."""

    @abstractmethod
    def tocsr(self) -> sp.csr_array:
        """Return a float64 CSR array; it needs at least 12 bytes for each entry of 1."""

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Self:
        if isinstance(rows, tuple):
            rows, *columns = rows
            if not all(
                column is Ellipsis or (isinstance(column, slice) and column == slice(None)) for column in columns
            ):
                raise IndexError(f"columns of a {type(self).__name__} cannot be selected: use its tocsr() or toarray()")
        codes = self.codes[rows]
        if codes.ndim == 1:
            codes = codes[None]
        if codes.ndim != 2:
            raise IndexError(
                f"rows of a {type(self).__name__} are selected by a slice, a number, a mask or a vector of numbers"
            )
        return self._with(np.ascontiguousarray(codes))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"a {type(self).__name__} cannot be an array without a copy")
        return self.toarray(np.float64 if dtype is None else dtype)

    def __repr__(self) -> str:
        rows, columns = self.shape
        blocks = f"{self.codes.shape[1]} {self._block}s"
        return f"{type(self).__name__}({rows} x {columns}, {blocks}, {self.codes.dtype})"

    def _with(self, codes: Any) -> Self:
        """Return a matrix of codes that are known to be valid."""
        copy = type(self).__new__(type(self))
        copy.__attrs_init__(read_only(codes), self.offsets)
        return copy

    @classmethod
    def _checked_offsets(cls, offsets: ArrayLike) -> IntVector:
        numbers(offsets, "offsets", "a vector of integers")
        array = np.asarray(offsets)
        if (
            array.ndim != 1
            or len(array) == 0
            or array.dtype.kind not in "iu"
            or array[0] != 0
            or (array[1:] < array[:-1] + 1 - cls._codes_beyond).any()
        ):
            grow = "does not descend" if cls._codes_beyond else "ascends"
            raise InputError(
                f"offsets must be a vector of integers that begins with 0 and {grow}: the first column of each "
                f"{cls._block}, then the number of columns; got {brief(array)}"
            )
        return np.ascontiguousarray(array, dtype=np.int64)

    @classmethod
    def _checked_codes(cls, codes: ArrayLike, offsets: IntVector) -> NDArray[np.unsignedinteger[Any]]:
        columns = np.diff(offsets)
        try:
            array = np.asarray(codes)
        except ValueError:
            raise InputError("codes must be a matrix of integers; its rows have different lengths") from None
        if array.ndim != 2 or array.shape[1] != len(columns) or array.dtype.kind not in "iu":
            raise InputError(
                f"codes must be integers of shape (rows, {len(columns)}), a column for each {cls._block} in offsets; "
                f"they are {array.dtype} of shape {array.shape}"
            )
        last = columns - 1 + cls._codes_beyond
        largest = int(last.max(initial=0))
        most = np.iinfo(np.uint16).max
        if largest > most:
            raise InputError(
                f"a {cls._block} has {int(columns.max())} {cls._columns}; at most {most + 1 - cls._codes_beyond} can "
                "be coded"
            )
        wrong = (array.max(axis=0, initial=0) > last) | (array.min(axis=0, initial=0) < 0)
        if wrong.any():
            f = int(wrong.argmax())
            raise InputError(
                f"codes of {cls._block} {f} are beyond 0 to {last[f]}, as it has {columns[f]} {cls._columns}: "
                f"they are {array[:, f].min()} to {array[:, f].max()}"
            )
        return np.ascontiguousarray(array, dtype=np.uint8 if largest <= np.iinfo(np.uint8).max else np.uint16)


@compiled
def score_codes(codes: Any, starts: Any, table: Vector, out: Vector) -> None:
    """Write the sum of the table's entries of each row's codes; four rows at a time keep four sums in flight.

    ``starts`` has the place of each block's code 0 in the table; unsigned indices skip the test for negatives.
    """
    rows, blocks = codes.shape
    in_fours = rows - rows % 4
    for row in range(0, in_fours, 4):
        a = b = c = d = 0.0
        for f in range(blocks):
            start = starts[f]
            a += table[start + codes[row, f]]
            b += table[start + codes[row + 1, f]]
            c += table[start + codes[row + 2, f]]
            d += table[start + codes[row + 3, f]]
        out[row], out[row + 1], out[row + 2], out[row + 3] = a, b, c, d
    for row in range(in_fours, rows):
        a = 0.0
        for f in range(blocks):
            a += table[starts[f] + codes[row, f]]
        out[row] = a


@compiled
def sum_codes(codes: Any, starts: Any, c: Vector, sums: Vector) -> None:
    """Add the coefficient of each row to the sums of its codes."""
    rows, blocks = codes.shape
    for row in range(rows):
        coefficient = c[row]
        if coefficient != 0.0:
            for f in range(blocks):
                sums[starts[f] + codes[row, f]] += coefficient


class CodedKind(MatrixKind):
    """Kind of one class of coded matrices."""

    finite = True
    _view: ClassVar[type]

    def read(self, X: Any) -> Any:
        return X if isinstance(X, self.classes) else None

    def stack(self, blocks: Sequence[Any]) -> Any:
        (kind,) = self.classes
        coded = sum(isinstance(block, kind) for block in blocks)
        if coded < len(blocks):
            raise InputError(
                f"{coded} of {len(blocks)} inputs are {kind.__name__} objects: convert all inputs, or none"
            )
        return kind.stack(blocks)  # type: ignore[attr-defined]

    def view(self, X: Any, ptr: IntVector) -> Any:
        """Return codes and offsets as read-only arrays, also after unpickling, so that loops compile for one type."""
        return self._view(ptr, read_only(X.codes), read_only(X.offsets))

    def stored(self, X: Any) -> int:
        return int(X.codes.size)
