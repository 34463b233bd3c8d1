"""A line in score space."""

from collections.abc import Callable, Sequence

import numpy as np

from structsvm.problem.base import AbstractProblem
from structsvm.problem.line import Line, LineHinge, Parabola
from structsvm.problem.points import Planes, Point
from structsvm.types import Vector


class ScoredLine(Line):
    """A line in score space, whose points have their scores at hand.

    Parameters
    ----------
    problem : whose objective it is.
    slope : returns how fast the weighted sum of planes falls as scores move along a direction.
    base, planes, target : the point at t = 0, with its planes, and the one at t = 1.
    """

    def __init__(
        self,
        problem: AbstractProblem,
        slope: Callable[[Planes, Vector], float],
        base: Point,
        planes: Planes,
        target: Point,
    ) -> None:
        self.regulariser: Parabola = problem.regulariser_between(base.w, target.w)
        self._problem, self._slope = problem, slope
        self._base, self._planes, self._target = base, planes, target
        self._along = target.scores - base.scores
        self._lowest, self._least = (0.0, base, planes), np.inf

    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at some t, after an argmax of every example unless t is 0."""
        return [self._look(t) for t in steps]

    def at(self, t: float) -> tuple[Point, Planes]:
        """Return the point at t and its planes, which are at hand where P is lowest of all t that were looked at."""
        lowest, point, planes = self._lowest
        return (point, planes) if lowest == t else self._found(t)

    def _found(self, t: float) -> tuple[Point, Planes]:
        if t == 0.0:
            return self._base, self._planes
        point = self._base.toward(self._target, t)
        return point, self._problem.planes(point)

    def _look(self, t: float) -> LineHinge:
        point, planes = self._found(t)
        value = self._problem.hinge(planes, point)
        if value + self.regulariser.value(t) < self._least:
            self._lowest, self._least = (t, point, planes), value + self.regulariser.value(t)
        return LineHinge(value, -self._slope(planes, self._along))
