"""Cuts of a problem whose weights have bounds."""

import numpy as np
from attrs import evolve

from structsvm.problem import Box
from structsvm.qp import ActiveSet, DualQP, QPBackend, QPSolution
from structsvm.result import CutSet, rounding
from structsvm.solvers.working_set import WorkingSet
from structsvm.types import BoolVector, IntVector, Matrix, Vector

_ROUNDS = 1_000
"""Models of one QP after which its best multipliers are taken as they are."""

_ENOUGH = 0.1
"""Part of a gap by which a model must raise the dual, or lower that gap, to be followed by another of its kind."""

_MODELS = 5
"""Models that are tried before the last."""

_STALLED = 1e-4
"""Part of a gap: a rise of the dual by less counts as none, and the built-in backend goes on in place of another."""

_LESS = 0.5
"""Part of the gap that is left after steps that got somewhere, however little they raised the dual."""

_QP_ACCURACY = 0.1
"""Part of the gap wanted that is left in each model."""

_FIRST_STEP = 10.0
"""Energy of the columns of weights without regulariser in the Gram matrix, beside that of the others, at first."""

_OTHER_STEPS = 4.0
"""By how much their steps must have changed with the cuts to be chosen anew."""

_LONGER = 10.0
_LONGEST = 1e6
"""By how much their proximal steps grow where these get nowhere, at a time and in all."""


class BoxedWorkingSet(WorkingSet):
    """Cuts ``w·g ≥ L − ξ`` in groups, and the dual of the QP over them for weights in a `Box`.

    ``dual = Σ a_k L_k + min_{w in box} (r(w) − w·g)`` with ``g = Σ a_k g_k``, a piecewise quadratic function of a. Two
    kinds of models of it are of the form that QP backends know, a quadratic one with another Gram matrix:

    - of the columns in which w is between its bounds at the present a: equal to the dual as long as these stay the same
      (the Newton step of a semismooth function, followed by an exact search along the line to its solution);
    - of all columns: below the dual everywhere, as clipping brings no two points farther apart, so that the dual rises
      at its solution, if less.

    The first model is tried first. If its solution raises the dual too little, the columns whose bounds were reached or
    left on the way to it are added, and it is tried again; the second model comes last. Weights without regulariser get
    one for the time being, ``(w − c)² / 2s`` (the proximal point algorithm of Rockafellar, SIAM Journal on Control and
    Optimization 1976). Its centre c is moved to the weights found, again and again, until the gap of the dual without
    that term is as small as was asked for.

    Parameters
    ----------
    box : the bounds.
    cap : cap of each group, shape (G,).
    max_cuts : as in `WorkingSet`.
    """

    def __init__(self, box: Box, cap: Vector, max_cuts: int) -> None:
        d = len(box.low)
        super().__init__(d, cap, max_cuts)
        self._box = box
        self._g = np.zeros(d)
        self._centre = np.where(box.loose, box.nearest(np.zeros(d)), 0.0)
        self._step = self._first_step = np.ones(d)
        self._handed_over = False
        self._columns = np.ones(d)  # what the columns are weighted by in the Gram matrix
        self._best: tuple[float, CutSet] | None = None
        self._evaluate(self.a)

    def load(self, cuts: CutSet) -> None:
        """Take over cuts, with their multipliers scaled to the caps and to the best dual value."""
        if not len(cuts):
            return
        total = np.bincount(cuts.group, weights=cuts.a, minlength=len(self.cap))
        most = float(np.divide(self.cap, total, out=np.full(len(total), np.inf), where=total > 0.0).min())
        self.add(cuts.G, cuts.L, cuts.group, np.zeros(len(cuts)), cuts.error)
        if np.isfinite(most):
            self._move_toward(cuts.a * most)
            here = self.a.copy(), self.dual
            self._evaluate(cuts.a * min(most, 1.0))
            if here[1] > self.dual:
                self._evaluate(here[0])

    def solve(self, backend: QPBackend, tol: float) -> None:
        """Improve the multipliers until the gap of this QP is at most ``tol``, as far as float64 allows."""
        loose = self._box.loose
        if loose.any():
            self._set_steps()
        self._handed_over = False
        followed = np.inf
        for _ in range(_ROUNDS):
            slope = self.L - self.G @ self.w
            near = self._gap(slope)
            gap = near + self._loose_gap()
            if gap <= max(tol, self._resolution()):
                break
            if gap > near and near <= max(_ENOUGH * gap, 0.5 * tol):
                if gap > 0.5 * followed:
                    self._lengthen_steps()
                followed = gap
                self._centre = np.where(loose, self.w, 0.0)
                self._evaluate(self.a)
            elif not self._improve(backend, slope, near, _QP_ACCURACY * tol):
                if isinstance(backend, ActiveSet):
                    break
                backend, self._handed_over = ActiveSet(), True
        self.handovers += self._handed_over
        self._idle[: self.size] = np.where(self.a > 0.0, 0, self._idle[: self.size] + 1)
        if loose.any() and (self._best is None or self.dual > self._best[0]):
            self._best = self.dual, super().cuts()

    def cuts(self) -> CutSet:
        """Return a copy of the cuts with multipliers that attain the best dual."""
        best = self._best
        return super().cuts() if best is None or best[0] <= self.dual else best[1]

    def _improve(self, backend: QPBackend, slope: Vector, gap: float, tol: float) -> bool:
        """Go to the best points towards the solutions of models; say whether the dual is clearly higher."""
        before = self._near_dual()
        columns = self._sides(self._g) == 0
        for _ in range(_MODELS):
            sides = self._sides(self._g)
            solution = self._model(backend, slope, columns, tol)
            there = self._sides(solution.a @ self.G)
            moved = self._move_toward(solution.a)
            self._last = solution if moved and np.array_equal(solution.a, self.a) else None
            if self._near_dual() - before >= _ENOUGH * gap or columns.all():
                break
            met = columns | (sides != there) | (there == 0)
            columns = met if (met != columns).any() else np.ones_like(columns)
            slope = self.L - self.G @ self.w
        else:
            self._move_toward(self._model(backend, slope, np.ones_like(columns), tol).a)
        risen = self._near_dual() - before > _STALLED * gap
        return risen or self._gap(self.L - self.G @ self.w) <= _LESS * gap

    def _sides(self, g: Vector) -> IntVector:
        """Return for each column whether g is below its lower bound (-1), above its upper one (1) or between (0)."""
        at = self._centre + self._step * g
        return (at >= self._box.high).astype(np.int64) - (at <= self._box.low)

    def _model(self, backend: QPBackend, slope: Vector, columns: BoolVector, tol: float) -> QPSolution:
        """Return feasible multipliers that are best for a model, quadratic in some columns and linear in others."""
        weights = np.where(columns, self._step, 0.0)
        if not np.array_equal(weights, self._columns):
            self._columns, self._last = weights, None
            self._H[: self.size, : self.size] = self._products(self.G, self.G)
        H = self._H[: self.size, : self.size]
        qp = DualQP(H, slope + H @ self.a, self.group, self.cap, tol)
        solution = backend.solve(qp, self._last or QPSolution(self.a.copy(), gap=np.inf))
        self._handed_over |= bool(solution.handed_over)
        return evolve(solution, a=qp.project(solution.a))

    def _products(self, some: Matrix, others: Matrix) -> Matrix:
        return (some * self._columns) @ others.T

    def _move_toward(self, a: Vector) -> bool:
        """Go to the best point between the present multipliers and these; say whether the dual is higher there."""
        step = a - self.a
        changed = np.flatnonzero(step)
        g, rise = step[changed] @ self.G[changed], float(step @ self.L)
        along = self._step * g
        start = self._centre + self._step * self._g

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
            first, last = 0, len(turns)  # the slope is not negative before turn ``first``, and is from ``last`` on
            while first < last:
                middle = (first + last) // 2
                there = slope(float(turns[middle]))
                if there >= 0.0:
                    low, rising, first = float(turns[middle]), there, middle + 1
                else:
                    high, falling, last = float(turns[middle]), there, middle
            t = low + (high - low) * rising / (rising - falling)
        before, known = self._near_dual(), self.a.copy()
        self._evaluate(a if t == 1.0 else known + t * step)
        if self._near_dual() > before:
            return True
        self._evaluate(known)
        return False

    def _evaluate(self, a: Vector) -> None:
        self._a[: self.size] = a
        support = np.flatnonzero(a)
        self._g = a[support] @ self.G[support]
        self.w = self._box.nearest(self._centre + self._step * self._g)
        loose = self._box.loose
        norm = np.linalg.norm(np.where(loose, np.maximum(np.abs(self._box.low), np.abs(self._box.high)), self.w))
        self.dual = float(a @ self.L) + self._box.lowest(self._g) - rounding(float(norm), float(a @ self.error))

    def _near_dual(self) -> float:
        """Return the dual with the proximal term for weights without regulariser."""
        drawn = (self.w - self._centre) / self._step
        return float(self.a @ self.L) + float((self.w - self._centre) @ (0.5 * drawn)) - float(self.w @ self._g)

    def _gap(self, slope: Vector) -> float:
        """Return the gap of the QP with that term."""
        qp = DualQP(self._H[: self.size, : self.size], self.L, self.group, self.cap, 0.0)
        return qp.gap_at(self.a, slope)

    def _loose_gap(self) -> float:
        """Return by how much the gap without that term is larger."""
        box, loose = self._box, self._box.loose
        low, high, w, g = box.low[loose], box.high[loose], self.w[loose], self._g[loose]
        return float((np.maximum(low * g, high * g) - w * g).sum())

    def _resolution(self) -> float:
        """Return the gap that float64 cannot tell from 0; see `DualQP.resolution`."""
        size = np.abs(self.L) + np.abs(self.G) @ np.abs(self.w)
        error = np.finfo(np.float64).eps * size
        return float(self.cap.sum() * error.max(initial=0.0) + self.a @ error)

    def _set_steps(self) -> None:
        """Choose proximal steps: weights without regulariser move farther than the others, or all of their way."""
        loose, energy = self._box.loose, np.square(self.G).sum(axis=0)
        # Without the offsets, others that are constant within queries would set the scale by their rounding errors.
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

    def _lengthen_steps(self) -> None:
        """Let weights without regulariser move farther still."""
        longest = np.where(self._box.loose, _LONGEST, 1.0) * self._first_step
        self._step = np.minimum(_LONGER * self._step, longest)
