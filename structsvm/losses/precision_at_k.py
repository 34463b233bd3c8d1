"""Precision at k."""

from attrs import frozen

from structsvm.losses.shared.top_k import AtK, TopKLoss, missed_in_top
from structsvm.types import Vector


def precision_at_k(scores: Vector, labels: Vector, k: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: 1/k for each relevant document that is missed."""
    return missed_in_top(scores, labels, int(k[0]), 1.0 / k[0], out)


@frozen
class TruncatedPrecision(TopKLoss):
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

    title = "PrecisionAtK"
    kernel = staticmethod(precision_at_k)

    def cost_of_miss(self, R: int) -> float:
        """Return ``1/k``."""
        return 1.0 / self.k


@frozen
class PrecisionAtK(AtK):
    """Precision at k, trained as average precision unless truncated.

    ``PrecisionAtK(k=5)`` is `AveragePrecision` once it is bound to a training set, for the reason that `AtK` gives.
    With ``truncated``, ``Δ = min(k, R)/k − hits/k``, as `TruncatedPrecision` has it.

    Parameters
    ----------
    k : the cut-off of the measure that one reports, an integer of at least 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    truncated : train on the first k documents alone: Δ is then the precision at k that is lost.

    Examples
    --------
    >>> from structsvm.losses import PrecisionAtK
    >>> from structsvm.registry import losses
    >>> losses.create("p@5") == PrecisionAtK(5)
    True
    """

    in_top = TruncatedPrecision
