"""The objective on a line between two points."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from structsvm.foundation.types import BoolVector, Vector
from structsvm.problem.points import Planes, Point

_SAME = 1e-12
"""Relative difference of hinges that are equal but for rounding."""


class LineHinge(NamedTuple):
    """The weighted hinge at a point of a line, and its slope, a subgradient."""

    value: float
    slope: float


@frozen
class Parabola:
    """The regularizer on a line, ``start + t · linear + ½ t² · curvature``; weights reach bounds at ``farthest``."""

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

    def slope(self, t: Any) -> Any:
        """Return the slope at t, a number or a vector."""
        return self.linear + t * self.curvature


class LowestModel(NamedTuple):
    """The t with the smallest value of a model of P, a lower bound of it, and that value."""

    t: float
    value: float


class Tangents(NamedTuple):
    """The hinges of all examples at t of a line, and their slopes, shape (n,) each."""

    t: float
    value: Vector
    slope: Vector

    def meets(self, other: "Tangents") -> BoolVector:
        """Return the examples whose hinges at another t lie on the tangents here."""
        reached = self.value + (other.t - self.t) * self.slope
        return other.value - reached <= _SAME * (np.abs(self.value) + np.abs(other.value))

    def lowest_model(self, right: "Tangents", regularizer: Parabola, cap: Vector) -> LowestModel:
        """Minimize the regularizer plus the larger of both tangents of each example, up to the t of ``right``."""
        rise = cap * (right.slope - self.slope)
        bends = np.flatnonzero(rise > 0.0)
        gap = self.value - self.slope * self.t - right.value + right.slope * right.t
        meet = np.clip((cap * gap)[bends] / rise[bends], self.t, right.t)
        order = np.argsort(meet)
        meet, rise = meet[order], rise[bends][order]
        slopes = float(np.sum(cap * self.slope)) + np.concatenate(([0.0], np.cumsum(rise)))
        # The first bend at which P does not fall any more ends the piece with the minimum.
        piece = int(np.searchsorted(regularizer.slope(meet) + slopes[1:], 0.0))
        end = meet[piece] if piece < len(meet) else right.t
        flat = regularizer.curvature == 0.0
        lowest = end if flat else -(regularizer.linear + slopes[piece]) / regularizer.curvature
        t = float(np.clip(lowest, self.t, end))
        tangents = np.maximum(self.value + (t - self.t) * self.slope, right.value + (t - right.t) * right.slope)
        return LowestModel(t, regularizer.value(t) + float(np.sum(cap * tangents)))


class Line(ABC):
    """The objective on the line from one point (t = 0) through another (t = 1); evaluating it reads no features."""

    regularizer: Parabola
    argmaxes: float = 0.0
    """Argmaxes of each example so far, on average."""

    @property
    def together(self) -> int:
        """Number of steps t to evaluate per call: 1 unless a call costs more than its work."""
        return 1

    @abstractmethod
    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at several t of at least 0, evaluated together."""

    def lowest_between(self, low: float, high: float) -> "LowestModel | None":
        """Return the minimum of a model of P between two evaluated t; None if sums of tangents are the best model."""
        return None

    @abstractmethod
    def at(self, t: float) -> tuple[Any, Any]:
        """Return the point at t, and its planes."""


class ScoredLine(Line):
    """The objective of a `Problem` on a line in score space.

    The hinge of an example is convex. If its tangent at one evaluated t passes through it at another one, the hinge is
    linear between both, the plane of the first is an argmax there, and no other is needed.
    """

    def __init__(self, problem: Any, base: Point, planes: Planes, target: Point) -> None:
        self.regularizer: Parabola = problem.regularizer_between(base.w, target.w)
        self._problem, self._base, self._planes, self._target = problem, base, planes, target
        self._along = target.scores - base.scores
        self._tangents: list[Tangents] = []
        self._known: list[tuple[Tangents, Planes]] = []
        self._remember(0.0, base, planes)

    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at several t; without argmaxes of examples whose hinge is known."""
        return [self._problem.weighted_hinge(self._at(t)) for t in steps]

    def lowest_between(self, low: float, high: float) -> LowestModel:
        """Minimize the regularizer plus the larger of two tangents of each example, exactly."""
        return self._at(low).lowest_model(self._at(high), self.regularizer, self._problem.cap)

    def at(self, t: float) -> tuple[Point, Planes]:
        """Return the point at t, and its planes; without argmaxes of examples whose hinge is linear from known ones.

        If no other t was evaluated yet, the planes and the hinges at this one are remembered.
        """
        if t == 0.0:
            return self._base, self._planes
        point = self._base.toward(self._target, t)
        if len(self._tangents) == 1:
            planes = self._planes_at(point)
            self._remember(t, point, planes)
            return point, planes
        place = bisect_left(self._tangents, t, key=lambda other: other.t)
        # Bounds of argmaxes hold at one point only.
        if place == len(self._tangents) or self._planes.missed is not None:
            return point, self._planes_at(point)
        above = self._tangents[place]
        below = above if above.t == t else self._tangents[place - 1]
        settled = [(at.meets(above if at.t < t else below), planes) for at, planes in self._known]
        merged = self._planes_at(point, ~np.logical_or.reduce([which for which, _ in settled]))
        for which, planes in settled:
            merged = merged.replaced(planes, which, self._problem.ptr)
        return point, merged

    def _planes_at(self, point: Point, which: BoolVector | None = None) -> Planes:
        self.argmaxes += 1.0 if which is None else float(np.mean(which))
        planes: Planes = self._problem.planes(point, which)
        return planes

    def _remember(self, t: float, point: Point, planes: Planes) -> None:
        """Store the planes at a t beyond those evaluated, and their hinges."""
        value, slope = self._problem.violation(planes, point), -planes.dots(self._along, self._problem.ptr)
        self._tangents.append(Tangents(t, value, slope))
        self._known.append((self._tangents[-1], planes))

    def _at(self, t: float) -> "Tangents":
        place = bisect_left(self._tangents, t, key=lambda other: other.t)
        if place < len(self._tangents) and self._tangents[place].t == t:
            return self._tangents[place]
        left = self._tangents[place - 1]
        settled = left.meets(self._tangents[place]) if place < len(self._tangents) else None
        here = Tangents(t, left.value + (t - left.t) * left.slope, left.slope.copy())
        self._problem.on_line(self._base, self._along, here, settled)
        self.argmaxes += 1.0 if settled is None else float(np.mean(~settled))
        self._tangents.insert(place, here)
        return here
