"""The objective on a line between two points."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.problem.points import Planes, Point


class LineHinge(NamedTuple):
    """The weighted hinge at a point of a line, and its slope, a subgradient."""

    value: float
    slope: float


@frozen
class Parabola:
    """The regulariser on a line, ``start + t · linear + ½ t² · curvature``; weights reach bounds at ``farthest``."""

    start: float
    linear: float
    curvature: float
    farthest: float = np.inf

    @classmethod
    def between(cls, base: Vector, target: Vector) -> "Parabola":
        """Return ``½‖w‖²`` on the line from weights ``base`` (t = 0) through ``target`` (t = 1)."""
        direction = target - base
        return cls(0.5 * float(base @ base), float(base @ direction), float(direction @ direction))

    def value(self, t: float) -> float:
        """Return the value at t."""
        return self.start + t * (self.linear + 0.5 * t * self.curvature)

    def slope(self, t: float) -> float:
        """Return the slope at t."""
        return self.linear + t * self.curvature


class Line(ABC):
    """The objective on the line from one point (t = 0) through another (t = 1); evaluating it reads no features."""

    regulariser: Parabola

    @property
    def together(self) -> int:
        """Number of steps t to evaluate per call: 1 unless a call costs more than its work."""
        return 1

    @abstractmethod
    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at several t of at least 0, evaluated together."""

    @abstractmethod
    def at(self, t: float) -> tuple[Any, Any]:
        """Return the point at an evaluated t, and its planes."""


class ScoredLine(Line):
    """The objective of a `Problem` on a line in score space."""

    def __init__(self, problem: Any, base: Point, planes: Planes, target: Point) -> None:
        self.regulariser: Parabola = problem.regulariser_between(base.w, target.w)
        self._problem, self._base, self._planes, self._target = problem, base, planes, target
        self._along = target.scores - base.scores
        self._lowest, self._least = (0.0, base, planes), np.inf

    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at several t, after an argmax of every example unless t is 0."""
        return [self._look(t) for t in steps]

    def at(self, t: float) -> tuple[Point, Planes]:
        """Return the point at t and its planes, which are cached for the evaluated t with the lowest P."""
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
        return LineHinge(value, -self._problem.slope(planes, self._along))
