"""The problem restricted to the planes that are kept."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.planes.dual import DualPlanes
from structsvm.planes.values import Choices
from structsvm.result import CutSet
from structsvm.types import IntVector, Matrix, Vector


class RestrictedProblem:
    """Minimise ``½‖w‖² + Σ_i cap_i max_p (L_ip − g_ip·w)`` over the planes that are kept, the truth (0) among them.

    Parameters
    ----------
    dual : the planes, with multipliers.
    """

    def __init__(self, dual: DualPlanes) -> None:
        self.dual = dual
        self._planes = dual.arrays

    def cuts(self) -> CutSet:
        """Return all planes that are kept, those without weight too, as cuts grouped by example."""
        return self.dual.cuts_at(*self._places())

    def weigh(self, a: Vector) -> None:
        """Give the planes, in the order of `cuts`, these multipliers; w follows."""
        self._planes.a[self._places()] = a
        self.dual.refresh()

    def _places(self) -> tuple[IntVector, IntVector]:
        taken = np.arange(self._planes.L.shape[1]) < self._planes.used[:, None]
        i, p = np.nonzero(taken)
        return i, p

    def mix(self, share: float, choices: Choices, weights: Vector) -> None:
        """Make the multipliers a share of what they were and, for the rest, weighted choices; w follows."""
        _mix(self._planes.a, self._planes.used, self._planes.cap, share, choices, weights)
        self.dual.refresh()


@compiled
def _mix(a: Matrix, used: IntVector, cap: Vector, share: float, choices: Choices, weights: Vector) -> None:
    for i in range(len(cap)):
        for p in range(used[i]):
            a[i, p] *= share
        for k in range(len(weights)):
            if weights[k] > 0.0 and choices[k, i] >= 0:
                a[i, choices[k, i]] += weights[k] * cap[i]
