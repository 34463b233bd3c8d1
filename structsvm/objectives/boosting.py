"""What the objectives and metrics of boosted trees share."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.metrics import AP, Measure, parse_measure
from structsvm.objectives.recent import Recent
from structsvm.settings import positive
from structsvm.types import IntVector, Vector


@frozen
class BoostedHinge:
    """The hinges of a loss as an objective of boosted trees, which want a second derivative too.

    The hinge is piecewise linear and has none. With a constant one in its place a leaf's value is minus the mean of its
    documents' gradients, over that constant: gradient boosting (Friedman, Annals of Statistics 2001, algorithm 1), with
    the learning rate over that constant as the length of steps.

    Parameters
    ----------
    loss : name or object; see `Hinge`.
    hessian : what stands for the second derivative of each document; above 0.
    """

    loss: str | ScoreLoss[Any] = "map"
    hessian: float = field(default=1.0, validator=positive)
    _recent: Recent = field(init=False, eq=False, repr=False)

    @_recent.default
    def _of_loss(self) -> Recent:
        return Recent(self.loss)

    def steps(
        self, y: ArrayLike, scores: ArrayLike, qid: IntVector | None, weights: Vector | None
    ) -> tuple[Vector, Vector]:
        """Return gradient and Hessian of each document.

        Parameters
        ----------
        y, scores : labels and scores, shape (n,).
        qid : query id of each row. None: all rows are one query.
        weights : weight of each row, the same within a query. None: all 1.
        """
        gradient = self._recent.of(y, qid)(scores).gradient
        hessian = np.full(len(gradient), float(self.hessian))
        return (gradient, hessian) if weights is None else (gradient * weights, hessian * weights)


def _measure(measure: Any) -> Measure:
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise InputError(f"measure must be a name, or a measure such as NDCG(k=10), got {measure!r}")
    return parse_measure(measure)


@frozen
class BoostedMeasure:
    """A measure as a metric of boosted trees.

    Parameters
    ----------
    measure : name, as `structsvm.metrics.parse_measure` reads it, or object.
    """

    measure: Measure = field(default=AP(), converter=_measure)
