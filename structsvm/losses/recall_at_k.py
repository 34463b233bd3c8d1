"""Recall at k."""

from attrs import frozen

from structsvm.losses.shared.top_k import AtK, TopKLoss, missed_in_top
from structsvm.types import Vector


def recall_at_k(scores: Vector, labels: Vector, k: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: 1/R for each relevant document that is missed."""
    R = 0
    for document in range(len(labels)):
        if labels[document] > 0.0:
            R += 1
    return missed_in_top(scores, labels, int(k[0]), 1.0 / max(R, 1), out)


@frozen
class TruncatedRecall(TopKLoss):
    """Recall at k that is lost: ``Δ = min(k, R)/R − hits/R``, hits being the relevant documents in the top k.

    No ranking of a query with ``R > k`` relevant documents has a recall of 1, so the loss is
    the distance to the best that one can have. On a query, it is `TruncatedPrecision` times ``k/R``.

    Parameters
    ----------
    k : the cut-off, an integer of at least 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    """

    title = "RecallAtK"
    kernel = staticmethod(recall_at_k)

    def cost_of_miss(self, R: int) -> float:
        """Return ``1/R``."""
        return 1.0 / max(R, 1)


@frozen
class RecallAtK(AtK):
    """Recall at k, trained as average precision unless truncated.

    ``RecallAtK(k=10)`` is `AveragePrecision` once it is bound to a training set, for the reason that `AtK` gives. With
    ``truncated``, ``Δ = min(k, R)/R − hits/R``, as `TruncatedRecall` has it.

    Parameters
    ----------
    k : the cut-off of the measure that one reports, an integer of at least 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    truncated : train on the first k documents alone: Δ is then the recall at k that is lost.

    Examples
    --------
    >>> from structsvm.losses import RecallAtK
    >>> from structsvm.registry import losses
    >>> losses.create("recall@10") == RecallAtK(10)
    True
    """

    in_top = TruncatedRecall
