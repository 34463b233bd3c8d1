"""The clocks of a solver's run, and its passes over the data and network traffic."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from structsvm.problem.base import AbstractProblem
from structsvm.result import Step


class Effort:
    """Time, passes over the data, and traffic of a run so far."""

    def __init__(self, problem: AbstractProblem) -> None:
        self.problem = problem
        self.passes = 0.0
        self._seconds = {"oracle": 0.0, "solver": 0.0}
        self._began = time.perf_counter()
        self._traffic = problem.traffic
        self._before = 0, 0

    @contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Add the time inside the block to the clock "oracle" or "solver"."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += time.perf_counter() - began

    def count_passes(self, passes: float) -> None:
        """Count passes over the data, except those of `score` and `cut`."""
        self.passes += passes

    def _add_effort(self, last: Step) -> None:
        """Count the effort of the run that this run continues."""
        self.passes += last.passes
        self._seconds["oracle"] += last.oracle_seconds
        self._seconds["solver"] += last.solver_seconds
        self._began -= last.seconds
        self._before = last.calls, last.sent

    def _effort(self) -> dict[str, Any]:
        """Return the effort so far, as fields of a `Step`."""
        now, then = self.problem.traffic, self._traffic
        return {
            "passes": self.passes,
            "oracle_seconds": self._seconds["oracle"],
            "solver_seconds": self._seconds["solver"],
            "seconds": time.perf_counter() - self._began,
            "calls": self._before[0] + now.calls - then.calls,
            "sent": self._before[1] + now.sent - then.sent,
        }
