"""Tables in Parquet, read by pyarrow."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.data.columns.base import NO_FEATURE, Batch
from structsvm.exceptions import DataFormatError, InputError, NotInstalledError, quoted
from structsvm.settings import repeated
from structsvm.types import Matrix

START = b"PAR1"
"""First bytes of such a file."""

_NAMELESS = re.compile(r"__index_level_\d+__")

_AT_ONCE = 2**16
"""Rows that are read at a time."""


@frozen(eq=False)
class ParquetTable:
    """A table in Parquet, open. Made by `open_parquet`; see `structsvm.data.columns.base.ColumnFile`.

    Parameters
    ----------
    path, names, numeric : see there; truth values are numbers, 0 and 1.
    index : the columns of an index of pandas'.
    file : pyarrow's.
    """

    path: Path
    names: tuple[str, ...]
    numeric: frozenset[str]
    index: frozenset[str]
    file: Any

    def nearly_numeric(self, name: str) -> DataFormatError | None:
        """Return None: columns have types."""
        return None

    def batches(
        self, numbers: Sequence[str], texts: Sequence[str], largest: float, unnamed: Collection[str] = ()
    ) -> Iterator[Batch]:
        """Return all rows, some at a time; see `structsvm.data.columns.base.ColumnFile`."""
        first = 1
        with _errors_naming(self.path):
            for batch in self.file.iter_batches(_AT_ONCE, columns=[*numbers, *texts]):
                values = np.empty((batch.num_rows, len(numbers)))
                for k, name in enumerate(numbers):
                    values[:, k] = self._numbers(batch, name, first, unnamed)
                self._require_within(values, numbers, first, largest, unnamed)
                yield Batch(values, {name: self._texts(batch, name, first) for name in texts})
                first += batch.num_rows

    def _numbers(self, batch: Any, name: str, first: int, unnamed: Collection[str]) -> NDArray[Any]:
        import pyarrow as pa

        column = self._whole(batch, name, first, unnamed)
        if name not in self.numeric:
            raise DataFormatError(self.path, None, f"column {quoted(name)} holds {column.type}, not numbers")
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))

    def _texts(self, batch: Any, name: str, first: int) -> NDArray[np.object_]:
        import pyarrow as pa

        return np.asarray(self._whole(batch, name, first).cast(pa.string()).to_numpy(zero_copy_only=False), object)

    def _whole(self, batch: Any, name: str, first: int, unnamed: Collection[str] = ()) -> Any:
        column = batch.column(name)
        if column.null_count:
            row = first + int(column.is_null().to_numpy(zero_copy_only=False).argmax())
            problem = f"column {quoted(name)} is empty in row {row}: fill in what is missing"
            raise DataFormatError(self.path, None, problem + NO_FEATURE * (name in unnamed))
        return column

    def _require_within(
        self, values: Matrix, numbers: Sequence[str], first: int, largest: float, unnamed: Collection[str]
    ) -> None:
        wrong = ~(np.abs(values) <= largest)
        if wrong.any():
            row, k = divmod(int(wrong.argmax()), len(numbers))
            value = values[row, k]
            what = "is beyond float32: read the file as float64" if np.isfinite(value) else "is not finite"
            problem = f"{value:g} in column {quoted(numbers[k])}, row {first + row}, {what}"
            raise DataFormatError(self.path, None, problem + NO_FEATURE * (numbers[k] in unnamed))


@contextmanager
def open_parquet(path: Path) -> Iterator[ParquetTable]:
    """Open a table in Parquet.

    Raises
    ------
    NotInstalledError : pyarrow is missing.
    InputError : the file is a pipe, which cannot be read from its end.
    DataFormatError : it is damaged.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise NotInstalledError("Parquet files need pyarrow: pip install 'structural-svm[parquet]'.") from error
    if not path.is_file():
        raise InputError(f"{path} is a pipe, and Parquet is read from its end: write it to a file first")
    with _errors_naming(path), pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        names = tuple(schema.names)
        twice = repeated(names)
        if twice is not None:
            raise DataFormatError(path, None, f"two columns are named {quoted(twice)}")
        numeric = frozenset(each.name for each in schema if _is_numeric(each.type))
        try:
            yield ParquetTable(path, names, numeric, _index(schema), file)
        finally:
            pa.default_memory_pool().release_unused()  # it would keep some hundred megabytes for the next file


def _index(schema: Any) -> frozenset[str]:
    """Return the columns that hold an index: pandas lists them in the file, and has its own names for nameless ones."""
    try:
        about = schema.pandas_metadata
    except ValueError:  # another program left something else there
        about = None
    listed = about.get("index_columns") if isinstance(about, dict) else None
    named = {each for each in listed if isinstance(each, str)} if isinstance(listed, list) else set[str]()
    nameless = {name for name in schema.names if _NAMELESS.fullmatch(name)}
    return frozenset(nameless | named)


def _is_numeric(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind))


@contextmanager
def _errors_naming(path: Path) -> Iterator[None]:
    """Name the file in errors of pyarrow's."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise DataFormatError(path, None, f"it cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    except OSError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {path}: {error.strerror or str(error).splitlines()[0]}") from None
