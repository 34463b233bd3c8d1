"""How many threads compute, and blocks of examples spread over them."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any, TypeVar

import numpy as np

from structsvm.compute.environment import numba
from structsvm.exceptions import InputError
from structsvm.types import IntVector

T = TypeVar("T")

_BLOCK = 5_000
"""Scores that a block holds, at the work of an argmax: half a millisecond."""

VALUES_AN_ARGMAX = 128
"""Feature values that are read in the time that an argmax takes for a score."""

_MOST_BLOCKS = 128
"""Blocks beyond which they hold more."""


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
    if numba.config.DISABLE_JIT:
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


def in_blocks(
    function: Callable[[int, int], T], ptr: IntVector, work: float = 1.0, most: int = _MOST_BLOCKS
) -> list[T]:
    """Call a function on ranges of examples that hold about the same number of scores, on several threads.

    The ranges do not depend on the number of threads, which is that of the block of `using`, or of its ``None``.

    Parameters
    ----------
    function : takes the first and the last example (not included) of a block; it should spend its time
        in compiled code, where other threads can run.
    ptr : where the scores of each example begin, shape (n + 1,).
    work : time that a score takes, in units of that of an argmax, some 0.1 µs; where it is little, blocks are larger.
    most : blocks.

    Returns
    -------
    The results, block after block.
    """
    bounds = _bounds(ptr, work, most).tolist()
    blocks = len(bounds) - 1
    if blocks == 1:
        return [function(0, bounds[1])]
    results: list[Any] = [None] * blocks
    taken = count()

    def some() -> None:
        while (block := next(taken)) < blocks:
            results[block] = function(bounds[block], bounds[block + 1])

    with using(None) as threads:
        threads.together(some, blocks)
    return results


def over_blocks(loop: Callable[[IntVector, IntVector], None], ptr: IntVector, work: float = 1.0) -> None:
    """Let several threads run a compiled loop, which takes one range of examples after the other until none is left.

    Between two ranges no thread waits for Python, as it does in `in_blocks`: for ranges of less than a millisecond.

    Parameters
    ----------
    loop : takes bounds, shape (ranges + 1,), and counters, shape (1,), the number of the next range. It takes one by
        `structsvm.compute.atomics.add`, and ends where that is past the last.
    ptr, work : as in `in_blocks`.
    """
    bounds = _bounds(ptr, work, _MOST_BLOCKS)
    counters = np.zeros(1, dtype=np.int64)
    if len(bounds) == 2:
        loop(bounds, counters)
        return
    with using(None) as threads:
        threads.together(lambda: loop(bounds, counters), len(bounds) - 1)


def _bounds(ptr: IntVector, work: float, most: int) -> IntVector:
    """Return where blocks of examples begin, and where the last one ends; one block at least."""
    n, scores = len(ptr) - 1, int(ptr[-1])
    blocks = min(int(work * scores) // _BLOCK, n, most)
    if blocks <= 1:
        return np.array([0, n])
    bounds = np.searchsorted(ptr, np.linspace(0, scores, blocks + 1)).astype(np.int64)
    bounds[0], bounds[-1] = 0, n
    return bounds
