"""An operator that forwards to rows."""

from typing import Self

from attrs import evolve, frozen

from structsvm.features.operators import Operator
from structsvm.foundation.types import IntVector, Vector


@frozen(eq=False)
class Wrapped(Operator):
    """Rows without a view, of which only the interface of operators is visible."""

    rows: Operator

    @property
    def ptr(self) -> IntVector:
        return self.rows.ptr

    @property
    def d(self) -> int:
        return self.rows.d

    @property
    def stored(self) -> int:
        return self.rows.stored

    def scores(self, w: Vector) -> Vector:
        return self.rows.scores(w)

    def combine(self, c: Vector) -> Vector:
        return self.rows.combine(c)

    def block(self, start: int, stop: int) -> Self:
        return evolve(self, rows=self.rows.block(start, stop))
