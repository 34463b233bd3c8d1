"""Predictions of the work that a run needs."""

import numpy as np
import pytest

from structsvm import Problem
from structsvm.result import Status
from structsvm.solvers import Auto, NSlack
from structsvm.solvers.pace import Pace


def run_of(rate: float, steps: int, most: float, after: float = 0.0) -> Pace:
    """Record gaps that shrink by a factor with each pass."""
    pace = Pace(most, after)
    for work in range(steps + 1):
        pace.record(float(work), rate**work)
    return pace


@pytest.mark.parametrize("passes", [50.0, 400.0])
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_steady_run_is_slow_if_it_needs_more_work_than_allowed(passes: float, factor: float) -> None:
    assert run_of(1e-3 ** (1.0 / passes), 20, factor * passes).is_slow(1e-3) == (factor < 1.0)


def test_a_run_without_progress_is_slow_after_its_first_passes() -> None:
    assert run_of(1.0, 20, 1e6, after=19.0).is_slow(1e-3)
    assert not run_of(1.0, 20, 1e6, after=20.0).is_slow(1e-3)


@pytest.mark.parametrize("gap", [0.0, 1e-3])
def test_a_run_that_has_reached_the_gap_is_never_slow(gap: float) -> None:
    pace = run_of(0.999, 100, 10.0)
    assert pace.is_slow(1e-3)
    pace.record(101.0, gap)
    assert not pace.is_slow(1e-3)


def test_a_run_without_limit_is_never_slow() -> None:
    pace = run_of(1.0, 20, float("inf"))
    assert not pace.is_limited
    assert not pace.is_slow(1e-3)


@pytest.mark.parametrize(("queries", "scale", "C"), [(8, 1e6, 10.0), (8, 1e7, 0.1), (30, 1e6, 10.0)])
def test_one_slack_continues_if_rounding_stops_n_slack(queries: int, scale: float, C: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((queries * 12, 4)) * [1.0, scale, 1.0, 1.0]
    y = (X[:, 0] + rng.standard_normal(len(X)) > 1.0).astype(int)
    problem = Problem.from_queries(X, y, np.repeat(np.arange(queries), 12), loss="roc_area", C=C)
    assert NSlack(tol=1e-6, batch=queries).solve(problem).status is Status.STALLED
    result = Auto(tol=1e-6).solve(problem)
    assert result.converged
    assert result.solver_name == "one-slack"
    assert [step.iteration for step in result.history] == list(range(len(result.history)))
