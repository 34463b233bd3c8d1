"""Show the most violated output of one example, for inspection."""

from typing import Any

import numpy as np
from attrs import frozen

from structsvm.foundation.settings import require_integer, require_number
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.user_methods import coefficients
from structsvm.problem.checks import checked_output, require_usable
from structsvm.problem.problem import Problem
from structsvm.registry import losses
from structsvm.result import CutSet


@frozen(eq=False)
class MostViolated:
    """The most violated output of one example, its loss and its margin ``w·Ψ(x, y) − w·Ψ(x, output)``.

    ``binding`` are the indices of the binding cuts of a result, which have a positive multiplier.
    """

    output: Any
    loss: float
    margin: float
    binding: IntVector

    @property
    def hinge(self) -> float:
        """``loss − margin``, the example's unweighted term of the mean hinge."""
        return self.loss - self.margin


def most_violated(
    x: Any,
    y: Any,
    w: Vector,
    *,
    loss: str | ScoreLoss[Any] | Loss[Any, Any],
    cuts: CutSet | None = None,
    example: int | None = None,
    intercept: float = 0.0,
) -> MostViolated:
    """Return the most violated output of one example at given weights.

    Parameters
    ----------
    x, y : the example: its input (a matrix of rows for a `ScoreLoss`) and its true output.
    w : weights, shape (d,).
    loss : name or object.
    cuts : ``result.cuts``, to find the binding ones.
    example : index of the example in the solved problem, to find only its own binding cuts, which only n-slack stores.
        None: the cuts of all examples.
    intercept : value of the constant feature; 0 for none.

    Returns
    -------
    An object with the ``output``, its ``loss``, ``margin`` and ``hinge``, and ``binding``, the indices of the cuts with
    a positive multiplier.

    Examples
    --------
    >>> found = most_violated([[1.0], [2.0]], [0, 1], np.array([-1.0]), loss="map")
    >>> round(found.loss, 3), round(found.hinge, 3)
    (0.5, 2.5)
    """
    require_number("intercept", intercept)
    require_integer("example", example, 0, optional=True)
    examples = losses.create(loss).examples([x], [y], intercept)
    scored, truth = examples.loss, examples.ys[0]
    require_usable(scored, [x], examples.ys, examples.sizes, np.ones(1, dtype=np.bool_))
    scores = Problem.make(examples, C=1.0).at(w).scores
    output, _ = checked_output(scored, scored.loss_augmented_argmax(scores, truth))
    delta = float(scored.loss(truth, output))
    margin = float((coefficients(scored, truth, truth) - coefficients(scored, output, truth)) @ scores)
    if scored.unreachable_truths and delta < margin:
        output, delta, margin = truth, 0.0, 0.0
    if cuts is None:
        binding = np.zeros(0, dtype=bool)
    else:
        binding = (cuts.a > 0.0) & (example is None or cuts.group == example)
    return MostViolated(
        output=scored.unwrap(output),
        loss=delta,
        margin=margin,
        binding=np.flatnonzero(binding),
    )
