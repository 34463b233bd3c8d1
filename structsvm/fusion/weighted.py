"""Sum scores with learned weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike
from sklearn.base import clone

from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError, ZeroWeightsWarning, brief, stacklevel_of_user
from structsvm.foundation.arrays import numbers, numbers_alone
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import place, require_number
from structsvm.foundation.types import Matrix, Vector
from structsvm.fusion.comb import Comb
from structsvm.metrics import Measure, rank_lists
from structsvm.models.linear import LinearModel
from structsvm.registry import rankers
from structsvm.training.data import checked_labels

BY_MEASURE = "measure"


class WeightedCombSUM(Comb):
    """The weighted sum of the document's scores, with weights learned on training queries.

    Parameters
    ----------
    normalize : see `CombSUM`.
    weights : source of the weights.

        - "measure": the value of ``measure`` for each system alone on the training queries, raised to ``power``
          (performance-level weighting: Thompson, 1990; Wu, Bi, Zeng and Han, IPM 2009). The measure is computed as for
          a run in trec_eval: missing relevant documents, and queries without retrieved documents, lower the value.
        - A ranker that learns weights, such as `Ranker()` or `MaximumEntropy()`, or its name: its weights for the
          normalized scores; missing ones are 0. The ranker's ``normalize`` may be "standard", but not by query.
        - Numbers, one per system: fixed weights.
    power : exponent of weights by a measure; a larger exponent favors the best systems.
    measure : the measure of the weights and of `score`, by name ("map", "ndcg@10", "p@5", ...) or as an
        object; None is "map".

    Attributes
    ----------
    weights_ : weight of each system, shape (systems,).
    n_features_in_ : number of systems.

    Examples
    --------
    >>> scores, y = [[3.0, 1.0], [2.0, float("nan")], [1.0, 4.0]], [1, 0, 0]
    >>> WeightedCombSUM(None).fit(scores, y).weights_
    array([1. , 0.5])
    >>> WeightedCombSUM(None, weights=[1.0, 0.25]).fit(scores).predict(scores)
    array([3.25, 2.  , 2.  ])
    """

    def __init__(
        self,
        normalize: str | None = "query-min-max",
        *,
        weights: str | RankingEstimator | ArrayLike = BY_MEASURE,
        power: float = 1.0,
        measure: str | Measure | None = None,
    ) -> None:
        super().__init__(normalize, measure=measure)
        self.weights = weights
        self.power = power

    @property
    def learns(self) -> bool:
        """True if `fit` needs labels."""
        return isinstance(self.weights, str | RankingEstimator)

    def _require_settings(self) -> None:
        super()._require_settings()
        require_number(place(self, "power"), self.power, above=0.0)
        if not self.learns:
            numbers_alone(self.weights, place(self, "weights"))
        if isinstance(self.weights, str) and self.weights != BY_MEASURE:
            try:
                rankers.create(self.weights)
            except InputError:
                raise InputError(
                    f"{place(self, 'weights')} must be {BY_MEASURE!r}, a ranker that learns weights ('ranker', "
                    "'maximum_entropy' or 'weight_search'; in Python also an object such as Ranker('map', C=10)), or a "
                    f"number for each system, as in [2,1], got {brief(self.weights)}"
                ) from None

    def _learn(self, scores: Matrix, y: Any, queries: Queries) -> None:
        if not self.learns:
            self.weights_ = self._given(scores.shape[1])
            return
        if y is None:
            raise InputError(
                "WeightedCombSUM learns its weights from labels: fit requires y to be passed, but the target y is "
                "None. Pass y, or weights=[...] with a number for each system"
            )
        labels = checked_labels(y, len(scores))
        if not (labels > 0.0).any():
            raise InputError(
                "WeightedCombSUM learns its weights from relevant documents, and no label of y is above 0: choose "
                "other training queries, or pass weights=[...] with a number for each system"
            )
        if self.weights != BY_MEASURE:
            ranker = rankers.create(self.weights) if isinstance(self.weights, str) else clone(self.weights)
            self.weights_ = self._of_ranker(ranker, scores, labels, queries)
        else:
            measure = measure_of(self)
            alone = [_of_system(measure, column, labels, queries) for column in scores.T]
            self.weights_ = np.array(alone) ** self.power
            if not self.weights_.any():
                warnings.warn(
                    f"all weights and fused scores of WeightedCombSUM are 0: {measure} of each system alone is 0 on "
                    "the training queries. Choose other training queries or another measure, or pass weights=[...]",
                    ZeroWeightsWarning,
                    stacklevel=stacklevel_of_user(),
                )

    def _given(self, systems: int) -> Vector:
        weights = numbers(self.weights, "weights")
        if weights.shape != (systems,) or not np.isfinite(weights).all():
            raise InputError(
                f"weights must be {systems} finite numbers, one for each system, got {brief(self.weights)}"
            )
        return weights

    def _of_ranker(self, ranker: Any, scores: Matrix, labels: Vector, queries: Queries) -> Vector:
        grouped = np.ascontiguousarray(queries.grouped(scores), dtype=np.float64)
        features = np.nan_to_num(self._scaled(grouped, queries.ptr), nan=0.0)
        ranker.fit(features, queries.grouped(labels), qid=queries.grouped(queries.number))
        if isinstance(getattr(ranker, "model_", None), LinearModel):
            if ranker.model_.by_query:
                raise InputError(
                    f"the ranker normalizes by query ({ranker.normalize}), so it has no weights for the given scores: "
                    "set normalize=None or normalize='standard'"
                )
            return np.array(ranker.model_.folded.coef)
        if not hasattr(ranker, "coef_"):
            raise InputError(f"{type(ranker).__name__} learns no weights: choose a ranker with coef_, such as Ranker()")
        return np.array(ranker.coef_, dtype=np.float64)

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores * self.weights_, axis=1))


def _of_system(measure: Measure, scores: Vector, labels: Vector, queries: Queries) -> float:
    """Return the measure of one system as trec_eval does for its run, which lacks documents with a score of NaN."""
    values = np.zeros(len(queries))
    retrieved = ~np.isnan(scores)
    if retrieved.any():
        lists = rank_lists(scores[retrieved], labels[retrieved], queries.number[retrieved])
        position = np.full(len(queries), -1)
        position[lists.ids] = np.arange(len(lists.ids))
        of_row = position[queries.number]
        ranked = of_row >= 0
        values[lists.ids] = measure.expected(evolve(lists, judged=labels[ranked], judged_query=of_row[ranked]))
    if measure.empty == "skip":
        every = rank_lists(np.where(retrieved, scores, -np.inf), labels, queries.number)
        values = values[~np.isnan(measure.expected(every))]
    if not len(values):
        raise InputError(f"{measure} is undefined on all training queries: choose other queries, or empty='zero'")
    return measure.over_queries(np.nan_to_num(values, nan=0.0))
