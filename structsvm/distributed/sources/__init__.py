"""Sources of partitions, one module per kind; each makes delayed calls that return a `Partition`."""

from typing import Any

from structsvm.distributed.sources.collections import is_collection, made_of, of_collections
from structsvm.distributed.sources.files import FileColumns, are_files, of_files
from structsvm.distributed.sources.given import is_call, of_list
from structsvm.exceptions import InputError

AS_READ = FileColumns()


def calls_of(
    X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None, columns: FileColumns = AS_READ
) -> list[Any]:
    """Return delayed calls that make the partitions; arguments as in `Partitions.of`."""
    if is_collection(X):
        return of_collections(X, y, qid, sample_weight)
    if is_call(X):
        raise InputError(
            f"X is a single {type(X).__name__}: pass a list of futures or delayed calls, one for each partition; "
            "for a single partition, [X]"
        )
    if not isinstance(X, list | tuple) and not are_files(X):
        raise InputError(
            f"X must be a Dask array or data frame, a list of files, or a list of futures or delayed calls, got a "
            f"{type(X).__name__}: {made_of(X, 'X')}; use Ranker for data that fit one machine"
        )
    calls, source = (of_files(X, columns), "files") if are_files(X) else (of_list(X), "partitions")
    require_none(y, qid, sample_weight, source)
    return calls


def is_local(X: Any) -> bool:
    """Return whether X is an array, a matrix or a data frame in this process."""
    return hasattr(X, "shape") and not (is_collection(X) or is_call(X))


def require_none(y: Any, qid: Any, sample_weight: Any, source: str) -> None:
    """Raise InputError if columns are passed in addition to a source that contains them."""
    for name, value in (("y", y), ("qid", qid), ("sample_weight", sample_weight)):
        if value is not None:
            raise InputError(f"{name} must not be given, because {source} contain labels, query ids and weights")
