"""The loss for multi-class classification."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator
from structsvm.features.operators.composed import PerClass
from structsvm.foundation.types import Vector
from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.label_sets import as_labels, label_costs, sorted_labels


def multiclass(scores: Vector, labels: Vector, costs: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the best wrong class within the margin, if any, and return its cost.

    ``costs`` is the K x K table in row order; if it is empty, every wrong class costs 1.
    """
    K = len(scores)
    truth = int(labels[0])
    best = truth
    best_value = scores[truth]
    best_cost = 0.0
    for k in range(K):
        if k == truth:
            continue
        cost = 1.0 if len(costs) == 0 else costs[truth * K + k]
        if scores[k] + cost > best_value:
            best = k
            best_value = scores[k] + cost
            best_cost = cost
    out[:] = 0.0
    if best != truth:
        out[truth] = 1.0
        out[best] = -1.0
    return best_cost


_CLASSES = "Multiclass(classes=...)"


def _classes(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return as_labels(values, _CLASSES)


def _table(values: Any) -> tuple[tuple[float, ...], ...] | None:
    return label_costs(values, "Multiclass(cost=...)")


def _some(classes: tuple[Any, ...]) -> str:
    return ", ".join(map(repr, classes[:5])) + (", ..." if len(classes) > 5 else "")


@frozen
class Multiclass(ScoreLoss[Any]):
    """The loss for classification into K classes, zero-one or with costs, with a weight vector per class.

    Crammer and Singer, "On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines", JMLR 2001.
    Without costs, the objective for n examples equals scikit-learn's ``LinearSVC(multi_class="crammer_singer", C=C / n,
    fit_intercept=False)``. With costs, the hinge is ``max_k [cost(y, k) + s_k] − s_y`` for scores s_k of classes
    (margin rescaling; Tsochantaridis, Joachims, Hofmann and Altun, JMLR 2005): an upper bound of the prediction's cost.

    Parameters
    ----------
    classes : the K different classes: numbers, strings, or other hashable values. Default: the sorted classes of the
        training set.
    cost : cost of each wrong prediction, shape (K, K): a row per true class and a column per predicted class, in the
        order of ``classes``; at least 0, and 0 on the diagonal. Default: 1 for every wrong class.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> loss = Multiclass(classes=["cat", "dog"], cost=np.array([[0.0, 1.0], [5.0, 0.0]]))
    >>> StructuralSVM(loss, C=10).fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"]).predict([[0.0, 2.0]]).tolist()
    ['dog']
    """

    classes: tuple[Any, ...] | None = field(default=None, converter=_classes)
    cost: tuple[tuple[float, ...], ...] | None = field(default=None, converter=_table)

    kernel = staticmethod(multiclass)
    scores_rows = False
    per_row = True

    def __attrs_post_init__(self) -> None:
        """Reject costs that do not match the number of classes."""
        if self.cost is not None and self.classes is not None and len(self.cost) != len(self.classes):
            K = len(self.cost)
            raise InputError(
                f"Multiclass(cost=...) is {K} x {K}, but there are {len(self.classes)} classes, {_some(self.classes)}: "
                "give a row and a column for each class; if the training set lacks classes, also pass "
                "Multiclass(classes=..., cost=...)"
            )

    def bind(self, ys: Sequence[Any]) -> Self:
        """Fill in the classes of the training set."""
        return self if self.classes is not None else evolve(self, classes=sorted_labels(ys, _CLASSES))

    def params(self, ys: Sequence[Any]) -> Vector:
        return np.zeros(0) if self.cost is None else np.ravel(self.cost)

    def operator(self, rows: Operator) -> Operator:
        """Return the operator with K scores per row."""
        return PerClass(rows, len(self._known()))

    def index(self, y: Any) -> int:
        """Return the index of a class, from 0."""
        try:
            return self._known().index(y)
        except ValueError:
            raise InputError(f"{y!r} is not among the classes {self._known()}") from None

    def labels(self, y: Any) -> Vector:
        return np.array([self.index(y)], dtype=np.float64)

    def encode(self, y_hat: Any, y: Any) -> Vector:
        code = np.zeros(len(self._known()))
        code[self.index(y_hat)] = 1.0
        return code

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return the cost of ŷ, by default 1 for a wrong class; the largest cost if y is not among the classes."""
        if self.cost is None:
            return float(y != y_hat)
        predicted = self.index(y_hat)
        return self.cost[self.index(y)][predicted] if y in self._known() else max(map(max, self.cost))

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        truth = self.index(y)
        cost = np.arange(len(scores)) != truth if self.cost is None else np.array(self.cost[truth])
        return self._known()[int(np.argmax(scores + cost))]

    def slack_rescaled_argmax(self, scores: Vector, y: Any) -> Any:
        margins = 1.0 + scores - scores[self.index(y)]
        return max(zip(self._known(), margins, strict=True), key=lambda pair: self.loss(y, pair[0]) * pair[1])[0]

    def argmax(self, scores: Vector) -> Any:
        return self._known()[int(np.argmax(scores))]

    def outputs(self, y: Any) -> Iterable[Any]:
        return self._known()

    def _known(self) -> tuple[Any, ...]:
        if self.classes is None:
            raise InputError("the classes are not known yet: give Multiclass(classes=...) or bind(ys) them")
        return self.classes
