"""The loss for binary classification: the zero-one loss."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.label_sets import as_labels, sorted_labels
from structsvm.losses.user_methods import reads_text

_CLASSES = "ZeroOne(classes=...)"


def zero_one(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the sign is flipped if the margin is below 1; 0 is a single class."""
    if labels[0] * scores[0] < 1.0:
        out[0] = labels[0]
        return float(abs(labels[0]))
    out[0] = 0.0
    return 0.0


def _classes(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return as_labels(values, _CLASSES)


@frozen
class ZeroOne(ScoreLoss[Any]):
    """The zero-one loss for binary classification of rows: outputs are y = ±1, and ``Ψ(x, y) = y x / 2``.

    Every row is an example. The objective for n rows equals scikit-learn's ``LinearSVC(loss="hinge", C=C / n,
    fit_intercept=False)``. Class weights multiply example weights. `StructuralSVM` predicts two classes of any kind. In
    rankers, labels above 0 count as +1 and all others as −1.

    Parameters
    ----------
    classes : both classes, the negative one first: numbers, strings, or other hashable values. Default: in
        `StructuralSVM`, the sorted classes of the training set; in rankers, the signs of labels.

    Examples
    --------
    >>> from structsvm import Ranker, StructuralSVM
    >>> StructuralSVM("zero_one", C=10).fit([[-1.0], [2.0]], ["ham", "spam"]).predict([[3.0]]).tolist()
    ['spam']
    >>> Ranker("zero_one", C=10).fit([[-1.0], [2.0]], [0, 1]).predict([[3.0]]).item() > 0
    True
    """

    classes: tuple[Any, ...] | None = field(default=None, converter=_classes)

    kernel = staticmethod(zero_one)
    per_row = True

    def __attrs_post_init__(self) -> None:
        """Reject more than two classes."""
        if self.classes is not None and len(self.classes) > 2:
            some = ", ".join(map(repr, self.classes[:5])) + (", ..." if len(self.classes) > 5 else "")
            raise InputError(
                f"the loss zero_one separates two classes, but there are {len(self.classes)}: {some}. Use the loss "
                "multiclass, or make two classes of the labels, as in y > 0"
            )

    @property
    def numeric_labels(self) -> bool:  # type: ignore[override]
        """True unless `labels` accepts text."""
        return not reads_text(self.labels, "text")

    def bind_outputs(self, ys: Sequence[Any]) -> Self:
        """Fill in the classes of the training set."""
        return self if self.classes is not None else evolve(self, classes=sorted_labels(ys, _CLASSES))

    def labels(self, y: Any) -> Vector:
        """Return +1 for the positive class and −1 for the negative one; without classes, +1 for a label above 0."""
        return np.array([self._sign(y)])

    def encode(self, y_hat: Any, y: Any) -> Vector:
        return np.array([0.5 * self._sign(y_hat)])

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return 1 if ŷ is the wrong class or y is not among the classes, else 0."""
        return float(self._sign(y) != self._sign(y_hat) if self.classes is None else y != y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        sign = self._sign(y)
        return self._output(-sign if sign * scores[0] < 1.0 else sign)

    def slack_rescaled_argmax(self, scores: Vector, y: Any) -> Any:
        """Return the margin-rescaled argmax, which is the same because the loss is 0 or 1."""
        return self.loss_augmented_argmax(scores, y)

    def argmax(self, scores: Vector) -> Any:
        return self._output(scores[0])

    def outputs(self, y: Any) -> Iterable[Any]:
        return (-1.0, 1.0) if self.classes is None else self.classes

    def _sign(self, y: Any) -> float:
        if self.classes is None:
            return 1.0 if y > 0 else -1.0
        if y == self.classes[-1]:
            return 1.0 if len(self.classes) == 2 else 0.0
        if y != self.classes[0]:
            raise InputError(f"{y!r} is not among the classes {self.classes}")
        return -1.0

    def _output(self, sign: float) -> Any:
        """Return the class of a score's sign."""
        if self.classes is None:
            return 1.0 if sign > 0.0 else -1.0
        return self.classes[-1 if sign > 0.0 else 0]
