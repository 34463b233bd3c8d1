"""What precision and recall at k share: average precision, or the number of relevant documents in the top k."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from structsvm.compute.compilation import compiled_part
from structsvm.compute.sorting import descending
from structsvm.losses.average_precision import AveragePrecision
from structsvm.losses.shared.chosen import ChosenLoss
from structsvm.losses.shared.cost_tables import LARGEST_CUTOFF
from structsvm.losses.shared.pairwise import PairwiseLoss
from structsvm.metrics.ranking import rank_documents
from structsvm.settings import at_least, finite, truth_value
from structsvm.types import Vector


@compiled_part
def missed_in_top(scores: Vector, labels: Vector, k: int, cost: float, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss, ``cost`` a relevant document missed.

    The ranking by score has the largest ``w·Ψ``; more hits than it has would lower the loss
    too. So relevant documents leave the top k one by one, the worst first, each for the best
    of the others below. What a pair adds to ``w·Ψ`` falls with each exchange by
    ``2/(RN)`` times the scores in the wrong order that it makes, which is no less at each
    exchange than at the one before: the first that costs more than it brings ends the search.
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


@frozen
class TopKLoss(PairwiseLoss):
    """A ranking whose loss is a cost for each relevant document that the top k could hold and does not.

    ``Δ = cost · (min(k, R) − hits)``, 0 for the truth. Among rankings with the same hits, the
    best one has each kind of document in descending order of score, and the documents within
    the top k, and those below it, by score alone: only the number of hits is to be found. The
    compiled argmax takes O(n log n), the Python one O(k n log n).

    A query of at most k documents loses nothing, however it is ranked. It stays usable: its
    hinge asks for no margin, but counts the pairs that are in the wrong order.

    Parameters
    ----------
    k : the cut-off, an integer of at least 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    """

    k: int = field(validator=at_least(1))

    @abstractmethod
    def cost_of_miss(self, R: int) -> float:
        """Return what each relevant document costs that is missed, where there are R."""

    def params(self, ys: "list[Vector]") -> Vector:  # type: ignore[override]
        """Return k, or what no query has as many documents as."""
        return np.array([min(self.k, LARGEST_CUTOFF)], dtype=np.float64)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return the cost of the relevant documents that the top k of ŷ misses."""
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
class AtK(ChosenLoss):
    """What trains for a measure of the top k: average precision, or, truncated, the measure itself.

    At full depth precision and recall at k say nothing: all rankings have the same. What looks at all depths
    instead is the precision at the rank of each relevant document, where recall takes its steps: its mean,
    average precision, is the area under the curve of both. Its hinge falls with every pair that
    is put right, while that of the top k alone falls, in lists of many times k documents, for no weights at
    all. So `bind` returns `AveragePrecision`, and the bounds of a fit are those of that.

    Parameters
    ----------
    k : the cut-off of the measure that one reports, an integer of at least 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    truncated : train on the first k documents alone.
    """

    k: int = field(validator=at_least(1))
    relevant_from: float | None = field(default=None, kw_only=True, validator=optional(finite))
    truncated: bool = field(default=False, kw_only=True, validator=truth_value)

    in_top: ClassVar[type[TopKLoss]]
    """The loss of the first k documents."""

    def bind(self, ys: Sequence[Vector]) -> Any:
        """Return average precision, unless truncated."""
        return self if self.truncated else self._meant

    def chosen(self, ys: Sequence[Vector]) -> PairwiseLoss:
        """Return average precision or the loss of the first k documents, whatever the labels."""
        return self._meant

    @property
    def kernel(self) -> Any:
        """The kernel of the one that is meant."""
        return self._meant.kernel

    @cached_property
    def _meant(self) -> PairwiseLoss:
        if self.truncated:
            return self.in_top(self.k, relevant_from=self.relevant_from)
        return AveragePrecision(relevant_from=self.relevant_from)
