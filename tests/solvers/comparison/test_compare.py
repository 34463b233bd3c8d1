"""Rows hold the results of solvers, and a failure spares all other rows."""

import itertools
import re

import numpy as np
import pytest
from attrs import evolve, frozen

from structsvm.exceptions import NotInstalledError
from structsvm.problem import Problem
from structsvm.registry import solvers
from structsvm.solvers import NSlack, OneSlack
from structsvm.solvers import n_slack as n_slack_module
from structsvm.solvers.comparison import compare
from structsvm.solvers.qp import ActiveSet, GeneralBackend
from tests.slow import slow
from tests.small_problems import PlainROCArea, ranking, small_problem


@pytest.mark.slow
@pytest.mark.parametrize("C", [1.0, *slow(100.0)])
@pytest.mark.parametrize("backend", ["active-set", "highs"])
@pytest.mark.parametrize("solver", ["one-slack", "n-slack", "frank-wolfe"])
def test_a_row_is_what_the_solver_returns(problem, solver, backend, C):
    (row,) = compare(problem, solver, backend, C, tol=1e-4)
    settings = {} if solver == "frank-wolfe" else {"backend": backend}
    alone = solvers.create(solver, tol=1e-4, **settings).solve(problem.with_C(C))
    assert (row.loss, row.solver, row.C, row.tol) == ("map", solver, C, 1e-4)
    assert row.backend == settings.get("backend")
    assert (row.status, row.note) == ("converged", "")
    assert (row.primal, row.dual) == (alone.primal, alone.dual)
    assert row.gap == (alone.primal - alone.dual) / C <= 1e-4
    assert row.iterations == alone.history[-1].iteration > 0
    assert row.passes == alone.history[-1].passes
    assert row.cuts == len(alone.cuts)
    assert row.peak_cuts >= max(step.cuts for step in alone.history)
    assert row.handovers == (alone.handovers if settings else None)
    assert (row.qps is None) == (not settings)
    assert 0.0 < row.oracle_seconds + row.solver_seconds <= row.history[-1].seconds <= row.seconds
    assert [step.primal for step in row.history] == [step.primal for step in alone.history]


def test_examples_without_weight_in_front():
    problem = small_problem("map", C=5.0)
    cap = problem.cap.copy()
    cap[:2] = 0.0
    table = compare(evolve(problem, cap=cap), "one-slack", "active-set", 5.0)
    assert [row.status for row in table] == ["converged"]


def test_a_single_example():
    table = compare(ranking(PlainROCArea(), 0, queries=1), backends="active-set")
    assert [row.status for row in table] == ["converged"] * 3


def test_the_peak_is_seen_in_the_middle_of_a_round(problem):
    solver = NSlack(max_cuts=48, max_idle=3)
    (row,) = compare(problem, solver, "active-set", 1e4, tol=1e-6)
    assert row.status == "converged"
    assert row.peak_cuts > max(step.cuts for step in row.history)


@frozen
class Helpless(GeneralBackend):
    name = "helpless"

    def attempts(self, qp, start):
        yield from ()


@pytest.mark.slow
def test_help_for_a_backend_is_counted(problem):
    helpless, active = compare(problem, "one-slack", [Helpless(), "active-set"], 10.0)
    assert helpless.qps == active.qps == active.iterations
    assert 0 < helpless.handovers <= helpless.qps
    assert active.handovers == 0


def test_a_path_of_C_starts_from_nothing_each_time(problem):
    together = compare(problem, "one-slack", "active-set", [1.0, 10.0])
    apart = [row for C in (1.0, 10.0) for row in compare(problem, "one-slack", "active-set", C)]
    assert [row.iterations for row in together] == [row.iterations for row in apart]


@frozen
class Missing(GeneralBackend):
    name = "missing"

    def attempts(self, qp, start):
        raise NotInstalledError("get it from there")
        yield


@pytest.mark.slow
def test_a_package_that_is_missing(problem):
    one, two, three = compare(problem, ["one-slack", "frank-wolfe"], [Missing(), "active-set"])
    assert (one.status, one.note, one.gap, one.seconds) == ("not installed", "get it from there", None, None)
    assert [two.status, three.status] == ["converged"] * 2


@frozen
class Broken(ActiveSet):
    name = "broken"

    def solve(self, qp, start=None):
        raise ZeroDivisionError("by nothing")


def test_failures_are_rows_and_other_combinations_run(problem):
    one, two = compare(problem, "one-slack", [Broken(), "active-set"])
    assert (one.status, one.primal) == ("failed", None)
    assert re.fullmatch(r"ZeroDivisionError: by nothing \(.*test_compare.py, line \d+\)", one.note)
    assert two.status == "converged"


class Worst(PlainROCArea):
    """Returns an output with a negative loss."""

    def loss_augmented_argmax(self, scores, y):
        return -y

    def loss(self, y, y_hat):
        return 0.0 if np.array_equal(y, y_hat) else -1.0


def test_a_wrong_loss_says_so():
    (row,) = compare(ranking(Worst(), 0), "one-slack", "active-set")
    assert row.status == "failed"
    assert "Worst" in row.note


def test_a_problem_too_large_for_a_solver(problem, monkeypatch):
    monkeypatch.setattr(n_slack_module, "_MOST_BYTES", 1)
    one, two = compare(problem, ["n-slack", "one-slack"], "active-set")
    assert one.status == "failed"
    assert "use OneSlack or FrankWolfe" in one.note
    assert two.status == "converged"


def test_the_limit_of_iterations(problem):
    (row,) = compare(problem, OneSlack(max_iter=1), "active-set", 100.0)
    assert row.status == "iteration limit"
    assert row.note.startswith("the limit of iterations was reached")
    assert row.gap > 1e-3


def test_progress_is_shown(problem):
    seen = []
    table = compare(problem, ["one-slack", "frank-wolfe"], "active-set", [1.0, 10.0], callback=seen.append)
    each = [list(group) for _, group in itertools.groupby(seen, key=lambda progress: progress.number)]
    for number, (row, shown) in enumerate(zip(table, each, strict=True), start=1):
        assert {(one.number, one.planned) for one in shown} == {(number, 4)}
        assert {(one.combination.solver, one.combination.C) for one in shown} == {(row.solver, row.C)}
        assert [one.step for one in shown] == [None, *row.history]
    assert str(seen[0].combination) == "map, one-slack, active-set, C = 1"
    assert str(seen[-1].combination) == "map, frank-wolfe, C = 10"


@pytest.mark.slow
def test_a_callback_ends_the_comparison(problem):
    def second(progress):
        return progress.number == 2 and progress.step is not None

    table = compare(problem, "one-slack", ["active-set", "highs", "osqp"], 100.0, callback=second)
    assert [row.status for row in table] == ["converged", "stopped"]
    assert (table.planned, table.interrupted) == (3, False)
    assert len(compare(problem, "one-slack", "active-set", callback=lambda _: True)) == 0


@pytest.mark.parametrize("backend", ["active-set", "highs"])
@pytest.mark.parametrize("kind", [ZeroDivisionError, OSError])
def test_errors_of_a_callback_are_the_callers(problem, backend, kind):
    def fail(progress):
        if progress.step:
            raise kind("no space")

    with pytest.raises(kind, match="no space"):
        compare(problem, "one-slack", backend, callback=fail)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "during"])
def test_ctrl_c_ends_with_the_rows_so_far(problem, when):
    def interrupt(progress):
        if progress.number == 2 and (progress.step is not None) == (when == "during"):
            raise KeyboardInterrupt

    table = compare(problem, "one-slack", ["active-set", "highs", "osqp"], 100.0, callback=interrupt)
    assert table.interrupted
    assert table.planned == 3
    assert [row.status for row in table] == ["converged", *(["interrupted"] if when == "during" else [])]


def test_ctrl_c_where_a_solver_has_nothing_yet(problem, monkeypatch):
    at = Problem.origin
    calls = itertools.count()

    def interrupt(self):
        if self.n == problem.n and next(calls) == 1:
            raise KeyboardInterrupt
        return at(self)

    monkeypatch.setattr(Problem, "origin", interrupt)
    table = compare(problem, "one-slack", "active-set", [1.0, 10.0, 100.0])
    assert table.interrupted
    assert [row.status for row in table] == ["converged"]


@pytest.mark.parametrize(("solver", "call"), [("one-slack", 0), ("one-slack", 1), ("frank-wolfe", 0)])
def test_ctrl_c_before_the_clock_starts(problem, monkeypatch, solver, call):
    planes = Problem.planes
    calls = itertools.count()

    def interrupt(self, *arguments):
        if self.n < problem.n and next(calls) == call:
            raise KeyboardInterrupt
        return planes(self, *arguments)

    monkeypatch.setattr(Problem, "planes", interrupt)
    table = compare(problem, solver, "active-set")
    assert table.interrupted
    assert len(table) == 0
