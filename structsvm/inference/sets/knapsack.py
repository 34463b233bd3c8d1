"""Choices of items that fit a knapsack."""

from collections.abc import Iterable
from itertools import product
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import at_least
from structsvm.foundation.types import Vector
from structsvm.inference.sets.base import CompiledSet

_LARGEST = 2.0**53
"""Largest number up to which float64 holds all integers."""


def best_knapsack(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the best items that fit; ``data`` is the capacity, then the weight of each item.

    ``value[k, room]`` is the value of the best of the first k items in a knapsack of capacity ``room``.
    """
    items, capacity = len(scores), int(data[0])
    value = np.empty((items + 1, capacity + 1))
    for room in range(capacity + 1):
        value[0, room] = 0.0
    for k in range(items):
        weight, score = int(data[1 + k]), scores[k]
        for room in range(min(weight, capacity + 1)):
            value[k + 1, room] = value[k, room]
        for room in range(weight, capacity + 1):
            value[k + 1, room] = max(value[k, room], value[k, room - weight] + score)
    room = capacity
    for k in range(items - 1, -1, -1):
        out[k] = 1.0 if value[k + 1, room] > value[k, room] else 0.0
        room -= int(out[k] * data[1 + k])


def _weights(values: Any) -> tuple[int, ...]:
    weights = numbers(values, "Knapsack(weights=...)")
    if weights.ndim != 1:
        raise InputError(f"Knapsack(weights=...) must be one number for each item; their shape is {weights.shape}")
    wrong = ~((weights >= 0.0) & (weights <= _LARGEST) & (weights == np.floor(weights)))
    if wrong.any():
        item = int(np.argmax(wrong))
        raise InputError(
            f"Knapsack(weights=...) must be integers of at least 0: item {item} has {weights[item]:g}. Multiply "
            "weights and capacity by a number that makes them integers, or use a Program"
        )
    return tuple(weights.astype(np.int64).tolist())


@frozen
class Knapsack(CompiledSet):
    """The choices of items whose weights add up to a knapsack's capacity at most.

    The parts are the items, in their order in ``weights``. For several capacities and kinds of weights, use a
    `Program`.

    `maximize` is a dynamic program with O(items · capacity) operations and numbers in memory (Kellerer, Pferschy and
    Pisinger, "Knapsack Problems", Springer 2004). The best choice contains only items with positive scores.

    Parameters
    ----------
    weights : weight of each item, integers of at least 0.
    capacity : largest sum of weights, an integer.

    Raises
    ------
    TooLargeError : the numbers exceed the memory.

    Examples
    --------
    >>> Knapsack([3, 2, 2], capacity=4).maximize([4.0, 3.0, 2.0])
    array([0., 1., 1.])
    """

    weights: tuple[int, ...] = field(converter=_weights)
    capacity: int = field(validator=at_least(0))

    kernel: ClassVar[Any] = staticmethod(best_knapsack)

    def __attrs_post_init__(self) -> None:
        """Reject a capacity whose dynamic program does not fit memory."""
        require_memory(8.0 * (self.size + 1) * (self._room + 1), "The sums of this knapsack", "use a Program")

    @property
    def _room(self) -> int:
        return min(self.capacity, sum(self.weights))

    @property
    def size(self) -> int:
        return len(self.weights)

    def data(self) -> Vector:
        return np.array([self._room, *self.weights], dtype=np.float64)

    def outputs(self) -> Iterable[Vector]:
        for counts in product((0, 1), repeat=self.size):
            if np.dot(counts, self.weights) <= self.capacity:
                yield np.array(counts, dtype=np.float64)
