"""Operators that extend, repeat or join other operators, and the operator of scores that are the weights."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.features.operators.base import Operator
from structsvm.features.operators.views import example_combine, example_scores, register_view
from structsvm.foundation.settings import of_kind
from structsvm.foundation.types import BoolVector, IntVector, Vector


class InterceptView(NamedTuple):
    """The rows of another view with a constant feature appended."""

    ptr: IntVector
    rows: Any
    scaling: float


def _intercept_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    example_scores(view.rows, i, w[:-1], out)
    out += view.scaling * w[-1]


def _intercept_combine(view: Any, i: Any, c: Any, out: Any) -> None:
    example_combine(view.rows, i, c, out[:-1])
    out[-1] = view.scaling * c.sum()


@frozen(eq=False)
class WithIntercept(Operator):
    """Append a constant feature of value ``scaling`` to another operator's rows; the last weight is the intercept."""

    rows: Operator
    scaling: float

    @property
    def ptr(self) -> IntVector:
        return self.rows.ptr

    @property
    def stored(self) -> int:
        return self.rows.stored

    @property
    def d(self) -> int:
        return self.rows.d + 1

    @property
    def view(self) -> InterceptView | None:
        rows = self.rows.view
        return None if rows is None else InterceptView(self.ptr, rows, float(self.scaling))

    def scores(self, w: Vector) -> Vector:
        """Return the scores of the rows plus the intercept; w may be a matrix if ``rows`` accepts one."""
        scores = self.rows.scores(w[:-1])
        return np.asarray(scores + self.scaling * w[-1])

    def combine(self, c: Vector) -> Vector:
        return np.concatenate((self.rows.combine(c), self.scaling * c.sum(axis=0, keepdims=True)))

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.rows.block(start, stop), self.scaling)


class PerClassView(NamedTuple):
    """K scores for each row of another view."""

    ptr: IntVector
    rows: Any
    n_classes: int


def _class_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    d = len(w) // view.n_classes
    for k in range(view.n_classes):
        example_scores(view.rows, i, w[k * d : (k + 1) * d], out[k :: view.n_classes])


def _class_combine(view: Any, i: Any, c: Any, out: Any) -> None:
    d = len(out) // view.n_classes
    for k in range(view.n_classes):
        example_combine(view.rows, i, c[k :: view.n_classes], out[k * d : (k + 1) * d])


@frozen(eq=False)
class PerClass(Operator):
    """One weight vector per class: w is a K x d matrix in row order, and the K scores of a row are adjacent.

    ``rows`` must accept a matrix of K weight vectors, as `Rows`, or `WithIntercept` of `Rows`, does.
    """

    rows: Operator
    n_classes: int

    @property
    def ptr(self) -> IntVector:
        return self.rows.ptr * self.n_classes

    @property
    def stored(self) -> int:
        return self.n_classes * self.rows.stored

    @property
    def d(self) -> int:
        return self.n_classes * self.rows.d

    @property
    def view(self) -> PerClassView | None:
        rows = self.rows.view
        return None if rows is None else PerClassView(self.ptr, rows, int(self.n_classes))

    def scores(self, w: Vector) -> Vector:
        return np.ravel(self.rows.scores(w.reshape(self.n_classes, -1).T))

    def combine(self, c: Vector) -> Vector:
        return np.ravel(self.rows.combine(c.reshape(-1, self.n_classes)).T)

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.rows.block(start, stop), self.n_classes)


class BesideView(NamedTuple):
    """The views of two operators; the first uses the first ``split`` weights."""

    ptr: IntVector
    a: Any
    b: Any
    split: int


def _both_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    count = view.a.ptr[i + 1] - view.a.ptr[i]
    example_scores(view.a, i, w[: view.split], out[:count])
    example_scores(view.b, i, w[view.split :], out[count:])


def _both_combine(view: Any, i: Any, c: Any, out: Any) -> None:
    count = view.a.ptr[i + 1] - view.a.ptr[i]
    example_combine(view.a, i, c[:count], out[: view.split])
    example_combine(view.b, i, c[count:], out[view.split :])


@frozen(eq=False)
class Beside(Operator):
    """Concatenate the scores of two operators for each example: ``w = [w_a, w_b]``.

    A chain of labels is ``Beside(PerClass(rows, K), Shared(K * K, n))``: emissions from rows, and transitions.
    """

    a: Operator = field(validator=of_kind(Operator, "an operator"))
    b: Operator = field(validator=of_kind(Operator, "an operator"))

    @b.validator
    def _of_the_same_examples(self, _attribute: object, b: Operator) -> None:
        if b.n != self.a.n:
            raise InputError(f"Beside joins operators of the same examples, got {self.a.n} and {b.n} examples")

    @property
    def ptr(self) -> IntVector:
        return self.a.ptr + self.b.ptr

    @property
    def d(self) -> int:
        return self.a.d + self.b.d

    @property
    def stored(self) -> int:
        return self.a.stored + self.b.stored

    @property
    def view(self) -> BesideView | None:
        a, b = self.a.view, self.b.view
        return None if a is None or b is None else BesideView(self.ptr, a, b, self.a.d)

    def scores(self, w: Vector) -> Vector:
        first = self._first()
        out = np.empty(len(first))
        out[first] = self.a.scores(w[: self.a.d])
        out[~first] = self.b.scores(w[self.a.d :])
        return out

    def combine(self, c: Vector) -> Vector:
        first = self._first()
        return np.concatenate((self.a.combine(c[first]), self.b.combine(c[~first])))

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.a.block(start, stop), self.b.block(start, stop))

    def _first(self) -> BoolVector:
        """Return a mask of the scores of the first operator."""
        lengths = np.column_stack((np.diff(self.a.ptr), np.diff(self.b.ptr))).ravel()
        return np.repeat(np.tile([True, False], self.a.n), lengths)


class SharedView(NamedTuple):
    """The weights as the scores of every example."""

    ptr: IntVector


def _shared_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    out[:] = w


def _shared_combine(view: Any, i: Any, c: Any, out: Any) -> None:
    out[:] = c


@frozen(eq=False)
class Shared(Operator):
    """The identity for every example, ``A_x w = w``, for losses that store the features: ``c(y) = Ψ(x, y)``."""

    d: int
    examples: int

    @property
    def stored(self) -> int:
        return 0

    @property
    def ptr(self) -> IntVector:
        return np.arange(self.examples + 1, dtype=np.int64) * self.d

    @property
    def view(self) -> SharedView:
        return SharedView(self.ptr)

    def scores(self, w: Vector) -> Vector:
        return np.tile(w, self.examples)

    def combine(self, c: Vector) -> Vector:
        return np.asarray(c.reshape(self.examples, self.d).sum(axis=0))

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.d, stop - start)


register_view(InterceptView, _intercept_scores, _intercept_combine)
register_view(PerClassView, _class_scores, _class_combine)
register_view(BesideView, _both_scores, _both_combine)
register_view(SharedView, _shared_scores, _shared_combine)
