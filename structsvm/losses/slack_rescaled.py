"""Slack rescaling: the loss multiplies the violation of the margin instead of the margin."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.types import Vector
from structsvm.losses.base import Examples, Loss, ScoreLoss, Wrapper, of_inner
from structsvm.losses.user_methods import coefficients
from structsvm.registry import losses


def _checked(wanted: Any) -> Any:
    loss = losses.create(wanted)
    base = ScoreLoss if isinstance(loss, ScoreLoss) else Loss
    if type(loss).slack_rescaled_argmax is base.slack_rescaled_argmax:
        raise InputError(
            f"{type(loss).__name__} has no slack_rescaled_argmax, which slack rescaling needs: Δ times the violated "
            "margin has another maximum than their sum. Leave out SlackRescaled, write the method, or use Multiclass, "
            "ZeroOne, ROCArea, SwappedPairs or ChainHamming"
        )
    return loss


@frozen
class SlackRescaled(Wrapper, ScoreLoss[Any]):
    """Slack rescaling of another loss: the hinge ``max_ŷ Δ(y, ŷ) [1 − w·(Ψ(x, y) − Ψ(x, ŷ))]``.

    Tsochantaridis, Joachims, Hofmann and Altun, "Large margin methods for structured and interdependent output
    variables", JMLR 2005, section 2.2.1. Every wrong output needs a margin of 1; its loss multiplies the violation.
    With margin rescaling, the default of all losses, outputs with a large loss need a large margin. Both hinges bound
    the prediction's loss from above, and they are equal if Δ is 0 or 1.

    Parameters
    ----------
    loss : a loss with a ``slack_rescaled_argmax``, by name or as an object.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> from structsvm.losses import Multiclass
    >>> model = StructuralSVM(SlackRescaled(Multiclass()), C=10).fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"])
    >>> model.predict([[0.9, 0.1]]).tolist()
    ['cat']
    """

    inner: Any = field(converter=_checked, alias="loss")

    per_row = of_inner("per_row")
    multilabel = of_inner("multilabel")
    reads_rows = of_inner("reads_rows")
    scores_rows = of_inner("scores_rows")
    of_one_sample = of_inner("of_one_sample")
    reads_graphs = of_inner("reads_graphs")
    numeric_labels = of_inner("numeric_labels")
    classes = of_inner("classes")
    why_unusable = of_inner("why_unusable")
    why_none_usable = of_inner("why_none_usable")
    operator = of_inner("operator")
    usable = of_inner("usable")
    loss = of_inner("loss")
    truths = of_inner("truths")
    argmax = of_inner("argmax")
    prediction = of_inner("prediction")
    labels = of_inner("labels")
    outputs = of_inner("outputs")
    unwrap = of_inner("unwrap")
    predict = of_inner("predict")

    @property
    def title(self) -> str:
        """Name of the loss in messages, with the name of the inner loss."""
        return f"SlackRescaled({self.inner.title})"

    def bind(self, ys: Sequence[Any]) -> Self:
        """Return the loss with the inner loss bound to the data."""
        return evolve(self, loss=self.inner.bind(ys))

    def bind_outputs(self, ys: Sequence[Any]) -> Self:
        """Return the loss with the inner loss bound to outputs."""
        return evolve(self, loss=self.inner.bind_outputs(ys))

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return ``c(y) − Δ (c(y) − c(ŷ))``."""
        truth = coefficients(self.inner, y, y)
        return np.asarray(truth - self.inner.loss(y, y_hat) * (truth - coefficients(self.inner, y_hat, y)))

    @property
    def predicting(self) -> ScoreLoss[Any]:
        """The inner loss."""
        inner: ScoreLoss[Any] = self.inner
        return inner

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        """Return an output that maximizes ``Δ(y, ŷ) [1 + scores·(c(ŷ) − c(y))]``."""
        return self.inner.slack_rescaled_argmax(scores, y)

    def method_label(self, method: str) -> str:
        """Return the name of the inner loss's method."""
        return "slack_rescaled_argmax" if method == "loss_augmented_argmax" else str(self.inner.method_label(method))

    def examples(self, xs: Readable | Operator | Sequence[Any], ys: Sequence[Any], intercept: float = 0.0) -> Examples:
        """Make a training set as the inner loss does."""
        examples: Examples = self.inner.examples(xs, ys, intercept)
        return evolve(examples, loss=evolve(self, loss=examples.loss))
