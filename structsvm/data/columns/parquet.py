"""Parquet tables, read by pyarrow."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.data.columns.base import ONLY_MISSING, Batch, ColumnFile, Wanted
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import repeated
from structsvm.foundation.storage.files import errors_reading
from structsvm.foundation.types import Matrix

_START = b"PAR1"

_NAMELESS = re.compile(r"__index_level_\d+__")

_AT_ONCE = 2**16
"""Rows per batch."""


@frozen(eq=False)
class ParquetTable(ColumnFile):
    """An open Parquet table; truth values are numbers, and ``index`` names the columns of a pandas index."""

    file: Any

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        first = 1
        with _errors_naming(self.path):
            for batch in self.file.iter_batches(_AT_ONCE, columns=[*wanted.numbers, *wanted.texts]):
                values = np.empty((batch.num_rows, len(wanted.numbers)))
                for k, name in enumerate(wanted.numbers):
                    values[:, k] = self._numbers(batch, name, first, wanted)
                self._require_within(values, first, wanted)
                yield Batch(values, {name: self._texts(batch, name, first, wanted) for name in wanted.texts})
                first += batch.num_rows

    def _numbers(self, batch: Any, name: str, first: int, wanted: Wanted) -> NDArray[Any]:
        import pyarrow as pa

        column = self._whole(batch, name, first, wanted)
        if name not in self.numeric and self.others.get(name) != ONLY_MISSING:
            raise DataFormatError(self.path, None, f"column {quoted(name)} has {column.type}, not numbers")
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))

    def _texts(self, batch: Any, name: str, first: int, wanted: Wanted) -> NDArray[np.object_]:
        import pyarrow as pa

        column = self._whole(batch, name, first, wanted)
        return np.asarray(column.cast(pa.string()).fill_null("").to_numpy(zero_copy_only=False), object)

    def _whole(self, batch: Any, name: str, first: int, wanted: Wanted) -> Any:
        """Return a column of a batch; raise DataFormatError if a cell is missing and must not be."""
        column = batch.column(name)
        if column.null_count and name not in wanted.optional:
            row = first + int(column.is_null().to_numpy(zero_copy_only=False).argmax())
            problem = f"column {quoted(name)} is empty in row {row}: fill in the value"
            raise DataFormatError(self.path, None, problem + wanted.advice(name))
        return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column

    def _require_within(self, values: Matrix, first: int, wanted: Wanted) -> None:
        wrong = ~((np.abs(values) <= wanted.largest) | (np.isnan(values) & wanted.may_lack))
        if wrong.any():
            row, k = divmod(int(wrong.argmax()), len(wanted.numbers))
            value, name = values[row, k], wanted.numbers[k]
            what = "is beyond float32: read the file as float64" if np.isfinite(value) else "is not finite"
            problem = f"{value:g} in column {quoted(name)}, row {first + row}, {what}"
            raise DataFormatError(self.path, None, problem + wanted.advice(name))


def is_parquet(path: Path) -> bool:
    """Return whether a regular file begins like Parquet; False if it cannot be read, because readers report that."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(len(_START)) == _START
    return False


@contextmanager
def open_parquet(path: Path) -> Iterator[ParquetTable]:
    """Open a Parquet table; pipes raise InputError, because pyarrow reads from the end."""
    with needed("Parquet files need pyarrow", "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    if not path.is_file():
        raise InputError(f"{path} is a pipe, but Parquet is read from its end: write it to a file first")
    with _errors_naming(path), pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        names = tuple(schema.names)
        twice = repeated(names)
        if twice is not None:
            raise DataFormatError(path, None, f"two columns are named {quoted(twice)}")
        numeric = frozenset(column.name for column in schema if _is_numeric(column.type))
        coded = frozenset(column.name for column in schema if pa.types.is_dictionary(column.type))
        declared = coded - numeric
        others = {
            column.name: _kind(column.type)
            for column in schema
            if column.name not in numeric | declared and not _is_text(column.type)
        }
        try:
            yield ParquetTable(path, names, numeric, _index(schema), others, declared, file)
        finally:
            # pyarrow would keep some hundred megabytes for the next file.
            pa.default_memory_pool().release_unused()


def _index(schema: Any) -> frozenset[str]:
    """Return the columns of a pandas index, which pandas lists in the metadata."""
    try:
        about = schema.pandas_metadata
    except ValueError:
        # Another program wrote other metadata.
        about = None
    listed = about.get("index_columns") if isinstance(about, dict) else None
    named = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set[str]()
    nameless = {name for name in schema.names if _NAMELESS.fullmatch(name)}
    return frozenset(nameless | named)


def _is_numeric(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind))


def _kind(kind: Any) -> str:
    """Describe a type of neither numbers nor texts."""
    from pyarrow import types

    return "dates" if types.is_temporal(kind) else ONLY_MISSING if types.is_null(kind) else str(kind)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


@contextmanager
def _errors_naming(path: Path) -> Iterator[None]:
    """Name the file in errors of pyarrow."""
    import pyarrow as pa

    try:
        with errors_reading(path):
            yield
    except pa.ArrowException as error:
        raise DataFormatError(path, None, f"it cannot be read as Parquet: {str(error).splitlines()[0]}") from None
