"""The exact minimum of P along a line, in score space: no pass over the data."""

import numpy as np
from attrs import frozen

from structsvm.problem import Planes, Point
from structsvm.solvers.run import Run

_EVALUATIONS = 12

_FARTHEST = 2.0
"""Largest t: beyond it the rounding errors of the scores would grow from search to search."""

_ACCURACY = 0.01
"""Part of the descent found so far that may be left when the search ends."""


@frozen
class _Tangent:
    """A lower bound of the weighted hinge along the line: ``value + slope (t − at)``."""

    at: float
    value: float
    slope: float


def search(run: Run, base: Point, planes: Planes, target: Point) -> tuple[Point, Planes]:
    """Minimise ``P(w_b + t (w_t − w_b))`` over ``0 ≤ t ≤ 2``.

    P is a parabola plus a convex piecewise linear function, of which an argmax of every
    example gives a value and a slope. Between the two tangents next to the minimum, the
    minimum of the model is exact; a few evaluations suffice (Franc and Sonnenburg,
    "Optimized Cutting Plane Algorithm for Large-Scale Risk Minimization", JMLR 2009).

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
    direction = target.w - base.w
    curvature = float(direction @ direction)
    linear = float(base.w @ direction)
    half_norm = 0.5 * float(base.w @ base.w)
    along = target.scores - base.scores

    def parabola(t: float) -> float:
        return half_norm + t * (linear + 0.5 * t * curvature)

    def tangent(t: float, primal: float, found: Planes) -> _Tangent:
        return _Tangent(t, primal - parabola(t), -problem.slope(found, along))

    start = tangent(0.0, problem.primal(planes, base), planes)
    best, best_value = (base, planes), start.value + half_norm
    if curvature == 0.0 or start.slope + linear >= 0.0:
        return best
    low, high = start, None
    t = 1.0
    for _ in range(_EVALUATIONS):
        point = base.toward(target, t)
        found, primal = run.see(point)
        here = tangent(t, primal, found)
        if primal < best_value:
            best, best_value = (point, found), primal
        if here.slope + linear + t * curvature < 0.0:
            low = here
        else:
            high = here
        if high is None:
            if t == _FARTHEST:
                break
            t = _FARTHEST
            continue
        t = _lowest(low, high, linear, curvature)
        model = parabola(t) + max(low.value + low.slope * (t - low.at), high.value + high.slope * (t - high.at))
        if best_value - model <= _ACCURACY * (start.value + half_norm - best_value) or not low.at < t < high.at:
            break
    return best


def _lowest(low: _Tangent, high: _Tangent, linear: float, curvature: float) -> float:
    """Return where the parabola plus the larger of two lines is lowest."""
    left = -(linear + low.slope) / curvature
    if high.slope <= low.slope:
        return left
    right = -(linear + high.slope) / curvature
    crossing = (low.value - low.slope * low.at - high.value + high.slope * high.at) / (high.slope - low.slope)
    return float(np.clip(crossing, right, left))
