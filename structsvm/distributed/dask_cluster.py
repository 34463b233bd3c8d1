"""A cluster of Dask workers, whose partitions are futures."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from structsvm.distributed.cluster import ARITY, Answer, Call, Cluster, Kept, merge, merged, size_of
from structsvm.distributed.workers import Workers, WorkersLost, open_client
from structsvm.exceptions import ClusterError
from structsvm.foundation.settings import require_number

if TYPE_CHECKING:
    from distributed import Client, Future

_TRIES = 3
"""Attempts of a call if workers are lost."""

_SENT_ONCE = 2**16
"""Arguments above this size in bytes are sent once to every worker instead of with every task."""

_BYTES_HELD, _MOST_HELD = 2**20, 64
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
    timeout : seconds without a finished task after which a wait is abandoned.

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
        self._held: list[Future[Any]] = []
        self._bytes_held = 0

    def keep(self, function: Callable[..., Any], parts: Sequence[Any], *each: Sequence[Any]) -> list[Kept]:
        """Apply a function to each part at the workers, and keep the results there; values of this process are sent."""
        from distributed import Future

        name = f"structsvm-{function.__name__.strip('_')}-{uuid4().hex}"
        chosen = {} if all(isinstance(part, Future) for part in parts) else self.workers.places()
        places = [place for place, threads in sorted(chosen.items()) for _ in range(threads)] or [""]

        def made() -> "list[Future[Any]]":
            return [
                self.workers.client.submit(
                    *(function, *arguments),
                    key=f"{name}-{number}",
                    pure=False,
                    **self._at("" if isinstance(arguments[0], Future) else places[number * len(places) // len(parts)]),
                )
                for number, arguments in enumerate(zip(parts, *each, strict=True))
            ]

        futures = self.workers.together(made)
        if chosen:
            self.workers.let_go(self.workers.settle(futures, chosen))
        return futures

    def ask(self, function: Callable[..., Any], kept: Sequence[Kept], *arguments: Any) -> list[Any]:
        """Apply a function to each kept result, and return the answers in order."""
        answers: dict[int, Any] = self.total(_numbered, kept, function, *arguments).values
        return [answers[number] for number in range(len(kept))]

    def total(self, function: Callable[..., Answer], kept: Sequence[Kept], *arguments: Any) -> Any:
        """Apply a function to each kept result, and return the merged answers."""
        began = time.monotonic()
        for attempt in range(_TRIES):
            try:
                found, groups = self._total(function, kept, arguments)
                break
            except WorkersLost as error:
                self._places.clear()
                if attempt == _TRIES - 1:
                    raise ClusterError(f"{error}. This happened {_TRIES} times. {self.workers.present()}") from error
        if found.elsewhere:
            self._places.clear()
        down, wall = size_of(arguments), time.monotonic() - began
        self.count(Call(_name(function, arguments), groups, down, found.up, found.seconds, wall))
        return found.answer

    def _total(
        self, function: Callable[..., Answer], kept: Sequence[Kept], arguments: tuple[Any, ...]
    ) -> "tuple[_Timed, int]":
        groups = self._groups(kept)
        name = f"structsvm-{_name(function, arguments)}-{uuid4().hex}"
        sent: Any = self.workers.send(arguments) if size_of(arguments) > _SENT_ONCE else arguments
        submit = self.workers.client.submit

        def made() -> "list[Future[Any]]":
            answers = [
                submit(
                    *(_answer, [kept[i] for i in numbers], numbers, place, function, sent),
                    key=f"{name}-{group}",
                    pure=False,
                    **self._at(place),
                )
                for group, (place, numbers) in enumerate(groups)
            ]
            self._held += answers
            while len(answers) > ARITY:
                answers = [
                    submit(merge, answers[i : i + ARITY], key=f"{answers[i].key}-merged", pure=False)
                    for i in range(0, len(answers), ARITY)
                ]
                self._held += answers
            return answers

        began = time.monotonic()
        try:
            found: _Timed = merge(self.workers.answers(made, self._threads, kept))
            self._bytes_held += found.up * len(groups)
        finally:
            many = self._bytes_held > _BYTES_HELD or len(self._held) > _MOST_HELD
            if many or time.monotonic() - began > _SHORT:
                self._held, self._bytes_held = [], 0
        return found, len(groups)

    def _groups(self, kept: Sequence[Kept]) -> list[tuple[str, list[int]]]:
        """Group the numbers of kept results by the answering thread; "" stands for results that are recomputed."""
        if any(each.key not in self._places for each in kept):
            found = self.workers.ask_scheduler("who_has", keys=[each.key for each in kept])
            alive = {key: place for key, place in self._places.items() if key in self.workers.client.futures}
            self._places = alive | {key: next(iter(places), "") for key, places in found.items()}
            self._threads = self.workers.places()
        nowhere = [("", [number]) for number, each in enumerate(kept) if not self._places.get(each.key)]
        by_place: dict[str, list[int]] = {}
        for number, each in enumerate(kept):
            if place := self._places.get(each.key, ""):
                by_place.setdefault(place, []).append(number)
        shares = [
            (place, numbers[start :: min(self._threads.get(place, 1), len(numbers))])
            for place, numbers in by_place.items()
            for start in range(min(self._threads.get(place, 1), len(numbers)))
        ]
        return sorted([*shares, *nowhere], key=lambda share: share[1])

    @staticmethod
    def _at(place: str) -> dict[str, Any]:
        """Return the arguments of `submit` that prefer a worker but allow others."""
        return {"workers": place, "allow_other_workers": True} if place else {}


@frozen(eq=False)
class _Timed:
    """An answer with its cost: seconds per shard, bytes of the largest answer, and whether another worker gave it."""

    answer: Any
    seconds: tuple[float, ...]
    up: int
    elsewhere: bool

    def merged(self, others: "Sequence[_Timed]") -> "_Timed":
        every = [self, *others]
        return _Timed(
            merge([each.answer for each in every]),
            tuple(taken for each in every for taken in each.seconds),
            max(each.up for each in every),
            any(each.elsewhere for each in every),
        )


@frozen(eq=False)
class _Numbered:
    """Answers by the number of the partition, not merged."""

    values: dict[int, Any]

    def merged(self, others: "Sequence[_Numbered]") -> "_Numbered":
        return _Numbered({number: value for each in (self, *others) for number, value in each.values.items()})


def _answer(
    shards: Sequence[Any], numbers: Sequence[int], place: str, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> _Timed:
    from distributed import get_worker

    answers, seconds = [], []
    for number, shard in zip(numbers, shards, strict=True):
        began = time.perf_counter()
        named = (number,) if function is _numbered else ()
        answers.append(function(shard, *named, *arguments))
        seconds.append(time.perf_counter() - began)
    answer = merged(answers)
    return _Timed(answer, tuple(seconds), size_of(answer), get_worker().address != place)


def _numbered(shard: Any, number: int, function: Callable[..., Any], *arguments: Any) -> _Numbered:
    return _Numbered({number: function(shard, *arguments)})


def _name(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    named = arguments[0] if function is _numbered else function
    return str(named.__name__)
