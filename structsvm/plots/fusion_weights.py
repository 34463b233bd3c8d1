"""What fusions weigh the systems by."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.plots.base import Display, fitted, named, texts, vector
from structsvm.plots.style import COLOURS, INK, as_label, chosen
from structsvm.settings import require_kind
from structsvm.types import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_MARKERS = "oDs^vP"


class FusionWeightsDisplay(Display):
    """Weights of the systems that are fused: a row for each system, a marker for each fusion.

    A multiple of all weights ranks alike, so that those of each fusion are divided by the sum of their absolute
    values: what is drawn are shares.

    Parameters
    ----------
    weights : for each fusion, by name, a weight for each system, shape (systems,).
    systems : names of the systems; None: "system 1", "system 2" and so on.

    Attributes
    ----------
    ax_, figure_ : see `Display`.
    lines_ : the markers of each fusion, in the order of ``weights``.
    shares : for each fusion, by name, what is drawn, shape (systems,).

    Examples
    --------
    >>> from structsvm.fusion import WeightedCombSUM
    >>> from structsvm.plots import FusionWeightsDisplay
    >>> fusion = WeightedCombSUM("none").fit([[3.0, 1.0], [2.0, 5.0], [1.0, 4.0]], [1, 0, 0])
    >>> display = FusionWeightsDisplay.from_estimator(fusion, ["BM25", "TF-IDF"])
    >>> display.shares["WeightedCombSUM"].tolist()
    [0.75, 0.25]
    """

    def __init__(self, weights: Mapping[str, ArrayLike], systems: Any = None) -> None:
        require_kind("weights", weights, Mapping, "weights of each fusion, by name")
        self.shares: dict[str, Vector] = {}
        length: int | None = None
        for name, each in named("weights", weights, "").items():
            found = vector(each, f"the weights of {name!r}", length=length)
            length, total = len(found), np.abs(found).sum()
            if total == 0.0:
                raise InputError(f"the weights of {name!r} are all 0: there are no shares to draw")
            self.shares[name] = found / total
        known = [f"system {k}" for k in range(1, (length or 0) + 1)] if systems is None else systems
        self.systems = texts(known, "systems", length or 0)

    @classmethod
    def from_estimator(cls, estimator: Any, systems: Any = None, *, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the weights of fitted fusions.

        Parameters
        ----------
        estimator : a fitted `structsvm.fusion.WeightedCombSUM` or a linear ranker of the systems' scores, or several
            by name.
        systems : see the class.
        ax, **kwargs : see `plot`.

        Raises
        ------
        NotInstalledError : when Matplotlib is missing.
        NotFittedError : of scikit-learn, when one is not fitted.
        InputError : one has no weights.
        """
        weights = {}
        for name, each in named("estimator", estimator, "").items():
            found = getattr(fitted(each), "weights_", getattr(each, "coef_", None))
            if found is None:
                raise InputError(
                    f"{type(each).__name__} has no weights of systems: give a fitted WeightedCombSUM, or a fitted "
                    "linear ranker of their scores"
                )
            weights[name or type(each).__name__] = found
        return cls(weights, systems).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw it; see `Display.plot`. ``**kwargs`` are those of `matplotlib.axes.Axes.plot`, for all markers."""
        places = np.arange(len(self.systems))
        with self._drawing(ax, (self._size[0], 0.9 + 0.24 * max(len(places), 4))) as axes:
            self.lines_: list[Line2D] = []
            axes.axvline(0.0, color=INK, linewidth=0.6)
            for number, (name, share) in enumerate(self.shares.items()):
                own = {
                    "color": COLOURS[number % len(COLOURS)],
                    "marker": _MARKERS[number % len(_MARKERS)],
                    "linestyle": "",
                    "markersize": 5.0,
                    "alpha": 0.85,
                    "label": as_label(name),
                }
                self.lines_ += axes.plot(share, places, **chosen("lines.Line2D", own, kwargs))
            axes.set_yticks(places, labels=list(map(as_label, self.systems)))
            axes.invert_yaxis()
            axes.set_xlabel("share of the weights")
            if len(self.shares) > 1:
                axes.legend()
        return self
