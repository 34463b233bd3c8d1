"""Work of several threads stage by stage."""

import threading

import pytest

from structsvm.compute.compilation import compiled
from structsvm.compute.stages import next_piece, run_stages, stage_counters
from structsvm.compute.threads import using
from structsvm.types import IntVector


@compiled
def take(counters: IntVector, pieces: int) -> int:
    return next_piece(counters, pieces)[0]


def test_who_raises_ends_the_wait_of_the_others():
    counters, pieces = stage_counters(), 2
    taken = threading.Barrier(2)

    def loop() -> None:
        take(counters, pieces)
        if taken.wait(10.0) == 0:
            raise ZeroDivisionError
        while take(counters, pieces) >= 0:  # the second stage, which never begins
            pass

    take(counters, 1 << 40)  # compiled before threads wait for it
    counters[:] = 0
    with using(2) as threads, pytest.raises(ZeroDivisionError):
        run_stages(threads, loop, counters, 2)
