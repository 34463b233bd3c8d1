"""Assignments: pairs of rows and columns."""

from collections.abc import Iterable
from itertools import combinations, permutations
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.settings import at_least, truth_value
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.inference.sets.base import CompiledSet, indicator
from structsvm.inference.sets.forbidden import finite_scores


def best_assignment(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the pairs of the best assignment; ``data`` is (rows, columns, partial)."""
    rows, columns, partial = int(data[0]), int(data[1]), data[2] > 0.0
    upright = rows <= columns
    small, large = min(rows, columns), max(rows, columns)
    finite = finite_scores(scores, small)
    costs = np.empty((small, large))
    for i in range(small):
        for j in range(large):
            score = finite[i * columns + j] if upright else finite[j * columns + i]
            # A pair that does not pay is the same as no pair.
            costs[i, j] = -max(score, 0.0) if partial else -score
    partners = _partners(costs)
    out[:] = 0.0
    for i in range(small):
        part = i * columns + partners[i] if upright else partners[i] * columns + i
        if scores[part] > 0.0 or not partial:
            out[part] = 1.0


@compiled_part
def _partners(costs: Matrix) -> IntVector:
    """Return the column of each row in the cheapest assignment of all rows, by shortest augmenting paths.

    The duals are feasible: ``of_row[i] + of_column[j] <= costs[i, j]``, with equality for assigned pairs.
    """
    rows, columns = costs.shape
    of_row, of_column, lengths = np.empty(rows), np.empty(columns), np.empty(columns)
    partners, assigned = np.empty(rows, np.int64), np.empty(columns, np.int64)
    before, waiting = np.empty(columns, np.int64), np.empty(columns, np.int64)
    for j in range(columns):
        of_column[j], assigned[j] = 0.0, -1
    for i in range(rows):
        cheapest = 0
        for j in range(1, columns):
            if costs[i, j] < costs[i, cheapest]:
                cheapest = j
        of_row[i], partners[i] = costs[i, cheapest], -1
        if assigned[cheapest] < 0:
            partners[i], assigned[cheapest] = cheapest, i
    for start in range(rows):
        if partners[start] >= 0:
            continue
        for j in range(columns):
            waiting[j], lengths[j], before[j] = j, np.inf, start
        left, i, length = columns, start, 0.0
        while True:
            nearest, shortest, base = 0, np.inf, length - of_row[i]
            for k in range(left):
                j = waiting[k]
                through = base + (costs[i, j] - of_column[j])
                if through < lengths[j]:
                    lengths[j], before[j] = through, i
                if lengths[j] < shortest:
                    nearest, shortest = k, lengths[j]
            j, length = waiting[nearest], shortest
            left -= 1
            waiting[nearest], waiting[left] = waiting[left], j
            if assigned[j] < 0:
                break
            i = assigned[j]
        of_row[start] += length
        for k in range(left + 1, columns):
            shorter = length - lengths[waiting[k]]
            of_column[waiting[k]] -= shorter
            of_row[assigned[waiting[k]]] += shorter
        i = -1
        while i != start:
            i = before[j]
            assigned[j] = i
            j, partners[i] = partners[i], j
    return partners


@frozen
class Assignment(CompiledSet):
    """The assignments of rows to columns, also called bipartite matchings.

    Each row has at most one column and each column at most one row. Unless ``partial``, each element of the smaller
    side has exactly one partner. The parts are all pairs, row by row: the pair of row i and column j is part
    ``i * columns + j``, so ``y.reshape(rows, columns)`` is the matrix of an output y.

    `maximize` finds shortest augmenting paths, with O(s² l) operations for s ≤ l, the numbers of rows and columns
    (Jonker and Volgenant, "A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment Problems",
    Computing 1987).

    Parameters
    ----------
    rows : number of rows.
    columns : number of columns.
    partial : True if any element may stay without a partner; the best assignment then contains only pairs with positive
        scores.

    Examples
    --------
    >>> Assignment(2, 3).maximize([1.0, 3.0, 0.0, 2.0, 4.0, -1.0]).reshape(2, 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """

    rows: int = field(validator=at_least(1))
    columns: int = field(validator=at_least(1))
    partial: bool = field(default=False, validator=truth_value)

    kernel: ClassVar[Any] = staticmethod(best_assignment)

    @property
    def size(self) -> int:
        return self.rows * self.columns

    def data(self) -> Vector:
        return np.array([self.rows, self.columns, self.partial], dtype=np.float64)

    def outputs(self) -> Iterable[Vector]:
        most = min(self.rows, self.columns)
        for pairs in range(0 if self.partial else most, most + 1):
            for rows in combinations(range(self.rows), pairs):
                for columns in permutations(range(self.columns), pairs):
                    parts = (i * self.columns + j for i, j in zip(rows, columns, strict=True))
                    yield indicator(self.size, parts)
