"""Solvers are values: frozen, comparable, validated, with a readable repr."""

from typing import Any

import joblib
import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from structsvm.solvers.qp import ActiveSet
from tests.small_problems import PlainROCArea, ranking, small_problem

each_solver = pytest.mark.parametrize("solver", [OneSlack, NSlack, FrankWolfe])


@each_solver
def test_settings_are_values(solver: Any) -> None:
    assert solver() == solver(tol=None) != solver(tol=1e-4)
    assert solver().solve(small_problem("map")).tol == 1e-3
    assert len({solver(), solver(), solver(max_iter=5)}) == 2
    assert evolve(solver(max_iter=7), tol=0.5) == solver(max_iter=7, tol=0.5)
    assert eval(repr(solver(tol=0.25)), {solver.__name__: solver}) == solver(tol=0.25)
    with pytest.raises(FrozenInstanceError):
        solver().tol = 1.0
    with pytest.raises(TypeError):
        solver("active-set")


@each_solver
@pytest.mark.parametrize("tol", [0.0, -1e-3, float("nan"), float("inf"), "1e-3", True])
def test_tol_is_a_positive_number(solver: Any, tol: Any) -> None:
    with pytest.raises(InputError, match=rf"{solver.__name__}\(tol=...\) must be a .*finite number.*, got {tol!r}"):
        solver(tol=tol)


@pytest.mark.parametrize(
    ("solver", "name", "value"),
    [
        (OneSlack, "max_iter", 0),
        (OneSlack, "max_iter", 10.0),
        (OneSlack, "max_idle", -1),
        (OneSlack, "max_cuts", 1),
        (NSlack, "max_iter", True),
        (NSlack, "batch", 0),
        (NSlack, "max_idle", 0),
        (NSlack, "max_cuts", "many"),
        (FrankWolfe, "max_iter", 0),
        (FrankWolfe, "memory", 1e9),
        (FrankWolfe, "cache_sweeps", -1),
        (FrankWolfe, "random_state", None),
    ],
)
def test_whole_numbers_are_checked(solver: Any, name: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"{solver.__name__}\({name}=...\) must be .*, got {value!r}"):
        solver(**{name: value})


@pytest.mark.parametrize("solver", [OneSlack, NSlack])
def test_backends_by_name_and_by_object(solver: Any) -> None:
    problem = small_problem("map")
    assert solver(backend="active_set").solve(problem).primal == solver(backend=ActiveSet()).solve(problem).primal
    with pytest.raises(UnknownNameError, match="unknown QP backend 'hihgs'. Did you mean 'highs'?"):
        solver(backend="hihgs").solve(problem)
    with pytest.raises(InputError, match="ActiveSet is a class"):
        solver(backend=ActiveSet).solve(problem)


@pytest.mark.parametrize(("queries", "alone", "together"), [(30, NSlack, NSlack), (1_500, FrankWolfe, OneSlack)])
def test_auto_gives_many_examples_of_a_loss_in_python_to_one_slack_if_processes_are_set(
    queries: int, alone: Any, together: Any
) -> None:
    problem = ranking(PlainROCArea(), 0, queries=queries)
    assert isinstance(Auto().choose(problem), alone)
    with joblib.parallel_config(n_jobs=2):
        assert isinstance(Auto().choose(problem), together)


def test_line_search_is_a_truth_value_or_none() -> None:
    with pytest.raises(InputError, match=r"OneSlack\(line_search=...\) must be True or False, got 'yes'"):
        OneSlack(line_search="yes")  # type: ignore[arg-type]
