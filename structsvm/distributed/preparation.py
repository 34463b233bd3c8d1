"""Prepare partitions for training: scale features, drop empty columns, weight rows."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.distributed.partition import Partition
from structsvm.distributed.partitions import Partitions
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.features.scaling.names import STANDARD
from structsvm.features.scaling.scalings import Moments, QueryScaling, Scaling
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.types import IntVector, Matrix
from structsvm.models.drift import FeatureStatistics, FeatureSummary, has_statistics


@frozen
class ClassWeights:
    """Weights of rows by label, 1 for labels not in ``of``; with ``by_sign``, labels count as 1 (positive) or −1."""

    of: Mapping[float, float]
    by_sign: bool = False

    @classmethod
    def balanced(cls, data: Partitions) -> "ClassWeights":
        """Return weights that balance rows with positive labels and others: ``n / (classes · n_class)``."""
        positive = sum(int(each.counts[each.labels > 0.0].sum()) for each in data.surveys)
        counts = {label: n for label, n in ((1.0, positive), (-1.0, data.rows - positive)) if n}
        return cls({label: data.rows / (len(counts) * n) for label, n in counts.items()}, by_sign=True)


def learned_scaling(name: str, data: Partitions) -> Scaling:
    """Return a fitted scaling from `FEATURE_SCALINGS`; moments need one pass, merged in the order of partitions."""
    centered = not data.surveys[0].sparse
    if name != STANDARD:
        return QueryScaling(name, centered=centered)
    moments: Moments = reduce(Moments.with_more, data.ask(_moments))
    return moments.standard(centered=centered)


def _moments(part: Partition) -> Moments:
    weights = part.sample_weight
    # Other partitions may have weights above 0.
    if weights is not None:
        weights = row_weights(weights, part.rows) if np.any(weights) else np.zeros(part.rows)
    return Moments.of(part.X, weights)


def feature_statistics(data: Partitions) -> Callable[[], FeatureStatistics | None]:
    """Let the workers compute the statistics of the features; return a function that waits for them."""
    merged = data.workers.submit(_merged, data.map(_summary))
    rows = [each.rows for each in data.surveys]
    found = data.workers.submit(_with_shares, merged, data.map(_shares_in, merged), rows)
    return lambda: data.workers.fetch([found])[0]


def _merged(summaries: Sequence[FeatureSummary | None]) -> FeatureStatistics | None:
    known = [each for each in summaries if each is not None]
    return FeatureStatistics.merged(known) if len(known) == len(summaries) else None


def _shares_in(part: Partition, merged: FeatureStatistics | None) -> Matrix | None:
    return None if merged is None else merged.shares_of(part.X)


def _with_shares(
    merged: FeatureStatistics | None, shares: Sequence[Matrix], rows: Sequence[int]
) -> FeatureStatistics | None:
    return None if merged is None else merged.with_shares(shares, rows)


def _summary(part: Partition) -> FeatureSummary | None:
    if not has_statistics(part.X):
        return None
    sizes = np.ones(part.rows) if part.qid is None else Queries.of(part.qid, part.rows).sizes
    return FeatureSummary.of(part.X, sizes)


def occupied_columns(data: Partitions) -> IntVector | None:
    """Return the columns with an entry in any partition, as `structsvm.features.operators.occupied` does."""
    if not data.surveys[0].sparse:
        return None
    found = data.ask(of_features, occupied)
    if any(each is None for each in found):
        return None
    columns: IntVector = np.unique(np.concatenate(found))
    return columns if 0 < 2 * len(columns) < data.n_features else None


def scaled_partition(part: Partition, how: Scaling) -> Partition:
    """Return a partition with scaled features."""
    return part._replace(X=how.rows(part.X, Queries.of(part.qid, part.rows) if how.by_query else None))


def narrowed_to(part: Partition, columns: IntVector) -> Partition:
    """Return a partition with only these columns."""
    return part._replace(X=narrowed(part.X, columns))


def weighted(part: Partition, classes: ClassWeights) -> Partition:
    """Return a partition with row weights multiplied by the weights of the rows' labels."""
    y: Any = part.y
    labels = np.where(y > 0.0, 1.0, -1.0) if classes.by_sign else y
    weights = np.ones(part.rows)
    for label, weight in classes.of.items():
        weights[labels == label] = weight
    return part._replace(sample_weight=weights if part.sample_weight is None else weights * part.sample_weight)


def of_features(part: Partition, function: Callable[[Any], Any]) -> Any:
    """Apply a function to the features of a partition."""
    return function(part.X)
