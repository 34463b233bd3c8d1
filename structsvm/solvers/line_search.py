"""The exact minimum of P along a line, in score space: no pass over the data."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from attrs import frozen

from structsvm.problem import Planes, Point
from structsvm.solvers.run import Run
from structsvm.types import Vector

_EVALUATIONS = 12

_FARTHEST = 2.0
"""Largest t: beyond it the rounding errors of the scores would grow from search to search."""

_ACCURACY = 0.01
"""Part of the descent found so far that may be left when the search ends."""


TOWARD_TARGET = 0.1
"""How far from the best point on the line towards the solution of the QP the next cut is made."""


class Hinge(NamedTuple):
    """The weighted hinge at a point of a line, and its slope there."""

    value: float
    slope: float


@frozen
class Line:
    """The regulariser on the line ``w_b + t (w_t − w_b)``: ``half_norm + t · linear + ½ t² · curvature``."""

    half_norm: float
    linear: float
    curvature: float

    @classmethod
    def between(cls, base: Vector, target: Vector) -> "Line":
        """Return the line from weights ``base``, at t = 0, through ``target``, at t = 1."""
        direction = target - base
        return cls(0.5 * float(base @ base), float(base @ direction), float(direction @ direction))

    def regulariser(self, t: float) -> float:
        """Return ``½‖w‖²`` at t."""
        return self.half_norm + t * (self.linear + 0.5 * t * self.curvature)

    def slope(self, t: float) -> float:
        """Return its slope at t."""
        return self.linear + t * self.curvature


def lowest_on(line: Line, start: Hinge, hinge_at: Callable[[float], Hinge]) -> float:
    """Minimise P over ``0 ≤ t ≤ 2`` and return the best t that was looked at.

    P is a parabola plus a convex piecewise linear function, of which an argmax of every
    example gives a value and a slope. Between the two tangents next to the minimum, the
    minimum of the model is exact; a few evaluations suffice (Franc and Sonnenburg,
    "Optimized Cutting Plane Algorithm for Large-Scale Risk Minimization", JMLR 2009).

    Parameters
    ----------
    line : the parabola.
    start : the hinge at t = 0.
    hinge_at : gives it elsewhere.
    """
    if line.curvature == 0.0 or start.slope + line.linear >= 0.0:
        return 0.0
    first = start.value + line.half_norm
    best, lowest = 0.0, first
    low, high = (0.0, start), None
    t = 1.0
    for _ in range(_EVALUATIONS):
        here = hinge_at(t)
        primal = line.regulariser(t) + here.value
        if primal < lowest:
            best, lowest = t, primal
        if here.slope + line.slope(t) < 0.0:
            low = t, here
        else:
            high = t, here
        if high is None:
            if t == _FARTHEST:
                break
            t = _FARTHEST
            continue
        t = _crossing(line, low, high)
        model = line.regulariser(t) + max(at.value + at.slope * (t - place) for place, at in (low, high))
        if lowest - model <= _ACCURACY * (first - lowest) or not low[0] < t < high[0]:
            break
    return best


def _crossing(line: Line, low: tuple[float, Hinge], high: tuple[float, Hinge]) -> float:
    """Return where the parabola plus the larger of two tangents is lowest."""
    (low_t, low_hinge), (high_t, high_hinge) = low, high
    left = -(line.linear + low_hinge.slope) / line.curvature
    if high_hinge.slope <= low_hinge.slope:
        return left
    right = -(line.linear + high_hinge.slope) / line.curvature
    rise = low_hinge.value - low_hinge.slope * low_t - high_hinge.value + high_hinge.slope * high_t
    return float(np.clip(rise / (high_hinge.slope - low_hinge.slope), right, left))


def search(run: Run, base: Point, planes: Planes, target: Point) -> tuple[Point, Planes]:
    """Minimise P along the line from a point to another.

    Parameters
    ----------
    run : evaluates points, and keeps the best.
    base, planes : the point w_b, with its planes.
    target : the point w_t.

    Returns
    -------
    The best point on the line with its planes.
    """
    problem = run.problem
    line = Line.between(base.w, target.w)
    along = target.scores - base.scores
    best, lowest = (base, planes), problem.primal(planes, base)

    def hinge_at(t: float) -> Hinge:
        nonlocal best, lowest
        point = base.toward(target, t)
        found, primal = run.evaluate_point(point)
        if primal < lowest:
            best, lowest = (point, found), primal
        return Hinge(primal - line.regulariser(t), -problem.slope(found, along))

    lowest_on(line, Hinge(lowest - line.half_norm, -problem.slope(planes, along)), hinge_at)
    return best
