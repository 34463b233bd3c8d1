"""How well models and base functions rank: precision of many queries, fast, without sorting the documents."""

from typing import NamedTuple

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.metrics.measures.interpolated_precision import LEVELS
from structsvm.protocols.experiment.collection import Collection
from structsvm.protocols.experiment.results import BaseFunction, Ranked
from structsvm.types import BoolVector, IntVector, Matrix, Vector


class Precision(NamedTuple):
    """Precision of the ranking of each query, R = its relevant documents.

    Parameters
    ----------
    ap : documents of one score in the order of the rows, shape (Q,).
    ap_over_ties : averaged over all orders of the documents of one score, shape (Q,).
    interpolated : precision at the levels of recall, as `structsvm.metrics.IPrec` has it, documents of one score in the
        order of the rows, shape (Q, 11).
    """

    ap: Vector
    ap_over_ties: Vector
    interpolated: Matrix


def score_queries(scores: Vector, relevant: BoolVector, ptr: IntVector) -> Precision:
    """Return the precision of queries, each with at least one relevant document.

    The values of `structsvm.metrics.AP` with ``ties="order"`` and ``"average"``, and of `IPrec`. Only the relevant
    documents are sorted; a search in their list tells which of them each other document is ahead of,
    O(n log R) in all.

    Parameters
    ----------
    scores : larger is ahead, shape (n,); no NaN, infinities are allowed.
    relevant : whether each document is, shape (n,).
    ptr : where the documents of each query begin, shape (Q + 1,).
    """
    found = Precision(np.empty(len(ptr) - 1), np.empty(len(ptr) - 1), np.empty((len(ptr) - 1, len(LEVELS))))
    _score(np.ascontiguousarray(scores), relevant, ptr, np.array(LEVELS), *found)
    return found


def tied_shares(scores: Vector, ptr: IntVector) -> Vector:
    """Return the share of each query's documents that have their score in common with another one, shape (Q,).

    Parameters
    ----------
    scores, ptr : as in `score_queries`; a query may have no documents, and has no ties then.
    """
    shares = np.empty(len(ptr) - 1)
    for query in range(len(shares)):
        counts = np.unique(scores[ptr[query] : ptr[query + 1]], return_counts=True)[1]
        shares[query] = counts[counts > 1].sum() / max(counts.sum(), 1)
    return shares


def rank_base_functions(collection: Collection, times: IntVector) -> tuple[BaseFunction, ...]:
    """Rank the pool of every query by each base function; what it did not retrieve comes last, and is tied.

    Parameters
    ----------
    collection : the data.
    times : how many trials test each query, shape (Q,): the weights of the mean of interpolated precision.

    Returns
    -------
    The functions, best MAP first; among equals the one of the earlier column.
    """
    functions = []
    for name, scores in zip(collection.functions, collection.X.T, strict=True):
        retrieved = ~np.isnan(scores)
        precision = score_queries(np.where(retrieved, scores, -np.inf), collection.relevant, collection.ptr)
        ptr = np.concatenate([[0], np.cumsum(retrieved)])[collection.ptr]
        ranked = Ranked.of(precision.ap, precision.ap_over_ties, tied_shares(scores[retrieved], ptr))
        mean = np.average(precision.interpolated, axis=0, weights=times)
        functions.append(BaseFunction(name, float(retrieved.mean()), ranked, tuple(mean.tolist())))
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
        ahead = np.zeros(R + 1, np.int64)  # other documents by the number of relevant ones ahead of them, ties in order
        above = np.zeros(R + 1, np.int64)  # the same, if those of one score were all ahead of them
        level = np.zeros(R + 1, np.int64)  # other documents of one score with a relevant one, by the first such
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
