"""The error rate of all rows at once: a right loss, and the optimum of ZeroOne."""

import numpy as np
import pytest

from structsvm import Problem
from structsvm.protocols.svm_models import ErrorRate
from structsvm.solvers import OneSlack
from structsvm.testing import check_loss


def test_it_passes_check_loss():
    check_loss(
        ErrorRate(), [np.array([1.0, -1.0, 2.0]), np.array([-0.5]), np.array([3.0, 1.0]), np.array([-1.0, -2.0])]
    )


@pytest.mark.parametrize("intercept", [0.0, 1.0])
def test_it_has_the_optimum_of_zero_one_with_weights(intercept):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 5)), rng.integers(1, 5, 60).astype(float)
    signs = np.where(X[:, 0] + rng.normal(size=60) > 0.5, 1.0, -1.0)
    solver = OneSlack(tol=1e-8)
    for C in (0.1, 10.0, 1000.0):
        weighted = Problem.from_queries(
            X, signs, loss="zero_one", C=C, sample_weight=weight / weight.mean(), intercept=intercept
        )
        together = Problem.from_queries(X, signs * weight, loss=ErrorRate(), C=C, intercept=intercept)
        first, second = solver.solve(weighted), solver.solve(together)
        assert first.primal == pytest.approx(second.primal, abs=2e-8 * C)
        assert together.at(first.w).scores == pytest.approx(weighted.at(first.w).scores)
