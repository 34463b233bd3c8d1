"""Plot the weights of rankers."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_integer, require_kind
from structsvm.models.base import model_of
from structsvm.plots.base import Display, as_texts, require_fitted, vector
from structsvm.plots.style import BLUE, INK, artist_settings, as_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class WeightsDisplay(Display):
    """Weights or importances of features: a bar for each feature, the largest in absolute value first.

    Parameters
    ----------
    values : the weights, shape (features,).
    names : names of the features; None: "feature 1", "feature 2", ..., as in LETOR's files.
    quantity : label of the values.
    top : largest number of bars.

    Attributes
    ----------
    bars_ : the bars, the largest first.
    values, names : values and names in the plot, in its order.
    left_out : number of features that are not in the plot.

    Examples
    --------
    >>> display = WeightsDisplay([0.1, -2.0, 1.0], ["length", "spam", "BM25"], top=2).plot()
    >>> display.names, [float(bar.get_width()) for bar in display.bars_]
    (('spam', 'BM25'), [-2.0, 1.0])
    """

    def __init__(self, values: ArrayLike, names: Any = None, *, quantity: str = "weight", top: int | None = 20) -> None:
        array = vector(values, "values")
        require_integer("top", top, 1, optional=True)
        require_kind("quantity", quantity, str, "a label of the values")
        called = [f"feature {k}" for k in range(1, len(array) + 1)] if names is None else names
        called = as_texts(called, "names", len(array))
        order = np.argsort(-np.abs(array), kind="stable")[:top]
        self.values = array[order]
        self.names = tuple(called[k] for k in order)
        self.left_out = len(array) - len(order)
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
        """Draw the weights of a fitted linear ranker or its `Model`, or the importances of features in trees.

        Parameters
        ----------
        estimator : the ranker or model.
        names : names of all features; None: names from ``fit``, or numbers.
        top : largest number of bars.
        """
        model = model_of(require_fitted(estimator))
        parts = model.parts()
        if not parts.rows:
            raise InputError(f"each {parts.quantity} of {model.title} is 0, so the plot would be empty")
        called = model.feature_names if names is None else as_texts(names, "names", model.n_features)
        features = [row["feature"] for row in parts.rows]
        shown = [called[k] if called is not None else f"feature {k + 1}" for k in features]
        values = [row["value"] for row in parts.rows]
        return cls(values, shown, quantity=parts.quantity, top=top).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.barh`."""
        places = range(len(self.values))
        with self._drawing(ax, (self._size[0], 0.8 + 0.2 * max(len(places), 4))) as axes:
            settings = artist_settings("patches.Rectangle", {"color": BLUE}, kwargs)
            self.bars_: BarContainer = axes.barh(places, self.values, **settings)
            axes.set_yticks(places, labels=list(map(as_label, self.names)))
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
            axes.axvline(0.0, color=INK, linewidth=0.6)
            axes.set_xlabel(as_label(self.quantity))
        return self
