"""The time limit: its check, the time that does not count, and the row of a stopped run."""

from typing import Any

import pytest
from attrs import frozen

from structsvm.problem import Problem
from structsvm.result import Result
from structsvm.solvers import Solver
from structsvm.solvers.comparison import compare
from structsvm.solvers.qp import ActiveSet
from tests.small_problems import solved


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def running_time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("structsvm.solvers.comparison.running.running_time", clock.running_time)
    return clock


@frozen(eq=False)
class Slow(ActiveSet):
    """Takes a second for a QP."""

    name = "slow"
    clock: Clock

    def solve(self, qp: Any, start: Any = None) -> Any:
        self.clock.now += 1.0
        return super().solve(qp, start)

    def __repr__(self) -> str:
        return "Slow()"


def test_a_round_of_many_qps_is_cut_short(problem, clock):
    (row,) = compare(problem, "n-slack", Slow(clock), 100.0, time_limit=4.5)
    assert row.status == "time limit"
    assert row.note == "the time limit of 4.5 s has passed: the row has the bounds reached by then"
    assert row.seconds == 5.0  # the fifth QP was at work
    assert row.qps == 6  # the sixth was refused
    assert row.history[-1].passes < 1.5  # within the first round, plus a last look
    assert row.gap > 1e-3


def test_after_the_limit_of_one_the_next_goes_on(problem, clock):
    table = compare(problem, ["one-slack", "n-slack"], [Slow(clock), "active-set"], 100.0, time_limit=2.5)
    assert [row.status for row in table] == ["time limit", "converged"] * 2
    assert not table.interrupted
    assert [row.seconds for row in table] == [3.0, 0.0] * 2


def test_a_run_of_exactly_the_limit_ends(problem, clock):
    (row,) = compare(problem, "one-slack", Slow(clock), 100.0, time_limit=3.0)
    assert (row.status, row.qps, row.iterations, row.seconds) == ("time limit", 3, 3, 3.0)


def test_converged_at_the_limit_is_converged(problem, clock):
    (free,) = compare(problem, "one-slack", Slow(clock), 10.0, time_limit=None)
    (row,) = compare(problem, "one-slack", Slow(clock), 10.0, time_limit=float(free.qps))
    assert row.status == free.status == "converged"
    assert row.seconds == free.qps


def test_a_last_look_may_find_that_it_has_converged(problem, clock):
    (free,) = compare(problem, "n-slack", Slow(clock), 10.0, tol=0.05, time_limit=None)
    statuses = set()
    for limit in range(1, free.qps):
        (row,) = compare(problem, "n-slack", Slow(clock), 10.0, tol=0.05, time_limit=limit)
        assert row.seconds == limit
        assert (row.status == "converged") == (row.gap <= 0.05)
        assert (row.note == "") == (row.status == "converged")
        statuses.add(row.status)
    assert statuses == {"converged", "time limit"}


def test_the_clock_stops_while_progress_is_shown(problem, clock):
    def show(_: object) -> None:
        clock.now += 1000.0

    (row,) = compare(problem, "one-slack", Slow(clock), 10.0, time_limit=100.0, callback=show)
    assert row.status == "converged"
    assert row.seconds == row.qps


@pytest.mark.parametrize("solver", ["one-slack", "n-slack", "frank-wolfe", "auto"])
def test_the_bounds_at_the_limit_are_true(solver):
    problem, _, optimum = solved("map", 0, 100.0)
    (row,) = compare(problem, solver, "active-set", 100.0, tol=1e-9, time_limit=1e-9)
    assert row.status == "time limit"
    assert row.dual <= optimum + 1e-9
    assert row.primal >= optimum - 1e-9
    assert row.gap == (row.primal - row.dual) / 100.0 > 1e-9
    assert row.seconds >= 1e-9


@frozen
class Unguarded(Solver):
    """Does not know Ctrl-C."""

    name = "unguarded"
    backend: Any = "active-set"
    tol: float = 1e-3

    def solve(self, problem: Problem, start: Result | None = None, callback: Any = None) -> Result:
        import numpy as np

        from structsvm.solvers.qp import DualQP

        while True:
            self.backend.solve(DualQP(np.eye(1), np.ones(1), np.zeros(1, np.int64), np.ones(1), 1e-3))


def test_a_solver_that_lets_the_interruption_through(problem, clock, monkeypatch):
    monkeypatch.setattr("structsvm.solvers.comparison.comparing.warm_up", lambda trial: None)
    one, two = compare(problem, [Unguarded(), "frank-wolfe"], Slow(clock), time_limit=3.0)
    assert (one.status, one.gap) == ("time limit", None)
    assert one.note == "the time limit of 3 s has passed before the first result"
    assert two.status == "converged"
