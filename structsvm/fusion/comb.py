"""Combinations of scores: minimum, maximum, median, sum, and sums scaled by the number of systems."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from structsvm.exceptions import InputError
from structsvm.features.scaling.names import SCORE_SCALINGS, scaling_named
from structsvm.features.scaling.scalings import scaled_by_query
from structsvm.foundation.settings import place, require_choice
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.fusion.base import Fusion
from structsvm.metrics import Measure

COUNTS = ("retrieved", "nonzero")
"""Values of ``count`` of `CombANZ` and `CombMNZ`."""

_ZERO_DEVIATION = 1e-12
"""Largest rounding error of a z-score of 0."""


class Comb(Fusion):
    """Base class of methods that combine a document's normalized scores (Fox and Shaw, TREC-2, 1994)."""

    def __init__(self, normalize: str | None = "query-min-max", *, measure: str | Measure | None = None) -> None:
        self.normalize = normalize
        self.measure = measure

    @abstractmethod
    def _combined(self, scores: Matrix) -> Vector:
        """Return the combination of each row of normalized scores, shape (rows,); some but not all may be NaN."""

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        with np.errstate(over="ignore", invalid="ignore"):
            fused = self._combined(self._scaled(scores, ptr))
        infinite = ~np.isfinite(fused)
        if infinite.any():
            raise InputError(
                f"the scores of {infinite.sum()} documents are too large to be combined, up to "
                f"{np.nanmax(np.abs(scores)):.1g}: scale them, as with normalize='query-min-max'"
            )
        return fused

    def _require_settings(self) -> None:
        self._scaling_name()

    def _scaling_name(self) -> str | None:
        return scaling_named(place(self, "normalize"), self.normalize, SCORE_SCALINGS)

    def _scaled(self, scores: Matrix, ptr: IntVector) -> Matrix:
        """Return scaled scores; the rows of each query are together, and ``ptr`` has their starts."""
        return np.asarray(scaled_by_query(scores, ptr, self._scaling_name()))


class CombMIN(Comb):
    """The smallest score of the document."""

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.fmin.reduce(scores, axis=1))


class CombMAX(Comb):
    """The largest score of the document."""

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.fmax.reduce(scores, axis=1))


class CombMED(Comb):
    """The median of the document's scores; of an even number, the mean of the two middle scores."""

    def _combined(self, scores: Matrix) -> Vector:
        # NaN is last in sorted rows.
        ordered = np.sort(scores, axis=1)
        count = (~np.isnan(scores)).sum(axis=1)
        row = np.arange(len(scores))
        return np.asarray(0.5 * ordered[row, (count - 1) // 2] + 0.5 * ordered[row, count // 2])


class CombSUM(Comb):
    """The sum of a document's scores over the systems (Fox and Shaw, TREC-2, 1994).

    Parameters
    ----------
    normalize : scaling of the scores of each system and query: "query-min-max" (from 0 to 1), "query-z-score" (mean 0,
        standard deviation 1), "query-sum" (smallest 0, sum 1) or "query-percentiles" (the fraction of documents with
        this score or a smaller one); None: no scaling. The first three set scores to 0 if all scores of a system are
        equal.
    measure : see `Fusion`.

    Examples
    --------
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> CombSUM(None).fit(scores).predict(scores)
    array([4., 2., 5.])
    """

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores, axis=1))


class CountedComb(Comb):
    """A sum of scores scaled by the number of systems, which the setting ``count`` defines."""

    def __init__(
        self, normalize: str | None = "query-min-max", *, count: str = "retrieved", measure: str | Measure | None = None
    ) -> None:
        super().__init__(normalize, measure=measure)
        self.count = count

    def _require_settings(self) -> None:
        super()._require_settings()
        require_choice(place(self, "count"), self.count, COUNTS)

    def _counted(self, scores: Matrix) -> IntVector:
        """Return the number of counted systems of each row, shape (rows,)."""
        retrieved = ~np.isnan(scores)
        zero = _ZERO_DEVIATION if self._scaling_name() == "query-z-score" else 0.0
        counted = retrieved & (np.abs(scores) > zero) if self.count == "nonzero" else retrieved
        return np.asarray(counted.sum(axis=1))


class CombANZ(CountedComb):
    """`CombSUM` divided by the number of systems: the mean of the document's scores, 0 if no system counts."""

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores, axis=1) / np.maximum(self._counted(scores), 1))


class CombMNZ(CountedComb):
    """`CombSUM` times the number of systems that count (Fox and Shaw, TREC-2, 1994).

    Parameters
    ----------
    normalize, measure : see `CombSUM`. A negative sum of z-scores decreases with the number of systems.
    count : systems that count: "retrieved", all systems that retrieved the document; "nonzero", all systems whose
        scaled score of the document is not 0 (for z-scores, beyond ±1e-12).

    Examples
    --------
    >>> scores = [[3.0, 0.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> CombMNZ(None).fit(scores).predict(scores)
    array([ 6.,  2., 10.])
    >>> CombMNZ(None, count="nonzero").fit(scores).predict(scores)
    array([ 3.,  2., 10.])
    """

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores, axis=1) * self._counted(scores))
