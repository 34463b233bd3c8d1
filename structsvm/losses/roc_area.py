"""Area under the ROC curve."""

import numpy as np
from attrs import frozen

from structsvm.losses.kernels.roc_area import roc_area
from structsvm.losses.pairwise import PairwiseLoss
from structsvm.types import Vector


@frozen
class ROCArea(PairwiseLoss):
    """One minus the area under the ROC curve: the share of pairs in the wrong order.

    Its hinge is ``1/(RN) Σ max(0, 1 − 2(s_i − s_j))`` over the pairs of a relevant i and a
    non-relevant j. Joachims, "A Support Vector Method for Multivariate Performance
    Measures", ICML 2005, section 4.3.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document; None: every label above 0.
    """

    kernel = staticmethod(roc_area)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return the share of pairs in which the non-relevant document is ahead."""
        relevant = self.ranked_relevance(y, y_hat)
        pairs = relevant.sum() * (~relevant).sum()
        return float(np.cumsum(~relevant)[relevant].sum() / pairs) if pairs else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the ranking that swaps a pair exactly where ``s_i − s_j < ½``."""
        return scores + np.where(self.relevant(y), -0.25, 0.25)
