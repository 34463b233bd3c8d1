"""Compiled loops over blocks of examples, on as many threads as numba is set to."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from structsvm.compute.environment import numba
from structsvm.types import IntVector

T = TypeVar("T")

_WORTH_A_THREAD = 20_000
"""Scores below which a thread costs more than it saves, at the work of an argmax."""


def in_blocks(function: Callable[[int, int], T], ptr: IntVector, work: float = 1.0) -> list[T]:
    """Call a function on ranges of examples that hold about the same number of scores.

    Parameters
    ----------
    function : takes the first and the last example (not included) of a block; it should spend its time
        in compiled code, where other threads can run.
    ptr : where the scores of each example begin, shape (n + 1,).
    work : time that a score takes, in units of that of an argmax, some 0.1 µs; where it is little, fewer
        threads are used.

    Returns
    -------
    The results, block after block. Their number depends on the number of threads, which is
    ``numba.get_num_threads()``.
    """
    n, scores = len(ptr) - 1, int(ptr[-1])
    threads = min(numba.get_num_threads(), int(work * scores) // _WORTH_A_THREAD, n)
    if threads <= 1:
        return [function(0, n)]
    bounds = np.searchsorted(ptr, np.linspace(0, scores, threads + 1)).tolist()
    bounds[0], bounds[-1] = 0, n
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, bounds[:-1], bounds[1:]))
