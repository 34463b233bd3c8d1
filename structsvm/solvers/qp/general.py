"""Wrap external QP solvers with retries, certificates and a fallback."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, final

import numpy as np
from attrs import evolve, field, frozen

from structsvm.foundation.arrays import largest_of_groups
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.solvers.qp.active_set import ActiveSet
from structsvm.solvers.qp.base import DualQP, QPBackend, QPSolution

logger = logging.getLogger(__name__)

GROWTH = 100
"""Smallest limit of violated cuts that a round adds."""

NEGLIGIBLE = 1e-6
"""Weight, as a fraction of the group's cap, that interior-point iterates leave on every cut."""


@frozen(eq=False)
class Attempt:
    """The unchecked result of an external solver.

    Parameters
    ----------
    a : multipliers in the units of the `DualQP`, shape (K,); infeasible multipliers are projected, and NaN counts as 0.
    state : private state of the solver, passed back as ``start.state``; treat it as immutable, because several solves
        may start from one solution.

    Examples
    --------
    >>> from structsvm.solvers.qp import DualQP, GeneralBackend
    >>> class Guess(GeneralBackend):
    ...     name = "guess"
    ...     def attempts(self, qp, start):
    ...         yield Attempt(np.full(qp.size, np.nan))  # counts as 0
    ...         yield Attempt(np.full(qp.size, 0.5))
    >>> qp = DualQP(np.array([[2.0]]), np.array([1.0]), np.zeros(1, np.int64), cap=np.array([9.0]), tol=1e-9)
    >>> Guess().solve(qp).a
    array([0.5])
    """

    a: Vector
    state: object = field(default=None, repr=False)


class GeneralBackend(QPBackend):
    """Base class of backends around a general QP solver: derive from it and write `attempts`.

    `solve` projects each attempt onto the feasible set, drops negligible multipliers if the gap permits, and certifies
    the rest with `DualQP.gap`. It stops at the first attempt that reaches ``qp.tol`` (or `DualQP.resolution`, if that
    is larger). If none does, `ActiveSet` finishes the work from the best attempt; the result of the run counts these
    QPs as handed over. So settings and failures of a solver cost time, but never the optimum.

    With more than `shrink_from` cuts, the solver gets a subset: cuts in use, new cuts and violated cuts, until the
    certificate is valid for all cuts.

    Examples
    --------
    >>> from attrs import frozen
    >>> from structsvm.solvers.qp import Attempt, DualQP
    >>> @frozen
    ... class Inverse(GeneralBackend):
    ...     name = "inverse"
    ...     def attempts(self, qp, start):
    ...         yield Attempt(np.linalg.pinv(qp.H) @ qp.b)
    >>> b, group = np.array([1.0, 0.5]), np.zeros(2, np.int64)
    >>> Inverse().solve(DualQP(np.eye(2), b, group, cap=np.array([9.0]), tol=1e-9)).handed_over
    False
    >>> Inverse().solve(DualQP(np.eye(2), b, group, cap=np.array([1.0]), tol=1e-9)).handed_over
    True
    """

    shrink_from: ClassVar[int] = 500

    @abstractmethod
    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        """Yield solutions, the cheapest first; the caller stops at the first that is good enough.

        Catch the solver's exceptions and yield nothing for a failed attempt. A poor iterate is still useful: the
        built-in solver continues from the best one.

        Parameters
        ----------
        qp : the program; `scales` returns units that suit solvers.
        start : multipliers to start from, feasible for ``qp``, 0 at new cuts. Check the type of their ``state``, which
            may come from any backend. A state of this backend belongs to an earlier program, whose cuts are the first
            cuts of ``qp``.
        """

    @final
    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        if qp.size == 0:
            return QPSolution(np.zeros(0), 0.0)
        if qp.size > self.shrink_from:
            best = solve_shrunk(qp, start, self._best_attempt)
        else:
            best = self._best_attempt(qp, start)
        if is_solved(qp, best):
            return evolve(best, gap=qp.certified_gap(best.a))
        finished = ActiveSet().solve(qp, QPSolution(best.a, best.gap))
        logger.info(
            "%s left a gap of %.2g on a QP of %d cuts (target: %.2g); active-set reduced it to %.2g.",
            self.name,
            best.gap,
            qp.size,
            qp.tol,
            finished.gap,
        )
        return QPSolution(finished.a, finished.gap, handed_over=True, state=best.state)

    def _best_attempt(self, qp: DualQP, start: QPSolution | None) -> QPSolution:
        """Return the start or the first attempt that is good enough, else the best of all."""
        a = np.zeros(qp.size)
        if start is not None:
            a[: len(start.a)] = start.a
            a = qp.project(a)
            start = QPSolution(a, qp.gap(a), state=start.state)
        best = start or QPSolution(a, qp.gap(a))
        if is_solved(qp, best):
            return best
        for attempt in self.attempts(qp, start):
            a = qp.project(attempt.a)
            for candidate in (np.where(in_use(qp, a), a, 0.0), a):
                gap = qp.gap(candidate)
                if gap < best.gap:
                    best = QPSolution(candidate, gap, state=attempt.state)
                if is_solved(qp, best):
                    return best
        return best


def is_solved(qp: DualQP, solution: QPSolution) -> bool:
    """Return True if a solution reaches ``qp.tol``, or the limit of float64."""
    return solution.gap <= max(qp.tol, qp.resolution(solution.a))


def scales(qp: DualQP) -> list[float]:
    """Return units α for the multipliers a: ``a/α`` solves the program with ``αH``, the same offsets and ``cap/α``.

    Solvers stop at absolute tolerances near 1e-9; in units of the caps, multipliers may be smaller if C is large. The
    first unit makes the largest entry of ``αH`` 1 if the caps allow; the second is the largest cap; the last lies
    between them. If the first two are equal, only one is returned.

    Parameters
    ----------
    qp : the program.

    Examples
    --------
    >>> from structsvm.solvers.qp import DualQP
    >>> qp = DualQP(np.array([[400.0]]), np.array([1.0]), np.zeros(1, np.int64), cap=np.array([100.0]), tol=1e-6)
    >>> scales(qp)  # the optimum, 1/400, is 1, 0.000025 and 0.005 in these units
    [0.0025, 100.0, 0.5]
    """
    cap = float(qp.cap.max())
    curvature = float(np.diagonal(qp.H).max())
    unit = min(cap, 1.0 / curvature) if curvature > 0.0 else cap
    return [unit] if unit == cap else [unit, cap, (unit * cap) ** 0.5]


def in_use(qp: DualQP, a: Vector) -> BoolVector:
    """Return a mask of the cuts with more than a negligible weight."""
    return np.asarray(a > NEGLIGIBLE * qp.cap[qp.group])


@frozen(eq=False)
class _Subset:
    """The cuts of the last subset, in the order of its multipliers, and the state of its solver."""

    cuts: IntVector
    state: object


def solve_shrunk(
    qp: DualQP,
    start: QPSolution | None,
    solve: Callable[[DualQP, QPSolution | None], QPSolution],
) -> QPSolution:
    """Solve on a growing subset of cuts until the gap on all of them is at most ``qp.tol`` or ``solve`` fails."""
    if start is None:
        cuts, warm = _violated(qp, np.zeros(0, np.int64), qp.b)[: max(GROWTH, len(qp.cap))], None
    else:
        cuts, warm = _resume(qp, start)
    while True:
        part = DualQP(qp.H[np.ix_(cuts, cuts)], qp.b[cuts], qp.group[cuts], qp.cap, 0.5 * qp.tol)
        warm = solve(part, warm)
        a = np.zeros(qp.size)
        a[cuts] = warm.a
        slope = qp.b - qp.H[:, cuts] @ warm.a
        gap = qp.gap_at(a, slope)
        violated = _violated(qp, cuts, slope)
        if gap <= qp.tol or warm.gap > max(part.tol, part.resolution(warm.a)) or len(violated) == 0:
            return QPSolution(a, gap, state=_Subset(cuts, warm.state))
        cuts = np.concatenate([cuts, violated[: max(GROWTH, len(cuts) // 2)]])


def _resume(qp: DualQP, start: QPSolution) -> tuple[IntVector, QPSolution]:
    """Return the cuts of the last subset, or the cuts in use, then the new cuts; and the solution on the old cuts."""
    old = len(start.a)
    a = np.zeros(qp.size)
    a[:old] = start.a
    support = np.flatnonzero(in_use(qp, a))
    cuts, state = support, None
    if isinstance(start.state, _Subset):
        last = start.state.cuts
        if len(last) <= GROWTH + 2 * len(support) and len(np.setdiff1d(support, last)) == 0:
            cuts, state = last, start.state.state
    return np.concatenate([cuts, np.arange(old, qp.size)]), QPSolution(a[cuts], start.gap, state=state)


def _violated(qp: DualQP, cuts: IntVector, slope: Vector) -> IntVector:
    """Return the cuts outside the subset that its slack does not cover, the worst first."""
    slack = largest_of_groups(slope[cuts], qp.group[cuts], len(qp.cap))
    excess = slope - slack[qp.group]
    excess[cuts] = 0.0
    order = np.argsort(-excess, kind="stable")
    return order[: np.count_nonzero(excess > 0.0)]
