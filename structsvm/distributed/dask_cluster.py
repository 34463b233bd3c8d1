"""Partitions at the workers of Dask, as plain futures."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from structsvm.distributed.cluster import ARITY, Answer, Call, Cluster, Kept, merge, merged, size_of
from structsvm.exceptions import ClusterError, InputError, NotInstalledError
from structsvm.settings import require_number

if TYPE_CHECKING:
    from distributed import Client, Future

_TRIES = 3
"""How often a call is made again that was lost with workers."""

SOON = 10.0
"""Seconds in which the scheduler says how many workers there are, once something has gone wrong."""

_LOOK = 5.0
"""Seconds without an answer after which workers are looked for."""

_SENT_ONCE = 2**16
"""Bytes of arguments above which they are sent to every worker, and not with every task."""


class DaskCluster(Cluster):
    """The workers of a Dask client.

    What is kept is a future at the worker where it was made, and depends on the future of its partition: where the
    worker is lost, Dask makes it again elsewhere, as long as it can make the partition again. Partitions that
    were scattered by hand, and are nowhere else, cannot be. A task is one shard's answer to one question, on one
    thread, at the worker that has the shard; answers are merged at workers too, 32 after 32.

    Parameters
    ----------
    client : the client; None: the one that was made last.
    limit : seconds that any call may take before it is given up: reading the data, or one question to all shards.

    Raises
    ------
    InputError : when there is no client.
    NotInstalledError : when Dask is missing.
    """

    def __init__(self, client: "Client | None" = None, *, limit: float = 600.0) -> None:
        super().__init__()
        require_number("DaskCluster(limit=...)", limit, above=0.0)
        self.client = client_of(client)
        self.limit = float(limit)
        self._places: dict[str, str] = {}
        self._threads: dict[str, int] = {}

    def keep(self, function: Callable[..., Any], parts: Sequence[Any], *each: Sequence[Any]) -> list[Kept]:
        """Have a function make something of each part, at the workers, which stays there.

        Parts that are values of this process are dealt out evenly; futures are used where they are.
        """
        from distributed import Future

        name = f"structsvm-{function.__name__.strip('_')}-{uuid4().hex}"
        places = [place for place, threads in sorted(self._places_of_work().items()) for _ in range(threads)] or [""]
        made = [
            self.client.submit(
                *(function, *arguments),
                key=f"{name}-{number}",
                pure=False,
                **self._at("" if isinstance(arguments[0], Future) else places[number * len(places) // len(parts)]),
            )
            for number, arguments in enumerate(zip(parts, *each, strict=True))
        ]
        self._wait(made)
        self.let_go(made)
        return made

    def let_go(self, futures: "Sequence[Future[Any]]") -> None:
        """Let what was made at a chosen worker be made again at any other.

        Dask keeps to a choice that allows others where all workers were lost, whoever comes afterwards.
        """
        self._scheduler("set_restrictions", worker={future.key: [] for future in futures})

    def _wait(self, futures: "Sequence[Future[Any]]") -> None:
        """Wait for futures, whose values stay where they are, and raise what the first of those raised that failed."""
        from distributed import wait

        try:
            with self._told():
                wait(futures, timeout=self.limit)
            for future in futures:
                require_finished(future)
        except WorkersLost as error:
            raise ClusterError(
                f"a partition was lost with its workers while it was made ({error}): they may have too little memory, "
                f"or its data were scattered by hand to one that is gone, or were cancelled. {self._left()}"
            ) from error

    def ask(self, function: Callable[..., Any], kept: Sequence[Kept], *arguments: Any) -> list[Any]:
        """Return what a function of each thing that is kept returns, in order."""
        answers: dict[int, Any] = self.total(_numbered, kept, function, *arguments).values
        return [answers[number] for number in range(len(kept))]

    def total(self, function: Callable[..., Answer], kept: Sequence[Kept], *arguments: Any) -> Any:
        """Return the merged answers of a function of each thing that is kept."""
        began = time.monotonic()
        for attempt in range(_TRIES):
            try:
                found, groups = self._total(function, kept, arguments, began + self.limit)
                break
            except WorkersLost as error:
                self._places.clear()
                if attempt == _TRIES - 1:
                    raise ClusterError(
                        f"a call was lost {_TRIES} times ({error}): workers die while they work on it, as where they "
                        f"have too little memory, or the data they had cannot be made again. {self._left()}"
                    ) from error
        if found.elsewhere:
            self._places.clear()
        down, wall = size_of(arguments), time.monotonic() - began
        self.count(Call(_name(function, arguments), groups, down, found.up, found.seconds, wall))
        return found.answer

    def _total(
        self, function: Callable[..., Answer], kept: Sequence[Kept], arguments: tuple[Any, ...], until: float
    ) -> "tuple[_Timed, int]":
        groups = self._groups(kept)
        name = f"structsvm-{_name(function, arguments)}-{uuid4().hex}"
        sent: Any = arguments
        with self._told():
            if size_of(arguments) > _SENT_ONCE:
                left = max(until - time.monotonic(), 0.001)
                sent = self.client.scatter([arguments], broadcast=True, hash=False, timeout=left)[0]
            answers = [
                self.client.submit(
                    *(_answer, [kept[i] for i in numbers], numbers, place, function, sent),
                    key=f"{name}-{group}",
                    pure=False,
                    **self._at(place),
                )
                for group, (place, numbers) in enumerate(groups)
            ]
            while len(answers) > ARITY:
                answers = [
                    self.client.submit(merge, answers[i : i + ARITY], key=f"{answers[i].key}-merged", pure=False)
                    for i in range(0, len(answers), ARITY)
                ]
        return merge(self._results(answers, until)), len(groups)

    def _groups(self, kept: Sequence[Kept]) -> list[tuple[str, list[int]]]:
        """Return the numbers of those that one thread of a worker answers for, with its address.

        One that is nowhere, as it is being made again, is answered for alone, where it will be.
        """
        if any(each.key not in self._places for each in kept):
            found = self._scheduler("who_has", keys=[each.key for each in kept])
            alive = {key: place for key, place in self._places.items() if key in self.client.futures}
            self._places = alive | {key: next(iter(places), "") for key, places in found.items()}
            self._threads = self._places_of_work()
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

    def _places_of_work(self, limit: float | None = None) -> dict[str, int]:
        """Return the addresses of workers, with the threads of each."""
        return places_of_work(self.client, limit or self.limit)

    def _scheduler(self, question: str, **arguments: Any) -> Any:
        """Return what the scheduler answers, within the limit; see `asked_of_scheduler`."""
        return asked_of_scheduler(self.client, self.limit, question, **arguments)

    @staticmethod
    def _at(place: str) -> dict[str, Any]:
        """Return what asks for a worker, or any other where it is lost."""
        return {"workers": place, "allow_other_workers": True} if place else {}

    def _results(self, futures: "Sequence[Future[Any]]", until: float) -> list[Any]:
        from distributed import as_completed

        results: dict[str, Any] = {}
        failed = None
        while failed is None and len(results) < len(futures):
            left = until - time.monotonic()
            pending = [future for future in futures if future.key not in results]
            wait = max(min(left, _LOOK), 0.001)
            try:
                with telling_lost():
                    for future, result in as_completed(pending, with_results=True, raise_errors=False, timeout=wait):
                        if future.status != "finished" or isinstance(result, BaseException):
                            failed = future
                            break
                        results[future.key] = result
            except TimeoutError as error:
                if left <= _LOOK:
                    raise self._late() from error
                self._require_old_workers()
        if failed is not None:
            require_finished(failed)
            raise WorkersLost(f"the task {failed.key} was lost while its result was fetched")
        return [results[future.key] for future in futures]

    def _require_old_workers(self) -> None:
        """Raise an error where there are new workers only: Dask has tasks wait for those that were chosen for them."""
        there = set(self._places_of_work())
        if there and self._threads and not there & set(self._threads):
            raise WorkersLost("all workers were lost, and others came")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell what Dask raises inside, of waits that were too long and of what is lost, in our words."""
        try:
            with telling_lost():
                yield
        except TimeoutError as error:
            raise self._late() from error

    def _late(self) -> ClusterError:
        return ClusterError(f"workers did not answer within {self.limit:g} seconds. {self._left()}")

    def _left(self) -> str:
        """Say how many workers there are, as far as the scheduler can be reached."""
        try:
            workers = len(self._places_of_work(limit=SOON))
        except ClusterError as error:
            return str(error)
        if not workers:
            return "There are no workers left: start some"
        return f"There {'is 1 worker' if workers == 1 else f'are {workers} workers'}; limit=... waits longer"


@frozen(eq=False)
class _Timed:
    """An answer with what it took: seconds a shard, bytes of the largest, and whether another worker gave it."""

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
    """Answers as they are, by the number of the partition."""

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


class WorkersLost(ClusterError):
    """Something was lost with a worker, a connection or the client: a task, or what it needed."""


@contextmanager
def telling_lost() -> Iterator[None]:
    """Raise `WorkersLost` for what Dask raises of lost workers, connections and clients: no place for a task's errors.

    A wait that was too long stays a `TimeoutError`.
    """
    from distributed import client
    from distributed.comm import CommClosedError

    closed = getattr(client, "ClosedClientError", CommClosedError)  # older versions have none
    cancelled = concurrent.futures.CancelledError, asyncio.CancelledError
    try:
        yield
    except (*cancelled, CommClosedError, closed) as error:
        raise WorkersLost(" ".join(str(error).split()) or type(error).__name__) from error


def require_finished(future: "Future[Any]") -> None:
    """Require of a future that is done that its task returned something.

    Raises
    ------
    WorkersLost : when workers died with the task again and again, or what it needed is lost or cancelled.
    Exception : what the task raised, whatever that is.
    """
    from distributed.scheduler import KilledWorker

    if future.status == "finished":
        return
    if future.status == "error":
        try:
            future.result()
        except KilledWorker as error:
            raise WorkersLost(str(error)) from error
    raise WorkersLost(f"the task {future.key} is {future.status}")


def asked_of_scheduler(client: "Client", limit: float, question: str, **arguments: Any) -> Any:
    """Return what the scheduler answers: Dask's own calls have no limit.

    Parameters
    ----------
    client : the client.
    limit : seconds.
    question, arguments : the name of what it is asked, and arguments of that.

    Raises
    ------
    ClusterError : when it does not answer in time, or cannot be reached.
    """

    async def answer() -> Any:
        return await getattr(client.scheduler, question)(**arguments)

    try:
        return client.sync(answer, callback_timeout=limit)
    except (OSError, RuntimeError, AttributeError) as error:  # of a client that is closed, too
        raise ClusterError("The scheduler cannot be reached") from error


def places_of_work(client: "Client", limit: float) -> dict[str, int]:
    """Return the addresses of workers, with the threads of each; see `asked_of_scheduler`."""
    threads: dict[str, int] = asked_of_scheduler(client, limit, "ncores")
    return threads


def client_of(given: Any = None) -> "Client":
    """Return Dask's client: what is given, or the one that was made last, or that of the task that this runs in.

    Raises
    ------
    NotInstalledError : Dask is missing.
    InputError : it is something else, or there is none; it says how to make one.
    """
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise NotInstalledError(
            f"Dask cannot be loaded ({error}): pip install 'structural-svm[dask]' brings what is needed"
        ) from error
    if given is None:
        try:
            return get_client()
        except ValueError:
            raise InputError(
                "there is no Dask client: client = distributed.Client('tcp://scheduler:8786') connects to a cluster, "
                "and distributed.Client(processes=True) makes one of the cores of this machine; it is then found, or "
                "client=client names it"
            ) from None
    if not isinstance(given, Client):
        raise InputError(f"client must be a dask.distributed.Client or None, got {given!r}")
    return given
