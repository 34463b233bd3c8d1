"""Partitions of Dask arrays and data frames."""

import math
from typing import Any

from structsvm.distributed.sources.given import is_call, partition
from structsvm.exceptions import InputError, quoted


def of_collections(X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> list[Any]:
    """Return the partitions of Dask arrays or data frames as delayed calls."""
    X, vectors = _columns_apart(X, {"y": y, "qid": qid, "sample_weight": sample_weight})
    if is_dask_frame(X):
        _require_no_text(X)
    rows = _row_chunks(X)
    columns = [_blocks("X", X)]
    count = len(columns[0])
    for name, values in vectors.items():
        blocks = [None] * count if values is None else _blocks(name, _alike(name, values, rows))
        if len(blocks) != count:
            raise InputError(f"{name} has {len(blocks)} partitions, but X has {count}: repartition {name} like X")
        columns.append(blocks)
    from dask import delayed

    make = delayed(partition, pure=False)
    return [make(f"partition {number}", *part) for number, part in enumerate(zip(*columns, strict=True))]


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask array or data frame."""
    return not is_call(X) and hasattr(X, "dask") and hasattr(X, "to_delayed")


def is_dask_frame(X: Any) -> bool:
    """Return whether X is a Dask data frame."""
    return is_collection(X) and hasattr(X, "columns")


def made_of(values: Any, name: str) -> str:
    """Return advice on how to make a Dask collection from local data; ``name`` is the user's name for them."""
    if hasattr(values, "iloc"):
        return f"make a Dask data frame by dask.dataframe.from_pandas({name}, npartitions=8, sort=False)"
    chunks = "(100_000, -1)" if getattr(values, "ndim", 2) == 2 else "100_000"
    return f"make a Dask array by dask.array.from_array({name}, chunks={chunks})"


def _columns_apart(X: Any, vectors: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Split a data frame into features and the columns with other roles."""
    named = {role: name for role, name in vectors.items() if isinstance(name, str)}
    if not named:
        return X, vectors
    if not is_dask_frame(X):
        role, name = next(iter(named.items()))
        raise InputError(f"{role}={name!r} names a column, but X is not a data frame: pass the vector itself")
    columns = list(map(str, X.columns))
    for role, name in named.items():
        if name not in columns:
            shown = ", ".join(map(quoted, columns[:12])) + ", ..." * (len(columns) > 12)
            raise InputError(f"X has no column {name!r}, which {role} names; it has {shown}")
    features = X[[name for name in X.columns if name not in named.values()]]
    return features, vectors | {role: X[name] for role, name in named.items()}


def _require_no_text(X: Any) -> None:
    """Raise InputError if a column of a data frame has a text type; columns of objects are checked at the workers."""
    texts = [name for name, dtype in X.dtypes.items() if str(dtype).startswith(("str", "string", "large_string"))]
    if texts:
        raise InputError(
            f"features must be numbers, but X has columns of text: drop them by frame.drop(columns={texts})"
        )


def _row_chunks(X: Any) -> tuple[float, ...] | None:
    """Return the numbers of rows of an array's chunks; None for data frames, which do not know them."""
    if is_dask_frame(X):
        return None
    if getattr(X, "ndim", 0) != 2:
        raise InputError(
            f"X must be a matrix, a row per document and a column per feature, got {getattr(X, 'ndim', 0)} dimensions"
        )
    if len(X.chunks[1]) != 1:
        raise InputError(
            f"the chunks of X split its {X.shape[1]} columns in {len(X.chunks[1])}, but each row must be in one chunk: "
            "join them by X.rechunk({1: -1})"
        )
    return tuple(X.chunks[0])


def _alike(name: str, values: Any, rows: tuple[float, ...] | None) -> Any:
    """Return a vector in the chunks of X, if their lengths are known."""
    if not hasattr(values, "dask"):
        raise InputError(
            f"{name} must be a Dask array or series like X, got a {type(values).__name__}: {made_of(values, name)}"
        )
    chunks = getattr(values, "chunks", None)
    if rows is None or chunks is None or any(map(math.isnan, [*rows, *chunks[0]])) or chunks[0] == rows:
        return values
    n, length = int(sum(rows)), int(sum(chunks[0]))
    if n != length:
        hint = ""
        if name == "qid" and values.dtype.kind in "iu" and 2 * length <= n:
            hint = ". If qid has group sizes, turn them into ids by numpy.repeat(numpy.arange(len(group)), group)"
        raise InputError(f"{name} must have a number for each of the {n:,} rows of X, got {length:,}{hint}")
    return values.rechunk((rows,))


def _blocks(name: str, values: Any) -> list[Any]:
    """Return the partitions of a collection as delayed calls."""
    calls = values.to_delayed()
    blocks: list[Any] = calls.ravel().tolist() if hasattr(calls, "ravel") else list(calls)
    if not blocks:
        raise InputError(f"{name} has no partitions")
    return blocks
