"""The loss of the ranking SVM for preference judgments: the share of swapped pairs in a list."""

from typing import Any

import numpy as np
from attrs import evolve, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.types import Matrix
from structsvm.losses.shared.pairs import JudgedPairs, SwappedPairsLoss


@frozen
class PreferencePairs(SwappedPairsLoss):
    """The share of judged pairs in the wrong order, weighted by magnitude.

    The hinge is the ranking SVM's (Joachims, KDD 2002, section 4.2), for listed pairs: ``1/M Σ_p m_p max(0, 1 − (s_i −
    s_j))`` over the pairs p of a better document i and a worse j, with magnitudes m_p and their sum M. `SwappedPairs`
    makes pairs from grades. ``Ψ(x, ŷ) = 1/(2M) Σ_p ŷ_p m_p (x_i − x_j)`` with ``ŷ_p = −1`` if the pair is swapped, else
    1. Pairs may contradict each other. The argmax takes O(n + P) for P pairs of n documents.

    The truth is a `JudgedPairs`; outputs are as in `GradedPairsLoss`. Queries without pairs are not usable.

    Examples
    --------
    >>> from structsvm.rankers import Preferences, RankSVM
    >>> RankSVM(C=10).fit([[1.0], [2.0]], Preferences(better=[1], worse=[0]), [0, 0]).n_pairs_
    1
    """

    def pairs(self, y: JudgedPairs) -> JudgedPairs:
        """Return the pairs with their shares of the sum of magnitudes."""
        return evolve(y, magnitude=y.magnitude / y.magnitude.sum())

    def usable(self, y: JudgedPairs) -> bool:
        """Return True if the query has pairs."""
        if not isinstance(y, JudgedPairs):
            raise InputError(
                f"PreferencePairs learns from one JudgedPairs per query, got {type(y).__name__}: give JudgedPairs to "
                "StructuralSVM, or Preferences to structsvm.rankers.RankSVM. Labels are for SwappedPairs"
            )
        return len(y) > 0

    def swaps_of(self, y_hat: Any, y: JudgedPairs) -> Matrix:
        return np.zeros((2, y.documents)) if isinstance(y_hat, JudgedPairs) else super().swaps_of(y_hat, y)
