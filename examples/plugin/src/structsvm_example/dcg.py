"""Discounted cumulative gain with a discount of the user's choice, as a loss."""

import math
from typing import Any

import numpy as np
from attrs import Attribute, field, frozen
from attrs.validators import ge, optional
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.losses import InterleavingLoss


def _base(loss: "DCG", attribute: "Attribute[float]", value: float) -> None:
    if not 1.0 < value < math.inf:
        raise InputError(f"DCG(discount=...) is the base of a logarithm: a finite number above 1, got {value!r}")


@frozen
class DCG(InterleavingLoss):
    """One minus the share of the ideal discounted cumulative gain, for documents that are relevant or not.

    A relevant document at rank r gains ``1 / max(1, log_b r)``: up to rank b nothing is
    discounted. A small b stands for an impatient user, a large one for a patient one
    (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20, 2002).

    Parameters
    ----------
    k : only the first k documents count. None: all.
    discount : the base b of the logarithm, above 1.
    relevant_from : smallest label of a relevant document; None: every label above 0.
    """

    k: int | None = field(default=None, validator=optional(ge(1)))
    discount: float = field(default=2.0, kw_only=True, validator=_base)

    def cost(self, k: NDArray[np.int64], j: NDArray[np.int64], R: int, N: int) -> NDArray[Any]:
        """Return the gain that the k-th relevant document loses, over the ideal DCG."""
        gain = self._gains(R + N)
        return np.asarray((gain[k - 1] - gain[k + j - 1]) / gain[:R].sum())

    def _gains(self, ranks: int) -> NDArray[np.float64]:
        """Return the gain of a relevant document at each rank from 1."""
        rank = np.arange(1, ranks + 1)
        gain: NDArray[np.float64] = 1.0 / np.maximum(1.0, np.log(rank) / np.log(self.discount))
        if self.k is not None:
            gain[self.k :] = 0.0
        return gain
