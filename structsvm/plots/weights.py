"""What a ranker weighs."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.plots.base import Display, texts, vector
from structsvm.plots.style import BLUE, INK, as_label, chosen
from structsvm.settings import require_integer, require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class WeightsDisplay(Display):
    """Weights, or importances, of features: a bar for each, the largest in absolute value first.

    Parameters
    ----------
    values : what is drawn, shape (features,).
    names : names of the features; None: "feature 1", "feature 2" and so on, as LETOR's files count them.
    quantity : what the values are, in words.
    top : most bars.

    Attributes
    ----------
    ax_, figure_ : see `Display`.
    bars_ : the bars, the largest first.
    values, names : those that are drawn, in their order.
    left_out : number of those that are not.

    Examples
    --------
    >>> from structsvm.plots import WeightsDisplay
    >>> display = WeightsDisplay([0.1, -2.0, 1.0], ["length", "spam", "BM25"], top=2).plot()
    >>> display.names, [float(bar.get_width()) for bar in display.bars_]
    (('spam', 'BM25'), [-2.0, 1.0])
    """

    def __init__(self, values: ArrayLike, names: Any = None, *, quantity: str = "weight", top: int | None = 20) -> None:
        found = vector(values, "values")
        require_integer("top", top, 1, optional=True)
        require_kind("quantity", quantity, str, "what the values are, in words")
        called = [f"feature {k}" for k in range(1, len(found) + 1)] if names is None else names
        called = texts(called, "names", len(found))
        order = np.argsort(-np.abs(found), kind="stable")[:top]
        self.values = found[order]
        self.names = tuple(called[k] for k in order)
        self.left_out = len(found) - len(order)
        self.quantity = quantity

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        names: Any = None,
        *,
        top: int | None = 20,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what a fitted ranker is made of.

        Parameters
        ----------
        estimator : a fitted ranker that `structsvm show` can show: weights of a linear one, importances of trees.
        names : names of all features; None: those that it was fitted with, or numbers.
        top : most bars.
        ax, **kwargs : see `plot`.

        Raises
        ------
        NotInstalledError : when Matplotlib is missing.
        InputError : it is not fitted, or there is nothing to show; or there are more or fewer names than features.
        """
        if not hasattr(estimator, "parts"):
            raise InputError(f"estimator must be a fitted ranker of this library, such as Ranker(), got {estimator!r}")
        parts = estimator.parts()
        if not parts.rows:
            raise InputError(f"each {parts.quantity} of {type(estimator).__name__} is 0: there is nothing to draw")
        called = estimator.known_names if names is None else texts(names, "names", estimator.n_features_in_)
        features = [row["feature"] for row in parts.rows]
        shown = [called[k] if called is not None else f"feature {k + 1}" for k in features]
        values = [row["value"] for row in parts.rows]
        return cls(values, shown, quantity=parts.quantity, top=top).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw it; see `Display.plot`. ``**kwargs`` are those of `matplotlib.axes.Axes.barh`."""
        places = range(len(self.values))
        with self._drawing(ax, (self._size[0], 0.8 + 0.2 * max(len(places), 4))) as axes:
            settings = chosen("patches.Rectangle", {"color": BLUE}, kwargs)
            self.bars_: BarContainer = axes.barh(places, self.values, **settings)
            axes.set_yticks(places, labels=list(map(as_label, self.names)))
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
            axes.axvline(0.0, color=INK, linewidth=0.6)
            axes.set_xlabel(as_label(self.quantity))
        return self
