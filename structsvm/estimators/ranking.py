"""Base of all rankers: a score for every document, a measure of the rankings, and the model of a fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators import saving
from structsvm.estimators.arguments import explain_foreign_arguments, explains_foreign_arguments, own_init
from structsvm.estimators.display import notebook_display
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError, brief
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.matrix import is_finite
from structsvm.features.scaling.scalings import Scaling
from structsvm.foundation.compute.threads import using
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.settings import as_names, checked_names
from structsvm.foundation.types import Vector
from structsvm.metrics import Measure
from structsvm.models.base import TrainedModel
from structsvm.models.linear import LinearModel
from structsvm.registry.capabilities import Capabilities, capabilities_of, takes_missing
from structsvm.training.data import checked_labels, features_as_fitted


class RankingEstimator(BaseEstimator):
    """Base of rankers of the documents of each query by scores; ``fit`` of a subclass sets ``_fitted_with_qid``.

    Properties that the model of a ranker does not have, such as ``coef_`` of a network, raise AttributeError.
    """

    capabilities: ClassVar[Capabilities] = Capabilities()
    """Abilities of this class beyond `fit` and `predict`."""

    measure: str | Measure | None
    model_: Any
    estimator_: Any
    gap_unit_: float = 1.0
    """Unit of the certified gap divided by C: 1 for units of the loss."""

    n_features_in_: int
    _fitted_with_qid: bool
    _repr_mimebundle_ = notebook_display

    def __init_subclass__(cls, **settings: Any) -> None:
        """Request the metadata that methods accept; messages name the class, and explain other libraries' arguments."""
        for method in ("fit", "predict", "score"):
            accepted = signature(getattr(cls, method)).parameters if hasattr(cls, method) else {}
            requests = {name: True for name in ("qid", "sample_weight") if name in accepted}
            setattr(cls, f"__metadata_request__{method}", requests)
        super().__init_subclass__(**settings)
        own_init(cls)
        explain_foreign_arguments(cls)

    @explains_foreign_arguments
    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the score of each row, shape (rows,); a larger score ranks higher within a query.

        Parameters
        ----------
        X : features, as in `fit`.
        qid : query id of each row, needed only if features are normalized by query and `fit` had it. None: all rows are
            one query.
        """
        check_is_fitted(self, "model_")
        model = self.model_
        linear = isinstance(model, LinearModel)
        if linear and isinstance(X, Operator):
            return self._operator_scores(X)
        if qid is None and self._fitted_with_qid and model.by_query and getattr(X, "shape", (1,))[:1] != (0,):
            raise missing_qid(self, "predict", " and normalizes by query")
        if linear and is_finite(X) and not model.by_query:
            rows = Rows.one_row_per_example(features_as_fitted(self, X, min_rows=0))
            with using(getattr(self, "n_jobs", None)):
                folded: Vector = rows.scores(model.folded.coef) + model.folded.intercept
            return folded
        scores: Vector = model.predict(X, qid)
        if qid is not None and not model.by_query and len(scores):
            # Check the ids even if no normalization reads them.
            Queries.of(qid, len(scores))
        return scores

    @explains_foreign_arguments
    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``measure`` over queries; an undefined value counts 0.

        Parameters
        ----------
        X, y, qid, sample_weight : as in `fit`.
        """
        return measured(self, self.measure_, predicted(self, X, qid), y, qid, sample_weight)

    save = saving.save

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        ModelFileError : the file is not a model of this class, is damaged, or has another format.
        """
        return saving.load(cls, path)

    @classmethod
    def from_model(cls, model: TrainedModel) -> Self:
        """Make the estimator that trained a model.

        Raises
        ------
        ModelFileError : another estimator trained it.
        KeyError, ValueError : the record of its training is malformed.
        """
        return saving.from_model(cls, model)

    result_ = property(saving.result)
    trained_ = property(saving.trained)

    @property
    def measure_(self) -> Measure:
        """The measure that `score` reports."""
        return measure_of(self)

    @property
    def coef_(self) -> Vector:
        """Weights of the (normalized) features, shape (d,)."""
        coef: Vector = self.model_.coef
        return coef

    @property
    def intercept_(self) -> float:
        """Constant part of the scores."""
        return float(self.model_.intercept)

    @property
    def scaling_(self) -> Scaling | None:
        """Normalization of the features; None: no normalization."""
        scaling: Scaling | None = self.model_.scaling
        return scaling

    @property
    def known_names(self) -> tuple[str, ...] | None:
        """Names of the features: columns of the data frame in `fit`, or names from `name_features`."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def name_features(self, names: Iterable[str], categories: Sequence[str] = ()) -> Self:
        """Name the features of a fitted ranker, as if `fit` had been given a data frame of these columns.

        Parameters
        ----------
        names : a distinct name for each column.
        categories : columns of categories, whose values are features "column=value", as `load_table` returns them.
        """
        check_is_fitted(self, "model_")
        declared = () if isinstance(categories, tuple) and not categories else as_names("categories", categories)
        self.feature_names_in_ = np.array(checked_names("names", names, self.n_features_in_), dtype=object)
        self._categories = declared
        self.model_ = evolve(self.model_.named(self.known_names), categories=self._categories)
        return self

    def _operator_scores(self, X: Operator) -> Vector:
        if self.scaling_ is not None or X.d != len(self.coef_):
            raise InputError(
                f"X is an operator with {X.d} weights, and this {type(self).__name__} has {len(self.coef_)}, of "
                f"features {'as they are' if self.scaling_ is None else 'that it normalizes: give it a matrix'}"
            )
        return X.scores(self.coef_) + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.capabilities.takes_sparse
        tags.input_tags.allow_nan = takes_missing(self)
        return tags


def predicted(ranker: Any, X: Any, qid: ArrayLike | None) -> Vector:
    """Return the scores of a fitted ranker for rows of these queries."""
    scores: Vector = ranker.predict(X, **({"qid": qid} if capabilities_of(ranker).takes_qid_at_predict else {}))
    return scores


def measured(
    ranker: Any, measure: Measure, scores: Vector, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None
) -> float:
    """Return the mean of a measure for scores that a fitted ranker predicted."""
    if qid is None and ranker._fitted_with_qid:
        raise missing_qid(ranker, "score")
    y = checked_labels(y, len(scores))
    weights = None
    if sample_weight is not None:
        row_weights(sample_weight, len(scores))
        # Without qid, weights of rows may differ: the weight of a single query does not change the mean.
        if qid is not None:
            weights = Queries.of(qid, len(scores)).weights(sample_weight)
    return measure.mean(scores, y, qid, weights=weights)


def missing_qid(ranker: Any, method: str, reason: str = "") -> InputError:
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
    return InputError(f"this {type(ranker).__name__} was fitted with qid{reason}, so {method} needs qid too. {advice}")


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
