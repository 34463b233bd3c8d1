"""Work that threads of compiled code do stage by stage: all pieces of one before any of the next.

The calling thread leads: it says what is to be done, begins a stage, takes pieces as others do, and waits until all
are done; what is between two stages it does alone, in Python if it likes, while the others wait in compiled code,
where a stage begins for them within less than a microsecond. Results do not depend on who did what.

Followers do not sleep while they wait, but let any other thread have the processor. In joint steps at C = 10,000 on
800 queries of 80 documents half of these waits take less than 8 µs and 97 of 100 less than 50, which is what waking a
thread takes; together they take an eighth of such a fit.
"""

from collections.abc import Callable
from threading import get_ident

import numpy as np

from structsvm.compute.atomics import add, reached, write
from structsvm.compute.compilation import compiled_part
from structsvm.compute.threads import Threads
from structsvm.types import IntVector

_TAKEN, _STAGE, _DONE, _OVER, _PLACES = 0, 8, 16, 24, 32
"""Places of counters: pieces that are taken of the stage, stages that have begun, pieces that are done, whether all is
over. Each is in a cache line of its own."""


def stage_counters() -> IntVector:
    """Return counters of work that has not begun."""
    return np.zeros(_PLACES, dtype=np.int64)


def run_stages(
    threads: Threads, lead: Callable[[], None], follow: Callable[[], None], counters: IntVector, most: int
) -> None:
    """Do work on several threads; where one of them raises, the others do not wait for its piece.

    Parameters
    ----------
    threads : do it.
    lead : begins and ends the stages; called by this thread. When it returns, all is over.
    follow : takes pieces until all is over; called by the other threads.
    counters : of the stages.
    most : threads that are of use.
    """
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


@compiled_part
def begin_stage(counters: IntVector) -> None:
    """Let a stage begin, after all that it reads was written."""
    write(counters, _DONE, 0)
    write(counters, _TAKEN, 0)
    add(counters, _STAGE, 1)


@compiled_part
def ends_stage(counters: IntVector, pieces: int) -> bool:
    """Wait until all pieces of the stage are done; say whether they are: they never will be where a thread raised."""
    return reached(counters, _DONE, pieces, _OVER)


@compiled_part
def next_stage(counters: IntVector, stage: int) -> bool:
    """Wait until more than so many stages have begun; say whether they have, or all is over."""
    return reached(counters, _STAGE, stage + 1, _OVER)


@compiled_part
def next_piece(counters: IntVector, pieces: int) -> int:
    """Take the next piece of the stage, or of the one that begins meanwhile; −1 where none is left."""
    piece = add(counters, _TAKEN, 1)
    return piece if piece < pieces else -1


@compiled_part
def end_piece(counters: IntVector) -> None:
    """Say that a piece is done."""
    add(counters, _DONE, 1)
