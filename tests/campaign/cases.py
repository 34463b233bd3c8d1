"""A random problem for each number: its data, loss, solver and start."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import evolve, frozen

from structsvm import Problem, Result
from structsvm.features.operators import BinnedMatrix
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import (
    ChainHamming,
    Multiclass,
    ZeroOne,
)
from structsvm.problem.planes.capacity import bytes_of_planes, fewest
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack, Solver
from tests.losses.cases import CASES
from tests.small_problems import Kronecker
from tests.solvers.qp.programs import BACKENDS

QUERY_LOSSES = [(case.loss, case.documents) for case in CASES if case.documents]
"""Losses of queries, and the most documents of which all outputs can be listed."""

_MOST_COLUMNS = 8

STORAGES = ("float64", "float32", "sparse", "binned")


STARTS = ("cold", "same data", "saved", "other C", "other solver", "other data", "tiny change")


@frozen(eq=False)
class Objective:
    """``½ Σ_j λ_j (w_j − b_j)²`` over ``low ≤ w ≤ high``, to which the hinges are added.

    Parameters
    ----------
    center, penalty : b and λ, shape (d,).
    low, high : bounds, shape (d,); finite for a penalty of 0.
    """

    center: Vector
    penalty: Vector
    low: Vector
    high: Vector

    @classmethod
    def plain(cls, d: int) -> "Objective":
        """Return ``½‖w‖²``, without bounds."""
        return cls(np.zeros(d), np.ones(d), np.full(d, -np.inf), np.full(d, np.inf))

    def of(self, problem: Problem) -> Problem:
        """Return a problem with this regularizer."""
        return problem.regularized(center=self.center, penalty=self.penalty, bounds=(self.low, self.high))


@frozen(eq=False)
class Case:
    """A problem with the data to solve it by other means.

    Parameters
    ----------
    number : of the case; it makes the same case anywhere.
    problem : the input of the solver.
    loss : bound to the data.
    examples : input (of dense float64 features) and true output of each example.
    weights : of the examples.
    intercept : value of the constant feature; 0 for none.
    even : whether all features have the same scale.
    solver : with its settings.
    start : one of `STARTS`.
    objective : the regularizer and the bounds; None: ``½‖w‖²``, and none.
    """

    number: int
    problem: Problem
    loss: Any
    examples: list[tuple[Any, Any]]
    weights: Vector
    intercept: float
    even: bool
    solver: Solver
    start: str
    objective: Objective | None = None

    def __str__(self) -> str:
        return f"case {self.number}: {self.loss!r}, {self.solver!r}, C={self.problem.C:.3g}, {self.start} start"


def case(number: int) -> Case:
    """Make the plain case of a number."""
    rng = np.random.default_rng(number)
    C = float(10.0 ** rng.uniform(-4.0, 6.0))
    spread = rng.choice(["near 1", "far from 1", "by column"], p=[0.7, 0.15, 0.15])
    scale = 10.0 ** (rng.uniform(-1.0, 1.0, 1) if spread == "near 1" else rng.uniform(-8.0, 8.0, 1))
    if spread == "by column":
        scale = 10.0 ** rng.uniform(-8.0, 8.0, _MOST_COLUMNS)
    kind = rng.choice(["queries", "rows", "classes", "chain", "generic"], p=[0.7, 0.08, 0.1, 0.06, 0.06])
    made = _MAKERS[kind](rng, C, scale)
    start = str(rng.choice(STARTS, p=[0.4, 0.08, 0.07, 0.15, 0.1, 0.1, 0.1]))
    return Case(number, *made, len(scale) == 1, _solver(rng, made[0]), start)


def bounded(plain: Case) -> Case:
    """Return the case with bounds of the size of its weights, and some weights without regularizer."""
    rng, d = np.random.default_rng([plain.number, 3]), plain.problem.d
    here = plain.problem.origin()
    slope = np.abs(plain.problem.cut(plain.problem.planes(here)).g)
    slope = np.where(slope > 0.0, slope, max(float(slope.max()), 1e-300))
    natural = np.minimum(plain.problem.C * slope, 1.0 / slope)
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    if rng.integers(2):
        signs = rng.integers(-1, 2, d)
        low[signs > 0], high[signs < 0] = 0.0, 0.0
    else:
        size = natural * 10.0 ** rng.uniform(-2.0, 1.0, d)
        low = np.where(rng.random(d) < 0.4, low, size * rng.standard_normal(d))
        above = np.where(np.isfinite(low), low + size * rng.exponential(size=d), size * rng.standard_normal(d))
        high = np.where(rng.random(d) < 0.4, high, above)
    penalty = np.where(rng.random(d) < 0.5, 1.0, 10.0 ** rng.uniform(-1.0, 1.0, d))
    loose = rng.random(d) < rng.choice([0.0, 0.3])
    penalty[loose] = 0.0
    room = natural * 10.0 ** rng.uniform(-1.0, 2.0, d)
    low = np.where(loose & ~np.isfinite(low), np.minimum(high, room) - 2.0 * room, low)
    high = np.where(loose & ~np.isfinite(high), low + 2.0 * room, high)
    center = natural * rng.standard_normal(d) * rng.integers(2)
    return _regularized(plain, Objective(center, penalty, low, high))


def boxed(plain: Case) -> Case:
    """Return the case in a box whose size is not that of its weights.

    Some or all weights may have no regularizer, features may be constant within queries, and their scale may be any.
    """
    rng = np.random.default_rng([plain.number, 4])
    columns = plain.examples[0][0].shape[-1]
    constant = (rng.random(columns) < rng.choice([0.0, 0.4])) & (plain.examples[0][0].ndim == 2)
    scale = 1.0 if rng.random() < 0.5 else 10.0 ** rng.uniform(-8.0, 8.0)
    xs = [np.where(constant, x[..., :1, :], x) * scale if constant.any() else x * scale for x, _ in plain.examples]
    examples = [(x, y) for x, (_, y) in zip(xs, plain.examples, strict=True)]
    made = evolve(plain, problem=_problem(plain, xs), examples=examples)
    d, room = made.problem.d, 10.0 ** rng.uniform(-2.0, 2.0)
    penalty = np.where(rng.random(d) < rng.choice([0.0, 0.3, 1.0]), 0.0, 1.0)
    return _regularized(made, Objective(np.zeros(d), penalty, np.full(d, -room), np.full(d, room)))


def pinned(plain: Case) -> Case:
    """Return the case with C from 1 to 1e7 and with bounds in which some weights are constant.

    The bounds are non-negative, a sign per weight, a box, or random; the scale of features is 1.
    """
    rng, d = np.random.default_rng([plain.number, 5]), plain.problem.d
    scale = max(float(np.abs(x).max(initial=0.0)) for x, _ in plain.examples) or 1.0
    made = evolve(plain, examples=[(x / scale, y) for x, y in plain.examples])
    made = evolve(made, problem=_problem(made, [x for x, _ in made.examples]).with_C(10.0 ** rng.uniform(0.0, 7.0)))
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    kind = rng.integers(4)
    if kind < 2:
        signs = np.ones(d) if kind == 0 else rng.integers(-1, 2, d)
        low[signs > 0], high[signs < 0] = 0.0, 0.0
    else:
        room = 10.0 ** rng.uniform(-2.0, 1.0)
        low = np.full(d, -room) if kind == 2 else np.where(rng.random(d) < 0.4, low, room * rng.standard_normal(d))
        high = np.where(np.isfinite(low), low, 0.0) + 2.0 * room * (rng.exponential(size=d) if kind == 3 else 1.0)
    constant = rng.random(d) < rng.choice([0.0, 0.3])
    value = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    low, high = np.where(constant, value, low), np.where(constant, value, high)
    return _regularized(made, Objective(np.zeros(d), np.ones(d), low, high))


def _regularized(plain: Case, objective: Objective) -> Case:
    solver: Any = plain.solver
    if isinstance(solver, FrankWolfe):
        solver = OneSlack(tol=solver.tol)
    return evolve(plain, problem=objective.of(plain.problem), solver=solver, objective=objective)


def start_of(made: Case, folder: str) -> Result | None:
    """Return the result that a case starts from; one that is saved goes through a file in a folder."""
    rng = np.random.default_rng([made.number, 2])
    C = made.problem.C * float(rng.choice([0.1, 0.5, 3.0]))
    if made.start == "cold":
        return None
    if made.start in ("same data", "saved"):
        result = _few_steps(made.solver).solve(made.problem)
        if made.start == "same data":
            return result
        path = Path(folder) / f"{made.number}.npz"
        result.save(path)
        return Result.load(path)
    if made.start == "other solver":
        others = (OneSlack(max_iter=20), NSlack(max_iter=3), FrankWolfe(max_iter=5))
        return others[rng.integers(3 if made.objective is None else 2)].solve(made.problem)
    other = made.problem if made.start == "other C" else _other_data(made, tiny=made.start == "tiny change")
    return _few_steps(made.solver).solve(other.with_C(C))


def _few_steps(solver: Any) -> Solver:
    few: Solver = evolve(solver, max_iter=100)
    return few


def _other_data(of: Case, *, tiny: bool) -> Problem:
    other = _other_features(of, tiny=tiny)
    return other if of.objective is None else of.objective.of(other)


def _other_features(of: Case, *, tiny: bool) -> Problem:
    """Return the same kind of problem with other features, which a start must not be confused with.

    Parameters
    ----------
    of : the case.
    tiny : change one entry, by 1e-8 of the largest; else a column of every example.
    """
    rng = np.random.default_rng([of.number, 1])
    xs = [np.array(x, dtype=np.float64) for x, _ in of.examples]
    if tiny:
        changed = xs[rng.integers(len(xs))]
        changed[tuple(rng.integers(changed.shape))] += 1e-8 * max(np.abs(x).max() for x in xs) + 1e-300
    else:
        for x in xs:
            x[..., rng.integers(x.shape[-1])] *= 1.0 + rng.choice([1e-6, 1e-3, 1.0])
    return _problem(of, xs)


def _problem(of: Case, xs: list[Any]) -> Problem:
    """Return the problem of a case with other features."""
    settings = {"loss": of.loss, "C": of.problem.C, "intercept": of.intercept, "sample_weight": of.weights}
    ys = [y for _, y in of.examples]
    if of.loss.per_row:
        return Problem.from_examples(np.stack(xs), np.array(ys), **settings)
    return Problem.from_examples(xs, ys, **settings)


def _solver(rng: np.random.Generator, problem: Problem) -> Solver:
    tol = float(10.0 ** rng.uniform(-6.0, -2.0))
    others = len(BACKENDS) - 1
    backend = BACKENDS[rng.choice(len(BACKENDS), p=[0.7, *[0.3 / others] * others])]()
    max_cuts = int(rng.choice([2_000, 10]))
    kind = rng.integers(5)
    if kind == 0:
        return OneSlack(tol=tol, backend=backend, max_cuts=max_cuts, line_search=bool(rng.integers(2)))
    if kind == 1:
        return NSlack(tol=tol, backend=backend, max_cuts=max_cuts, batch=int(rng.integers(1, 8)))
    if kind == 2:
        return NSlack(tol=tol, backend=backend)
    if kind == 3:
        least = fewest(problem.n, problem.d)
        memory = int(rng.choice([2**28, bytes_of_planes(problem.n, problem.d, least)]))
        return FrankWolfe(
            tol=tol, memory=memory, cache_sweeps=int(rng.choice([0, 10])), random_state=int(rng.integers(5))
        )
    return Auto(tol=tol)


def _features(rng: np.random.Generator, rows: int, d: int, scale: Vector) -> tuple[Any, Matrix]:
    """Return features in some storage, and the same as a dense float64 matrix."""
    storage = rng.choice(STORAGES)
    if storage == "binned":
        offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 4, d))])
        codes = np.stack([rng.integers(0, count + 1, rows) for count in np.diff(offsets)], axis=1)
        binned = BinnedMatrix(codes, offsets)
        return binned, binned.toarray()
    X = rng.standard_normal((rows, d)) * scale[:d]
    X[rng.random((rows, d)) < rng.choice([0.0, 0.5])] = 0.0
    if storage == "sparse":
        return sp.csr_array(X), X
    X = X.astype(storage)
    return X, X.astype(np.float64)


def _queries(rng: np.random.Generator, C: float, scale: Vector) -> tuple[Any, ...]:
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


def _rows(rng: np.random.Generator, C: float, scale: Vector) -> tuple[Any, ...]:
    n = int(rng.integers(2, 20))
    X, dense = _features(rng, n, int(rng.integers(1, 6)), scale)
    y = np.array([-1.0, 1.0, *rng.choice([-1.0, 1.0], n - 2)])
    weights, intercept = _weights(rng, n), float(rng.choice([0.0, 0.7]))
    problem = Problem.from_queries(X, y, loss=ZeroOne(), C=C, sample_weight=weights, intercept=intercept)
    return problem, problem.loss, list(zip(dense, y.tolist(), strict=True)), weights, intercept


def _classes(rng: np.random.Generator, C: float, scale: Vector) -> tuple[Any, ...]:
    K, n = int(rng.integers(2, 5)), int(rng.integers(4, 16))
    X, dense = _features(rng, n, int(rng.integers(1, 5)), scale)
    y = np.concatenate([np.arange(K), rng.integers(0, K, max(n - K, 0))])[:n]
    cost = rng.uniform(0.0, 3.0, (K, K)) * (1.0 - np.eye(K))
    loss = Multiclass(tuple(range(K)), cost if rng.integers(2) else None)
    weights, intercept = _weights(rng, n), float(rng.choice([0.0, 0.7]))
    problem = Problem.from_examples(X, y, loss=loss, C=C, sample_weight=weights, intercept=intercept)
    return problem, problem.loss, list(zip(dense, y.tolist(), strict=True)), weights, intercept


def _chain(rng: np.random.Generator, C: float, scale: Vector) -> tuple[Any, ...]:
    lengths = rng.integers(1, 5, rng.integers(1, 6))
    xs = [rng.standard_normal((length, 2)) * scale[:2] for length in lengths]
    ys = [rng.integers(0, 3, length) for length in lengths]
    weights, intercept = _weights(rng, len(xs)), float(rng.choice([0.0, 0.7]))
    loss = ChainHamming((0, 1, 2))
    problem = Problem.from_examples(xs, ys, loss=loss, C=C, sample_weight=weights, intercept=intercept)
    return problem, problem.loss, list(zip(xs, ys, strict=True)), weights, intercept


def _generic(rng: np.random.Generator, C: float, scale: Vector) -> tuple[Any, ...]:
    xs = list(rng.standard_normal((int(rng.integers(1, 10)), 3)) * scale[:3])
    ys = rng.integers(0, 3, len(xs)).tolist()
    weights = _weights(rng, len(xs))
    problem = Problem.from_examples(xs, ys, loss=Kronecker(), C=C, sample_weight=weights)
    return problem, Kronecker(), list(zip(xs, ys, strict=True)), weights, 0.0


def _weights(rng: np.random.Generator, n: int) -> Vector:
    return np.ones(n) if rng.integers(2) else np.append(rng.choice([0.0, 0.25, 1.0, 3.0], n - 1), 1.0)


_MAKERS = {"queries": _queries, "rows": _rows, "classes": _classes, "chain": _chain, "generic": _generic}
