"""What is asked of the workers of Dask: tasks of one thread each, and a limit to every wait."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from structsvm.compute.threads import using
from structsvm.exceptions import ClusterError, InputError, NotInstalledError

if TYPE_CHECKING:
    from distributed import Client, Future

_SOON = 10.0
"""Seconds in which the scheduler says how many workers there are, once something has gone wrong."""

_PACKAGE = __name__.partition(".")[0]

_LOOK = 5.0
"""Seconds without a task that was done after which workers are looked for."""


@frozen(eq=False)
class Workers:
    """The workers of a client: all that is waited for of Dask is waited for here.

    Parameters
    ----------
    client : Dask's.
    limit : seconds after which a wait is given up in which no task was done.
    """

    client: Any
    limit: float

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a task, whose result stays where it is made."""
        key = f"structsvm-{function.__name__.strip('_')}-{uuid4().hex}"
        return self.client.submit(_alone, function, *arguments, key=key, pure=False)

    def together(self, make: Callable[[], "list[Future[Any]]"]) -> "list[Future[Any]]":
        """Return the futures of tasks that a function submits, all of them in one message.

        On its own thread the client sends nothing before the function is done.
        """

        async def made() -> "list[Future[Any]]":
            return make()

        with self._in_time("new tasks are left"):
            futures: list[Future[Any]] = self.client.sync(made, callback_timeout=self.limit)
        return futures

    def answers(self, make: Callable[[], "list[Future[Any]]"], chosen: Collection[str] = ()) -> list[Any]:
        """Return the results of tasks that a function submits, as `together` and then `fetch` do.

        Where all is well, and answers come soon, the client's own thread does all of it at one go.
        """
        futures: list[Future[Any]] = []

        async def asked() -> Any:
            futures.extend(make())
            return await self.client.gather(futures, errors="skip", asynchronous=True)

        try:
            with _telling_lost():
                results: list[Any] = self.client.sync(asked, callback_timeout=min(_LOOK, self.limit))
        except TimeoutError:
            results = []
        return results if 0 < len(futures) == len(results) else self.fetch(futures, chosen)

    def settle(self, futures: Sequence[Any], chosen: Collection[str] = ()) -> list[Any]:
        """Wait until results are there, at the workers, and return their futures.

        Parameters
        ----------
        futures : of tasks.
        chosen : workers that were chosen for them, though others may do: where all of these are gone, Dask has them
            wait, whoever comes.

        Raises
        ------
        ClusterError : when no task was done for longer than the limit.
        WorkersLost : when workers died with one again and again, or its data are gone, or those chosen are.
        Exception : what a task raised.
        """
        from distributed import wait

        pending: Sequence[Any] = list(futures)
        until = time.monotonic() + self.limit
        while pending:
            left = until - time.monotonic()
            try:
                with _telling_lost():
                    done, waiting = wait(pending, timeout=max(min(left, _LOOK), 0.001), return_when="FIRST_COMPLETED")
            except TimeoutError as error:
                if left <= _LOOK:
                    raise self._late(_left(len(pending), "task")) from error
                self._require_one_of(chosen)
                continue
            for future in done:
                require_finished(future)
            pending, until = list(waiting), time.monotonic() + self.limit
        return list(futures)

    def fetch(self, futures: Sequence[Any], chosen: Collection[str] = ()) -> list[Any]:
        """Return results, which are small; see `settle`."""
        settled = self.settle(futures, chosen)

        async def gathered() -> Any:
            return await self.client.gather(settled, asynchronous=True)

        with self._in_time(_left(len(settled), "result")):
            return list(self.client.sync(gathered, callback_timeout=self.limit))

    def send(self, value: Any) -> Any:
        """Send a value to all workers once, and return its future."""
        with self._in_time("values to be sent are left"):
            return self.client.scatter([value], broadcast=True, hash=False, timeout=self.limit)[0]

    def let_go(self, futures: "Sequence[Future[Any]]") -> None:
        """Let what was made at a chosen worker be made again at any other.

        Dask keeps to a choice that allows others where all workers were lost, whoever comes afterwards.
        """
        self.ask_scheduler("set_restrictions", worker={future.key: [] for future in futures})

    def places(self, limit: float | None = None) -> dict[str, int]:
        """Return the addresses of workers, with the threads of each; see `ask_scheduler`."""
        threads: dict[str, int] = self.ask_scheduler("ncores", limit=limit)
        return threads

    def ask_scheduler(self, question: str, *, limit: float | None = None, **arguments: Any) -> Any:
        """Return what the scheduler answers: Dask's own calls have no limit.

        Parameters
        ----------
        question, arguments : the name of what it is asked, and arguments of that.
        limit : seconds; None: those of all waits.

        Raises
        ------
        ClusterError : when it does not answer in time, or cannot be reached.
        """

        async def answer() -> Any:
            return await getattr(self.client.scheduler, question)(**arguments)

        try:
            return self.client.sync(answer, callback_timeout=limit or self.limit)
        except (OSError, RuntimeError, AttributeError) as error:  # of a client that is closed, too
            raise ClusterError("The scheduler cannot be reached") from error

    def present(self) -> str:
        """Say how many workers there are, as far as the scheduler can be reached."""
        try:
            count = len(self.places(_SOON))
        except ClusterError as error:
            return str(error)
        if not count:
            return "There are no workers left: start some"
        return f"There {'is 1 worker' if count == 1 else f'are {count} workers'}; limit=... waits longer"

    def _require_one_of(self, chosen: Collection[str]) -> None:
        """Raise an error where there are new workers only: Dask has tasks wait for those that were chosen for them."""
        there = set(self.places())
        if there and chosen and not there & set(chosen):
            raise _lost("all of them are gone, and others came")

    @contextmanager
    def _in_time(self, what: str) -> Iterator[None]:
        """Tell of a wait inside that was too long what is left."""
        try:
            with _telling_lost():
                yield
        except TimeoutError as error:
            raise self._late(what) from error

    def _late(self, what: str) -> ClusterError:
        return ClusterError(f"the workers did nothing for {self.limit:g} seconds, and {what}. {self.present()}")


def _left(count: int, what: str) -> str:
    return f"1 {what} is left" if count == 1 else f"{count} {what}s are left"


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    with using(1):  # a worker has a thread for each task that it runs at a time
        return function(*arguments)


class WorkersLost(ClusterError):
    """Something was lost with a worker, a connection or the client: a task, or what it needed."""


@contextmanager
def _telling_lost() -> Iterator[None]:
    """Raise `WorkersLost` for what Dask raises of lost workers, connections and clients: no place for a task's errors.

    A wait that was too long stays a `TimeoutError`.
    """
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    cancelled = concurrent.futures.CancelledError, asyncio.CancelledError
    try:
        yield
    except (*cancelled, CommClosedError, ClosedClientError) as error:
        raise _lost(" ".join(str(error).split()) or type(error).__name__) from error


def require_finished(future: "Future[Any]") -> None:
    """Require of a future that is done that its task returned something.

    Raises
    ------
    WorkersLost : when workers died with the task again and again, or what it needed is lost or cancelled.
    InputError : when this package is missing at a worker, or another there.
    Exception : what the task raised, whatever that is.
    """
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
                f"a worker cannot import {error.name}: pip install structural-svm=={version('structural-svm')}, the "
                "version that is here, wherever workers run"
            ) from error
    raise _lost(f"the task {future.key} is {future.status}")


def _lost(what: str) -> WorkersLost:
    return WorkersLost(
        f"a task was lost with its workers ({what}): they may have too little memory, or data were scattered by hand "
        "to one that is gone, or were cancelled. Give tasks or files, which can be made again"
    )


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
        raise InputError(
            f"client must be a dask.distributed.Client or None, got {given!r}: distributed.Client(...) makes one of "
            "the address of a scheduler, or of a cluster"
        )
    return given
