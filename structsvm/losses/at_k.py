"""Losses for precision and recall at k, trained by average precision or by the hits in the top k."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.settings import at_least, truth_value
from structsvm.foundation.types import Vector
from structsvm.losses.average_precision import AveragePrecision
from structsvm.losses.shared.cost_tables import LARGEST_CUTOFF
from structsvm.losses.shared.relevance import PairwiseLoss
from structsvm.metrics.ranking import rank_documents


@compiled_part
def missed_in_top(scores: Vector, labels: Vector, k: int, cost: float, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss, ``cost`` per missed relevant document.

    The ranking by score has the largest ``w·Ψ``. Relevant documents leave its top k one by one, the worst first, each
    for the best other document below. The loss of ``w·Ψ`` never falls from one exchange to the next, so the search ends
    at the first exchange that costs more than it gains.
    """
    order = descending(scores)
    n = len(scores)
    R = 0
    for document in range(n):
        if labels[document] > 0.0:
            R += 1
    N = n - R
    out[:] = 0.0
    if R == 0 or N == 0:
        return 0.0

    relevant = np.empty(R, np.int64)
    other = np.empty(N, np.int64)
    others_before = np.empty(R, np.int64)
    relevant_before = np.empty(N, np.int64)
    relevant_sum = np.zeros(R + 1)
    other_sum = np.zeros(N + 1)
    depth = min(k, n)
    hits = 0
    i = 0
    j = 0
    for document in order:
        if labels[document] > 0.0:
            relevant[i] = document
            others_before[i] = j
            relevant_sum[i + 1] = relevant_sum[i] + scores[document]
            i += 1
        else:
            other[j] = document
            relevant_before[j] = i
            other_sum[j + 1] = other_sum[j] + scores[document]
            j += 1
        if i + j == depth:
            hits = i

    scale = 2.0 / (R * N)
    others = depth - hits
    while hits > 0 and others < N:
        out_score = scores[relevant[hits - 1]]
        in_score = scores[other[others]]
        first = others_before[hits - 1]
        last = relevant_before[others]
        passed = (others + 1 - first) * out_score - (other_sum[others + 1] - other_sum[first])
        passing = relevant_sum[last] - relevant_sum[hits] - (last - hits) * in_score
        if scale * (passed + passing) >= cost:
            break
        hits -= 1
        others += 1

    others_ahead = 0
    relevant_behind = R
    for below in range(2):
        i = 0
        j = 0
        for document in order:
            if labels[document] > 0.0:
                if (i >= hits) == (below == 1):
                    relevant_behind -= 1
                    out[document] = scale * others_ahead
                i += 1
            else:
                if (j >= others) == (below == 1):
                    others_ahead += 1
                    out[document] = -scale * relevant_behind
                j += 1
    return cost * (min(k, R) - hits)


def precision_at_k(scores: Vector, labels: Vector, k: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: 1/k for each missed relevant document."""
    return missed_in_top(scores, labels, int(k[0]), 1.0 / k[0], out)


def recall_at_k(scores: Vector, labels: Vector, k: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: 1/R for each missed relevant document."""
    R = 0
    for document in range(len(labels)):
        if labels[document] > 0.0:
            R += 1
    return missed_in_top(scores, labels, int(k[0]), 1.0 / max(R, 1), out)


@frozen
class TopKLoss(PairwiseLoss):
    """A loss of rankings with a cost per missed relevant document of the top k: ``Δ = cost · (min(k, R) − hits)``.

    The best ranking with a given number of hits sorts each kind by score, and the top k and the rest by score alone.
    Only the number of hits must be found: O(n log n) compiled, O(k n log n) in Python. Queries of at most k documents
    have no loss, but they stay usable: their hinge counts the pairs in the wrong order.
    """

    k: int = field(validator=at_least(1))
    truncated: bool = field(default=False, kw_only=True, validator=truth_value)

    def bind(self, ys: Sequence[Vector]) -> Any:
        """Return `AveragePrecision`, unless truncated."""
        # The hinge of the top k alone does not fall for any weights in lists of many times k documents.
        return self if self.truncated else AveragePrecision(relevant_from=self.relevant_from)

    @abstractmethod
    def cost_of_miss(self, R: int) -> float:
        """Return the cost of a missed relevant document if R documents are relevant."""

    def params(self, ys: "list[Vector]") -> Vector:  # type: ignore[override]
        """Return k, limited to the largest supported cut-off."""
        return np.array([min(self.k, LARGEST_CUTOFF)], dtype=np.float64)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        relevant = self.ranked_relevance(y, y_hat)
        R, hits = int(relevant.sum()), int(relevant[: self.k].sum())
        return self.cost_of_miss(R) * (min(self.k, R) - hits)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the best of the rankings with 0, 1, ..., min(k, R) hits."""
        order = rank_documents(scores).order
        relevant = self.relevant(y)[order]
        R, N = int(relevant.sum()), int((~relevant).sum())
        depth = min(self.k, R + N)
        number = np.where(relevant, np.cumsum(relevant), np.cumsum(~relevant))

        def ranking(hits: int) -> Vector:
            top = number <= np.where(relevant, hits, depth - hits)
            places = np.empty(len(order))
            places[np.concatenate([order[top], order[~top]])] = np.arange(len(order))
            return -places

        rankings = (ranking(hits) for hits in range(max(0, depth - N), min(depth, R) + 1))
        return max(rankings, key=lambda y_hat: self.loss(y, y_hat) + float(scores @ self.encode(y_hat, y)))


@frozen
class PrecisionAtK(TopKLoss):
    """The loss of precision at k: ``Δ = (min(k, R) − hits)/k`` for ``hits`` of R relevant documents in the top k.

    Unless ``truncated``, fits train `AveragePrecision` instead, because the hinge of the first k documents alone is too
    loose a bound in longer lists. For sets of exactly k documents, as in Joachims, "A Support Vector Method for
    Multivariate Performance Measures", ICML 2005, the hinge would be an upper bound only if ``R = k``.

    Parameters
    ----------
    k : the cut-off of the reported measure, an integer of at least 1.
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.
    truncated : train on the first k documents only.

    Examples
    --------
    >>> from structsvm.registry import losses
    >>> losses.create("p@5") == PrecisionAtK(5)
    True
    """

    kernel = staticmethod(precision_at_k)

    def cost_of_miss(self, R: int) -> float:
        return 1.0 / self.k


@frozen
class RecallAtK(TopKLoss):
    """The loss of recall at k: ``Δ = (min(k, R) − hits)/R``. R, hits and training are as in `PrecisionAtK`.

    Parameters
    ----------
    k, relevant_from, truncated : as in `PrecisionAtK`.

    Examples
    --------
    >>> from structsvm.registry import losses
    >>> losses.create("recall@10") == RecallAtK(10)
    True
    """

    kernel = staticmethod(recall_at_k)

    def cost_of_miss(self, R: int) -> float:
        return 1.0 / max(R, 1)
