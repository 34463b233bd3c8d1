"""Base class and checks of all displays."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import as_list
from structsvm.foundation.types import Matrix, Vector
from structsvm.plots.style import STYLE, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display(ABC):
    """Base class of displays: the data of a plot, which can be drawn several times."""

    ax_: "Axes"
    figure_: "Figure"

    _size: ClassVar[tuple[float, float]] = (6.0, 3.6)
    """Width and height of a new figure, in inches."""

    @abstractmethod
    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw on axes, or on a new figure (None); settings of Matplotlib's artists override the display's."""

    @contextmanager
    def _drawing(self, ax: Any, size: tuple[float, float] | None = None) -> Iterator["Axes"]:
        """Yield the axes to draw on; new axes have the style of the library."""
        require_matplotlib()
        from matplotlib import rc_context
        from matplotlib.axes import Axes

        if ax is not None and not isinstance(ax, Axes):
            raise InputError(f"ax must be axes of Matplotlib, such as plt.subplots() returns, got {brief(ax)}")
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


def named(what: str, values: Any, default: str) -> dict[str, Any]:
    """Return a mapping unchanged, or a single value under a default name; raise InputError for an empty mapping."""
    if not isinstance(values, Mapping):
        return {default: values}
    if not values:
        raise InputError(f"{what} is empty: pass at least one to draw")
    for name in values:
        if not isinstance(name, str):
            raise InputError(f"the names in {what} must be text, got {brief(name)}")
    return dict(values)


def require_fitted(estimator: Any) -> Any:
    """Return an estimator; raise scikit-learn's NotFittedError if it is known not to be fitted."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)
    return estimator


def scores_of(ranker: Any, X: Any, qid: ArrayLike | None) -> Vector:
    """Return the scores of a fitted ranker; raise InputError if it cannot predict, or qid is missing."""
    from structsvm.estimators.ranking import predicted, require_fitted_ranker

    require_fitted_ranker(ranker, qid)
    return predicted(ranker, X, qid)


def vector(values: Any, what: str, *, length: int | None = None) -> Vector:
    """Return finite numbers, shape (length,), at least one; ``what`` names them in messages."""
    array = numbers(values, what)
    if array.ndim != 1 or not len(array) or (length is not None and len(array) != length):
        wanted = "a list of at least one number" if length is None else f"{length} numbers"
        raise InputError(f"{what} must be {wanted}; its shape is {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} must be finite")
    return array


def matrix(values: Any, what: str, columns: int) -> Matrix:
    """Return finite numbers, shape (rows, columns), from one row or several; ``what`` names them in messages."""
    rows = np.atleast_2d(numbers(values, what))
    if rows.ndim != 2 or not len(rows) or rows.shape[1] != columns or not np.isfinite(rows).all():
        raise InputError(
            f"{what} must be finite, in one or more rows of {columns} numbers; its shape is {np.shape(values)}"
        )
    return rows


def as_texts(values: Any, what: str, length: int) -> tuple[str, ...]:
    """Return ``length`` texts; ``what`` names them in messages."""
    wanted = f"{length} texts"
    if isinstance(values, str | Mapping):
        raise InputError(f"{what} must be a list of {wanted}, got {brief(values)}")
    texts = as_list(what, values, wanted)
    if len(texts) != length or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{what} must be {wanted}, got {brief(values)}")
    return tuple(map(str, texts))
