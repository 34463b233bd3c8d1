"""Predict from the gaps of a run how much work is left."""

from bisect import bisect_right

import numpy as np


class Pace:
    """Gaps of a run by its work. Work is counted, so a run is the same on each machine.

    Parameters
    ----------
    most : largest predicted work, in passes over the data, that is worth its time.
    after : work before the first prediction, because early gaps jump.
    """

    def __init__(self, most: float = np.inf, after: float = 0.0) -> None:
        self._most, self._after = most, after
        self._work: list[float] = []
        self._gaps: list[float] = []

    @property
    def is_limited(self) -> bool:
        """True if too much work ends the run."""
        return self._most < np.inf

    def record(self, work: float, gap: float) -> None:
        """Record the gap after this work."""
        self._work.append(work)
        self._gaps.append(gap)

    def is_slow(self, wanted: float) -> bool:
        """Return True if progress since half of the work predicts too much work until the gap is ``wanted``."""
        work, gap = self._work[-1], self._gaps[-1]
        before = bisect_right(self._work, 0.5 * work) - 1
        if not self.is_limited or work <= self._after or before < 0 or gap <= wanted:
            return False
        closed, rest = np.log(self._gaps[before] / gap), np.log(gap / wanted)
        return bool(work * closed + (work - self._work[before]) * rest > self._most * closed)
