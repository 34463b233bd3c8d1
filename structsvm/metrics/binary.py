"""The base class of measures of binary relevance."""

from typing import Any

import attrs
import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.foundation.settings import finite
from structsvm.foundation.types import BoolVector, Vector
from structsvm.metrics.base import Measure
from structsvm.metrics.ranking import RankedLists


def _threshold(value: Any) -> Any:
    """Convert a number to float; leave other values for the validator."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return value


@frozen
class BinaryMeasure(Measure):
    """Base class of measures of documents that are relevant or not; derive from it to write a measure.

    Parameters
    ----------
    relevant_from : the smallest relevant label. Default: every label above 0 is relevant.
    empty : see `Measure`.

    Examples
    --------
    >>> from attrs import frozen
    >>> @frozen
    ... class Success(BinaryMeasure):  # 1 if the first document is relevant
    ...     name = "success"
    ...     def values(self, lists):
    ...         return lists.total(self.found(lists) & (lists.rank == 1))
    >>> Success().mean([2.0, 1.0, 1.0, 2.0], [1, 0, 1, 0], [7, 7, 8, 8])
    0.5
    >>> str(Success(relevant_from=2))
    'success(relevant_from=2)'
    """

    relevant_from: float | None = field(
        default=None, kw_only=True, converter=_threshold, validator=attrs.validators.optional(finite)
    )

    def relevant(self, labels: Vector) -> BoolVector:
        """Return a mask of the relevant labels."""
        return labels > 0 if self.relevant_from is None else labels >= self.relevant_from

    def found(self, lists: RankedLists) -> BoolVector:
        """Return a mask of the relevant ranked documents, shape (n,); unjudged documents are not relevant."""
        if self.relevant_from is not None and self.relevant_from <= 0:
            lists.require_judged(self)
        return self.relevant(lists.label) & lists.is_judged

    def n_relevant(self, lists: RankedLists) -> Vector:
        """Return the number of judged relevant documents of each query; NaN instead of 0."""
        count = lists.total_judged(self.relevant(lists.judged))
        return np.where(count > 0, count, np.nan)

    def if_any(self, lists: RankedLists, values: NDArray[Any]) -> Vector:
        """Return the values of queries, shape (Q,), with NaN for queries without a judged relevant document."""
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, values)
