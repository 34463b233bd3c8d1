"""A solver without tol gets the tolerance of its estimator, whether it is a name or an object."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from structsvm import Problem, Ranker, RankerCV, StructuralSVM, StructuralSVMCV
from structsvm.distributed import DaskRanker
from structsvm.estimators import LatentStructuralSVM, RampRanker
from structsvm.rankers import RankSVM, TreeRanker
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from tests.estimators.detector import Detector, series
from tests.slow import slow

SOLVERS = [Auto, FrankWolfe, NSlack, OneSlack]
ESTIMATORS = {
    "Ranker": (lambda **of: Ranker("map", 10.0, **of), 1e-6),
    "RankerCV": (lambda **of: RankerCV(Ranker(**of), [1.0, 10.0], cv=2, random_state=0), 1e-6),
    "RankSVM": (lambda **of: RankSVM(10.0, objective="queries", **of), 1e-6),
    "TreeRanker": (lambda **of: TreeRanker("map", 10.0, n_estimators=5, random_state=0, **of), 1e-6),
    "RampRanker": (lambda **of: RampRanker("map", 10.0, **of), 1e-3),
    "StructuralSVM": (lambda **of: StructuralSVM("multiclass", 10.0, **of), 1e-3),
    "StructuralSVMCV": (lambda **of: StructuralSVMCV(StructuralSVM("multiclass", **of), [1.0, 10.0], cv=2), 1e-3),
    "LatentStructuralSVM": (lambda **of: LatentStructuralSVM(Detector(), 10.0, **of), 1e-3),
}


def fitted(name: str, queries: Any, **settings: Any) -> Any:
    """Return the estimator after a fit, in a search the best one."""
    X, y, qid = queries
    estimator = ESTIMATORS[name][0](**settings)
    if name == "LatentStructuralSVM":
        return estimator.fit(*series(6, 0))
    estimator.fit(X, y, **({} if name.startswith("StructuralSVM") else {"qid": qid}))
    return getattr(estimator, "estimator_", estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "solver",
    [FrankWolfe, OneSlack, *slow(Auto, NSlack)],
    ids=lambda solver: solver.name,
)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in ("Ranker", "StructuralSVM"))) for name in ESTIMATORS],
)
def test_the_name_of_a_solver_and_its_object_give_equal_weights(queries, name: str, solver: Any) -> None:
    of_name, of_object = (fitted(name, queries, solver=each) for each in (solver.name, solver()))
    np.testing.assert_array_equal(of_object.result_.w, of_name.result_.w)
    assert of_object.result_.tol == of_name.result_.tol == ESTIMATORS[name][1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_tol_of_the_estimator_precedes_tol_of_the_solver(queries, name: str) -> None:
    for solver in (OneSlack(tol=1e-2), "one-slack(tol=0.01)"):
        assert fitted(name, queries, solver=solver).result_.tol == 1e-2
        assert fitted(name, queries, solver=solver, tol=1e-1).result_.tol == 1e-1


def test_solvers_of_a_cluster_have_the_tolerance_of_rankers() -> None:
    assert [DaskRanker(solver=each).spec().ranking.solver for each in ("auto", "one-slack", OneSlack())] == [
        OneSlack(tol=1e-6)
    ] * 3


@pytest.mark.parametrize("solver", [FrankWolfe(), FrankWolfe(tol=1e-3), FrankWolfe(tol=1e-6)])
def test_files_store_whether_a_solver_has_a_tol(queries, tmp_path: Path, solver: FrankWolfe) -> None:
    X, y, qid = queries
    Ranker(solver=solver).fit(X, y, qid=qid).save(tmp_path / "model.npz")
    again = Ranker.load(tmp_path / "model.npz").fit(X, y, qid=qid)
    assert again.result_.tol == (1e-6 if solver.tol is None else solver.tol)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_tol_of_a_solver_without_an_estimator_is_a_thousandth(queries, solver: Any) -> None:
    X, y, qid = queries
    problem = Problem.from_queries(X, y, qid, loss="map")
    assert solver().solve(problem).tol == 1e-3
