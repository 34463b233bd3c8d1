"""The cuts found so far, with their Gram matrix and multipliers: the working set of cutting-plane solvers."""

from typing import Any

import numpy as np
from attrs import evolve

from structsvm.foundation.arrays import largest_of_groups
from structsvm.foundation.memory import require_memory
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector
from structsvm.problem.checks import require_moderate
from structsvm.result import CutSet
from structsvm.solvers.cut_rows import DenseRows, SparseRows
from structsvm.solvers.qp import ActiveSet, DualQP, QPBackend, QPSolution

_FIRST_PLACES = 64

_FIRST_BYTES = 2**26
"""Largest initial allocation in bytes, unless a single cut takes more."""

_OTHER_GAP = 10.0
"""Factor between the gap of a QP's solution and the gap that its backend reports, above which the report is wrong."""


class CutArrays:
    """Arrays with room for more cuts, of which the first ``size`` are in use."""

    size: int
    _L: Vector
    _a: Vector

    @property
    def L(self) -> Vector:
        """Offsets of the cuts, shape (size,)."""
        return self._L[: self.size]

    @property
    def a(self) -> Vector:
        """Multipliers of the cuts, shape (size,)."""
        return self._a[: self.size]


class WorkingSet(CutArrays):
    """Cuts ``w·g ≥ L − ξ`` in groups, and the QP's dual, a lower bound that never falls; ``max_cuts`` are kept.

    ``sparse`` stores only the non-zero values of cuts.
    """

    def __init__(self, d: int, cap: Vector, max_cuts: int, *, sparse: bool = False) -> None:
        self.cap = cap
        self.max_cuts = max_cuts
        self.handovers = 0
        self.size = 0
        self.dual = 0.0
        places = _FIRST_PLACES if sparse else min(_FIRST_PLACES, 1 + _FIRST_BYTES // (8 * d + 1))
        self._rows: Any = SparseRows(d) if sparse else DenseRows(places, d)
        self._d, self._combination = d, np.zeros(0 if sparse else d)
        self._H = np.empty((places, places))
        self._L = np.empty(places)
        self._a = np.empty(places)
        self._group = np.empty(places, dtype=np.int64)
        self._idle = np.empty(places, dtype=np.int64)
        self._last: QPSolution | None = None
        self._w: Vector | None = None

    @property
    def w(self) -> Vector:
        """The weights, the sum of the cuts times their multipliers, shape (d,)."""
        if self._w is None:
            self._w = self._rows.wide(self._combination)
        return self._w

    @property
    def G(self) -> Any:
        """The cuts, shape (size, d), dense or CSR."""
        return self._rows.first(self.size)

    @property
    def group(self) -> IntVector:
        """Group of each cut, shape (size,)."""
        return self._group[: self.size]

    @property
    def active(self) -> int:
        """Number of cuts with a positive multiplier."""
        return int(np.count_nonzero(self.a))

    @property
    def resolution(self) -> float:
        """Gap of the QP that float64 cannot distinguish from 0; see `DualQP.resolution`."""
        H = self._H[: self.size, : self.size]
        return DualQP(H, self.L, self.group, self.cap, 0.0).resolution(self.a) if self.size else 0.0

    def add(self, G: Any, L: Vector, group: IntVector, a: Vector | None = None) -> None:
        """Add cuts, with multipliers of 0 by default, and extend the Gram matrix."""
        require_moderate(G, float(self.cap.sum()))
        old, new = self.size, self.size + len(L)
        self._reserve(new)
        self._rows.write(old, G)
        self._L[old:new] = L
        self._group[old:new] = group
        self._a[old:new] = 0.0 if a is None else a
        self._idle[old:new] = 0
        self._H[old:new, :new] = self._products(old)
        self._H[:old, old:new] = self._H[old:new, :old].T
        # Update the size last, so that an interruption leaves whole cuts.
        self.size = new
        if a is not None:
            self._evaluate(self.a)

    def _products(self, start: int) -> Matrix:
        """Return inner products of the cuts from ``start`` on with all cuts, for the Gram matrix."""
        products: Matrix = self._rows.products(start)
        return products

    def load(self, cuts: CutSet) -> None:
        """Add cuts with their multipliers, scaled to the caps and to the best dual value."""
        if len(cuts):
            self.add(cuts.G, cuts.L, cuts.group, cuts.scaled(self.cap))

    def solve(self, backend: QPBackend, tol: float) -> None:
        """Improve the multipliers to a gap of at most ``tol``; the built-in backend continues if another does not."""
        qp = DualQP(self._H[: self.size, : self.size], self.L, self.group, self.cap, tol)
        start = self._last or QPSolution(self.a.copy(), gap=np.inf)
        solution = backend.solve(qp, start)
        target, again = qp.project(solution.a), ActiveSet()
        moved = self._move_toward(target)
        # A backend may report a gap that its solution does not have.
        trusted = moved and (backend == again or qp.gap(target) <= max(tol, _OTHER_GAP * solution.gap))
        if not trusted and qp.gap(self.a) > max(tol, qp.resolution(self.a)):
            solution = again.solve(qp, QPSolution(self.a.copy(), gap=np.inf))
            solution = evolve(solution, handed_over=backend != again)
            self._move_toward(qp.project(solution.a))
        self.handovers += bool(solution.handed_over)
        self._last = solution if np.array_equal(solution.a, self.a) else None
        self._idle[: self.size] = np.where(self.a > 0.0, 0, self._idle[: self.size] + 1)

    def hinges(self, w: Vector) -> Vector:
        """Return the slack of each group at weights w, a lower bound of its hinge, shape (groups,)."""
        return self.slack(range(len(self.cap)), w)

    def slack(self, groups: range, w: Vector) -> Vector:
        """Return ``ξ = max(0, L − w·g)`` of each group in a range."""
        rows = np.flatnonzero((self.group >= groups.start) & (self.group < groups.stop))
        return largest_of_groups(self.L[rows] - self.G[rows] @ w, self.group[rows] - groups.start, len(groups))

    def prune(self, max_idle: int) -> None:
        """Drop cuts whose multiplier was 0 for ``max_idle`` solutions, and merge cuts if too many are left."""
        idle = self._idle[: self.size] >= max_idle
        if np.count_nonzero(idle) > self.size // 4 or self.size > self.max_cuts:
            self._keep(~idle)
        if self.size > self.max_cuts:
            self._keep(self.a > 0.0)
        if self.size > self.max_cuts:
            self._merge()

    def cuts(self) -> CutSet:
        """Return a copy of the cuts with their multipliers."""
        return CutSet(self.G.copy(), self.L.copy(), self.group.copy(), self.a.copy(), len(self.cap))

    def _move_toward(self, a: Vector) -> bool:
        """Move to the best point on the line to these multipliers; return True if the dual rose."""
        step = a - self.a
        direction = self._rows.combined(step)
        curvature = direction @ direction
        slope = step @ self.L - self._combination @ direction[: len(self._combination)]
        if slope <= 0.0:
            return False
        t = 1.0 if curvature <= slope else slope / curvature
        self._evaluate(a if t == 1.0 else self.a + t * step)
        return True

    def _evaluate(self, a: Vector) -> None:
        self._a[: self.size] = a
        self._combination, self._w = self._rows.combined(a), None
        self.dual = float(a @ self.L - 0.5 * (self._combination @ self._combination))

    def _merge(self) -> None:
        """Replace the older half of each group's cuts by ``Σ a (g, L) / Σ a`` (Kiwiel, Math. Programming 1983)."""
        newest = np.zeros(self.size, dtype=bool)
        newest[-(self.max_cuts // 2) :] = True
        old = np.flatnonzero(~newest & (self.a > 0.0))
        order = old[np.argsort(self.group[old], kind="stable")]
        starts = np.flatnonzero(np.diff(self.group[order], prepend=-1))
        total = np.add.reduceat(self.a[order], starts)
        G = self._rows.means(self.a[order], order, starts, total)
        L = np.add.reduceat(self.a[order] * self.L[order], starts) / total
        group = self.group[order[starts]].copy()
        self._keep(newest)
        self.add(G, L, group, total)

    def _keep(self, keep: BoolVector) -> None:
        rows = np.flatnonzero(keep)
        # With size 0, an interruption loses cuts but never mixes them.
        self._last, self.size = None, 0
        self._rows.keep(rows)
        for array in (self._L, self._a, self._group, self._idle):
            array[: len(rows)] = array[rows]
        self._H[: len(rows), : len(rows)] = self._H[np.ix_(rows, rows)]
        self.size = len(rows)

    def _reserve(self, size: int) -> None:
        capacity = len(self._L)
        if size <= capacity:
            return
        capacity = max(size, min(2 * capacity, self.max_cuts + 64))
        require_memory(
            8.0 * (self._rows.numbers(capacity) + capacity * capacity),
            f"{capacity:,} cuts of {self._d:,} weights",
            "leave out features, lower max_cuts, or raise tol, which needs fewer cuts",
        )
        self._rows.reserve(capacity, self.size)
        for name in ("_L", "_a", "_group", "_idle"):
            old = getattr(self, name)
            grown = np.empty(capacity, dtype=old.dtype)
            grown[: self.size] = old[: self.size]
            setattr(self, name, grown)
        H = np.empty((capacity, capacity))
        H[: self.size, : self.size] = self._H[: self.size, : self.size]
        self._H = H
