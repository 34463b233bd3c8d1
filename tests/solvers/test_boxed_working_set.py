"""Fits within bounds whose QPs once ended early: weights without regularizer, and bounds of many sizes."""

import numpy as np
import pytest

from structsvm import Problem
from structsvm.foundation.types import Vector
from structsvm.solvers import NSlack, OneSlack

TOL = 1e-4


def extreme(seed: int) -> tuple[Problem, tuple[Vector, Vector]]:
    """Return a problem of random numbers of many sizes, with weights that have no regularizer, and its bounds.

    Of the first 1,400 seeds those below are the ones of which 1-slack or n-slack gave a QP up as stalled, while its gap
    still halved at each step.
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
