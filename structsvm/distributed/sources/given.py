"""Partitions from futures and delayed calls, and from the arrays that they return."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.data import RankingData
from structsvm.distributed.partition import Partition, naming
from structsvm.exceptions import InputError, with_article
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.types import Vector
from structsvm.training.data import checked_labels, read_features


def is_call(X: Any) -> bool:
    """Return whether X is a future or a delayed call; delayed calls have any attribute, so check types."""
    kinds = (("dask.delayed", "Delayed"), ("distributed", "Future"))
    return any(module in sys.modules and isinstance(X, getattr(sys.modules[module], name)) for module, name in kinds)


def of_list(parts: Any) -> list[Any]:
    """Return partitions that futures or calls make, as delayed calls."""
    if not parts:
        raise InputError("the list of partitions is empty: give at least one")
    for number, part in enumerate(parts):
        if not is_call(part):
            raise InputError(
                f"partition {number} is {with_article(type(part).__name__)}: a list must contain paths of files, or "
                f"futures or delayed calls that return (X, y, qid); {_way(part)}"
            )
    from dask import delayed

    make = delayed(of_result, pure=False)
    return [make(f"partition {number}", part) for number, part in enumerate(parts)]


def of_result(title: str, result: Any) -> Partition:
    """Make a partition from the result of a future, whose last elements may be missing."""
    if isinstance(result, Partition):
        return result._replace(title=title)
    if len(getattr(result, "shape", ())) == 2:
        return partition(title, result)
    if isinstance(result, RankingData):
        return partition(title, result.X, result.y, result.qid)._replace(names=result.feature_names)
    if not isinstance(result, tuple | list) or not 1 <= len(result) <= 4:
        raise InputError(
            f"{title} must return (X, y, qid), (X, y, qid, sample_weight), a data set of structsvm.data, or X alone to "
            f"be scored, got {with_article(type(result).__name__)}"
        )
    return partition(title, *result)


def partition(title: str, X: Any, y: Any = None, qid: Any = None, weight: Any = None) -> Partition:
    """Make a partition from arrays or data frames; it shares float32 and float64 in C order or CSR."""
    with naming(title):
        rows, names = _features(X)
        n = rows.shape[0]
        labels = None if y is None else checked_labels(_column(y), n)
        ids = None if qid is None else _ids(_column(qid), n)
        weights = None if weight is None else partition_weights(_column(weight), n)
        return Partition(rows, labels, ids, weights, names, title)


def _way(part: Any) -> str:
    """Return the advice of an error message: how to turn an object into partitions."""
    if hasattr(part, "dask"):
        joined = "dask.dataframe.concat" if hasattr(part, "columns") else "dask.array.concatenate"
        return f"join collections of Dask with {joined}(...) and pass the result without a list"
    if isinstance(part, tuple | list) or hasattr(part, "shape"):
        return "if parts is a list of (X, y, qid) in memory, pass [dask.delayed(part) for part in parts]"
    return "for example dask.delayed(load_letor)(path)"


def _features(X: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return checked features and their names; errors explain how to treat missing values in partitions."""
    try:
        rows, names, _, _ = read_features("Ranker", X, min_rows=0)
    except InputError as error:
        if "FillMissing" not in str(error):
            raise
        raise InputError(
            f"{error}. Call them in the function that returns a partition; or fill all missing values with one number "
            "before, such as frame.fillna(0)"
        ) from None
    return rows, names


def _column(values: Any) -> Any:
    """Return a vector from a vector or a data frame with one column."""
    array = np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _ids(qid: NDArray[Any], n: int) -> NDArray[Any]:
    Queries.of(qid, n)
    if qid.dtype.kind == "O":
        texts = [value for value in qid.tolist() if isinstance(value, str)]
        return qid.astype(str) if len(texts) == n else np.asarray(qid.tolist())
    if qid.dtype.kind == "f" and (np.mod(qid, 1.0) == 0.0).all() and (np.abs(qid) < 2.0**53).all():
        # pandas turns integers into floats if values are missing in some rows.
        return qid.astype(np.int64)
    return qid


def partition_weights(weight: NDArray[Any], n: int) -> Vector:
    """Return the weights of rows; all may be 0, because other partitions may have weights above 0."""
    if weight.shape == (n,) and not np.any(weight):
        return np.zeros(n)
    return row_weights(weight, n)
