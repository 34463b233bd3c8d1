"""Plot models, fits and evaluations, with classes like scikit-learn's displays.

A display stores the data of a plot. ``from_estimator``, ``from_predictions`` and similar constructors compute the data
and draw them. ``plot(ax=None)`` draws them again, on a new figure in the style of the library, or on axes of
Matplotlib, whose style does not change. Settings of artists, such as ``color``, override the settings of the display.
Afterwards, ``ax_`` and ``figure_`` are the axes and their figure. Plots need Matplotlib, the extra ``plot``; without
it, they raise `structsvm.exceptions.NotInstalledError`. For other figures, ``matplotlib.pyplot.style.use(STYLE)``
applies the style.
"""

from structsvm.plots.convergence import ConvergenceDisplay
from structsvm.plots.differences import QueryDifferencesDisplay
from structsvm.plots.feature_elimination import FeatureEliminationDisplay
from structsvm.plots.feature_importance import FeatureImportanceDisplay
from structsvm.plots.fusion_weights import FusionWeightsDisplay
from structsvm.plots.interpolated_precision import InterpolatedPrecisionDisplay
from structsvm.plots.means import MeansDisplay
from structsvm.plots.performance_profile import performance_profile
from structsvm.plots.regularization_path import RegularizationPathDisplay
from structsvm.plots.reliability import ReliabilityDisplay
from structsvm.plots.solver_gaps import gap_against_time
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
    "gap_against_time",
    "performance_profile",
]
