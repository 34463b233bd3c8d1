"""Plots in the manner of scikit-learn's Display classes, in one style.

A display stores the data of a plot. ``from_estimator``, ``from_predictions`` and similar constructors compute the data
and draw them. ``plot(ax=None)`` draws them again, on axes of Matplotlib whose style stays unchanged, or on a new figure
in the style of the library; settings of artists, such as ``color``, override those of the display. Afterwards ``ax_``
and ``figure_`` are the axes and their figure. Wrong arguments raise `structsvm.exceptions.InputError`, and
`structsvm.exceptions.NotInstalledError` if Matplotlib, the extra ``plot``, is missing.
``matplotlib.pyplot.style.use(STYLE)`` applies the style to other figures.
"""

from structsvm.plots.convergence import ConvergenceDisplay
from structsvm.plots.differences import QueryDifferencesDisplay
from structsvm.plots.feature_elimination import FeatureEliminationDisplay
from structsvm.plots.feature_importance import FeatureImportanceDisplay
from structsvm.plots.fusion_weights import FusionWeightsDisplay
from structsvm.plots.interpolated_precision import InterpolatedPrecisionDisplay
from structsvm.plots.means import MeansDisplay
from structsvm.plots.regularization_path import RegularizationPathDisplay
from structsvm.plots.reliability import ReliabilityDisplay
from structsvm.plots.style import COLORS, STYLE
from structsvm.plots.weights import WeightsDisplay

__all__ = [
    "COLORS",
    "STYLE",
    "ConvergenceDisplay",
    "FeatureEliminationDisplay",
    "FeatureImportanceDisplay",
    "FusionWeightsDisplay",
    "InterpolatedPrecisionDisplay",
    "MeansDisplay",
    "QueryDifferencesDisplay",
    "RegularizationPathDisplay",
    "ReliabilityDisplay",
    "WeightsDisplay",
]
