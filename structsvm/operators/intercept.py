"""A constant column beside the features."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import frozen

from structsvm.operators.base import Operator
from structsvm.operators.views import example_combine, example_scores, register_view
from structsvm.types import IntVector, Vector


class InterceptView(NamedTuple):
    """The rows of another view with a constant feature after theirs."""

    ptr: IntVector
    rows: Any
    scaling: float


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    example_scores(view.rows, i, w[:-1], out)
    out += view.scaling * w[-1]


def _combine(view: Any, i: Any, c: Any, out: Any) -> None:
    example_combine(view.rows, i, c, out[:-1])
    out[-1] = view.scaling * c.sum()


@frozen(eq=False)
class WithIntercept(Operator):
    """The rows of another operator with one more feature, the same in each: the last weight is the intercept.

    Parameters
    ----------
    rows : operator of one score a row.
    scaling : value of the constant feature. The larger it is, the less the intercept is
        regularised; ``w[-1] * scaling`` is what is added to every score.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.operators import Rows, WithIntercept
    >>> WithIntercept(Rows.one_each(np.array([[1.0, 2.0]])), 1.0).d
    3
    """

    rows: Operator
    scaling: float

    @property
    def ptr(self) -> IntVector:
        """The same as that of ``rows``."""
        return self.rows.ptr

    @property
    def stored(self) -> int:
        """The same as that of ``rows``."""
        return self.rows.stored

    @property
    def d(self) -> int:
        """One more than ``rows`` has."""
        return self.rows.d + 1

    @property
    def view(self) -> InterceptView | None:
        """The view of the rows, and the constant."""
        rows = self.rows.view
        return None if rows is None else InterceptView(self.ptr, rows, float(self.scaling))

    def scores(self, w: Vector) -> Vector:
        """Return the scores of the rows plus the intercept; w may be a matrix where the rows take one."""
        scores = self.rows.scores(w[:-1])
        return np.asarray(scores + self.scaling * w[-1])

    def combine(self, c: Vector) -> Vector:
        """Return the combination of the rows, followed by the scaled sum of the coefficients."""
        return np.concatenate((self.rows.combine(c), self.scaling * c.sum(axis=0, keepdims=True)))

    def block(self, start: int, stop: int) -> Self:
        """Return the operator of the examples ``start`` to ``stop − 1``."""
        return type(self)(self.rows.block(start, stop), self.scaling)


register_view(InterceptView, _scores, _combine)
