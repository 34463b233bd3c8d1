"""Learn from clicks: click logs, propensities of positions, and document weights computed from both."""

from structsvm.clicks.base import ClickModel
from structsvm.clicks.log import ClickLog
from structsvm.clicks.position_bias import PositionBias
from structsvm.clicks.power_bias import PowerBias
from structsvm.clicks.simulation import simulate
from structsvm.clicks.weights import weigh

__all__ = ["ClickLog", "ClickModel", "PositionBias", "PowerBias", "simulate", "weigh"]
