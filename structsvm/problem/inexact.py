"""Losses whose argmax is not sure to be one: the best estimate of the primal.

Every output makes a valid plane, so that lower bounds hold whatever the argmax. The hinge that it
gives may be too small, and with it the primal. The truth and the outputs found earlier are looked
at as well: the estimate is as close as what is known allows (Finley and Joachims, "Training
Structural SVMs when Exact Inference is Intractable", ICML 2008, on undergenerating argmaxes).
"""

import numpy as np

from structsvm.problem.points import Planes, Point
from structsvm.problem.problem import Problem
from structsvm.types import Vector


def estimate(problem: Problem, planes: Planes, point: Point, known: Vector) -> float:
    """Return the largest lower bound of ``P(w)`` that is known: an estimate, too low if anything.

    Parameters
    ----------
    problem, point : the problem, and the weights w with their scores.
    planes : what was found at this point.
    known : hinges at w by the outputs found earlier: of each example, shape (n,), or the weighted
        mean of all, shape (1,).
    """
    hinges = np.maximum(problem.violation(planes, point), 0.0)
    each = len(known) == problem.n
    hinge = float(np.sum(problem.cap * (np.maximum(hinges, known) if each else hinges)))
    return 0.5 * float(point.w @ point.w) + (hinge if each else max(hinge, float(problem.cap.sum() * known[0])))
