"""Which files are tables with named columns, by their names."""

from pathlib import Path

from structsvm.storage.packed import without_suffix

_ENDINGS = {".csv", ".tsv", ".parquet"}


def named_as_table(path: Path) -> bool:
    """Say whether the name of a file, compressed or not, is that of a table."""
    return without_suffix(path).suffix.lower() in _ENDINGS
