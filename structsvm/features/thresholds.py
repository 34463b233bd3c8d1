"""Turn scores into indicators of thresholds."""

import math
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.exceptions import InputError, brief
from structsvm.features.operators import BinnedMatrix
from structsvm.features.per_query import checked_scores
from structsvm.foundation.settings import place, require_choice, require_integer, require_number
from structsvm.foundation.types import Vector


class Thresholds(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Turn scores into indicators ``1[f(d) >= k]`` for every base function f and every threshold k ∈ K_f.

    Indicators are the features of Yue, Finley, Radlinski and Joachims (SIGIR 2007), section 4.2; a linear model of them
    is a sum of piecewise constant functions of the scores. (The paper's text has ``>``, its formula ``>=``.) Thresholds
    come from the training rows. A missing score (NaN) is below all thresholds.

    Parameters
    ----------
    bins : largest number of thresholds of each function; 50 in the paper.
    spacing : "quantile": the n scores that are not missing are sorted; thresholds are the scores at the places 0,
        n/bins, 2n/bins, ... (rounded down). The first is the smallest score, so its indicator shows whether the
        function retrieved the document. Equal scores are one threshold. "even": equal distances from ``low`` to
        ``high``, both included.
    low, high : ends of even thresholds, such as 0 and 1 for percentiles; None: the smallest and the largest
        training score of each function.

    Attributes
    ----------
    thresholds_ : a strictly ascending vector for each function. It is empty, with a warning, if all scores of the
        function are missing and an end is not set.
    n_features_in_ : number of functions.

    Examples
    --------
    >>> scores = np.array([[0.1], [0.5], [np.nan], [0.9]])
    >>> Thresholds(bins=3, spacing="even").fit_transform(scores).toarray()
    array([[1., 0., 0.],
           [1., 1., 0.],
           [0., 0., 0.],
           [1., 1., 1.]])
    """

    def __init__(
        self, bins: int = 50, *, spacing: str = "quantile", low: float | None = None, high: float | None = None
    ) -> None:
        self.bins = bins
        self.spacing = spacing
        self.low = low
        self.high = high

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the thresholds of each function.

        Parameters
        ----------
        X : scores of the training rows, shape (rows, F); NaN if missing.
        y : ignored.
        """
        self._require_settings()
        scores = checked_scores(self, X, reset=True)
        present = [column[~np.isnan(column)].astype(np.float64) for column in scores.T]
        self.thresholds_ = [self._chosen(values, f) for f, values in enumerate(present)]
        empty = [f for f, thresholds in enumerate(self.thresholds_) if len(thresholds) == 0]
        if len(empty) == len(present):
            raise InputError("all scores are missing (NaN), so there are no thresholds: pass rows with scores")
        if empty:
            warnings.warn(
                f"all scores of {len(empty)} functions are missing (columns {', '.join(map(str, empty))}): "
                "they get no features",
                UserWarning,
                stacklevel=2,
            )
        return self

    def transform(self, X: Any) -> BinnedMatrix:
        """Return the indicators, shape ``(rows, Σ |K_f|)``, stored as one small integer for each score."""
        check_is_fitted(self)
        scores = checked_scores(self, X, reset=False)
        sizes = [len(thresholds) for thresholds in self.thresholds_]
        codes = np.empty(scores.shape, dtype=np.uint8 if max(sizes) <= np.iinfo(np.uint8).max else np.uint16)
        for f, thresholds in enumerate(self.thresholds_):
            column = scores[:, f]
            codes[:, f] = np.where(np.isnan(column), 0, np.searchsorted(thresholds, column, side="right"))
        return BinnedMatrix(codes, np.cumsum([0, *sizes]))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the indicators, ``NAME>=THRESHOLD``.

        Parameters
        ----------
        input_features : names of the functions; None: as in training, or ``x0``, ``x1``, ...
        """
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.array(
            [
                f"{name}>={threshold!r}"
                for name, cuts in zip(names, self.thresholds_, strict=True)
                for threshold in cuts.tolist()
            ],
            dtype=object,
        )

    def _chosen(self, scores: Vector, f: int) -> Vector:
        if len(scores) == 0 and (self.low is None or self.high is None):
            return scores
        if self.spacing == "quantile":
            return np.unique(np.sort(scores)[np.arange(self.bins) * len(scores) // self.bins])
        low = scores.min() if self.low is None else float(self.low)
        high = scores.max() if self.high is None else float(self.high)
        if low > high:
            bound, other = ("low", "largest") if self.low is not None else ("high", "smallest")
            raise InputError(
                f"Thresholds({bound}={low if bound == 'low' else high:g}) is beyond the {other} training score of "
                f"function {f}, {high if bound == 'low' else low:g}: give both ends, or neither"
            )
        # The difference of two large numbers may be infinite; the difference of their halves is not.
        scale = 1.0 if math.isfinite(float(high) - float(low)) else 2.0
        return np.unique(np.linspace(low / scale, high / scale, self.bins) * scale)

    def _require_settings(self) -> None:
        require_integer(place(self, "bins"), self.bins, 1)
        if self.bins > np.iinfo(np.uint16).max:
            raise InputError(f"Thresholds(bins=...) must be at most {np.iinfo(np.uint16).max}, got {brief(self.bins)}")
        require_choice(place(self, "spacing"), self.spacing, ["quantile", "even"])
        for name, value in (("low", self.low), ("high", self.high)):
            require_number(place(self, name), value, optional=True)
            if value is not None and self.spacing != "even":
                raise InputError(f"Thresholds({name}=...) is for spacing='even'; quantiles are always training scores")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InputError(f"Thresholds(low={self.low!r}, high={self.high!r}): low must be below high")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags
