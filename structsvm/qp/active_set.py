"""The built-in QP solver: pairwise steps, then Newton steps on faces."""

from typing import ClassVar

import numpy as np
from attrs import frozen
from scipy.linalg.lapack import dpotrf, dtrtrs

from structsvm.qp.base import DualQP, QPBackend, QPSolution
from structsvm.qp.kernels import ascend_pairs, descend_face, reduced_gram, slopes
from structsvm.types import IntVector, Matrix, Vector

PASSES = 10
PATIENCE = 5
ROUNDS = 1000
RIDGE = 1e-13


@frozen(eq=False)
class _State:
    """``H a`` at the multipliers returned, and how many pairwise steps it has carried since it was computed."""

    product: Vector
    steps: int


class _Run:
    """One solve: the weights of the vertices, their slopes, and what moves them."""

    def __init__(self, qp: DualQP, start: QPSolution | None) -> None:
        self.qp = qp
        self.size, self.groups = qp.size, len(qp.cap)
        self.gram, self.stride = _flat(qp.H)
        self.b = np.array(qp.b)
        self.cap = np.array(qp.cap)
        self.group: IntVector = np.concatenate([qp.group, np.arange(self.groups)])
        self.slope = np.zeros(self.size + self.groups)
        self.weight = np.zeros(self.size + self.groups)
        self.steps = 0
        self._begin(start)

    def _begin(self, start: QPSolution | None) -> None:
        known = 0 if start is None else len(start.a)
        a = self.weight[: self.size]
        if start is not None:
            a[:known] = start.a
        used = np.bincount(self.qp.group[:known], weights=a[:known], minlength=self.groups)
        fits = bool((used <= self.cap * (1 + 1e-12)).all())
        if not fits:
            a[:] = self.qp.project(a)
            used = np.minimum(used, self.cap)
        rest = self.cap - used
        self.weight[self.size :] = np.where(rest > 1e-14 * self.cap, rest, 0.0)
        state = None if start is None else start.state
        if fits and isinstance(state, _State) and state.steps <= 20 + np.count_nonzero(a):
            self.steps = state.steps
            self.slope[:known] = self.b[:known] - state.product
            self.slope[known : self.size] = self.b[known:] - self.qp.H[known:, :known] @ a[:known]
        else:
            self.refresh()

    def refresh(self) -> None:
        """Compute the slopes from H itself."""
        slopes(self.gram, self.stride, self.b, self.weight, self.slope)
        self.steps = 0

    def pairs(self, passes: int) -> float:
        """Take pairwise steps; return the gap."""
        gap, steps = ascend_pairs(
            self.gram, self.stride, self.slope, self.weight, self.group, self.cap, self.qp.tol, passes
        )
        self.steps += steps
        return gap

    def newton(self) -> None:
        """Maximise over the face spanned by the vertices that carry weight."""
        support = np.flatnonzero(self.weight)
        support = support[np.argsort(self.weight[support])]
        heaviest = np.empty(self.groups, np.int64)
        heaviest[self.group[support]] = support
        support = support[::-1]
        pivot = heaviest[self.group[support]]
        moving = support != pivot
        face, pivot = support[moving], pivot[moving]
        if len(face):
            factor = self._factor(face, pivot)
            z, _ = dtrtrs(factor.T, self.slope[face] - self.slope[pivot], lower=1)
            descend_face(factor, z, face, pivot, self.weight, np.zeros_like(self.weight))
        self.refresh()

    def _factor(self, face: IntVector, pivot: IntVector) -> Matrix:
        matrix = np.empty((len(face), len(face)))
        work = np.zeros_like(self.weight)
        ridge = RIDGE
        while True:
            reduced_gram(self.gram, self.stride, self.size, face, pivot, work, matrix)
            diagonal = np.einsum("kk->k", matrix)
            diagonal += ridge * (diagonal.max() or 1.0)
            lower, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return lower.T
            ridge *= 100

    def solution(self, gap: float, weight: Vector) -> QPSolution:
        a = weight[: self.size]


def _flat(H: Matrix) -> tuple[Vector, int]:
    """Return the rows of a symmetric matrix as one read-only run of memory, and their distance."""
    if H.strides[1] != H.itemsize:
        H = H.T if H.strides[0] == H.itemsize else np.ascontiguousarray(H)
    stride = H.strides[0] // H.itemsize
    length = (len(H) - 1) * stride + len(H)
    flat = np.lib.stride_tricks.as_strided(H, (length,), (H.itemsize,), writeable=False)
    return flat, stride


@frozen
class ActiveSet(QPBackend):
    name: ClassVar[str] = "active-set"

    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        run = _Run(qp, start)
        best_gap, best = np.inf, run.weight
        product = run.slope
        best_dual = -np.inf
        stalled = 0
        for _ in range(ROUNDS):
            gap = run.pairs(PASSES)
            if gap > qp.tol:
                global R
                R += 1
                run.newton()
                gap = run.pairs(0)
            a = run.weight[: qp.size]
            linear = run.b @ a
            dual = 0.5 * (linear + a @ run.slope[: qp.size])
            stalled = 0 if gap < 0.5 * best_gap or dual > best_dual + 1e-15 * linear else stalled + 1
            best_dual = max(best_dual, dual)
            if gap < best_gap:
                best_gap, best = gap, run.weight.copy()
                product = run.b - run.slope[: qp.size]
            if gap <= qp.tol or stalled >= PATIENCE:
                break
        return QPSolution(qp.project(best[: qp.size]), best_gap, state=_State(product, run.steps))
R = 0
