"""What the losses of binary rankings share: relevance, and Ψ as a sum over pairs."""

from collections.abc import Iterable
from itertools import permutations

import numpy as np
from attrs import frozen

from structsvm.losses.shared.relevance import RelevanceLoss
from structsvm.metrics.ranking import rank_documents
from structsvm.types import BoolVector, Vector


@frozen
class PairwiseLoss(RelevanceLoss):
    """A ranking with two kinds of document, encoded by its pairs of a relevant and a non-relevant one.

    ``Ψ(x, y) = 1/(RN) Σ_i Σ_j y_ij (x_i − x_j)`` over relevant i and non-relevant j, with
    ``y_ij = 1`` where i is ahead of j and −1 elsewhere (Yue, Finley, Radlinski and Joachims,
    2007, section 3; Joachims, 2005). An output is one number per document, larger is ahead;
    ties are in document order. The labels of the truth are such an output too. Queries without
    both kinds of document are not usable.

    Derive from it and write ``loss`` and an exact ``loss_augmented_argmax``; the encoding, the
    prediction and the list of outputs for ``check_loss`` are here.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document; None: every label above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Ranker
    >>> from structsvm.losses import PairwiseLoss
    >>> class WrongFirst(PairwiseLoss):  # 1 where the first document is not relevant
    ...     def loss(self, y, y_hat):
    ...         return float(not self.ranked_relevance(y, y_hat)[0])
    ...     def loss_augmented_argmax(self, scores, y):
    ...         relevant = self.relevant(y)
    ...         other = np.flatnonzero(~relevant)[np.argmax(scores[~relevant])]  # the best to be first
    ...         price = 2.0 * np.mean(np.maximum(scores[relevant] - scores[other], 0.0)) / np.sum(~relevant)
    ...         first = np.arange(len(y)) == other
    ...         return np.where(first, scores.max() + 1.0, scores) if price < 1.0 else scores
    >>> Ranker(WrongFirst(), C=10).fit([[1.0], [2.0], [4.0]], [0, 1, 1], qid=[1, 1, 1]).result_.converged
    True
    """

    def ranked_relevance(self, y: Vector, y_hat: Vector) -> BoolVector:
        """Say for each rank of ŷ, best first, whether a relevant document holds it."""
        return self.relevant(y)[rank_documents(y_hat).order]

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return the coefficient of each document.

        That is ``(N − 2a)/(RN)`` for a relevant document with a non-relevant ones ahead of it,
        and ``(2b − R)/(RN)`` for a non-relevant document with b relevant ones behind it.
        """
        order = rank_documents(y_hat).order
        relevant = self.relevant(y)[order]
        R, N = relevant.sum(), (~relevant).sum()
        ahead = np.cumsum(~relevant)
        behind = R - np.cumsum(relevant)
        code = np.empty(len(order))
        code[order] = np.where(relevant, N - 2 * ahead, 2 * behind - R) / max(R * N, 1)
        return code

    def argmax(self, scores: Vector) -> Vector:
        """Return the scores: sorting by them maximises ``w·Ψ``."""
        return scores

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all complete rankings."""
        return (np.array(ranking, dtype=np.float64) for ranking in permutations(range(len(y))))
