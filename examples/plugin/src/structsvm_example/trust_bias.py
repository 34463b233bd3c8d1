"""A click model in which users trust the order of results."""

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.clicks import ClickModel


@frozen
class TrustBias(ClickModel):
    """Users examine position k with probability ``k^−eta``, and click irrelevant documents near the top by mistake.

    An examined document is clicked with probability ``1 − 1 / (k + 1)`` more if it is relevant than if it is not, and
    with probability ``trust / (k + 1)`` if it is not (after Agarwal, Wang, Li, Bendersky and Najork, "Addressing trust
    bias for unbiased learning-to-rank", WWW 2019).

    Parameters
    ----------
    trust : probability of a click on an examined irrelevant document, times k + 1; from 0 to 1.
    eta : severity of the bias of positions.
    positions : number of positions.
    """

    trust: float = 0.5
    eta: float = 1.0
    positions: int = 10

    @property
    def propensity(self) -> NDArray[np.float64]:
        """See `ClickModel.propensity`."""
        return self._examined() * (1.0 - 1.0 / (self._k() + 1.0))

    @property
    def offset(self) -> NDArray[np.float64]:
        """See `ClickModel.offset`."""
        return self._examined() * self.trust / (self._k() + 1.0)

    def _k(self) -> NDArray[np.float64]:
        return np.arange(1, self.positions + 1, dtype=np.float64)

    def _examined(self) -> NDArray[np.float64]:
        return self._k() ** -self.eta
