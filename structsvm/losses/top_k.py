"""What precision and recall at k share: the number of relevant documents in the top k."""

from abc import abstractmethod

import numpy as np
from attrs import field, frozen

from structsvm.losses.cost_tables import LARGEST_CUTOFF
from structsvm.losses.pairwise import PairwiseLoss
from structsvm.metrics.ranking import rank_documents
from structsvm.settings import at_least
from structsvm.types import Vector


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
