"""The best weights of a run, the bounds that certify them, and the effort so far."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import evolve, frozen

from structsvm.exceptions import OracleError
from structsvm.foundation.compute.compile_progress import compile_seconds, running_time
from structsvm.foundation.settings import DEFAULT_TOL
from structsvm.foundation.types import Vector
from structsvm.problem.base import AbstractProblem, AnyPlanes, AnyPoint
from structsvm.problem.points import Cut
from structsvm.result import Result, Step


@frozen(eq=False)
class _Evaluated:
    """A point with its planes and ``P(w)``, or an estimate of it if the argmax is inexact and has no bounds."""

    point: AnyPoint
    planes: AnyPlanes
    primal: float
    inference: float = 0.0
    """The part of ``primal`` that bounds of approximate argmaxes add to the outputs found."""

    def worth(self, dual: float) -> tuple[float, float]:
        """Return a key that is smallest for the best point: by the outputs found, then by the upper bound."""
        return max(self.primal - self.inference, dual), self.primal


class CertifiedBounds:
    """The best point so far with its upper bound, the best lower bound, and clocks; see `SolverState`.

    If argmaxes are bounded, the best point has the smallest ``P(w)`` by the outputs found: loose bounds are smallest at
    w = 0, before anything is learned.
    """

    def __init__(
        self,
        problem: AbstractProblem,
        tol: float | None,
        known_hinges: Callable[[Vector], Vector] | None,
        start: Result | None,
    ) -> None:
        self.problem = problem
        self.passes = self.argmaxes = 0.0
        self._seconds = {"oracle": 0.0, "solver": 0.0}
        self._began, self._compiled = running_time(), compile_seconds()
        self._traffic = problem.traffic
        self._before = 0, 0
        self.tol = DEFAULT_TOL if tol is None else float(tol)
        self.dual = 0.0
        self._known_dual = -np.inf
        self._known_hinges = known_hinges
        self._earlier: deque[AnyPlanes] = deque(maxlen=problem.planes_kept)
        self._last_evaluated = problem.nearest(np.zeros(problem.d) if start is None else problem.from_weights(start.w))
        self._best = self._evaluated(self.score(self._last_evaluated))
        self.point, self.planes = self._best.point, self._best.planes
        if self.primal == 0.0 and problem.certified and not self.w.any():
            self._look_for_a_loss()

    @contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Add the time that the ``with`` block takes to the clock "oracle" or "solver"."""
        began = running_time()
        try:
            yield
        finally:
            self._seconds[name] += running_time() - began

    def count_passes(self, passes: float) -> None:
        """Count passes over the data; `score` and `cut` count their own passes."""
        self.passes += passes

    def count_argmaxes(self, argmaxes: float) -> None:
        """Count argmaxes of each example; evaluations of points count their own."""
        self.argmaxes += argmaxes

    def _add_effort(self, last: Step) -> None:
        """Count the effort of the run that this run continues."""
        self.passes += last.passes
        self.argmaxes += last.argmaxes
        self._seconds["oracle"] += last.oracle_seconds
        self._seconds["solver"] += last.solver_seconds
        self._began -= last.seconds
        self._compiled -= last.compile_seconds
        self._before = last.calls, last.sent

    def _effort(self) -> dict[str, Any]:
        """Return the effort so far, as fields of a `Step`."""
        now, then = self.problem.traffic, self._traffic
        return {
            "passes": self.passes,
            "argmaxes": self.argmaxes,
            "oracle_seconds": self._seconds["oracle"],
            "solver_seconds": self._seconds["solver"],
            "seconds": running_time() - self._began,
            "compile_seconds": compile_seconds() - self._compiled,
            "calls": self._before[0] + now.calls - then.calls,
            "sent": self._before[1] + now.sent - then.sent,
        }

    def _take_bounds(self, start: Result) -> None:
        """Adopt the bounds of a converged start of this problem, up to rounding, so that the run ends with them."""
        primal = start.primal - self.problem.constant
        same_but_for_rounding = abs(primal - self.primal) <= self._rounding_of_bounds()
        if start.certified and start.gap <= self.gap_wanted and same_but_for_rounding:
            self._best = evolve(self._best, primal=primal)
            self._known_dual = start.dual - self.problem.constant

    @property
    def primal(self) -> float:
        """The upper bound at the best weights, in the problem's coordinates; an estimate without bounds of argmaxes."""
        return self._best.primal

    @property
    def inference_gap(self) -> float:
        """The part of the gap that approximate argmaxes leave.

        The lower bound may exceed the objective of the outputs found at the best weights: it uses other outputs too.
        """
        return self.primal - self._best.worth(self.dual)[0]

    @property
    def w(self) -> Vector:
        """The best weights so far, in the problem's coordinates."""
        w: Vector = self._best.point.w
        return w

    @property
    def gap_wanted(self) -> float:
        """The target gap, ``tol · C``."""
        return self.tol * self.problem.C

    @property
    def qp_tol(self) -> float:
        """The gap to which QPs are solved, a hundredth of ``tol · C``."""
        return 0.01 * self.gap_wanted

    def evaluate(self, w: Vector) -> tuple[AnyPoint, AnyPlanes]:
        """Score all examples at w and call `evaluate_point`: half a pass."""
        point = self.score(w)
        planes, _ = self.evaluate_point(point)
        self._last_evaluated = w
        return point, planes

    def score(self, w: Vector) -> AnyPoint:
        """Return the point at w: half a pass over the data, none for w = 0."""
        if not w.any():
            return self.problem.origin()
        with self.clock("oracle"):
            point = self.problem.at(w)
        self.count_passes(0.5)
        return point

    def evaluate_point(self, point: AnyPoint) -> tuple[AnyPlanes, float]:
        """Find the planes at a point and ``P(w)``, and keep the point if it is the best so far: no pass."""
        evaluated = self._evaluated(point)
        self._consider(evaluated)
        return evaluated.planes, evaluated.primal

    def consider(self, point: AnyPoint, planes: AnyPlanes) -> None:
        """Keep a point that was evaluated elsewhere, with its planes, if it is the best so far."""
        self._earlier.append(planes)
        inference = self.problem.inference_gap(planes)
        self._consider(_Evaluated(point, planes, self._primal(planes, point), inference))

    def _consider(self, evaluated: _Evaluated) -> None:
        if evaluated.worth(self.dual) < self._best.worth(self.dual):
            self._best = evaluated

    def cut(self, planes: AnyPlanes) -> Cut:
        """Return the weighted mean of planes: half a pass."""
        with self.clock("oracle"):
            cut = self.problem.cut(planes)
        self.count_passes(0.5)
        return cut

    def _raise_dual(self, dual: float) -> None:
        """Keep the larger lower bound; within rounding, a converged start's own bound wins."""
        if abs(dual - self._known_dual) <= self._rounding_of_bounds():
            dual = self._known_dual
        self.dual = max(self.dual, dual)

    def _require_order(self) -> None:
        """Raise `OracleError` if the lower bound exceeds the upper one."""
        if self.dual > self.primal + self._rounding_of_bounds():
            raise OracleError(
                f"the lower bound {self.dual:.12g} is above the upper bound {self.primal:.12g}, so "
                f"{self.problem.loss.title}.loss_augmented_argmax misses the most violated output of some example. Run "
                f"{self.problem.loss.checked_by} on the loss to find it."
            )

    def _rounding_of_bounds(self) -> float:
        """Return how far rounding may lift the lower bound above the upper one."""
        of_scores = self.problem.largest_score(self._best.point) * self.problem.total_cap
        return float(1e-9 * (1.0 + abs(self.primal)) + 1e-14 * of_scores)

    def _evaluated(self, point: AnyPoint) -> _Evaluated:
        with self.clock("oracle"):
            planes = self.problem.planes(point)
            self.count_argmaxes(1)
            self._earlier.append(planes)
            return _Evaluated(point, planes, self._primal(planes, point), self.problem.inference_gap(planes))

    def _primal(self, planes: AnyPlanes, point: AnyPoint) -> float:
        """Return ``P(w)``, an upper bound of it if the argmax is bounded, or else its largest known lower bound."""
        primal = self.problem.primal(planes, point)
        if self.problem.certified or self._known_hinges is None:
            return primal
        return max(self.problem.estimate(planes, point, self._known_hinges(point.w)), self.dual)

    def _require_unbeaten(self) -> None:
        """Require that no output found elsewhere beats the outputs behind the upper bound."""
        if self.problem.certified and self.w.any():
            with self.clock("oracle"):
                self.problem.require_unbeaten(self._best.planes, self._best.point, self._earlier)

    def _look_for_a_loss(self) -> None:
        """Search other weights for outputs with a loss, which would be better at w = 0 than outputs without."""
        w = np.random.default_rng(0).standard_normal(self.problem.d)
        with self.clock("oracle"):
            self.count_argmaxes(2)
            elsewhere = [self.problem.planes(self.problem.at(weights)) for weights in (w, -w)]
            self.problem.require_unbeaten(self._best.planes, self._best.point, elsewhere)

    def _estimate_best_again(self) -> None:
        """Update the estimate at the best weights with the cuts found since."""
        if not self.problem.certified:
            best = self._best
            self._best = evolve(best, primal=max(best.primal, self._primal(best.planes, best.point)))

    def _score_best_again(self) -> None:
        """Score the best weights again if their scores come from moves along lines: half a pass, or none."""
        if self._best.point.moves:
            self._best = self._evaluated(self.score(self.w))
        self._estimate_best_again()
