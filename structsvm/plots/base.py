"""What all displays share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.plots.style import STYLE, require_matplotlib
from structsvm.settings import as_list
from structsvm.types import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display(ABC):
    """Something that is drawn: its data, made once, and drawn as often as one likes.

    Attributes
    ----------
    ax_ : the axes that were drawn on last, `matplotlib.axes.Axes`.
    figure_ : the figure that they are of.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from structsvm.plots import Display, WeightsDisplay
    >>> display = WeightsDisplay([0.1, -2.0], ["length", "spam"]).plot(color="grey")
    >>> isinstance(display, Display), display.ax_.get_xlabel()
    (True, 'weight')
    >>> display.figure_.savefig("weights.svg")
    >>> left, right = Figure().subplots(1, 2)
    >>> display.plot(right).ax_ is right
    True
    """

    ax_: "Axes"
    figure_: "Figure"

    _size: ClassVar[tuple[float, float]] = (6.0, 3.6)
    """Width and height of a figure of its own, in inches."""

    @abstractmethod
    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : axes to draw on, as they are; None: those of a new figure in the style of the library.
        **kwargs : settings of the artists of Matplotlib that are drawn, in place of the display's.

        Returns
        -------
        self : with ``ax_``, ``figure_`` and what was drawn.

        Raises
        ------
        NotInstalledError : when Matplotlib is missing.
        InputError : ``ax`` is no axes, or Matplotlib does not know a setting.
        """

    @contextmanager
    def _drawing(self, ax: Any, size: tuple[float, float] | None = None) -> Iterator["Axes"]:
        """Give the axes to draw on, in the style of the library where they are its own."""
        require_matplotlib()
        from matplotlib import rc_context
        from matplotlib.axes import Axes

        if ax is not None and not isinstance(ax, Axes):
            raise InputError(f"ax must be axes of Matplotlib, such as plt.subplots() returns, got {ax!r}")
        with rc_context({} if ax is not None else STYLE):
            if ax is None:
                from matplotlib import pyplot

                _, ax = pyplot.subplots(figsize=size or self._size, layout="constrained")
            try:
                yield ax
            except AttributeError as error:
                if "unexpected keyword argument" not in str(error):
                    raise
                raise InputError(f"{type(self).__name__}.plot: {error}") from None
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)


def named(what: str, given: Any, default: str) -> dict[str, Any]:
    """Return things by name: a mapping as it is, and anything else under a name that is made for it.

    Raises
    ------
    InputError : a mapping is empty, or has a name that is no text.
    """
    if not isinstance(given, Mapping):
        return {default: given}
    if not given:
        raise InputError(f"{what} is empty: there is nothing to draw")
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"{what} must have texts for names, got {name!r}")
    return dict(given)


def fitted(estimator: Any) -> Any:
    """Return an estimator that is fitted, or that scikit-learn knows nothing of.

    Raises
    ------
    NotFittedError : of scikit-learn, when it is not fitted.
    """
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)
    return estimator


def scores_of(ranker: Any, X: Any, qid: ArrayLike | None) -> Vector:
    """Return the scores that a fitted ranker gives rows of these queries.

    Raises
    ------
    NotFittedError : of scikit-learn, when it is not fitted.
    InputError : when it cannot predict, or was fitted with qid and there is none.
    """
    if not hasattr(ranker, "predict"):
        raise InputError(f"a ranker must have predict, got {ranker!r}")
    if qid is None and getattr(fitted(ranker), "_fitted_with_qid", False):
        raise InputError(
            f"this {type(ranker).__name__} was fitted with qid, so that the rows to draw it of need qid too; "
            "qid=np.zeros(len(X)) says that all of them are one query"
        )
    scores: Vector = ranker.predict(X, **({"qid": qid} if "qid" in signature(ranker.predict).parameters else {}))
    return scores


def vector(values: Any, what: str, *, length: int | None = None) -> Vector:
    """Return finite numbers to draw, one at least, shape (length,).

    Raises
    ------
    InputError : it names ``what``.
    """
    found = numbers(values, what)
    if found.ndim != 1 or not len(found) or (length is not None and len(found) != length):
        wanted = "a list of numbers, one at least" if length is None else f"{length} numbers"
        raise InputError(f"{what} must be {wanted}; its shape is {found.shape}")
    if not np.isfinite(found).all():
        raise InputError(f"{what} must be finite, to be drawn")
    return found


def texts(values: Any, what: str, length: int) -> tuple[str, ...]:
    """Return so many texts.

    Raises
    ------
    InputError : it names ``what``.
    """
    wanted = f"{length} texts"
    if isinstance(values, str | Mapping):
        raise InputError(f"{what} must be a list of {wanted}, got {values!r}")
    found = as_list(what, values, wanted)
    if len(found) != length or not all(isinstance(each, str) for each in found):
        raise InputError(f"{what} must be {wanted}, got {values!r}")
    return tuple(map(str, found))
