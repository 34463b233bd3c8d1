"""Losses are trained to the optimum that an independent QP finds over all of their outputs."""

from itertools import filterfalse
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from structsvm import Problem, StructuralSVM
from structsvm.losses import (
    FBeta,
    Multiclass,
    PrecisionRecallBreakEven,
)
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from tests.losses.cases import OPTIMUM, cases_of
from tests.losses.exhaustive import exhaustive_objective
from tests.slow import slow
from tests.small_problems import graded_arrays

COST = np.array([[0.0, 1.0, 4.0], [0.5, 0.0, 1.0], [2.0, 0.0, 0.0]])
LOSSES = [case.loss for case in cases_of(OPTIMUM)]
SOLVERS = [OneSlack(tol=1e-6), NSlack(tol=1e-6), FrankWolfe(tol=1e-6)]


def is_quick(loss: Any) -> bool:
    """Return False for thresholds with a cut-off, whose outputs take a second to list."""
    return getattr(loss, "encoding", "") != "thresholds" or loss.k is None


@pytest.mark.parametrize("loss", [*filter(is_quick, LOSSES), *slow(*filterfalse(is_quick, LOSSES))], ids=repr)
@pytest.mark.parametrize(("C", "intercept", "weighted"), [(0.1, 0.0, False), (20.0, 1.5, True)])
def test_losses_of_queries_reach_the_optimum(loss: Any, C: float, intercept: float, weighted: bool) -> None:
    X, y, qid = graded_arrays(1)
    kappa = np.array([0.5, 2.0, 1.0, 3.0, 0.25, 1.0]) if weighted else np.ones(6)
    examples = [(X[qid == q], y[qid == q]) for q in range(6)]
    optimum = exhaustive_objective(loss, examples, C, kappa, intercept)
    problem = Problem.from_queries(X, y, qid, loss=loss, C=C, sample_weight=kappa[qid], intercept=intercept)
    for solver in SOLVERS:
        result = solver.solve(problem)
        assert result.converged
        assert result.dual <= optimum * (1 + 1e-9)
        assert result.primal == pytest.approx(optimum, rel=1e-7, abs=1.5e-6 * C)


def test_one_query_of_all_rows_reaches_the_optimum() -> None:
    """Joachims' set-up: the whole data set is one example."""
    X, y, _ = graded_arrays(2)
    X, y = X[:10], np.where(y[:10] > 1, 1.0, 0.0)
    for loss in (FBeta(), PrecisionRecallBreakEven()):
        optimum = exhaustive_objective(loss, [(X, y)], 0.3, intercept=1.0)
        problem = Problem.from_queries(X, y, loss=loss, C=0.3, intercept=1.0)
        assert OneSlack(tol=1e-7).solve(problem).primal == pytest.approx(optimum, rel=1e-6)


def rows(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 12)])
    X = rng.standard_normal((15, 3))
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize("cost", [None, COST], ids=["zero-one", "costs"])
@pytest.mark.parametrize("C", [0.5, 40.0])
def test_multiclass_reaches_the_optimum(cost: Any, C: float) -> None:
    X, y = rows(0)
    loss = Multiclass(cost=cost).bind(y)
    optimum = exhaustive_objective(loss, list(zip(X, y.tolist(), strict=True)), C)
    for solver in SOLVERS:
        result = StructuralSVM(Multiclass(cost=cost), C=C, solver=solver).fit(X, y).result_
        assert result.dual <= optimum * (1 + 1e-9)
        assert result.primal == pytest.approx(optimum, rel=1e-7, abs=1.5e-6 * C)


def test_costs_reach_the_optimum_of_a_qp_that_is_written_out() -> None:
    """Without anything of the package: variables W (3 x d) and ξ, one constraint per row and wrong class."""
    X, y = rows(1)
    (n, d), C = X.shape, 8.0
    A, b = [], []
    for i in range(n):
        for k in range(3):
            W = np.zeros((3, d))
            W[y[i]] += X[i]
            W[k] -= X[i]
            A.append(np.concatenate([W.ravel(), np.eye(n)[i]]))
            b.append(COST[y[i], k])
    constraints, bounds = np.array(A), np.array(b)
    found = minimize(
        lambda v: 0.5 * v[: 3 * d] @ v[: 3 * d] + C / n * v[3 * d :].sum(),
        np.concatenate([np.zeros(3 * d), np.full(n, COST.max())]),
        jac=lambda v: np.concatenate([v[: 3 * d], np.full(n, C / n)]),
        constraints={"type": "ineq", "fun": lambda v: constraints @ v - bounds, "jac": lambda v: constraints},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    result = StructuralSVM(Multiclass(cost=COST), C=C, tol=1e-7).fit(X, y).result_
    assert result.primal == pytest.approx(found.fun, rel=1e-5)
    np.testing.assert_allclose(result.w, found.x[: 3 * d], atol=1e-3)
