"""Plots in the manner of scikit-learn's Display classes, in one style.

A display holds what is drawn and nothing else; ``from_estimator``, ``from_predictions`` and the like compute that and
draw it, ``plot(ax=None)`` draws it again, and what was drawn is in ``ax_``, ``figure_``, ``lines_`` and so on.
``matplotlib.pyplot.style.use(STYLE)`` puts a figure of one's own in the same style. Matplotlib, the extra ``plot``, is
imported when something is drawn.
"""

from structsvm.plots.base import Display
from structsvm.plots.convergence import ConvergenceDisplay
from structsvm.plots.differences import QueryDifferencesDisplay
from structsvm.plots.fusion_weights import FusionWeightsDisplay
from structsvm.plots.interpolated_precision import InterpolatedPrecisionDisplay
from structsvm.plots.mean_curves import MeanCurvesDisplay
from structsvm.plots.regularisation_path import RegularisationPathDisplay
from structsvm.plots.style import COLOURS, STYLE
from structsvm.plots.weights import WeightsDisplay

__all__ = [
    "COLOURS",
    "STYLE",
    "ConvergenceDisplay",
    "Display",
    "FusionWeightsDisplay",
    "InterpolatedPrecisionDisplay",
    "MeanCurvesDisplay",
    "QueryDifferencesDisplay",
    "RegularisationPathDisplay",
    "WeightsDisplay",
]
