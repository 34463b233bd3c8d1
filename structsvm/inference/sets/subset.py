"""The subsets of a fixed size."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.settings import at_least
from structsvm.foundation.types import Vector
from structsvm.inference.sets.base import CompiledSet, indicator


def best_subset(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the k largest scores; ``data`` is k."""
    order, k = descending(scores), int(data[0])
    for place in range(len(scores)):
        out[order[place]] = 1.0 if place < k else 0.0


@frozen
class Subset(CompiledSet):
    """The choices of k of n parts.

    `maximize` sorts the scores in O(n log n) operations; of parts with equal scores, it prefers the first ones.

    Parameters
    ----------
    n : number of parts.
    k : number of parts to choose.

    Raises
    ------
    InputError : k is larger than n.

    Examples
    --------
    >>> Subset(4, 2).maximize([0.5, 2.0, -1.0, 1.0])
    array([0., 1., 0., 1.])
    """

    n: int = field(validator=at_least(1))
    k: int = field(validator=at_least(0))

    kernel: ClassVar[Any] = staticmethod(best_subset)

    def __attrs_post_init__(self) -> None:
        """Reject a k that is larger than n."""
        if self.k > self.n:
            raise InputError(f"Subset(n={self.n}, k={self.k}): k must be at most n")

    @property
    def size(self) -> int:
        return self.n

    def data(self) -> Vector:
        return np.array([float(self.k)])

    def outputs(self) -> Iterable[Vector]:
        return (indicator(self.size, parts) for parts in combinations(range(self.n), self.k))
