"""Climbing on mean average precision: weights that move along directions, each time to the best place there is."""

import numpy as np

from structsvm.operators import Rows
from structsvm.rankers.weight_search.exhaustive_search import EQUAL, ONE, ExhaustiveSearch
from structsvm.types import Vector

_FINEST = 2.0**-40
_WIDER = 16.0


class HillClimb:
    """Weights, their scores and their MAP; `move` changes them.

    Parameters
    ----------
    search : searches a direction.
    rows : features of the rows that it was made of.
    constant : what queries that it left out add to MAP.
    start : weights to start from, shape (d,).
    offset : as `ExhaustiveSearch.best` reads it, in units of the largest weight.
    """

    def __init__(self, search: ExhaustiveSearch, rows: Rows, constant: float, start: Vector, offset: float) -> None:
        self.w = start
        self._search = search
        self._rows = rows
        self._constant = constant
        self._offset = offset
        self._scores = rows.scores(start)
        self._value = search.value(self._scores)

    @property
    def finite(self) -> bool:
        """Whether all scores are finite."""
        return bool(np.isfinite(self._scores).all())

    @property
    def map(self) -> float:
        """Mean average precision at the weights."""
        return self._value / ONE + self._constant

    def move(self, direction: Vector) -> float:
        """Go to the best place along a direction; return the step, 0 where no place is better than here.

        Crossings are known to rounding, as are the scores after a step, so that rankings may be others in
        a region that is very narrow. Those narrower than 2^-40 of the weights are passed over. A step counts for what
        the scores after it are worth; where that is less than it was to be, regions more than 16 times as wide are
        tried, so that of several narrow ones not all are.
        """
        unit = _unit(self.w, direction)
        direction = unit * direction
        slopes = self._rows.scores(direction)
        w, here, step, narrowest = self.w, self._scores, 0.0, _FINEST
        while region := self._search.best(here, slopes, offset=self._offset, narrowest=narrowest):
            if region.value <= self._value + EQUAL:
                break
            moved = w + region.step * direction
            scores = self._rows.scores(moved)
            value = self._search.value(scores) if np.isfinite(scores).all() else 0
            if value > self._value + EQUAL:
                self.w, self._scores, self._value, step = moved, scores, value, unit * region.step
            if value >= region.value - EQUAL:
                break
            narrowest = _WIDER * max(narrowest, region.width)
        return step


def _unit(w: Vector, direction: Vector) -> float:
    """Return the length of a direction, as a power of 2, at which its largest number is about the largest weight."""
    largest = float(np.abs(w).max())
    if largest == 0.0:
        return 1.0
    power = np.round(np.log2(largest) - np.log2(np.abs(direction).max()))
    return float(2.0 ** np.clip(power, -1022.0, 1023.0))
