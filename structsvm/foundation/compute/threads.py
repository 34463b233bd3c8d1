"""Choose the number of computing threads, and share work between them, by blocks that do not depend on the number."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import count
from threading import current_thread, main_thread
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from structsvm.exceptions import InputError, brief
from structsvm.foundation.compute.atomics import ATOMIC
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.types import IntVector

T = TypeVar("T")


def require_jobs(what: str, n_jobs: Any) -> None:
    """Raise `InputError` unless ``n_jobs`` is None or an integer other than 0, as in scikit-learn."""
    counted = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is None or (counted and n_jobs != 0):
        return
    raise InputError(
        f"{what} must be a number of threads or processes (1: no others), -1 for all cores, -2 for all but one and so "
        f"on, or None, got {brief(n_jobs)}"
    )


def thread_count(n_jobs: int | None) -> int:
    """Return the threads for ``n_jobs``: −1 is numba's setting, −2 one less, None joblib's setting, if any, or −1."""
    if numba.config.DISABLE_JIT or not ATOMIC:
        return 1
    if n_jobs is None:
        # This import takes long.
        from joblib.parallel import get_active_backend

        backend, n_jobs = get_active_backend()
        if n_jobs is None:
            return 1 if backend.nesting_level else numba.get_num_threads()
    return int(n_jobs) if n_jobs > 0 else max(1, numba.get_num_threads() + 1 + int(n_jobs))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: on small matrices, its threads wait for each other longer than they compute.

    Only the main thread limits it. The number belongs to the process, and OpenBLAS lets no other thread change it.
    """
    if current_thread() is main_thread():
        with blas().limit(limits=1):
            yield
    else:
        yield


@cache
def blas() -> Any:
    """Return the controller of the BLAS libraries of NumPy and SciPy."""
    return ThreadpoolController().select(user_api="blas")


class Threads:
    """The calling thread and a pool of other threads, ``count`` in all."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None

    def together(self, work: Callable[[], None], most: int) -> None:
        """Run ``work`` on up to ``most`` threads and wait."""
        others: list[Future[None]] = []
        try:
            if min(self.count, most) > 1:
                self._pool = self._pool or ThreadPoolExecutor(self.count - 1, "structsvm")
                for _ in range(min(self.count, most) - 1):
                    # Register the future before it starts, so that Ctrl-C cannot lose it.
                    others.append(Future())
                    self._pool.submit(_do, work, others[-1])
            work()
            _end(others)
        except BaseException:
            _end(others)
            raise
        for other in others:
            if not other.cancelled():
                other.result()

    def aside(self, work: Callable[[], T]) -> Callable[[], T]:
        """Start short work on another thread, if possible; return a function that waits for the result."""
        if self.count == 1:
            return work
        self._pool = self._pool or ThreadPoolExecutor(self.count - 1, "structsvm")
        return self._pool.submit(work).result

    def close(self) -> None:
        """Shut down the other threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def _do(work: Callable[[], None], done: Future[None]) -> None:
    """Run work unless it was cancelled, and store its result."""
    if not done.set_running_or_notify_cancel():
        return
    try:
        work()
    except BaseException as error:
        done.set_exception(error)
    else:
        done.set_result(None)


def _end(others: list[Future[None]]) -> None:
    """Cancel pending work and wait for running work even after Ctrl-C, because it uses the same arrays."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            wait([other for other in others if not other.cancel()])
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


_current: ContextVar[Threads | None] = ContextVar("structsvm_threads", default=None)


@contextmanager
def using(n_jobs: int | None) -> Iterator[Threads]:
    """Compute with this number of threads in the block; reuse an outer block's if as many or ``n_jobs`` is None."""
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


_BLOCK = 5_000
"""Scores per block, at the work of an argmax: half a millisecond."""

VALUES_AN_ARGMAX = 128
"""Feature values that can be read in the time that an argmax takes per score."""

_MOST_BLOCKS = 128
"""Largest number of blocks; with more scores, blocks are larger."""


def in_blocks(
    function: Callable[[int, int], T], ptr: IntVector, work: float = 1.0, most: int = _MOST_BLOCKS
) -> list[T]:
    """Call ``function(first, end)`` on blocks of about equally many scores, on threads; return the results in order."""
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
    """Run a compiled loop on threads, which take blocks by ``add`` of a counter, shape (1,), without the GIL."""
    bounds = _bounds(ptr, work, _MOST_BLOCKS)
    counters = np.zeros(1, dtype=np.int64)
    if len(bounds) == 2:
        loop(bounds, counters)
        return
    with using(None) as threads:
        threads.together(lambda: loop(bounds, counters), len(bounds) - 1)


def _bounds(ptr: IntVector, work: float, most: int) -> IntVector:
    """Return the start of each block, and the end of the last; there is at least one block."""
    n, scores = len(ptr) - 1, int(ptr[-1])
    blocks = min(int(work * scores) // _BLOCK, n, most)
    if blocks <= 1:
        return np.array([0, n])
    bounds = np.searchsorted(ptr, np.linspace(0, scores, blocks + 1)).astype(np.int64)
    bounds[0], bounds[-1] = 0, n
    return bounds
