"""The scores are the weights themselves: problems of which only Ψ is known."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import frozen

from structsvm.operators.base import Operator
from structsvm.operators.views import register_view
from structsvm.types import IntVector, Vector


class SharedView(NamedTuple):
    """The weights themselves as the scores of every example."""

    ptr: IntVector


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    out[:] = w


def _combine(view: Any, i: Any, c: Any, out: Any) -> None:
    out[:] = c


@frozen(eq=False)
class Shared(Operator):
    """The identity for every example: ``A_x w = w``, so that ``c(y) = Ψ(x, y)``.

    Parameters
    ----------
    d : number of weights, which is the number of scores of every example.
    examples : number of examples.

    Examples
    --------
    >>> from structsvm.operators import Shared
    >>> Shared(3, 2).d
    3
    """

    d: int
    examples: int

    @property
    def stored(self) -> int:
        """None: the features are the loss's own."""
        return 0

    @property
    def ptr(self) -> IntVector:
        """Every example owns d scores."""
        return np.arange(self.examples + 1, dtype=np.int64) * self.d

    @property
    def view(self) -> SharedView:
        """Where the scores of each example begin: there is nothing else to read."""
        return SharedView(self.ptr)

    def scores(self, w: Vector) -> Vector:
        """Return the weights once for each example."""
        return np.tile(w, self.examples)

    def combine(self, c: Vector) -> Vector:
        """Return the sum of the examples' coefficients."""
        return np.asarray(c.reshape(self.examples, self.d).sum(axis=0))

    def block(self, start: int, stop: int) -> Self:
        """Return the operator of the examples ``start`` to ``stop − 1``."""
        return type(self)(self.d, stop - start)


register_view(SharedView, _scores, _combine)
