"""What the losses of documents of two kinds share: which of them are relevant."""

from collections.abc import Sequence

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from structsvm.losses.base import ScoreLoss, reads_text
from structsvm.settings import finite
from structsvm.types import BoolVector, Vector

ONE_KIND = (
    "each has documents of one kind only. A query needs relevant documents (label > 0, or relevant_from) and others; "
    "check the labels and qid"
)
"""Why a loss can learn from none of the queries."""


@frozen
class RelevanceLoss(ScoreLoss[Vector]):
    """A loss of documents that are relevant or not; an output is one number per document.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document; None: every label above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.losses import AveragePrecision
    >>> loss = AveragePrecision(relevant_from=2)
    >>> loss.relevant(np.array([0, 1, 2])), loss.usable(np.array([0, 1, 1]))
    (array([False, False,  True]), False)
    >>> class NotSpam(AveragePrecision):  # 3 is no grade, but spam
    ...     def relevant(self, y):
    ...         return (y > 0) & (y != 3)
    >>> NotSpam().labels(np.array([0, 1, 3]))
    array([0., 1., 0.])
    """

    relevant_from: float | None = field(default=None, kw_only=True, validator=optional(finite))

    @property
    def numeric_labels(self) -> bool:
        """Whether the labels must be numbers: yes, unless `relevant` can read text."""
        return not reads_text(self.relevant, np.array(["text"]))

    def relevant(self, y: Vector) -> BoolVector:
        """Say which documents are relevant."""
        labels = np.asarray(y)
        return labels > 0 if self.relevant_from is None else labels >= self.relevant_from

    def labels(self, y: Vector) -> Vector:
        """Return 1 for relevant documents and 0 for the others."""
        return self.relevant(y).astype(np.float64)

    def usable(self, y: Vector) -> bool:
        """Say whether the query has both kinds of document."""
        return self._has_both_kinds(y)

    def why_none_usable(self, ys: Sequence[Vector]) -> str:
        """Say so where no query has both kinds of document."""
        told = self.why_unusable or any(map(self._has_both_kinds, ys))
        return super().why_none_usable(ys) if told else ONE_KIND

    def _has_both_kinds(self, y: Vector) -> bool:
        relevant = self.relevant(y)
        return bool(relevant.any()) and not bool(relevant.all())
