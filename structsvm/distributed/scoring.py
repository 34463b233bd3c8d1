"""Score and measure partitions at their workers."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import frozen

from structsvm.distributed.partition import Partition, naming
from structsvm.estimators.ranker import Ranker
from structsvm.exceptions import InputError
from structsvm.foundation.compute.threads import using
from structsvm.foundation.frames import ordered
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import Vector
from structsvm.metrics import Measure, rank_lists
from structsvm.models.linear import LinearModel


@frozen(eq=False)
class PartitionScorer:
    """Model of a fitted ranker for workers; with ``needs_queries``, rows without query ids are an error."""

    model: LinearModel
    needs_queries: bool

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """Return the scorer of a fitted ranker."""
        return cls(ranker.model_.without_training(), ranker._fitted_with_qid and ranker.model_.by_query)

    def require_queries(self, *, known: bool) -> None:
        """Raise `InputError` if rows have no query ids, and the model needs them."""
        if self.needs_queries and not known:
            raise InputError(
                f"this {self.model.title} was fitted with qid and normalizes by query: pass qid to predict, too"
            )

    def scores(self, part: Partition) -> Vector:
        """Return the scores of the rows of a partition, shape (rows,)."""
        self.require_queries(known=part.qid is not None)
        with using(1):
            return self.model.predict(part.X, part.qid)


def parts_of_means(part: Partition, scorer: PartitionScorer, measures: Sequence[Measure]) -> list[tuple[float, float]]:
    """Return the mean of each measure over a labeled partition, 0 without weight, and the weight of that mean."""
    with naming(part.title):
        weights = query_weights(part)
        y: Any = part.y
        lists = rank_lists(scorer.scores(part), y, part.qid)
        parts = []
        for measure in measures:
            values, weight = measure.weighted(lists, weights)
            mean = measure.over_queries(values, weight) if weight.any() else 0.0
            parts.append((mean, float(weight.sum())))
        return parts


def query_weights(part: Partition) -> Vector:
    """Return the weight of each query of a partition, in order of appearance; all may be 0."""
    queries = Queries.of(part.qid, part.rows)
    if part.sample_weight is None or not part.sample_weight.any():
        return np.full(len(queries), 1.0 if part.sample_weight is None else 0.0)
    return queries.weights(part.sample_weight)


def overall_mean(measure: Measure, parts: Sequence[tuple[float, float]]) -> float:
    """Return the mean of a measure over all queries, from the means and weights of partitions."""
    values, weights = np.array([part for part in parts if part[1] > 0.0]).reshape(-1, 2).T
    measure.require_weight(float(weights.sum()))
    return measure.over_queries(values, None if measure.summary == "sum" else weights)


def with_features_of(ranker: Ranker, X: Any, *roles: Any) -> Any:
    """Return a Dask data frame with the features that a ranker knows by name, and the columns that ``roles`` name."""
    named = [role for role in roles if isinstance(role, str)]
    columns = [name for name in X.columns if name not in named]
    features = ordered(columns, ranker.known_names, f"{type(ranker).__name__} was fitted with")
    return X if features == columns else X[[*features, *named]]
