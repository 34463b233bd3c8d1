"""Base of all rankers: a score for every document, and a measure of the rankings."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.foreign_arguments import explains_foreign_arguments
from structsvm.estimators.inputs import checked_labels
from structsvm.estimators.own_init import OwnInit
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError, brief
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.settings import checked_names
from structsvm.foundation.types import Vector
from structsvm.metrics import Measure
from structsvm.models.base import TrainedModel
from structsvm.registry.capabilities import Capabilities


class RankingEstimator(OwnInit, BaseEstimator):
    """Base of rankers of the documents of each query by scores; ``fit`` of a subclass sets ``_fitted_with_qid``."""

    capabilities: ClassVar[Capabilities] = Capabilities()
    """Abilities of this class beyond `fit` and `predict`."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    measure: str | Measure | None
    model_: TrainedModel
    _fitted_with_qid: bool

    n_features_in_: int

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let the methods explain arguments of other libraries."""
        super().__init_subclass__(**settings)
        for name in ("fit", "path", "score", "predict"):
            if name in cls.__dict__:
                setattr(cls, name, explains_foreign_arguments(cls.__dict__[name]))

    @abstractmethod
    def predict(self, X: Any, *given: Any, **named: Any) -> Vector:
        """Return the score of each row, shape (rows,); a larger score ranks higher within a query."""

    @property
    def known_names(self) -> tuple[str, ...] | None:
        """Names of the features: columns of the data frame in `fit`, or names from `name_features`."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def name_features(self, names: Iterable[str]) -> Self:
        """Name the features of a fitted ranker, as if `fit` had been given a data frame of these columns.

        Parameters
        ----------
        names : a distinct name for each column.
        """
        check_is_fitted(self, "model_")
        self.feature_names_in_ = np.array(checked_names("names", names, self.n_features_in_), dtype=object)
        self.model_ = self.model_.named(self.known_names)
        return self

    @explains_foreign_arguments
    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``measure`` over queries; an undefined value counts 0.

        Parameters
        ----------
        X, y, qid, sample_weight : as in `fit`.
        """
        return self._measured(self._predicted(X, qid), y, qid, sample_weight)

    def _predicted(self, X: Any, qid: ArrayLike | None) -> Vector:
        """Return the scores of `predict` for rows of these queries."""
        given = {"qid": qid} if self.capabilities.takes_qid_at_predict else {}
        return self.predict(X, **given)

    def _measured(self, scores: Vector, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> float:
        """Return the value of `score` for scores that `predict` returned."""
        if qid is None and self._fitted_with_qid:
            raise self._missing_qid("score")
        y = checked_labels(y, len(scores))
        weights = None
        if sample_weight is not None:
            row_weights(sample_weight, len(scores))
            # Without qid, weights of rows may differ: the weight of a single query does not change the mean.
            if qid is not None:
                weights = Queries.of(qid, len(scores)).weights(sample_weight)
        return self._score_measure().mean(scores, y, qid, weights=weights)

    def _score_measure(self) -> Measure:
        """Return the measure that `score` reports."""
        return measure_of(self)

    def _missing_qid(self, method: str, reason: str = "") -> InputError:
        """Return the error for a method that needs query ids because `fit` had them."""
        advice = (
            "Inside a pipeline, a grid search or cross-validation, call "
            f"sklearn.set_config(enable_metadata_routing=True), so that scikit-learn passes qid to {method}"
        )
        if get_config()["enable_metadata_routing"]:
            advice = (
                "Pass qid=qid, or params={'qid': qid} to functions of scikit-learn that route it. Its "
                "permutation_importance does not: use structsvm.inspection.query_permutation_importance"
            )
        return InputError(
            f"this {type(self).__name__} was fitted with qid{reason}, so {method} needs qid too. {advice}"
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.capabilities.takes_sparse
        tags.input_tags.allow_nan = self.capabilities.takes_missing
        return tags


def require_fitted_ranker(ranker: Any, qid: ArrayLike | None) -> None:
    """Require a ranker that can predict, and qid if it was fitted with qid."""
    if isinstance(ranker, type) or not hasattr(ranker, "predict"):
        raise InputError(f"a ranker must be an object with predict, got {brief(ranker)}")
    if isinstance(ranker, BaseEstimator):
        check_is_fitted(ranker)
    if qid is None and getattr(ranker, "_fitted_with_qid", False):
        raise InputError(
            f"this {type(ranker).__name__} was fitted with qid: pass the qid of these rows, too, or "
            "qid=np.zeros(len(X)) if all rows are one query"
        )
