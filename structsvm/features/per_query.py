"""Transform scores so that they are comparable between queries, and fill in missing scores."""

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from structsvm.exceptions import InputError, brief
from structsvm.features.scaling.places import count_higher
from structsvm.features.scaling.scalings import scaled_by_query
from structsvm.foundation.arrays import refusal, require_real
from structsvm.foundation.frames import is_frame, read_frame
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import is_number
from structsvm.foundation.types import Matrix


class QueryTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of transformers of each score by the scores of its query and column; NaN is ignored and stays."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"qid": True}

    @abstractmethod
    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        """Return the new scores, shape (rows, F), from float64 in C order with the rows of each query together."""

    def _queries(self, qid: ArrayLike | None, n: int) -> Queries:
        """Return the queries of n rows; raise InputError if qid is None or has another length."""
        if qid is None:
            raise InputError(
                f"{type(self).__name__} needs qid, the query id of each row. In a pipeline or a grid search, call "
                "sklearn.set_config(enable_metadata_routing=True): scikit-learn then passes qid to every step that "
                "requests it. If all rows belong to one query, give them all the same id"
            )
        return Queries.of(qid, n)

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Store the number of functions; X are scores, shape (rows, F), NaN if missing, and y is ignored."""
        scores = checked_scores(self, X, reset=True)
        self._queries(qid, len(scores))
        return self

    def transform(self, X: Any, qid: ArrayLike | None = None) -> Matrix:
        """Return the new scores, float64, shape (rows, F), for arguments as in `fit`; rows of a query may be apart."""
        check_is_fitted(self)
        scores = checked_scores(self, X, reset=False)
        queries = self._queries(qid, len(scores))
        grouped = np.ascontiguousarray(queries.grouped(scores), dtype=np.float64)
        replaced: Matrix = queries.ungrouped(self._replaced(grouped, queries))
        return replaced

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Matrix:
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class QueryScaler(QueryTransformer):
    """Scaling of each function's scores within each query, by a name in `SCORE_SCALINGS`."""

    def __init__(self, normalize: str = "query-min-max") -> None:
        self.normalize = normalize

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        return np.asarray(scaled_by_query(scores, queries.ptr, self.normalize))


class QueryMinMax(QueryTransformer):
    """Min-max normalization: scale the scores of each function to the range from 0 to 1 within each query.

    The score f(d) becomes ``(f(d) − min) / (max − min)`` over the query's documents that f retrieved, and 0 if all have
    the same score: the normalization of SVM-acc4 in Yue et al. (SIGIR 2007), section 5.2.1. NaN stays NaN.

    Examples
    --------
    >>> QueryMinMax().fit_transform([[1.0], [3.0], [2.0]], qid=[1, 1, 1]).ravel().tolist()
    [0.0, 1.0, 0.5]
    """

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        return np.asarray(scaled_by_query(scores, queries.ptr, "query-min-max"))


class QueryPercentiles(QueryTransformer):
    """Percentiles within each query: the fraction of documents with at most this document's score.

    The fraction is over the n documents of the query that the function retrieved, so the best score has 1, the worst
    1/n without ties. Equal scores have equal percentiles. SVM-acc3 of Yue et al. (SIGIR 2007) uses them. NaN stays NaN.

    Examples
    --------
    >>> QueryPercentiles().fit_transform([[1.0], [30.0], [2.0]], qid=[1, 1, 1]).ravel().tolist()
    [0.3333333333333333, 1.0, 0.6666666666666666]
    """

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        return np.asarray(scaled_by_query(scores, queries.ptr, "query-percentiles"))


class ReciprocalRanks(QueryTransformer):
    """Reciprocal ranks within each query: 1 divided by the rank of the document, best score first.

    The rank is one plus the number of documents with a higher score, so equal scores have equal ranks. NaN stays NaN.

    Examples
    --------
    >>> ReciprocalRanks().fit_transform([[1.0], [3.0]], qid=[1, 1]).ravel().tolist()
    [0.5, 1.0]
    """

    def _replaced(self, scores: Matrix, queries: Queries) -> Matrix:
        higher, _ = count_higher(scores, queries.ptr)
        return np.where(np.isnan(scores), np.nan, 1.0 / (1 + higher))


class FillMissing(QueryTransformer):
    """Replace missing scores (NaN) by a number, because linear models need numbers.

    Parameters
    ----------
    value : "min", the smallest score of the function in the query, as if it had retrieved the missing documents last (0
        if it retrieved nothing); or a number, such as 0 after `QueryMinMax`. Numbers need no ``qid``.

    Examples
    --------
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
        if isinstance(self.value, str) and self.value == "min":
            return True
        if not is_number(self.value):
            raise InputError(f"FillMissing(value=...) must be 'min' or a finite number, got {brief(self.value)}")
        return False


def checked_scores(transformer: BaseEstimator, X: Any, *, reset: bool) -> Matrix:
    """Return scores as float64 or float32, with NaN for missing ones; with ``reset``, store number and names."""
    if hasattr(X, "toarray"):
        raise InputError(
            f"{type(transformer).__name__} takes dense scores: sparse input ({type(X).__name__}) is not supported. "
            "Pass X.toarray(), with NaN for missing scores"
        )
    framed = is_frame(X)
    names = None if reset else getattr(transformer, "feature_names_in_", None)
    if framed:
        X, columns = read_frame(X, names, f"{type(transformer).__name__} was fitted with")
    require_real(X, "X")
    try:
        with warnings.catch_warnings():
            if framed:
                # The columns were found by name.
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
            scores: Matrix = validate_data(
                transformer, X, reset=reset, dtype=(np.float64, np.float32), ensure_all_finite=False
            )
    except (TypeError, ValueError, OverflowError) as error:
        raise refusal(error) from None
    if reset and framed and columns is not None:
        transformer.feature_names_in_ = np.array(columns, dtype=object)
    infinite = np.isinf(scores)
    if infinite.any():
        row, column = np.unravel_index(int(infinite.argmax()), scores.shape)
        raise InputError(
            f"X contains infinity: {infinite.sum()} scores are infinite, the first is at row {row}, column {column}. "
            "Give documents that a function did not retrieve NaN, and others a finite score"
        )
    return scores
