"""Work on one thing after the other, on several threads."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import NoReturn, TypeVar

S = TypeVar("S")
T = TypeVar("T")


def in_order(function: Callable[[S], T], items: Iterable[S], threads: Callable[[], int]) -> Generator[T]:
    """Call a function with one thing after the other, on several threads, and return the results in their order.

    What is raised, by the function or where a thing is taken, is raised in its place: after the results of the things
    before.

    Parameters
    ----------
    function : it should spend its time in compiled code, where other threads can run.
    items : the things, taken as they are needed: no more wait at a time than there are threads, and one.
    threads : returns how many threads there are; asked where there are two things at least.
    """
    tasks = _tasks(function, items)
    start = list(islice(tasks, 2))
    if len(start) < 2:
        yield from (task() for task in start)
        return
    most = threads()
    with ThreadPoolExecutor(most) as pool:
        waiting: deque[Future[T]] = deque()
        for task in chain(start, tasks):
            waiting.append(pool.submit(task))
            if len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _tasks(function: Callable[[S], T], items: Iterable[S]) -> Iterator[Callable[[], T]]:
    """Return what is to be done with each thing, and in the end to raise what taking a further one raised."""
    try:
        for item in items:
            yield partial(function, item)
    except Exception as error:
        yield partial(_raised, error)


def _raised(error: Exception) -> NoReturn:
    raise error
