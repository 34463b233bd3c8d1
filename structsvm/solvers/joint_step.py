"""Joint steps on the multipliers of all stored planes."""

from collections.abc import Sequence

import numpy as np

from structsvm.foundation.types import Vector
from structsvm.problem.checks import require_moderate_norm
from structsvm.problem.line import LineHinge, Parabola
from structsvm.problem.planes import DualPlanes
from structsvm.problem.planes.values import PlaneValues
from structsvm.solvers.line_search import TOWARD_TARGET, lowest_on
from structsvm.solvers.qp import ActiveSet
from structsvm.solvers.qp.base import DualQP, QPSolution
from structsvm.solvers.qp.kernels import ascend_pairs
from structsvm.solvers.working_set import CutArrays, WorkingSet

_MOST_STEPS = 3000
"""Pairwise steps after which the active-set solver continues."""

_QP_ACCURACY = 0.5
"""Fraction of the gap on the planes to which each QP is solved."""

_LINE_ACCURACY = 0.2
"""Fraction of the descent so far that a line search may leave."""

_NEAREST = 0.01
"""Smallest first t of a line search."""


def improve_jointly(dual: DualPlanes, enough: float, most_cuts: int) -> None:
    """Improve all multipliers of stored planes at once, without data, by cuts of one stored plane per example."""
    planes = dual.arrays
    require_moderate_norm(dual.largest, float(planes.cap.sum()))
    values = PlaneValues(planes, dual.w, most_cuts)
    qp = GrowingQP(dual.w, float((planes.a * planes.L).sum()), most_cuts + 1)
    _add_cuts(values, qp, enough)
    dual.reads += (qp.size - 1) * (dual.size + len(planes.cap)) * len(dual.w) + qp.reads
    direction = qp.w - dual.w
    rise = float(qp.a @ qp.L - qp.L[0] - dual.w @ direction)
    # Otherwise rounding prevents further progress.
    if rise > 0.0:
        t = min(1.0, rise / max(float(direction @ direction), rise))
        dual.mix(1.0 - t + t * float(qp.a[0]), values.choices[: qp.size - 1], t * qp.a[1:])


def _add_cuts(values: PlaneValues, qp: "GrowingQP", enough: float) -> None:
    """Add cuts one by one, each near the best point on the line to the QP's solution."""

    def hinges(steps: Sequence[float]) -> list[LineHinge]:
        return [LineHinge(*values.hinge(t)) for t in steps]

    w, t = qp.w, 1.0
    lowest = 0.5 * float(w @ w) + values.start()
    while lowest - qp.dual > enough and qp.size <= len(values.choices):
        qp.add(*values.cut())
        qp.solve(_QP_ACCURACY * (lowest - qp.dual))
        line = Parabola.between(w, qp.w)
        first = min(max(t, _NEAREST), 1.0)
        values.aim(qp.w)
        t = lowest_on(line, hinges, first_step=first, accuracy=_LINE_ACCURACY)
        if t > 0.0:
            w = w + t * (qp.w - w)
            lowest = line.value(t) + values.hinge(t)[0]
        values.move(t, beyond=TOWARD_TARGET * (1.0 - t))


def solve_over_planes(dual: DualPlanes, enough: float) -> None:
    """Solve the QP over the stored planes directly, with one variable per plane and one group per example."""
    cuts = dual.all_cuts()
    cap = dual.arrays.cap
    working_set = WorkingSet(cuts.G.shape[1], cap, len(cuts))
    working_set.add(cuts.G, cuts.L, cuts.group, cuts.a)
    working_set.solve(ActiveSet(), enough)
    dual.weigh(working_set.a)


class GrowingQP(CutArrays):
    """Maximize ``Σ a_k L_k − ½ ‖Σ a_k g_k‖²`` over ``a ≥ 0``, ``Σ a_k ≤ 1``, cut by cut, up to ``room`` cuts."""

    def __init__(self, g: Vector, L: float, room: int) -> None:
        self.size = self.reads = 0
        self._G, self._L = np.zeros((room, len(g))), np.zeros(room)
        self._H = np.zeros((room, room))
        self._gram = self._H.reshape(-1)
        self._a, self._slope = np.zeros(room + 1), np.zeros(room + 1)
        self._group, self._cap = np.zeros(room, dtype=np.int64), np.ones(1)
        self.add(g, L)
        self._a[0] = 1.0
        self._slope[0] -= self._H[0, 0]
        self._evaluate()

    def add(self, g: Vector, L: float) -> None:
        """Add a cut without weight."""
        k = self.size
        self._G[k], self._L[k] = g, L
        self.size = end = k + 1
        products = self._G[:end] @ g
        self._H[k, :end] = self._H[:end, k] = products
        # The weight of the null vertex stays last.
        self._a[k], self._a[end] = 0.0, self._a[k]
        self._slope[k] = L - float(products @ self._a[:end])

    def solve(self, tol: float) -> None:
        """Improve the multipliers until the gap of this QP is at most ``tol``, or nearly."""
        end = self.size + 1
        gap, steps = ascend_pairs(
            self._gram, len(self._L), self._slope[:end], self._a[:end], self._group, self._cap, tol, _MOST_STEPS
        )
        self.reads += 2 * steps * end
        self._evaluate()
        if gap > tol:
            self._solve_closely(tol)

    def _solve_closely(self, tol: float) -> None:
        """Continue with the active-set solver, and accept its result if it is better."""
        k = self.size
        qp = DualQP(self._H[:k, :k], self.L, self._group[:k], self._cap, tol)
        a = ActiveSet().solve(qp, QPSolution(self.a.copy(), gap=np.inf)).a
        before, dual = self._a.copy(), self.dual
        self._a[:k], self._a[k] = a, max(0.0, 1.0 - float(a.sum()))
        self._evaluate()
        if self.dual < dual:
            self._a[:] = before
            self._evaluate()
        self._slope[:k] = self.L - self._H[:k, :k] @ self.a

    def _evaluate(self) -> None:
        a = self.a
        self.w = w = a @ self._G[: self.size]
        self.dual = float(a @ self.L) - 0.5 * float(w @ w)
