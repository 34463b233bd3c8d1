"""What every solver from outside needs around it: retries, a certificate, and a way out."""

import logging
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from structsvm.qp.active_set import ActiveSet
from structsvm.qp.base import DualQP, QPBackend, QPSolution
from structsvm.qp.shrinking import in_use, solve_shrunk
from structsvm.types import Vector

logger = logging.getLogger(__name__)


@frozen(eq=False)
class Attempt:
    """What a solver returned, before anybody looked at it.

    Parameters
    ----------
    a : multipliers in the units of the `DualQP`, shape (K,); slightly infeasible ones are
        projected, NaN counts as 0.
    state : whatever the solver wants to see again as ``start.state``; treat it as immutable,
        for a solution may be started from more than once.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.qp import Attempt, DualQP, GeneralBackend
    >>> class Guess(GeneralBackend):
    ...     name = "guess"
    ...
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
    """A backend around a general QP solver: derive from it and write `attempts`.

    `solve` projects each attempt onto the feasible set, drops negligible multipliers where the
    gap permits, so that it shows which cuts are in use, and certifies the rest with
    `DualQP.gap`. It stops at the first attempt that reaches ``qp.tol`` (or
    `DualQP.resolution`, where ``qp.tol`` asks for more than float64 can give). If none does,
    `ActiveSet` finishes the work from the best of them: the solution then says
    ``handed_over=True``, and the result of the run counts them. So the settings and failures of a solver
    cost time, and never the optimum.

    Above `shrink_from` cuts the solver sees a subset of them: those in use, the new ones
    and the violated ones, until the certificate holds for all.

    Examples
    --------
    >>> from attrs import frozen
    >>> import numpy as np
    >>> from structsvm.qp import Attempt, DualQP, GeneralBackend
    >>> @frozen
    ... class Inverse(GeneralBackend):
    ...     name = "inverse"
    ...
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
        """Yield solutions, the cheapest first; more are drawn only while none is good enough.

        Parameters
        ----------
        qp : the programme; see `scales` for ways to bring it to the units that solvers like.
        start : multipliers to start from, feasible for ``qp``, 0 at cuts that are new. Their
            ``state`` is whatever a backend left: look at its type. One of this backend's own
            is of an earlier programme, whose cuts are the first ones of this.

        Notes
        -----
        Catch what the solver raises when it fails, and yield nothing for it. Yielding a poor
        iterate is useful: the work is handed over from the best one.
        """

    @final
    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        """Solve; see `QPBackend.solve`."""
        if qp.size == 0:
            return QPSolution(np.zeros(0), 0.0)
        if qp.size > self.shrink_from:
            best = solve_shrunk(qp, start, self._best_attempt)
        else:
            best = self._best_attempt(qp, start)
        if reached(qp, best):
            return best
        finished = ActiveSet().solve(qp, QPSolution(best.a, best.gap))
        logger.info(
            "%s left a gap of %.2g on a QP of %d cuts (asked for: %.2g); active-set finished it: %.2g.",
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
        if reached(qp, best):
            return best
        for attempt in self.attempts(qp, start):
            a = qp.project(attempt.a)
            for candidate in (np.where(in_use(qp, a), a, 0.0), a):
                gap = qp.gap(candidate)
                if gap < best.gap:
                    best = QPSolution(candidate, gap, state=attempt.state)
                if reached(qp, best):
                    return best
        return best


def reached(qp: DualQP, solution: QPSolution) -> bool:
    """Tell whether a solution is as good as was asked for, or as float64 allows."""
    return solution.gap <= max(qp.tol, qp.resolution(solution.a))


def scales(qp: DualQP) -> list[float]:
    """Return units α for the multipliers, in which ``b = a/α`` solves the programme of ``αH``, offsets and ``cap/α``.

    Solvers stop at absolute tolerances near 1e-9, and in the units of the caps the multipliers
    of a large C can lie below them. The first unit makes the largest entry of ``αH`` 1 where
    the caps allow; the second is the largest cap; the last lies between.

    Parameters
    ----------
    qp : the programme.

    Returns
    -------
    units : one where the first two are the same, else three.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.qp import DualQP, scales
    >>> qp = DualQP(np.array([[400.0]]), np.array([1.0]), np.zeros(1, np.int64), cap=np.array([100.0]), tol=1e-6)
    >>> scales(qp)  # the optimum, 1/400, is 1, 0.000025 and 0.005 in these units
    [0.0025, 100.0, 0.5]
    """
    cap = float(qp.cap.max())
    curvature = float(np.diagonal(qp.H).max())
    unit = min(cap, 1.0 / curvature) if curvature > 0.0 else cap
    return [unit] if unit == cap else [unit, cap, (unit * cap) ** 0.5]
