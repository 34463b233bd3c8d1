"""Losses of outputs with parts that nobody labelled."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from attrs import frozen

from structsvm.losses.base import Loss, StructuredLoss, X, Y, call_method
from structsvm.types import Vector

H = TypeVar("H")


class LatentLoss(StructuredLoss[Y], Generic[X, Y, H]):
    """A loss of outputs y whose joint features need a latent h too: where in an image the object is, say.

    Yu and Joachims, "Learning structural SVMs with latent variables", ICML 2009. What is minimised is

    ``½‖w‖² + (C/n) Σ_i κ_i { max_ŷ,ĥ [Δ(y_i, ŷ, ĥ) + w·Ψ(x_i, ŷ, ĥ)] − max_h w·Ψ(x_i, y_i, h) }``,

    whose terms bound the losses ``Δ(y_i, ŷ, ĥ)`` of the predictions from above.
    ``structsvm.testing.check_latent_loss`` says whether one is right.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.losses import LatentLoss
    >>> from structsvm.testing import check_latent_loss
    >>> class Bags(LatentLoss):  # y is 1 where a row of x is what is looked for; h is which
    ...     def joint_feature(self, x, y, h):
    ...         return y * x[h]
    ...     def loss(self, y, y_hat, h_hat):
    ...         return float(y != y_hat)
    ...     def initial(self, x, y):
    ...         return 0
    ...     def complete(self, x, y, w):
    ...         return int(np.argmax(x @ w))
    ...     def argmax(self, x, w):
    ...         h = self.complete(x, 1, w)
    ...         return int(x[h] @ w > 0.0), h
    ...     def loss_augmented_argmax(self, x, y, w):
    ...         h = self.complete(x, 1, w)
    ...         return int(x[h] @ w > 2 * y - 1), h
    ...     def outputs(self, x, y):
    ...         return [(y_hat, h) for y_hat in (0, 1) for h in range(len(x))]
    ...     def completions(self, x, y):
    ...         return range(len(x))
    >>> check_latent_loss(Bags(), [(np.eye(2), 1), (-np.eye(2), 0)])
    """

    reads_rows = False
    scores_rows = False

    @property
    def checked_by(self) -> str:
        """The function that checks latent losses."""
        return "structsvm.testing.check_latent_loss"

    @abstractmethod
    def joint_feature(self, x: X, y: Y, h: H) -> Vector:
        """Return ``Ψ(x, y, h)``, shape (d,), the same d for all."""

    @abstractmethod
    def loss(self, y: Y, y_hat: Y, h_hat: H) -> float:
        """Return ``Δ(y, ŷ, ĥ)``: at least 0, and 0 at ``ŷ = y``, whatever ``ĥ`` is."""

    @abstractmethod
    def initial(self, x: X, y: Y) -> H:
        """Return a first guess of h: the first convex problem takes it for the truth."""

    @abstractmethod
    def complete(self, x: X, y: Y, w: Vector) -> H:
        """Return an h that maximises ``w·Ψ(x, y, h)``."""

    @abstractmethod
    def loss_augmented_argmax(self, x: X, y: Y, w: Vector) -> tuple[Y, H]:
        """Return ``(ŷ, ĥ)`` that maximise ``Δ(y, ŷ, ĥ) + w·Ψ(x, ŷ, ĥ)``."""

    @abstractmethod
    def argmax(self, x: X, w: Vector) -> tuple[Y, H]:
        """Return ``(ŷ, ĥ)`` that maximise ``w·Ψ(x, ŷ, ĥ)``: the prediction."""

    def outputs(self, x: X, y: Y) -> Iterable[tuple[Y, H]]:
        """Return all pairs of an output and an h of a small example, for ``check_latent_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its outputs; define outputs(x, y)")

    def completions(self, x: X, y: Y) -> Iterable[H]:
        """Return all h of the truth of a small example, for ``check_latent_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its completions; define completions(x, y)")


@frozen
class Completed(Loss[Any, tuple[Any, Any]]):
    """A `LatentLoss` as a `Loss` whose outputs are pairs (y, h): the h of the truth is taken for known.

    Parameters
    ----------
    latent : the loss.
    """

    latent: LatentLoss[Any, Any, Any]

    def joint_feature(self, x: Any, y: tuple[Any, Any]) -> Vector:
        """Return ``Ψ(x, y, h)``."""
        return self.latent.joint_feature(x, *y)

    def loss(self, y: tuple[Any, Any], y_hat: tuple[Any, Any]) -> float:
        """Return ``Δ(y, ŷ, ĥ)``."""
        return self.latent.loss(y[0], *y_hat)

    def loss_augmented_argmax(self, x: Any, y: tuple[Any, Any], w: Vector) -> tuple[Any, Any]:
        """Return ``(ŷ, ĥ)`` that maximise ``Δ(y, ŷ, ĥ) + w·Ψ(x, ŷ, ĥ)``."""
        return _pair(self.latent.loss_augmented_argmax(x, y[0], w))

    def argmax(self, x: Any, w: Vector) -> tuple[Any, Any]:
        """Return the prediction."""
        return _pair(self.latent.argmax(x, w))

    def completion(self, example: int, x: Any, y: Any, w: Vector) -> Any:
        """Return the latent that completes the truth y of an example."""
        return call_method(self, "complete", example, self.latent.complete, x, y, w)

    @property
    def check_before_fit(self) -> bool:  # type: ignore[override]
        """As the latent loss says."""
        return self.latent.check_before_fit

    def weight_bounds(self, d: int) -> tuple[Vector, Vector] | None:
        """Return those of the latent loss."""
        return self.latent.weight_bounds(d)

    def outputs(self, x: Any, y: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
        """Return all pairs."""
        return self.latent.outputs(x, y[0])

    @property
    def exact(self) -> bool:
        """Whether the latent loss is."""
        return self.latent.exact

    @property
    def title(self) -> str:
        """The name of the latent loss."""
        return self.latent.title

    @property
    def checked_by(self) -> str:
        """The check of the latent loss."""
        return self.latent.checked_by


def _pair(found: Any) -> tuple[Any, Any]:
    """Return what an argmax of a latent loss returned, where that is a pair."""
    try:
        y_hat, h_hat = found
    except (TypeError, ValueError):
        raise TypeError(f"it must return a pair (output, latent), and returned {found!r}") from None
    return y_hat, h_hat
