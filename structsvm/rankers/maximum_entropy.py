"""The maximum entropy model: logistic regression of relevance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression

from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored, record, set_features
from structsvm.exceptions import InputError, brief
from structsvm.foundation.memory import require_columns
from structsvm.foundation.settings import is_number, place, require_integer, require_number
from structsvm.metrics import Measure
from structsvm.models.linear import LinearModel
from structsvm.registry.capabilities import Capabilities
from structsvm.training.data import TrainingData
from structsvm.training.filling import without_missing
from structsvm.training.objective import NONE
from structsvm.training.scaling import scaled


def _require(ranker: Any) -> None:
    """Require valid settings."""
    require_number(place(ranker, "C"), ranker.C, above=0.0)
    require_number(place(ranker, "tol"), ranker.tol, above=0.0)
    require_integer(place(ranker, "max_iter"), ranker.max_iter, 1)
    require_number(place(ranker, "relevant_from"), ranker.relevant_from, optional=True)
    if ranker.class_weight is not None:
        _require_class_weight(ranker.class_weight)
    measure_of(ranker)


@define(slots=False, eq=False, repr=False)
class MaximumEntropy(RankingEstimator):
    """A ranker by the probability of relevance: logistic regression, fitted by L-BFGS.

    The fitted model's expected sum of each feature over relevant documents equals the sum in training. Among the models
    with this property, it has the largest entropy, up to the regularizer (Morgan, Greiff and Henderson, HLT-NAACL
    2004). The fit minimizes ``½‖w‖² + C Σ_d κ_d log(1 + e^(−t_d (w·x_d + b)))``, with t_d = 1 for relevant documents
    and −1 for others, by scikit-learn's ``LogisticRegression``. Every row is an example; `fit` ignores queries.

    Parameters
    ----------
    C : weight of the sum over rows against the regularizer; `Ranker` weights the mean over queries instead.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    class_weight : {0: weight, 1: weight} of irrelevant and relevant documents; "balanced" gives both kinds the same
        total weight; None: all weights are 1.
    tol, max_iter : tolerance and largest number of iterations of L-BFGS, as in scikit-learn.
    measure, normalize, missing : as in `Ranker`.

    Attributes
    ----------
    model_, coef_, n_features_in_ : as in `Ranker`.
    intercept_ : constant part of the scores, which are log-odds of relevance.
    n_iter_ : number of iterations of L-BFGS.

    Examples
    --------
    >>> ranker = MaximumEntropy().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2])
    >>> ranker.predict([[2.5], [0.5]]).round(2)
    array([ 0.96, -0.96])
    """

    capabilities = Capabilities(takes_qid_at_predict=True, takes_sparse=True)
    stored: ClassVar[Stored] = Stored("MaximumEntropy", LinearModel, {"_fitted_with_qid": bool, "n_iter_": 0}, _require)

    C: float = 1.0
    relevant_from: float | None = field(default=None, kw_only=True)
    class_weight: dict[Any, float] | str | None = field(default=None, kw_only=True)
    tol: float = field(default=1e-4, kw_only=True)
    max_iter: int = field(default=1000, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)
    normalize: str | None = field(default=None, kw_only=True)
    missing: str | float | None = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn which documents are relevant.

        Parameters
        ----------
        X, y : as in `Ranker.fit`.
        qid : query id of each row, for `score`; the fit does not depend on it.
        sample_weight : weight of each row; weights may differ within a query. `score` needs weights of queries, but
            metadata routing passes the weights of `fit` to it. Before a grid search with weights of rows, call
            ``set_score_request(sample_weight=False)``; for a pipeline, also pass ``scoring``.

        Warns
        -----
        ConvergenceWarning : ``max_iter`` iterations do not reach ``tol``.
        """
        _require(self)
        owner = type(self).__name__
        data = TrainingData.of(owner, X, y, qid, sample_weight, missing=self.missing is not None)
        require_columns(data.n_features)
        relevant = data.y > 0 if self.relevant_from is None else data.y >= self.relevant_from
        rows, fill = without_missing(owner, self.missing, data.X, data.names)
        rows, scaling = scaled(owner, self.normalize, rows, lambda: data.queries, data.weight, data.names)
        counted = relevant if data.weight is None else relevant[data.weight > 0.0]
        if counted.all() or not counted.any():
            raise InputError(
                "MaximumEntropy needs relevant documents (label > 0, or relevant_from) and others, and all "
                f"{len(counted)} with a weight are {'relevant' if counted.all() else 'not relevant'}: check the labels"
            )
        model = LogisticRegression(
            C=float(self.C), class_weight=self.class_weight, tol=float(self.tol), max_iter=int(self.max_iter)
        ).fit(rows.tocsr() if hasattr(rows, "tocsr") else rows, relevant.astype(np.int64), data.weight)
        set_features(self, data.n_features, data.names, data.categories)
        self.n_iter_ = int(model.n_iter_[0])
        self._fitted_with_qid = qid is not None
        self.model_ = LinearModel(
            n_features=data.n_features,
            feature_names=data.names,
            coef=model.coef_[0].astype(np.float64),
            intercept=float(model.intercept_[0]),
            scaling=scaling,
            categories=data.categories,
            fill=fill,
            training=record(self, NONE, data.statistics(by_row=True)),
        )
        return self


def _require_class_weight(given: Any) -> None:
    if isinstance(given, str) and given == "balanced":
        return
    if not isinstance(given, dict) or not set(given) <= {0, 1}:
        raise InputError(
            f"MaximumEntropy(class_weight=...) must be {{0: weight, 1: weight}}, of documents that are not relevant "
            f"and that are, 'balanced' or None, got {brief(given)}"
        )
    for kind, weight in given.items():
        if not is_number(weight, above=0.0):
            raise InputError(
                f"MaximumEntropy(class_weight=...) must have positive finite weights, got {brief(weight)} for {kind!r}"
            )
