"""Ordered parallel map over an iterable, with threads."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import NoReturn, TypeVar

S = TypeVar("S")
T = TypeVar("T")


def in_order(function: Callable[[S], T], items: Iterable[S], threads: Callable[[], int]) -> Generator[T]:
    """Map a function that releases the GIL over items on ``threads()`` threads and yield the results in order."""
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
    """Yield a task per item; if iteration fails, the last task raises the error."""
    try:
        for item in items:
            yield partial(function, item)
    except Exception as error:
        yield partial(_raised, error)


def _raised(error: Exception) -> NoReturn:
    raise error
