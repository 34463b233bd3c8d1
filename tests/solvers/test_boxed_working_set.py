"""Fits within bounds whose QPs once ended early: weights without regularizer, and bounds of many sizes."""

import numpy as np
import pytest

from structsvm import Problem
from structsvm.foundation.types import Vector
from structsvm.solvers import Auto, NSlack, OneSlack

TOL = 1e-4


def extreme(seed: int) -> tuple[Problem, tuple[Vector, Vector]]:
    """Return a problem of random numbers of many sizes, with weights that have no regularizer, and its bounds.

    On the seeds below, of the first 1,400, 1-slack or n-slack gave up a QP as stalled although its gap still halved at
    each step.
    """
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 25)), int(rng.choice([1, 2, 3, 6, 30]))
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1, 100.0])
    if rng.random() < 0.2:
        X[:, 0] = 0
    if rng.random() < 0.2:
        X = np.round(X)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    C = float(rng.choice([1e-2, 1, 100, 1e4]))
    kappa = rng.choice([0, 1, 2.5], size=n) if rng.random() < 0.4 else np.ones(n)
    low = np.where(rng.random(d) < 0.3, -np.inf, rng.normal(size=d) * rng.choice([1e-6, 1, 100]))
    none, room = rng.random(d) < 0.3, np.abs(rng.normal(size=d)) * rng.choice([0, 1e-9, 1e-3, 1, 100], size=d)
    high = np.where(none, np.inf, np.where(np.isfinite(low), low, 0) + room)
    rng.random()
    penalty = rng.choice([1, 0.01, 50.0], size=d) if rng.random() < 0.5 else np.ones(d)
    if rng.random() < 0.5:
        penalty = np.where(np.isfinite(low) & np.isfinite(high) & (rng.random(d) < 0.6), 0, penalty)
    center = rng.normal(size=d) * rng.choice([0, 1, 10.0])
    problem = Problem.from_queries(X, y > 0, np.arange(n), loss="zero_one", C=C, sample_weight=kappa)
    return problem.regularized(center=center, penalty=penalty, bounds=(low, high)), (low, high)


@pytest.mark.parametrize("solver", [OneSlack(tol=TOL, max_iter=50), NSlack(tol=TOL, max_iter=50)])
@pytest.mark.parametrize("seed", [120, 535, 764, 970, 1127])
def test_a_step_that_halves_the_gap_is_followed_by_another(solver, seed):
    problem, (low, high) = extreme(seed)
    result = solver.solve(problem)
    assert result.converged
    assert ((low <= result.w) & (result.w <= high)).all()
    point = problem.at(problem.from_weights(result.w))
    assert problem.primal(problem.planes(point), point) == pytest.approx(result.primal, rel=1e-9)


def positive_weights(seed: int, C: float, n: int, docs: int, d: int, loss: str = "roc_area") -> Problem:
    """Return a problem with non-negative weights and many active bounds, whose QPs have large multipliers."""
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(n * docs, d)), np.repeat(np.arange(n), docs)
    score = X @ np.abs(rng.normal(size=d))
    y = score + 2.0 * score.std() * rng.normal(size=len(X)) > 0.0
    y[::docs], y[1::docs] = True, False
    return Problem.from_queries(X, y, qid, loss=loss, C=C, n_jobs=1).regularized(bounds=(0.0, None))


@pytest.mark.parametrize(("seed", "C"), [(6, 1e7), (7, 1e6), (9, 1e7)])
def test_line_search_takes_no_more_iterations_than_the_textbook_within_bounds(seed, C):
    problem = positive_weights(seed, C, n=1, docs=29, d=10)
    searching, textbook = (OneSlack(tol=1e-6, max_iter=200, line_search=on).solve(problem) for on in (True, False))
    assert searching.converged
    assert textbook.converged
    assert len(searching.history) <= len(textbook.history)


def test_auto_hands_problems_with_bounds_over_to_n_slack():
    problem = positive_weights(3, 1e7, n=20, docs=30, d=30, loss="map")
    result = Auto(tol=1e-6).solve(problem)
    assert result.converged
    assert result.solver_name == "n-slack"
