"""A time limit for any solver, and what can be seen of the QPs that it solves."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from attrs import frozen

from structsvm.qp import DualQP, QPBackend, QPSolution


class OutOfTime(KeyboardInterrupt):
    """The time limit has passed. To a solver it is Ctrl-C: it returns the best that it has."""


class Watch:
    """The clock of one run of a solver, which can be stopped for a while, and counts of its QPs.

    Parameters
    ----------
    limit : seconds after which the run is over; None: never.

    Attributes
    ----------
    ended : whether this clock has ended the run.
    qps : number of QPs.
    largest : cuts in the largest of them.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.ended = False
        self.qps = 0
        self.largest = 0
        self._paused = 0.0
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time since the beginning, pauses left out."""
        return time.perf_counter() - self._began - self._paused

    def over(self) -> bool:
        """Say whether the run is to end now."""
        if self.limit is not None and self.seconds >= self.limit:
            self.ended = True
        return self.ended

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._paused += time.perf_counter() - began


@frozen(eq=False)
class Watched(QPBackend):
    """A backend under a watch: raises `OutOfTime` where it is asked for a QP after the limit.

    A callback cannot end an iteration, and one of n-slack solves hundreds of QPs. A QP that has
    begun is finished, so that nothing is interrupted that is not ready for it.

    Parameters
    ----------
    backend : solves the QPs.
    watch : the clock.
    """

    name: ClassVar[str] = "watched"
    backend: QPBackend
    watch: Watch

    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        """Solve; see `QPBackend.solve`."""
        self.watch.qps += 1
        self.watch.largest = max(self.watch.largest, qp.size)
        if self.watch.over():
            raise OutOfTime
        return self.backend.solve(qp, start)
