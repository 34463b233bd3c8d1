"""A click model whose propensities decrease as a power of the position."""

import numpy as np
from attrs import field, frozen

from structsvm.clicks.base import ClickModel
from structsvm.foundation.settings import at_least, not_negative
from structsvm.foundation.types import Vector


@frozen
class PowerBias(ClickModel):
    """The position-based model with ``p_k = k^−eta``.

    Parameters
    ----------
    eta : severity; 1 is usual in simulations, 0 means no bias.
    positions : number of positions.

    Examples
    --------
    >>> PowerBias(1.0, 4).propensity.tolist()
    [1.0, 0.5, 0.3333333333333333, 0.25]
    """

    eta: float = field(default=1.0, validator=not_negative)
    positions: int = field(default=10, validator=at_least(1))

    @property
    def propensity(self) -> Vector:
        return np.arange(1, self.positions + 1, dtype=np.float64) ** -self.eta
