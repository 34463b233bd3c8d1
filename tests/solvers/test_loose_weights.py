"""Weights without regularizer beside constant features."""

import numpy as np
import pytest

from structsvm import Problem
from structsvm.result import Step
from structsvm.solvers import NSlack, OneSlack


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-4), NSlack(tol=1e-4, batch=8)])
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-6])
def test_a_constant_regularized_feature_does_not_set_the_steps(solver: OneSlack | NSlack, noise: float) -> None:
    """Rounding makes a constant feature differ within queries by some 1e-17, which must not count as a scale."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((40, 4)), rng.integers(0, 2, 40), np.arange(40) // 5
    X[:, 3] = 0.7 * (1.0 + noise * X[:, 3])
    problem = Problem.from_queries(X, y, qid, loss="map", C=65.0)
    result = solver.solve(problem.regularized(penalty=[0.0, 0.0, 0.0, 1.0], bounds=(-8.0, 8.0)), callback=_too_long)
    assert result.converged


def _too_long(step: Step) -> bool:
    return step.iteration > 200
