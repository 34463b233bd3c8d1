"""What losses have in common that stand for another one, which their settings and the labels choose."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.relevance import ONE_KIND
from structsvm.types import Vector


@frozen
class ChosenLoss(ScoreLoss[Any]):
    """A loss of documents with labels whose methods are those of another one.

    Derive from it and write `chosen`, ``kernel``, and ``bind``, after which the choice is made.
    """

    numeric_labels = True

    @abstractmethod
    def chosen(self, ys: Sequence[Vector]) -> ScoreLoss[Any]:
        """Return the loss that this one stands for where the labels are these."""

    def encode(self, y_hat: Any, y: Vector) -> Vector:
        """Return the coefficient of each document, in the encoding of the loss that is chosen."""
        return self.chosen([y]).encode(y_hat, y)

    def labels(self, y: Vector) -> Vector:
        """Return what the kernel reads of a query."""
        return self.chosen([y]).labels(y)

    def params(self, ys: Sequence[Vector]) -> Vector:
        """Return what the kernel reads of all queries together."""
        return self.chosen(ys).params(ys)

    def usable(self, y: Vector) -> bool:
        """Say whether the query has documents that rankings can tell apart."""
        return self.chosen([y]).usable(y)

    def why_none_usable(self, ys: Sequence[Vector]) -> str:
        """Say so where the documents of each query are all alike."""
        chosen = self.chosen(ys)
        told = self.why_unusable or any(map(chosen.usable, ys))
        return super().why_none_usable(ys) if told else ONE_KIND

    def loss(self, y: Vector, y_hat: Any) -> float:
        """Return Δ of the loss that is chosen."""
        return self.chosen([y]).loss(y, y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Any:
        """Return the most violated output of the loss that is chosen."""
        return self.chosen([y]).loss_augmented_argmax(scores, y)

    def argmax(self, scores: Vector) -> Vector:
        """Return the scores: sorting by them maximises ``w·Ψ``."""
        return scores

    def outputs(self, y: Vector) -> Iterable[Any]:
        """Return all outputs of the loss that is chosen."""
        return self.chosen([y]).outputs(y)
