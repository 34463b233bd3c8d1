"""Projective dependency trees."""

from collections.abc import Iterable
from itertools import product
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import at_least
from structsvm.foundation.types import Vector
from structsvm.inference.sets.base import CompiledSet, indicator
from structsvm.inference.sets.edges import reachable


def best_projective_tree(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the dependencies of the best projective tree; ``data`` is the number of words.

    ``whole[h, e]`` is the value of the best tree over the words from its root h to e, on either side; ``begun[h, m]``
    is the same if m is a modifier of h. ``split[h, e]`` is the last modifier of h in the best tree, and ``joint[s, t]``
    the last word between s and t that belongs to s.
    """
    words = int(data[0])
    n = words + 1
    whole, begun = np.empty((n, n)), np.empty((n, n))
    split, joint = np.empty((n, n), np.int64), np.empty((n, n), np.int64)
    for s in range(n):
        whole[s, s] = 0.0
    for width in range(1, n):
        for s in range(n - width):
            t = s + width
            best, at = whole[s, s] + whole[t, s + 1], s
            for r in range(s + 1, t):
                value = whole[s, r] + whole[t, r + 1]
                if value > best:
                    best, at = value, r
            joint[s, t] = at
            # Word 0, the root, only has modifiers.
            for side in range(2 if s > 0 else 1):
                h, e = (s, t) if side == 0 else (t, s)
                begun[h, e] = best + scores[h * words + e - 1]
                whole[h, e], split[h, e] = begun[h, e], e
                for r in range(s + 1 - side, t + 1 - side):
                    value = begun[h, r] + whole[r, e]
                    if value > whole[h, e]:
                        whole[h, e], split[h, e] = value, r
    out[:] = 0.0
    waiting = np.empty((3 * n, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, words
    left = 1
    while left > 0:
        left -= 1
        h, e = waiting[left, 0], waiting[left, 1]
        if h == e:
            continue
        m = split[h, e]
        out[h * words + m - 1] = 1.0
        s, t = min(h, m), max(h, m)
        waiting[left, 0], waiting[left, 1] = m, e
        waiting[left + 1, 0], waiting[left + 1, 1] = s, joint[s, t]
        waiting[left + 2, 0], waiting[left + 2, 1] = t, joint[s, t] + 1
        left += 3


@frozen
class ProjectiveTree(CompiledSet):
    """The projective dependency trees of a sentence: the edges of a tree do not cross.

    Words are numbered from 1; 0 is the root, which may have several modifiers. The parts are all pairs of a head and a
    modifier, head by head: the dependency of word m on head h is part ``h * words + m - 1``, so
    ``y.reshape(words + 1, words)`` has a row for each head. Parts with h = m are in no tree. If edges may cross, use
    `Arborescence`.

    `maximize` is Eisner's dynamic program, with O(words³) operations (Eisner, "Three New Probabilistic Models for
    Dependency Parsing: An Exploration", COLING 1996).

    Parameters
    ----------
    words : number of words.

    Examples
    --------
    >>> ProjectiveTree(2).maximize([1.0, 3.0, 0.0, 2.0, 2.5, 0.0]).reshape(3, 2)
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """

    words: int = field(validator=at_least(1))

    kernel: ClassVar[Any] = staticmethod(best_projective_tree)

    @property
    def size(self) -> int:
        return (self.words + 1) * self.words

    def data(self) -> Vector:
        return np.array([float(self.words)])

    def outputs(self) -> Iterable[Vector]:
        for heads in product(range(self.words + 1), repeat=self.words):
            edges = [(head, word) for word, head in enumerate(heads, 1)]
            # A tree is projective if each head reaches all words between it and its modifier.
            if len(reachable(0, edges)) > self.words and all(
                {*range(min(edge), max(edge))} <= reachable(edge[0], edges) | {edge[1]} for edge in edges
            ):
                yield indicator(self.size, (head * self.words + word - 1 for head, word in edges))
