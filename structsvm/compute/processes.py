"""Work spread over processes, each of which computes in one thread."""

import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from structsvm.compute.threads import using
from structsvm.compute.workers import stay_with
from structsvm.signals import ENDING

T = TypeVar("T")


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
    started = {"initializer": stay_with, "initargs": (os.getpid(),)}
    parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1, **started)
    with _starting_workers():
        ready = parallel(delayed(function)(*task) for task in tasks)
    try:
        for result in ready:  # noqa: UP028 ("yield from" would hand on closing, and the warning with it)
            yield result
    finally:
        with _ending_workers():
            ready.close()


@contextmanager
def one_thread() -> Iterator[None]:
    """Do linear algebra and compiled loops in one thread: sums have one order, and workers do not compete."""
    with using(1), threadpool_limits(1):
        yield


@contextmanager
def _ending_workers() -> Iterator[None]:
    """Say nothing of tasks that are dropped: neither joblib, nor a thread of loky's that looks for one of them."""
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
def _starting_workers() -> Iterator[None]:
    """Ignore signals while processes start: they inherit that, and would end with a traceback before they are ready.

    What comes meanwhile is held back and delivered afterwards, unless a library lets it through.
    """
    if threading.current_thread() is not threading.main_thread():  # no other thread may do this, or is told of signals
        yield
        return
    hold = getattr(signal, "pthread_sigmask", None)  # Windows has none
    held = hold(signal.SIG_BLOCK, ENDING) if hold else None
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if hold:
            hold(signal.SIG_SETMASK, held)
