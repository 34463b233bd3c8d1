"""The loss of the ranking SVM: the share of swapped pairs of graded documents."""

import numpy as np
from attrs import frozen

from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses.shared.graded_pairs import GradedPairsLoss, graded, several_grades
from structsvm.losses.shared.weighted_labels import weights_of


@compiled_part
def _add(tree: Vector, grade: int, weight: float) -> None:
    """Add the weight of documents of a grade to a binary indexed tree (Fenwick, 1994)."""
    while grade < len(tree):
        tree[grade] += weight
        grade += grade & -grade


@compiled_part
def _up_to(tree: Vector, grade: int) -> float:
    """Return the weight of the documents in a tree with at most this grade."""
    weight = 0.0
    while grade > 0:
        weight += tree[grade]
        grade -= grade & -grade
    return weight


def swapped_pairs(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs, with ``s_i − 1 < s_j``, and return its loss.

    ``labels`` are grades from 1, then weights. One pass merges two orders of the documents: as i, the better document,
    by ``s − 1``, and as j by ``s``. It takes O(n log n) time.
    """
    n = len(scores)
    grade = labels[:n].astype(np.int64)
    weights = labels[n:]
    totals = np.zeros(grade.max() + 1)
    for document in range(n):
        totals[grade[document]] += weights[document]
    worse_ahead = np.zeros(len(totals))
    better_left = np.zeros(len(totals))
    pairs = 0.0
    left = 0.0
    for rank in range(1, len(totals)):
        _add(better_left, rank, totals[rank])
        pairs += totals[rank] * left
        left += totals[rank]
    out[:] = 0.0
    if pairs == 0.0:
        return 0.0

    order = descending(scores)
    swapped = 0.0
    passed = 0
    for place in range(n):
        better = order[place]
        weight = weights[better]
        while passed < n and scores[better] - 1.0 < scores[order[passed]]:
            document = order[passed]
            out[document] -= left - _up_to(better_left, grade[document])
            _add(worse_ahead, grade[document], weights[document])
            passed += 1
        lost = _up_to(worse_ahead, grade[better] - 1)
        out[better] += lost
        swapped += weight * lost
        _add(better_left, grade[better], -weight)
        left -= weight
    for document in range(n):
        out[document] = out[document] * weights[document] / pairs
    return swapped / pairs


def _weight_below(values: Vector, weights: Vector, limits: Vector) -> Vector:
    """Return the weight of the values below each limit."""
    order = np.argsort(values, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weights[order])])
    return total[np.searchsorted(values[order], limits)]


@frozen
class SwappedPairs(GradedPairsLoss):
    """The share of pairs of documents of different grades that are in the wrong order.

    The hinge is the ranking SVM's: ``1/P Σ max(0, 1 − (s_i − s_j))`` over the P pairs of a query in which i has the
    larger label (Herbrich, Graepel and Obermayer, "Large margin rank boundaries for ordinal regression", 2000;
    Joachims, "Optimizing search engines using clickthrough data", KDD 2002). The program svm_rank minimizes its mean
    with ``-l 2``. ``Ψ(x, ŷ) = 1/(2P) Σ ŷ_ij (x_i − x_j)`` with ``ŷ_ij = −1`` if the pair is swapped, else 1. Each pair
    is swapped independently, so an output need not be a ranking. If documents have weights, each pair counts the
    product of both weights, and P is the sum of these products.

    Outputs are as in `GradedPairsLoss`. With two grades, this hinge at 2w equals the hinge of `ROCArea` at w. The
    argmax takes O(n log n) for any number of grades. Queries whose labels are all equal are not usable.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker("swapped_pairs", C=10).fit([[1.0], [2.0], [4.0]], [0, 1, 2], qid=[1, 1, 1]).result_.converged
    True
    """

    kernel = staticmethod(swapped_pairs)

    def weight(self, better: Vector, worse: Vector) -> float:
        """Return 1: all pairs have equal weight."""
        return 1.0

    def labels(self, y: Vector) -> Vector:
        """Return the grades of the documents, numbered from 1, and then their weights."""
        return np.concatenate([1.0 + np.unique(graded(y), return_inverse=True)[1], weights_of(y)])

    def usable(self, y: Vector) -> bool:
        return several_grades(y)

    def number_of_pairs(self, y: Vector) -> float:
        """Return P, the weight of the pairs of documents of different grades, without listing them."""
        totals = np.bincount(np.unique(graded(y), return_inverse=True)[1], weights_of(y))
        return float(totals[1:] @ np.cumsum(totals)[:-1])

    def swaps(self, scores: Vector, y: Vector, margin: float) -> Matrix:
        """Return the output that swaps the pairs with ``s_i − margin < s_j``, by sorting."""
        grades, weights, ahead = graded(y), weights_of(y), scores - margin
        swapped = np.zeros((2, len(grades)))
        for grade in np.unique(grades)[1:]:
            better, worse = grades == grade, grades < grade
            swapped[0, better] = _weight_below(-scores[worse], weights[worse], -ahead[better])
            swapped[1, worse] += _weight_below(ahead[better], weights[better], scores[worse])
        return swapped * weights / (self.number_of_pairs(y) or 1.0)

    def slack_rescaled_argmax(self, scores: Vector, y: Vector) -> Matrix:
        """Return the output that swaps the m pairs of the smallest ``s_i − s_j``, with the best m: O(P log P)."""
        grades = graded(y)
        better, worse = np.nonzero(grades[:, None] > grades)
        differences = scores[better] - scores[worse]
        order = np.argsort(differences, kind="stable")
        pairs = len(order)
        values = np.arange(1, pairs + 1) * (1.0 - np.cumsum(differences[order]) / pairs)
        swapped = order[: int(np.argmax(values)) + 1] if pairs and values.max() > 0.0 else order[:0]
        n = len(grades)
        return np.stack([np.bincount(ends[swapped], minlength=n) for ends in (better, worse)]) / max(pairs, 1)
