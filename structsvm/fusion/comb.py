"""Combination of scores: minimum, maximum, median, sum, and the sum by the number of systems."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.features.scaling import divide_by_sums, standardise, to_unit
from structsvm.fusion.base import Fusion
from structsvm.metrics import Measure
from structsvm.registry.spelling import plain
from structsvm.settings import place, require_choice
from structsvm.types import IntVector, Matrix, Vector

COUNTS = ("retrieved", "nonzero")
"""What `CombANZ` and `CombMNZ` may count."""

_ZERO_DEVIATION = 1e-12
"""From the mean, in standard deviations: what rounding leaves of 0."""


class Comb(Fusion):
    """Combines the normalised scores of a document, those of the systems that retrieved it.

    A missing score is absent: it is not 0, and not the smallest.

    Derive from it and write `_combined`.

    Parameters
    ----------
    normalisation : what is done to the scores of each system and query first: "min-max" (from 0 to 1), "z" (mean 0,
        standard deviation 1), "sum" (smallest 0, sum 1) or "none". Where a system gave all documents that it
        retrieved the same score, these become 0 (but for "none").
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".

    Attributes
    ----------
    n_features_in_ : number of systems.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.fusion import Comb
    >>> class CombMid(Comb):
    ...     def _combined(self, scores):
    ...         return (np.nanmin(scores, axis=1) + np.nanmax(scores, axis=1)) / 2
    >>> scores = [[3.0, 1.0, 2.5], [2.0, float("nan"), 4.0]]
    >>> CombMid("none").fit(scores).predict(scores)
    array([2., 3.])
    """

    def __init__(self, normalisation: str = "min-max", *, measure: str | Measure | None = None) -> None:
        self.normalisation = normalisation
        self.measure = measure

    @abstractmethod
    def _combined(self, scores: Matrix) -> Vector:
        """Return the combination of each row of normalised scores, shape (rows,).

        Parameters
        ----------
        scores : shape (rows, systems); NaN where a system did not retrieve the document, and not in a whole row.
        """

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        with np.errstate(over="ignore", invalid="ignore"):
            fused = self._combined(normalise(scores, ptr, self.normalisation))
        infinite = ~np.isfinite(fused)
        if infinite.any():
            raise InputError(
                f"the scores of {infinite.sum()} documents are too large to be combined, up to "
                f"{np.nanmax(np.abs(scores)):.1g}: use a normalisation, such as 'min-max'"
            )
        return fused

    def _require_settings(self) -> None:
        require_choice(place(self, "normalisation"), _called(self.normalisation), NORMALISATIONS)


class CombMIN(Comb):
    """The smallest score of the document (Fox and Shaw, TREC-2, 1994).

    Parameters
    ----------
    normalisation, measure : see `Comb`.

    Examples
    --------
    >>> from structsvm.fusion import CombMIN
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, 3.0]]
    >>> CombMIN("none").fit(scores).predict(scores)
    array([1., 2., 1.])
    """

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.fmin.reduce(scores, axis=1))


class CombMAX(Comb):
    """The largest score of the document (Fox and Shaw, TREC-2, 1994).

    Parameters
    ----------
    normalisation, measure : see `Comb`.

    Examples
    --------
    >>> from structsvm.fusion import CombMAX
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> CombMAX("none").fit(scores).predict(scores)
    array([3., 2., 4.])
    """

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.fmax.reduce(scores, axis=1))


class CombMED(Comb):
    """The median of the document's scores (Fox and Shaw, TREC-2, 1994).

    That of an even number of scores is the mean of the two in the middle.

    Parameters
    ----------
    normalisation, measure : see `Comb`.

    Examples
    --------
    >>> from structsvm.fusion import CombMED
    >>> scores = [[3.0, 1.0, 9.0], [2.0, float("nan"), 3.0]]
    >>> CombMED("none").fit(scores).predict(scores)
    array([3. , 2.5])
    """

    def _combined(self, scores: Matrix) -> Vector:
        ordered = np.sort(scores, axis=1)  # NaN last
        count = (~np.isnan(scores)).sum(axis=1)
        row = np.arange(len(scores))
        return np.asarray(0.5 * ordered[row, (count - 1) // 2] + 0.5 * ordered[row, count // 2])


class CombSUM(Comb):
    """The sum of the document's scores (Fox and Shaw, TREC-2, 1994).

    Parameters
    ----------
    normalisation, measure : see `Comb`.

    Examples
    --------
    >>> from structsvm.fusion import CombSUM
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> CombSUM("none").fit(scores).predict(scores)
    array([4., 2., 5.])
    """

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores, axis=1))


class _CountedSum(Comb):
    """A sum of scores by the number of systems, and the setting ``count``."""

    def __init__(
        self, normalisation: str = "min-max", *, count: str = "retrieved", measure: str | Measure | None = None
    ) -> None:
        super().__init__(normalisation, measure=measure)
        self.count = count

    def _require_settings(self) -> None:
        super()._require_settings()
        require_choice(place(self, "count"), self.count, COUNTS)

    def _counted(self, scores: Matrix) -> IntVector:
        """Return the number of systems for each row, shape (rows,)."""
        retrieved = ~np.isnan(scores)
        zero = _ZERO_DEVIATION if _called(self.normalisation) == "z" else 0.0
        counted = retrieved & (np.abs(scores) > zero) if self.count == "nonzero" else retrieved
        return np.asarray(counted.sum(axis=1))


class CombANZ(_CountedSum):
    """The mean of the document's scores: `CombSUM` divided by the number of systems (Fox and Shaw, TREC-2, 1994).

    Parameters
    ----------
    normalisation, measure : see `Comb`.
    count : which systems are counted: "retrieved", those that retrieved the document; "nonzero", those whose
        normalised score of it is not 0 (with "z", not within 1e-12), to the letter of the name (average of
        non-zero scores); where there is none, the result is 0.

    Examples
    --------
    >>> from structsvm.fusion import CombANZ
    >>> scores = [[3.0, 0.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> CombANZ("none").fit(scores).predict(scores)
    array([1.5, 2. , 2.5])
    >>> CombANZ("none", count="nonzero").fit(scores).predict(scores)
    array([3. , 2. , 2.5])
    """

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores, axis=1) / np.maximum(self._counted(scores), 1))


class CombMNZ(_CountedSum):
    """`CombSUM` times the number of systems (Fox and Shaw, TREC-2, 1994).

    Parameters
    ----------
    normalisation, measure : see `Comb`. With "z", and with "none" where scores are negative, a sum below 0
        falls with the number of systems.
    count : which systems are counted: "retrieved", those that retrieved the document; "nonzero", those whose
        normalised score of it is not 0 (with "z", not within 1e-12), to the letter of the name.

    Examples
    --------
    >>> from structsvm.fusion import CombMNZ
    >>> scores = [[3.0, 0.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> CombMNZ("none").fit(scores).predict(scores)
    array([ 6.,  2., 10.])
    >>> CombMNZ("none", count="nonzero").fit(scores).predict(scores)
    array([ 3.,  2., 10.])
    """

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores, axis=1) * self._counted(scores))


def normalise(scores: Matrix, ptr: IntVector, how: str) -> Matrix:
    """Return normalised scores, NaN where they are missing, shape (rows, systems).

    Parameters
    ----------
    scores : the rows of each query together, shape (rows, systems).
    ptr : where the rows of each query begin, shape (Q + 1,); no query is empty.
    how : one of `NORMALISATIONS`, or as rankers call it.
    """
    return NORMALISATIONS[_called(how)](scores, ptr)


def _called(given: Any) -> Any:
    """Return the name that `NORMALISATIONS` has for a normalisation; what it does not know is returned as it is."""
    if not isinstance(given, str):
        return given
    known = {plain(name): name for name in NORMALISATIONS} | {plain(old): new for old, new in _ALSO_CALLED.items()}
    return known.get(plain(given), given)


def _none(scores: Matrix, ptr: IntVector) -> Matrix:
    return scores


def _sum(scores: Matrix, ptr: IntVector) -> Matrix:
    out = to_unit(scores, ptr)
    divide_by_sums(out, ptr)
    return out


def _z(scores: Matrix, ptr: IntVector) -> Matrix:
    out = to_unit(scores, ptr)  # changes no z-score, and its squares are neither too large nor too small
    standardise(out, ptr)
    return out


NORMALISATIONS: dict[str, Callable[[Matrix, IntVector], Matrix]] = {
    "none": _none,
    "min-max": to_unit,
    "z": _z,
    "sum": _sum,
}
"""What makes scores of different systems comparable before they are combined, by name.

Each looks at the documents of one query that one system retrieved. Where these all have the same
score, as where there is but one, the scores do not tell them apart, and become 0 (but for "none").

- "none": the scores as they are.
- "min-max": the smallest becomes 0 and the largest 1 (Lee, SIGIR 1997).
- "sum": the smallest becomes 0, and the sum 1 (Montague and Aslam, CIKM 2001).
- "z": the mean becomes 0 and the standard deviation, that of the retrieved documents, 1; Montague and
  Aslam call it ZMUV.
"""

_ALSO_CALLED = {"query-min-max": "min-max", "query-z-score": "z", "z-score": "z"}
"""What rankers call them, some of whose normalisations are over all queries."""
