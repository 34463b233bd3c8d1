"""K scores a row: multiclass problems."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import frozen

from structsvm.operators.base import Operator
from structsvm.operators.views import example_combine, example_scores, register_view
from structsvm.types import IntVector, Vector


class PerClassView(NamedTuple):
    """K scores for each row of another view."""

    ptr: IntVector
    rows: Any
    n_classes: int


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    d = len(w) // view.n_classes
    for k in range(view.n_classes):
        example_scores(view.rows, i, w[k * d : (k + 1) * d], out[k :: view.n_classes])


def _combine(view: Any, i: Any, c: Any, out: Any) -> None:
    d = len(out) // view.n_classes
    for k in range(view.n_classes):
        example_combine(view.rows, i, c[k :: view.n_classes], out[k * d : (k + 1) * d])


@frozen(eq=False)
class PerClass(Operator):
    """One weight vector a class: w is K x d, row by row, and each row has K scores.

    The joint feature map of Crammer and Singer (2001): ``Ψ(x, k)`` is x in the k-th block.

    Parameters
    ----------
    rows : operator of one score a row, which takes K weight vectors at once: `Rows`, or
        `WithIntercept` of them.
    n_classes : K.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.operators import PerClass, Rows
    >>> PerClass(Rows.one_each(np.array([[1.0, 2.0]])), 3).d
    6
    """

    rows: Operator
    n_classes: int

    @property
    def ptr(self) -> IntVector:
        """Example i owns ``n_classes`` scores for each of its rows."""
        return self.rows.ptr * self.n_classes

    @property
    def stored(self) -> int:
        """That of ``rows``, once for each class."""
        return self.n_classes * self.rows.stored

    @property
    def d(self) -> int:
        """Number of weights, ``n_classes`` times the number of features."""
        return self.n_classes * self.rows.d

    @property
    def view(self) -> PerClassView | None:
        """The view of the rows, and the number of classes."""
        rows = self.rows.view
        return None if rows is None else PerClassView(self.ptr, rows, int(self.n_classes))

    def scores(self, w: Vector) -> Vector:
        """Return the scores of all rows, the K of a row together."""
        return np.ravel(self.rows.scores(w.reshape(self.n_classes, -1).T))

    def combine(self, c: Vector) -> Vector:
        """Return the combination of the rows for each class, the classes one after the other."""
        return np.ravel(self.rows.combine(c.reshape(-1, self.n_classes)).T)

    def block(self, start: int, stop: int) -> Self:
        """Return the operator of the examples ``start`` to ``stop − 1``."""
        return type(self)(self.rows.block(start, stop), self.n_classes)


register_view(PerClassView, _scores, _combine)
