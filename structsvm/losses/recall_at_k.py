"""Recall at k."""

from attrs import frozen

from structsvm.losses.kernels.recall_at_k import recall_at_k
from structsvm.losses.top_k import TopKLoss


@frozen
class RecallAtK(TopKLoss):
    """Recall at k that is lost: ``Δ = min(k, R)/R − hits/R``, hits being the relevant documents in the top k.

    No ranking of a query with ``R > k`` relevant documents has a recall of 1, so the loss is
    the distance to the best that one can have. On a query, it is `PrecisionAtK` times ``k/R``.

    Parameters
    ----------
    k : the cut-off, an integer of at least 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    """

    kernel = staticmethod(recall_at_k)

    def cost_of_miss(self, R: int) -> float:
        """Return ``1/R``."""
        return 1.0 / max(R, 1)
