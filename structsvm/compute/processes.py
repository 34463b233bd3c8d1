"""Work spread over processes, each of which computes in one thread."""

import os
import signal
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread, current_thread, main_thread
from typing import TypeVar

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from structsvm.compute.environment import numba

T = TypeVar("T")

_SECONDS_BETWEEN_LOOKS = 0.5


def spread(
    function: Callable[..., T], tasks: Iterable[tuple[object, ...]], jobs: int | None
) -> Generator[T, None, None]:
    """Call a function with the arguments of each task, and yield what it returns, in the order in which it is ready.

    Close the generator to end the processes before all is done.

    Parameters
    ----------
    function : of a module that can be imported.
    tasks : arguments. Large arrays among them go to the processes once, as memory maps.
    jobs : processes; 1: this one. None: as many as there are processors.
    """
    jobs = jobs or cpu_count()
    if jobs == 1:
        yield from (function(*task) for task in tasks)
        return
    # loky, whatever is configured: threads would be this process, where Ctrl-C must go on to work.
    parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1)
    calls = (delayed(_in_a_worker)(os.getpid(), function, *task) for task in tasks)
    with _starting_workers():
        ready = parallel(calls)
    try:
        for result in ready:  # noqa: UP028 ("yield from" would hand on closing, and the warning with it)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "[0-9]+ tasks which were still being processed", UserWarning)
            ready.close()


@contextmanager
def one_thread() -> Iterator[None]:
    """Do linear algebra and compiled loops in one thread: sums have one order, and workers do not compete."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(threads)


@contextmanager
def _starting_workers() -> Iterator[None]:
    """Ignore Ctrl-C for the moment in which processes start: they inherit it, and would end with a traceback else."""
    if current_thread() is not main_thread():  # no other thread may do this, or is told of Ctrl-C
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_a_worker(parent: int, function: Callable[..., T], *arguments: object) -> T:
    if os.getpid() != parent:  # joblib starts no workers where it may not, as in those of multiprocessing
        _stay_with(parent)
    return function(*arguments)


@cache
def _stay_with(parent: int) -> None:
    """Leave Ctrl-C to the main process, and end with it, even where it is killed: a worker would go on for minutes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
