"""The problem that a solver sees."""

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.planes.dual import DualPlanes
from structsvm.problem.checks import (
    beaten,
    require_argmaxes,
    require_finite,
    require_planes,
    require_unbeaten,
)
from structsvm.problem.points import Cut, Cuts, Planes, Point
from structsvm.problem.sweep import segment_dots
from structsvm.problem.weighted_examples import WeightedExamples
from structsvm.types import BoolVector, IntVector, Vector


@frozen(eq=False, kw_only=True)
class Problem(WeightedExamples):
    """Find w with the smallest ``P(w) = ½‖w‖² + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i, ŷ))]``.

    All that a solver knows. Make one with `from_queries`, `from_examples`, or `make`.

    Its parts, with their shapes, are those of `WeightedExamples`.
    """

    def origin(self) -> Point:
        """Return the point at ``w = 0``: no pass over the data."""
        return Point(np.zeros(self.d), np.zeros(self.ptr[-1]))

    def at(self, w: Vector) -> Point:
        """Return the point at weights w: half a pass over the data; refuse features that are not finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            scores = self.operator.scores(w)
        require_finite(scores, self.ptr, self.first)
        return Point(w, scores)

    def planes(self, point: Point) -> Planes:
        """Find the loss-augmented argmax of every example: no pass over the data.

        Raises
        ------
        OracleError : when a loss is not a finite number of at least 0, or an encoding not finite.
        """
        planes = self.oracle.planes(point.scores, self.ptr, self.cap)
        require_planes(self.loss.title, planes.loss, planes.coef, self.ptr, self.first)
        return planes

    def violation(self, planes: Planes, point: Point) -> Vector:
        """Return ``L − c·s`` of each plane at any point, shape (n,): no pass over the data."""
        return planes.loss - segment_dots(planes.coef, point.scores, self.ptr)

    def checked_violation(self, planes: Planes, point: Point, known: Vector) -> Vector:
        """Return the violation of planes found at this very point, or where inexact ones are beaten, of earlier ones.

        Parameters
        ----------
        planes, point : the argmaxes, and where they were found.
        known : values of ``L − g·w`` that outputs found earlier have there, shape (n,).

        Raises
        ------
        OracleError : when one of these is larger than that of an exact argmax.
        """
        violation = self.violation(planes, point)
        if not self.exact:
            return np.maximum(violation, known)
        require_unbeaten(self.loss.title, violation, known, point.scores, self.first)
        return violation

    def slope(self, planes: Planes, along: Vector) -> float:
        """Return ``Σ κ_i C/n c_i·ds_i``: how fast the planes' weighted sum falls as scores move along ds."""
        return float(np.sum(self.cap * segment_dots(planes.coef, along, self.ptr)))

    def primal(self, planes: Planes, point: Point) -> float:
        """Return ``P(w)`` from the planes that were found at this very point.

        Raises
        ------
        OracleError : when the truth itself beats an output that was returned as the argmax.
        """
        violation = self.violation(planes, point)
        require_argmaxes(self.loss.title, violation, point.scores, self.first)
        return float(0.5 * (point.w @ point.w) + np.sum(self.cap * np.maximum(violation, 0.0)))

    def cut(self, planes: Planes) -> Cut:
        """Return the weighted mean of the planes, ``Σ κ_i (g_i, L_i) / Σ κ_i``: a pass over the data."""
        weight = self.cap / self.cap.sum()
        g = self.operator.combine(planes.coef * np.repeat(weight, np.diff(self.ptr)))
        if not np.isfinite(g).all():
            self.at(np.ones(self.d))  # names the example, unless the features are too large only together
            raise InputError("the features are too large to compute with: scale them")
        return Cut(g, float(np.sum(weight * planes.loss)))

    def cuts(self, planes: Planes, which: BoolVector) -> Cuts:
        """Return the planes of some examples, one cut each."""
        examples = np.flatnonzero(which)
        return Cuts(self.operator.combine_each(planes.coef, examples), planes.loss[examples], examples)

    def sweep(self, dual: DualPlanes, order: IntVector) -> float:
        """Visit examples with a dual point in hand: find the plane of each at ``dual.w``, take it in, and step.

        A pass over the data where ``order`` is all examples.

        Parameters
        ----------
        dual : changed in place.
        order : the examples.

        Returns
        -------
        The sum of the gaps met, each at the weights of its visit.

        Raises
        ------
        OracleError : when an argmax is none, as far as can be seen: the truth or a plane that is kept beats it.
        """
        visited = self.oracle.sweep(self.operator.view, dual, order)
        if visited is None:
            return sum(self._visit(dual, i) for i in order.tolist())
        met, wrong = visited
        if wrong >= 0:
            self._visit(dual, wrong)
            raise beaten(self.loss.title, self.first + wrong)
        return met

    def _visit(self, dual: DualPlanes, i: int) -> float:
        example = self.block(i, i + 1)
        point = example.at(dual.w)
        planes = example.planes(point)
        example.primal(planes, point)
        example.checked_violation(planes, point, np.array([dual.best(i)]))
        cuts = example.cuts(planes, np.ones(1, dtype=np.bool_))
        return dual.visit(cuts.example + i, cuts.G, cuts.L)
