"""The base class of losses of outputs with latent parts."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.inference.sets import Bounded
from structsvm.losses.base import Loss, StructuredLoss, Wrapper, X, Y
from structsvm.losses.user_methods import dense, output_of, separate

H = TypeVar("H")


class LatentLoss(StructuredLoss[Y], Generic[X, Y, H]):
    """Base class of losses whose joint features also need a latent h, such as the place of an object in an image.

    Yu and Joachims, "Learning structural SVMs with latent variables", ICML 2009. Fits minimize, with weights κ_i,

    ``½‖w‖² + (C/n) Σ_i κ_i { max_ŷ,ĥ [Δ(y_i, ŷ, ĥ) + w·Ψ(x_i, ŷ, ĥ)] − max_h w·Ψ(x_i, y_i, h) }``,

    and each term in braces bounds the loss ``Δ(y_i, ŷ, ĥ)`` of the prediction from above.
    ``structsvm.testing.check_latent_loss`` checks an implementation.

    Examples
    --------
    >>> from structsvm.testing import check_latent_loss
    >>> class Bags(LatentLoss):  # y is 1 if a row of x is a match; h is the index of the row
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
    checked_by = "structsvm.testing.check_latent_loss"

    @abstractmethod
    def joint_feature(self, x: X, y: Y, h: H) -> Vector:
        """Return ``Ψ(x, y, h)``, shape (d,), the same d for all; a sparse vector may have shape (1, d)."""

    @abstractmethod
    def loss(self, y: Y, y_hat: Y, h_hat: H) -> float:
        """Return ``Δ(y, ŷ, ĥ)``: at least 0, and 0 at ``ŷ = y`` for every ``ĥ``."""

    @abstractmethod
    def initial(self, x: X, y: Y) -> H:
        """Return a first guess of h, which the first convex problem uses as the true h."""

    @abstractmethod
    def complete(self, x: X, y: Y, w: Vector) -> H:
        """Return an h that maximizes ``w·Ψ(x, y, h)``."""

    @abstractmethod
    def loss_augmented_argmax(self, x: X, y: Y, w: Vector) -> tuple[Y, H]:
        """Return ``(ŷ, ĥ)`` that maximize ``Δ(y, ŷ, ĥ) + w·Ψ(x, ŷ, ĥ)``."""

    @abstractmethod
    def argmax(self, x: X, w: Vector) -> tuple[Y, H]:
        """Return ``(ŷ, ĥ)`` that maximize ``w·Ψ(x, ŷ, ĥ)``: the prediction."""

    def outputs(self, x: X, y: Y) -> Iterable[tuple[Y, H]]:
        """Return all pairs (output, h) of a small example, for ``check_latent_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its outputs; define outputs(x, y)")

    def completions(self, x: X, y: Y) -> Iterable[H]:
        """Return all h of the true output of a small example, for ``check_latent_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its completions; define completions(x, y)")


@frozen
class Completed(Wrapper, Loss[Any, tuple[Any, Any]]):
    """A `LatentLoss` as a `Loss` with outputs (y, h), in which the true h is fixed.

    With ``with_truths``, `loss_augmented_argmax` also tries the best completion of the true output, which the inner
    loss may be unable to return.
    """

    inner: LatentLoss[Any, Any, Any]
    with_truths: bool = False

    def joint_feature(self, x: Any, y: tuple[Any, Any]) -> Vector:
        return self.inner.joint_feature(x, *y)

    def loss(self, y: tuple[Any, Any], y_hat: tuple[Any, Any]) -> float:
        return self.inner.loss(y[0], *y_hat)

    def loss_augmented_argmax(self, x: Any, y: tuple[Any, Any], w: Vector) -> Any:
        answer: Any = self.inner.loss_augmented_argmax(x, y[0], w)
        pair, bound = (_pair(answer.output), answer.bound) if self.bounded else (_pair(answer), None)
        if self.with_truths:
            pair = separate(pair)
            truth = y[0], separate(self.inner.complete(x, y[0], w))
            value = self._value(x, truth, w)
            if self.loss(y, pair) + self._value(x, pair, w) < value:
                pair = truth
            bound = None if bound is None else max(bound, value)
        return pair if bound is None else Bounded(pair, bound)

    def _value(self, x: Any, pair: tuple[Any, Any], w: Vector) -> float:
        return float(w @ np.asarray(dense(self.joint_feature(x, pair)), dtype=np.float64))

    def argmax(self, x: Any, w: Vector) -> tuple[Any, Any]:
        return _pair(self.inner.argmax(x, w))

    def completion(self, example: int, x: Any, y: Any, w: Vector) -> Any:
        """Return the best latent of an example's true output."""
        return output_of(self, "complete", example, self.inner.complete, x, y, w)

    def outputs(self, x: Any, y: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
        return self.inner.outputs(x, y[0])


def _pair(output: Any) -> tuple[Any, Any]:
    """Return the result of a latent loss's argmax; raise TypeError if it is not a pair."""
    try:
        y_hat, h_hat = output
    except (TypeError, ValueError):
        raise TypeError(f"it must return a pair (output, latent), but returned {output!r}") from None
    return y_hat, h_hat
