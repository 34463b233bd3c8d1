"""Numbers in the place of missing scores."""

import math
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.exceptions import InputError
from structsvm.features.checks import checked_scores, query_of_rows
from structsvm.types import IntVector, Matrix


class FillMissing(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Puts a number in the place of each missing score (NaN): what a linear model of raw scores needs.

    Parameters
    ----------
    value : "min", the smallest score that the function gave in the query, as if it had retrieved the
        missing documents last (0 where it retrieved nothing); or a number, such as 0 after
        `QueryMinMax`, `QueryPercentiles` or `ReciprocalRanks`, for which no ``qid`` is needed.

    Attributes
    ----------
    n_features_in_ : number of functions.
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"qid": True}

    def __init__(self, value: str | float = "min") -> None:
        self.value = value

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Remember the number of functions.

        Parameters
        ----------
        X : scores, a document a row and a function a column, shape (rows, F); NaN where missing.
        y : not used.
        qid : query id of each row; needed where ``value`` is "min".

        Raises
        ------
        InputError : when X, qid or ``value`` cannot be used; it says why.
        """
        scores = checked_scores(self, X, reset=True)
        if self._by_query():
            query_of_rows(self, qid, len(scores))
        return self

    def transform(self, X: Any, qid: ArrayLike | None = None) -> Matrix:
        """Return the scores without NaN, float64, shape (rows, F).

        Parameters
        ----------
        X, qid : as in `fit`; rows of a query need not be together.

        Raises
        ------
        InputError : when X or qid cannot be used; it says why.
        """
        check_is_fitted(self)
        scores = checked_scores(self, X, reset=False).astype(np.float64)
        missing = np.isnan(scores)
        if self._by_query():
            smallest = _smallest(scores, query_of_rows(self, qid, len(scores)))
            scores[missing] = smallest[missing]
        else:
            scores[missing] = self.value
        return scores

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Matrix:
        """Do `fit` and `transform`."""
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def _by_query(self) -> bool:
        """Say whether the number depends on the query."""
        value = self.value
        if isinstance(value, str) and value == "min":
            return True
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(float(value)):
            raise InputError(f"FillMissing(value=...) must be 'min' or a finite number, got {value!r}")
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _smallest(scores: Matrix, query: IntVector) -> Matrix:
    """Return the smallest score of each document's query by each function; 0 where all are missing."""
    low = np.full((query.max() + 1, scores.shape[1]), np.inf)
    np.fmin.at(low, query, scores)
    return np.asarray(np.where(np.isinf(low), 0.0, low)[query])
