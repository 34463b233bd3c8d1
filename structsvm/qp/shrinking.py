"""Solve a QP of many cuts through QPs of the few that matter."""

from collections.abc import Callable

import numpy as np
from attrs import frozen

from structsvm.compute.groups import largest_of_groups
from structsvm.qp.base import DualQP, QPSolution
from structsvm.types import BoolVector, IntVector, Vector

GROWTH = 100
"""Fewest violated cuts that a round may take in."""

NEGLIGIBLE = 1e-6
"""Weight, as a fraction of the cap of the group, that interior-point iterates leave on every cut."""


def in_use(qp: DualQP, a: Vector) -> BoolVector:
    """Tell which cuts have more than a negligible weight."""
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
    """Solve on the cuts in use and the new ones; take in violated ones until the whole is certified.

    A working-set method like that of Joachims, "Making large-Scale SVM Learning Practical", 1999; the variables, there
    of training examples, are those of cuts here.

    A subset only grows at its end, within a call and from one call to the next, so that a
    solver that starts warm finds its cuts where it left them; it starts afresh from the cuts
    in use when these are less than half of it. From nothing, it starts with the cuts of
    largest offset.

    Parameters
    ----------
    qp : the whole programme.
    start : a solution of an earlier call.
    solve : solves the programme of a subset.

    Returns
    -------
    The first solution whose gap on the whole programme is at most ``qp.tol``, or the last
    when ``solve`` does not reach its part of that.
    """
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
    """Return the cuts of the last subset, or those in use, then the new ones; and the solution of the former."""
    known = len(start.a)
    a = np.zeros(qp.size)
    a[:known] = start.a
    support = np.flatnonzero(in_use(qp, a))
    cuts, state = support, None
    if isinstance(start.state, _Subset):
        last = start.state.cuts
        if len(last) <= GROWTH + 2 * len(support) and len(np.setdiff1d(support, last)) == 0:
            cuts, state = last, start.state.state
    return np.concatenate([cuts, np.arange(known, qp.size)]), QPSolution(a[cuts], start.gap, state=state)


def _violated(qp: DualQP, cuts: IntVector, slope: Vector) -> IntVector:
    """Return the cuts outside the subset that the subset's slack does not cover, the worst first."""
    slack = largest_of_groups(slope[cuts], qp.group[cuts], len(qp.cap))
    excess = slope - slack[qp.group]
    excess[cuts] = 0.0
    order = np.argsort(-excess, kind="stable")
    return order[: np.count_nonzero(excess > 0.0)]
