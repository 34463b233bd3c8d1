"""Partitions of Dask arrays and data frames."""

import math
from typing import Any, NamedTuple

from structsvm.distributed.sources.given import is_call
from structsvm.distributed.survey import partition
from structsvm.exceptions import InputError, quoted


class _Roles(NamedTuple):
    """What the vectors beside X are called, and what they are."""

    y: Any
    qid: Any
    sample_weight: Any


def of_collections(X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> tuple[list[Any], list[str]]:
    """Return the partitions of Dask arrays or data frames as delayed calls, and what messages call them.

    Parameters
    ----------
    X : features, an array of which no chunk splits rows, or a data frame.
    y, qid, sample_weight : a vector with the chunks of X, of an array or a data frame; or, where X is a data frame, the
        name of one of its columns, which is then no feature. None: there are none.

    Raises
    ------
    InputError : when they do not fit each other; it says which.
    """
    roles = _Roles(y, qid, sample_weight)
    X, vectors = _columns_apart(X, roles)
    if is_frame(X):
        _require_no_text(X)
    rows = _row_chunks(X)
    blocks = [_blocks("X", X)]
    for name, values in vectors._asdict().items():
        if values is None:
            blocks.append([None] * len(blocks[0]))
            continue
        blocks.append(_blocks(name, _alike(name, values, rows)))
        if len(blocks[-1]) != len(blocks[0]):
            raise InputError(
                f"{name} is in {len(blocks[-1])} partitions and X in {len(blocks[0])}: they must be in the same, "
                "row by row: repartition one like the other"
            )
    from dask import delayed

    names = [f"partition {k}" for k in range(len(blocks[0]))]
    make = delayed(partition, pure=False)
    return [make(name, *of_one) for name, *of_one in zip(names, *blocks, strict=True)], names


def is_frame(X: Any) -> bool:
    """Say whether it is a Dask data frame."""
    return not is_call(X) and hasattr(X, "dask") and hasattr(X, "columns") and hasattr(X, "map_partitions")


def made_of(values: Any, name: str) -> str:
    """Say what makes a collection of an array or a data frame of this process; ``name`` is what the user calls it."""
    if hasattr(values, "iloc"):
        return f"dask.dataframe.from_pandas({name}, npartitions=8, sort=False) makes a Dask data frame of it"
    chunks = "(100_000, -1)" if getattr(values, "ndim", 2) == 2 else "100_000"
    return f"dask.array.from_array({name}, chunks={chunks}) makes an array of it"


def _columns_apart(X: Any, roles: _Roles) -> tuple[Any, _Roles]:
    """Return the features of a data frame without the columns that are something else, and these."""
    named = {role: name for role, name in roles._asdict().items() if isinstance(name, str)}
    if not named:
        return X, roles
    if not is_frame(X):
        role, name = next(iter(named.items()))
        raise InputError(f"{role}={name!r} names a column, and X is no data frame: pass the vector itself")
    columns = list(map(str, X.columns))
    for role, name in named.items():
        if name not in columns:
            shown = ", ".join(quoted(each) for each in columns[:12]) + ", ..." * (len(columns) > 12)
            raise InputError(f"X has no column {name!r}, which {role} names: there are {shown}")
    features = X[[name for name in X.columns if name not in named.values()]]
    return features, roles._replace(**{role: X[name] for role, name in named.items()})


def _require_no_text(X: Any) -> None:
    """Require that no column of a data frame is said to be text: those of objects tell at the workers what they hold.

    Raises
    ------
    InputError : it names the columns, and how to leave them out.
    """
    texts = [name for name, dtype in X.dtypes.items() if str(dtype).startswith(("str", "string", "large_string"))]
    if texts:
        listed = ", ".join(repr(name) for name in texts)
        one = len(texts) == 1
        raise InputError(
            f"the column{'' if one else 's'} {listed} of X {'is' if one else 'are'} text, and features are numbers: "
            f"frame.drop(columns=[{listed}]) leaves {'it' if one else 'them'} out"
        )


def _row_chunks(X: Any) -> tuple[float, ...] | None:
    """Return the numbers of rows of the chunks of an array; None of a data frame, which does not know them."""
    if is_frame(X):
        return None
    if getattr(X, "ndim", 0) != 2:
        raise InputError(
            f"X must be a matrix, with a document a row and a feature a column, got {getattr(X, 'ndim', 0)} dimensions"
        )
    if len(X.chunks[1]) != 1:
        raise InputError(
            f"the chunks of X split its {X.shape[1]} columns in {len(X.chunks[1])}, and a document must be in one: "
            "X.rechunk({1: -1}) joins them"
        )
    return tuple(X.chunks[0])


def _alike(name: str, values: Any, rows: tuple[float, ...] | None) -> Any:
    """Return a vector in the chunks of X, where their lengths are known."""
    chunks = getattr(values, "chunks", None)
    if not hasattr(values, "dask"):
        raise InputError(
            f"{name} must be a Dask array or series like X, got a {type(values).__name__}: {made_of(values, name)}"
        )
    if rows is None or chunks is None or any(map(math.isnan, [*rows, *chunks[0]])):
        return values
    if chunks[0] == rows:
        return values
    n, found = int(sum(rows)), int(sum(chunks[0]))
    if n != found:
        hint = ""
        if name == "qid" and values.dtype.kind in "iu" and 2 * found <= n:
            hint = (
                ". Are these group sizes, which are not taken? numpy.repeat(numpy.arange(len(group)), group) makes ids "
                "of them"
            )
        raise InputError(f"{name} must have a number for each of the {n:,} rows of X, it has {found:,}{hint}")
    return values.rechunk((rows,))


def _blocks(name: str, values: Any) -> list[Any]:
    """Return the partitions of a collection as delayed calls."""
    blocks = values.to_delayed()
    found: list[Any] = blocks.ravel().tolist() if hasattr(blocks, "ravel") else list(blocks)
    if not found:
        raise InputError(f"{name} has no partitions")
    return found
