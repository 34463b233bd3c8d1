"""Precision at k."""

from attrs import frozen

from structsvm.losses.kernels.precision_at_k import precision_at_k
from structsvm.losses.top_k import TopKLoss


@frozen
class PrecisionAtK(TopKLoss):
    """Precision at k that is lost: ``Δ = min(k, R)/k − hits/k``, hits being the relevant documents in the top k.

    No ranking of a query with ``R < k`` relevant documents has a precision of 1, so the loss
    is the distance to the best that one can have. Ψ is the sum over pairs of `PairwiseLoss`:
    with the one of Joachims, "A Support Vector Method for Multivariate Performance Measures",
    ICML 2005, whose outputs are sets of exactly k documents, the hinge is no upper
    bound unless ``R = k``.

    Parameters
    ----------
    k : the cut-off, an integer of at least 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    """

    kernel = staticmethod(precision_at_k)

    def cost_of_miss(self, R: int) -> float:
        """Return ``1/k``."""
        return 1.0 / self.k
