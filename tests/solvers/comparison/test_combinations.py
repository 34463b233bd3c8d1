"""The combinations that are compared, their names, and errors before the first run."""

from typing import Any

import numpy as np
import pytest
from attrs import frozen

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.losses import NDCGLoss
from structsvm.problem import Problem
from structsvm.registry import losses
from structsvm.result import Result
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack, Solver
from structsvm.solvers.comparison import compare
from structsvm.solvers.comparison.combinations import describe, tasks
from structsvm.solvers.qp import CVXOPT, OSQP, ActiveSet, HiGHS, Recorder
from tests.small_problems import ranking_arrays, small_problem


def names(problems: Any, solvers: Any, backends: Any, Cs: Any) -> list[tuple[str, str, str | None, float]]:
    result = [task.combination for task in tasks(problems, solvers, backends, Cs, 1e-3)]
    return [(each.loss, each.solver, each.backend, each.C) for each in result]


def test_every_solver_with_every_backend_at_every_C(problem):
    assert names(problem, ["one_slack", "n-slack", "frank-wolfe"], ["highs", "active-set"], [10, 1]) == [
        ("map", solver, backend, C)
        for C in (10.0, 1.0)
        for solver, backend in [
            ("one-slack", "highs"),
            ("one-slack", "active-set"),
            ("n-slack", "highs"),
            ("n-slack", "active-set"),
            ("frank-wolfe", None),
        ]
    ]


def test_problems_by_name():
    problems = {"first": small_problem("map"), "second": small_problem("roc_area")}
    assert names(problems, "frank-wolfe", "osqp", 2) == [
        ("first", "frank-wolfe", None, 2.0),
        ("second", "frank-wolfe", None, 2.0),
    ]


def test_a_problem_without_a_name_is_called_after_its_loss():
    assert names(small_problem("roc_area"), "auto", "auto", 1)[0][0] == "roc_area"
    X, y, qid = ranking_arrays(0)
    name = "letor_ndcg@2(encoding=pairwise,truncated=true)"
    letor = Problem.from_queries(X, y, qid, loss=NDCGLoss(2, discount="letor", truncated=True, encoding="pairwise"))
    assert names(letor, "auto", "auto", 1)[0][0] == losses.spell(letor.loss) == name
    assert names(small_problem("plain"), "auto", "auto", 1)[0][0] == "PlainROCArea"
    assert names(small_problem("generic"), "auto", "auto", 1)[0][0] == "Kronecker"


def test_tasks_have_the_settings_of_the_comparison(problem):
    solvers, backends = [NSlack(batch=3), FrankWolfe()], OSQP(eps=1e-9)
    made = tasks(problem, solvers, [backends], np.array([1.0, 100.0]), 1e-2)
    assert [task.solver for task in made[:2]] == [
        NSlack(tol=1e-2, batch=3, backend=OSQP(eps=1e-9)),
        FrankWolfe(tol=1e-2),
    ]
    assert [task.backend for task in made[:2]] == [OSQP(eps=1e-9), None]
    for task, C in zip(made, [1.0, 1.0, 100.0, 100.0], strict=True):
        assert task.problem.C == C
        np.testing.assert_allclose(task.problem.cap, problem.cap * C / problem.C)
        assert task.problem.operator is problem.operator


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (OneSlack(), "one-slack"),
        (OneSlack(tol=1.0, backend="osqp"), "one-slack"),
        (OneSlack(line_search=False, max_cuts=10), "one-slack(max_cuts=10,line_search=false)"),
        (ActiveSet(), "active-set"),
        (HiGHS(time_limit=1.0), "highs(time_limit=1)"),
        (CVXOPT(reltol=1e-8), "cvxopt"),
    ],
)
def test_names_tell_settings_apart(thing, text):
    assert describe(thing) == text


def test_a_choice_of_solver_has_no_backend(problem):
    assert names(problem, [Auto(), "frank-wolfe"], ["highs", "osqp"], 1) == [
        ("map", "auto", None, 1.0),
        ("map", "frank-wolfe", None, 1.0),
    ]


def test_all_backends_are_those_installed(problem, monkeypatch):
    monkeypatch.setattr(OSQP, "missing", lambda self: "osqp")
    result = [backend for _, _, backend, _ in names(problem, "one-slack", "all", 1)]
    assert result[:2] == ["active-set", "cvxopt"]
    assert "highs" in result
    assert not {"osqp", "auto", "qpsolvers"} & {*result}
    assert len({*result}) == len(result)
    more = [backend for _, _, backend, _ in names(problem, "one-slack", ["highs", "all", ActiveSet()], 1)]
    assert sorted(more) == sorted(result)


def test_backends_that_cannot_be_compared_are_an_error(problem, tmp_path):
    class Nameless(ActiveSet):
        name = None

    with pytest.raises(InputError, match="the backend Nameless needs a name: write name = "):
        names(problem, "one-slack", [Nameless()], 1)
    with pytest.raises(InputError, match="a Recorder cannot be compared"):
        names(problem, "one-slack", Recorder(tmp_path), 1)


class Plain(Solver):
    name = "plain"

    def solve(self, problem: Problem, start: Result | None = None, callback: Any = None) -> Result:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solvers": []}, "a comparison needs at least one solver"),
        ({"backends": []}, "a comparison needs at least one backend"),
        ({"Cs": []}, "a comparison needs at least one value of C"),
        ({"problems": {}}, "a comparison needs at least one problem"),
        ({"solvers": ["one-slack", "one_slack"]}, "the solver one-slack is given twice"),
        ({"solvers": ["one-slack", OneSlack()]}, "the solver one-slack is given twice"),
        ({"backends": ["auto", "active-set"]}, "the backend active-set is given twice"),
        ({"Cs": [1, 10, 1.0]}, "the value of C 1.0 is given twice"),
        ({"Cs": [1, 0]}, "C must be"),
        ({"Cs": -1}, "C must be"),
        ({"tol": 0.0}, "tol"),
        ({"time_limit": 0}, "time_limit must be a positive number of seconds, or None"),
        ({"time_limit": "60"}, "time_limit must be a positive number of seconds, or None"),
        ({"time_limit": float("nan")}, "time_limit must be a positive number of seconds, or None"),
        ({"solvers": OneSlack}, "OneSlack is a class: pass an object"),
        ({"backends": [OneSlack()]}, "is not a valid QP backend, but a solver"),
        ({"solvers": 5}, "5 is not a valid solver"),
        ({"problems": [1]}, "compare needs a Problem, or a dict of problems by name"),
        ({"problems": {"map": 1}}, "compare needs a Problem, or a dict of problems by name"),
        ({"solvers": Plain()}, "the solver plain needs a setting tol"),
    ],
)
def test_invalid_comparisons_are_errors(problem, settings, message):
    given = {"problems": problem, "solvers": "one-slack", "backends": "active-set", "Cs": 1.0} | settings
    with pytest.raises(InputError, match=message):
        compare(callback=lambda _: pytest.fail("it ran"), **given)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [({"solvers": ["one-slak"]}, "'one-slack'"), ({"backends": ["highs", "cvxop"]}, "'cvxopt'")],
)
def test_the_nearest_name(problem, settings, hint):
    with pytest.raises(UnknownNameError, match=f"Did you mean {hint}"):
        compare(problem, **settings)


def test_a_setting_without_a_default_is_shown():
    @frozen
    class Scaled(ActiveSet):
        factor: float

    assert describe(Scaled(2.0)) == "active-set(factor=2)"


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("n-slack(backend=osqp)", r"'n-slack\(backend=osqp\)' sets backend, .* backends=... \(--backend\)"),
        ("one-slack(max_cuts=50, tol=1e-2)", r"sets tol, .*: remove it, and use tol=... \(--tol\)"),
        ("auto(backend=osqp)", "sets backend"),
        (OneSlack(tol=1e-3), r"OneSlack\(.*\) sets tol, .*: remove it, and use tol=... \(--tol\)"),
        (NSlack(backend="osqp"), "sets backend"),
    ],
)
def test_a_setting_that_the_comparison_gives_is_refused_in_a_solver(problem, solver, message):
    with pytest.raises(InputError, match=message):
        compare(problem, ["frank-wolfe", solver], "active-set")
    assert names(problem, "n-slack(batch=3)", "active-set", 1)[0][1] == "n-slack(batch=3)"
