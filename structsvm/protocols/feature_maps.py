"""Feature maps, which turn the scores of base functions into the features of a model."""

from typing import Any

import scipy.sparse as sp
from attrs import field, frozen
from numpy.typing import ArrayLike
from sklearn.preprocessing import FunctionTransformer

from structsvm.exceptions import InputError
from structsvm.features import FillMissing, Thresholds
from structsvm.features.per_query import QueryScaler
from structsvm.features.scaling.names import SCORE_SCALINGS, scaling_named
from structsvm.foundation.settings import at_least, truth_value
from structsvm.foundation.types import Features, Matrix


def _scaling(name: str | None) -> str | None:
    return scaling_named("Scores(normalize=...)", name, SCORE_SCALINGS)


def _scaling_to_one(name: str | None) -> str | None:
    return scaling_named("Indicators(normalize=...)", name, ("query-min-max", "query-percentiles"))


class FeatureMap:
    """Base class of feature maps: a computation within each query, then a transformer fitted on training data.

    Subclasses must be frozen, hashable and comparable, because models with equal maps share one matrix.

    Examples
    --------
    >>> from attrs import frozen
    >>> from sklearn.preprocessing import StandardScaler
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
        """Return features computed within each query, once for all trials; default: X.

        Parameters
        ----------
        X : scores of the base functions or features, shape (rows, F); NaN if a function did not retrieve the document.
        qid : query of each row.

        Returns
        -------
        One column for each base function.
        """
        return X

    def transformer(self) -> Any:
        """Return a scikit-learn transformer to fit on the rows of training queries; default: the identity."""
        return FunctionTransformer()


@frozen
class Indicators(FeatureMap):
    """Indicators of thresholds (`structsvm.features.Thresholds`): section 4.2 of the paper on SVM-map.

    Parameters
    ----------
    bins : thresholds of each base function.
    normalize : None: thresholds are quantiles of the training scores. "query-percentiles" or "query-min-max" (section
        5.2.1): scores are first scaled within each query, and thresholds are evenly spaced from 0 to 1.

    Examples
    --------
    >>> features, qid = Indicators(bins=3, normalize="query-min-max"), np.array([0, 0, 0])
    >>> scaled = features.within_queries(np.array([[10.0], [15.0], [20.0]]), qid)
    >>> features.transformer().fit_transform(scaled).toarray().astype(int)  # at least 0, ½ and 1
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """

    bins: int = field(default=50, validator=at_least(1))
    normalize: str | None = field(default=None, converter=_scaling_to_one)

    def within_queries(self, X: Features, qid: ArrayLike) -> Matrix:
        """Return scaled scores, or the scores themselves."""
        return _scaled(X, qid, self.normalize)

    def transformer(self) -> Thresholds:
        """Return the thresholds."""
        if self.normalize is None:
            return Thresholds(self.bins)
        return Thresholds(self.bins, spacing="even", low=0.0, high=1.0)


@frozen
class Scores(FeatureMap):
    """The scores of the base functions, with missing scores filled in.

    Parameters
    ----------
    normalize : scaling within each query: "query-min-max", "query-percentiles", "query-z-score" or "query-sum"; missing
        scores become 0. None: no scaling; missing scores become the smallest score of the function in the query.

    Examples
    --------
    >>> X, qid = np.array([[10.0, 1.0], [20.0, np.nan], [15.0, 3.0]]), np.array([0, 0, 0])
    >>> Scores().within_queries(X, qid)
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 1. ]])
    """

    normalize: str | None = field(default="query-min-max", converter=_scaling)

    def within_queries(self, X: Features, qid: ArrayLike) -> Matrix:
        """Return the scores without NaN."""
        fill = FillMissing("min" if self.normalize is None else 0.0)
        return fill.fit_transform(_scaled(X, qid, self.normalize), qid=qid)


@frozen
class AsGiven(FeatureMap):
    """Unchanged features, such as features of LETOR, or scores with NaN for fusion.

    Parameters
    ----------
    dense : convert sparse features to dense ones, with 0 for absent entries.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> AsGiven(dense=True).within_queries(csr_array([[0.0, 2.0], [1.0, 0.0]]), qid=[1, 1])
    array([[0., 2.],
           [1., 0.]])
    """

    dense: bool = field(default=False, validator=truth_value)

    def within_queries(self, X: Features, qid: ArrayLike) -> Features:
        """Return X."""
        return _dense(X) if self.dense else X


def _dense(X: Features) -> Matrix:
    if not sp.issparse(X):
        return X
    try:
        return X.toarray()
    except (AttributeError, TypeError) as error:
        raise InputError(f"X is a malformed {type(X).__name__}: {error}. Build the matrix anew") from None
    # NumPy raises ValueError if the size exceeds the range of an index.
    except (MemoryError, ValueError):
        rows, columns = X.shape
        raise InputError(
            f"it needs dense features: {rows:,} rows of {columns:,} features take "
            f"{rows * columns * X.dtype.itemsize / 2**30:,.1f} GiB, more than is available. Leave the model out, or "
            "drop rare features"
        ) from None


def _scaled(X: Features, qid: ArrayLike, normalize: str | None) -> Matrix:
    scores = _dense(X)
    if normalize is None:
        return scores
    scaled: Matrix = QueryScaler(normalize).fit_transform(scores, qid=qid)
    return scaled
