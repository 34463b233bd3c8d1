"""Work that threads of compiled code do stage by stage: all pieces of one before any of the next.

A stage has as many pieces as the others, which any thread takes. The one that ends the last of them does alone what
is between two stages, and lets the next begin, or ends all. Results do not depend on who did what.
"""

from collections.abc import Callable

import numpy as np

from structsvm.compute.atomics import add, reached
from structsvm.compute.compilation import compiled_part
from structsvm.compute.threads import Threads
from structsvm.types import IntVector

_TAKEN, _STAGE, _DONE, _OVER, _PLACES = 0, 8, 16, 24, 32
"""Places of counters: pieces that are taken, the stage, pieces that are done, whether all is over. Each is in a cache
line of its own."""


def stage_counters() -> IntVector:
    """Return counters of work that has not begun."""
    return np.zeros(_PLACES, dtype=np.int64)


def run_stages(threads: Threads, loop: Callable[[], None], counters: IntVector, most: int) -> None:
    """Run a loop over stages on several threads; where one of them raises, the others do not wait for its piece.

    Parameters
    ----------
    threads : run it.
    loop : takes pieces until all is over.
    counters : of the stages.
    most : threads that are of use.
    """

    def until_over() -> None:
        try:
            loop()
        except BaseException:
            counters[_OVER] = 1
            raise

    threads.together(until_over, most)


@compiled_part
def next_piece(counters: IntVector, pieces: int) -> tuple[int, int]:
    """Take the next piece, and wait until its stage begins; return stage and piece, or −1 and 0 where all is over."""
    taken = add(counters, _TAKEN, 1)
    stage = taken // pieces
    if not reached(counters, _STAGE, stage, _OVER):
        return -1, 0
    return stage, taken - stage * pieces


@compiled_part
def ends_stage(counters: IntVector, stage: int, pieces: int) -> bool:
    """Say that a piece is done, and return whether it was the last one of its stage."""
    return bool(add(counters, _DONE, 1) == (stage + 1) * pieces - 1)


@compiled_part
def begin_next(counters: IntVector) -> None:
    """Let the next stage begin."""
    add(counters, _STAGE, 1)


@compiled_part
def end_all(counters: IntVector) -> None:
    """Let there be no next stage."""
    add(counters, _OVER, 1)
