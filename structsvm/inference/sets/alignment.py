"""Monotone alignments of two sequences."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import at_least
from structsvm.foundation.types import Vector
from structsvm.inference.sets.base import CompiledSet, indicator


def best_alignment(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the pairs of the best alignment; ``data`` is both lengths.

    ``value[i, j]`` is the value of the best alignment of the first i and the first j elements.
    """
    first, second = int(data[0]), int(data[1])
    value = np.empty((first + 1, second + 1))
    for j in range(second + 1):
        value[0, j] = 0.0
    for i in range(first):
        value[i + 1, 0] = 0.0
        for j in range(second):
            pair = value[i, j] + scores[i * second + j]
            value[i + 1, j + 1] = max(pair, max(value[i, j + 1], value[i + 1, j]))
            out[i * second + j] = 0.0
    i, j = first, second
    while i > 0 and j > 0:
        if value[i, j] == value[i - 1, j]:
            i -= 1
        elif value[i, j] == value[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            out[i * second + j] = 1.0


@frozen
class Alignment(CompiledSet):
    """The monotone alignments of two sequences: pairs of elements that keep the order of both.

    An element has at most one partner. The parts are all pairs, row by row: the pair of element i of
    the first sequence and element j of the second one is part ``i * second + j``, so ``y.reshape(first, second)`` is
    the matrix of an output y. For a penalty per element without a partner, add twice the penalty to the score of each
    pair.

    `maximize` is a dynamic program with O(first · second) operations (Needleman and Wunsch, "A General Method
    Applicable to the Search for Similarities in the Amino Acid Sequence of Two Proteins", Journal of Molecular Biology
    1970). The best alignment contains only pairs with positive scores.

    Parameters
    ----------
    first : length of the first sequence.
    second : length of the second sequence.

    Examples
    --------
    >>> Alignment(2, 3).maximize([1.0, 3.0, 0.0, 2.0, 0.0, 1.0]).reshape(2, 3)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """

    first: int = field(validator=at_least(1))
    second: int = field(validator=at_least(1))

    kernel: ClassVar[Any] = staticmethod(best_alignment)

    @property
    def size(self) -> int:
        return self.first * self.second

    def data(self) -> Vector:
        return np.array([self.first, self.second], dtype=np.float64)

    def outputs(self) -> Iterable[Vector]:
        for pairs in range(min(self.first, self.second) + 1):
            for rows in combinations(range(self.first), pairs):
                for columns in combinations(range(self.second), pairs):
                    parts = (i * self.second + j for i, j in zip(rows, columns, strict=True))
                    yield indicator(self.size, parts)
