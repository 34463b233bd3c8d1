"""What measures share for which a document is relevant or not, and those of them that look at the first k ranks."""

from typing import Any

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import Measure, RankedLists
from structsvm.settings import at_least, finite
from structsvm.types import BoolVector, Vector


def _threshold(value: Any) -> Any:
    """Return a number as a float; what is none stays as it is, and is refused."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return value


@frozen
class BinaryMeasure(Measure):
    """A measure for which a document is relevant or not. Derive from it to write another.

    Parameters
    ----------
    relevant_from : the smallest label that is relevant. None: every label above 0.
    empty : see `Measure`.

    Examples
    --------
    >>> from attrs import frozen
    >>> from structsvm.metrics import BinaryMeasure
    >>> @frozen
    ... class Success(BinaryMeasure):  # 1 where the first document is relevant
    ...     name = "success"
    ...     def values(self, lists):
    ...         return lists.total(self.found(lists) & (lists.rank == 1))
    >>> Success().mean([2.0, 1.0, 1.0, 2.0], [1, 0, 1, 0], [7, 7, 8, 8])
    0.5
    >>> str(Success(relevant_from=2))
    'success(relevant_from=2)'
    """

    relevant_from: float | None = field(
        default=None,
        kw_only=True,
        converter=_threshold,
        validator=attrs.validators.optional(finite),
    )

    def relevant(self, labels: Vector) -> BoolVector:
        """Return which labels are relevant."""
        return labels > 0 if self.relevant_from is None else labels >= self.relevant_from

    def found(self, lists: RankedLists) -> BoolVector:
        """Return which ranked documents are relevant, shape (n,); one that was not judged is not.

        Raises
        ------
        InputError : a label of 0 or less is relevant, and the lists do not tell what was judged; see
            `RankedLists.require_judged`.
        """
        if self.relevant_from is not None and self.relevant_from <= 0:
            lists.require_judged(self)
        return self.relevant(lists.label) & lists.is_judged

    def n_relevant(self, lists: RankedLists) -> Vector:
        """Return the number of relevant documents that were judged, for each query; 0 becomes NaN."""
        count = lists.total_judged(self.relevant(lists.judged))
        return np.where(count > 0, count, np.nan)


@frozen
class BinaryMeasureAtK(BinaryMeasure):
    """A measure of the relevant documents among the first k, undefined without a relevant document.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.
    """

    k: int = field(validator=at_least(1))

    def hits(self, lists: RankedLists) -> Vector:
        """Return how many of the first k documents of each query are relevant; NaN where none was judged so."""
        hits = lists.total(self.found(lists) & (lists.rank <= self.k))
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, hits)
