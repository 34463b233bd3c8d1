"""Sweeps over the stored planes, example by example.

One thread sweeps. Sweeps are a small part of a fit, and on two cores, several threads that sweep blocks gain little
(benchmarks/solvers/threads_tried.md).
"""

from math import gcd

import numpy as np

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector, Vector
from structsvm.problem.planes.arrays import PlaneArrays
from structsvm.problem.planes.steps import bring_live_to_front, improve

_GOLDEN = 0.3819660112501051
"""Growth of strides as a share of the visits: the golden section, whose multiples are far apart."""


def strides(n: int, most: int) -> IntVector:
    """Return distinct strides that reach all of n places; the first is 1."""
    strides, candidate = [1], 1
    while len(strides) < most:
        candidate = (candidate + int(_GOLDEN * n)) % n if n > 1 else 0
        while n > 1 and gcd(candidate, n) > 1:
            candidate += 1
        strides.append(candidate)
    return np.array(strides[:most], dtype=np.int64)


@compiled
def sweep_over(
    planes: PlaneArrays, order: IntVector, stride: IntVector, enough: float, w: Vector, room: Vector
) -> tuple[float, int]:
    """Sweep until gaps sum to ``enough``, once for each ``stride``; return the last sum and the number of sweeps.

    The first sweep visits all planes, and later ones the planes that recently had weight. A sweep goes through the
    ``order`` by its stride, so that examples follow different ones each time. ``room`` (2 P,) is work space.
    """
    n, sweep = len(order), 0
    while True:
        met = 0.0
        for k in range(n):
            i = order[k * stride[sweep] % n]
            if sweep == 1:
                bring_live_to_front(planes, i)
            met += improve(planes, i, planes.used[i] if sweep == 0 else planes.live[i], w, room)
        sweep += 1
        if met <= enough or sweep == len(stride):
            return met, sweep
