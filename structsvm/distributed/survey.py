"""What a worker finds out about the rows that it holds, and how it makes a partition of them."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.arrays import is_sparse
from structsvm.data import RankingData
from structsvm.distributed.partition import Partition, naming
from structsvm.estimators.inputs import checked_features, checked_labels
from structsvm.estimators.ranker import Ranker
from structsvm.exceptions import InputError
from structsvm.queries import Queries, row_weights
from structsvm.types import Vector

MOST_LABELS = 10_000
"""Different labels that are told of a partition: more than any loss has grades or classes of."""

_PARTS = "(X, y, qid) or (X, y, qid, sample_weight)"


@frozen(eq=False)
class Survey:
    """What the driver is told of a partition: some numbers, whatever its size.

    Parameters
    ----------
    name : what messages call the partition.
    rows, columns : shape of its features.
    dtype : type of these.
    sparse : whether they are CSR.
    names : names of the features, or None.
    labelled, weighted : whether it has labels, and weights.
    labels : its different labels, ascending; the first 10,000 where there are more.
    distinct : how many there are.
    positive : number of rows whose label is above 0.
    queries : number of queries; 0 where there are no query ids.
    kind : kind of the query ids, "i" for whole numbers, "f", "U" for text; "" where there are none.
    low, high : the least and the greatest of them.
    """

    name: str
    rows: int
    columns: int
    dtype: str
    sparse: bool
    names: tuple[str, ...] | None = field(repr=False)
    labelled: bool
    weighted: bool
    labels: NDArray[Any] = field(repr=False)
    distinct: int
    positive: int
    queries: int
    kind: str
    low: Any
    high: Any


def partition(name: str, X: Any, y: Any = None, qid: Any = None, weight: Any = None) -> Partition:
    """Make a partition of arrays or data frames, which are shared where they are float64 or float32 in C order, or CSR.

    Parameters
    ----------
    name : what messages call it.
    X, y, qid, weight : features, labels, query ids and weights of rows; None: there are none.

    Raises
    ------
    InputError : when they cannot be used, or do not fit each other; it names the partition.
    """
    with naming(name):
        probe = Ranker()
        rows = _features(probe, X)
        n = rows.shape[0]
        names = getattr(probe, "feature_names_in_", None)
        labels = None if y is None else checked_labels(_column(y), n)
        ids = None if qid is None else _ids(_column(qid), n)
        weights = None if weight is None else _weights(_column(weight), n)
        return Partition(rows, labels, ids, weights, None if names is None else tuple(map(str, names)))


def of_given(name: str, given: Any) -> Partition:
    """Make a partition of what a future or a delayed call returned.

    Parameters
    ----------
    name : what messages call it.
    given : what was returned: a tuple of features, labels, query ids and weights, of which the last ones may be
        missing; features alone; or what the readers of `structsvm.data` return.

    Raises
    ------
    InputError : when it is something else.
    """
    if isinstance(given, Partition):
        return given
    if len(getattr(given, "shape", ())) == 2:
        return partition(name, given)
    if isinstance(given, RankingData):
        made = partition(name, given.X, given.y, given.qid)
        return made._replace(names=given.feature_names)
    if not isinstance(given, tuple | list) or not 1 <= len(given) <= 4:
        kind = type(given).__name__
        raise InputError(
            f"{name} must return {_PARTS}, what the readers of structsvm.data return, or X alone where rows are only "
            f"scored, got a {kind}"
        )
    return partition(name, *given)


def survey(name: str, part: Partition) -> Survey:
    """Return what the driver is told of a partition."""
    X: Any = part.X
    labels = np.zeros(0) if part.y is None else np.unique(part.y)
    ids = _distinct(part)
    return Survey(
        name=name,
        rows=part.rows,
        columns=int(X.shape[1]),
        dtype=str(getattr(X, "dtype", type(X).__name__)),
        sparse=is_sparse(X),
        names=part.names,
        labelled=part.y is not None,
        weighted=part.sample_weight is not None,
        labels=labels[:MOST_LABELS],
        distinct=len(labels),
        positive=0 if part.y is None else int(np.count_nonzero(part.y > 0.0)),
        queries=len(ids),
        kind="" if part.qid is None else _kind(part.qid),
        low=ids.min().item() if len(ids) and ids.dtype.kind != "U" else min(ids.tolist(), default=None),
        high=ids.max().item() if len(ids) and ids.dtype.kind != "U" else max(ids.tolist(), default=None),
    )


def widened(part: Partition, columns: int) -> Partition:
    """Return a partition with further columns of zeros: a copy where features are dense."""
    X: Any = part.X
    if is_sparse(X):
        import scipy.sparse as sp

        return part._replace(X=sp.csr_array((X.data, X.indices, X.indptr), shape=(part.rows, columns)))
    wide = np.zeros((part.rows, columns), dtype=X.dtype)
    wide[:, : X.shape[1]] = X
    return part._replace(X=wide)


def as_csr(part: Partition) -> Partition:
    """Return a partition with features in CSR."""
    import scipy.sparse as sp

    X: Any = part.X
    return part._replace(X=sp.csr_array(X))


def distinct_ids(part: Partition) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different query ids, and of each row the number of its own among them."""
    queries = Queries.of(part.qid, part.rows)
    return queries.ids, queries.number


def query_weights(part: Partition) -> Vector:
    """Return the weight of each query of a partition, in order of appearance: they may all be 0, as others are not."""
    queries = Queries.of(part.qid, part.rows)
    if part.sample_weight is None or not part.sample_weight.any():
        return np.full(len(queries), 1.0 if part.sample_weight is None else 0.0)
    return queries.weights(part.sample_weight)


def _distinct(part: Partition) -> NDArray[Any]:
    return np.zeros(0) if part.qid is None else distinct_ids(part)[0]


def _kind(qid: NDArray[Any]) -> str:
    return "i" if qid.dtype.kind in "iub" else qid.dtype.kind


def _features(probe: Ranker, X: Any) -> Any:
    """Return features that are checked; of missing ones it is said what to do about them in partitions."""
    try:
        return checked_features(probe, X, min_rows=0)
    except InputError as error:
        if "FillMissing" not in str(error):
            raise
        raise InputError(
            f"{error}. They take the rows of one partition: call them in the function that returns it; or fill all "
            "before with one number, as by dask.array.where(dask.array.isnan(X), 0, X) or frame.fillna(0)"
        ) from None


def _column(values: Any) -> Any:
    """Return a vector of what may be a data frame of one column."""
    array = np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _ids(qid: NDArray[Any], n: int) -> NDArray[Any]:
    Queries.of(qid, n)
    if qid.dtype.kind == "O":
        texts = [value for value in qid.tolist() if isinstance(value, str)]
        return qid.astype(str) if len(texts) == n else np.asarray(qid.tolist())
    if qid.dtype.kind == "f" and (np.mod(qid, 1.0) == 0.0).all() and (np.abs(qid) < 2.0**53).all():
        return qid.astype(np.int64)  # pandas makes such numbers of whole ones where some rows have none
    return qid


def _weights(weight: NDArray[Any], n: int) -> Vector:
    if weight.shape == (n,) and not np.any(weight):
        return np.zeros(n)
    return row_weights(weight, n)
