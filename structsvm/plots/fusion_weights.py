"""Plot the weights that fusion methods give to systems."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import require_kind
from structsvm.foundation.types import Matrix, Vector
from structsvm.plots.base import Display, as_texts, named, require_fitted, vector
from structsvm.plots.style import COLORS, INK, artist_settings, as_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

_MARKERS = "oDs^vP"
_BESIDE = 0.7
"""Share of a row's height for the fusions with several fits."""


class FusionWeightsDisplay(Display):
    """Weights of fused systems: a row for each system, a marker for each fusion.

    The plot shows shares: weights divided by the sum of their absolute values, because the scale of weights does not
    change a ranking. For a fusion with several fits, it shows the mean, and a line over the fits' middle half.

    Parameters
    ----------
    weights : for each fusion by name, the weights of the systems, shape (systems,), or (fits, systems) of several fits.
    systems : names of the systems; None: "system 1", "system 2", ...

    Attributes
    ----------
    lines_ : the markers of each fusion, in the order of ``weights``.
    spread_lines_ : the lines over the middle half, for each fusion of several fits by name.
    shares : the shares of each fusion, by name, shape (systems,).
    middle_halves : for each fusion of several fits by name, lower and upper quartiles of the shares, shape (2,
        systems).

    Examples
    --------
    >>> from structsvm.fusion import WeightedCombSUM
    >>> fusion = WeightedCombSUM(None).fit([[3.0, 1.0], [2.0, 5.0], [1.0, 4.0]], [1, 0, 0])
    >>> display = FusionWeightsDisplay.from_estimator(fusion, ["BM25", "TF-IDF"])
    >>> display.shares["WeightedCombSUM"].tolist()
    [0.75, 0.25]
    """

    def __init__(self, weights: Mapping[str, ArrayLike], systems: Any = None) -> None:
        require_kind("weights", weights, Mapping, "weights of each fusion, by name")
        self.shares: dict[str, Vector] = {}
        self.middle_halves: dict[str, Matrix] = {}
        length: int | None = None
        for name, fit in named("weights", weights, "").items():
            what = f"the weights of {name!r}"
            array = numbers(fit, what)
            fits = [vector(row, what, length=length) for row in (array if array.ndim == 2 and len(array) else [array])]
            length, total = len(fits[0]), np.abs(fits).sum(axis=1, keepdims=True)
            if not total.all():
                raise InputError(
                    f"{what} are all 0{' in a fit' * (len(fits) > 1)}, so they have no shares: leave the fusion out"
                )
            shares = fits / total
            self.shares[name] = shares.mean(axis=0)
            if len(fits) > 1:
                self.middle_halves[name] = np.quantile(shares, [0.25, 0.75], axis=0)
        labels = [f"system {k}" for k in range(1, (length or 0) + 1)] if systems is None else systems
        self.systems = as_texts(labels, "systems", length or 0)

    @classmethod
    def from_estimator(cls, estimator: Any, systems: Any = None, *, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the weights of a fitted `WeightedCombSUM` or linear ranker of scores, or of several by name."""
        weights = {}
        for name, single in named("estimator", estimator, "").items():
            values = getattr(require_fitted(single), "weights_", getattr(single, "coef_", None))
            if values is None:
                raise InputError(
                    f"{type(single).__name__} has no weights of systems: give a fitted WeightedCombSUM, or a fitted "
                    "linear ranker of their scores"
                )
            weights[name or type(single).__name__] = values
        return cls(weights, systems).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.plot` for all markers."""
        places = np.arange(len(self.systems))
        with self._drawing(ax, (self._size[0], 0.9 + 0.24 * max(len(places), 4))) as axes:
            self.lines_: list[Line2D] = []
            self.spread_lines_: dict[str, LineCollection] = {}
            axes.axvline(0.0, color=INK, linewidth=0.6)
            steps = np.arange(len(self.shares)) - (len(self.shares) - 1) / 2.0
            shifts = steps * (_BESIDE / len(self.shares) if self.middle_halves else 0.0)
            for number, (name, share) in enumerate(self.shares.items()):
                heights = places + shifts[number]
                defaults = {
                    "color": COLORS[number % len(COLORS)],
                    "marker": _MARKERS[number % len(_MARKERS)],
                    "linestyle": "",
                    "markersize": 5.0,
                    "alpha": 0.85,
                    "label": as_label(name),
                }
                self.lines_ += axes.plot(share, heights, **artist_settings("lines.Line2D", defaults, kwargs))
                if name in self.middle_halves:
                    color = self.lines_[-1].get_color()
                    ends = self.middle_halves[name]
                    self.spread_lines_[name] = axes.hlines(heights, *ends, color=color, linewidth=1.0, alpha=0.85)
            axes.set_yticks(places, labels=list(map(as_label, self.systems)))
            axes.invert_yaxis()
            axes.set_xlabel("share of the weights")
            if len(self.shares) > 1:
                axes.legend()
        return self
