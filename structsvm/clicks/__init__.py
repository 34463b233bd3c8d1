"""Learning from clicks: click logs, propensities of positions, and weights of documents computed from both."""

from structsvm.clicks.log import ClickLog
from structsvm.clicks.maximum_likelihood import from_interventions, from_log
from structsvm.clicks.model import ClickModel
from structsvm.clicks.position_bias import PositionBias, PowerBias, from_randomised
from structsvm.clicks.simulation import simulate
from structsvm.clicks.weights import WeightedClicks, weigh

__all__ = [
    "ClickLog",
    "ClickModel",
    "PositionBias",
    "PowerBias",
    "WeightedClicks",
    "from_interventions",
    "from_log",
    "from_randomised",
    "simulate",
    "weigh",
]
