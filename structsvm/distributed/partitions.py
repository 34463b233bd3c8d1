"""The data of a cluster: partitions of whole queries, which stay with the workers that hold them."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import DTypeLike, NDArray

from structsvm.distributed import whole_queries
from structsvm.distributed.sources import (
    FileColumns,
    are_files,
    is_call,
    of_collections,
    of_files,
    of_list,
    require_calls,
)
from structsvm.distributed.sources.collections import made_of
from structsvm.distributed.survey import MOST_LABELS, Survey, as_csr, survey, widened
from structsvm.distributed.workers import Workers, client_of
from structsvm.exceptions import InputError
from structsvm.settings import require_number, require_switch

LIMIT = 600.0
"""Seconds without a task that was done after which a wait is given up."""

_AS_READ = FileColumns()


@frozen(eq=False)
class Partitions:
    """Rows in partitions of whole queries, each held by a worker. Made by `of` and by `read_partitions`.

    They stay with the workers as long as this is kept, and are made again by Dask where a worker is lost.

    Parameters
    ----------
    workers : the workers that hold them.
    parts : a future of a `Partition` each.
    surveys : a summary of each.

    Examples
    --------
    >>> import dask
    >>> import numpy as np
    >>> from dask.distributed import Client
    >>> from structsvm.distributed import Partitions
    >>> parts = [dask.delayed((np.eye(2), np.array([1, 0]), np.array([query, query]))) for query in (1, 2, 3)]
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     data = Partitions.of(parts, client=client)
    ...     print(data, data.labels, data.ask(lambda part: part.rows))
    Partitions(3 of them, 3 queries, 6 documents, 2 features, float64) [0. 1.] [2, 2, 2]
    """

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
        limit: float = LIMIT,
        shuffle: bool = False,
        columns: FileColumns = _AS_READ,
    ) -> Self:
        """Make partitions from Dask collections, files, futures or delayed calls.

        Parameters
        ----------
        X : Dask's array or data frame, the paths of files, or a list of futures or delayed calls. Partitions stay as
            they are, but for the limit.
        y, qid, sample_weight : as `of_collections` has them; files and lists hold these themselves.
        client : Dask's; None: that which is found. Partitions stay with their own.
        limit : seconds after which a wait is given up in which the workers did nothing.
        shuffle : whether queries that are split over partitions are moved together; if not, they are refused.
        columns : what is in files.

        Raises
        ------
        InputError : when the data cannot be used, or do not fit each other; it says which and where; or when the client
            is closed.
        """
        require_number("limit", limit, above=0.0)
        if isinstance(X, cls):
            _require_none(y, qid, sample_weight, "partitions hold")
            X.require_held()
            if client is not None:
                open_client(client)
            return evolve(X, workers=evolve(X.workers, limit=limit))
        workers = Workers(open_client(client), limit)
        require_switch("shuffle", shuffle)
        calls, names = calls_of(X, y, qid, sample_weight, columns)
        parts = _compute(workers, calls, spread=are_files(X))
        made = cls(workers, tuple(parts), _surveys(workers, parts, names))
        return made._alike(free=are_files(X))._whole(shuffle)

    def __len__(self) -> int:
        """Return the number of partitions."""
        return len(self.parts)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(each.rows for each in self.surveys)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.surveys[0].columns

    @property
    def queries(self) -> int:
        """Number of queries."""
        return sum(each.queries for each in self.surveys)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features, or None."""
        return self.surveys[0].names

    @property
    def has_labels(self) -> bool:
        """Whether rows have labels."""
        return all(each.labelled for each in self.surveys)

    @property
    def has_queries(self) -> bool:
        """Whether rows have query ids."""
        return all(each.kind for each in self.surveys)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The different labels, ascending.

        Raises
        ------
        InputError : when there are more in a partition than are told of one.
        """
        for each in self.surveys:
            if each.distinct > MOST_LABELS:
                raise InputError(
                    f"{each.name} has {each.distinct:,} different labels, and a cluster learns from at most "
                    f"{MOST_LABELS:,} in a partition: round them to grades; what fits in one machine, Ranker takes as "
                    "it is"
                )
        return np.unique(np.concatenate([each.labels for each in self.surveys]))

    def require_held(self) -> None:
        """Require the client to be open: one that is closed lets go of what it had made.

        Raises
        ------
        InputError : when it is closed.
        """
        if _is_closed(self.workers.client):
            raise InputError(
                "the client of these partitions is closed, and they are gone with it: read or make the partitions "
                "again, with a client that is open"
            )

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Apply a function to each partition, and return the answers, which must be small; its errors are raised."""
        return self.workers.fetch(self.map(function, *arguments))

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Apply a function to each partition, and return the futures of the results."""
        return [self.workers.submit(function, part, *arguments) for part in self.parts]

    def mapped(self, function: Callable[..., Any], *arguments: Any) -> Self:
        """Apply a function to each partition, and return the new ones; names, numbers and queries of rows must stay."""
        return type(self)(self.workers, tuple(self.map(function, *arguments)), self.surveys)

    def __repr__(self) -> str:
        numbers = f"{self.queries:,} queries, {self.rows:,} documents, {self.n_features} features"
        return f"Partitions({len(self)} of them, {numbers}, {self.surveys[0].dtype})"

    def _alike(self, *, free: bool) -> Self:
        """Return partitions of one width, kind and type.

        Parameters
        ----------
        free : whether they may be made so where they are not, as those of files, which each were read alone.

        Raises
        ------
        InputError : when they are not alike; it names two that differ.
        """
        parts, surveys = list(self.parts), self.surveys
        filled = [k for k, each in enumerate(surveys) if each.rows]
        if not filled:
            raise InputError("there are no rows in any partition")
        width = max(surveys[k].columns for k in filled)
        csr = any(surveys[k].sparse for k in filled)
        if free:
            for k, each in enumerate(surveys):
                if csr and not each.sparse:
                    parts[k] = self.workers.submit(as_csr, parts[k])
                if each.columns != width and each.names is None:
                    parts[k] = self.workers.submit(widened, parts[k], width)
            changed = [k for k in range(len(parts)) if parts[k] is not self.parts[k]]
            surveys = self._surveyed_again(parts, changed)
        first = surveys[filled[0]]
        for k in filled[1:]:
            each = surveys[k]
            for what, one, other in (
                ("features", first.columns, each.columns),
                ("names of features", first.names, each.names),
                ("numbers of type", first.dtype, each.dtype),
                ("rows in CSR", first.sparse, each.sparse),
                ("labels", first.labelled, each.labelled),
                ("query ids", bool(first.kind), bool(each.kind)),
                ("sample weights", first.weighted, each.weighted),
            ):
                if one != other:
                    raise InputError(_difference(what, first.name, one, each.name, other))
        kept = filled if len(filled) < len(parts) else range(len(parts))
        return type(self)(self.workers, tuple(parts[k] for k in kept), tuple(surveys[k] for k in kept))

    def _whole(self, shuffle: bool) -> Self:
        """Return partitions of whole queries."""
        if not self.has_queries:
            return self
        split, shared = whole_queries.find(self.workers, self.parts, self.surveys)
        if not split.count:
            return self
        if not shuffle:
            whole_queries.refuse(self.workers, self.parts, self.surveys, split)
            return self
        parts = list(self.parts)
        changed = whole_queries.move(self.workers, parts, split, shared)
        for k, part in changed.items():
            parts[k] = part
        surveys = self._surveyed_again(parts, sorted(changed))
        kept = [k for k, each in enumerate(surveys) if each.rows]
        return type(self)(self.workers, tuple(parts[k] for k in kept), tuple(surveys[k] for k in kept))

    def _surveyed_again(self, parts: Sequence[Any], changed: Sequence[int]) -> tuple[Survey, ...]:
        names = [self.surveys[k].name for k in changed]
        found = _surveys(self.workers, [parts[k] for k in changed], names)
        surveys = list(self.surveys)
        for k, each in zip(changed, found, strict=True):
            surveys[k] = each
        return tuple(surveys)


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
    limit: float = LIMIT,
) -> Partitions:
    """Let the workers read files, one partition each: the driver reads none, and holds none of the rows.

    Parameters
    ----------
    paths : files as the workers see them: in LETOR's format, plain or compressed, or tables in CSV, TSV or Parquet.
    label, qid : tables: names of the columns of labels and query ids.
    features : tables: names of those of features; None: all other columns of numbers, which all must have.
    n_features : LETOR's format: number of columns. None: the largest index in the files; where one has a smaller, its
        features are copied once, to as many columns.
    sparse : LETOR's format: True for CSR, False for dense. None: what takes less memory; CSR, if it does for any file.
    dtype : type of the features: float64, or float32, which takes half the memory.
    shuffle : whether queries that are in several files are moved together; if not, they are refused. Queries whose
        sizes are in a file beside, so that they have no ids, are numbered apart.
    client : Dask's; None: that which is found.
    limit : seconds after which a wait is given up in which no file was read.

    Raises
    ------
    ClusterError : when the workers did nothing for too long.
    InputError, DataFormatError : as `structsvm.data.load_letor` and `structsvm.data.load_table`; and when files do not
        fit each other, or a query is in two.

    Examples
    --------
    >>> import numpy as np
    >>> from dask.distributed import Client
    >>> from structsvm.data import write_letor
    >>> from structsvm.distributed import read_partitions
    >>> for k in range(2):
    ...     write_letor(f"part-{k}.txt", np.eye(4), [1, 0, 1, 0], np.array([1, 1, 2, 2]) + 2 * k)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     found = read_partitions(["part-0.txt", "part-1.txt"], client=client)
    ...     print(found)
    Partitions(2 of them, 4 queries, 8 documents, 4 features, float64)
    """
    columns = FileColumns(label, qid, features, n_features, sparse, dtype)
    return Partitions.of(paths, client=client, limit=limit, shuffle=shuffle, columns=columns)


def open_client(given: Any = None) -> Any:
    """Return Dask's client, as `client_of` does, which must be open.

    Raises
    ------
    NotInstalledError, InputError : as `client_of`; and when it is closed.
    """
    client = client_of(given)
    if _is_closed(client):
        raise InputError(
            "this client is closed: give one that is open, as client=distributed.Client('tcp://scheduler:8786'), or "
            "client=None for the one that was made last; partitions that the closed one had must be read again"
        )
    return client


def calls_of(
    X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None, columns: FileColumns = _AS_READ
) -> tuple[list[Any], list[str]]:
    """Return the delayed calls that make the partitions of what a user has, and what messages call these.

    The parameters are those of `Partitions.of`.

    Raises
    ------
    InputError : when it is nothing that is in partitions; it says what would be.
    """
    if is_call(X):
        raise InputError(
            f"X is a single {type(X).__name__}: futures and delayed calls are given in a list, one for each partition; "
            "[X] is the list of this one"
        )
    if are_files(X):
        _require_none(y, qid, sample_weight, "files hold")
        return of_files(X, columns)
    if isinstance(X, list | tuple):
        require_calls(X)
        _require_none(y, qid, sample_weight, "partitions hold")
        return of_list(X)
    if not (hasattr(X, "dask") and hasattr(X, "to_delayed")):
        raise InputError(
            f"X must be a Dask array or data frame, a list of files, or a list of futures or delayed calls, got a "
            f"{type(X).__name__}: {made_of(X, 'X')}; what fits in one machine, Ranker takes"
        )
    return of_collections(X, y, qid, sample_weight)


def _is_closed(client: Any) -> bool:
    return client.status in ("closing", "closed")


def _compute(workers: Workers, calls: Sequence[Any], *, spread: bool) -> list[Any]:
    """Return futures of delayed calls; where they are to be spread, those of as many to each thread of each worker."""
    client = workers.client
    places = workers.places() if spread else {}
    slots = [address for address, threads in sorted(places.items()) for _ in range(threads)]
    if not slots:
        return list(client.compute(list(calls)))
    made = [
        client.compute(call, workers=[slots[k % len(slots)]], allow_other_workers=True) for k, call in enumerate(calls)
    ]
    workers.let_go(workers.settle(made, places))
    return made


def _surveys(workers: Workers, parts: Sequence[Any], names: Sequence[str]) -> tuple[Survey, ...]:
    return tuple(workers.fetch([workers.submit(survey, name, part) for name, part in zip(names, parts, strict=True)]))


def _require_none(y: Any, qid: Any, sample_weight: Any, who: str) -> None:
    for name, given in (("y", y), ("qid", qid), ("sample_weight", sample_weight)):
        if given is not None:
            raise InputError(f"{name} must not be given, as {who} labels and query ids themselves")


def _difference(what: str, first: str, one: Any, second: str, other: Any) -> str:
    if isinstance(one, bool):
        having, lacking = (first, second) if one else (second, first)
        return f"{having} has {what}, and {lacking} has none: all partitions must be alike"
    if isinstance(one, int):
        return f"{first} has {one} {what}, and {second} has {other}: all partitions must be alike"
    return f"the {what} of {first} and of {second} differ ({_cut(one)}; {_cut(other)}): all partitions must be alike"


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
