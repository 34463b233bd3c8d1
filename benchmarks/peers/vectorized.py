"""The loss-augmented argmax of average precision in NumPy, for all queries in one call.

It shares no code with the library, and is written as by a careful user of another solver.
"""

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.foundation.types import IntVector, Matrix, Vector


@frozen(eq=False)
class _Batch:
    """Queries with the same numbers of documents: the R relevant documents come first, then N other documents.

    ``rows`` (Q, R + N) are row numbers; ``table[i, j]`` is the gain of the loss if the first i
    relevant documents stay ahead of non-relevant document j.
    """

    rows: IntVector
    relevant: int
    table: Matrix


class AveragePrecisionOracle:
    """The most violated rankings of all queries.

    Parameters
    ----------
    X : features, shape (rows, d).
    y : labels, relevant above 0.
    ptr : query i owns the rows ``ptr[i]`` to ``ptr[i + 1] − 1``.
    """

    def __init__(self, X: Matrix, y: Vector, ptr: IntVector) -> None:
        self.X = X
        self.n = len(ptr) - 1
        self.ptr = ptr
        kinds: dict[tuple[int, int], list[NDArray[np.int64]]] = {}
        for first, last in zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True):
            relevant = y[first:last] > 0
            order = first + np.argsort(~relevant, kind="stable")
            kinds.setdefault((int(relevant.sum()), int((~relevant).sum())), []).append(order)
        self.batches = [_Batch(np.array(rows), R, _gains(R, N)) for (R, N), rows in kinds.items()]

    def coefficients(self, w: Vector) -> tuple[Vector, Vector]:
        """Return ``c(ŷ) − c(y)`` of each row and Δ of each query in the order of the batches, at weights w."""
        scores = self.X @ w
        coef = np.zeros(len(scores))
        losses = []
        for batch in self.batches:
            losses.append(_argmaxes(batch, scores, coef))
        return coef, np.concatenate(losses)

    def mean(self, w: Vector) -> tuple[Vector, float]:
        """Return the mean over queries of ``Ψ(x, ŷ) − Ψ(x, y)`` and of Δ."""
        coef, losses = self.coefficients(w)
        return coef @ self.X / self.n, float(losses.mean())

    def each(self, w: Vector) -> tuple[Matrix, Vector]:
        """Return ``Ψ(x, ŷ) − Ψ(x, y)`` and Δ of each query, in the order of the queries."""
        coef, losses = self.coefficients(w)
        first = np.concatenate([batch.rows.min(axis=1) for batch in self.batches])
        ordered = np.empty(self.n)
        ordered[np.searchsorted(self.ptr, first)] = losses
        psi = np.stack([coef[a:b] @ self.X[a:b] for a, b in zip(self.ptr[:-1], self.ptr[1:], strict=True)])
        return psi, ordered


def _gains(R: int, N: int) -> Matrix:
    """Return ``(1/R) Σ_{k>i} j/(j+k) − (j−1)/(j+k−1)`` for i = 0..R and j = 1..N, shape (R + 1, N)."""
    k, j = np.arange(1, R + 1)[:, None], np.arange(1, N + 1)[None, :]
    terms = (j / (j + k) - (j - 1) / (j + k - 1)) / R
    gains = np.zeros((R + 1, N))
    gains[:R] = terms[::-1].cumsum(axis=0)[::-1]
    return gains


def _argmaxes(batch: _Batch, scores: Vector, coef: Vector) -> Vector:
    """Write the coefficients of a batch and return its losses."""
    R = batch.relevant
    N = batch.rows.shape[1] - R
    table = scores[batch.rows]
    order = np.concatenate([np.argsort(-table[:, :R], axis=1), R + np.argsort(-table[:, R:], axis=1)], axis=1)
    rows = np.take_along_axis(batch.rows, order, axis=1)
    table = np.take_along_axis(table, order, axis=1)
    behind = np.zeros((len(table), R + 1))
    behind[:, :R] = table[:, :R][:, ::-1].cumsum(axis=1)[:, ::-1]
    count = R - np.arange(R + 1)
    value = count[None, :, None] * table[:, None, R:]
    value -= behind[:, :, None]
    value *= 2.0 / (R * N)
    value += batch.table
    ahead = value.argmax(axis=1)  # relevant documents ahead of each other one
    others_ahead = (ahead[:, None, :] < np.arange(1, R + 1)[None, :, None]).sum(axis=2)  # of each relevant one
    coef[rows[:, :R]] = -2.0 / (R * N) * others_ahead
    coef[rows[:, R:]] = 2.0 / (R * N) * (R - ahead)
    position = np.arange(1, R + 1)
    return np.asarray(1.0 - (position / (position + others_ahead)).mean(axis=1))
