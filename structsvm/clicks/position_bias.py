"""How likely each position is examined: the position-based model of clicks."""

from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.arrays import numbers
from structsvm.clicks.log import ClickLog
from structsvm.exceptions import InputError
from structsvm.settings import require_integer, require_kind, require_number
from structsvm.types import IntVector, Vector


def _propensities(values: Any) -> Vector:
    given = numbers(values, "propensity")
    if given.ndim != 1 or not len(given) or not ((given > 0.0) & np.isfinite(given)).all():
        raise InputError(f"propensity must be a vector of positive finite numbers, one a position, got {given}")
    return given


@frozen(eq=False)
class PositionBias:
    """The position-based model: a document is clicked where it is examined and looks relevant.

    ``P(click on d at position k) = p_k · P(d looks relevant)``. Clicks tell the ``p_k`` up to a factor alone, so that
    estimates have ``p_1 = 1`` (Joachims, Swaminathan and Schnabel, WSDM 2017, section 5.2).

    Parameters
    ----------
    propensity : p, shape (positions,), each above 0.

    Examples
    --------
    >>> from structsvm.clicks import PositionBias
    >>> PositionBias.power(1.0, 4).propensity.tolist()
    [1.0, 0.5, 0.3333333333333333, 0.25]
    """

    propensity: Vector = field(converter=_propensities)

    @classmethod
    def power(cls, eta: float, positions: int) -> Self:
        """Return ``p_k = k^−eta`` of so many positions; eta = 1 is the usual severity of simulations."""
        require_number("eta", eta, at_least=0.0)
        require_integer("positions", positions, 1)
        return cls(np.arange(1, positions + 1, dtype=np.float64) ** -eta)

    def at(self, position: IntVector) -> Vector:
        """Return the propensity of each of some positions, from 1.

        Raises
        ------
        InputError : when there is none for one of them.
        """
        last = int(np.max(position, initial=0))
        if last > len(self.propensity):
            raise InputError(
                f"there are propensities of {len(self.propensity)} positions, and the log has position {last}: "
                "estimate them from a log that has it"
            )
        return np.asarray(self.propensity[np.asarray(position) - 1])


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
