"""Segmentations of a sequence into labeled segments."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import at_least
from structsvm.foundation.types import Vector
from structsvm.inference.sets.base import CompiledSet, indicator


def best_segmentation(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the segments of the best segmentation; ``data`` is (length, labels, longest)."""
    length, labels, longest = int(data[0]), int(data[1]), int(data[2])
    value, last = np.empty(length + 1), np.empty(length + 1, np.int64)
    value[0] = 0.0
    for end in range(1, length + 1):
        best, best_part = -np.inf, -1
        for start in range(end - 1, max(end - longest, 0) - 1, -1):
            first = (start * longest + end - start - 1) * labels
            for part in range(first, first + labels):
                total = value[start] + scores[part]
                if total > best or best_part < 0:
                    best, best_part = total, part
        value[end], last[end] = best, best_part
    out[:] = 0.0
    end = length
    while end > 0:
        out[last[end]] = 1.0
        end = last[end] // (longest * labels)


@frozen
class Segmentation(CompiledSet):
    """The segmentations of a sequence into consecutive labeled segments that cover it (semi-Markov model).

    The parts are all triples of start, number of elements and label, in this order: the segment of k elements from
    ``start`` with a label is part ``(start * longest + k - 1) * labels + label``, so
    ``y.reshape(length, longest, labels)`` is the array of an output y. Parts that exceed the end are in no output.

    `maximize` is a dynamic program with O(length · longest · labels) operations (Sarawagi and Cohen, "Semi-Markov
    Conditional Random Fields for Information Extraction", NIPS 2004).

    Parameters
    ----------
    length : length of the sequence.
    labels : number of labels.
    longest : largest number of elements of a segment; it may exceed ``length``.

    Examples
    --------
    >>> y = Segmentation(3, labels=1, longest=2).maximize([1.0, 3.0, 0.0, 4.0, 1.0, 9.0])
    >>> [(start, k + 1, label) for start, k, label in np.argwhere(y.reshape(3, 2, 1)).tolist()]
    [(0, 1, 0), (1, 2, 0)]
    """

    length: int = field(validator=at_least(1))
    labels: int = field(validator=at_least(1))
    longest: int = field(validator=at_least(1))

    kernel: ClassVar[Any] = staticmethod(best_segmentation)

    @property
    def size(self) -> int:
        return self.length * self.longest * self.labels

    def data(self) -> Vector:
        return np.array([self.length, self.labels, self.longest], dtype=np.float64)

    def outputs(self) -> Iterable[Vector]:
        begun: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while begun:
            start, parts = begun.pop()
            if start == self.length:
                yield indicator(self.size, parts)
            for k in range(min(self.longest, self.length - start)):
                first = (start * self.longest + k) * self.labels
                begun += [(start + k + 1, (*parts, part)) for part in range(first, first + self.labels)]
