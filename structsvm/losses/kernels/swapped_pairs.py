"""The loss-augmented argmax of the swapped pairs of graded documents, by counting in sorted order."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.compute.sorting import descending
from structsvm.types import IntVector, Vector


@compiled
def _add(tree: IntVector, grade: int, count: int) -> None:
    """Add documents of a grade to a binary indexed tree (Fenwick, 1994)."""
    while grade < len(tree):
        tree[grade] += count
        grade += grade & -grade


@compiled
def _up_to(tree: IntVector, grade: int) -> int:
    """Count the documents in a tree whose grade is at most this one."""
    count = 0
    while grade > 0:
        count += tree[grade]
        grade -= grade & -grade
    return count


def swapped_pairs(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs and return its loss.

    ``labels`` are the grades, numbered from 1. The pair of a better i and a worse j is swapped where
    ``s_i − 1 < s_j``. One walk merges the documents by ``s − 1``, as the better of their pairs, with
    the documents by ``s``, as the worse: O(n log n) for any number of grades.
    """
    n = len(scores)
    grade = labels.astype(np.int64)
    counts = np.zeros(grade.max() + 1, np.int64)
    for document in range(n):
        counts[grade[document]] += 1
    worse_ahead = np.zeros(len(counts), np.int64)
    better_left = np.zeros(len(counts), np.int64)
    pairs = 0
    worse = 0
    for each in range(1, len(counts)):
        _add(better_left, each, counts[each])
        pairs += counts[each] * worse
        worse += counts[each]
    out[:] = 0.0
    if pairs == 0:
        return 0.0

    order = descending(scores)
    swapped = 0
    passed = 0
    for left in range(n, 0, -1):
        better = order[n - left]
        while passed < n and scores[better] - 1.0 < scores[order[passed]]:
            document = order[passed]
            out[document] -= left - _up_to(better_left, grade[document])
            _add(worse_ahead, grade[document], 1)
            passed += 1
        lost = _up_to(worse_ahead, grade[better] - 1)
        out[better] += lost
        swapped += lost
        _add(better_left, grade[better], -1)
    for document in range(n):
        out[document] /= pairs
    return swapped / pairs
