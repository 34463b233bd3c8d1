"""All multipliers of the planes that are kept, moved together."""

from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np

from structsvm.compute.compilation import by_address, compiled, compiled_part
from structsvm.compute.environment import numba
from structsvm.compute.stages import begin_next, end_all, ends_stage, next_piece, run_stages, stage_counters
from structsvm.compute.tangents import lowest_point
from structsvm.compute.threads import using
from structsvm.planes import RestrictedProblem
from structsvm.planes.arrays import PlaneArrays, add_plane, product
from structsvm.planes.restricted import Choices, add_values, choose, hinge_of, subtract_values, write_values_of
from structsvm.planes.steps import square
from structsvm.problem.checks import require_moderate_norm
from structsvm.qp import ActiveSet
from structsvm.qp.one_group import SIGNATURE, solve_one_group
from structsvm.solvers.line_search import TOWARD_TARGET
from structsvm.solvers.working_set import WorkingSet
from structsvm.types import IntVector, Matrix, Vector

_QP_ACCURACY = 0.01
"""Part of the gap at which to stop that is left in each QP."""

_LOOKS = 12
"""Most looks of a search along a line."""

_FARTHEST = 2.0
"""Largest t that it looks at."""

_ACCURACY = 0.01
"""Part of the descent found so far that may be left when it ends."""

_BLOCK = 100_000
"""Numbers of planes that a thread reads at a time, some µs."""

_MOST_BLOCKS = 8

_START, _LINE, _LOOK, _MOVE = range(4)
"""Kinds of stages: values at the weights of the multipliers, and the choice there; values at the solution of the QP,
and the hinge at both ends of the line to it; a look at the hinge on the line; the move, and the choice after it."""

_KIND, _CUTS, _LOOKED = range(3)
"""Places of ``plan``."""

_T, _LOWEST, _DUAL, _LINEAR, _CURVATURE = range(5)
_FIRST, _BEST_T, _BEST, _LOW, _LOW_VALUE, _LOW_SLOPE, _HIGH, _HIGH_VALUE, _HIGH_SLOPE = range(5, 14)
"""Places of ``numbers``: the t to look at or to move by, the lowest primal value, that of the dual, the regulariser on
the line less what it is at its start; the hinge there, the best t with what is to be minimised there, and the
tangents next to the minimum."""

_OFFSET, _AT_START, _SLOPE_AT_START, _AT_T, _SLOPE_AT_T, _SUMS = 0, 1, 2, 3, 4, 8


class _Joint(NamedTuple):
    """What threads share: P places of n examples, room for K cuts, B blocks of examples.

    ``bounds`` (B + 1,) where blocks begin; ``g`` (B, d) and ``sums`` (B, 8) what each adds to a cut and to a hinge;
    ``values`` (n, P) at the best point w (d,), ``along`` (n, P) on the line to ``target`` (d,); ``choices`` (K, n);
    ``G`` (1, K + 1, d), ``L``, ``gram`` and ``weight`` of the cuts, the first one that of the multipliers as they were.
    """

    counters: IntVector
    plan: IntVector
    numbers: Vector
    bounds: IntVector
    g: Matrix
    sums: Matrix
    values: Matrix
    along: Matrix
    w: Vector
    target: Vector
    choices: Choices
    G: Matrix
    L: Vector
    gram: Vector
    weight: Vector
    slope: Vector

    @classmethod
    def of(cls, planes: PlaneArrays, w: Vector, most_cuts: int) -> Self:
        """Begin with the multipliers as they are, at weights w."""
        n, places, d = planes.G.shape
        blocks = max(1, min(n, _MOST_BLOCKS, planes.G.size // _BLOCK))
        room = most_cuts + 1
        G, L, gram = np.zeros((1, room, d)), np.zeros(room), np.zeros(room * room)
        G[0, 0], L[0], gram[0] = w, np.sum(planes.a * planes.L), w @ w
        weight, slope = np.zeros(room + 1), np.zeros(room + 1)
        weight[0], slope[0] = 1.0, L[0] - gram[0]
        numbers = np.zeros(14)
        numbers[_DUAL] = L[0] - 0.5 * gram[0]
        return cls(
            counters=stage_counters(),
            plan=np.array([_START, 1, 0]),
            numbers=numbers,
            bounds=np.arange(blocks + 1) * n // blocks,
            g=np.zeros((blocks, d)),
            sums=np.zeros((blocks, _SUMS)),
            values=np.empty((n, places)),
            along=np.zeros((n, places)),
            w=w.copy(),
            target=w.copy(),
            choices=np.empty((most_cuts, n), dtype=np.int32),
            G=G,
            L=L,
            gram=gram,
            weight=weight,
            slope=slope,
        )


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
    joint = _Joint.of(planes, dual.w, most_cuts)
    improve, lead, solve = _loop(numba.typeof(planes), numba.typeof(joint))
    with using(None) as threads:
        run_stages(threads, lambda: improve(planes, joint, enough, lead, solve), joint.counters, len(joint.bounds) - 1)
    cuts = int(joint.plan[_CUTS])
    weight = joint.weight[:cuts]
    direction = weight @ joint.G[0, :cuts] - dual.w
    rise = float(weight @ joint.L[:cuts] - joint.L[0] - dual.w @ direction)
    if rise > 0.0:  # else rounding forbids more
        t = min(1.0, rise / max(float(direction @ direction), rise))
        restricted.mix(1.0 - t + t * float(weight[0]), joint.choices[: cuts - 1], t * weight[1:])


@cache
def _loop(planes: Any, joint: Any) -> tuple[Any, Any, Any]:
    """Return the loop that all threads run, for types of its arguments, and what it calls by address."""
    solver = numba.types.FunctionType(SIGNATURE)
    signature = numba.boolean(joint, numba.int64, numba.float64, solver)
    arguments = (planes, joint, numba.float64, numba.types.FunctionType(signature), solver)
    solve = by_address(solve_one_group, SIGNATURE)
    lead = by_address(_lead, signature)
    return compiled(_improve, [numba.void(*arguments)]), lead, solve


def _improve(planes: PlaneArrays, joint: _Joint, enough: float, lead: Any, solve: Any) -> None:
    bounds, values, along, numbers = joint.bounds, joint.values, joint.along, joint.numbers
    blocks = len(bounds) - 1
    while True:
        stage, block = next_piece(joint.counters, blocks)
        if stage < 0:
            return
        first, end, kind, t = bounds[block], bounds[block + 1], joint.plan[_KIND], numbers[_T]
        sums = joint.sums[block]
        if kind == _START:
            write_values_of(planes, first, end, joint.w, values)
        if kind == _LINE:
            write_values_of(planes, first, end, joint.target, along)
            subtract_values(values, first, end, along)
        if kind == _MOVE and t > 0.0:
            add_values(values, first, end, along, t)
        if kind in (_START, _LINE):
            sums[_AT_START], sums[_SLOPE_AT_START] = hinge_of(planes, first, end, values, along, 0.0)
        if kind in (_LINE, _LOOK):
            sums[_AT_T], sums[_SLOPE_AT_T] = hinge_of(planes, first, end, values, along, t)
        if kind in (_START, _MOVE):
            onward = TOWARD_TARGET * (1.0 - t)
            k = joint.plan[_CUTS] - 1
            if k < len(joint.choices):
                g = joint.g[block]
                sums[_OFFSET] = choose(planes, first, end, values, along, onward, joint.choices, k, g)
        if ends_stage(joint.counters, stage, blocks):
            if lead(joint, kind, enough, solve):
                begin_next(joint.counters)
            else:
                end_all(joint.counters)
                return


@compiled_part
def _lead(joint: _Joint, kind: int, enough: float, solve: Any) -> bool:
    """Do what is between two stages; say whether there is another one."""
    plan, numbers = joint.plan, joint.numbers
    if kind == _START:
        numbers[_LOWEST] = 0.5 * square(joint.w) + _total(joint.sums, _AT_START)
    elif kind == _MOVE:
        _move(joint)
    else:
        looks_again = _begin_search(joint) if kind == _LINE else True
        if looks_again:
            looks_again = _look(joint)
        if looks_again:
            plan[_KIND] = _LOOK
        else:
            plan[_KIND], numbers[_T] = _MOVE, numbers[_BEST_T]
        return True
    if numbers[_LOWEST] - numbers[_DUAL] <= enough or plan[_CUTS] > len(joint.choices):
        return False
    _add_cut(joint)
    _solve(joint, _QP_ACCURACY * enough, solve)
    plan[_KIND], numbers[_T] = _LINE, 1.0
    return True


@compiled_part
def _total(sums: Matrix, place: int) -> float:
    total = 0.0
    for block in range(len(sums)):
        total += sums[block, place]
    return total


@compiled_part
def _move(joint: _Joint) -> None:
    """Let the best point be where the search ended."""
    numbers = joint.numbers
    t = numbers[_T]
    if t > 0.0:
        numbers[_LOWEST] = 0.5 * square(joint.w) + numbers[_BEST]
        for k in range(len(joint.w)):
            joint.w[k] += t * (joint.target[k] - joint.w[k])


@compiled_part
def _add_cut(joint: _Joint) -> None:
    """Add what the blocks chose as a cut."""
    cuts, room = joint.plan[_CUTS], len(joint.L)
    g = joint.G[0, cuts]
    for block in range(len(joint.g)):
        for k in range(len(g)):
            g[k] += joint.g[block, k]
    joint.L[cuts] = _total(joint.sums, _OFFSET)
    joint.weight[cuts + 1], joint.weight[cuts] = joint.weight[cuts], 0.0
    slope = joint.L[cuts]
    for k in range(cuts + 1):
        inner = product(joint.G, 0, k, g)
        joint.gram[cuts * room + k] = inner
        joint.gram[k * room + cuts] = inner
        slope -= joint.weight[k] * inner
    joint.slope[cuts], joint.slope[cuts + 1] = slope, 0.0
    joint.plan[_CUTS] = cuts + 1


@compiled_part
def _solve(joint: _Joint, tol: float, solve: Any) -> None:
    """Solve the QP over the cuts; its solution is the target of the next line."""
    numbers, w, target = joint.numbers, joint.w, joint.target
    cuts, room = joint.plan[_CUTS], len(joint.L)
    weight, slope = joint.weight[: cuts + 1], joint.slope[: cuts + 1]
    dual = solve(joint.gram, room, joint.L[:cuts], weight, slope, tol)
    if dual > numbers[_DUAL]:
        numbers[_DUAL] = dual
    for k in range(len(target)):
        target[k] = 0.0
    for k in range(cuts):
        if weight[k] > 0.0:
            add_plane(joint.G, 0, k, weight[k], target)
    linear, curvature = 0.0, 0.0
    for k in range(len(w)):
        step = target[k] - w[k]
        linear += w[k] * step
        curvature += step * step
    numbers[_LINEAR], numbers[_CURVATURE] = linear, curvature


@compiled_part
def _begin_search(joint: _Joint) -> bool:
    """Begin a search along a line, as `structsvm.solvers.line_search` does; say whether there is anything to gain."""
    numbers = joint.numbers
    hinge, slope = _total(joint.sums, _AT_START), _total(joint.sums, _SLOPE_AT_START)
    numbers[_FIRST], numbers[_BEST_T], numbers[_BEST] = hinge, 0.0, hinge
    numbers[_LOW], numbers[_LOW_VALUE], numbers[_LOW_SLOPE] = 0.0, hinge, slope
    numbers[_HIGH] = np.inf
    joint.plan[_LOOKED] = 0
    return bool(numbers[_CURVATURE] > 0.0 and slope + numbers[_LINEAR] < 0.0)


@compiled_part
def _look(joint: _Joint) -> bool:
    """Take in the hinge at t; say whether to look at another t, and at which."""
    numbers = joint.numbers
    t, linear, curvature = numbers[_T], numbers[_LINEAR], numbers[_CURVATURE]
    value, slope = _total(joint.sums, _AT_T), _total(joint.sums, _SLOPE_AT_T)
    primal = t * (linear + 0.5 * t * curvature) + value
    if primal < numbers[_BEST]:
        numbers[_BEST_T], numbers[_BEST] = t, primal
    if slope + linear + t * curvature >= 0.0:
        numbers[_HIGH], numbers[_HIGH_VALUE], numbers[_HIGH_SLOPE] = t, value, slope
    else:
        numbers[_LOW], numbers[_LOW_VALUE], numbers[_LOW_SLOPE] = t, value, slope
    joint.plan[_LOOKED] += 1
    low, high = numbers[_LOW], numbers[_HIGH]
    if joint.plan[_LOOKED] == _LOOKS or (high == np.inf and low == _FARTHEST):
        return False
    if high == np.inf:
        numbers[_T] = _FARTHEST
        return True
    low_value, low_slope = numbers[_LOW_VALUE], numbers[_LOW_SLOPE]
    high_value, high_slope = numbers[_HIGH_VALUE], numbers[_HIGH_SLOPE]
    t = lowest_point(linear, curvature, low, low_value, low_slope, high, high_value, high_slope)
    model, other = low_value + low_slope * (t - low), high_value + high_slope * (t - high)
    if other > model:
        model = other
    left = numbers[_BEST] - model - t * (linear + 0.5 * t * curvature)
    numbers[_T] = t
    return bool(left > _ACCURACY * (numbers[_FIRST] - numbers[_BEST]) and low < t < high)


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
