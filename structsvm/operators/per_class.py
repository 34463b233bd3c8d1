"""K scores a row: multiclass problems."""

from typing import Self

import numpy as np
from attrs import field, frozen

from structsvm.operators.base import Operator
from structsvm.types import IntVector, Vector


@frozen(eq=False)
class PerClass(Operator):
    """One weight vector a class: w is K x d, row by row, and each row has K scores.

    The joint feature map of Crammer and Singer (2001): ``Ψ(x, k)`` is x in the k-th block.

    Parameters
    ----------
    rows : operator of one score a row.
    n_classes : K.
    """

    rows: Operator
    n_classes: int = field()

    @property
    def ptr(self) -> IntVector:
        """Example i owns ``n_classes`` scores for each of its rows."""
        return self.rows.ptr * self.n_classes

    @property
    def d(self) -> int:
        """Number of weights, ``n_classes`` times the number of features."""
        return self.n_classes * self.rows.d

    def scores(self, w: Vector) -> Vector:
        """Return the scores of all rows, the K of a row together."""
        return np.stack([self.rows.scores(v) for v in w.reshape(self.n_classes, -1)], axis=1).ravel()

    def combine(self, c: Vector) -> Vector:
        """Return the combination of the rows for each class, the classes one after the other."""
        return np.concatenate([self.rows.combine(np.ascontiguousarray(v)) for v in c.reshape(-1, self.n_classes).T])

    def block(self, start: int, stop: int) -> Self:
        """Return the operator of the examples ``start`` to ``stop − 1``."""
        return type(self)(self.rows.block(start, stop), self.n_classes)
