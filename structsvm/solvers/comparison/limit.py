"""A time limit for any solver, and counts of its QPs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from attrs import frozen

from structsvm.foundation.compute.compile_progress import running_time
from structsvm.solvers.qp import DualQP, QPBackend, QPSolution


class OutOfTime(KeyboardInterrupt):
    """The time limit has passed. Solvers treat it as Ctrl-C and return their best result."""


class Watch:
    """The clock of one run of a solver, which can pause, and counts of its QPs."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.ended = False
        self.qps = 0
        self.largest = 0
        self._paused = 0.0
        self._began = running_time()

    @property
    def seconds(self) -> float:
        """Time since the start, without pauses."""
        return running_time() - self._began - self._paused

    def over(self) -> bool:
        """Return True if the run must end now."""
        if self.limit is not None and self.seconds >= self.limit:
            self.ended = True
        return self.ended

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Pause the clock."""
        began = running_time()
        try:
            yield
        finally:
            self._paused += running_time() - began


@frozen(eq=False)
class Watched(QPBackend):
    """A backend that raises `OutOfTime` before a QP if the time is up; an n-slack iteration solves hundreds of QPs."""

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
