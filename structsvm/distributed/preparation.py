"""What is done to partitions before they are learned from: normalised, narrowed to occupied columns, weighted."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.distributed.partition import Partition
from structsvm.distributed.partitions import Partitions
from structsvm.estimators.scales import ColumnRanges
from structsvm.normalisation import Moments, Normalisation, Standardised, learned
from structsvm.operators import narrowed, occupied
from structsvm.queries import Queries
from structsvm.types import IntVector


@frozen
class ClassWeights:
    """The weights of rows by their labels.

    Parameters
    ----------
    of : the weight of each label; that of others is 1.
    by_sign : whether labels above 0 count as 1 and others as −1.
    """

    of: Mapping[float, float]
    by_sign: bool = False

    @classmethod
    def balanced(cls, data: Partitions) -> "ClassWeights":
        """Return weights by which the rows above 0 count as much as the others: ``n / (classes · n_class)``."""
        positive = sum(each.positive for each in data.surveys)
        counts = {label: n for label, n in ((1.0, positive), (-1.0, data.rows - positive)) if n}
        return cls({label: data.rows / (len(counts) * n) for label, n in counts.items()}, by_sign=True)


def normaliser(name: str, data: Partitions) -> Normalisation:
    """Return a normalisation with what it learns of all rows: where that is their moments, by one more pass.

    Parameters
    ----------
    name : as in `structsvm.normalisation.NORMALISATIONS`.
    data : the rows. Their moments are merged in the order of the partitions.
    """
    if name != Standardised.name:
        found: Normalisation = data.workers.fetch([data.workers.submit(_learned, name, data.parts[0])])[0]
        return found
    moments: list[Moments] = [each for each in data.ask(_moments) if each is not None]
    return reduce(Moments.with_more, moments).standardised(centred=not data.surveys[0].sparse)


def ranges(data: Partitions) -> ColumnRanges:
    """Return the ranges of columns in the largest partition, at some thousand rows."""
    largest = max(range(len(data)), key=lambda k: data.surveys[k].rows)
    found: ColumnRanges = data.workers.fetch([data.workers.submit(_ranges, data.parts[largest])])[0]
    return found


def occupied_columns(data: Partitions) -> IntVector | None:
    """Return the columns that have an entry in any partition, as `structsvm.operators.occupied` does."""
    if not data.surveys[0].sparse:
        return None
    found = data.ask(_occupied)
    if any(each is None for each in found):
        return None
    columns: IntVector = np.unique(np.concatenate(found))
    return columns if 0 < 2 * len(columns) < data.n_features else None


def normalised(part: Partition, how: Normalisation) -> Partition:
    """Return a partition with normalised features."""
    return part._replace(X=how.rows(part.X, Queries.of(part.qid, part.rows) if how.by_query else None))


def narrowed_to(part: Partition, columns: IntVector) -> Partition:
    """Return a partition with these columns alone."""
    return part._replace(X=narrowed(part.X, columns))


def weighted(part: Partition, classes: ClassWeights) -> Partition:
    """Return a partition whose rows are weighted by their labels too."""
    y: Any = part.y
    labels = np.where(y > 0.0, 1.0, -1.0) if classes.by_sign else y
    weights = np.ones(part.rows)
    for label, weight in classes.of.items():
        weights[labels == label] = weight
    return part._replace(sample_weight=weights if part.sample_weight is None else weights * part.sample_weight)


def _learned(name: str, part: Partition) -> Normalisation:
    return learned(name, part.X)


def _moments(part: Partition) -> Moments | None:
    return Moments.of(part.X) if part.rows else None


def _ranges(part: Partition) -> ColumnRanges | None:
    X: Any = part.X
    return ColumnRanges.of(X) if isinstance(X, np.ndarray) or hasattr(X, "indptr") else None


def _occupied(part: Partition) -> IntVector | None:
    return occupied(part.X)
