"""Partitions, which are rows at one worker, and their summaries for the driver."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import CheckError, DataFormatError, InputError, OracleError, with_article
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import IntVector
from structsvm.training.scaling import ColumnRanges

MOST_LABELS = 10_000
"""Largest number of distinct labels in a partition; losses have fewer grades or classes."""

_WHOLE_NUMBERS = str.maketrans("ub", "ii")

ALIKE: Mapping[str, str] = {
    "features": "columns",
    "names of features": "names",
    "numbers of type": "dtype",
    "rows in CSR": "sparse",
    "labels": "labeled",
    "query ids": "has_queries",
    "sample weights": "weighted",
}
"""Properties that all partitions share, by their description in messages."""


class Partition(NamedTuple):
    """A partition of ranking data: whole queries.

    Parameters
    ----------
    X : features, shape (rows, d), dense, CSR or a `BinnedMatrix`; it may have no rows.
    y : labels, shape (rows,); None for rows without labels, which can only be scored.
    qid : query id of each row, shape (rows,); None: one query.
    sample_weight : weight of each row, the same for all rows of a query; None: all 1.
    names : names of the features, or None.
    title : name of the partition in messages.

    Examples
    --------
    >>> part = Partition(np.array([[1.0, 0.0], [0.5, 2.0]]), y=[1, 0], qid=[7, 7], names=("bm25", "age"))
    >>> part.rows, part.sample_weight is None
    (2, True)
    """

    X: Readable
    y: Any = None
    qid: Any = None
    sample_weight: Any = None
    names: tuple[str, ...] | None = None
    title: str = "the partition"

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


def as_partition(part: Any, title: str) -> Partition:
    """Return a `Partition` with this title; raise InputError for anything else."""
    if not isinstance(part, Partition) or len(getattr(part.X, "shape", ())) != 2:
        wrong = (
            type(part).__name__
            if not isinstance(part, Partition)
            else f"one with {with_article(type(part.X).__name__)} for X"
        )
        raise InputError(f"{title} must be a Partition with X of shape (rows, d), got {wrong}")
    return part._replace(title=title)


@contextmanager
def naming(partition: str) -> Iterator[None]:
    """Add the name of the partition to errors in the context, unless they name a file and a line."""
    try:
        yield
    except DataFormatError:
        raise
    except (CheckError, OracleError) as error:
        raise type(error)(f"{partition}: {error}") from error
    except InputError as error:
        if type(error).__init__ is not InputError.__init__:
            raise
        raise type(error)(f"{partition}: {error}") from None


@frozen(eq=False)
class Survey:
    """Summary of a partition; it has at most 10,000 ``labels``, so its size does not grow with the number of rows."""

    title: str
    rows: int
    columns: int
    dtype: str
    sparse: bool
    names: tuple[str, ...] | None = field(repr=False)
    labeled: bool
    weighted: bool
    labels: NDArray[Any] = field(repr=False)
    counts: IntVector = field(repr=False)
    distinct: int
    queries: int
    kind: str
    low: Any
    high: Any
    ranges: ColumnRanges | None = field(repr=False)

    @property
    def has_queries(self) -> bool:
        """Whether rows have query ids."""
        return bool(self.kind)


def survey_partition(part: Partition) -> Survey:
    """Return the summary of a partition."""
    X: Any = part.X
    with naming(part.title):
        labels, counts = np.unique([] if part.y is None else part.y, return_counts=True)
        ids = [] if part.qid is None else Queries.of(part.qid, part.rows).ids.tolist()
    return Survey(
        title=part.title,
        rows=part.rows,
        columns=int(X.shape[1]),
        dtype=str(getattr(X, "dtype", type(X).__name__)),
        sparse=is_sparse(X),
        names=part.names,
        labeled=part.y is not None,
        weighted=part.sample_weight is not None,
        labels=labels[:MOST_LABELS],
        counts=counts[:MOST_LABELS],
        distinct=len(labels),
        queries=len(ids),
        kind="" if part.qid is None else np.asarray(part.qid).dtype.kind.translate(_WHOLE_NUMBERS),
        low=min(ids, default=None),
        high=max(ids, default=None),
        ranges=_ranges(X) if part.rows else None,
    )


def labels_of(surveys: Sequence[Survey]) -> NDArray[Any]:
    """Return the distinct labels of partitions, ascending; raise InputError if a partition has too many."""
    for survey in surveys:
        if survey.distinct > MOST_LABELS:
            raise InputError(
                f"{survey.title} has {survey.distinct:,} different labels, but at most {MOST_LABELS:,} are supported: "
                "round them to grades, or use Ranker if the data fit one machine"
            )
    return np.unique(np.concatenate([survey.labels for survey in surveys]))


def require_alike(surveys: Sequence[Survey], properties: Mapping[str, str] = ALIKE) -> None:
    """Raise InputError that names two partitions with different properties."""
    first, *others = surveys
    for second in others:
        for what, name in properties.items():
            one, other = getattr(first, name), getattr(second, name)
            if one != other:
                differ = _difference(what, first.title, one, second.title, other)
                raise InputError(f"partitions must be alike: {differ}")


def require_ends_apart(surveys: Sequence[Survey]) -> None:
    """Raise InputError if the least or greatest query id of a partition is also in another partition."""
    holders: dict[Any, str] = {}
    for survey in surveys:
        for query in {survey.low, survey.high} - {None}:
            other = holders.setdefault(query, survey.title)
            if other != survey.title:
                raise InputError(
                    f"query {query} is in {other} and in {survey.title}: put the rows of a query in one partition, and "
                    "give queries of different partitions different ids"
                )


def _ranges(X: Any) -> ColumnRanges | None:
    is_matrix = isinstance(X, np.ndarray) or getattr(X, "format", "") == "csr"
    ranges = ColumnRanges.of(X) if is_matrix and X.dtype.kind == "f" else None
    return ranges if ranges is not None and ranges.far_apart else None


def _difference(what: str, first: str, one: Any, second: str, other: Any) -> str:
    if isinstance(one, bool):
        having, lacking = (first, second) if one else (second, first)
        return f"{having} has {what}, but {lacking} does not"
    if isinstance(one, int):
        return f"{first} has {one} {what}, but {second} has {other}"
    values = (text if len(text) <= 80 else f"{text[:80]}..." for text in map(str, (one, other)))
    return f"the {what} of {first} and of {second} differ ({'; '.join(values)})"
