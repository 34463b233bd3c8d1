"""A click model whose propensities fall with the position as a power."""

import numpy as np
from attrs import frozen

from structsvm.clicks.base import ClickModel
from structsvm.foundation.settings import require_integer, require_number
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
    >>> from structsvm.clicks import PowerBias
    >>> PowerBias(1.0, 4).propensity.tolist()
    [1.0, 0.5, 0.3333333333333333, 0.25]
    """

    eta: float = 1.0
    positions: int = 10

    def __attrs_post_init__(self) -> None:
        require_number("eta", self.eta, at_least=0.0)
        require_integer("positions", self.positions, 1)

    @property
    def propensity(self) -> Vector:
        return np.arange(1, self.positions + 1, dtype=np.float64) ** -self.eta
