"""Bounds on coordinates of weights, and the dual that goes with them."""

import numpy as np
from attrs import field, frozen

from structsvm.types import BoolVector, Vector


@frozen(eq=False)
class Box:
    """``low ≤ u ≤ high``, of which some coordinates may be without regulariser.

    With ``r(u) = ½ Σ u_j²`` over the others, the problem "``r(u)`` plus hinges, within the box" has the dual

        ``D(a) = Σ a L + min { r(u) − u·g : low ≤ u ≤ high }``,  ``g = Σ a G``,

    a concave function of multipliers within their caps, whatever the box: bounds are no cuts and need no multipliers
    of their own. A coordinate with regulariser is at the minimum where ``u_j = g_j`` clipped to its bounds (the minimum
    is a Moreau envelope); one without it at the bound that ``g_j`` points to, so that its bounds must be finite.

    Parameters
    ----------
    low, high : bounds, shape (d,); infinite ones are none.
    loose : which coordinates have no regulariser, shape (d,).

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0, 0.0], [2.0, 3.0]], [1, 0], [1, 1], loss="map")
    >>> box = problem.regularised(bounds=(0.0, [1.0, np.inf])).box
    >>> box.nearest(np.array([2.0, -1.0])).tolist()
    [1.0, 0.0]
    >>> box.lowest(np.array([2.0, -1.0]))  # ½·1² − 1·2
    -1.5
    """

    low: Vector = field(repr=False)
    high: Vector = field(repr=False)
    loose: BoolVector = field(repr=False)

    def nearest(self, u: Vector) -> Vector:
        """Return the nearest point of the box."""
        return np.clip(u, self.low, self.high)

    def regulariser(self, u: Vector) -> float:
        """Return ``r(u)``."""
        kept = u[~self.loose] if self.loose.any() else u
        return 0.5 * float(kept @ kept)

    def lowest(self, g: Vector) -> float:
        """Return the minimum of ``r(u) − u·g`` within the box."""
        u = self.nearest(g)
        if not self.loose.any():
            return float(u @ (0.5 * u - g))
        kept = ~self.loose
        bound = np.maximum(self.low[self.loose] * g[self.loose], self.high[self.loose] * g[self.loose])
        return float(u[kept] @ (0.5 * u[kept] - g[kept])) - float(bound.sum())

    def farthest(self, base: Vector, target: Vector) -> float:
        """Return the largest t, at least 1, at which ``base + t (target − base)`` is in the box, as both ends are."""
        along = target - base
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(along > 0.0, (self.high - base) / along, (self.low - base) / along)
        return max(1.0, float(np.min(room, where=along != 0.0, initial=np.inf)))
