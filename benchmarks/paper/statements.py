"""Compute the statements of sections 2 and 3 of the paper: toy tables, equation (5), Algorithm 2, Theorem 1."""

from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.paper.printed import TABLE_1, TABLE_3
from structsvm import Problem
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, ROCArea
from structsvm.metrics import AP
from structsvm.solvers import NSlack

LOSS, ROC = AveragePrecision(), ROCArea()
CASES = 400
EPSILONS = (0.2, 0.1, 0.05, 0.02)
C, QUERIES, DOCUMENTS, D = 10.0, 30, 20, 10


def compute() -> dict[str, Any]:
    """Return all numbers, as JSON has them."""
    return {
        "table_2": _toy(TABLE_1),
        "table_4": _toy(TABLE_3),
        "figure_1": figure_1(),
        "argmax": argmax(),
        "bound": bound(),
    }


def _toy(relevant: tuple[int, ...]) -> dict[str, dict[str, float]]:
    y = np.array(relevant, dtype=np.float64)
    ranks = {"h1": np.arange(len(y), 0.0, -1.0), "h2": np.arange(1.0, len(y) + 1.0)}
    return {name: _measured(y, rank) for name, rank in ranks.items()}


def _measured(y: Vector, rank: Vector) -> dict[str, float]:
    ranked = y[np.argsort(-rank)]
    best = max((ranked[:k].sum() + (1.0 - ranked[k:]).sum()) / len(y) for k in range(len(y) + 1))
    return {
        "map": float(AP().mean(rank, y)),
        "roc_area": 1.0 - ROC.loss(y, rank),
        "accuracy": float(best),
    }


def H(y: Vector, ranking: Vector, scores: Vector) -> float:
    """Return Δ(y, ŷ) + w·Ψ(x, ŷ) − w·Ψ(x, y), Ψ with its factor 1/(RN)."""
    return float(LOSS.loss(y, ranking) + scores @ (LOSS.encode(ranking, y) - LOSS.encode(y, y)))


def figure_1() -> dict[str, float]:
    """Return the change in H if non-relevant document j moves above relevant i, and both readings of (5)."""
    s, s_bar = np.array([0.6, 0.1]), np.array([0.4, -0.3, -0.5])
    y, scores = np.array([1.0, 1, 0, 0, 0]), np.concatenate([s, s_bar])
    R, N, i, j = 2, 3, 2, 1
    before, after = np.array([5.0, 4, 3, 2, 1]), np.array([5.0, 3, 4, 2, 1])
    rise = (j / (j + i) - (j - 1) / (j + i - 1)) / R
    difference = s[i - 1] - s_bar[j - 1]
    return {
        "change": H(y, after, scores) - H(y, before, scores),
        "with_factor": float(rise - 2.0 / (R * N) * difference),
        "as_printed": float(rise - 2.0 * difference),
    }


def argmax() -> dict[str, int]:
    """Count the random cases in which a greedy Algorithm 2 finds the maximum over all interleavings, by its factor."""
    rng = np.random.default_rng(2007)
    found = {"cases": CASES, "library": 0, "with_factor": 0, "as_printed": 0}
    for _ in range(CASES):
        R, N = rng.integers(1, 5, size=2).tolist()
        s, s_bar = -np.sort(-rng.uniform(-1, 1, R)), -np.sort(-rng.uniform(-1, 1, N))
        y, scores = np.concatenate([np.ones(R), np.zeros(N)]), np.concatenate([s, s_bar])
        best = max(H(y, _interleaved(R, N, places), scores) for places in combinations(range(R + N), R))
        found["library"] += H(y, LOSS.loss_augmented_argmax(scores, y), scores) >= best - 1e-9
        for name, factor in ("with_factor", 2.0 / (R * N)), ("as_printed", 2.0):
            found[name] += H(y, _algorithm_2(s, s_bar, factor), scores) >= best - 1e-9
    return {name: int(count) for name, count in found.items()}


def _interleaved(R: int, N: int, places: tuple[int, ...]) -> Vector:
    """Return the ranking in which the relevant documents, in their order, have the given places."""
    place = np.empty(R + N)
    place[:R] = places
    place[R:] = [k for k in range(R + N) if k not in places]
    return -place


def _algorithm_2(s: Vector, s_bar: Vector, factor: float) -> Vector:
    R, N = len(s), len(s_bar)
    k, j = np.arange(1, R + 1)[:, None], np.arange(1, N + 1)
    step = (j / (j + k) - (j - 1) / (j + k - 1)) / R - factor * (s[:, None] - s_bar)
    values = np.concatenate([np.cumsum(step[::-1], axis=0)[::-1], np.zeros((1, N))])
    ahead = np.argmax(values, axis=0)  # relevant documents that stay ahead of each other one
    return _interleaved(R, N, tuple(int(r + np.count_nonzero(ahead <= r)) for r in range(R)))


def bound() -> list[dict[str, float]]:
    """Return the constraints that Algorithm 1 adds at several ε, beside the number that Theorem 1 allows."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((QUERIES * DOCUMENTS, D))
    y = (X[:, 0] + rng.standard_normal(len(X)) > 1.0).astype(np.float64)
    qid = np.repeat(np.arange(QUERIES), DOCUMENTS)
    kept = []
    for epsilon in EPSILONS:
        problem = Problem.from_queries(X, y, qid, loss="map", C=C)
        result = NSlack(tol=epsilon).solve(problem)
        widest = max(_widest(X[qid == q], y[qid == q]) for q in range(QUERIES))
        most = max(2.0 * problem.n / epsilon, 8.0 * C * widest**2 / epsilon**2)
        kept.append({"epsilon": epsilon, "constraints": len(result.cuts), "allowed": float(np.floor(most))})
    return kept


def _widest(X: Vector, y: Vector) -> float:
    """Return an upper bound on ‖Ψ(x, y) − Ψ(x, ŷ)‖: twice the longest difference of a relevant and another document."""
    relevant, others = X[y > 0], X[y <= 0]
    if not len(relevant) or not len(others):
        return 0.0
    return float(2.0 * np.linalg.norm(relevant[:, None] - others[None], axis=2).max())
