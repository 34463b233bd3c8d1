"""Operators that extend or repeat other operators."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import field, frozen

from structsvm.features.operators.base import Operator
from structsvm.features.operators.rows import Rows
from structsvm.features.operators.views import example_add, example_gram, example_product, example_scores, register_view
from structsvm.foundation.compute.products import copy
from structsvm.foundation.settings import of_kind
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector


class InterceptView(NamedTuple):
    """The rows of another view with a constant feature appended."""

    ptr: IntVector
    rows: Any
    scaling: float


def _intercept_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    example_scores(view.rows, i, w[:-1], out)
    out += view.scaling * w[-1]


def _intercept_add(view: Any, i: Any, c: Any, out: Any) -> None:
    example_add(view.rows, i, c, out[:-1])
    out[-1] += view.scaling * c.sum()


def _intercept_gram(view: Any, i: Any, room: Any) -> int:
    size = example_gram(view.rows, i, room)
    for k in range(size):
        room[k] += view.scaling * view.scaling
    return size


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

    @property
    def gram_sizes(self) -> IntVector | None:
        return self.rows.gram_sizes

    def scores(self, w: Vector) -> Vector:
        """Return the scores of the rows plus the intercept; w may be a matrix if ``rows`` accepts one."""
        scores = self.rows.scores(w[:-1])
        return np.asarray(scores + self.scaling * w[-1])

    def combine(self, c: Vector) -> Vector:
        return np.concatenate((self.rows.combine(c), self.scaling * c.sum(axis=0, keepdims=True)))

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.rows.block(start, stop), self.scaling)


class BesideView(NamedTuple):
    """Two views of the same examples; the first ``split`` weights belong to the left view."""

    ptr: IntVector
    left: Any
    right: Any
    split: int


def _beside_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    example_scores(view.left, i, w[: view.split], out)
    added = np.empty(len(out))
    example_scores(view.right, i, w[view.split :], added)
    out += added


def _beside_add(view: Any, i: Any, c: Any, out: Any) -> None:
    example_add(view.left, i, c, out[: view.split])
    example_add(view.right, i, c, out[view.split :])


@frozen(eq=False)
class HStack(Operator):
    """The columns of two operators side by side: a score is the sum of both scores."""

    left: Operator
    right: Operator

    @property
    def ptr(self) -> IntVector:
        return self.left.ptr

    @property
    def stored(self) -> int:
        return self.left.stored + self.right.stored

    @property
    def d(self) -> int:
        return self.left.d + self.right.d

    @property
    def view(self) -> BesideView | None:
        left, right = self.left.view, self.right.view
        return None if left is None or right is None else BesideView(self.ptr, left, right, self.left.d)

    def scores(self, w: Vector) -> Vector:
        return np.asarray(self.left.scores(w[: self.left.d]) + self.right.scores(w[self.left.d :]))

    def combine(self, c: Vector) -> Vector:
        return np.concatenate((self.left.combine(c), self.right.combine(c)))

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.left.block(start, stop), self.right.block(start, stop))


class PerClassView(NamedTuple):
    """K scores for each row of another view."""

    ptr: IntVector
    rows: Any
    n_classes: int


def _class_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    d = len(w) // view.n_classes
    for k in range(view.n_classes):
        example_scores(view.rows, i, w[k * d : (k + 1) * d], out[k :: view.n_classes])


def _class_add(view: Any, i: Any, c: Any, out: Any) -> None:
    d = len(out) // view.n_classes
    for k in range(view.n_classes):
        some = False
        for row in range(k, len(c), view.n_classes):
            some |= c[row] != 0.0
        if some:
            example_add(view.rows, i, c[k :: view.n_classes], out[k * d : (k + 1) * d])


def _class_gram(view: Any, i: Any, room: Any) -> int:
    return int(example_gram(view.rows, i, room))


def _class_product(view: Any, i: Any, gram: Any, c: Any, out: Any) -> int:
    K = view.n_classes
    rows = len(c) // K
    for k in range(len(out)):
        out[k] = 0.0
    for other in range(rows):
        for k in range(K):
            coefficient = c[other * K + k]
            if coefficient != 0.0:
                for row in range(rows):
                    out[row * K + k] += gram[row * rows + other] * coefficient
    return int(rows * rows)


@frozen(eq=False)
class PerClass(Operator):
    """One weight vector per class: w is a K x d matrix in row order, and the K scores of a row are adjacent."""

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
    def gram_sizes(self) -> IntVector | None:
        return self.rows.gram_sizes

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


class SharedView(NamedTuple):
    """The scores of another view, followed by the last ``added`` weights."""

    ptr: IntVector
    rows: Any
    added: int


def _shared_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    separate = len(out) - view.added
    example_scores(view.rows, i, w[: len(w) - view.added], out[:separate])
    copy(w[len(w) - view.added :], out[separate:])


def _shared_add(view: Any, i: Any, c: Any, out: Any) -> None:
    separate, first = len(c) - view.added, len(out) - view.added
    example_add(view.rows, i, c[:separate], out[:first])
    for k in range(view.added):
        out[first + k] += c[separate + k]


def _shared_gram(view: Any, i: Any, room: Any) -> int:
    return int(example_gram(view.rows, i, room))


def _shared_product(view: Any, i: Any, gram: Any, c: Any, out: Any) -> int:
    separate = len(c) - view.added
    size = example_product(view.rows, i, gram, c[:separate], out[:separate])
    copy(c[separate:], out[separate:])
    return int(size)


@frozen(eq=False)
class WithShared(Operator):
    """Another operator's scores, followed by ``count`` shared scores, which are the last weights themselves."""

    rows: Operator = field(validator=of_kind(Operator, "an operator"))
    count: int

    @classmethod
    def alone(cls, d: int, n: int) -> Self:
        """Return the identity for each of n examples, ``A_x w = w``, for losses that store the features."""
        return cls(Rows(np.zeros((0, 0)), np.zeros(n + 1, dtype=np.int64)), d)

    @property
    def ptr(self) -> IntVector:
        return self.rows.ptr

    @property
    def shared(self) -> int:
        return self.count

    @property
    def gram_sizes(self) -> IntVector | None:
        return self.rows.gram_sizes

    @property
    def d(self) -> int:
        return self.rows.d + self.count

    @property
    def stored(self) -> int:
        return self.rows.stored

    @property
    def view(self) -> SharedView | None:
        rows = self.rows.view
        return None if rows is None else SharedView(self.ptr, rows, int(self.count))

    def scores(self, w: Vector) -> Vector:
        d = self.rows.d
        return np.concatenate((self.rows.scores(w[:d]), w[d:]))

    def combine(self, c: Vector) -> Vector:
        separate = len(c) - self.count
        return np.concatenate((self.rows.combine(c[:separate]), c[separate:]))

    def combine_each(self, c: Vector, examples: IntVector) -> Matrix:
        return np.pad(self.rows.combine_each(c, examples), ((0, 0), (0, self.count)))

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.rows.block(start, stop), self.count)


class PairView(NamedTuple):
    """The scores of two views, one after the other; the first has ``d`` weights."""

    ptr: IntVector
    first: Any
    second: Any
    d: int


def _pair_scores(view: Any, i: Any, w: Any, out: Any) -> None:
    split = view.first.ptr[i + 1] - view.first.ptr[i]
    example_scores(view.first, i, w[: view.d], out[:split])
    example_scores(view.second, i, w[view.d :], out[split:])


def _pair_add(view: Any, i: Any, c: Any, out: Any) -> None:
    split = view.first.ptr[i + 1] - view.first.ptr[i]
    example_add(view.first, i, c[:split], out[: view.d])
    example_add(view.second, i, c[split:], out[view.d :])


def _pair_gram(view: Any, i: Any, room: Any) -> int:
    size = example_gram(view.first, i, room)
    return int(size + example_gram(view.second, i, room[size:]))


def _pair_product(view: Any, i: Any, gram: Any, c: Any, out: Any) -> int:
    split = view.first.ptr[i + 1] - view.first.ptr[i]
    size = example_product(view.first, i, gram, c[:split], out[:split])
    return int(size + example_product(view.second, i, gram[size:], c[split:], out[split:]))


@frozen(eq=False)
class Pair(Operator):
    """Two operators of the same examples: scores and weights of the first, then scores and weights of the second."""

    first: Operator
    second: Operator

    @property
    def ptr(self) -> IntVector:
        return self.first.ptr + self.second.ptr

    @property
    def d(self) -> int:
        return self.first.d + self.second.d

    @property
    def gram_sizes(self) -> IntVector | None:
        first, second = self.first.gram_sizes, self.second.gram_sizes
        return None if first is None or second is None else first + second

    @property
    def stored(self) -> int:
        return self.first.stored + self.second.stored

    @property
    def view(self) -> PairView | None:
        first, second = self.first.view, self.second.view
        return None if first is None or second is None else PairView(self.ptr, first, second, int(self.first.d))

    def scores(self, w: Vector) -> Vector:
        out, of_first = np.empty(int(self.ptr[-1])), self._of_first()
        out[of_first], out[~of_first] = self.first.scores(w[: self.first.d]), self.second.scores(w[self.first.d :])
        return out

    def combine(self, c: Vector) -> Vector:
        of_first = self._of_first()
        return np.concatenate((self.first.combine(c[of_first]), self.second.combine(c[~of_first])))

    def block(self, start: int, stop: int) -> Self:
        return type(self)(self.first.block(start, stop), self.second.block(start, stop))

    def _of_first(self) -> BoolVector:
        """Return True for the scores of the first operator, shape (ptr[-1],)."""
        sizes = np.stack((np.diff(self.first.ptr), np.diff(self.second.ptr)), axis=1).ravel()
        return np.repeat(np.tile([True, False], self.n), sizes)


register_view(InterceptView, _intercept_scores, _intercept_add, _intercept_gram)
register_view(BesideView, _beside_scores, _beside_add)
register_view(PerClassView, _class_scores, _class_add, _class_gram, _class_product)
register_view(SharedView, _shared_scores, _shared_add, _shared_gram, _shared_product)
register_view(PairView, _pair_scores, _pair_add, _pair_gram, _pair_product)
