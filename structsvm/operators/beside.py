"""Two operators side by side: each example has the scores of both."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.operators.base import Operator
from structsvm.operators.views import example_combine, example_scores, register_view
from structsvm.settings import of_kind
from structsvm.types import BoolVector, IntVector, Vector


class BesideView(NamedTuple):
    """The scores of one view, then those of another; the first reads ``split`` weights."""

    ptr: IntVector
    a: Any
    b: Any
    split: int


def _scores(view: Any, i: Any, w: Any, out: Any) -> None:
    count = view.a.ptr[i + 1] - view.a.ptr[i]
    example_scores(view.a, i, w[: view.split], out[:count])
    example_scores(view.b, i, w[view.split :], out[count:])


def _combine(view: Any, i: Any, c: Any, out: Any) -> None:
    count = view.a.ptr[i + 1] - view.a.ptr[i]
    example_combine(view.a, i, c[:count], out[: view.split])
    example_combine(view.b, i, c[count:], out[view.split :])


@frozen(eq=False)
class Beside(Operator):
    """The scores of an example are those by one operator, then those by another: ``w = [w_a, w_b]``.

    The joint feature map is ``[A_x' c_a(y), B_x' c_b(y)]``. A chain of labels, with emission
    scores from the rows and transition scores that are weights themselves, is
    ``Beside(PerClass(rows, K), Shared(K * K, n))``.

    Parameters
    ----------
    a, b : operators of the same examples.

    Raises
    ------
    InputError : when their numbers of examples differ.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.operators import Beside, Rows
    >>> rows = Rows.one_each(np.array([[1.0, 2.0]]))
    >>> Beside(rows, rows).d
    4
    """

    a: Operator = field(validator=of_kind(Operator, "an operator"))
    b: Operator = field(validator=of_kind(Operator, "an operator"))

    @b.validator
    def _of_the_same_examples(self, _attribute: object, b: Operator) -> None:
        if b.n != self.a.n:
            raise InputError(f"Beside joins operators of the same examples, got {self.a.n} and {b.n} examples")

    @property
    def ptr(self) -> IntVector:
        """Example i owns as many scores as it has by both operators together."""
        return self.a.ptr + self.b.ptr

    @property
    def d(self) -> int:
        """Number of weights of both operators together."""
        return self.a.d + self.b.d

    @property
    def stored(self) -> int:
        """That of both together."""
        return self.a.stored + self.b.stored

    @property
    def view(self) -> BesideView | None:
        """The views of both, and how many weights are those of the first."""
        a, b = self.a.view, self.b.view
        return None if a is None or b is None else BesideView(self.ptr, a, b, self.a.d)

    def scores(self, w: Vector) -> Vector:
        """Return the scores of all examples, the two parts of an example together."""
        first = self._first()
        out = np.empty(len(first))
        out[first] = self.a.scores(w[: self.a.d])
        out[~first] = self.b.scores(w[self.a.d :])
        return out

    def combine(self, c: Vector) -> Vector:
        """Return the combination of the first operator's features, followed by that of the second's."""
        first = self._first()
        return np.concatenate((self.a.combine(c[first]), self.b.combine(c[~first])))

    def block(self, start: int, stop: int) -> Self:
        """Return the operator of the examples ``start`` to ``stop − 1``."""
        return type(self)(self.a.block(start, stop), self.b.block(start, stop))

    def _first(self) -> BoolVector:
        """Say of each score whether it is by the first operator."""
        lengths = np.column_stack((np.diff(self.a.ptr), np.diff(self.b.ptr))).ravel()
        return np.repeat(np.tile([True, False], self.a.n), lengths)


register_view(BesideView, _scores, _combine)
