"""The regions between crossings, from left to right, and the best of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.rankers.weight_search.crossings import Kinds, Ranks, change_places
from structsvm.types import Vector

EQUAL = 1 << 16
"""Means that differ by no more, in units of 2^-62 (1.4e-14 in all), are the same to rounding."""


class Best(NamedTuple):
    """The best region so far.

    Parameters
    ----------
    low, high : its ends; infinite where it has none.
    distance : from step 0 to its nearer end; 0 where step 0 is inside or an end.
    value : its mean; below 0 before there is a region.
    top : largest mean of any region.
    """

    low: float
    high: float
    distance: float
    value: int
    top: int


class Rules(NamedTuple):
    """What a step must be like.

    Parameters
    ----------
    narrowest : regions whose `width` is not larger are passed over.
    offset : see `step_inside`.
    """

    narrowest: float
    offset: float


@compiled
def step_inside(low: float, high: float, offset: float) -> float:
    """Return the midpoint of a region.

    Where it is unbounded, the step is ``offset`` beyond its only end, times the distance of that end from 0 where
    this is more than 1; in the region that is the whole line, 0.
    """
    if low == -np.inf and high == np.inf:
        return 0.0
    if low == -np.inf:
        return high - offset * max(1.0, abs(high))
    if high == np.inf:
        return low + offset * max(1.0, abs(low))
    return 0.5 * low + 0.5 * high


@compiled
def width(low: float, high: float, offset: float) -> float:
    """Return how wide a region is, over the distance of its step from 0 where this is more than 1.

    An unbounded one is as wide as a bounded one whose midpoint is as far inside.
    """
    step = step_inside(low, high, offset)
    return 2.0 * min(step - low, high - step) / max(1.0, abs(step))


@compiled
def better(best: Best, low: float, high: float, value: int, rules: Rules) -> Best:
    """Return the better of the best region and another one to the right of it; of equal ones, the nearer one."""
    step = step_inside(low, high, rules.offset)
    if not low < step < high or not width(low, high, rules.offset) > rules.narrowest:
        return best
    top = max(best.top, value)
    distance = max(low, -high, 0.0)
    if best.value < top - EQUAL or (value >= top - EQUAL and distance <= best.distance):
        return Best(low, high, distance, value, top)
    return Best(best.low, best.high, best.distance, best.value, top)


@compiled
def sweep(
    kinds: Kinds,
    ranks: Ranks,
    steps: Vector,
    codes: NDArray[np.int32],
    last: float,
    value: int,
    best: Best,
    rules: Rules,
) -> tuple[float, int, Best]:
    """Pass crossings from left to right; those at one step are passed together.

    Parameters
    ----------
    kinds, ranks : see there.
    steps, codes : the crossings, by step.
    last : where the region begins in which it starts.
    value : mean in this region.
    best, rules : see there.

    Returns
    -------
    Where the region after the last crossing begins, its mean, and the best of the regions before it.
    """
    i = 0
    while i < len(steps):
        step = steps[i]
        if value >= best.top - EQUAL:
            best = better(best, last, step, value, rules)
        while i < len(steps) and steps[i] == step:
            value += change_places(kinds, ranks, codes[i])
            i += 1
        last = step
    return last, value, best
