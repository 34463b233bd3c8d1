"""Features, C and weights that float64 cannot compute with are refused; no warning of NumPy reaches a user."""

import warnings
from contextlib import suppress

import numpy as np
import pytest

from structsvm import Problem, Status
from structsvm.exceptions import InputError
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from tests.slow import slow

RNG = np.random.default_rng(0)
X, Y, QID = RNG.normal(size=(24, 3)), np.tile([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 3), np.repeat(np.arange(3), 8)


def solve(solver, *, scale=1.0, C=1.0, weight=1.0):
    """Solve a small problem for some iterations, where any warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = Problem.from_queries(X * scale, Y, QID, C=C, sample_weight=np.full(len(X), weight))
        return solver.solve(problem, callback=lambda step: step.iteration >= 12)


@pytest.mark.parametrize("solver", [OneSlack(), NSlack(), FrankWolfe()], ids=lambda solver: solver.name)
@pytest.mark.parametrize("scale", [1e-300, 1e139, 1e155, 1e307])
@pytest.mark.parametrize("C", [1.0, 1e139])
def test_the_bounds_are_finite_or_the_features_are_refused(solver, scale, C):
    if max(scale, scale * C) < 1e140:
        with suppress(InputError):
            result = solve(solver, scale=scale, C=C)
            assert 0.0 <= result.dual <= result.primal * (1.0 + 1e-12) <= 2.0 * C
    else:
        with pytest.raises(InputError, match="too large to compute with"):
            solve(solver, scale=scale, C=C)


@pytest.mark.parametrize("scale", [1e-300, 1e139, 1e155, 1e307])
@pytest.mark.parametrize("C", [1.0, 1e139])
def test_steps_in_scores_have_finite_bounds_or_the_features_are_refused(scale, C):
    problem = Problem.from_examples(X * scale, np.arange(24) % 4, loss="multiclass", C=C)
    with suppress(InputError), warnings.catch_warnings():
        warnings.simplefilter("error")
        result = FrankWolfe(max_iter=12).solve(problem)
        assert 0.0 <= result.dual <= result.primal * (1.0 + 1e-12) <= 2.0 * C


def test_frank_wolfe_refuses_planes_whose_products_are_finite_but_too_large():
    with pytest.raises(InputError, match=r"a cut has a norm of [0-9.]+e\+14[0-9]"):
        solve(FrankWolfe(max_iter=200), scale=1e142)


def test_a_pool_of_many_rows_is_solved():
    """The QP of one example with 2,000 rows is ill-conditioned: its dual rises for many rounds before its gap falls."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2000, 40))
    relevant = rows @ rng.standard_normal(40) + 3.0 * rng.standard_normal(2000) > 3.0
    problem = Problem.from_queries(rows, relevant.astype(float), np.zeros(2000), loss="f1", C=100.0)
    assert OneSlack().solve(problem).converged


@pytest.mark.parametrize("C", [5e-324, 1e-308, 1e-141, 1e141, 1e154, 1e308, 1.7e308])
def test_C_is_refused_by_name(C):
    with pytest.raises(InputError, match=r"^C must be from 1e-140 to 1e\+140"):
        solve(OneSlack(), C=C)
    with pytest.raises(InputError, match=r"^C must be from 1e-140 to 1e\+140"):
        Problem.from_queries(X, Y, QID).with_C(C)


@pytest.mark.parametrize("weight", [1e-308, 1e-200, 1e200, 1e308, 1.7e308])
def test_weights_are_refused_by_name(weight):
    with pytest.raises(InputError, match=r"^the example weights are too large or too small to compute with"):
        solve(OneSlack(), weight=weight)


@pytest.mark.parametrize(("loss", "seed"), [("f1", 8), ("f2", 1)])
def test_a_fit_that_rounding_limits_ends_soon(loss, seed):
    """Two bounds that approach each other only by rounding errors do not count as progress."""
    rng = np.random.default_rng(seed)
    X, y = 1e8 * rng.standard_normal((6, 3)), rng.integers(0, 2, 6)
    y[:2] = 1, 0
    problem = Problem.from_queries(X, y, np.zeros(6), loss=loss, C=42.0).regularized(bounds=(0.0, None))
    result = OneSlack().solve(problem, callback=lambda step: step.iteration >= 60)
    assert result.status is Status.STALLED
    assert "Scale the features" in result.message


@pytest.mark.parametrize("seed", [0, *slow(3)])
def test_frank_wolfe_ends_soon_at_the_limit_of_rounding(seed):
    rng = np.random.default_rng(seed)
    X, y, qid = 1e8 * rng.standard_normal((40, 5)), rng.random(40) < 0.4, np.repeat(np.arange(8), 5)
    result = FrankWolfe(tol=1e-6, max_iter=300).solve(Problem.from_queries(X, y, qid, C=10.0))
    assert result.status is Status.STALLED
