"""Losses whose argmax is not sure to be one: what is still certain, and the best estimate of the rest.

Every output makes a valid plane, so that lower bounds hold whatever the argmax. The hinge that it
gives may be too small, and with it the primal. The truth and the outputs found earlier are looked
at as well: the estimate is as close as what is known allows (Finley and Joachims, "Training
Structural SVMs when Exact Inference is Intractable", ICML 2008, on undergenerating argmaxes).
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from attrs import frozen

from structsvm.problem.dual import DualPlanes
from structsvm.problem.points import Planes, Point
from structsvm.problem.sweep import segment_dots
from structsvm.types import IntVector, Vector

if TYPE_CHECKING:
    from structsvm.problem.oracle import Oracle
    from structsvm.problem.problem import Problem


@frozen(eq=False)
class NotBelowTruth:
    """An oracle whose planes are those of another, or of the truth where that is better."""

    inner: "Oracle"

    def planes(self, scores: Vector, ptr: IntVector, cap: Vector) -> Planes:
        """Return the planes at these scores."""
        found = self.inner.planes(scores, ptr, cap)
        below = (found.loss >= 0.0) & (found.loss < segment_dots(found.coef, scores, ptr))
        return Planes(np.where(np.repeat(below, np.diff(ptr)), 0.0, found.coef), np.where(below, 0.0, found.loss))

    def sweep(self, view: Any, dual: DualPlanes, order: IntVector) -> tuple[float, int] | None:
        """Visit examples; see `Problem.sweep`."""
        return self.inner.sweep(view, dual, order)

    def block(self, start: int, stop: int) -> Self:
        """Return the oracle of the examples ``start`` to ``stop − 1``."""
        return type(self)(self.inner.block(start, stop))


def estimate(problem: "Problem", planes: Planes, point: Point, known: Vector) -> float:
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
