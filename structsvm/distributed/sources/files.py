"""Partitions of files, which the workers read: one file each, in LETOR's format or a table, as in Parquet."""

from collections.abc import Iterable, Sequence
from glob import has_magic
from os import PathLike
from pathlib import Path
from typing import Any

from attrs import field, frozen
from attrs.validators import optional
from numpy.typing import DTypeLike

from structsvm.compute.threads import using
from structsvm.data.columns.names import named_as_table
from structsvm.data.columns.parquet import START
from structsvm.data.letor_rows import Reading, read_rows
from structsvm.data.table import load_table
from structsvm.distributed.partition import Partition
from structsvm.distributed.survey import partition
from structsvm.exceptions import InputError
from structsvm.settings import as_float_type, as_list, as_names, as_path, at_least, of_kind, repeated, truth_value

_NUMBERED_APART = 2**32
"""Queries that a file can have whose lines have no ids, so that those of no two files are numbered alike."""


def _type_name(given: DTypeLike) -> str:
    return str(as_float_type("dtype", given))


def _names(given: Any) -> tuple[str, ...] | None:
    return None if given is None else as_names("features", given)


@frozen
class FileColumns:
    """Which columns files have, and how their features are stored.

    Parameters
    ----------
    label, qid : tables: names of the columns of labels and of query ids.
    features : tables: names of those of features; None: all other columns of numbers.
    n_features : LETOR's format: number of columns; None: the largest index in all files.
    sparse : LETOR's format: True for CSR, False for dense; None: what takes less memory.
    dtype : type of the features: float64, or float32, which takes half the memory.
    labels : whether there must be labels.
    """

    label: str = field(default="label", validator=of_kind(str, "the name of a column"))
    qid: str = field(default="qid", validator=of_kind(str, "the name of a column"))
    features: tuple[str, ...] | None = field(default=None, converter=_names)
    n_features: int | None = field(default=None, validator=optional(at_least(1)))
    sparse: bool | None = field(default=None, validator=optional(truth_value))
    dtype: str = field(default="float64", converter=_type_name)
    labels: bool = True


def are_files(X: Any) -> bool:
    """Say whether X is a path, or a list whose first entry is one."""
    if isinstance(X, str | PathLike):
        return True
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str | PathLike)


def of_files(paths: Any, how: FileColumns) -> tuple[list[Any], list[str]]:
    """Return the partitions of files, one each, as delayed calls, and what messages call them.

    Parameters
    ----------
    paths : one or several, as the workers see them.
    how : what is in them.

    Raises
    ------
    InputError : when there are none, or one is there twice.
    """
    names = _paths(paths)
    from dask import delayed

    read = delayed(read_file, pure=False)
    return [read(path, number, how) for number, path in enumerate(names)], names


def read_file(path: str, number: int, how: FileColumns) -> Partition:
    """Read a file, at a worker.

    Parameters
    ----------
    path : the file: in LETOR's format, plain or compressed, or a table, which its name or its first bytes tell.
    number : of the file. Queries whose sizes are in a file beside it are numbered on from ``2³²`` times it.
    how : what is in it.

    Raises
    ------
    InputError, DataFormatError : as `structsvm.data.load_letor` and `structsvm.data.load_table`; and when there is no
        such file, and the path looks like a pattern.
    """
    file = Path(path)
    if has_magic(path) and not file.exists():
        raise InputError(
            f"there is no file {path}. If it is a pattern, a list of the paths is wanted: sorted(glob.glob({path!r}))"
        )
    if _is_table(file):
        needs = "required" if how.labels else "optional"
        data = load_table(
            file, label=how.label, qid=how.qid, features=how.features, dtype=how.dtype, labels=needs, queries=needs
        )
    else:
        reading = Reading(
            n_features=how.n_features, labels=how.labels, queries=how.labels, sparse=how.sparse, dtype=how.dtype
        )
        with using(1):
            rows = read_rows([file], [None], reading, taken=number * _NUMBERED_APART)
        data = rows.data(how.n_features or rows.width, sparse=how.sparse)
    made = partition(path, data.X, data.y if how.labels else None, data.qid)
    return made._replace(names=data.feature_names)


def _is_table(path: Path) -> bool:
    if named_as_table(path):
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(START)) == START
    except OSError:  # told where it is read
        return False


def _paths(paths: Any) -> list[str]:
    given: Sequence[Any] | Iterable[Any] = [paths] if isinstance(paths, str | PathLike) else paths
    names = [str(as_path("a path", path)) for path in as_list("paths", given, "a path, or a list of them")]
    twice = repeated(names)
    if twice is not None or not names:
        raise InputError(f"{twice} is there twice" if names else "the list of files is empty")
    return names
