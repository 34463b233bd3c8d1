"""Score models and base functions: precision of many queries, without sorting the documents."""

import numpy as np

from structsvm.data import Pool
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector
from structsvm.metrics.average_precision import LEVELS
from structsvm.protocols.experiment.results import IPREC, MAP, OVER_TIES, TIED, BaseFunction
from structsvm.protocols.plan import Measured


def score_queries(scores: Vector, relevant: BoolVector, ptr: IntVector) -> tuple[Vector, Vector, Matrix]:
    """Return average precision in row order and over ties, shape (Q,), and interpolated precision, shape (Q, 11).

    The values are as in `structsvm.metrics.AP` and `IPrec`, but only the R relevant documents are sorted: n documents
    take O(n log R). Every query needs a relevant document, and ``scores`` must not be NaN.
    """
    Q = len(ptr) - 1
    found = np.empty(Q), np.empty(Q), np.empty((Q, len(LEVELS)))
    _score(np.ascontiguousarray(scores), relevant, ptr, np.array(LEVELS), *found)
    return found


def tested(scores: Vector, relevant: BoolVector, ptr: IntVector, tied: Vector, times: IntVector | None) -> Measured:
    """Return the measures of a ranker; ``times`` weights the queries in interpolated precision, shape (Q,)."""
    ap, ap_over_ties, interpolated = score_queries(scores, relevant, ptr)
    levels = interpolated.mean(axis=0) if times is None else np.average(interpolated, axis=0, weights=times)
    measures = {MAP: float(np.mean(ap)), **dict(zip(IPREC, levels.tolist(), strict=True))}
    return measures, {MAP: tuple(ap.tolist()), OVER_TIES: tuple(ap_over_ties.tolist()), TIED: tuple(tied.tolist())}


def tied_shares(scores: Vector, ptr: IntVector) -> Vector:
    """Return the share of each query's documents whose score another document has, shape (Q,); 0 without documents."""
    shares = np.empty(len(ptr) - 1)
    for query in range(len(shares)):
        counts = np.unique(scores[ptr[query] : ptr[query + 1]], return_counts=True)[1]
        shares[query] = counts[counts > 1].sum() / max(counts.sum(), 1)
    return shares


def rank_base_functions(pool: Pool, ptr: IntVector, times: IntVector) -> tuple[BaseFunction, ...]:
    """Return the base functions as rankers, best MAP first; ``times`` is the number of tests of each query."""
    functions = []
    for name, scores in zip(pool.run_names, pool.X.T, strict=True):
        retrieved = ~np.isnan(scores)
        tied = tied_shares(scores[retrieved], np.concatenate([[0], np.cumsum(retrieved)])[ptr])
        measures, queries = tested(np.where(retrieved, scores, -np.inf), pool.y > 0, ptr, tied, times)
        share = float(retrieved.mean())
        functions.append(BaseFunction(name=name, retrieved=share, measures=measures, queries=queries))
    return tuple(sorted(functions, key=lambda function: -function.mean_ap))


@compiled
def _score(
    scores: Vector,
    relevant: BoolVector,
    ptr: IntVector,
    levels: Vector,
    ap: Vector,
    ap_over_ties: Vector,
    interpolated: Matrix,
) -> None:
    for query in range(len(ap)):
        start, stop = ptr[query], ptr[query + 1]
        rows = start + np.flatnonzero(relevant[start:stop])
        rows = rows[np.argsort(-scores[rows], kind="mergesort")]
        values = scores[rows]
        R = len(rows)
        # ahead[k]: number of other documents behind exactly k relevant documents, with ties in row order.
        ahead = np.zeros(R + 1, np.int64)
        # The same number if all relevant documents win their ties.
        above = np.zeros(R + 1, np.int64)
        # level[k]: other documents that tie with relevant documents, k the first.
        level = np.zeros(R + 1, np.int64)
        for row in range(start, stop):
            if relevant[row]:
                continue
            score = scores[row]
            first, last = 0, R
            while first < last:
                middle = (first + last) // 2
                if values[middle] > score:
                    first = middle + 1
                else:
                    last = middle
            position = first
            while last < R and values[last] == score:
                position += rows[last] < row
                last += 1
            ahead[position] += 1
            above[last] += 1
            if last > first:
                level[first] += 1
        passed = 0
        total = 0.0
        precision = np.empty(R)
        for k in range(R):
            passed += ahead[k]
            precision[k] = (k + 1) / (k + 1 + passed)
            total += precision[k]
        ap[query] = total / R
        for k in range(R - 2, -1, -1):
            precision[k] = max(precision[k], precision[k + 1])
        for place in range(len(levels)):
            interpolated[query, place] = precision[max(int(levels[place] * R + 0.9), 1) - 1]
        passed = 0
        total = 0.0
        first = 0
        while first < R:
            last = first
            while last < R and values[last] == values[first]:
                passed += above[last]
                last += 1
            hits = last - first
            size = hits + level[first]
            rank = first + passed
            for k in range(size):
                others = k * (hits - 1) / max(size - 1, 1)
                total += hits / size * (first + 1 + others) / (rank + k + 1)
            first = last
        ap_over_ties[query] = total / R
