"""Run tasks on Dask workers, one thread each, with a time limit for every wait."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from structsvm.exceptions import ClusterError, InputError, brief
from structsvm.foundation.compute.threads import using
from structsvm.foundation.extras import needed

if TYPE_CHECKING:
    from distributed import Client, Future

_SOON = 10.0
"""Seconds to wait for the number of workers after an error."""

_PACKAGE = __name__.partition(".")[0]

_LOOK = 5.0
"""Seconds without a finished task after which the driver checks that workers exist."""


@frozen(eq=False)
class Workers:
    """The workers of a Dask client; ``timeout`` is in seconds without a finished task."""

    client: Any
    timeout: float

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task and return its future; the result stays at the worker."""
        key = f"structsvm-{function.__name__.strip('_')}-{uuid4().hex}"
        return self.client.submit(_alone, function, *arguments, key=key, pure=False)

    def together(self, make: Callable[[], "list[Future[Any]]"]) -> "list[Future[Any]]":
        """Call ``make``, which submits tasks, on the client's own thread, so that all tasks leave in one message."""

        async def submit() -> "list[Future[Any]]":
            return make()

        with self._in_time("new tasks are left"):
            futures: list[Future[Any]] = self.client.sync(submit, callback_timeout=self.timeout)
        return futures

    def answers(
        self, make: Callable[[], "list[Future[Any]]"], places: Collection[str] = (), after: Sequence[Any] = ()
    ) -> list[Any]:
        """Submit tasks as `together`, and return their results as `fetch`, with fewer messages if tasks are fast."""
        futures: list[Future[Any]] = []

        async def gather() -> Any:
            futures.extend(make())
            return await self.client.gather(futures, errors="skip", asynchronous=True)

        try:
            with _telling_lost():
                results: list[Any] = self.client.sync(gather, callback_timeout=min(_LOOK, self.timeout))
        except TimeoutError:
            results = []
        return results if 0 < len(futures) == len(results) else self.fetch(futures, places, after)

    def settle(self, futures: Sequence[Any], places: Collection[str] = ()) -> list[Any]:
        """Return the futures of tasks at these workers; raise ClusterError after ``timeout`` idle seconds."""
        from distributed import wait

        pending: Sequence[Any] = list(futures)
        until = time.monotonic() + self.timeout
        while pending:
            left = until - time.monotonic()
            try:
                with _telling_lost():
                    done, waiting = wait(pending, timeout=max(min(left, _LOOK), 0.001), return_when="FIRST_COMPLETED")
            except TimeoutError as error:
                if left <= _LOOK:
                    raise self._late(_left(len(pending), "task")) from error
                self._require_one_of(places)
                continue
            for future in done:
                require_finished(future)
            pending, until = list(waiting), time.monotonic() + self.timeout
        return list(futures)

    def fetch(self, futures: Sequence[Any], places: Collection[str] = (), after: Sequence[Any] = ()) -> list[Any]:
        """Return small results; see `settle`. The timeout begins again when one of the tasks ``after`` has finished."""
        self.settle([*after, *futures], places)
        with self._in_time(_left(len(futures), "result")):
            gather = partial(self.client.gather, futures, asynchronous=True)
            return list(self.client.sync(gather, callback_timeout=self.timeout))

    def send(self, value: Any) -> Any:
        """Send a value to all workers once; return its future."""
        with self._in_time("values to be sent are left"):
            return self.client.scatter([value], broadcast=True, hash=False, timeout=self.timeout)[0]

    def let_go(self, futures: "Sequence[Future[Any]]") -> None:
        """Allow any worker to compute futures again; Dask would wait for a preferred worker forever."""
        self.ask_scheduler("set_restrictions", worker={future.key: [] for future in futures})

    def places(self, timeout: float | None = None) -> dict[str, int]:
        """Return the number of threads by worker address; see `ask_scheduler`."""
        threads: dict[str, int] = self.ask_scheduler("ncores", timeout=timeout)
        return threads

    def ask_scheduler(self, question: str, *, timeout: float | None = None, **arguments: Any) -> Any:
        """Call a function of the scheduler; ClusterError after a time limit, which Dask's own calls lack."""
        try:
            return self.client.sync(
                lambda: getattr(self.client.scheduler, question)(**arguments), callback_timeout=timeout or self.timeout
            )
        except (OSError, RuntimeError, AttributeError) as error:
            # A closed client raises the same errors.
            raise ClusterError("the scheduler cannot be reached: check that the cluster is running") from error

    def present(self) -> str:
        """Describe the current number of workers, if the scheduler answers."""
        try:
            count = len(self.places(_SOON))
        except ClusterError as error:
            return str(error)
        if not count:
            return "There are no workers left: start some"
        return f"There {'is 1 worker' if count == 1 else f'are {count} workers'}; set timeout=... to wait longer"

    def _require_one_of(self, places: Collection[str]) -> None:
        """Raise `WorkersLost` if all these workers are gone, because Dask lets their tasks wait for them."""
        present = set(self.places())
        if present and places and not present & set(places):
            raise _lost("all of them are gone, and others came")

    @contextmanager
    def _in_time(self, what: str) -> Iterator[None]:
        """Turn a timeout into ClusterError; ``what`` describes the unfinished work."""
        try:
            with _telling_lost():
                yield
        except TimeoutError as error:
            raise self._late(what) from error

    def _late(self, what: str) -> ClusterError:
        return ClusterError(f"the workers were idle for {self.timeout:g} seconds, but {what}. {self.present()}")


def _left(count: int, what: str) -> str:
    return f"1 {what} is left" if count == 1 else f"{count} {what}s are left"


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    # A worker has one thread for each of its current tasks.
    with using(1):
        return function(*arguments)


def assigned_workers(places: Mapping[str, int], count: int) -> list[str]:
    """Return a worker for each of ``count`` tasks, evenly over the threads of ``places``; "" without places."""
    threads = [place for place, number in sorted(places.items()) for _ in range(number)] or [""]
    return [threads[number * len(threads) // count] for number in range(count)]


def preferring(place: str) -> dict[str, Any]:
    """Return Dask's arguments that prefer a worker, but allow others; none for ""."""
    return {"workers": [place], "allow_other_workers": True} if place else {}


class WorkersLost(ClusterError):
    """A task or its input was lost with a worker, a connection or the client."""


@contextmanager
def _telling_lost() -> Iterator[None]:
    """Raise `WorkersLost` for Dask's errors about lost workers; code inside must not raise errors of tasks."""
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    cancelled = concurrent.futures.CancelledError, asyncio.CancelledError
    try:
        yield
    except (*cancelled, CommClosedError, ClosedClientError) as error:
        raise _lost(" ".join(str(error).split()) or type(error).__name__) from error


def require_finished(future: "Future[Any]") -> None:
    """Raise the error of a finished future: its task's error, `WorkersLost`, or InputError for versions."""
    from distributed.scheduler import KilledWorker

    if future.status == "finished":
        return
    if future.status == "error":
        try:
            future.result()
        except KilledWorker as error:
            raise _lost(str(error)) from error
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != _PACKAGE:
                raise
            raise InputError(
                f"a worker cannot import {error.name}: install the version of this process on all workers, with pip "
                f"install structural-svm=={version('structural-svm')}"
            ) from error
    raise _lost(f"the task {future.key} is {future.status}")


def _lost(what: str) -> WorkersLost:
    return WorkersLost(
        f"a task was lost with its workers ({what}): workers may have too little memory, or data were cancelled, or "
        "were scattered by hand to a lost worker. Pass tasks or files, which can be computed again"
    )


def open_client(client: Any = None) -> "Client":
    """Return this Dask client, or the last one created, or the current task's; it must be open."""
    with needed("data on a cluster need Dask", "dask"):
        from distributed import Client, get_client
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise InputError(
                "there is no Dask client: connect to a cluster by distributed.Client('tcp://scheduler:8786'), or use "
                "the cores of this machine by distributed.Client(processes=True)"
            ) from None
    if not isinstance(client, Client):
        raise InputError(
            f"client must be a dask.distributed.Client or None, got {brief(client)}: make a client from the address of "
            "a scheduler, or from a cluster, by distributed.Client(...)"
        )
    if is_closed(client):
        raise InputError(
            "this client is closed: pass an open client, client=distributed.Client('tcp://scheduler:8786'), or None "
            "for the newest client, and read the partitions of the closed client again"
        )
    return client


def is_closed(client: "Client") -> bool:
    """Return whether a client is closed, so that its data are gone."""
    return client.status in ("closing", "closed")
