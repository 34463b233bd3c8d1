"""Run compiled code in parallel stages: followers poll, and the caller leads and may run Python between stages."""

from collections.abc import Callable
from threading import get_ident

import numpy as np

from structsvm.foundation.compute.atomics import add, reached, write
from structsvm.foundation.compute.compilation import inlined_part
from structsvm.foundation.compute.threads import Threads
from structsvm.foundation.types import IntVector

_TAKEN, _STAGE, _DONE, _OVER, _PLACES = 0, 8, 16, 24, 32
"""Indices of counters: pieces taken, stages begun, pieces done, and the end flag, each in a separate cache line."""


def stage_counters() -> IntVector:
    """Return counters of work that has not begun."""
    return np.zeros(_PLACES, dtype=np.int64)


def run_stages(
    threads: Threads, lead: Callable[[], None], follow: Callable[[], None], counters: IntVector, most: int
) -> None:
    """Run ``lead``, which begins and ends stages, here and ``follow`` on other threads, until one ends or raises."""
    leader = get_ident()

    def over() -> None:
        counters[_OVER] = 1

    def until_over() -> None:
        try:
            lead() if get_ident() == leader else follow()
        except BaseException:
            over()
            raise

    threads.together(until_over, most, over)


@inlined_part
def begin_stage(counters: IntVector) -> None:
    """Begin a stage; its inputs must be written before."""
    write(counters, _DONE, 0)
    write(counters, _TAKEN, 0)
    add(counters, _STAGE, 1)


@inlined_part
def ends_stage(counters: IntVector, pieces: int) -> bool:
    """Wait until all pieces of the stage are done; return False if a thread raised, so that they never will be."""
    return reached(counters, _DONE, pieces, _OVER)


@inlined_part
def next_stage(counters: IntVector, stage: int) -> bool:
    """Wait until more than ``stage`` stages have begun; return False if the work is over."""
    return reached(counters, _STAGE, stage + 1, _OVER)


@inlined_part
def next_piece(counters: IntVector, pieces: int) -> int:
    """Take the next piece of the current stage; −1 if none is left."""
    piece = add(counters, _TAKEN, 1)
    return piece if piece < pieces else -1


@inlined_part
def end_piece(counters: IntVector) -> None:
    """Count a piece as done."""
    add(counters, _DONE, 1)
