"""The loss-augmented argmax of any sum of costs over the relevant documents: one kernel for all such losses."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.losses.kernels.dividing import split_by_dividing
from structsvm.losses.kernels.kinds import by_kind
from structsvm.losses.kernels.programming import split_by_programming
from structsvm.losses.kernels.truncating import split_by_truncating
from structsvm.types import Vector

DIVIDE = 0
PROGRAMME = 1
TRUNCATE = 2

KEY = 2**26
"""The table for R relevant and N other documents has the key ``R · KEY + N``."""


@compiled
def table_number(params: Vector, R: int, N: int) -> int:
    """Return the number of the table for R relevant and N other documents; −1 where there is none."""
    tables = int(params[0])
    key = float(R * KEY + N)
    low, high = 0, tables
    while low < high:
        middle = (low + high) // 2
        if params[2 + 3 * middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < tables and params[2 + 3 * low] == key:
        return low
    return -1


def interleaving(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss.

    With both kinds of document sorted by score, a ranking is the number of others ahead of each
    relevant document, which does not fall. ``params`` is the number of tables, the cut-off (0
    without one), key, place and method of each table, and the tables, made by
    `structsvm.losses.cost_tables.pack`: entry ``j · columns + k`` is what the k-th relevant
    document (from 0) costs with j others ahead of it.
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
    elif method == PROGRAMME:
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
