"""What every format of tables gives its reader: the names of the columns, and their rows, some at a time."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import DataFormatError
from structsvm.types import Matrix

NO_FEATURE = "; if it is no feature, name the columns that are: features=[...] (--features on the command line)"
"""What is said behind a fault in a column that no one named."""


class Batch(NamedTuple):
    """Some rows of a table, one after the other.

    Parameters
    ----------
    numbers : the columns that were asked for as numbers, finite, shape (n, number of columns).
    texts : those that were asked for as text, by name, each of shape (n,).
    """

    numbers: Matrix
    texts: Mapping[str, NDArray[np.object_]]


class ColumnFile(Protocol):
    """A file of named columns, open."""

    @property
    def path(self) -> Path:
        """Its file."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        ...

    @property
    def numeric(self) -> frozenset[str]:
        """Those of columns of numbers."""
        ...

    @property
    def index(self) -> frozenset[str]:
        """Those that number the rows for a library, and are features only where they are named."""
        ...

    def nearly_numeric(self, name: str) -> DataFormatError | None:
        """Return the error of the first cell that is no number in a column that holds mostly such; None of others."""
        ...

    def batches(
        self, numbers: Sequence[str], texts: Sequence[str], largest: float, unnamed: Collection[str] = ()
    ) -> Iterator[Batch]:
        """Return all rows, some at a time; it can be called once.

        Parameters
        ----------
        numbers, texts : the columns that are asked for.
        largest : of absolute values of numbers.
        unnamed : columns that are features since they hold numbers, for messages.

        Raises
        ------
        DataFormatError : a cell is no such number, or the file is damaged.
        """
        ...
