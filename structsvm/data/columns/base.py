"""Base class of tables with named columns, read in batches of rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.foundation.settings import repeated
from structsvm.foundation.storage.files import without_suffix
from structsvm.foundation.types import Matrix

NO_FEATURE = "; if it is not a feature, name the features: features=[...] (--features on the command line)"
"""Advice after a message about a column that the user did not name."""

ONLY_MISSING = "only missing values"
"""Description of a column without a value in the first rows."""

_ENDINGS = {".csv", ".tsv", ".parquet"}


def require_distinct(names: Sequence[str], fault: Callable[[str], DataFormatError]) -> None:
    """Raise the fault of the first column without a name, or with the name of another column."""
    if "" in names:
        raise fault(f"column {names.index('') + 1} has no name: the first line names the columns")
    twice = repeated(names)
    if twice is not None:
        raise fault(f"two columns are named {quoted(twice)}")


def named_as_table(path: Path) -> bool:
    """Return whether a file name, with or without a compression suffix, denotes a table."""
    return without_suffix(path).suffix.lower() in _ENDINGS


def all_tables(paths: Sequence[Path]) -> bool:
    """Return whether files are tables by their names; raise InputError if only some are."""
    by_name = [named_as_table(path) for path in paths]
    if any(by_name) and not all(by_name):
        raise InputError(
            f"{paths[by_name.index(True)]} is a table by its name, but {paths[by_name.index(False)]} is not: "
            "give files of one format"
        )
    return any(by_name)


class Wanted(NamedTuple):
    """Columns to read: numbers of at most ``largest`` and texts; the user did not name the ``unnamed`` ones.

    Cells of the ``optional`` columns may be missing: NaN among numbers, and "" among texts.
    """

    numbers: Sequence[str]
    texts: Sequence[str]
    largest: float
    unnamed: Collection[str] = ()
    optional: Collection[str] = ()

    @property
    def may_lack(self) -> NDArray[np.bool_]:
        """Mask of the numbers that may be missing."""
        return np.array([name in self.optional for name in self.numbers], dtype=np.bool_)

    def advice(self, name: str) -> str:
        return NO_FEATURE * (name in self.unnamed)


class Batch(NamedTuple):
    """Consecutive rows: ``numbers``, finite or missing, shape (n, columns), and ``texts`` by name, each shape (n,)."""

    numbers: Matrix
    texts: Mapping[str, NDArray[np.object_]]


@frozen(eq=False)
class ColumnFile(ABC):
    """An open file with named columns: the ``numeric`` columns are numbers, the ``index`` columns number the rows.

    ``others`` are columns of neither numbers nor texts, with their types in words. The file declares the values of
    ``declared`` columns as categories.
    """

    path: Path
    names: tuple[str, ...]
    numeric: frozenset[str]
    index: frozenset[str]
    others: Mapping[str, str]
    declared: frozenset[str]

    def nearly_numeric(self, name: str) -> DataFormatError | None:
        """Return the error of the first cell that is not a number, in a column of mostly numbers; else None."""
        return None

    @abstractmethod
    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Yield all rows in batches, once."""
