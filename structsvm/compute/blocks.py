"""Blocks of examples spread over threads: they do not depend on how many there are, so that results do not."""

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import numpy as np

from structsvm.compute.threads import using
from structsvm.types import IntVector

T = TypeVar("T")

_BLOCK = 5_000
"""Scores that a block holds, at the work of an argmax: half a millisecond."""

VALUES_AN_ARGMAX = 128
"""Feature values that are read in the time that an argmax takes for a score."""

_MOST_BLOCKS = 128
"""Blocks beyond which they hold more."""


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
