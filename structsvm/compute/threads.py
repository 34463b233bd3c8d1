"""How many threads compute, and work that they do together."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from structsvm.compute.atomics import ATOMIC
from structsvm.compute.environment import numba
from structsvm.exceptions import InputError

T = TypeVar("T")


def require_jobs(what: str, n_jobs: Any) -> None:
    """Require a number of threads or processes as scikit-learn counts them: an integer other than 0, or None."""
    counted = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is None or (counted and n_jobs != 0):
        return
    raise InputError(
        f"{what} must be a number of threads or processes (1: no others), -1 for all cores, -2 for all but one and so "
        f"on, or None, got {n_jobs!r}"
    )


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads a number of jobs means.

    Parameters
    ----------
    n_jobs : so many; −1 as many as numba is set to (``NUMBA_NUM_THREADS``, by default all cores), −2 one less, and so
        on, 1 at least. None: what ``joblib.parallel_config(n_jobs=...)`` says, 1 in a worker of joblib's, and outside
        of both as many as numba is set to.
    """
    if numba.config.DISABLE_JIT or not ATOMIC:
        return 1
    if n_jobs is None:
        from joblib.parallel import get_active_backend  # takes long to import

        backend, n_jobs = get_active_backend()
        if n_jobs is None:
            return 1 if backend.nesting_level else numba.get_num_threads()
    return int(n_jobs) if n_jobs > 0 else max(1, numba.get_num_threads() + 1 + int(n_jobs))


class Threads:
    """The thread that calls, and others that wait for work.

    Parameters
    ----------
    count : how many threads there are in all.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None

    def together(self, work: Callable[[], None], most: int, over: Callable[[], None] | None = None) -> None:
        """Call a function on several threads at the same time, this one among them, and wait until all are back.

        Parameters
        ----------
        work : takes what is to be done piece by piece, until nothing is left; it should spend its time in compiled
            code. Threads may begin late, or not at all where the others have done everything before.
        most : threads that are of use.
        over : called at the end, also after an exception, before this thread waits for the others: it makes those
            return that wait for a sign of this one. It may be called more than once, and before ``work`` has begun
            here, where Ctrl-C came so early. None: the others never wait for this thread.
        """
        others: list[Future[None]] = []
        try:
            if min(self.count, most) > 1:
                self._pool = self._pool or ThreadPoolExecutor(self.count - 1, "structsvm")
                for _ in range(min(self.count, most) - 1):
                    others.append(Future())  # known before it begins, whenever Ctrl-C comes
                    self._pool.submit(_do, work, others[-1])
            work()
            _end(others, over)
        except BaseException:
            _end(others, over)
            raise
        for other in others:
            if not other.cancelled():
                other.result()

    def aside(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin work on another thread, where there is one, and return a function that waits for what it returns.

        Until it has ended, `together` does without that thread. Where there is no other, the work is done when that
        function is called.

        Parameters
        ----------
        work : should spend its time where other threads can run, and not take so long that Ctrl-C must not wait for it.
        """
        if self.count == 1:
            return work
        self._pool = self._pool or ThreadPoolExecutor(self.count - 1, "structsvm")
        return self._pool.submit(work).result

    def close(self) -> None:
        """Let the other threads end."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def _do(work: Callable[[], None], done: Future[None]) -> None:
    """Do work, unless it was cancelled, and say so."""
    if not done.set_running_or_notify_cancel():
        return
    try:
        work()
    except BaseException as error:
        done.set_exception(error)
    else:
        done.set_result(None)


def _end(others: list[Future[None]], over: Callable[[], None] | None) -> None:
    """Cancel what has not begun, and wait for what has: it works on the same arrays, however often Ctrl-C comes."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            if over is not None:
                over()
            wait([other for other in others if not other.cancel()])
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


_current: ContextVar[Threads | None] = ContextVar("structsvm_threads", default=None)


@contextmanager
def using(n_jobs: int | None) -> Iterator[Threads]:
    """Compute with so many threads, which live until the end of the block.

    Within another such block, its threads are used if they are as many, or ``n_jobs`` is None.

    Parameters
    ----------
    n_jobs : see `thread_count`.
    """
    outer = _current.get()
    if outer is not None and (n_jobs is None or thread_count(n_jobs) == outer.count):
        yield outer
        return
    threads = Threads(thread_count(n_jobs))
    token = _current.set(threads)
    try:
        yield threads
    finally:
        _current.reset(token)
        threads.close()
