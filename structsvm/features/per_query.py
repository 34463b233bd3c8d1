"""What the transformers that look at one query at a time share."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.features.checks import checked_scores, query_of_rows
from structsvm.types import IntVector, Matrix, Vector


class PerQuery(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
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
    def _replaced(self, scores: Vector, query: IntVector) -> Vector:
        """Return what stands for the scores of one function.

        Parameters
        ----------
        scores : those that are not missing, float64, at least one.
        query : number of the query of each.
        """

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Remember the number of functions.

        Parameters
        ----------
        X : scores, a document a row and a function a column, shape (rows, F); NaN where missing.
        y : not used.
        qid : query id of each row.

        Raises
        ------
        InputError : when X or qid cannot be used; it says why.
        """
        scores = checked_scores(self, X, reset=True)
        query_of_rows(self, qid, len(scores))
        return self

    def transform(self, X: Any, qid: ArrayLike | None = None) -> Matrix:
        """Return what stands for the scores, float64, shape (rows, F); NaN where missing.

        Parameters
        ----------
        X, qid : as in `fit`; rows of a query need not be together.

        Raises
        ------
        InputError : when X or qid cannot be used; it says why.
        """
        check_is_fitted(self)
        scores = checked_scores(self, X, reset=False)
        query = query_of_rows(self, qid, len(scores))
        out = np.full(scores.shape, np.nan)
        for f in range(scores.shape[1]):
            present = np.flatnonzero(~np.isnan(scores[:, f]))
            if len(present):
                out[present, f] = self._replaced(scores[present, f].astype(np.float64), query[present])
        return out

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Matrix:
        """Do `fit` and `transform`."""
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
