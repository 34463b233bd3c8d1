"""One of K classes."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError
from structsvm.losses.base import ScoreLoss
from structsvm.losses.kernels.multiclass import multiclass
from structsvm.operators import Operator, PerClass
from structsvm.types import Vector


def _classes(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(np.asarray(list(values)).tolist())


@frozen
class Multiclass(ScoreLoss[Any]):
    """The zero-one loss of one of K classes, with a weight vector for each class.

    Crammer and Singer, "On the Algorithmic Implementation of Multiclass Kernel-based Vector
    Machines", JMLR 2001: the objective of scikit-learn's
    ``LinearSVC(multi_class="crammer_singer", C=C / n, fit_intercept=False)``.

    Parameters
    ----------
    classes : the K classes, numbers or strings; None: those of the training set, sorted.
    """

    classes: tuple[Any, ...] | None = field(default=None, converter=_classes)

    kernel = staticmethod(multiclass)
    per_row = True

    def bind(self, ys: Sequence[Any]) -> Self:
        """Fill in the classes of the training set."""
        return self if self.classes is not None else evolve(self, classes=np.unique(np.asarray(ys)))

    def operator(self, rows: Operator) -> Operator:
        """Return K scores a row."""
        return PerClass(rows, len(self._known()))

    def index(self, y: Any) -> int:
        """Return the number of a class, from 0."""
        try:
            return self._known().index(y)
        except ValueError:
            raise InputError(f"{y!r} is not among the classes {self._known()}") from None

    def labels(self, y: Any) -> Vector:
        """Return the number of the class."""
        return np.array([self.index(y)], dtype=np.float64)

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return 1 at the class of the output."""
        code = np.zeros(len(self._known()))
        code[self.index(y_hat)] = 1.0
        return code

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return 1 where the classes differ."""
        return float(y != y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        """Return the class with the largest score after 1 is added to all but the true one."""
        augmented = scores + 1.0
        augmented[self.index(y)] -= 1.0
        return self._known()[int(np.argmax(augmented))]

    def argmax(self, scores: Vector) -> Any:
        """Return the class with the largest score."""
        return self._known()[int(np.argmax(scores))]

    def outputs(self, y: Any) -> Iterable[Any]:
        """Return the classes."""
        return self._known()

    def _known(self) -> tuple[Any, ...]:
        if self.classes is None:
            raise InputError("the classes are not known yet: give Multiclass(classes=...) or bind(ys) them")
        return self.classes
