"""Slack rescaling: the loss multiplies the violation of the margin, and not the margin."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from attrs import evolve, field, frozen

from structsvm.exceptions import InputError
from structsvm.losses.base import Examples, Loss, ScoreLoss
from structsvm.operators import Operator, Readable
from structsvm.registry import losses
from structsvm.types import Vector


def _checked(given: Any) -> Any:
    loss = losses.create(given)
    base = ScoreLoss if isinstance(loss, ScoreLoss) else Loss
    if type(loss).slack_rescaled_argmax is base.slack_rescaled_argmax:
        raise InputError(
            f"{type(loss).__name__} has no slack_rescaled_argmax, without which a slack cannot be rescaled: the "
            "maximum of Δ times the violated margin is another one than that of their sum. Multiclass, ZeroOne, "
            "ROCArea and SwappedPairs have one"
        )
    return loss


@frozen
class SlackRescaled(ScoreLoss[Any]):
    """Another loss with the hinge ``max_ŷ Δ(y, ŷ) [1 − w·(Ψ(x, y) − Ψ(x, ŷ))]``.

    Tsochantaridis, Joachims, Hofmann and Altun, "Large margin methods for structured and interdependent output
    variables", JMLR 2005, section 2.2.1. Every wrong output is to be behind by the same margin of 1, and its loss says
    what it costs when it is not; with margins rescaled, which is what losses are without this, outputs of a large loss
    must be far behind, also where they are never confused with the truth. Both hinges bound the loss of the prediction
    from above, and where Δ is 0 or 1 they are the same.

    The plane of an output is ``(Δ (c(y) − c(ŷ)), Δ)``: as if it were encoded by ``c(y) − Δ (c(y) − c(ŷ))``.

    Parameters
    ----------
    loss : a loss with a ``slack_rescaled_argmax``, by name or as an object.

    Raises
    ------
    InputError : when it has none.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> from structsvm.losses import Multiclass, SlackRescaled
    >>> model = StructuralSVM(SlackRescaled(Multiclass()), C=10).fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"])
    >>> model.predict([[0.9, 0.1]]).tolist()
    ['cat']
    """

    inner: Any = field(converter=_checked, alias="loss")

    @property
    def per_row(self) -> bool:  # type: ignore[override]
        """As the loss."""
        return bool(self.inner.per_row)

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        """As the loss."""
        return bool(self.inner.reads_rows)

    @property
    def scores_rows(self) -> bool:  # type: ignore[override]
        """As the loss."""
        return bool(self.inner.scores_rows)

    @property
    def of_one_sample(self) -> bool:  # type: ignore[override]
        """As the loss."""
        return bool(self.inner.of_one_sample)

    @property
    def check_before_fit(self) -> bool:  # type: ignore[override]
        """As the loss."""
        return bool(self.inner.check_before_fit)

    @property
    def exact(self) -> bool:
        """As the loss."""
        return bool(self.inner.exact)

    @property
    def numeric_labels(self) -> bool:
        """As the loss."""
        return bool(self.inner.numeric_labels)

    @property
    def title(self) -> str:
        """The name of the loss."""
        return f"SlackRescaled({self.inner.title})"

    @property
    def why_unusable(self) -> str:
        """As the loss."""
        return str(self.inner.why_unusable)

    def why_none_usable(self, ys: Sequence[Any]) -> str:
        """As the loss."""
        return str(self.inner.why_none_usable(ys))

    def bind(self, ys: Sequence[Any]) -> Self:
        """Fill in what the loss must know of the data."""
        return evolve(self, loss=self.inner.bind(ys))

    def weight_bounds(self, d: int) -> tuple[Vector, Vector] | None:
        """As the loss."""
        bounds: tuple[Vector, Vector] | None = self.inner.weight_bounds(d)
        return bounds

    def operator(self, rows: Operator) -> Operator:
        """Return the operator of the loss."""
        made: Operator = self.inner.operator(rows)
        return made

    def usable(self, y: Any) -> bool:
        """As the loss."""
        return bool(self.inner.usable(y))

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return ``Δ(y, ŷ)``."""
        return float(self.inner.loss(y, y_hat))

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return ``c(y) − Δ (c(y) − c(ŷ))``."""
        truth: Vector = self.inner.encode(y, y)
        moved: Vector = truth - self.inner.loss(y, y_hat) * (truth - self.inner.encode(y_hat, y))
        return moved

    @property
    def predicting(self) -> ScoreLoss[Any]:
        """The loss."""
        inner: ScoreLoss[Any] = self.inner
        return inner

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        """Return an output that maximises ``Δ(y, ŷ) [1 + scores·(c(ŷ) − c(y))]``."""
        return self.inner.slack_rescaled_argmax(scores, y)

    def argmax(self, scores: Vector) -> Any:
        """Return the prediction, which is that of the loss."""
        return self.inner.argmax(scores)

    def prediction(self, scores: Vector, y: Any) -> Any:
        """Return the prediction of the loss."""
        return self.inner.prediction(scores, y)

    def outputs(self, y: Any) -> Iterable[Any]:
        """Return the outputs of the loss."""
        found: Iterable[Any] = self.inner.outputs(y)
        return found

    def called(self, method: str) -> str:
        """Return the method of the loss that this one calls."""
        return "slack_rescaled_argmax" if method == "loss_augmented_argmax" else str(self.inner.called(method))

    def unwrap(self, y_hat: Any) -> Any:
        """Return an output as the author of the loss knows it."""
        return self.inner.unwrap(y_hat)

    def examples(self, xs: Readable | Sequence[Any], ys: Sequence[Any], intercept: float = 0.0) -> Examples:
        """Make a training set as the loss does."""
        made: Examples = self.inner.examples(xs, ys, intercept)
        return evolve(made, loss=evolve(self, loss=made.loss))

    def predict(self, xs: Readable | Sequence[Any], w: Vector, intercept: float = 0.0) -> list[Any]:
        """Return the predictions of the loss."""
        return list(self.inner.predict(xs, w, intercept))
