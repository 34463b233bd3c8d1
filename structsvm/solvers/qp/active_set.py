"""The built-in QP solver: pairwise steps, then Newton steps on faces."""

from typing import ClassVar

import numpy as np
from attrs import evolve, frozen
from scipy.linalg.lapack import dpotrf, dtrtrs

from structsvm.exceptions import InputError
from structsvm.foundation.compute.threads import one_blas_thread
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.solvers.qp.base import DualQP, QPBackend, QPSolution
from structsvm.solvers.qp.kernels import ascend_pairs, descend_face, reduced_gram, slopes

PASSES = 20
"""Pairwise passes before each Newton step; enough for most warm starts."""

PATIENCE = 5
"""Rounds that together make no progress, after which rounding is assumed to prevent more."""

ROUNDS = 1_000
"""Largest number of rounds of passes and Newton steps."""

WORTH_A_ROUND = 1e-4
"""Rise of the dual in a round, as a part of the wanted gap, that counts as progress. Far from the optimum of an
ill-conditioned program, the gap goes up and down, and the dual doubles many times before it matters."""

RIDGE = 1e-13
"""First ridge on a face, as a fraction of the largest diagonal entry; raised until positive definite."""


@frozen
class ActiveSet(QPBackend):
    """The default QP backend: pairwise steps, then Newton steps on the face of the cuts in use.

    Every group gets a null vertex, a cut with ``g = 0`` and ``L = 0`` whose weight is the unused part of the cap, so
    that each group is a simplex. A round takes a few passes of exact pairwise steps (as in sequential minimal
    optimization: Platt, 1999). If the gap is still too large, the round takes Newton steps to the maximum over the face
    of the vertices in use (Nocedal and Wright, *Numerical Optimization*, 2006, section 16.5, null-space form). The
    heaviest vertex of each group is the pivot, and the differences to it are the variables. One Cholesky factor,
    updated as vertices leave, serves all Newton steps until one is not blocked.

    After one cut is added, a warm start mostly ends within a few pairwise steps, each linear in the number of cuts.
    Rank-deficient Gram matrices and repeated cuts need no special treatment. If rounding prevents ``qp.tol``, the best
    point is returned with its true gap.

    Examples
    --------
    >>> from structsvm.solvers.qp import DualQP
    >>> H, b = np.eye(2), np.array([1.0, 0.5])
    >>> one_group = DualQP(H, b, group=np.zeros(2, np.int64), cap=np.array([1.0]), tol=1e-12)
    >>> ActiveSet().solve(one_group).a
    array([0.75, 0.25])
    """

    name: ClassVar[str] = "active-set"

    @one_blas_thread()
    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        """Solve; raise `InputError` if H, b or the caps contain NaN or infinity. See `QPBackend.solve`."""
        if qp.size == 0:
            return QPSolution(np.zeros(0), 0.0)
        solve = _Solve(qp, start)
        best = solve.solution(solve.pairs(0))
        if not np.isfinite(best.gap):
            raise InputError(
                "the Gram matrix, offsets or caps of the QP contain NaN or infinity: check the features and C"
            )
        last_dual, stalled = solve.dual(), 0
        for _ in range(ROUNDS):
            if best.gap <= qp.tol or stalled >= PATIENCE:
                break
            gap = solve.pairs(PASSES)
            if gap > qp.tol:
                solve.newton()
                gap = solve.pairs(0)
            dual = solve.dual()
            least = max(WORTH_A_ROUND * qp.tol, 1e-15 * abs(last_dual))
            progress = gap < 0.5 * best.gap or dual > last_dual + least
            stalled, last_dual = (0, dual) if progress else (stalled + 1, last_dual)
            if gap < best.gap:
                best = solve.solution(gap)
        return evolve(best, gap=qp.certified_gap(best.a))


@frozen(eq=False)
class _State:
    """State for a warm start: ``H a`` at the multipliers, and the number of pairwise steps since it was computed."""

    product: Vector
    steps: int


class _Solve:
    """One solve: weights and slopes of the vertices (see `structsvm.solvers.qp.kernels`)."""

    def __init__(self, qp: DualQP, start: QPSolution | None) -> None:
        self.qp = qp
        self.size = qp.size
        groups = len(qp.cap)
        self.gram, self.stride = _flat(qp.H)
        self.b = np.array(qp.b)
        self.cap = np.array(qp.cap)
        self.group: IntVector = np.concatenate([qp.group, np.arange(groups)])
        self.weight = np.zeros(self.size + groups)
        self.slope = np.zeros(self.size + groups)
        self.steps = 0
        self._begin(start)

    def _begin(self, start: QPSolution | None) -> None:
        old = 0 if start is None else len(start.a)
        a = self.weight[: self.size]
        if start is not None:
            a[:old] = start.a
        used = np.bincount(self.qp.group, weights=a, minlength=len(self.cap))
        fits = bool((used <= self.cap * (1 + 1e-12)).all())
        if not fits:
            a[:] = self.qp.project(a)
        rest = self.cap - used
        self.weight[self.size :] = np.where(rest > 1e-14 * self.cap, rest, 0.0)

        state = None if start is None else start.state
        # The state may lack cuts that another backend added to the solution before it failed.
        if not isinstance(state, _State) or len(state.product) != old:
            state = None
        if fits and state is not None and state.steps <= PASSES + np.count_nonzero(a):
            self.slope[:old] = self.b[:old] - state.product
            self.slope[old : self.size] = self.b[old:] - self.qp.H[old:, :old] @ a[:old]
            self.steps = state.steps
        else:
            self.refresh()

    def refresh(self) -> None:
        """Compute the slopes from H itself."""
        slopes(self.gram, self.stride, self.b, self.weight, self.slope)
        self.steps = 0

    def pairs(self, passes: int) -> float:
        """Take at most ``passes`` passes of pairwise steps; return the gap."""
        gap, steps = ascend_pairs(
            self.gram, self.stride, self.slope, self.weight, self.group, self.cap, self.qp.tol, passes
        )
        self.steps += steps
        return gap

    def newton(self) -> None:
        """Maximize over the face of the vertices with weight."""
        support = np.flatnonzero(self.weight)
        by_weight = support[np.argsort(self.weight[support], kind="stable")]
        heaviest = np.empty(len(self.cap), np.int64)
        heaviest[self.group[by_weight]] = by_weight
        # Light vertices are likely to leave; last in the factor, they are cheap to drop.
        face = by_weight[::-1]
        pivot = heaviest[self.group[face]]
        moving = face != pivot
        face, pivot = face[moving], pivot[moving]
        if len(face) > 0:
            factor = self._factor(face, pivot)
            z, _ = dtrtrs(factor.T, self.slope[face] - self.slope[pivot], lower=1)
            descend_face(factor, z, face, pivot, self.weight, np.zeros_like(self.weight))
        self.refresh()

    def _factor(self, face: IntVector, pivot: IntVector) -> Matrix:
        """Return the upper Cholesky factor of the Gram matrix of ``face − pivot``."""
        matrix = np.empty((len(face), len(face)))
        difference = np.zeros_like(self.weight)
        ridge = RIDGE
        while True:
            reduced_gram(self.gram, self.stride, self.size, face, pivot, difference, matrix)
            diagonal = np.einsum("kk->k", matrix)
            largest = float(diagonal.max())
            diagonal += ridge * (largest if largest > 0.0 else 1.0)
            lower, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return np.asarray(lower.T)
            ridge *= 100.0

    def dual(self) -> float:
        """Return the dual value, computed from the slopes."""
        return float(0.5 * (self.weight[: self.size] @ (self.b + self.slope[: self.size])))

    def solution(self, gap: float) -> QPSolution:
        """Return the current multipliers as a solution."""
        state = _State(self.b - self.slope[: self.size], self.steps)
        return QPSolution(self.qp.project(self.weight[: self.size]), gap, state=state)


def _flat(H: Matrix) -> tuple[Vector, int]:
    """Return a symmetric matrix's rows as one buffer and its stride; read-only memory, slow to type, is copied."""
    if not H.flags.writeable or 8 not in H.strides:
        H = np.array(H)
    elif H.strides[1] != 8:
        H = H.T
    stride = H.strides[0] // 8
    length = (len(H) - 1) * stride + len(H)
    return np.lib.stride_tricks.as_strided(H, (length,), (8,)), stride
