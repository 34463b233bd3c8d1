"""The position-based model of clicks: how likely each position is examined."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.arrays import numbers
from structsvm.clicks.log import ClickLog
from structsvm.clicks.model import ClickModel
from structsvm.exceptions import InputError
from structsvm.settings import require_integer, require_kind, require_number
from structsvm.types import Vector


def _propensities(values: Any) -> Vector:
    given = numbers(values, "propensity")
    if given.ndim != 1 or not len(given) or not ((given > 0.0) & np.isfinite(given)).all():
        raise InputError(f"propensity must be a vector of positive finite numbers, one a position, got {given}")
    return given


@frozen(eq=False)
class PositionBias(ClickModel):
    """The position-based model: a document is clicked where it is examined and looks relevant.

    ``P(click on d at position k) = p_k · P(d looks relevant)``. Clicks tell the ``p_k`` up to a factor alone, so that
    estimates have ``p_1 = 1`` (Joachims, Swaminathan and Schnabel, WSDM 2017, section 5.2).

    Parameters
    ----------
    propensity : p, shape (positions,), each above 0.

    Examples
    --------
    >>> from structsvm.clicks import PositionBias
    >>> PositionBias([1.0, 0.4]).at([2, 1]).tolist()
    [0.4, 1.0]
    """

    propensity: Vector = field(converter=_propensities)


@frozen
class PowerBias(ClickModel):
    """The position-based model with ``p_k = k^−eta``.

    Parameters
    ----------
    eta : severity; 1 is the usual one of simulations, 0 no bias.
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
        """See `ClickModel.propensity`."""
        return np.arange(1, self.positions + 1, dtype=np.float64) ** -self.eta


def from_randomised(log: ClickLog) -> PositionBias:
    """Estimate propensities from a log in which documents were shown at random positions.

    There the mean relevance is that of all documents at each position, so that rates of clicks are proportional
    to propensities (Wang, Bendersky, Metzler and Najork, "Learning to rank with selection bias in personal search",
    SIGIR 2016). It is the least assuming of the estimates, and costs the users of the results in random order.

    Parameters
    ----------
    log : clicks on documents in random order.

    Raises
    ------
    InputError : when a position up to the last one has no clicks.

    Examples
    --------
    >>> from structsvm.clicks import ClickLog, from_randomised
    >>> log = ClickLog.of([1, 1, 1, 1], ["a", "b", "a", "b"], [1, 2, 2, 1], clicks=[8, 1, 4, 2], impressions=[10] * 4)
    >>> from_randomised(log).propensity.tolist()
    [1.0, 0.5]
    """
    require_kind("log", log, ClickLog, "a ClickLog")
    clicks = np.bincount(log.position - 1, log.clicks, log.positions)
    impressions = np.bincount(log.position - 1, log.impressions, log.positions)
    require_clicks(clicks)
    rates = clicks / impressions
    return PositionBias(rates / rates[0])


def require_clicks(clicks: NDArray[Any]) -> None:
    """Require a click at each position.

    Raises
    ------
    InputError : it names the first without.
    """
    if not len(clicks):
        raise InputError("the log is empty: propensities are estimated from clicks")
    if not clicks.all():
        raise InputError(
            f"no document was clicked at position {int(np.argmin(clicks)) + 1}, so that its propensity is not known: "
            "take a longer log, or leave out the rows of this position and those behind it"
        )
