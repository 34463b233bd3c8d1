"""The QP of one group of cuts to which one after the other is added, solved roughly: where cuts cost little."""

import numpy as np

from structsvm.qp.active_set import ActiveSet
from structsvm.qp.base import DualQP, QPSolution
from structsvm.qp.kernels import ascend_pairs
from structsvm.types import Matrix, Vector

_MOST_STEPS = 3000
"""Pairwise steps after which the active-set solver is asked."""


class GrowingQP:
    """Maximise ``Σ a_k L_k − ½ ‖w‖²`` with ``w = Σ a_k g_k`` over ``a ≥ 0`` with ``Σ a_k ≤ 1``, cut by cut.

    It takes pairwise steps, as `structsvm.qp.ActiveSet` does first, from where they ended before, and keeps what they
    need from one solution to the next: some 20 µs where a solver for any QP takes several times that, which is asked
    where these do not suffice. The dual does not fall.

    Parameters
    ----------
    g, L : the first cut, shape (d,), which begins with all the weight.
    room : number of cuts that there may be.

    Attributes
    ----------
    w : ``Σ a_k g_k``, shape (d,).
    dual : the value at a.
    size : number of cuts.
    """

    def __init__(self, g: Vector, L: float, room: int) -> None:
        self.size = 0
        self._G, self._L = np.zeros((room, len(g))), np.zeros(room)
        self._H = np.zeros((room, room))
        self._gram = self._H.reshape(-1)
        self._weight, self._slope = np.zeros(room + 1), np.zeros(room + 1)
        self._group, self._cap = np.zeros(room, dtype=np.int64), np.ones(1)
        self.add(g, L)
        self._weight[0] = 1.0
        self._slope[0] -= self._H[0, 0]
        self._evaluate()

    @property
    def G(self) -> Matrix:
        """The cuts, shape (size, d)."""
        return self._G[: self.size]

    @property
    def L(self) -> Vector:
        """Their offsets, shape (size,)."""
        return self._L[: self.size]

    @property
    def a(self) -> Vector:
        """Their multipliers, shape (size,)."""
        return self._weight[: self.size]

    def add(self, g: Vector, L: float) -> None:
        """Add a cut without weight."""
        k = self.size
        self._G[k], self._L[k] = g, L
        self.size = end = k + 1
        products = self._G[:end] @ g
        self._H[k, :end] = self._H[:end, k] = products
        self._weight[k], self._weight[end] = 0.0, self._weight[k]  # what no cut has stays last
        self._slope[k] = L - float(products @ self._weight[:end])

    def solve(self, tol: float) -> None:
        """Improve the multipliers until the gap of this QP is at most ``tol``, or nearly."""
        end = self.size + 1
        gap, _ = ascend_pairs(
            self._gram, len(self._L), self._slope[:end], self._weight[:end], self._group, self._cap, tol, _MOST_STEPS
        )
        self._evaluate()
        if gap > tol:
            self._solve_closely(tol)

    def _solve_closely(self, tol: float) -> None:
        """Let the active-set solver go on, and take what it finds where that is better."""
        k = self.size
        qp = DualQP(self._H[:k, :k], self.L, self._group[:k], self._cap, tol)
        a = ActiveSet().solve(qp, QPSolution(self.a.copy(), gap=np.inf)).a
        before, dual = self._weight.copy(), self.dual
        self._weight[:k], self._weight[k] = a, max(0.0, 1.0 - float(a.sum()))
        self._evaluate()
        if self.dual < dual:
            self._weight[:] = before
            self._evaluate()
        self._slope[:k] = self.L - self._H[:k, :k] @ self.a

    def _evaluate(self) -> None:
        a = self.a
        self.w = w = a @ self.G
        self.dual = float(a @ self.L) - 0.5 * float(w @ w)
