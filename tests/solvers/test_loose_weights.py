"""Weights without regularizer beside constant features."""

import numpy as np
import pytest

from structsvm import Problem
from structsvm.problem.coordinates import Box
from structsvm.result import Step
from structsvm.solvers import NSlack, OneSlack
from structsvm.solvers.boxed_working_set import BoxedWorkingSet
from structsvm.solvers.qp import ActiveSet


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


@pytest.fixture
def short_steps() -> BoxedWorkingSet:
    """Return one cut whose first proximal steps gain less than the accuracy of the model; more does not help."""
    low = [-4.0312, -1.2454, -np.inf, -np.inf, 0.2421, -0.0673, -1.3029, -238.5268]
    high = [-3.5072, np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, 235.295]
    low += [-np.inf, -np.inf, 1.9182, 2.6085, -46.813, -0.0202]
    high += [np.inf, np.inf, np.inf, np.inf, 46.223, 3.6211]
    loose = np.isin(np.arange(14), [0, 7, 12, 13])
    working_set = BoxedWorkingSet(Box(np.array(low), np.array(high), loose), np.array([7825.0]), 100)
    cut = [-0.8889, 0, 0, 0.9874, 0.8889, 0, 0, 0, 0, -1.165, 0.8354, 0.9114, 0.8889, 0.8889]
    working_set.add(np.array([cut]), np.array([7.70188356]), np.zeros(1, dtype=np.int64))
    return working_set


def test_steps_lengthen_until_the_dual_is_optimal(short_steps: BoxedWorkingSet) -> None:
    at_zero = short_steps.dual
    short_steps.solve(ActiveSet(), tol=8e-4)
    assert short_steps.dual > at_zero - 0.01


def test_cuts_restore_a_dual_that_no_solution_exceeded(short_steps: BoxedWorkingSet) -> None:
    at_zero, box = short_steps.dual, short_steps._box
    short_steps.solve(ActiveSet(), tol=8e-4)
    again = BoxedWorkingSet(box, short_steps.cap, 100)
    again.load(short_steps.cuts())
    assert again.dual == max(at_zero, short_steps.dual)
