"""A random problem for each number: its data, loss, solver and start."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import frozen

from structsvm import Problem
from structsvm.losses import (
    NDCG,
    AveragePrecision,
    ChainHamming,
    FBeta,
    Multiclass,
    PrecisionAtK,
    PrecisionRecallBreakEven,
    RecallAtK,
    ReciprocalRank,
    ROCArea,
    SwappedPairs,
    ZeroOne,
)
from structsvm.operators import BinnedMatrix
from structsvm.qp import CVXOPT, OSQP, ActiveSet, HiGHS
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack, Solver
from structsvm.types import Matrix, Vector
from tests.small_problems import Kronecker, PlainROCArea

QUERY_LOSSES: list[tuple[Any, int]] = [
    (AveragePrecision(), 5),
    (AveragePrecision(relevant_from=2), 5),
    (ROCArea(), 5),
    (PlainROCArea(), 5),
    (NDCG(encoding="pairwise"), 5),
    (NDCG(2, encoding="pairwise"), 5),
    (NDCG(discount="letor", encoding="pairwise"), 5),
    (NDCG(encoding="thresholds"), 3),
    (NDCG(2, discount="letor", encoding="thresholds"), 3),
    (NDCG(encoding="position"), 4),
    (NDCG(1, gain="linear", encoding="position"), 4),
    (ReciprocalRank(), 5),
    (PrecisionAtK(1), 5),
    (PrecisionAtK(3), 5),
    (RecallAtK(2), 5),
    (FBeta(), 6),
    (FBeta(2.0), 6),
    (PrecisionRecallBreakEven(), 6),
    (SwappedPairs(), 4),
]
"""Losses of queries, and the most documents of which all outputs can be listed."""

STORAGES = ("float64", "float32", "sparse", "binned")


@frozen(eq=False)
class Case:
    """A problem with what is needed to solve it by other means.

    Parameters
    ----------
    number : of the case; it makes the same case anywhere.
    problem : what the solver sees.
    loss : with all that it must know of the data filled in.
    examples : input (of dense float64 features) and true output of each example.
    weights : of the examples.
    intercept : value of the constant feature; 0 for none.
    scale : of the features.
    solver : with its settings.
    start : "cold", "other C", or "other data", whose result the solver starts from.
    """

    number: int
    problem: Problem
    loss: Any
    examples: list[tuple[Any, Any]]
    weights: Vector
    intercept: float
    scale: float
    solver: Solver
    start: str

    @property
    def ordinary(self) -> bool:
        """Whether features and tol are such that every solver must get there."""
        return 1e-3 <= self.scale <= 1e3 and self.solver.tol >= 1e-6  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return f"case {self.number}: {self.loss!r}, {self.solver!r}, C={self.problem.C:.3g}, {self.start} start"


def case(number: int) -> Case:
    """Make the case of a number."""
    rng = np.random.default_rng(number)
    C = float(10.0 ** rng.uniform(-2.0, 3.0))
    scale = float(10.0 ** (rng.uniform(-6.0, 6.0) if rng.random() < 0.1 else rng.uniform(-1.0, 1.0)))
    kind = rng.choice(["queries", "rows", "classes", "chain", "generic"], p=[0.7, 0.08, 0.1, 0.06, 0.06])
    made = _MAKERS[kind](rng, C, scale)
    start = str(rng.choice(["cold", "other C", "other data"], p=[0.5, 0.35, 0.15]))
    return Case(number, *made, scale, _solver(rng), start)


def other_data(of: Case) -> Problem:
    """Return the same kind of problem with other features: what a start must not be mistaken for."""
    rng = np.random.default_rng([of.number, 1])
    xs = []
    for x, _ in of.examples:
        changed = np.array(x, dtype=np.float64)
        changed[..., rng.integers(changed.shape[-1])] *= 1.0 + rng.choice([1e-6, 1e-3, 1.0])
        xs.append(changed)
    ys = [y for _, y in of.examples]
    if of.loss.per_row:
        return Problem.from_examples(np.stack(xs), np.array(ys), loss=of.loss, C=of.problem.C, intercept=of.intercept)
    return Problem.from_examples(xs, ys, loss=of.loss, C=of.problem.C, intercept=of.intercept)


def _solver(rng: np.random.Generator) -> Solver:
    tol = float(10.0 ** rng.uniform(-6.0, -2.0))
    backend = [ActiveSet(), CVXOPT(), OSQP(), HiGHS()][rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])]
    kind = rng.integers(5)
    if kind == 0:
        return OneSlack(tol=tol, backend=backend, line_search=bool(rng.integers(2)))
    if kind == 1:
        return NSlack(tol=tol, backend=backend, batch=int(rng.integers(1, 8)))
    if kind == 2:
        return NSlack(tol=tol, backend=backend)
    if kind == 3:
        return FrankWolfe(tol=tol, cache_sweeps=int(rng.choice([0, 10])), seed=int(rng.integers(5)))
    return Auto(tol=tol)


def _features(rng: np.random.Generator, rows: int, d: int, scale: float) -> tuple[Any, Matrix]:
    """Return features in some storage, and the same as a dense float64 matrix."""
    storage = rng.choice(STORAGES)
    if storage == "binned":
        offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 4, d))])
        codes = np.stack([rng.integers(0, count + 1, rows) for count in np.diff(offsets)], axis=1)
        binned = BinnedMatrix(codes, offsets)
        return binned, binned.toarray()
    X = rng.standard_normal((rows, d)) * scale
    X[rng.random((rows, d)) < rng.choice([0.0, 0.5])] = 0.0
    if storage == "sparse":
        return sp.csr_array(X), X
    X = X.astype(storage)
    return X, X.astype(np.float64)


def _queries(rng: np.random.Generator, C: float, scale: float) -> tuple[Any, ...]:
    loss, most = QUERY_LOSSES[rng.integers(len(QUERY_LOSSES))]
    sizes = rng.integers(2, most + 1, rng.integers(1, 9))
    ys = [rng.permutation([0.0, 2.0, *rng.integers(0, 3, size - 2)]) for size in sizes]
    X, dense = _features(rng, int(sizes.sum()), int(rng.integers(1, 8)), scale)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    weights, intercept = _weights(rng, len(sizes)), float(rng.choice([0.0, 0.7]))
    problem = Problem.from_queries(
        X, np.concatenate(ys), qid, loss=loss, C=C, sample_weight=weights[qid], intercept=intercept
    )
    examples = [(dense[qid == q], y) for q, y in enumerate(ys)]
    return problem, problem.loss, examples, weights, intercept


def _rows(rng: np.random.Generator, C: float, scale: float) -> tuple[Any, ...]:
    n = int(rng.integers(2, 20))
    X, dense = _features(rng, n, int(rng.integers(1, 6)), scale)
    y = np.array([-1.0, 1.0, *rng.choice([-1.0, 1.0], n - 2)])
    weights, intercept = _weights(rng, n), float(rng.choice([0.0, 0.7]))
    problem = Problem.from_queries(X, y, loss=ZeroOne(), C=C, sample_weight=weights, intercept=intercept)
    return problem, problem.loss, list(zip(dense, y.tolist(), strict=True)), weights, intercept


def _classes(rng: np.random.Generator, C: float, scale: float) -> tuple[Any, ...]:
    K, n = int(rng.integers(2, 5)), int(rng.integers(4, 16))
    X, dense = _features(rng, n, int(rng.integers(1, 5)), scale)
    y = np.concatenate([np.arange(K), rng.integers(0, K, max(n - K, 0))])[:n]
    cost = rng.uniform(0.0, 3.0, (K, K)) * (1.0 - np.eye(K))
    loss = Multiclass(tuple(range(K)), cost if rng.integers(2) else None)
    weights, intercept = _weights(rng, n), float(rng.choice([0.0, 0.7]))
    problem = Problem.from_examples(X, y, loss=loss, C=C, sample_weight=weights, intercept=intercept)
    return problem, problem.loss, list(zip(dense, y.tolist(), strict=True)), weights, intercept


def _chain(rng: np.random.Generator, C: float, scale: float) -> tuple[Any, ...]:
    lengths = rng.integers(1, 5, rng.integers(1, 6))
    xs = [rng.standard_normal((length, 2)) * scale for length in lengths]
    ys = [rng.integers(0, 3, length) for length in lengths]
    weights, intercept = _weights(rng, len(xs)), float(rng.choice([0.0, 0.7]))
    loss = ChainHamming((0, 1, 2))
    problem = Problem.from_examples(xs, ys, loss=loss, C=C, sample_weight=weights, intercept=intercept)
    return problem, problem.loss, list(zip(xs, ys, strict=True)), weights, intercept


def _generic(rng: np.random.Generator, C: float, scale: float) -> tuple[Any, ...]:
    xs = list(rng.standard_normal((int(rng.integers(1, 10)), 3)) * scale)
    ys = rng.integers(0, 3, len(xs)).tolist()
    weights = _weights(rng, len(xs))
    problem = Problem.from_examples(xs, ys, loss=Kronecker(), C=C, sample_weight=weights)
    return problem, Kronecker(), list(zip(xs, ys, strict=True)), weights, 0.0


def _weights(rng: np.random.Generator, n: int) -> Vector:
    return np.ones(n) if rng.integers(2) else np.append(rng.choice([0.0, 0.25, 1.0, 3.0], n - 1), 1.0)


_MAKERS = {"queries": _queries, "rows": _rows, "classes": _classes, "chain": _chain, "generic": _generic}
