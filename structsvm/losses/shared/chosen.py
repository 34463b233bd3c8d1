"""Losses that delegate to another loss, which settings and labels choose."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.losses.base import RankedByScore, ScoreLoss
from structsvm.losses.shared.relevance import ONE_KIND


@frozen
class ChosenLoss(RankedByScore):
    """A loss that delegates to another one; derived classes define `chosen`, ``kernel`` and ``bind``."""

    numeric_labels = True

    @abstractmethod
    def chosen(self, ys: Sequence[Vector]) -> ScoreLoss[Any]:
        """Return the loss to use for these labels."""

    def encode(self, y_hat: Any, y: Vector) -> Vector:
        return self.chosen([y]).encode(y_hat, y)

    def labels(self, y: Vector) -> Vector:
        return self.chosen([y]).labels(y)

    def params(self, ys: Sequence[Vector]) -> Vector:
        return self.chosen(ys).params(ys)

    def usable(self, y: Vector) -> bool:
        return self.chosen([y]).usable(y)

    def why_none_usable(self, ys: Sequence[Vector]) -> str:
        chosen = self.chosen(ys)
        told = self.why_unusable or any(map(chosen.usable, ys))
        return super().why_none_usable(ys) if told else ONE_KIND

    def loss(self, y: Vector, y_hat: Any) -> float:
        return self.chosen([y]).loss(y, y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Any:
        return self.chosen([y]).loss_augmented_argmax(scores, y)

    def outputs(self, y: Vector) -> Iterable[Any]:
        return self.chosen([y]).outputs(y)
