"""Blocks of examples for threads; block boundaries, and so results, do not depend on the number of threads."""

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import numpy as np

from structsvm.foundation.compute.threads import using
from structsvm.foundation.types import IntVector

T = TypeVar("T")

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
