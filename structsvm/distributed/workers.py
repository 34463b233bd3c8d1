"""What is asked of the workers of Dask: tasks of one thread each, and a limit to every wait."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from attrs import frozen

from structsvm.compute.environment import numba
from structsvm.distributed.dask_cluster import (
    SOON,
    DaskCluster,
    WorkersLost,
    places_of_work,
    require_finished,
    telling_lost,
)
from structsvm.exceptions import ClusterError


@contextmanager
def one_thread() -> Iterator[None]:
    """Let compiled loops of this thread use no other: a worker has a thread for each task that it runs at a time."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


@frozen(eq=False)
class Workers:
    """The workers of a client.

    Parameters
    ----------
    client : Dask's.
    limit : seconds after which a wait is given up in which no task was done.
    """

    client: Any
    limit: float

    @property
    def cluster(self) -> DaskCluster:
        """What keeps the shards of a problem there."""
        return DaskCluster(self.client, limit=self.limit)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a task, whose result stays where it is made."""
        key = f"structsvm-{function.__name__.strip('_')}-{uuid4().hex}"
        return self.client.submit(_alone, function, *arguments, key=key, pure=False)

    def settle(self, futures: Sequence[Any]) -> list[Any]:
        """Wait until results are there, at the workers, and return their futures.

        Raises
        ------
        ClusterError : when no task was done for longer than the limit, or workers died with one again and again.
        Exception : what a task raised.
        """
        from distributed import wait

        pending: Sequence[Any] = list(futures)
        with self._lost():
            while pending:
                with self._in_time(f"{len(pending)} tasks"):
                    done, left = wait(pending, timeout=self.limit, return_when="FIRST_COMPLETED")
                for future in done:
                    require_finished(future)
                pending = list(left)
        return list(futures)

    def fetch(self, futures: Sequence[Any]) -> list[Any]:
        """Return results, which are small; see `settle`."""
        settled = self.settle(futures)

        async def gathered() -> Any:
            return await self.client.gather(settled, asynchronous=True)

        with self._lost(), self._in_time(f"{len(settled)} results"):
            return list(self.client.sync(gathered, callback_timeout=self.limit))

    @contextmanager
    def _in_time(self, what: str) -> Iterator[None]:
        """Tell of a wait inside that was too long what is left."""
        try:
            with telling_lost():
                yield
        except TimeoutError as error:
            raise ClusterError(
                f"the workers did nothing for {self.limit:g} seconds, and {what} are left: {self._present()}; "
                "limit=... waits longer"
            ) from error

    @contextmanager
    def _lost(self) -> Iterator[None]:
        try:
            yield
        except WorkersLost as error:
            raise ClusterError(
                f"a task was lost with its workers ({error}): they may have too little memory, or data were scattered "
                "by hand to one that is gone. Give tasks or files, which can be made again"
            ) from error

    def _present(self) -> str:
        try:
            count = len(places_of_work(self.client, SOON))
        except ClusterError:
            return "the scheduler cannot be reached"
        return f"there {'is 1 worker' if count == 1 else f'are {count} workers'}"


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    with one_thread():
        return function(*arguments)
