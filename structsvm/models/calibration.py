"""Calibrate scores to probabilities of relevance, by monotone curves that scikit-learn fits and NumPy evaluates."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.queries import Queries, require_finite_labels
from structsvm.foundation.settings import require_choice, require_integer
from structsvm.foundation.storage.archives import finite_numbers, require_names
from structsvm.foundation.types import BoolVector, Matrix, Vector

METHODS = ("isotonic", "sigmoid")
"""Names of the curves."""

_LEAST = 10
"""Smallest number of queries; with fewer queries, shares of relevant documents are mostly chance."""

_COUNTS = ("queries", "documents", "relevant")


@frozen(eq=False)
class Calibration:
    """A non-decreasing curve from scores to probabilities of relevance.

    `of` fits a curve. Scores of a fusion or a retrieval function can be calibrated too.

    Parameters
    ----------
    method : "isotonic" or "sigmoid".
    curve : for "isotonic", scores and their probabilities, both ascending, shape (2, K); the curve is linear in between
        and constant outside. For "sigmoid", slope and intercept of the log odds, shape (2, 1).
    queries, documents, relevant : numbers of queries, documents and relevant documents that the curve was fitted to.

    Examples
    --------
    >>> scores, y = [0.0, 1.0, 2.0, 3.0] * 10, [0, 0, 1, 1] * 9 + [0, 1, 0, 1]
    >>> calibration = Calibration.of(scores, y, [query for query in range(10) for _ in range(4)])
    >>> calibration.probabilities([-1.0, 1.0, 2.0]).round(2).tolist()
    [0.02, 0.1, 0.9]
    """

    file_name: ClassVar[str] = "calibration"
    """Name of the curve in files."""

    method: str
    curve: Matrix = field(repr=False)
    queries: int
    documents: int
    relevant: int

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        method: str = "isotonic",
    ) -> Self:
        """Fit a curve to the scores and labels of queries that the ranker was not trained on.

        Parameters
        ----------
        scores : score of each document, shape (rows,).
        y : labels, shape (rows,); documents with labels above 0 are relevant. Pass ``y >= 2`` for another threshold.
        qid : query id of each row.
        sample_weight : weight of each row, the same for all rows of a query; the documents of a query share its weight.
            None: all queries weigh the same.
        method : "isotonic" (scikit-learn's ``IsotonicRegression``, which assumes only that probabilities do not fall)
            or, for few queries, "sigmoid" (``LogisticRegression`` on the score, with Platt's smoothed labels).
        """
        require_choice("method", method, METHODS)
        sample = numbers(scores, "scores")
        if sample.ndim != 1 or not np.isfinite(sample).all():
            raise InputError(
                f"scores must be finite, one for each document, got shape {sample.shape}: pass the scores of predict"
            )
        relevant, queries = relevance(y, len(sample)), Queries.of(qid, len(sample))
        of_query = queries.weights(sample_weight)
        used = int((of_query > 0.0).sum())
        if used < _LEAST:
            raise InputError(
                f"too few queries to calibrate on: {used} with a weight above 0, but {_LEAST} are needed. Pass more "
                "queries, and their ids as qid"
            )
        weights = row_shares(queries, of_query)
        weighted = weights > 0.0
        sample, relevant, weights = sample[weighted], relevant[weighted], weights[weighted]
        if relevant.all() or not relevant.any():
            kind = "relevant" if relevant.all() else "not relevant"
            raise InputError(
                f"all {len(sample)} documents to calibrate on are {kind}: pass queries with relevant documents (label "
                "above 0) and others; or y >= 2, on the command line --relevant-from 2, to count only higher grades as "
                "relevant"
            )
        curve = (_isotonic if method == "isotonic" else _sigmoid)(sample, relevant, weights)
        return cls(method, curve, used, len(sample), int(relevant.sum()))

    def probabilities(self, scores: ArrayLike) -> Vector:
        """Return the probability of relevance of each score, shape (rows,)."""
        values = numbers(scores, "scores")
        first, second = self.curve
        if self.method == "isotonic":
            return np.asarray(np.interp(values, first, second))
        return np.asarray(np.exp(-np.logaddexp(0.0, -(first * values + second))))

    @classmethod
    def read(cls, written: Any, arrays: Mapping[str, Any]) -> Self:
        """Return the calibration in a file; raise ValueError if it is malformed."""
        if not isinstance(written, dict):
            raise ValueError("the calibration must be a JSON object")
        names = ("method", *_COUNTS)
        require_names("the calibration", written, names, names)
        require_choice("method", written["method"], METHODS)
        for name in _COUNTS:
            require_integer(name, written[name], 1)
        isotonic = written["method"] == "isotonic"
        curve = finite_numbers(arrays, cls.file_name, (2, None if isotonic else 1))
        first, second = curve
        if isotonic:
            rises = (np.diff(first) > 0.0).all() and (np.diff(second) >= 0.0).all()
            valid = len(first) and rises and second[0] >= 0.0 and second[-1] <= 1.0
        else:
            valid = first[0] > 0.0
        if not valid:
            raise ValueError("'calibration' must be a curve of probabilities that does not fall")
        return cls(curve=curve, **written)

    def __str__(self) -> str:
        return f"{self.method}, of {self.queries} queries with {self.documents} documents, {self.relevant} relevant"

    def text(self) -> dict[str, Any]:
        """Return everything but the curve, for JSON."""
        return {"method": self.method, **{name: getattr(self, name) for name in _COUNTS}}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a file."""
        return {self.file_name: self.curve}


def relevance(y: ArrayLike, rows: int) -> BoolVector:
    """Return the mask of relevant rows: labels above 0."""
    labels = numbers(y, "y")
    if labels.shape != (rows,):
        raise InputError(f"there are {rows} scores, but y has shape {labels.shape}: pass one label for each")
    require_finite_labels(labels)
    return np.asarray(labels > 0.0)


def row_shares(queries: Queries, weights: Vector) -> Vector:
    """Return the weight of each row, in input order: its equal part of the weight of its query."""
    return np.asarray((weights / queries.sizes)[queries.number])


def _isotonic(scores: Vector, relevant: BoolVector, weights: Vector) -> Matrix:
    from sklearn.isotonic import IsotonicRegression

    # No finite sample proves a probability of 0 or 1, whose log loss may be infinite.
    least = 1.0 / (len(scores) + 2.0)
    # scikit-learn takes scores within 1e-15 as equal, whatever their scale, so give it their places.
    values, place = np.unique(scores, return_inverse=True)
    fitted = IsotonicRegression(y_min=least, y_max=1.0 - least).fit(
        place.astype(np.float64), relevant.astype(np.float64), weights
    )
    knots = np.array([values[fitted.X_thresholds_.astype(np.int64)], fitted.y_thresholds_], dtype=np.float64)
    if knots[1, 0] == knots[1, -1]:
        raise _no_use()
    return knots


def _sigmoid(scores: Vector, relevant: BoolVector, weights: Vector) -> Matrix:
    from sklearn.linear_model import LogisticRegression

    center, scale = scores.mean(), scores.std()
    if not scale > 0.0:
        raise _no_use()
    # Platt (1999): labels away from 0 and 1 keep the slope finite if a threshold separates the documents.
    count = relevant.sum()
    target = np.where(relevant, (count + 1.0) / (count + 2.0), 1.0 / (len(scores) - count + 2.0))
    rows = np.tile((scores - center) / scale, 2)[:, None]
    labels = np.repeat([1, 0], len(scores))
    # The weights have a mean of 1, so that the tolerance of the optimizer does not depend on their scale.
    weights = np.concatenate([target * weights, (1.0 - target) * weights]) * (len(scores) / weights.sum())
    fitted = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(rows, labels, weights)
    slope = float(fitted.coef_[0, 0] / scale)
    if slope <= 0.0:
        raise _no_use()
    return np.array([[slope], [float(fitted.intercept_[0] - slope * center)]])


def _no_use() -> InputError:
    return InputError(
        "the documents with higher scores are not more often relevant in the queries to calibrate on: check that "
        "scores, labels and query ids are in the same order, and that higher labels are better"
    )
