"""Data on a cluster: partitions of whole queries that stay at their workers."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import getitem
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import DTypeLike, NDArray

from structsvm.distributed.partition import Partition, Survey, require_alike, survey_partition
from structsvm.distributed.sources import AS_READ, calls_of, require_none
from structsvm.distributed.sources.files import FileColumns, are_files
from structsvm.distributed.workers import Workers, assigned_workers, is_closed, open_client, preferring
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import require_number, require_switch


class Regions(NamedTuple):
    """Disjoint ascending closed ranges of query ids that several partitions may share."""

    low: list[Any]
    high: list[Any]


def overlaps(surveys: Sequence[Survey]) -> tuple[list[int], Regions]:
    """Return the partitions that may share queries, and the ranges of the shared ids; all ids must have one type."""
    filled = [k for k, survey in enumerate(surveys) if survey.queries]
    for k in filled:
        one, other = surveys[filled[0]], surveys[k]
        if one.kind != other.kind:
            raise InputError(
                f"query ids are {_KINDS.get(one.kind, 'numbers')} in {one.title} and "
                f"{_KINDS.get(other.kind, 'numbers')} in {other.title}: give all query ids one type"
            )
    filled.sort(key=lambda k: surveys[k].low)
    regions, reached = Regions([], []), None
    for k in filled:
        low, high = surveys[k].low, surveys[k].high
        if reached is not None and low <= reached:
            end = min(high, reached)
            if regions.high and low <= regions.high[-1]:
                regions.high[-1] = max(end, regions.high[-1])
            else:
                regions.low.append(low)
                regions.high.append(end)
        if reached is None or high > reached:
            reached = high
    touching = (
        k
        for k in filled
        if any(low <= surveys[k].high and surveys[k].low <= high for low, high in zip(*regions, strict=True))
    )
    return sorted(touching), regions


_KINDS = {"i": "whole numbers", "f": "numbers with fractions", "U": "texts"}


def split_queries(workers: Workers, parts: Sequence[Any], surveys: Sequence[Survey]) -> dict[Any, list[int]]:
    """Return the queries in several partitions, each with the numbers of these partitions."""
    numbers, regions = overlaps(surveys)
    if not numbers:
        return {}
    return shared(numbers, workers.fetch([workers.submit(ids_within, parts[k], regions) for k in numbers]))


def shared(numbers: Sequence[int], ids: Sequence[NDArray[Any]]) -> dict[Any, list[int]]:
    """Return the queries that several partitions with these numbers and ids share; see `split_queries`."""
    queries, holder = np.concatenate(ids), np.repeat(numbers, list(map(len, ids)))
    order = np.argsort(queries, kind="stable")
    again = queries[order[1:]] == queries[order[:-1]]
    split: dict[Any, list[int]] = {}
    for k in order[np.append(again, False) | np.append(False, again)].tolist():
        split.setdefault(queries[k].item(), []).append(int(holder[k]))
    return split


def split_error(surveys: Sequence[Survey], split: Mapping[Any, Sequence[int]]) -> InputError:
    """Return the error that names a split query and two of its partitions."""
    query = min(split, key=lambda query: tuple(split[query][:2]))
    first, second = (surveys[k].title for k in split[query][:2])
    more = f", and {len(split) - 1:,} more queries are split" if len(split) > 1 else ""
    return InputError(
        f"query {query} is in {first} and in {second}{more}. The rows of a query must be in one partition: pass "
        "shuffle=True to move them together. If they are two queries, give them different ids"
    )


def destinations(split: Mapping[Any, Sequence[int]]) -> dict[int, dict[Any, int]]:
    """Return the queries that leave each partition, with their new partitions, which take turns."""
    moves: dict[int, dict[Any, int]] = {}
    for turn, (query, partitions) in enumerate(split.items()):
        home = partitions[turn % len(partitions)]
        for source in partitions:
            if source != home:
                moves.setdefault(source, {})[query] = home
    return moves


def moved_together(workers: Workers, parts: Sequence[Any], split: Mapping[Any, Sequence[int]]) -> dict[int, Any]:
    """Move the rows of split queries together; return futures of the changed partitions by number."""
    moves = destinations(split)
    out = {k: workers.submit(leaving, parts[k], k, homes) for k, homes in moves.items()}
    changed = {}
    for k in {*moves, *(home for homes in moves.values() for home in homes.values())}:
        rest = workers.submit(getitem, out[k], k) if k in out else parts[k]
        senders = sorted(source for source, homes in moves.items() if k in homes.values())
        pieces = [workers.submit(getitem, out[source], k) for source in senders]
        changed[k] = workers.submit(joined_split, [rest, *pieces])
    return changed


def ids_within(part: Partition, regions: Regions) -> NDArray[Any]:
    """Return the query ids of a partition that are in the ranges."""
    ids = Queries.of(part.qid, part.rows).ids
    low, high = np.array(regions.low), np.array(regions.high)
    place = np.searchsorted(low, ids, side="right") - 1
    return np.asarray(ids[(place >= 0) & (ids <= high[np.maximum(place, 0)])])


def leaving(part: Partition, number: int, homes: Mapping[Any, int]) -> dict[int, Partition]:
    """Split the rows of a partition by destination; rows that stay have its own number."""
    queries = Queries.of(part.qid, part.rows)
    to = np.array([homes.get(query, number) for query in queries.ids.tolist()])[queries.number]
    return {int(k): _rows(part, to == k) for k in np.union1d(to, [number])}


def joined_split(parts: Sequence[Partition]) -> Partition:
    """Concatenate partitions, with the rows of each query together, in the order of the partitions."""
    title = parts[0].title
    parts = [part for part in parts if part.rows] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]._replace(title=title)
    X, y, qid, weight = map(_joined, *(part[:4] for part in parts))
    return Partition(X, y, qid, weight, parts[0].names, title)


def _joined(*values: Any) -> Any:
    if is_sparse(values[0]):
        import scipy.sparse as sp

        return sp.vstack(values, format="csr")
    return None if values[0] is None else np.concatenate(values)


def _rows(part: Partition, rows: NDArray[np.bool_]) -> Partition:
    X: Any = part.X
    y, qid, weight = (None if values is None else values[rows] for values in (part.y, part.qid, part.sample_weight))
    return part._replace(X=X[rows], y=y, qid=qid, sample_weight=weight)


TIMEOUT = 600.0
"""Seconds without a finished task after which a wait is abandoned."""


@frozen(eq=False)
class Partitions:
    """Partitions of whole queries at workers, as futures; they exist as long as this object."""

    workers: Workers = field(repr=False)
    parts: tuple[Any, ...] = field(repr=False)
    surveys: tuple[Survey, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        client: Any = None,
        timeout: float = TIMEOUT,
        shuffle: bool = False,
        columns: FileColumns = AS_READ,
    ) -> Self:
        """Make partitions from the arguments of `DaskRanker.fit`; other arguments are as in `read_partitions`."""
        require_number("timeout", timeout, above=0.0)
        if isinstance(X, cls):
            require_none(y, qid, sample_weight, "partitions")
            X.require_held()
            if client is not None:
                open_client(client)
            return evolve(X, workers=evolve(X.workers, timeout=timeout))
        workers = Workers(open_client(client), timeout)
        require_switch("shuffle", shuffle)
        calls = calls_of(X, y, qid, sample_weight, columns)
        places = workers.places() if are_files(X) else {}
        if places:
            preferred = zip(calls, assigned_workers(places, len(calls)), strict=True)
            parts = [workers.client.compute(call, **preferring(place)) for call, place in preferred]
        else:
            parts = workers.client.compute(calls)
        surveys = _surveyed(workers, parts, places)
        if places:
            workers.let_go(parts)
        return cls(workers, tuple(parts), surveys)._alike(free=are_files(X))._whole(shuffle)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(survey.rows for survey in self.surveys)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.first.columns

    @property
    def queries(self) -> int:
        """Number of queries."""
        return sum(survey.queries for survey in self.surveys)

    @property
    def first(self) -> Survey:
        """The survey of the first partition; all partitions share its properties in `ALIKE`."""
        return self.surveys[0]

    def require_held(self) -> None:
        """Raise InputError if the client is closed, because the partitions are gone then."""
        if is_closed(self.workers.client):
            raise InputError(
                "the client of these partitions is closed, so they no longer exist: read or make the partitions again "
                "with an open client"
            )

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Apply a function to each partition, and return its small answers; its errors are raised here."""
        return self.workers.fetch(self.map(function, *arguments))

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Apply a function to each partition, and return the futures of the results."""
        return [self.workers.submit(function, part, *arguments) for part in self.parts]

    def mapped(self, function: Callable[..., Any], *arguments: Any) -> Self:
        """Return new partitions, made by a function that keeps labels, names of features, and queries."""
        return evolve(self, parts=tuple(self.map(function, *arguments)))

    def __repr__(self) -> str:
        numbers = f"{self.queries:,} queries, {self.rows:,} documents, {self.n_features} features"
        return f"Partitions({len(self)} of them, {numbers}, {self.first.dtype})"

    def _alike(self, *, free: bool) -> Self:
        """Return the partitions that have rows; if ``free``, as for files, give them equal width and storage first."""
        filled = [k for k, survey in enumerate(self.surveys) if survey.rows]
        if not filled:
            raise InputError("all partitions are empty: pass at least one row")
        parts, surveys = [self.parts[k] for k in filled], [self.surveys[k] for k in filled]
        if free:
            width, sparse = max(survey.columns for survey in surveys), any(survey.sparse for survey in surveys)
            for k, survey in enumerate(surveys):
                columns = width if survey.names is None else survey.columns
                if (survey.sparse, survey.columns) != (sparse, columns):
                    parts[k] = self.workers.submit(with_features, parts[k], stored_alike, sparse, columns)
                    surveys[k] = evolve(survey, sparse=sparse, columns=columns)
        require_alike(surveys)
        return type(self)(self.workers, tuple(parts), tuple(surveys))

    def _whole(self, shuffle: bool) -> Self:
        """Return partitions of whole queries."""
        if not self.first.has_queries:
            return self
        split = split_queries(self.workers, self.parts, self.surveys)
        if not split:
            return self
        if not shuffle:
            raise split_error(self.surveys, split)
        changed = moved_together(self.workers, self.parts, split)
        surveys = dict(enumerate(self.surveys))
        surveys |= zip(changed, _surveyed(self.workers, list(changed.values())), strict=True)
        parts = tuple((dict(enumerate(self.parts)) | changed).values())
        return type(self)(self.workers, parts, tuple(surveys.values()))._alike(free=False)


def read_partitions(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    label: str = "label",
    qid: str = "qid",
    features: Iterable[str] | None = None,
    n_features: int | None = None,
    sparse: bool | None = None,
    dtype: DTypeLike = np.float64,
    shuffle: bool = False,
    client: Any = None,
    timeout: float = TIMEOUT,
) -> Partitions:
    """Let the workers of a cluster read files, one partition per file; the rows never reach this process.

    Parameters
    ----------
    paths : files as the workers see them: in LETOR's format, plain or compressed, or tables in CSV, TSV or Parquet.
    label, qid : tables: names of the columns of labels and query ids.
    features : tables: names of the feature columns; None: all other numeric columns, which every file must have.
    n_features : LETOR's format: number of columns. None: the largest index in the files; narrower files are copied
        once, to widen them.
    sparse : LETOR's format: True for CSR, False for dense. None: CSR if it takes less memory for any file.
    dtype : type of the features: float64, or float32, which takes half the memory.
    shuffle : whether to move the rows of a query in several files to one partition. False: raise InputError for such a
        query. Files without query ids, which have a file of query sizes, share no queries.
    client : Dask's client; None: the current client.
    timeout : seconds to wait for the next finished file.

    Raises
    ------
    ClusterError : no worker finished a file within ``timeout``.
    InputError, DataFormatError : as `structsvm.data.load_letor` and `structsvm.data.load_table`; or the files have
        different columns, or a query is in two files.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> from structsvm.data import write_letor
    >>> for k in range(2):
    ...     write_letor(f"part-{k}.txt", np.eye(4), [1, 0, 1, 0], np.array([1, 1, 2, 2]) + 2 * k)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     print(read_partitions(["part-0.txt", "part-1.txt"], client=client))
    Partitions(2 of them, 4 queries, 8 documents, 4 features, float64)
    """
    columns = FileColumns(label, qid, features, n_features, sparse, dtype)
    return Partitions.of(paths, client=client, timeout=timeout, shuffle=shuffle, columns=columns)


def _surveyed(workers: Workers, parts: Sequence[Any], places: Collection[str] = ()) -> tuple[Survey, ...]:
    """Wait for the partitions that the workers at ``places`` compute; return their surveys."""
    return tuple(workers.fetch([workers.submit(survey_partition, part) for part in parts], places, after=parts))


def with_features(part: Partition, function: Callable[..., Any], *arguments: Any) -> Partition:
    """Return a partition with features that a function makes of its features."""
    return part._replace(X=function(part.X, *arguments))


def stored_alike(X: Any, sparse: bool, columns: int) -> Any:
    """Return features as CSR or dense, with additional zero columns; dense features are copied."""
    if sparse:
        import scipy.sparse as sp

        X = sp.csr_array(X)
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], columns))
    wide = np.zeros((X.shape[0], columns), dtype=X.dtype)
    wide[:, : X.shape[1]] = X
    return wide
