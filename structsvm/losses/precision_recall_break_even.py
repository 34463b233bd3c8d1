"""The loss for the break-even point of precision and recall (R-precision)."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from attrs import frozen

from structsvm.foundation.types import BoolVector, Vector
from structsvm.losses.base import RankedByScore
from structsvm.losses.shared.relevance import RelevanceLoss, by_kind
from structsvm.metrics.ranking import rank_documents


def precision_recall_break_even(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set and return its loss.

    Exchange the worst relevant document for the best other document while the gain, which falls each time, is positive.
    """
    relevant, other = by_kind(scores, labels)
    R = len(relevant)
    N = len(other)
    out[:] = 0.0
    missed = 0
    while missed < min(R, N) and 1.0 / R + 2.0 * (scores[other[missed]] - scores[relevant[R - 1 - missed]]) > 0.0:
        out[relevant[R - 1 - missed]] = 2.0
        out[other[missed]] = -2.0
        missed += 1
    return missed / max(R, 1)


@frozen
class PrecisionRecallBreakEven(RelevanceLoss, RankedByScore):
    """One minus R-precision, the precision of the first R documents of a query with R relevant documents.

    With R documents selected, precision equals recall. Outputs, all sets of R documents, and ``Ψ(x, y) = Σ_d y_d x_d``
    with y = ±1 are as in Joachims, "A Support Vector Method for Multivariate Performance Measures", ICML 2005. The
    argmax takes O(n log n) for n documents.

    A ranking stands for the set of its first R documents: one number per document, larger is ahead. So predictions need
    not know R. An intercept cancels, because all outputs select equally many documents. Queries without both kinds of
    document are not usable. As for `FBeta`, weights are small, and can be 0 for every C.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker("prbep", C=10).fit([[1.0], [2.0], [4.0]], [0, 0, 1], qid=[1, 1, 1]).result_.converged
    True
    """

    kernel = staticmethod(precision_recall_break_even)
    of_one_sample = True

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return +1 for the first R documents of ŷ and −1 for all other documents."""
        return np.where(self._selected(y_hat, y), 1.0, -1.0)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        selected, relevant = self._selected(y_hat, y), self.relevant(y)
        return float(np.mean(~relevant[selected])) if selected.any() else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the most violated set as 1 for selected documents and 0 for all others; see the kernel."""
        relevant = self.relevant(y)
        true, false = (np.flatnonzero(kind) for kind in (relevant, ~relevant))
        true, false = true[np.argsort(scores[true])], false[np.argsort(-scores[false])]
        exchanges = min(len(true), len(false))
        pays = 1.0 / max(len(true), 1) + 2.0 * (scores[false[:exchanges]] - scores[true[:exchanges]]) > 0.0
        exchanged = int(pays.sum())
        y_hat = relevant.astype(np.float64)
        y_hat[true[:exchanged]] = 0.0
        y_hat[false[:exchanged]] = 1.0
        return y_hat

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all sets of R documents, as 1 for members and 0 for all other documents."""
        subsets = combinations(range(len(y)), int(self.relevant(y).sum()))
        return (np.isin(np.arange(len(y)), documents).astype(np.float64) for documents in subsets)

    def _selected(self, y_hat: Vector, y: Vector) -> BoolVector:
        selected = np.zeros(len(y), dtype=np.bool_)
        selected[rank_documents(y_hat).order[: self.relevant(y).sum()]] = True
        return selected
