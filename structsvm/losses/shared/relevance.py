"""Bases of losses of relevant and other documents, and of rankings of both kinds with Ψ as a sum over pairs."""

from collections.abc import Sequence

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from structsvm.foundation.compute.compilation import inlined_part
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.settings import finite
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.losses.base import RankedByScore, ScoreLoss
from structsvm.losses.shared.weighted_labels import labels_that_count, weights_of
from structsvm.losses.user_methods import reads_text
from structsvm.metrics.ranking import rank_documents

ONE_KIND = (
    "each has documents of one kind only. A query needs relevant documents (label > 0, or relevant_from) and others; "
    "check the labels and qid"
)
"""Reason why a loss cannot learn from any query."""


@frozen
class RelevanceLoss(ScoreLoss[Vector]):
    """Base of losses of documents that are relevant or not; an output is one number per document.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.
    """

    relevant_from: float | None = field(default=None, kw_only=True, validator=optional(finite))

    @property
    def numeric_labels(self) -> bool:  # type: ignore[override]
        """True unless `relevant` accepts text."""
        return not reads_text(self.relevant, np.array(["text"]))

    def relevant(self, y: Vector) -> BoolVector:
        """Return a mask of the relevant documents."""
        labels = np.asarray(y)
        return labels > 0 if self.relevant_from is None else labels >= self.relevant_from

    def labels(self, y: Vector) -> Vector:
        """Return 1 for relevant documents and 0 for all others."""
        return self.relevant(y).astype(np.float64)

    def usable(self, y: Vector) -> bool:
        """Return True if the query has both kinds of document."""
        return self._has_both_kinds(y)

    def why_none_usable(self, ys: Sequence[Vector]) -> str:
        has_reason = self.why_unusable or any(map(self._has_both_kinds, ys))
        return super().why_none_usable(ys) if has_reason else ONE_KIND

    def _has_both_kinds(self, y: Vector) -> bool:
        relevant = self.relevant(labels_that_count(y))
        return bool(relevant.any()) and not bool(relevant.all())


@frozen
class PairwiseLoss(RelevanceLoss, RankedByScore):
    """Base class of losses of rankings with two kinds of document, encoded by pairs of a relevant and another document.

    ``Ψ(x, y) = 1/(RN) Σ_i Σ_j y_ij (x_i − x_j)`` over R relevant documents i and N others j, with ``y_ij = 1`` if i is
    ahead of j, else −1 (Yue, Finley, Radlinski and Joachims, 2007, section 3; Joachims, 2005). An output is one number
    per document, larger is ahead; ties are in document order. The true labels have the same form. Queries without both
    kinds of document are not usable.

    A derived class defines ``loss`` and an exact ``loss_augmented_argmax``; it inherits the encoding, the prediction
    and the list of outputs for ``check_loss``. It may override `relevant`, for example if a label marks spam.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> class WrongFirst(PairwiseLoss):  # 1 if the first document is not relevant
    ...     def loss(self, y, y_hat):
    ...         return float(not self.ranked_relevance(y, y_hat)[0])
    ...     def loss_augmented_argmax(self, scores, y):
    ...         relevant = self.relevant(y)
    ...         other = np.flatnonzero(~relevant)[np.argmax(scores[~relevant])]  # the best to be first
    ...         price = 2.0 * np.mean(np.maximum(scores[relevant] - scores[other], 0.0)) / np.sum(~relevant)
    ...         first = np.arange(len(y)) == other
    ...         return np.where(first, scores.max() + 1.0, scores) if price < 1.0 else scores
    >>> Ranker(WrongFirst(), C=10).fit([[1.0], [2.0], [4.0]], [0, 1, 1], qid=[1, 1, 1]).result_.converged
    True
    """

    def ranked_relevance(self, y: Vector, y_hat: Vector) -> BoolVector:
        """Return the relevance of the documents in the order of ŷ, best first."""
        return self.relevant(y)[rank_documents(y_hat).order]

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return the coefficient of each document.

        A relevant document has ``(N − 2m)/(RN)`` if m non-relevant documents are ahead of it. A non-relevant document
        has ``(2m − R)/(RN)`` if m relevant documents are behind it.
        """
        order = rank_documents(y_hat).order
        weight = weights_of(y)[order]
        relevant = np.where(self.relevant(y)[order], weight, 0.0)
        other = weight - relevant
        R, N = relevant.sum(), other.sum()
        ahead, behind = np.cumsum(other), R - np.cumsum(relevant)
        code = np.empty(len(order))
        code[order] = (relevant * (N - 2 * ahead) + other * (2 * behind - R)) / (R * N or 1.0)
        return code


@inlined_part
def by_kind(scores: Vector, labels: Vector) -> tuple[IntVector, IntVector]:
    """Return the indices of relevant documents (label above 0) and of all others, largest score first."""
    n = len(scores)
    relevant, other = np.empty(n, np.int64), np.empty(n, np.int64)
    R = 0
    order = descending(scores)
    # Avoid a branch here: it would be unpredictable.
    for place in range(n):
        document = order[place]
        relevant[R] = document
        other[place - R] = document
        R += labels[document] > 0.0
    return relevant[:R], other[: n - R]
