"""A constant column beside the features."""

from typing import Self

import numpy as np
from attrs import field, frozen

from structsvm.operators.base import Operator
from structsvm.operators.views import InterceptView
from structsvm.types import IntVector, Vector


@frozen(eq=False)
class WithIntercept(Operator):
    """The rows of another operator with one more feature, the same in each: the last weight is the intercept.

    Parameters
    ----------
    rows : operator of one score a row.
    scaling : value of the constant feature. The larger it is, the less the intercept is
        regularised; ``w[-1] * scaling`` is what is added to every score.
    """

    rows: Operator
    scaling: float = field()

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
