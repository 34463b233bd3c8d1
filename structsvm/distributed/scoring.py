"""Scores and measures of partitions, at the workers that hold them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from structsvm.arrays import by_name
from structsvm.compute.threads import using
from structsvm.distributed.partition import Partition, naming
from structsvm.distributed.survey import query_weights
from structsvm.estimators.ranker import Ranker
from structsvm.exceptions import InputError
from structsvm.metrics import Measure, parse_measure
from structsvm.metrics.base import rank_lists
from structsvm.settings import as_list, require_kind
from structsvm.types import Vector


class PartOfMean(NamedTuple):
    """What a partition adds to the mean of a measure.

    Parameters
    ----------
    value : the mean over its own queries, or what the measure has in its place; 0 without weight.
    weight : the sum of their weights.
    """

    value: float
    weight: float


def light(ranker: Ranker) -> Ranker:
    """Return a ranker with no more than what `predict` needs, to be sent to workers: d numbers, not the result."""
    scorer = Ranker()
    for name in ("coef_", "intercept_", "normaliser_", "n_features_in_", "_fitted_with_qid"):
        setattr(scorer, name, getattr(ranker, name))
    return scorer


def scores_of(scorer: Ranker, part: Partition) -> Vector:
    """Return the scores of the rows of a partition, shape (rows,)."""
    with using(1):
        scores: Vector = scorer.predict(part.X, qid=part.qid)
    return scores


def checked_measures(measures: Any) -> list[Measure]:
    """Return measures that are given by name or as objects.

    Raises
    ------
    InputError : when there are none, or one is something else.
    """
    words = "a list of names of measures, or of measures with their settings"
    given = as_list("measures", [measures] if isinstance(measures, str | Measure) else measures, words)
    if not given:
        raise InputError("measures is empty: name one at least")
    for each in given:
        require_kind("each of measures", each, str | Measure, "a name, or a measure with its settings")
    return [parse_measure(each) if isinstance(each, str) else each for each in given]


def parts_of_means(part: Partition, scorer: Ranker, measures: Sequence[Measure], name: str) -> list[PartOfMean]:
    """Return what a partition adds to the mean of each measure.

    Parameters
    ----------
    part : the partition, with labels.
    scorer : the ranker, `light`.
    measures : the measures.
    name : what messages call the partition.
    """
    with naming(name):
        weights = query_weights(part)
        y: Any = part.y
        lists = rank_lists(scores_of(scorer, part), y, part.qid)
        parts = []
        for measure in measures:
            values, weight = measure.weighted(lists, weights)
            found = measure.over_queries(values, weight) if weight.any() else 0.0
            parts.append(PartOfMean(found, float(weight.sum())))
        return parts


def mean(measure: Measure, parts: Sequence[PartOfMean]) -> float:
    """Return the mean over the queries of all partitions, or what the measure has in its place.

    A mean of means by their weights is the mean of all; so it is of geometric means; sums add up.

    Raises
    ------
    InputError : when no query has both a value and a weight.
    """
    import numpy as np

    counted = [part for part in parts if part.weight > 0.0]
    measure.require_weight(sum(part.weight for part in counted))
    values = np.array([part.value for part in counted])
    return measure.over_queries(values, None if measure.summary == "sum" else np.array([p.weight for p in counted]))


def with_features_of(ranker: Ranker, X: Any, *roles: Any) -> Any:
    """Return a data frame of Dask's with the features that a ranker knows by name, and the columns that roles name.

    Raises
    ------
    InputError : when a feature is missing.
    """
    named = [each for each in roles if isinstance(each, str)]
    given = [name for name in X.columns if name not in named]
    found = by_name(X[given], ranker.known_names, type(ranker).__name__)
    return X if list(found.columns) == given else X[[*found.columns, *named]]
