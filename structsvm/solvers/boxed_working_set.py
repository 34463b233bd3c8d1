"""The working set of a problem with bounds on weights."""

import numpy as np
from attrs import evolve

from structsvm.foundation.arrays import largest_of_groups
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector
from structsvm.problem.coordinates import Box
from structsvm.result import CutSet
from structsvm.solvers.qp import ActiveSet, DualQP, QPBackend, QPSolution
from structsvm.solvers.working_set import WorkingSet

_ROUNDS = 1_000
"""Largest number of models per QP; then its best multipliers are accepted."""

_ENOUGH = 0.1
"""Fraction of the gap by which a model must raise the dual, or lower the gap, to be continued.

Also the fraction of the gain of a proximal step to which its model must be solved before the center moves."""

_STALLED = 1e-4
"""Fraction of the gap: if the dual rises by less, the built-in backend replaces another one."""

_LESS = 0.5
"""Fraction of the gap left after steps that count as progress even if the dual rose little."""

_QP_ACCURACY = 0.1
"""Fraction of the target gap to which each model is solved."""

_FIRST_STEP = 10.0
"""Initial energy of the columns of unregularized weights in the Gram matrix, relative to all other columns."""

_OTHER_STEPS = 4.0
"""Factor by which the steps of unregularized weights must change with the cuts before they are chosen again."""

_LONGER = 10.0
_LONGEST = 1e6
"""Factors by which the proximal steps grow if there is no progress: each time, and in total."""


class BoxedWorkingSet(WorkingSet):
    """Cuts ``w·g ≥ L − ξ`` in groups, and the dual of the QP over them for weights in a `Box`.

    ``dual = Σ a_k L_k + min_{w in box} (r(w) − w·g)`` with ``g = Σ a_k g_k`` is piecewise quadratic in a. A model of it
    is a QP: quadratic in the columns in which w is strictly within bounds, linear in all others. It equals the dual
    while no column reaches or leaves a bound (a semismooth Newton step, followed by an exact line search). If its
    solution raises the dual too little, the bounds of the columns that crossed them enter the model, as cuts without
    slack, until no other column crosses: that model equals the dual.

    If the cuts of these bounds and all other cuts would exceed ``max_cuts``, the last model is quadratic in
    all columns. It is below the dual everywhere, because clipping is nonexpansive, so its solution raises the dual, if
    less.

    Weights without regularizer get the temporary term ``(w − c)² / 2s`` (the proximal point algorithm of
    Rockafellar, SIAM Journal on Control and Optimization 1976). Once the gap of a model is small beside the gain of the
    step from c to its weights, c moves there, or farther along the same line. This ends when the gap of the dual
    without the term is as small as requested.
    """

    def __init__(self, box: Box, cap: Vector, max_cuts: int) -> None:
        d = len(box.low)
        super().__init__(d, cap, max_cuts)
        self._box = box
        self._g = np.zeros(d)
        self._center = np.where(box.loose, box.nearest(np.zeros(d)), 0.0)
        self._step = self._first_step = np.ones(d)
        self._handed_over = False
        # Weights of the columns in the Gram matrix.
        self._columns = np.ones(d)
        self._best: tuple[float, CutSet] | None = None
        self._evaluate(self.a)
        self._dual_of_zero = self.dual

    @property
    def resolution(self) -> float:
        # Within bounds, w is a sum of terms that may be large beside it; at a bound, it is exact.
        G = np.abs(self.G)
        terms = np.where(self._sides(self._g) == 0, self._step * (self.a @ G), np.abs(self.w))
        size = np.abs(self.L) + G @ terms
        error = np.finfo(np.float64).eps * size
        return float(self.cap.sum() * error.max(initial=0.0) + self.a @ error)

    def load(self, cuts: CutSet) -> None:
        if not len(cuts):
            return
        total = np.bincount(cuts.group, weights=cuts.a, minlength=len(self.cap))
        most = float(np.divide(self.cap, total, out=np.full(len(total), np.inf), where=total > 0.0).min())
        self.add(cuts.G, cuts.L, cuts.group, np.zeros(len(cuts)))
        if np.isfinite(most):
            self._move_toward(cuts.a * most)
            here = self.a.copy(), self.dual
            self._evaluate(cuts.a * min(most, 1.0))
            if here[1] > self.dual:
                self._evaluate(here[0])

    def solve(self, backend: QPBackend, tol: float) -> None:
        loose = self._box.loose
        if loose.any():
            self._set_steps()
        self._handed_over = False
        followed = np.inf
        for _ in range(_ROUNDS):
            slope = self.L - self.G @ self.w
            near = self._gap(slope)
            gap = near + self._loose_gap()
            if gap <= max(tol, self.resolution):
                break
            if near > max(_ENOUGH * min(gap, self._gain()), 0.5 * tol) and self._improve(
                backend, near, _QP_ACCURACY * tol
            ):
                continue
            if gap > near and self._primal(self.w) < self._primal(np.where(loose, self._center, self.w)):
                if gap > 0.5 * followed:
                    self._lengthen_steps()
                followed = gap
                self._center = np.where(loose, self._farther(), 0.0)
                self._evaluate(self.a)
            elif isinstance(backend, ActiveSet):
                # The steps may gain less than the accuracy of the model.
                if gap == near or not self._lengthen_steps():
                    break
                self._evaluate(self.a)
            else:
                backend, self._handed_over = ActiveSet(), True
        self.handovers += self._handed_over
        self._idle[: self.size] = np.where(self.a > 0.0, 0, self._idle[: self.size] + 1)
        if loose.any() and (self._best is None or self.dual > self._best[0]):
            self._best = self.dual, super().cuts()

    def cuts(self) -> CutSet:
        best = self._best
        dual, cuts = (self.dual, super().cuts()) if best is None or best[0] <= self.dual else best
        return cuts if dual >= self._dual_of_zero else evolve(cuts, a=np.zeros(len(cuts)))

    def _improve(self, backend: QPBackend, gap: float, tol: float) -> bool:
        """Move to the best points towards the solutions of models; return True if the dual rose clearly."""
        before = self._near_dual()
        columns = self._sides(self._g) == 0
        crossed = np.zeros_like(columns)
        while True:
            sides = self._sides(self._g)
            solution = self._model(backend, columns, crossed, tol)
            there = self._sides(solution.a @ self.G)
            moved = self._move_toward(solution.a)
            self._last = solution if moved and not crossed.any() and np.array_equal(solution.a, self.a) else None
            more = crossed | (sides != there)
            if self._near_dual() - before >= _ENOUGH * gap or (more == crossed).all():
                break
            if self.size + np.count_nonzero(more) > self.max_cuts:
                everything, nothing = np.ones_like(more), np.zeros_like(more)
                self._move_toward(self._model(backend, everything, nothing, tol).a)
                break
            crossed = more
        risen = self._near_dual() - before > _STALLED * gap
        return risen or self._gap(self.L - self.G @ self.w) <= _LESS * gap

    def _sides(self, g: Vector) -> IntVector:
        """Return for each column whether g is below its lower bound (-1), above its upper one (1) or between (0)."""
        at = self._center + self._step * g
        # A weight with equal bounds is constant: g never crosses a bound.
        above = (at >= self._box.high) | (self._box.low == self._box.high)
        return np.where(above, 1, -(at <= self._box.low).astype(np.int64))

    def _model(self, backend: QPBackend, free: BoolVector, crossed: BoolVector, tol: float) -> QPSolution:
        """Return feasible multipliers that maximize the model of the dual.

        It is quadratic in the free columns, exact in the columns that crossed a bound, and linear in all others.
        """
        weights = np.where(free | crossed, self._step, 0.0)
        if not np.array_equal(weights, self._columns):
            self._columns, self._last = weights, None
            self._H[: self.size, : self.size] = self._products(0)
        H, a, size = self._H[: self.size, : self.size], self.a.copy(), self.size
        slope = self.L - self.G @ self.w
        if not crossed.any():
            qp = DualQP(H, slope + H @ a, self.group, self.cap, tol)
            solution = backend.solve(qp, self._last or QPSolution(a, gap=np.inf))
        else:
            qp, start = self._with_bounds(H, slope, crossed, tol)
            solution = backend.solve(qp, QPSolution(start, gap=np.inf))
        self._handed_over |= bool(solution.handed_over)
        return evolve(solution, a=qp.project(solution.a)[:size])

    def _with_bounds(self, H: Matrix, slope: Vector, crossed: BoolVector, tol: float) -> tuple[DualQP, Vector]:
        """Return the QP with the bounds of some columns as cuts, one group each, and its start.

        A bound has no slack, so the cap of its group is the largest multiplier that any feasible cuts lead to.
        """
        low, high = (np.flatnonzero(crossed & np.isfinite(end)) for end in (self._box.low, self._box.high))
        column, sign = np.concatenate([low, high]), np.repeat([1.0, -1.0], [len(low), len(high)])
        end = np.concatenate([self._box.low[low], -self._box.high[high]])
        far = end - sign * (self._center + self._step * self._g)[column]
        a = np.concatenate([self.a, np.maximum(far, 0.0) / self._step[column]])
        across = (self.G * self._step)[:, column] * sign
        same = (column[:, None] == column) * np.outer(sign, sign) * self._step[column]
        H = np.block([[H, across], [across.T, same]])
        offset = end - sign * self._center[column]
        b = np.concatenate([slope + H[: self.size] @ a, offset])
        most = float(self.cap.sum()) * np.abs(self.G).max(axis=0)[column] + np.abs(offset) / self._step[column]
        group = np.concatenate([self.group, len(self.cap) + np.arange(len(column))])
        return DualQP(H, b, group, np.concatenate([self.cap, most]), tol), a

    def _products(self, start: int) -> Matrix:
        G: Matrix = self._rows.all
        return (G[start:] * self._columns) @ G.T

    def _move_toward(self, a: Vector) -> bool:
        step = a - self.a
        changed = np.flatnonzero(step)
        g, rise = step[changed] @ self.G[changed], float(step @ self.L)
        along = self._step * g
        start = self._center + self._step * self._g

        def slope(t: float) -> float:
            return rise - float(self._box.nearest(start + t * along) @ g)

        low, high = 0.0, 1.0
        falling, rising = slope(1.0), slope(0.0)
        if rising <= 0.0:
            return False
        if falling >= 0.0:
            t = 1.0
        else:
            moving = np.flatnonzero(along)
            ends = np.concatenate(
                [(b[moving] - start[moving]) / along[moving] for b in (self._box.low, self._box.high)]
            )
            turns = np.unique(ends[(ends > 0.0) & (ends < 1.0)])
            # Bisect: the slope is not negative before turn ``first``, and is negative from ``last`` on.
            first, last = 0, len(turns)
            while first < last:
                middle = (first + last) // 2
                there = slope(float(turns[middle]))
                if there >= 0.0:
                    low, rising, first = float(turns[middle]), there, middle + 1
                else:
                    high, falling, last = float(turns[middle]), there, middle
            t = low + (high - low) * rising / (rising - falling)
        before, here = self._near_dual(), self.a.copy()
        self._evaluate(a if t == 1.0 else here + t * step)
        if self._near_dual() > before:
            return True
        self._evaluate(here)
        return False

    def _evaluate(self, a: Vector) -> None:
        self._a[: self.size] = a
        support = np.flatnonzero(a)
        self._g = a[support] @ self.G[support]
        self._w = self._box.nearest(self._center + self._step * self._g)
        self.dual = float(a @ self.L) + self._box.lowest(self._g)

    def _near_dual(self) -> float:
        """Return the dual with the proximal term for weights without regularizer."""
        drawn = (self.w - self._center) / self._step
        return float(self.a @ self.L) + float((self.w - self._center) @ (0.5 * drawn)) - float(self.w @ self._g)

    def _gap(self, slope: Vector) -> float:
        """Return the gap of the QP with the proximal term."""
        qp = DualQP(self._H[: self.size, : self.size], self.L, self.group, self.cap, 0.0)
        return qp.gap_at(self.a, slope)

    def _loose_gap(self) -> float:
        """Return how much larger the gap is without the proximal term."""
        box, loose = self._box, self._box.loose
        low, high, w, g = box.low[loose], box.high[loose], self.w[loose], self._g[loose]
        return float((np.maximum(low * g, high * g) - w * g).sum())

    def _gain(self) -> float:
        """Return by how much a proximal step lowers the objective of the QP, if its gap is 0."""
        loose = self._box.loose
        return float((np.square(self.w - self._center) / self._step)[loose].sum())

    def _farther(self) -> Vector:
        """Return the weights at 2, 4, 8, ... proximal steps, as long as the objective of the QP falls."""
        loose = self._box.loose
        farthest, lowest, steps = self.w, self._primal(self.w), 2.0
        while True:
            w = np.where(loose, self._box.nearest(self._center + steps * self._step * self._g), self.w)
            primal = self._primal(w)
            if not primal < lowest:
                return farthest
            farthest, lowest, steps = w, primal, 2.0 * steps

    def _primal(self, w: Vector) -> float:
        """Return the objective of the QP at weights within the box."""
        slack = largest_of_groups(self.L - self.G @ w, self.group, len(self.cap))
        return self._box.regularizer(w) + float(self.cap @ slack)

    def _set_steps(self) -> None:
        """Choose proximal steps that move unregularized weights farther than other weights, or over all their range."""
        loose, energy = self._box.loose, np.square(self.G).sum(axis=0)
        # Without the offsets, rounding errors of columns that are constant within queries would set the scale.
        others = max(float(energy[~loose].sum()), float((np.abs(self.L) / self.cap[self.group]).sum()))
        room = self._box.high - self._box.low
        largest = float(self.cap.sum()) * np.abs(self.G).max(axis=0, initial=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = room / largest
            if others > 0.0:
                step = np.minimum(step, _FIRST_STEP * others / energy)
        step = np.where(loose & np.isfinite(step) & (step > 0.0), step, 1.0)
        changed = np.maximum(step / self._first_step, self._first_step / step)
        if changed.max() > _OTHER_STEPS:
            self._first_step = self._step = step
            self._evaluate(self.a)

    def _lengthen_steps(self) -> bool:
        """Lengthen the proximal steps of weights without regularizer; return True if they were not the longest."""
        before, longest = self._step, np.where(self._box.loose, _LONGEST, 1.0) * self._first_step
        self._step = np.minimum(_LONGER * before, longest)
        return bool((self._step > before).any())
