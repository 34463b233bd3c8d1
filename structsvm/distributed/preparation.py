"""Prepare partitions for training: scale features, drop empty columns, weight rows; and measure features."""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from structsvm.distributed.partition import Partition
from structsvm.distributed.partitions import Partitions, with_features
from structsvm.distributed.sources.given import partition_weights
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.features.scaling.names import STANDARD
from structsvm.features.scaling.scalings import Moments, QueryScaling, Scaling
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import IntVector, Matrix
from structsvm.models.drift import MOST_FEATURES, FeatureStatistics, FeatureSummary


def scaled_partitions(data: Partitions, name: str) -> tuple[Partitions, Scaling]:
    """Return partitions with scaled features, and the scaling from `FEATURE_SCALINGS`; moments need one pass."""
    centered = not data.first.sparse
    if name == STANDARD:
        moments: Moments = reduce(Moments.with_more, data.ask(_moments))
        scaling: Scaling = moments.standard(centered=centered)
    else:
        scaling = QueryScaling(name, centered=centered)
    return data.mapped(_with_scaling, scaling), scaling


def _moments(part: Partition) -> Moments:
    weights = part.sample_weight
    return Moments.of(part.X, None if weights is None else partition_weights(weights, part.rows))


def _with_scaling(part: Partition, scaling: Scaling) -> Partition:
    return part._replace(X=scaling.rows(part.X, Queries.of(part.qid, part.rows) if scaling.by_query else None))


def weighted(data: Partitions, classes: Mapping[float, float] | str) -> Partitions:
    """Return partitions with row weights multiplied by the weights of the rows' labels, 1 for absent labels.

    Other settings than a mapping balance rows with positive labels and others: ``n / (classes · n_class)``.
    """
    balanced = isinstance(classes, str)
    if isinstance(classes, str):
        positive = sum(int(survey.counts[survey.labels > 0.0].sum()) for survey in data.surveys)
        counts = {label: n for label, n in ((1.0, positive), (-1.0, data.rows - positive)) if n}
        classes = {label: data.rows / (len(counts) * n) for label, n in counts.items()}
    return data.mapped(_with_weights, classes, balanced)


def _with_weights(part: Partition, classes: Mapping[float, float], by_sign: bool) -> Partition:
    y: Any = part.y
    labels = np.where(y > 0.0, 1.0, -1.0) if by_sign else y
    weights = np.ones(part.rows)
    for label, weight in classes.items():
        weights[labels == label] = weight
    return part._replace(sample_weight=weights if part.sample_weight is None else weights * part.sample_weight)


def without_empty_columns(data: Partitions) -> tuple[Partitions, IntVector | None]:
    """Return partitions without columns that are empty in all partitions, and the remaining columns; None if all."""
    occupations: list[Any] = data.ask(_occupied) if data.first.sparse else [None]
    if any(columns is None for columns in occupations):
        return data, None
    columns: IntVector = np.unique(np.concatenate(occupations))
    if not 0 < 2 * len(columns) < data.n_features:
        return data, None
    return data.mapped(with_features, narrowed, columns), columns


def _occupied(part: Partition) -> IntVector | None:
    return occupied(part.X)


def feature_statistics(data: Partitions) -> Callable[[], FeatureStatistics | None]:
    """Let the workers compute the statistics of the features; return a function that waits for them."""
    if data.n_features > MOST_FEATURES:
        return lambda: None
    merged = data.workers.submit(FeatureStatistics.merged, data.map(_summary))
    rows = [survey.rows for survey in data.surveys]
    statistics = data.workers.submit(FeatureStatistics.with_shares, merged, data.map(_shares, merged), rows)
    return lambda: data.workers.fetch([statistics])[0]


def _summary(part: Partition) -> FeatureSummary:
    sizes = np.ones(part.rows) if part.qid is None else Queries.of(part.qid, part.rows).sizes
    return FeatureSummary.of(part.X, sizes)


def _shares(part: Partition, statistics: FeatureStatistics) -> Matrix:
    return statistics.shares_of(part.X)
