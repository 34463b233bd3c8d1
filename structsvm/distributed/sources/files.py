"""Partitions from files in LETOR's format or tables, each read by a worker."""

from glob import has_magic
from os import PathLike
from typing import Any

from attrs import evolve, field, frozen
from attrs.validators import optional
from numpy.typing import DTypeLike

from structsvm.data.columns.base import named_as_table
from structsvm.data.columns.parquet import is_parquet
from structsvm.data.letor.reading import Reading, read_rows
from structsvm.data.letor.side_files import weights_beside
from structsvm.data.table import load_table
from structsvm.distributed.partition import Partition
from structsvm.distributed.sources.given import partition
from structsvm.exceptions import InputError
from structsvm.foundation.categories import source_of
from structsvm.foundation.compute.threads import using
from structsvm.foundation.settings import (
    as_float_type,
    as_list,
    as_names,
    as_path,
    at_least,
    of_kind,
    repeated,
    truth_value,
)

_NUMBERED_APART = 2**32
"""Largest number of queries of a file without ids, so that the numbers of different files do not overlap."""


def _type_name(dtype: DTypeLike) -> str:
    return str(as_float_type(dtype))


def _names(names: Any) -> tuple[str, ...] | None:
    return None if names is None else as_names("features", names)


@frozen
class FileColumns:
    """Columns of files, and storage of their features, as in `read_partitions`; ``labels`` is False if not needed."""

    label: str = field(default="label", validator=of_kind(str, "the name of a column"))
    qid: str = field(default="qid", validator=of_kind(str, "the name of a column"))
    features: tuple[str, ...] | None = field(default=None, converter=_names)
    n_features: int | None = field(default=None, validator=optional(at_least(1)))
    sparse: bool | None = field(default=None, validator=optional(truth_value))
    dtype: str = field(default="float64", converter=_type_name)
    labels: bool = True


def are_files(X: Any) -> bool:
    """Return whether X is a path, or a list that begins with a path."""
    if isinstance(X, str | PathLike):
        return True
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str | PathLike)


def of_files(paths: Any, columns: FileColumns) -> list[Any]:
    """Return the partitions of files, one per file, as delayed calls."""
    paths = [paths] if isinstance(paths, str | PathLike) else paths
    names = [str(as_path("a path", path)) for path in as_list("paths", paths, "a path, or a list of them")]
    twice = repeated(names)
    if twice is not None or not names:
        raise InputError(f"the list of files has {twice} twice" if names else "the list of files is empty: name one")
    from dask import delayed

    read = delayed(read_file, pure=False)
    return [read(path, number, columns) for number, path in enumerate(names)]


def read_file(path: str, number: int, columns: FileColumns) -> Partition:
    """Read a file at a worker; without ids, queries count from ``2³²`` times the number of the file."""
    file = as_path("path", path)
    if has_magic(path) and not file.exists():
        raise InputError(
            f"there is no file {path}. If it is a pattern, pass the list of paths: sorted(glob.glob({path!r}))"
        )
    if named_as_table(file) or is_parquet(file):
        needs = "required" if columns.labels else "optional"
        roles: dict[str, Any] = {"label": columns.label, "qid": columns.qid, "features": columns.features}
        data = load_table(file, **roles, dtype=columns.dtype, labels=needs, queries=needs)
        # A partition may lack some categories, so features are numbers only.
        numbers = [k for k, name in enumerate(data.feature_names or ()) if source_of(name, data.categories) is None]
        if len(numbers) < data.X.shape[1]:
            names = tuple((data.feature_names or ())[k] for k in numbers)
            data = evolve(data, X=data.X[:, numbers], feature_names=names, categories=())
    else:
        reading = Reading(
            n_features=columns.n_features,
            labels=columns.labels,
            queries=columns.labels,
            sparse=columns.sparse,
            dtype=columns.dtype,
        )
        with using(1):
            rows = read_rows([file], reading, taken=number * _NUMBERED_APART)
        data = rows.data(columns.n_features or rows.width, sparse=columns.sparse)
        if columns.labels:
            data = evolve(data, sample_weight=weights_beside([file], data.qid))
    part = partition(path, data.X, data.y if columns.labels else None, data.qid, data.sample_weight)
    return part._replace(names=data.feature_names)
