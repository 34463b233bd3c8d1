"""Spread work over processes, each with one computing thread."""

import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from structsvm.foundation.compute.threads import using
from structsvm.foundation.compute.workers import stay_with
from structsvm.foundation.signals import ENDING

T = TypeVar("T")


def spread(
    function: Callable[..., T], tasks: Iterable[tuple[object, ...]], n_jobs: int | None
) -> Generator[T, None, None]:
    """Call an importable function with each task's arguments in processes; yield results as they are ready."""
    n_jobs = n_jobs or cpu_count()
    if n_jobs == 1:
        yield from (function(*task) for task in tasks)
        return
    # Always use loky: threads would run in this process, where Ctrl-C must keep working.
    started = {"initializer": stay_with, "initargs": (os.getpid(),)}
    parallel = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered", batch_size=1, **started)
    with starting_workers():
        ready = parallel(delayed(function)(*task) for task in tasks)
    try:
        # "yield from" would pass on closing, and the warning with it.
        for result in ready:  # noqa: UP028
            yield result
    finally:
        with _ending_workers():
            ready.close()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and compiled loops to one thread, so that sums have one order and workers do not compete."""
    with using(1), threadpool_limits(1):
        yield


@contextmanager
def _ending_workers() -> Iterator[None]:
    """Suppress joblib's warning about dropped tasks and the traceback of loky's manager thread."""
    hook = threading.excepthook

    def other_threads(arguments: threading.ExceptHookArgs) -> None:
        if arguments.thread is None or not arguments.thread.name.startswith("ExecutorManagerThread"):
            hook(arguments)

    threading.excepthook = other_threads
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "[0-9]+ tasks which were still being processed", UserWarning)
            yield
    finally:
        threading.excepthook = hook


@contextmanager
def starting_workers() -> Iterator[None]:
    """Ignore signals while processes start, because workers inherit that and otherwise end with a traceback."""
    # Only the main thread may set handlers and receives signals.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Windows does not have this function.
    hold = getattr(signal, "pthread_sigmask", None)
    held = hold(signal.SIG_BLOCK, ENDING) if hold else None
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if hold:
            hold(signal.SIG_SETMASK, held)
