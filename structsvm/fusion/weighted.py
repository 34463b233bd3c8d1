"""A weighted sum of scores, whose weights are learned."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags

from structsvm.arrays import numbers, numbers_alone
from structsvm.estimators.inputs import checked_labels
from structsvm.estimators.linear import LinearScores
from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError, ZeroWeightsWarning, stacklevel_of_user
from structsvm.fusion.comb import Comb, normalise
from structsvm.metrics import Measure, rank_lists
from structsvm.queries import Queries
from structsvm.registry import rankers
from structsvm.settings import place, require_number
from structsvm.types import Matrix, Vector

BY_MEASURE = "measure"


class WeightedCombSUM(Comb):
    """The weighted sum of the document's scores: linear combination, with weights learned on training queries.

    Parameters
    ----------
    normalisation : see `Comb`.
    weights : where weights come from. "measure": what ``measure`` says of each system alone on the training queries
        (performance-level weighting: Thompson, 1990; Wu, Bi, Zeng and Han, "Assigning appropriate weights for the
        linear combination data fusion method in information retrieval", IPM 2009): as trec_eval measures a run, of the
        documents that it retrieved, relevant ones that it did not and queries without any counting against it. If all
        are 0, a ``ZeroWeightsWarning`` says so. A ranker that learns weights, such
        as `Ranker()`, `WeightSearch()` or `MaximumEntropy()`: what it learns of the normalised scores, 0 where missing
        (its own ``normalise`` may be "standard", and not by query); by name, such as "weight_search", it has its
        default settings.
        Numbers, one a system: these, and nothing is learned.
    power : weights by a measure are raised to it; 1 weighs systems by it, larger ones favour the best
        systems (the 2009 paper found 2 to 6 better than 1).
    measure : what weights the systems, and what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an
        object; None is "map".

    Attributes
    ----------
    weights_ : weight of each system, shape (systems,).
    n_features_in_ : number of systems.

    Examples
    --------
    >>> from structsvm.fusion import WeightedCombSUM
    >>> scores, y = [[3.0, 1.0], [2.0, float("nan")], [1.0, 4.0]], [1, 0, 0]
    >>> WeightedCombSUM("none").fit(scores, y).weights_
    array([1. , 0.5])
    >>> WeightedCombSUM("none", weights=[1.0, 0.25]).fit(scores).predict(scores)
    array([3.25, 2.  , 2.  ])
    """

    def __init__(
        self,
        normalisation: str = "min-max",
        *,
        weights: str | RankingEstimator | ArrayLike = BY_MEASURE,
        power: float = 1.0,
        measure: str | Measure | None = None,
    ) -> None:
        super().__init__(normalisation, measure=measure)
        self.weights = weights
        self.power = power

    @property
    def learns(self) -> bool:
        """Whether `fit` needs labels."""
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
                    "'maximum_entropy' or 'weight_search'; with settings of its own in Python only, as in "
                    f"weights=Ranker('map', C=10)), or a number for each system, as in [2,1], got {self.weights!r}"
                ) from None

    def _learn(self, scores: Matrix, y: Any, queries: Queries) -> None:
        if not self.learns:
            self.weights_ = self._given(scores.shape[1])
            return
        if y is None:
            raise InputError(
                "WeightedCombSUM learns its weights from labels: fit requires y to be passed, but the target y is "
                "None. Pass y, or weights=[...], one a system"
            )
        labels = checked_labels(y, len(scores))
        if not (labels > 0.0).any():
            raise InputError(
                "WeightedCombSUM learns its weights from relevant documents, and no label of y is above 0: choose "
                "other training queries, or pass weights=[...], one a system"
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
                    f"all weights of WeightedCombSUM are 0, and so are all fused scores: {measure} of each system "
                    "alone is 0 on the training queries. Choose other training queries, another measure, or pass "
                    "weights=[...], one a system",
                    ZeroWeightsWarning,
                    stacklevel=stacklevel_of_user(),
                )

    def _given(self, systems: int) -> Vector:
        weights = numbers(self.weights, "weights")
        if weights.shape != (systems,) or not np.isfinite(weights).all():
            raise InputError(f"weights must be {systems} finite numbers, one for each system, got {self.weights!r}")
        return weights

    def _of_ranker(self, ranker: Any, scores: Matrix, labels: Vector, queries: Queries) -> Vector:
        grouped = np.ascontiguousarray(queries.grouped(scores), dtype=np.float64)
        features = np.nan_to_num(normalise(grouped, queries.ptr, self.normalisation), nan=0.0)
        ranker.fit(features, queries.grouped(labels), qid=queries.grouped(queries.number))
        learned = ranker.raw_weights().coef if isinstance(ranker, LinearScores) else getattr(ranker, "coef_", None)
        if learned is None:
            raise InputError(
                f"{type(ranker).__name__} learns no weights: WeightedCombSUM takes rankers with coef_, such as Ranker()"
            )
        return np.array(learned, dtype=np.float64)

    def _combined(self, scores: Matrix) -> Vector:
        return np.asarray(np.nansum(scores * self.weights_, axis=1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.learns
        return tags


def _of_system(measure: Measure, scores: Vector, labels: Vector, queries: Queries) -> float:
    """Return what a measure says of one system, as trec_eval measures a run: of the documents that it retrieved.

    Relevant documents that it did not retrieve count against it, and so do queries of which it retrieved nothing.

    Parameters
    ----------
    scores : of the system, shape (rows,); NaN where it did not retrieve the document.
    labels : of the same rows.
    queries : of the same rows.
    """
    values = np.zeros(len(queries))
    retrieved = ~np.isnan(scores)
    if retrieved.any():
        lists = rank_lists(scores[retrieved], labels[retrieved], queries.number[retrieved])
        position = np.full(len(queries), -1)
        position[lists.ids] = np.arange(len(lists.ids))
        of_row = position[queries.number]
        ranked = of_row >= 0
        values[lists.ids] = measure.values(evolve(lists, judged=labels[ranked], judged_query=of_row[ranked]))
    if measure.empty == "skip":
        every = rank_lists(np.where(retrieved, scores, -np.inf), labels, queries.number)
        values = values[~np.isnan(measure.values(every))]
    if not len(values):
        raise InputError(f"{measure} has a value for no training query: choose others, or empty='zero'")
    return measure.over_queries(np.nan_to_num(values, nan=0.0))
