"""Rankers by a weighted sum of features, which they may scale first."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fitting import ConvexEstimator, Objective
from structsvm.estimators.inputs import features_as_fitted
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.scales import ColumnRanges
from structsvm.estimators.trained import NONE, Arrays, CertifiedEstimator, TrainedEstimator
from structsvm.exceptions import FeatureScaleWarning, InputError, stacklevel_of_user
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.matrix import is_finite
from structsvm.features.scaling.names import FEATURE_SCALINGS, scaling_named
from structsvm.features.scaling.scalings import Scaling, learn_scaling
from structsvm.foundation.compute.threads import using
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import place
from structsvm.foundation.types import Vector
from structsvm.models.base import TrainedModel
from structsvm.models.linear import LinearModel
from structsvm.registry.capabilities import Capabilities
from structsvm.result import Result
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback


class LinearScores(TrainedEstimator, RankingEstimator):
    """Base of rankers by a weighted sum of features; ``fit`` of a subclass calls `_scaled_for_fit` and `_keep`."""

    capabilities = Capabilities(takes_qid_at_predict=True, takes_sparse=True)
    __metadata_request__predict: ClassVar[dict[str, Any]] = {"qid": True}

    _weighs_scales: ClassVar[bool] = True
    """True if the learned ranking depends on the scales of columns, such as with a regularizer."""

    normalize: str | None = None
    n_jobs: int | None = None
    _form: ClassVar[type[TrainedModel]] = LinearModel
    model_: LinearModel

    @property
    def coef_(self) -> Vector:
        """Weights of the (normalized) features, shape (d,)."""
        return self.model_.coef

    @property
    def intercept_(self) -> float:
        """Constant part of the scores."""
        return self.model_.intercept

    @property
    def scaling_(self) -> Scaling | None:
        """Normalization of the features; None: no normalization."""
        return self.model_.scaling

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the score of each row, shape (rows,); a larger score ranks higher within a query.

        Parameters
        ----------
        X : features, as in `fit`.
        qid : query id of each row, needed only if features are normalized by query and `fit` had it. None: all rows are
            one query.
        """
        check_is_fitted(self, "coef_")
        if isinstance(X, Operator):
            if self.scaling_ is not None or X.d != len(self.coef_):
                raise InputError(
                    f"X is an operator with {X.d} weights, and this {type(self).__name__} has {len(self.coef_)}, of "
                    f"features {'as they are' if self.scaling_ is None else 'that it normalizes: give it a matrix'}"
                )
            return X.scores(self.coef_) + self.intercept_
        by_query = self.scaling_ is not None and self.scaling_.by_query
        if qid is None and self._fitted_with_qid and by_query and getattr(X, "shape", (1,))[:1] != (0,):
            raise self._missing_qid("predict", " and normalizes by query")
        if is_finite(X) and not by_query:
            folded = self.model_.folded
            with using(self.n_jobs):
                rows = Rows.one_row_per_example(features_as_fitted(self, X, min_rows=0))
                return rows.scores(folded.coef) + folded.intercept
        scores = self.model_.predict(X, qid)
        if qid is not None and not by_query and len(scores):
            # Check the ids even if no normalization reads them.
            Queries.of(qid, len(scores))
        return scores

    def _keep(
        self,
        coef: Vector,
        intercept: float,
        scaling: Scaling | None,
        result: Result | None = None,
        arrays: Arrays = NONE,
    ) -> None:
        """Set ``model_``; see `_training` for ``result`` and ``arrays``."""
        self.model_ = LinearModel(
            n_features=self.n_features_in_,
            feature_names=self.known_names,
            coef=coef,
            intercept=intercept,
            scaling=scaling,
            columns=None if result is None else result.columns,
            training=self._training(result, arrays),
        )

    def _scaled_for_fit(
        self, X: Any, queries: Callable[[], Queries], weights: Vector | None
    ) -> tuple[Any, Scaling | None]:
        """Return the training rows after ``normalize``, and the scaling; warn if they need one.

        ``weights`` are the weights of rows, shape (rows,); None: all 1.
        """
        name = scaling_named(place(self, "normalize"), self.normalize)
        if name is None:
            if self._weighs_scales and (isinstance(X, np.ndarray) or hasattr(X, "indptr")):
                self._warn_of_scales(ColumnRanges.of(X))
            return X, None
        scaling = learn_scaling(name, X, weights)
        return scaling.rows(X, queries() if scaling.by_query else None), scaling

    def _warn_of_scales(self, ranges: ColumnRanges) -> None:
        if ranges.far_apart:
            names = getattr(self, "feature_names_in_", None)
            called = "column {}".format if names is None else lambda k: repr(str(names[k]))
            warnings.warn(
                f"{ranges.told(called)}: try normalize={' or '.join(map(repr, FEATURE_SCALINGS))}",
                FeatureScaleWarning,
                stacklevel=stacklevel_of_user(),
            )


class ObjectiveRanker(CertifiedEstimator, LinearScores):
    """A ranker whose weights minimize the `Objective` that a subclass returns from `_objective`."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    @abstractmethod
    def _objective(self, X: Any, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Objective:
        """Check the arguments of `fit`, set the attributes that depend on them alone, and return the objective."""

    def _take(self, result: Result, scaling: Scaling | None, arrays: Arrays = NONE) -> None:
        """Set ``model_`` from the result of a solver."""
        coef, intercept = self._parted(result.full_coef(self.n_features_in_))
        self._keep(coef, intercept, scaling, result, arrays)

    def _parted(self, w: Vector) -> tuple[Vector, float]:
        """Split a solver's weights into the weights of features and the intercept."""
        scaling = self._intercept()
        return (w[:-1], float(w[-1] * scaling)) if scaling else (w, 0.0)

    def _intercept(self) -> float:
        """Return the value of the constant feature; 0 without an intercept."""
        return 0.0

    def _restore(self) -> None:
        super()._restore()
        coef, intercept = self._parted(self.result_.w)
        same = np.array_equal(coef, self.model_.stored) and intercept == self.intercept_
        if not (same and self.result_.is_of(self.model_.columns)):
            raise ValueError("the weights of the model and of its result differ")


class LinearRanker(ObjectiveRanker, ConvexEstimator):
    """A ranker with a convex objective."""

    capabilities = evolve(LinearScores.capabilities, has_path=True, has_certificate=True)

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Self:
        """Learn from queries.

        Parameters
        ----------
        X : features, shape (rows, d); dense, CSR or a `BinnedMatrix`. `Ranker` also accepts an `Operator` with one
            score per row, whose examples are the queries.
        y : labels, shape (rows,), larger is better; documents with labels above 0 are relevant, unless the loss defines
            relevance otherwise. `RankSVM` also accepts `Preferences`.
        qid : query id of each row (not group sizes), in any order. None: all rows are one query.
        sample_weight : weight κ of each row, the same for all rows of a query.
        callback : function that is called with every `Step`; it returns True to stop.
        checkpoint : file that stores the state of the fit while it runs, or a `Checkpoint` with an interval. If the
            file exists, the fit resumes from it; it must belong to the same fit. The file is never removed.

        Warns
        -----
        CheckpointWarning : the checkpoint cannot be written; the fit continues.
        ConvergenceWarning : the gap is larger than tol.
        OneQueryWarning : qid is missing, so all rows are one query.
        ZeroWeightsWarning : the optimum is w = 0, at which all scores are equal.
        """
        return self._fit((X, y, qid, sample_weight), callback, checkpoint)

    def path(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | None = None,
        Cs: ArrayLike = (0.01, 0.1, 1.0, 10.0, 100.0),
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> list[Self]:
        """Learn at several values of C, each from the previous result, which is faster than separate fits.

        Parameters
        ----------
        X, y, qid, sample_weight, callback : as in `fit`; a `DaskRanker` may have y in X.
        Cs : the values, in any order; fits are in ascending order.
        checkpoint : as in `fit`, with a file for each C: ``fit.npz`` becomes ``fit.C=10.0.npz``.

        Returns
        -------
        A list of fitted rankers, one for each value, in the order of ``Cs``. If Ctrl-C or the callback ends the path
        early, the list has the values reached. This ranker is unchanged.
        """
        return self._path((X, y, qid, sample_weight), Cs, callback, checkpoint)

    def _finish(self, objective: Objective, result: Result) -> None:
        self._take(result, objective.scaling)
