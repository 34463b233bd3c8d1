"""Transformers that look at one query at a time: scores made comparable between queries, and missing ones filled in."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.exceptions import InputError
from structsvm.features.checks import checked_scores
from structsvm.features.places import count_higher
from structsvm.features.scaling import to_unit
from structsvm.queries import Queries
from structsvm.settings import is_number
from structsvm.types import Matrix


class QueryTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Replaces each score by one that depends on the other scores of its query by its function.

    Nothing is learned but the number of functions. A missing score (NaN) stays missing and counts
    for nothing. The transformers request ``qid``: with metadata routing switched on
    (``sklearn.set_config(enable_metadata_routing=True)``) pipelines and grid searches hand it on.

    Attributes
    ----------
    n_features_in_ : number of functions.
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"qid": True}

    @abstractmethod
    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        """Return what stands for the scores, shape (rows, F).

        Parameters
        ----------
        scores : float64 in C order, the rows of each query together, shape (rows, F); NaN where missing.
        queries : the queries.
        """

    def _queries(self, qid: ArrayLike | None, n: int) -> Queries:
        """Return the queries of n rows.

        Raises
        ------
        InputError : when qid is None, or not one id a row.
        """
        if qid is None:
            raise InputError(
                f"{type(self).__name__} needs qid, the query id of each row. In a pipeline or a grid search, switch "
                "on sklearn.set_config(enable_metadata_routing=True): qid is then handed to every step that asks for "
                "it. If all rows are of one query, give them all the same id"
            )
        return Queries.of(qid, n)

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Remember the number of functions.

        Parameters
        ----------
        X : scores, a document a row and a function a column, shape (rows, F); NaN where missing.
        y : not used.
        qid : query id of each row.

        Raises
        ------
        InputError : when X, qid or a setting cannot be used; it says why.
        """
        scores = checked_scores(self, X, reset=True)
        self._queries(qid, len(scores))
        return self

    def transform(self, X: Any, qid: ArrayLike | None = None) -> Matrix:
        """Return what stands for the scores, float64, shape (rows, F).

        Parameters
        ----------
        X, qid : as in `fit`; rows of a query need not be together.

        Raises
        ------
        InputError : when X, qid or a setting cannot be used; it says why.
        """
        check_is_fitted(self)
        scores = checked_scores(self, X, reset=False)
        queries = self._queries(qid, len(scores))
        grouped = np.ascontiguousarray(queries.grouped(scores), dtype=np.float64)
        replaced: Matrix = queries.ungrouped(self._replaced(grouped, queries))
        return replaced

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Matrix:
        """Do `fit` and `transform`."""
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class QueryMinMax(QueryTransformer):
    """Per-query min-max: the scores of each function go from 0 to 1 within each query.

    ``(f(d) − min) / (max − min)`` over the documents of the query that f retrieved: the normalisation
    of SVM-acc4 in Yue, Finley, Radlinski and Joachims (SIGIR 2007), section 5.2.1. Where all of them
    have the same score it is 0, as with scikit-learn's ``MinMaxScaler``. NaN stays NaN.

    Examples
    --------
    >>> from structsvm.features import QueryMinMax
    >>> QueryMinMax().fit_transform([[1.0], [3.0], [2.0]], qid=[1, 1, 1]).ravel().tolist()
    [0.0, 1.0, 0.5]
    """

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        return to_unit(scores, queries.ptr)


class QueryPercentiles(QueryTransformer):
    """Per-query percentiles: the fraction of the documents that are scored at or below this one.

    Of the documents of the query that the function retrieved, this one included: 1 is the top, 1/n
    the bottom of n, and equal scores have equal percentiles. The normalisation of SVM-acc3 in Yue,
    Finley, Radlinski and Joachims (SIGIR 2007), section 5.2.1. NaN stays NaN.

    Examples
    --------
    >>> from structsvm.features import QueryPercentiles
    >>> QueryPercentiles().fit_transform([[1.0], [30.0], [2.0]], qid=[1, 1, 1]).ravel().tolist()
    [0.3333333333333333, 1.0, 0.6666666666666666]
    """

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        higher, retrieved = count_higher(scores, queries.ptr)
        return np.where(np.isnan(scores), np.nan, (retrieved - higher) / np.maximum(retrieved, 1))


class ReciprocalRanks(QueryTransformer):
    """Reciprocal ranks: 1 divided by the rank of the document among those of its query, best score first.

    The rank is one plus the number of documents with a higher score, so that equal scores have equal
    ranks, whatever the order of the rows (where a measure has to break ties, a feature has not).
    It belongs to the percentile: ``rank = n − n · percentile + 1``. NaN stays NaN.

    Examples
    --------
    >>> from structsvm.features import ReciprocalRanks
    >>> ReciprocalRanks().fit_transform([[1.0], [3.0]], qid=[1, 1]).ravel().tolist()
    [0.5, 1.0]
    """

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        higher, _ = count_higher(scores, queries.ptr)
        return np.where(np.isnan(scores), np.nan, 1.0 / (1 + higher))


class FillMissing(QueryTransformer):
    """Replaces missing scores (NaN) by a number, as a linear model of raw scores needs it.

    Parameters
    ----------
    value : "min", the smallest score that the function gave in the query, as if it had retrieved the
        missing documents last (0 where it retrieved nothing); or a number, such as 0 after
        `QueryMinMax`, `QueryPercentiles` or `ReciprocalRanks`, for which no ``qid`` is needed.

    Attributes
    ----------
    n_features_in_ : number of functions.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.features import FillMissing
    >>> FillMissing("min").fit_transform([[1.0], [3.0], [np.nan]], qid=[1, 1, 1]).ravel().tolist()
    [1.0, 3.0, 1.0]
    """

    def __init__(self, value: str | float = "min") -> None:
        self.value = value

    def _queries(self, qid: ArrayLike | None, n: int) -> Queries:
        return super()._queries(qid, n) if self._by_query() else Queries.of(None, n)

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        if not self._by_query():
            return np.where(np.isnan(scores), float(self.value), scores)
        smallest = np.fmin.reduceat(scores, queries.ptr[:-1], axis=0)
        filled = np.repeat(np.where(np.isnan(smallest), 0.0, smallest), queries.sizes, axis=0)
        return np.where(np.isnan(scores), filled, scores)

    def _by_query(self) -> bool:
        """Say whether the number depends on the query."""
        if isinstance(self.value, str) and self.value == "min":
            return True
        if not is_number(self.value):
            raise InputError(f"FillMissing(value=...) must be 'min' or a finite number, got {self.value!r}")
        return False
