"""A cluster of Dask workers, whose partitions are futures."""

import time
from collections import ChainMap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from structsvm.distributed.cluster import ARITY, Call, Cluster, merge, merged, size_of, timed
from structsvm.distributed.workers import Workers, WorkersLost, assigned_workers, open_client, preferring
from structsvm.exceptions import ClusterError
from structsvm.foundation.settings import require_number

if TYPE_CHECKING:
    from distributed import Client, Future

_TRIES = 3
"""Attempts of a call if workers are lost."""

_SENT_ONCE = 2**16
"""Arguments above this size in bytes are sent once to every worker instead of with every task."""

_MOST_BYTES, _MOST_ANSWERS = 2**20, 64
"""Bytes and number of answers that workers keep at most; all are released together, because a release costs 15 ms."""

_SHORT = 0.05
"""After a call longer than this, in seconds, answers are released, because the delay is relatively small."""


class DaskCluster(Cluster):
    """The workers of a Dask client, as a `Cluster`.

    If a worker is lost, Dask recomputes its results on other workers, unless a partition was scattered by hand. Each
    thread of a worker answers for all its shards in one task, and merges their answers.

    Parameters
    ----------
    client : the client; None: the client that was created last.
    timeout : seconds to wait for the next finished task.

    Raises
    ------
    NotInstalledError : Dask is missing.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> from structsvm.distributed import DistributedProblem, Partition
    >>> from structsvm.solvers import OneSlack
    >>> X = np.array([[1.0], [2.0]])
    >>> parts = [Partition(X, [0, 1], [1, 1]), Partition(2.0 * X, [0, 1], [2, 2])]
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     problem = DistributedProblem.from_queries(DaskCluster(client, timeout=60.0), parts, loss="map")
    ...     print(OneSlack().solve(problem).converged)
    True
    """

    def __init__(self, client: "Client | None" = None, *, timeout: float = 600.0) -> None:
        super().__init__()
        require_number("DaskCluster(timeout=...)", timeout, above=0.0)
        self.workers = Workers(open_client(client), float(timeout))
        self._places: dict[str, str] = {}
        self._threads: dict[str, int] = {}
        self._answers: list[Future[Any]] = []
        self._bytes = 0

    def keep(self, function: Callable[..., Any], parts: Sequence[Any], *columns: Sequence[Any]) -> list[Any]:
        """Apply a function to each part at the workers, and keep the results there; values of this process are sent."""
        from distributed import Future

        name = f"structsvm-{function.__name__.strip('_')}-{uuid4().hex}"
        places = {} if all(isinstance(part, Future) for part in parts) else self.workers.places()

        def submitted() -> "list[Future[Any]]":
            tasks = zip(assigned_workers(places, len(parts)), zip(parts, *columns, strict=True), strict=True)
            return [
                self.workers.client.submit(
                    *(function, *arguments),
                    key=f"{name}-{number}",
                    pure=False,
                    **preferring("" if isinstance(arguments[0], Future) else place),
                )
                for number, (place, arguments) in enumerate(tasks)
            ]

        futures = self.workers.together(submitted)
        if places:
            self.workers.let_go(self.workers.settle(futures, places))
        return futures

    def ask(self, function: Callable[..., Any], shards: Sequence[Any], *arguments: Any) -> list[Any]:
        """Apply a function to each kept result, and return the answers in order."""
        by_number: dict[int, Any] = self._call(function, shards, arguments, merging=False)
        return [by_number[number] for number in range(len(shards))]

    def total(self, function: Callable[..., Any], shards: Sequence[Any], *arguments: Any) -> Any:
        """Apply a function to each kept result, and return the merged answers."""
        return self._call(function, shards, arguments, merging=True)

    def _call(
        self, function: Callable[..., Any], shards: Sequence[Any], arguments: tuple[Any, ...], *, merging: bool
    ) -> Any:
        began = time.monotonic()
        for attempt in range(_TRIES):
            try:
                result, groups = self._timed(function, shards, arguments, merging=merging)
                break
            except WorkersLost as error:
                self._places.clear()
                if attempt == _TRIES - 1:
                    raise ClusterError(f"{error}. This happened {_TRIES} times. {self.workers.present()}") from error
        if result.elsewhere:
            self._places.clear()
        wall = time.monotonic() - began
        self.count(Call(function.__name__, groups, size_of(arguments), result.up, result.seconds, wall))
        return result.answer

    def _timed(
        self, function: Callable[..., Any], shards: Sequence[Any], arguments: tuple[Any, ...], *, merging: bool
    ) -> "tuple[_Timed, int]":
        groups = self._groups(shards)
        name = f"structsvm-{function.__name__}-{uuid4().hex}"
        sent: Any = self.workers.send(arguments) if size_of(arguments) > _SENT_ONCE else arguments
        submit = self.workers.client.submit

        def submitted() -> "list[Future[Any]]":
            answers = [
                submit(
                    *(_answer, [shards[i] for i in numbers], numbers, place, function, sent, merging),
                    key=f"{name}-{group}",
                    pure=False,
                    **preferring(place),
                )
                for group, (place, numbers) in enumerate(groups)
            ]
            self._answers += answers
            while len(answers) > ARITY:
                answers = [
                    submit(merge, answers[i : i + ARITY], key=f"{answers[i].key}-merged", pure=False)
                    for i in range(0, len(answers), ARITY)
                ]
                self._answers += answers
            return answers

        began = time.monotonic()
        try:
            result: _Timed = merge(self.workers.answers(submitted, self._threads, shards))
            self._bytes += result.up * len(groups)
        finally:
            many = self._bytes > _MOST_BYTES or len(self._answers) > _MOST_ANSWERS
            if many or time.monotonic() - began > _SHORT:
                self._answers, self._bytes = [], 0
        return result, len(groups)

    def _groups(self, shards: Sequence[Any]) -> list[tuple[str, list[int]]]:
        """Group the numbers of shards by the answering thread; "" stands for shards that are recomputed."""
        if any(shard.key not in self._places for shard in shards):
            holders = self.workers.ask_scheduler("who_has", keys=[shard.key for shard in shards])
            alive = {key: place for key, place in self._places.items() if key in self.workers.client.futures}
            self._places = alive | {key: next(iter(places), "") for key, places in holders.items()}
            self._threads = self.workers.places()
        by_place: dict[str, list[int]] = {}
        for number, shard in enumerate(shards):
            by_place.setdefault(self._places.get(shard.key, ""), []).append(number)
        groups = []
        for place, numbers in by_place.items():
            count = min(self._threads.get(place, 1), len(numbers)) if place else len(numbers)
            groups += [(place, numbers[start::count]) for start in range(count)]
        return sorted(groups, key=lambda group: group[1])


@frozen(eq=False)
class _Timed:
    """An answer, merged or by number, with seconds per shard, bytes of the largest, and whether its place changed."""

    answer: Any
    seconds: tuple[float, ...]
    up: int
    elsewhere: bool

    def merged(self, others: "Sequence[_Timed]") -> "_Timed":
        parts = [self, *others]
        answers = [part.answer for part in parts]
        return _Timed(
            dict(ChainMap(*answers)) if isinstance(self.answer, dict) else merge(answers),
            tuple(seconds for part in parts for seconds in part.seconds),
            max(part.up for part in parts),
            any(part.elsewhere for part in parts),
        )


def _answer(
    shards: Sequence[Any],
    numbers: Sequence[int],
    place: str,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    merging: bool,
) -> _Timed:
    from distributed import get_worker

    answers, seconds = timed(function, shards, arguments)
    answer = merged(answers) if merging else dict(zip(numbers, answers, strict=True))
    return _Timed(answer, seconds, size_of(answer), get_worker().address != place)
