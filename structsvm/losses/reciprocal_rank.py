"""The loss for the reciprocal rank of the first relevant document."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.foundation.types import IntVector
from structsvm.losses.shared.interleaving import InterleavingLoss


@frozen
class ReciprocalRank(InterleavingLoss):
    """One minus the reciprocal rank of the first relevant document, ``Δ = 1 − 1/rank``; its mean is 1 − MRR.

    Ψ is as in `PairwiseLoss`. The compiled argmax takes O(n log n) for n documents.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker("mrr", C=10).fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).result_.converged
    True
    """

    def cost(self, k: IntVector, j: IntVector, R: int, N: int) -> NDArray[Any]:
        return np.where(k == 1, j / (1 + j), 0.0)
