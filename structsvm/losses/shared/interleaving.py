"""Base of losses that are sums of costs of the relevant documents."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.foundation.settings import require_integer
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses.shared.cost_tables import DIVIDE, LARGEST_CUTOFF, PROGRAM, evaluate_costs, pack, table_number
from structsvm.losses.shared.placements import split_by_dividing, split_by_programming, split_by_truncating
from structsvm.losses.shared.relevance import PairwiseLoss, by_kind
from structsvm.metrics.ranking import rank_documents


def interleaving(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss; NaN without a table for it.

    A ranking is the number of other documents ahead of each relevant document, both kinds sorted by score. ``params``
    comes from `structsvm.losses.shared.cost_tables.pack`: number of tables, cut-off (0 if absent), key, place and
    method of each table, and the tables: entry ``j · columns + k`` is the cost of the k-th relevant document (from 0)
    with j others ahead.
    """
    relevant, other = by_kind(scores, labels)
    R = len(relevant)
    N = len(other)
    out[:] = 0.0
    if R == 0 or N == 0:
        return 0.0
    table = table_number(params, R, N)
    if table < 0:
        return np.nan

    n = len(scores)
    mean = 0.0
    for document in range(n):
        mean += scores[document] / n
    s = scores[relevant] - mean
    s_bar = scores[other] - mean

    columns, most = R, N
    cutoff = int(params[1])
    if cutoff > 0:
        columns, most = min(R, cutoff), min(N, cutoff)
    place = int(params[3 + 3 * table])
    costs = params[place : place + (most + 1) * columns]
    scale = 2.0 / (R * N)
    method = params[4 + 3 * table]
    if method == DIVIDE:
        ahead = split_by_dividing(costs, s, s_bar, scale)
    elif method == PROGRAM:
        ahead = split_by_programming(costs, s, s_bar, scale)
    else:
        ahead = split_by_truncating(costs, cutoff, s, s_bar, scale)

    loss = 0.0
    j = 0
    for i in range(R):
        if i < columns:
            loss += costs[min(ahead[i], most) * columns + i]
        out[relevant[i]] = scale * ahead[i]
        while j < ahead[i]:
            out[other[j]] = -scale * (R - i)
            j += 1
    return max(loss, 0.0)


@frozen
class InterleavingLoss(PairwiseLoss):
    """Base class of losses that sum a cost per relevant document: ``Δ = Σ_k cost(k, j_k)``.

    j_k is the number of non-relevant documents ahead of the k-th relevant one. Most measures of rankings with two kinds
    of document are one minus such a sum. A derived class defines only `cost`; the loss and its exact argmax in Python
    and in compiled code follow from it.

    A loss of only the first K ranks sets the attribute ``k`` to K. Costs at ranks ``k + j`` beyond K must not depend on
    j. An attrs field ``k`` makes ``"name@10"`` a valid name.

    The compiled argmax reads ``cost`` from tables, one per pair (R, N) of numbers of relevant and of other documents.
    A table has R (N + 1) numbers, or at most K (K + 1) with a cut-off K; tables that do not depend on N are shared. For
    n documents and a cut-off K, the argmax takes O(K² + n log n). Without a cut-off, it takes O(n log n) if every
    ``cost(k, ·)`` is concave in j (the table shows it), else O(R N).

    Parameters
    ----------
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> class FirstRelevant(InterleavingLoss):  # one minus the reciprocal rank of the first relevant document
    ...     def cost(self, k, j, R, N):
    ...         return np.where(k == 1, j / (1 + j), 0.0)
    >>> FirstRelevant().loss(np.array([0, 1, 1]), np.array([3.0, 2.0, 1.0]))
    0.5
    >>> Ranker(FirstRelevant(), C=10).fit([[1.0], [2.0], [4.0]], [0, 1, 1], qid=[1, 1, 1]).result_.converged
    True
    """

    kernel = staticmethod(interleaving)

    @abstractmethod
    def cost(self, k: IntVector, j: IntVector, R: int, N: int) -> NDArray[Any]:
        """Return the cost of the k-th relevant document with j non-relevant ones ahead.

        The costs with j = 0 must sum to 0, and no ranking may have a negative sum.

        Parameters
        ----------
        k : rank among the relevant documents, 1 to R; integers, any shape.
        j : number of non-relevant documents ahead, 0 to N; integers, of a shape that broadcasts with k.
        R, N : number of relevant and of non-relevant documents, both at least 1.

        Returns
        -------
        Array in the broadcast shape of k and j, computed elementwise.
        """

    @property
    def cutoff(self) -> int | None:
        """The cut-off: the attribute ``k``, at most 2^31; None without the attribute."""
        cutoff = getattr(self, "k", None)
        if cutoff is None:
            return None
        require_integer(f"{self.title}: the cut-off k", cutoff, 1)
        return min(int(cutoff), LARGEST_CUTOFF)

    def params(self, ys: Sequence[Vector]) -> Vector:
        """Return the tables of costs for the queries of a data set."""
        relevant = [self.relevant(y) for y in ys if self.usable(y)]
        shapes = [(int(mask.sum()), int((~mask).sum())) for mask in relevant]
        return pack(self.title, self.cost, shapes, self.cutoff)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        relevant = self.ranked_relevance(y, y_hat)
        R, N = int(relevant.sum()), int((~relevant).sum())
        if R == 0 or N == 0:
            return 0.0
        k = np.arange(1, R + 1)
        ahead = np.flatnonzero(relevant) - k + 1
        costs = evaluate_costs(self.title, self.cost, k, ahead, R, N)
        of_truth = evaluate_costs(self.title, self.cost, k, np.zeros_like(k), R, N)
        return max(float((costs - of_truth).sum()), 0.0)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the best ranking, by dynamic programming over all R (N + 1) costs.

        ``value[j]`` is the best value of the relevant documents so far if the last one has j others ahead:
        ``V_k(j) = f_k(j) + max_{j' ≤ j} V_{k−1}(j')``.
        """
        order = rank_documents(scores).order
        relevant = self.relevant(y)[order]
        R, N = int(relevant.sum()), int((~relevant).sum())
        if R == 0 or N == 0:
            return scores
        centered = scores - scores.mean()
        s, s_bar = centered[order[relevant]], centered[order[~relevant]]
        j = np.arange(N + 1)
        costs = evaluate_costs(self.title, self.cost, np.arange(1, R + 1)[:, None], j[None, :], R, N)
        passed = np.concatenate([[0.0], np.cumsum(s_bar)])
        value = np.zeros(N + 1)
        origin = np.empty((R, N + 1), dtype=np.int64)
        for k in range(R):
            best = np.maximum.accumulate(value)
            origin[k] = np.maximum.accumulate(np.where(value == best, j, 0))
            value = best + costs[k] + 2.0 / (R * N) * (passed - j * s[k])
        ahead = np.empty(R, dtype=np.int64)
        ahead[-1] = np.argmax(value)
        for k in range(R - 1, 0, -1):
            ahead[k - 1] = origin[k, ahead[k]]

        rank = np.empty(len(scores), dtype=np.int64)
        places = np.arange(R) + ahead
        rank[order[relevant]] = places
        rank[order[~relevant]] = np.delete(np.arange(R + N), places)
        return -rank.astype(np.float64)
