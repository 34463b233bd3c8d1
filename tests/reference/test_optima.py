"""The optima of MQ2008, fold 1, that were computed independently of this project."""

import json
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from structsvm.data import RankingData
from structsvm.distributed import DistributedProblem, InProcess, Partition
from structsvm.problem import Problem
from structsvm.registry import solvers
from structsvm.solvers import OneSlack
from tests.real_data import MQ2008, REFERENCE, mq2008, needs
from tests.solvers.qp.programs import BACKENDS

OPTIMA = REFERENCE / "optima.json"
pytestmark = needs(MQ2008, OPTIMA)

TOL = {backend.name: 1e-4 if backend.name == "active-set" else 1e-3 for backend in BACKENDS}
needs_cvxopt = pytest.mark.skipif(find_spec("cvxopt") is None, reason="needs cvxopt")


def runs() -> list[Any]:
    """Every solver with every backend; n-slack with a backend from outside takes 2 s to some minutes."""
    parameters = []
    for solver in ("one-slack", "n-slack"):
        for backend in TOL:
            marks = [needs_cvxopt] if backend == "cvxopt" else []
            if solver == "n-slack" and backend != "active-set":
                marks.append(pytest.mark.slow)
            parameters.append(pytest.param(solver, {"backend": backend, "tol": TOL[backend]}, marks=marks))
    frank_wolfe = [("frank-wolfe", {"tol": 1e-4}), ("frank-wolfe", {"tol": 1e-4, "memory": 2**21})]  # this: in float32
    return [*parameters, ("one-slack", {"line_search": False, "tol": 1e-4}), *frank_wolfe]


@cache
def training_set() -> RankingData:
    return mq2008(0, 3)


@cache
def optima() -> dict[str, dict[str, float]]:
    result: dict[str, dict[str, float]] = json.loads(OPTIMA.read_text())["optima"]
    return result


@pytest.mark.parametrize("partitions", [2, 32])
@pytest.mark.parametrize("C", [1, 10, 100])
@pytest.mark.parametrize("loss", ["map", "roc_area"])
def test_optimum_of_partitions(loss: str, C: int, partitions: int) -> None:
    """In at most 1.2 times the rounds, or two more, of one machine."""
    optimum, data, tol = optima()[f"MQ2008 fold 1 train | {loss} | C={C}"], training_set(), 1e-4
    alone = OneSlack(tol=tol).solve(Problem.from_queries(data.X, data.y, data.qid, loss=loss, C=C))
    number = np.unique(data.qid, return_inverse=True)[1] % partitions
    parts = [Partition(data.X[number == k], data.y[number == k], data.qid[number == k]) for k in range(partitions)]
    problem = DistributedProblem.from_queries(InProcess(), parts, loss=loss, C=C)
    result = OneSlack(tol=tol).solve(problem)
    assert result.converged
    assert problem.used == optimum["n_queries"]
    rounding = 1e-9 * optimum["primal"]
    assert optimum["dual"] - rounding <= result.primal <= optimum["primal"] + tol * C
    assert optimum["dual"] - tol * C <= result.dual <= optimum["primal"] + rounding
    assert len(result.history) <= max(1.2 * len(alone.history), len(alone.history) + 2)


@pytest.mark.parametrize(("solver", "settings"), runs(), ids=str)
@pytest.mark.parametrize("C", [1, 10, 100])
@pytest.mark.parametrize("loss", ["map", "roc_area"])
def test_optimum(loss: str, C: int, solver: str, settings: dict[str, Any]) -> None:
    optimum, data, tol = optima()[f"MQ2008 fold 1 train | {loss} | C={C}"], training_set(), settings["tol"]
    problem = Problem.from_queries(data.X, data.y, data.qid, loss=loss, C=C)
    assert problem.used == optimum["n_queries"]
    assert np.diff(problem.ptr)[problem.cap > 0.0].sum() == optimum["n_docs"]
    result = solvers.create(solver, **settings).solve(problem)
    assert result.converged
    assert result.gap <= tol * C
    rounding = 1e-9 * optimum["primal"]
    assert optimum["dual"] - rounding <= result.primal <= optimum["primal"] + tol * C
    assert optimum["dual"] - tol * C <= result.dual <= optimum["primal"] + rounding
