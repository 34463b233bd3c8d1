"""How a model reads the scores of base functions."""

from abc import ABC, abstractmethod
from typing import Any, Literal, TypeAlias

import scipy.sparse as sp
from attrs import field, frozen
from numpy.typing import ArrayLike
from sklearn.preprocessing import FunctionTransformer

from structsvm.exceptions import InputError
from structsvm.features import FillMissing, QueryMinMax, QueryPercentiles, Thresholds
from structsvm.settings import at_least, one_of, truth_value
from structsvm.types import Features, Matrix

Scale: TypeAlias = Literal["scores", "percentiles", "min-max"]
"""Scores as they are, or their percentiles or where they lie from the least to the largest within each query."""

_WITHIN_QUERY = {"percentiles": QueryPercentiles, "min-max": QueryMinMax}


class FeatureMap(ABC):
    """Features in two steps: what depends on a query alone, and what is learned from training queries.

    A value: frozen, hashable and comparable, so that models that read the same features share them.

    Examples
    --------
    >>> import numpy as np
    >>> from attrs import frozen
    >>> from sklearn.preprocessing import StandardScaler
    >>> from structsvm.protocols import FeatureMap
    >>> @frozen
    ... class Logarithms(FeatureMap):
    ...     def within_queries(self, X, qid):
    ...         return np.log1p(np.nan_to_num(X))
    ...     def transformer(self):
    ...         return StandardScaler()
    >>> features, X, qid = Logarithms(), np.array([[0.0], [np.e - 1.0], [np.nan]]), np.array([0, 0, 1])
    >>> features.transformer().fit_transform(features.within_queries(X, qid)).round(2).tolist()
    [[-0.71], [1.41], [-0.71]]
    """

    def within_queries(self, X: Features, qid: ArrayLike) -> Features:
        """Return what depends on the documents of a query alone; computed once for all trials. X by default.

        Parameters
        ----------
        X : scores of the base functions, or features of LETOR, shape (rows, F); NaN where a document was not
            retrieved. Sparse features are made dense by maps that need that.
        qid : query of each row.

        Returns
        -------
        One column for each base function.
        """
        return X

    @abstractmethod
    def transformer(self) -> Any:
        """Return a scikit-learn transformer, to be fitted on the rows of the training queries."""


@frozen
class Indicators(FeatureMap):
    """Indicators of thresholds (`structsvm.features.Thresholds`): section 4.2 of the paper.

    Parameters
    ----------
    bins : thresholds of each base function.
    of : "scores", with thresholds at quantiles of the training scores; or "percentiles" or "min-max"
        within each query (section 5.2.1), with even thresholds from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols import Indicators
    >>> features, qid = Indicators(bins=3, of="min-max"), np.array([0, 0, 0])
    >>> scaled = features.within_queries(np.array([[10.0], [15.0], [20.0]]), qid)
    >>> features.transformer().fit_transform(scaled).toarray().astype(int)  # at least 0, ½ and 1
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """

    bins: int = field(default=50, validator=at_least(1))
    of: Scale = field(default="scores", validator=one_of("scores", "percentiles", "min-max"))

    def within_queries(self, X: Features, qid: ArrayLike) -> Matrix:
        """Return percentiles or min-max scores, or the scores themselves."""
        return _scaled(X, qid, self.of)

    def transformer(self) -> Thresholds:
        """Return the thresholds."""
        if self.of == "scores":
            return Thresholds(self.bins)
        return Thresholds(self.bins, spacing="even", low=0.0, high=1.0)


@frozen
class Scores(FeatureMap):
    """The scores themselves, one feature for each base function, with numbers for those that are missing.

    Parameters
    ----------
    of : "min-max" or "percentiles" within each query (`structsvm.features.QueryMinMax`,
        `QueryPercentiles`), and 0 where a score is missing; or "scores" as they are, and where one is
        missing the smallest that the function gave in the query.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols import Scores
    >>> X, qid = np.array([[10.0, 1.0], [20.0, np.nan], [15.0, 3.0]]), np.array([0, 0, 0])
    >>> Scores().within_queries(X, qid)
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 1. ]])
    >>> Scores(of="scores").within_queries(X, qid)  # the smallest where there is none
    array([[10.,  1.],
           [20.,  1.],
           [15.,  3.]])
    """

    of: Scale = field(default="min-max", validator=one_of("scores", "percentiles", "min-max"))

    def within_queries(self, X: Features, qid: ArrayLike) -> Matrix:
        """Return the scores without NaN."""
        fill = FillMissing("min" if self.of == "scores" else 0.0)
        return fill.fit_transform(_scaled(X, qid, self.of), qid=qid)

    def transformer(self) -> FunctionTransformer:
        """Return a transformer that changes nothing."""
        return FunctionTransformer()


@frozen
class AsGiven(FeatureMap):
    """Features as they are given: those of LETOR or, for fusion, scores of which some are missing (NaN).

    Parameters
    ----------
    dense : make sparse features dense, for an estimator that takes no others: what is left out is 0.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from structsvm.protocols import AsGiven
    >>> AsGiven(dense=True).within_queries(csr_array([[0.0, 2.0], [1.0, 0.0]]), qid=[1, 1])
    array([[0., 2.],
           [1., 0.]])
    """

    dense: bool = field(default=False, validator=truth_value)

    def within_queries(self, X: Features, qid: ArrayLike) -> Features:
        """Return X."""
        return _dense(X) if self.dense else X

    def transformer(self) -> FunctionTransformer:
        """Return a transformer that changes nothing."""
        return FunctionTransformer()


def _dense(X: Features) -> Matrix:
    if not sp.issparse(X):
        return X
    try:
        made: Matrix = X.toarray()
    except (MemoryError, ValueError):  # ValueError: more numbers than an index can count
        rows, columns = X.shape
        raise InputError(
            f"it reads dense features, and for {rows:,} rows of {columns:,} these take "
            f"{rows * columns * X.dtype.itemsize / 2**30:,.1f} GiB, which cannot be had: leave it out, or leave out "
            "features that are seldom present"
        ) from None
    return made


def _scaled(X: Features, qid: ArrayLike, of: Scale) -> Matrix:
    scores = _dense(X)
    if of == "scores":
        return scores
    normalised: Matrix = _WITHIN_QUERY[of]().fit_transform(scores, qid=qid)
    return normalised
