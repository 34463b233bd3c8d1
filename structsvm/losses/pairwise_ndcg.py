"""Normalised discounted cumulative gain for two kinds of document."""

from typing import Any

import numpy as np
from attrs import field, frozen
from attrs.validators import optional
from numpy.typing import NDArray

from structsvm.losses.interleaving import InterleavingLoss
from structsvm.metrics.discounts import Discount, discounts
from structsvm.settings import at_least, one_of
from structsvm.types import IntVector


@frozen
class PairwiseNDCG(InterleavingLoss):
    """One minus NDCG of rankings with two kinds of document, encoded by pairs: what `NDCG` is for binary labels.

    ``cost(k, j) = (d(k) − d(k + j)) / (d(1) + ... + d(R))`` with the discount d of a rank. It is
    concave in j for the standard discount without a cut-off.

    Parameters
    ----------
    k, discount, relevant_from : as in `NDCG`.
    """

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))

    def cost(self, k: IntVector, j: IntVector, R: int, N: int) -> NDArray[Any]:
        """Return the discount that the document loses, over the ideal DCG."""
        discount = discounts(R + N, self.discount, self.k)
        return np.asarray((discount[k - 1] - discount[k + j - 1]) / discount[:R].sum())
