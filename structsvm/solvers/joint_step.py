"""All multipliers of the planes that are kept, moved together."""

from collections.abc import Sequence

from structsvm.compute.stages import run_stages
from structsvm.compute.threads import using
from structsvm.planes import RestrictedProblem
from structsvm.planes.values import PlaneValues
from structsvm.problem import LineHinge, Parabola
from structsvm.problem.checks import require_moderate_norm
from structsvm.qp import ActiveSet
from structsvm.qp.growing import GrowingQP
from structsvm.solvers.line_search import TOWARD_TARGET, lowest_on
from structsvm.solvers.working_set import WorkingSet

_QP_ACCURACY = 0.5
"""Part of the gap on the planes that is left in each QP."""

_LINE_ACCURACY = 0.2
"""Part of the descent found so far that a search along a line may leave."""

_NEAREST = 0.01
"""Smallest t at which it looks first."""


def improve_jointly(restricted: RestrictedProblem, enough: float, most_cuts: int) -> None:
    """Solve the QP over the planes that are kept by 1-slack with a line search, which needs no data.

    Steps on one example after the other crawl where C is large, because every example must wait
    for all others to move. Here a cut is a choice of one plane of each example; the first one
    stands for the multipliers as they are, so that the dual does not fall. Blocks of examples are spread over
    the threads of `structsvm.compute.threads.using`; they do not depend on how many there are.

    Parameters
    ----------
    restricted : the problem over the planes that are kept; their multipliers are changed.
    enough : gap, on these planes, at which to stop.
    most_cuts : cuts after which to stop in any case.

    Raises
    ------
    InputError : when planes are too large to compute with.
    """
    dual = restricted.dual
    planes = dual.arrays
    require_moderate_norm(dual.largest, float(planes.cap.sum()))
    values = PlaneValues(planes, dual.w, most_cuts)
    qp = GrowingQP(dual.w, float((planes.a * planes.L).sum()), most_cuts + 1)
    with using(None) as threads:
        run_stages(threads, lambda: _add_cuts(values, qp, enough), values.follow, values.counters, values.blocks)
    direction = qp.w - dual.w
    rise = float(qp.a @ qp.L - qp.L[0] - dual.w @ direction)
    if rise > 0.0:  # else rounding forbids more
        t = min(1.0, rise / max(float(direction @ direction), rise))
        restricted.mix(1.0 - t + t * float(qp.a[0]), values.choices[: qp.size - 1], t * qp.a[1:])


def _add_cuts(values: PlaneValues, qp: GrowingQP, enough: float) -> None:
    """Add one cut after the other, chosen near the best point on the line to the solution of the QP."""

    def hinges(steps: Sequence[float]) -> list[LineHinge]:
        return [LineHinge(*values.hinge(t)) for t in steps]

    w, t = qp.w, 1.0
    lowest = 0.5 * float(w @ w) + values.start()
    while lowest - qp.dual > enough and qp.size <= len(values.choices):
        qp.add(*values.cut())
        qp.solve(_QP_ACCURACY * (lowest - qp.dual))
        line = Parabola.between(w, qp.w)
        first = min(max(t, _NEAREST), 1.0)
        values.aim(qp.w, first)
        t = lowest_on(line, hinges, first_step=first, accuracy=_LINE_ACCURACY)
        if t > 0.0:
            w = w + t * (qp.w - w)
            lowest = line.value(t) + values.hinge(t)[0]
        values.move(t, beyond=TOWARD_TARGET * (1.0 - t))


def solve_over_planes(restricted: RestrictedProblem, enough: float) -> None:
    """Solve the QP over the planes that are kept as it stands: one variable a plane, one group an example.

    Parameters
    ----------
    restricted, enough : as in `improve_jointly`.
    """
    cuts = restricted.cuts()
    cap = restricted.dual.arrays.cap
    working_set = WorkingSet(cuts.G.shape[1], cap, len(cuts))
    working_set.add(cuts.G, cuts.L, cuts.group, cuts.a, cuts.error)
    working_set.solve(ActiveSet(), enough)
    restricted.weigh(working_set.a)
