"""All multipliers of the planes that are kept, moved together."""

import numpy as np

from structsvm.planes import RestrictedProblem
from structsvm.planes.restricted import Choice
from structsvm.problem import Parabola
from structsvm.qp import ActiveSet
from structsvm.solvers.line_search import TOWARD_TARGET
from structsvm.solvers.working_set import WorkingSet

_ONE_GROUP = np.zeros(1, dtype=np.int64)
_QP_ACCURACY = 0.01
"""Part of the gap at which to stop that is left in each QP."""


def improve_jointly(restricted: RestrictedProblem, enough: float, most_cuts: int) -> None:
    """Solve the QP over the planes that are kept by 1-slack with a line search, which needs no data.

    Steps on one example after the other crawl where C is large, because every example must wait
    for all others to move. Here a cut is a choice of one plane of each example; the first one
    stands for the multipliers as they are, so that the dual does not fall.

    Parameters
    ----------
    restricted : the problem over the planes that are kept; their multipliers are changed.
    enough : gap, on these planes, at which to stop.
    most_cuts : cuts after which to stop in any case.
    """
    arrays, w = restricted.dual.arrays, restricted.dual.w.copy()
    backend = ActiveSet()
    working_set = WorkingSet(len(w), np.ones(1), most_cuts + 2)
    working_set.add(w[None], np.array([np.sum(arrays.a * arrays.L)]), _ONE_GROUP, np.ones(1))
    values = restricted.values(w)
    hinge, choice = restricted.choose(values)
    lowest = 0.5 * float(w @ w) + hinge
    choices: list[Choice] = []
    while lowest - working_set.dual > enough and len(choices) < most_cuts:
        g, offset = restricted.cut(choice)
        choices.append(choice)
        working_set.add(g[None], np.array([offset]), _ONE_GROUP)
        working_set.solve(backend, _QP_ACCURACY * enough)
        along, direction = restricted.values(working_set.w), working_set.w - w
        line = Parabola.between(w, working_set.w)
        t, hinge = restricted.move(values, along, line.linear, line.curvature)
        if t > 0.0:
            w = w + t * direction
            lowest = line.value(t) + hinge
        choice = restricted.choose(values + TOWARD_TARGET * (1.0 - t) * along)[1]
    restricted.mix(float(working_set.a[0]), choices, working_set.a[1:])


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
